"""Commands about agents and their keys."""

from typing import TYPE_CHECKING, Any

from postoffice.cli.caller import found_here, owner_key, replace_owner_key
from postoffice.cli.command import Command, Options, argument
from postoffice.cli.login import given_key
from postoffice.cli.pages import LIMIT, gathered, tell_of_more
from postoffice.cli.question import agreed, somebody_there
from postoffice.cli.show import ago, for_programs, say, table
from postoffice.client.path import part
from postoffice.core.errors import BadKey, KeyRefused, NoKeyGiven
from postoffice.core.names import OWNER

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import Console

    from postoffice.client.wire import Wire


async def register(wire: "Wire", options: Options) -> Any:
    """Register a name and keep its key here."""
    from postoffice.client import credentials  # noqa: PLC0415
    from postoffice.client.wire import Wire as NewWire  # noqa: PLC0415

    card = {name: options[name] for name in ("description", "owner_contact", "display_name", "model") if options[name]}
    if options["capability"]:
        card["capabilities"] = options["capability"]
    if options["allow"]:
        card["allow_from"] = options["allow"]
    body = {"name": options["name"], **card}
    with credentials.keeping(wire.server) as keep:
        try:
            made = await wire.post("/agents/register", body)
        except BadKey:
            if not found_here(wire):
                raise
            async with NewWire(wire.server) as stranger:  # anybody may register a name, so no key is sent
                made = await stranger.post("/agents/register", body)
        path = keep(credentials.Credential(server=wire.server, agent=made["name"], key=made["api_key"]))
    # The key is in the file only: others may see what is printed.
    return {"id": made["id"], "name": made["name"], "key_prefix": made["api_key"][:8], "kept_in": str(path)}


def _registered(console: "Console", answer: Any) -> None:
    say(console, f"{answer['name']} is registered; its key is kept in {answer['kept_in']}.")
    say(console, f"Speak as it with --as {answer['name']}, or from now on: postoffice use {answer['name']}")


async def agents(wire: "Wire", options: Options) -> Any:
    """List the agents."""
    return await gathered(wire, "/agents", "agents", options["limit"])


def _agents(console: "Console", answer: Any) -> None:
    rows = [
        (
            a["name"],
            a["presence"],
            f"{a['current_tasks']}/{a['max_concurrent_tasks']}",
            ago(a["last_seen"]),
            (a.get("reach") or {}).get("text", ""),
            _does(a),
        )
        for a in answer["agents"]
    ]
    table(console, ("agent", "is", "tasks", "seen", "reached", "does"), rows, "Nobody is here yet. An agent exists from its first call.")
    tell_of_more(console, answer)


def _does(card: Any) -> str:
    """An agent's description and abilities."""
    return "; ".join(filter(None, (card["description"], ", ".join(card["capabilities"]))))


async def forget(wire: "Wire", options: Options) -> Any:
    """Forget a name that nobody ever used."""
    return await wire.call("DELETE", f"/agents/{part(options['name'])}")


def _forgotten(console: "Console", answer: Any) -> None:
    dead = answer["dead"]
    mail = {0: "", 1: " One letter that waited there is dead, and its sender is told."}.get(
        dead, f" {dead} letters that waited there are dead, and their senders are told."
    )
    say(console, f"{answer['name']} is forgotten.{mail}")


async def key(wire: "Wire", options: Options) -> Any:
    """List, rotate or revoke keys."""
    of = options["of"]
    if options["act"] == "machine":
        return await _machine(wire, options)
    if options["act"] == "rotate":
        return await _rotated(wire, options["overlap"], of)
    if options["act"] == "revoke":
        if not await _meant(wire, options):
            return {"kept": True}
        return await wire.post("/agents/me/keys/revoke", {"prefix": options["prefix"]}, of=of)
    return await wire.get("/agents/me/keys", of=of)


async def _machine(wire: "Wire", options: Options) -> Any:
    """Make a machine's key, which is shown once or kept here. Without a prefix, list machines with keys, or keep a key from elsewhere."""
    if options["name"] is None and options["here"]:
        return {"kept_in": str(await _kept(wire, given_key() or ""))}
    if options["name"] is None:
        return await wire.get("/machines")
    if options["revoke"]:
        return await wire.call("DELETE", f"/machines/{part(options['name'])}")
    made = await wire.post("/machines", {"prefix": options["name"]})
    return made | ({"kept_in": str(await _kept(wire, made["api_key"]))} if options["here"] else {})


async def _kept(wire: "Wire", key: str) -> "Path":
    """Keep a key for this machine's windows, if the office knows it."""
    from postoffice.client import credentials  # noqa: PLC0415
    from postoffice.client.wire import Wire as NewWire  # noqa: PLC0415

    if not key:
        raise NoKeyGiven
    try:
        async with NewWire(wire.server, key=key) as proven:
            await proven.get("/windows")
    except BadKey:
        raise KeyRefused(server=wire.server) from None
    return credentials.save_machine(wire.server, key)


async def _meant(wire: "Wire", options: Options) -> bool:
    """Ask whether really all of an agent's keys should be revoked: without a prefix they are, and every program with one is locked out."""
    if options["prefix"] is not None or options["yes"] or for_programs(options) or not somebody_there():
        return True
    keys = (await wire.get("/agents/me/keys", of=options["of"]))["keys"]
    holder = next((one["agent"] for one in keys if one["revoked_at"] is None), None)
    # If the agent has no key, the office says so.
    return holder is None or agreed(f"Revoke every key of {holder}? Every program that uses one is locked out.")


async def _rotated(wire: "Wire", overlap: float | None, of: str | None) -> Any:
    from postoffice.client import credentials  # noqa: PLC0415

    async def rotate() -> Any:
        return await wire.post("/agents/me/keys/rotate", {"overlap": overlap}, of=of)

    if wire.key is not None and wire.key == owner_key(wire.server) and (of or OWNER).lower() == OWNER:
        made = await rotate()
        path = replace_owner_key(made["api_key"])
    else:
        with credentials.keeping(wire.server) as keep:
            made = await rotate()
            path = keep(credentials.Credential(server=wire.server, agent=made["key"]["agent"], key=made["api_key"]))
    return {"key": made["key"], "kept_in": str(path)}


def _keys(console: "Console", answer: Any) -> None:
    if "kept_in" in answer and "key" not in answer:
        say(console, f"This machine's windows use the key from now on; it is kept in {answer['kept_in']}.")
        return
    if "machine" in answer:
        say(
            console,
            f"{answer['api_key']}\nThis is shown once. On that machine: `postoffice key machine --here`. Its windows are {answer['machine']['prefix']}-<folder>.",
        )
        return
    if "revoked" in answer:
        say(console, f"{answer['revoked']} keys are taken back.")
        return
    if "machines" in answer:
        machines = [(m["prefix"], m["shown"], ago(m["created_at"])) for m in answer["machines"]]
        table(console, ("machine", "key", "made"), machines, "No machine has a key.")
        return
    if "kept" in answer:
        say(console, "Nothing was revoked.")
        return
    if "kept_in" in answer:
        say(console, f"A new key {answer['key']['prefix']}… is kept in {answer['kept_in']}; older ones end when the overlap is over.")
        return
    rows = [(k["prefix"], ago(k["created_at"]), k["expires_at"] or "", k["revoked_at"] or "") for k in answer["keys"]]
    table(console, ("key", "made", "ends", "revoked"), rows, "No keys.")


COMMANDS = (
    Command(
        "register",
        "register a name, with a key that is kept for you",
        ("postoffice register coder --description 'writes code' --allow '*'",),
        register,
        _registered,
        (
            argument("name", help="3 to 100 letters, digits, '.', '_' or '-'"),
            argument("--description", default="", help="what it does"),
            argument("--capability", action="append", help="something it can do; more than once for several"),
            argument("--allow", action="append", metavar="AGENT", help="who may write without a connection; '*' is everybody"),
            argument("--owner-contact", default="", help="how to reach its person"),
            argument("--display-name", default="", help="how people call it"),
            argument("--model", default="", help="the model it runs on"),
        ),
    ),
    Command(
        "agents",
        "show who is there and what they can do",
        ("postoffice agents",),
        agents,
        _agents,
        (LIMIT,),
    ),
    Command(
        "forget",
        "forget a name that nobody ever used",
        ("postoffice forget bbo",),
        forget,
        _forgotten,
        (argument("name", help="an agent that never acted, for example a mistyped name"),),
    ),
    Command(
        "key",
        "list, rotate or revoke an agent's keys, or give a machine one for its windows",
        ("postoffice key rotate --as coder", "postoffice key revoke --prefix amb_1a2b --as coder", "postoffice key machine ann"),
        key,
        _keys,
        (
            argument("act", choices=["list", "rotate", "revoke", "machine"]),
            argument("name", nargs="?", metavar="PREFIX", help="with `machine`: the beginning of its windows' names"),
            argument("--revoke", action="store_true", help="with `machine PREFIX`: revoke its keys"),
            argument(
                "--here",
                action="store_true",
                help="with `machine`: keep the key for this machine's windows (with no PREFIX: one that is given)",
            ),
            argument("--overlap", type=float, help="how many seconds the older keys still work (a day)"),
            argument("--prefix", help="only keys that begin so (all)"),
            argument("--of", metavar="AGENT", help="another agent's, for the owner"),
            argument("--yes", action="store_true", help="do not ask before all keys are revoked"),
        ),
    ),
)
