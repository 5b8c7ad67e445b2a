"""Commands about roles: mailboxes that several agents take from."""

from typing import TYPE_CHECKING, Any

from postoffice.cli import ids
from postoffice.cli.command import Command, Options, argument
from postoffice.cli.show import say, table
from postoffice.client.path import part
from postoffice.core.errors import BadSetting
from postoffice.core.role import address_of

if TYPE_CHECKING:
    from rich.console import Console

    from postoffice.client.wire import Wire

_DOES = ("list", "make", "show", "change", "staff", "unstaff", "delete")


async def roles(wire: "Wire", options: Options) -> Any:
    """List roles, make one, and say who is in it."""
    act = options["act"]
    if act == "list":
        return await wire.get("/roles")
    if options["name"] is None:
        raise BadSetting(name="ROLE", why=f"say which role: postoffice roles {act} role:reviewer")
    name = address_of(options["name"])
    if act == "make":
        return await wire.post("/roles", {"name": name, "staff": options["agents"]} | _wanted(options))
    path = f"/roles/{part(name)}"
    if act == "show":
        return await wire.get(path)
    if act == "change":
        return await wire.call("PATCH", path, _wanted(options))
    if act == "delete":
        return {"deleted": name} | await wire.call("DELETE", path)
    if not options["agents"]:
        raise BadSetting(name="AGENT", why=f"say whom: postoffice roles {act} {name} coder")
    return await wire.post(f"{path}/{act}", {"agents": options["agents"]})


def _wanted(options: Options) -> dict[str, Any]:
    given = {
        "description": options["description"],
        "capability": options["capability"],
        "allow_from": options["allow"],
        "max_in_hand": options["max_in_hand"],
        "in_order": options["in_order"],
    }
    return {name: value for name, value in given.items() if value is not None}


def _roles(console: "Console", answer: Any) -> None:
    if "deleted" in answer:
        dead = answer["dead"]
        say(
            console,
            f"{answer['deleted']} is deleted." + (f" {dead} letters that waited there are dead; their senders are told." if dead else ""),
        )
        return
    if "roles" in answer:
        rows = [
            (one["name"], ", ".join(one["staff"]), one["pending"], one["leased"], _reach(one), one["description"])
            for one in answer["roles"]
        ]
        table(
            console,
            ("role", "in it", "waits", "in hand", "now", "does"),
            rows,
            "No roles. Make one: postoffice roles make role:reviewer coder",
        )
        return
    role = answer.get("role", answer)
    by = f", and whoever can {role['capability']}" if role["capability"] else ""
    say(
        console,
        f"{role['name']}: {', '.join(role['staff']) or 'nobody'}{by}. {role['pending']} wait, {role['leased']} in hand; {_reach(role)}.",
    )
    for one in answer.get("in_hand", ()):
        say(console, f"{one['agent']} has {ids.short(one['message_id'])} in hand.")


def _reach(role: Any) -> str:
    return str((role.get("reach") or {}).get("text", ""))


COMMANDS = (
    Command(
        "roles",
        "mailboxes that several agents take from: list, make, staff, delete them",
        (
            "postoffice roles make role:reviewer alice coder --description 'reviews changes'",
            "postoffice roles make role:tester --capability tests --max-in-hand 4",
            "postoffice roles staff role:reviewer bob",
            "postoffice roles",
        ),
        roles,
        _roles,
        (
            argument("act", nargs="?", choices=_DOES, default="list", help="what to do (list)"),
            argument("name", nargs="?", metavar="ROLE", help="role:reviewer, or reviewer"),
            argument("agents", nargs="*", metavar="AGENT", help="who is put into it, or taken out"),
            argument("--description", help="what it is for"),
            argument("--capability", help="whoever's card has it is in the role"),
            argument("--allow", action="append", metavar="AGENT", help="who may write to it; '*' is everybody"),
            argument("--max-in-hand", type=int, metavar="N", help="letters in hand at once, at most"),
            argument("--in-order", action="store_true", default=None, help="of each conversation one letter at a time"),
        ),
    ),
)
