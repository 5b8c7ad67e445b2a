"""Connect an agent: what to paste where, and a light that turns green with its first call."""

import secrets
from collections.abc import Callable, Sequence
from typing import Any

import msgspec
from starlette.responses import Response

from postoffice.core.agent import Agent, Card, Presence
from postoffice.core.draft import Draft
from postoffice.core.errors import NoSuchAgent, OwnerOnly
from postoffice.core.names import check_free
from postoffice.core.policy import ANYONE
from postoffice.doors.page.look import Look
from postoffice.office import Auth

EXAMPLE = "coder"
_TEST = "This is a test letter. If you can read it, your mailbox works: please answer with one line."


class Snippet(msgspec.Struct, frozen=True, kw_only=True):
    """How one kind of client is connected to its mailbox."""

    key: str
    title: str
    command: str
    """The command to run; empty if there is only a file."""
    file: str
    """The file to change by hand instead; empty if there is none."""
    text: str
    """The text for that file, or the program itself."""
    language: str
    note: str = ""


Snippets = Callable[[str, str, str | None], Sequence[Snippet]]
"""Takes an office's address, an agent's name, and its key or a placeholder. Gives how each client is connected."""


async def connect(look: Look) -> Response:
    """The snippets, with the real address and the chosen name."""
    return await look.show("connect.html", **await introduction(look))


async def register(look: Look) -> Response:
    """Register an agent and show its key once: only its hash is stored."""
    if not look.caller.owner:
        raise OwnerOnly(what="register another agent here")
    form = await look.form()
    card = Card(description=form.get("description", ""), allow_from=(ANYONE,) if form.get("open") else ())
    # The key is made from the form's id, so a form that is sent again after a lost answer shows the same key.
    _, name, key = await look.office.register(form.get("name", ""), card, by=look.caller, seed=form.get("seed") or None)
    return await look.show("connect.html", **await introduction(look, name, key))


async def test_letter(look: Look) -> Response:
    """Write a first letter to a name, whether or not its agent has called yet."""
    form = await look.form()
    draft = Draft(to=check_free(form.get("name", "")), subject="Hello", content=_TEST, client_id=form.get("once") or None)
    sent = await look.office.send(look.caller, draft)
    return look.to(f"/page/letter/{sent.message_id}", {"said": "sent"})


async def introduction(look: Look, name: str | None = None, key: str | None = None) -> dict[str, Any]:
    """What the connect page shows, and also the first page of a new server."""
    name = check_free(name or look.asked("name") or EXAMPLE) if look.caller.owner else look.caller.name
    guarded = look.office.rules.auth is Auth.KEYS
    agent = await _known(look, name)
    needed = guarded or (agent is not None and agent.has_key)
    make: Snippets = look.request.app.state.snippets
    snippets = list(make(_server(look), name, key or ("amb_…" if needed else None)))
    chosen = look.asked("client")
    return {
        "name": name,
        "key": key,
        "test_once": look.once(),
        "seed": secrets.token_hex(32),
        "needs_key": needed,
        "snippets": snippets,
        "chosen": chosen if chosen in [snippet.key for snippet in snippets] else snippets[0].key,
        "agent": agent,
        "lit": look.office.has_called(name)
        or (agent is not None and (agent.presence is not Presence.OFFLINE or agent.last_seen is not None)),
    }


async def _known(look: Look, name: str) -> Agent | None:
    try:
        return await look.office.agent(name)
    except NoSuchAgent:
        return None


def _server(look: Look) -> str:
    return f"{look.request.url.scheme}://{look.request.headers.get('host', '127.0.0.1')}"
