"""Commands about who you are here: keys from elsewhere, the page, and the name that commands speak as."""

import getpass
import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from postoffice.cli.caller import found_here, key_in, speaker
from postoffice.cli.command import Command, Options, argument
from postoffice.cli.ending import interruptible
from postoffice.cli.question import somebody_there
from postoffice.cli.show import for_programs, say
from postoffice.client.path import part
from postoffice.core.errors import BadKey, KeyRefused, MailError, NoKeyGiven, NoSuchAgent
from postoffice.core.names import check_name

if TYPE_CHECKING:
    from rich.console import Console

    from postoffice.client.wire import Wire


async def login(wire: "Wire", options: Options) -> Any:
    """Keep a key that was made elsewhere, and print a link to the page. With a key here already and no other given, only print the link."""
    from postoffice.client import credentials  # noqa: PLC0415
    from postoffice.client.wire import Wire as NewWire  # noqa: PLC0415

    own = wire.key is not None and (bool(options.get("agent")) or not found_here(wire))
    key = None if own and options.get("agent") else given_key()
    if own and key is None:
        try:
            return await _link(wire)
        except BadKey:  # the kept key is no longer valid
            if found_here(wire) or not ((key := given_key()) or _person()):
                raise
    if not (key := key or _asked_key(wire.server)):
        raise NoKeyGiven
    try:
        async with NewWire(wire.server, key=key) as proven:
            answer = await _link(proven)
    except BadKey:
        raise KeyRefused(server=wire.server) from None
    path = credentials.save(credentials.Credential(server=wire.server, agent=answer["name"], key=key))
    return answer | {"kept_in": str(path)}


def given_key() -> str | None:
    """A key from the environment or from standard input."""
    if key := key_in(os.environ, "POSTOFFICE_KEY"):
        return key
    if sys.stdin is None or sys.stdin.isatty():
        return None
    with interruptible():
        return sys.stdin.readline().strip() or None


def _asked_key(server: str) -> str | None:
    """Ask a person for a key."""
    if not _person():
        return None
    print(
        f"Paste the key of the agent you are at {server}. It begins with amb_ and was shown when the agent was registered.\n"
        "For a name of your own instead: postoffice register NAME. For the page, where the office runs: postoffice open.",
        file=sys.stderr,
    )
    with interruptible(), suppress(EOFError):
        return getpass.getpass("key: ").strip()
    return None


def _person() -> bool:
    """Whether there is a person to ask."""
    return sys.stdin is not None and sys.stdin.isatty()


async def _link(wire: "Wire") -> dict[str, str]:
    link = await wire.post("/page/links")
    return {"name": link["agent"], "page": link["address"]}


def _logged_in(console: "Console", answer: Any) -> None:
    if "kept_in" in answer:
        say(console, f"Logged in as {answer['name']}; its key is kept in {answer['kept_in']}.")
    say(console, f"The page as {answer['name']} sees it: {answer['page']}")
    if "#" in answer["page"]:
        say(console, "The link works once, within ten minutes.")


async def open_page(wire: "Wire", options: Options) -> Any:
    """Open the page in a browser, or print the link if there is nobody to see it."""
    import webbrowser  # noqa: PLC0415

    answer = await _link(wire)
    shown = not for_programs(options) and somebody_there() and webbrowser.open(answer["page"])
    return answer | {"opened": bool(shown)}


def _opened(console: "Console", answer: Any) -> None:
    if answer["opened"]:
        say(console, f"The page is open in your browser, as {answer['name']} sees it.")
    else:
        say(console, f"The page as {answer['name']} sees it: {answer['page']}")
        if "#" in answer["page"]:
            say(console, "The link works once, within ten minutes.")


async def whoami(wire: "Wire", options: Options) -> Any:
    """Show who the office takes this command for, and why."""
    caller = speaker(options)
    me = await wire.get("/agents/me")
    return {"name": me["name"], "server": wire.server, "key": caller.key is not None, "why": caller.why}


def _is(console: "Console", answer: Any) -> None:
    proof = "with its key" if answer["key"] else "by the bare name"
    say(console, f"You are {answer['name']} at {answer['server']}, {proof}, {answer['why']}.")
    say(console, "Another name for one command: --as NAME; from now on: postoffice use NAME.")


async def use(wire: "Wire", options: Options) -> Any:
    """Choose the name that commands speak as by default."""
    from postoffice.client import credentials  # noqa: PLC0415

    name = None if options["none"] else options["name"] and check_name(options["name"])
    if name or options["none"]:
        credentials.use(wire.server, name)
    caller = speaker({**options, "agent": None})
    doubt = None if name is None or caller.key is not None else await _doubt(wire, name)
    return {"name": caller.agent, "server": wire.server, "key": caller.key is not None, "why": caller.why} | (
        {"doubt": doubt} if doubt else {}
    )


async def _doubt(wire: "Wire", name: str) -> str | None:
    """What the office says if no agent has this name; empty if it cannot be asked."""
    try:
        await wire.get(f"/agents/{part(name)}")
    except NoSuchAgent as error:
        return str(error)
    except MailError:
        pass
    return None


def _uses(console: "Console", answer: Any) -> None:
    if answer["name"] is None:
        say(console, f"Nobody is chosen to speak at {answer['server']}. Choose: postoffice use NAME")
        return
    say(console, f"Commands here speak as {answer['name']} at {answer['server']}, {answer['why']}.")
    if "doubt" in answer:
        say(console, answer["doubt"])
    elif not answer["key"]:
        say(console, f"No key of {answer['name']} is kept here, which is enough only at an open office.")


COMMANDS = (
    Command(
        "login",
        "keep a key that was made elsewhere (asked for, or read from standard input), and get a link to the page",
        ("postoffice login", "postoffice login --as owner", "postoffice login --server https://mail.example.com < key.txt"),
        login,
        _logged_in,
    ),
    Command("open", "open the page in a browser", ("postoffice open", "postoffice open --as coder"), open_page, _opened),
    Command("whoami", "show who commands here speak as, and why", ("postoffice whoami", "postoffice whoami --json"), whoami, _is),
    Command(
        "use",
        "choose whom commands here speak as",
        ("postoffice use coder", "postoffice use owner", "postoffice use --none"),
        use,
        _uses,
        (
            argument("name", nargs="?", metavar="NAME", help="an agent, or owner; without it the present one is shown"),
            argument("--none", action="store_true", help="choose nobody: the owner if their key is here"),
        ),
    ),
)
