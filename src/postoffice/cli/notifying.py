"""The command about notify addresses, where the owner is told what waits for them."""

from typing import TYPE_CHECKING, Any

from postoffice.cli.command import Command, Options, argument
from postoffice.cli.show import ago, ahead, say, table
from postoffice.client.path import part
from postoffice.core.errors import Invalid, Untold
from postoffice.core.notify import NotifyKind

if TYPE_CHECKING:
    from rich.console import Console

    from postoffice.client.wire import Wire

_LISTS = {"list": "/notify", "links": "/answer-links"}
_NO_LINKS = "They get no links until the setting public_url says at which address people reach this office."


async def notify(wire: "Wire", options: Options) -> Any:
    """List, add, remove, resume or test addresses; list links, or revoke one."""
    act, name = options["act"], options["name"]
    if options["try"] is not None:
        return await _try(wire, options["try"])
    if act in _LISTS:
        return await wire.get(_LISTS[act])
    if name is None or (act == "add") != (options["address"] is not None):
        raise Invalid(what="notify", why="say `notify add NAME ADDRESS`, or `notify list`, or another of its words with a NAME")
    if act in ("revoke", "remove"):
        return await wire.call("DELETE", f"{_LISTS['links' if act == 'revoke' else 'list']}/{part(name)}")
    made = await wire.post(f"/notify/{part(name)}/resume", {}) if act == "resume" else await wire.post("/notify", _asked(options))
    return {"notify": [made], "public_url": (await wire.get("/notify"))["public_url"]}


def _asked(options: Options) -> dict[str, Any]:
    chosen = {"kinds": options["kind"] or [], "quiet": options["quiet"], "zone": options["zone"]}
    return {name: options[name] for name in ("name", "address", "bodies", "trusted")} | chosen


async def _try(wire: "Wire", name: str) -> Any:
    """Test one address, or all of them."""
    names = [name] if name else [one["name"] for one in (await wire.get("/notify"))["notify"]]
    tried = [{"name": one, **await wire.post(f"/notify/{part(one)}/try", {})} for one in names]
    if failed := [one for one in tried if one["error"]]:
        raise Untold(why="; ".join(f"{one['name']} ({one['service']}): {one['error']}" for one in failed))
    return {"tried": tried}


def _shown(console: "Console", answer: Any) -> None:
    if "removed" in answer:
        say(console, f"{answer['removed']} is removed, and its links open nothing any more.")
    elif "revoked" in answer:
        say(console, "That link opens nothing any more.")
    elif "tried" in answer:
        names = ", ".join(one["name"] for one in answer["tried"])
        say(console, f"Told: {names}." if names else "There is no address to test: `postoffice notify add NAME ADDRESS`.")
    elif "links" in answer:
        rows = [(one["id"], one["name"], one["question"], ahead(one["expires_at"]), _login(one)) for one in answer["links"]]
        table(console, ("link", "told to", "question", "ends", "asks for"), rows, "No links.")
    else:
        rows = [(one["name"], one["service"], ", ".join(one["kinds"]) or "all", one["state"], _standing(one)) for one in answer["notify"]]
        table(console, ("address", "by", "kinds", "is", "stands"), rows, "There are no notify addresses.")
        if rows and answer["public_url"] is None:
            say(console, _NO_LINKS)


def _login(link: Any) -> str:
    return "nothing" if link["trusted"] else "a login"


def _standing(one: Any) -> str:
    """The remarks on an address."""
    last = f"told {ago(one['told_at'])}" if one["told_at"] else "told nothing yet"
    quiet = f"quiet {one['quiet']} {one['zone']}".rstrip() if one["quiet"] else None
    waiting = f"{one['waiting']} to tell" if one["waiting"] else None
    return "; ".join(filter(None, [last, waiting, quiet, "with bodies" if one["bodies"] else None, _trust(one), one["error"]]))


def _trust(one: Any) -> str | None:
    return "links need no login" if one["trusted"] else None


COMMANDS = (
    Command(
        "notify",
        "be notified of what waits for you by ntfy, Slack, e-mail and more",
        (
            "postoffice notify add phone ntfys://ntfy.sh/my-topic --kind question --quiet 22:00-07:00",
            "postoffice notify --try",
            "postoffice notify links",
        ),
        notify,
        _shown,
        (
            argument("act", nargs="?", default="list", choices=["list", "add", "remove", "resume", "links", "revoke"]),
            argument("name", nargs="?", help="what you call it; with revoke: which link"),
            argument("address", nargs="?", help="with add: the address, as Apprise writes it"),
            argument("--try", metavar="NAME", nargs="?", const="", help="send a test there now (everywhere)"),
            argument("--kind", action="append", choices=[str(kind) for kind in NotifyKind], help="with add: only of these (all)"),
            argument("--quiet", metavar="FROM-TO", help="with add: not at these hours, such as 22:00-07:00"),
            argument("--zone", default="", help="with add: their time zone, such as Europe/Berlin (the office's own)"),
            argument("--bodies", action="store_true", help="with add: include what letters say"),
            argument("--trusted", action="store_true", help="with add: its links open a question without a login"),
        ),
    ),
)
