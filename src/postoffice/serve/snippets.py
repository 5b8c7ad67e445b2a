"""How each client is connected to this office by hand: what `postoffice setup` would write, to paste."""

import json
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import tomlkit

from postoffice.core.hosts import is_loopback
from postoffice.doors.page.connect import Snippet
from postoffice.serve.program import program
from postoffice.setup.clients import CLIENTS, Client
from postoffice.setup.edit import Edit, Permission
from postoffice.setup.endpoint import KEY_VARIABLE, Endpoint
from postoffice.setup.home import Home

_NAME = "mail"
_HOME = Home(folder=Path("~"), environ={})
_DEFAULT = "http://127.0.0.1:8787"


def snippets(server: str, agent: str, key: str | None) -> Sequence[Snippet]:
    """Snippets for every client we know, then for a shell and Python."""
    to = Endpoint(server=server, agent=agent, key=key)
    return [*(_client(name, client, to) for name, client in CLIENTS.items()), _curl(to), _python(to)]


def _client(name: str, client: Client, to: Endpoint) -> Snippet:
    path = client.config(_HOME)
    entry: dict[str, Any] = {_NAME: client.entry(to)}
    for step in reversed(client.servers):
        entry = {str(step): entry}
    for edit in client.permissions(to):
        _grant(entry, edit)
    toml = path.suffix == ".toml"
    note = f"{client.title} takes the key from the variable {KEY_VARIABLE}." if client.keyless and to.key else ""
    return Snippet(
        key=name,
        title=client.title,
        command=_command(name, to),
        file=path.as_posix(),
        text=tomlkit.dumps(entry).strip() if toml else json.dumps(entry, indent=2),
        language="toml" if toml else "json",
        note=" ".join(filter(None, (note, client.again))),
    )


def _grant(document: dict[str, Any], edit: Edit) -> None:
    """Add the permission that the client needs beside its server."""
    if isinstance(edit, Permission):
        *folders, last = map(str, edit.path)
        for step in folders:
            document = document.setdefault(step, {})
        document.setdefault(last, []).append(edit.word)


def _command(name: str, to: Endpoint) -> str:
    """The setup command, which works for every client. On another machine we cannot know its path."""
    words = [program() if is_loopback(urlsplit(to.server).hostname or "") else "postoffice", "setup", name, "--agent", to.agent]
    return shlex.join(words if to.server == _DEFAULT else [*words, "--server", to.server])


def _curl(to: Endpoint) -> Snippet:
    header = f"Authorization: Bearer {to.key}" if to.key else f"X-Agent: {to.agent}"
    proof = f"-H {shlex.quote(header)}"
    body = shlex.quote(json.dumps({"to": "owner", "subject": "Hello", "content": f"{to.agent} is here."}))
    text = (
        f"curl -s -X POST {to.server}/messages/send {proof} \\\n  -H 'Content-Type: application/json' -d {body}\n"
        f"curl -s -X POST {to.server}/messages/wait {proof}"
    )
    return Snippet(
        key="curl", title="curl", command="", file="", text=text, language="bash", note="Sends a letter to you, then waits for mail."
    )


def _python(to: Endpoint) -> Snippet:
    arguments = [repr(to.agent)] + ([] if to.server == _DEFAULT else [f"server={to.server!r}"]) + ([f"key={to.key!r}"] if to.key else [])
    text = f"""import asyncio

from postoffice import Mailbox


async def main() -> None:
    async with Mailbox({", ".join(arguments)}) as box:
        async for message in box.receive():
            print(message.sender, message.text)
            await message.reply("on it")


asyncio.run(main())"""
    note = "A message is acked by going on to the next, and given back by an exception."
    return Snippet(key="python", title="Python", command="", file="", text=text, language="python", note=note)
