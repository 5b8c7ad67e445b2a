"""Commands that bring an agent to another machine: invite, and join there."""

from typing import TYPE_CHECKING, Any

from postoffice.cli.command import Command, Options, argument
from postoffice.cli.show import say
from postoffice.client.address import read_address
from postoffice.core.hosts import is_loopback

if TYPE_CHECKING:
    from rich.console import Console

    from postoffice.client.wire import Wire


async def invite(wire: "Wire", options: Options) -> Any:
    """Print a line to paste on another machine."""
    body = {"name": options["name"], "description": options["description"], "allow_from": options["allow"]}
    made = await wire.post("/invites", {name: value for name, value in body.items() if value})
    server = read_address(options["at"], "--at") if options["at"] else made["server"]
    return made | {"server": server, "command": f"postoffice join {server} {made['code']}"}


def _invited(console: "Console", answer: Any) -> None:
    say(console, f"Paste this on the machine where {answer['name']} will run. It works once, within an hour:")
    say(console, f"  {answer['command']}")
    host = answer["server"].partition("://")[2].rpartition(":")[0].strip("[]")
    if is_loopback(host):
        say(
            console,
            f"{answer['server']} can be reached from this machine only. If others reach the office at another address, give it with --at.",
        )


async def join(_: "Wire", options: Options) -> Any:
    """Use the code on the other machine, and keep the key."""
    from postoffice.client import credentials  # noqa: PLC0415
    from postoffice.client.wire import Wire as NewWire  # noqa: PLC0415

    server = read_address(options["address"], "address")
    async with NewWire(server) as stranger:
        with credentials.keeping(server) as keep:
            made = await stranger.post("/invites/accept", {"code": options["code"]})
            path = keep(credentials.Credential(server=server, agent=made["name"], key=made["api_key"]))
    credentials.join(server, made["name"])
    return {"name": made["name"], "server": server, "key_prefix": made["api_key"][:8], "kept_in": str(path)}


def _joined(console: "Console", answer: Any) -> None:
    say(console, f"You are {answer['name']} at {answer['server']}; its key is kept in {answer['kept_in']}.")
    say(console, "From now on, commands here go to that office unless another is named: postoffice inbox")


COMMANDS = (
    Command(
        "invite",
        "print a line that gives an agent its key on another machine, once",
        ("postoffice invite coder --allow '*' --at https://mail.example.com", "postoffice invite coder --json"),
        invite,
        _invited,
        (
            argument("name", help="the agent, who need not be there yet"),
            argument("--description", default="", help="what it does, if it is new"),
            argument("--allow", action="append", metavar="AGENT", help="who may write to it, if it is new; '*' is everybody"),
            argument("--at", metavar="URL", help="the office's address as the other machine reaches it"),
        ),
    ),
    Command(
        "join",
        "use an invitation: keep the key it gives, and speak to that office",
        ("postoffice join https://mail.example.com kYx0v3wq2T5tJ8nHc1bR4A",),
        join,
        _joined,
        (argument("address", metavar="URL", help="the office's address"), argument("code", help="from the invitation")),
    ),
)
