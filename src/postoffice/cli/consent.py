"""Commands about connections."""

from typing import TYPE_CHECKING, Any

from postoffice.cli import ids
from postoffice.cli.command import Command, Options, argument
from postoffice.cli.pages import LIMIT, gathered, tell_of_more
from postoffice.cli.show import ago, say, table
from postoffice.client.path import part

if TYPE_CHECKING:
    from rich.console import Console

    from postoffice.client.wire import Wire


async def connect(wire: "Wire", options: Options) -> Any:
    """Ask for a connection."""
    return await wire.post("/connections/request", {"target_agent_name": options["target"], "message": options["message"]})


def _requested(console: "Console", answer: Any) -> None:
    code, target = answer["verification_code"], answer["target_agent_name"]
    say(console, f"Asked {target}. Tell its person this code: {code}. They type: postoffice approve {code} --as {target}")


async def approve(wire: "Wire", options: Options) -> Any:
    """Approve a request: by a code, or as the owner by its id."""
    if len(options["code"]) == len("XX-NNN"):
        return await wire.post("/connections/approve", {"verification_code": options["code"]})
    return await wire.post(f"/connections/{part(await ids.connection_id(wire, options['code']))}/approve")


def _approved(console: "Console", answer: Any) -> None:
    say(console, f"Connected with {answer['connected_agent_name']} ({answer['assurance']}).")


async def reject(wire: "Wire", options: Options) -> Any:
    """Refuse a request, or end a connection."""
    ref = part(await ids.connection_id(wire, options["connection"]))
    return await wire.post(f"/connections/{ref}/{'end' if options['end'] else 'reject'}")


def _concluded(console: "Console", answer: Any) -> None:
    say(console, f"{answer['from_agent_name']} and {answer['to_agent_name']}: {answer['status']}.")


async def connections(wire: "Wire", options: Options) -> Any:
    """List requests and connections."""
    wanted = {"status": options["status"], "everyone": options["everyone"]}
    return await gathered(wire, "/connections", "connections", options["limit"], **wanted)


def _connections(console: "Console", answer: Any) -> None:
    shown = ids.all_short(c["connection_id"] for c in answer["connections"])
    rows = [
        (c["from_agent_name"], c["to_agent_name"], c["status"], c["assurance"] or "", ago(c["updated_at"]), id)
        for c, id in zip(answer["connections"], shown, strict=True)
    ]
    table(console, ("from", "to", "is", "by", "since", "id"), rows, "No connections. Ask for one: postoffice connect NAME --as YOU")
    tell_of_more(console, answer)


COMMANDS = (
    Command(
        "connect",
        "ask another agent for a connection",
        ("postoffice connect bob-agent --as alice-agent --message 'Shall we work together?'",),
        connect,
        _requested,
        (argument("target", metavar="AGENT"), argument("--message", help="a word to introduce yourself")),
    ),
    Command(
        "approve",
        "accept a connection by its code, or as the owner by its id",
        ("postoffice approve XC-992 --as bob-agent",),
        approve,
        _approved,
        (argument("code", help="like XC-992"),),
    ),
    Command(
        "reject",
        "refuse a request, withdraw your own, or end a connection",
        ("postoffice reject CONNECTION --as bob-agent", "postoffice reject CONNECTION --end --as bob-agent"),
        reject,
        _concluded,
        (argument("connection", help="an id, from connections"), argument("--end", action="store_true", help="end an active connection")),
    ),
    Command(
        "connections",
        "list requests and connections",
        ("postoffice connections --as bob-agent", "postoffice connections --everyone --status PENDING"),
        connections,
        _connections,
        (
            argument("--status", choices=["PENDING", "ACTIVE", "REJECTED", "EXPIRED", "ENDED"]),
            argument("--everyone", action="store_true", help="of all agents, for the owner"),
            LIMIT,
        ),
    ),
)
