"""Commands about letters that are sent again and again."""

from typing import TYPE_CHECKING, Any

from postoffice.cli import ids
from postoffice.cli.command import Command, Options, argument
from postoffice.cli.dates import span_of
from postoffice.cli.show import ahead, say, table
from postoffice.client.path import part
from postoffice.client.text_body import text_body
from postoffice.core.errors import BadSetting
from postoffice.core.recurring import Missed

if TYPE_CHECKING:
    from rich.console import Console

    from postoffice.client.wire import Wire


async def recurring(wire: "Wire", options: Options) -> Any:
    """List recurring letters, begin one, or stop one."""
    act, what, to = options["act"], options["what"], options["to"]
    if act == "list":
        return await wire.get("/recurring", everyone=options["everyone"])
    if what is None:
        raise BadSetting(name=act, why="say when, or which one to stop: postoffice recurring --help")
    if act == "stop":
        return await wire.call("DELETE", f"/recurring/{part(what)}")
    if not to or options["text"] is None:
        raise BadSetting(name="add", why="say to whom and what: postoffice recurring add '0 9 * * 1-5' --to bob 'Stand-up?'")
    body = {
        "every": what,
        "zone": options["zone"] or "UTC",
        "missed": options["missed"],
        "to": to[0] if len(to) == 1 else to,
        "subject": options["subject"],
        "type": "task" if options["task"] else "message",
        "expires_in": None if options["expires"] is None else span_of(options["expires"], "--expires").total_seconds(),
        **text_body(options["text"]),
    }
    return await wire.post("/recurring", {name: value for name, value in body.items() if value is not None})


def _recurring(console: "Console", answer: Any) -> None:
    if "recurring" not in answer:
        say(
            console,
            f"{ids.short(answer['id'])}: to {_to(answer)} at {answer['every']} ({answer['zone']}), next {ahead(answer['next_at'])}.",
        )
        return
    shown = ids.all_short(one["id"] for one in answer["recurring"])
    rows = [
        (ahead(one["next_at"]), one["every"], one["zone"], one["sender"], _to(one), one["sent"], one["trouble"] or "", id)
        for one, id in zip(answer["recurring"], shown, strict=True)
    ]
    table(
        console,
        ("next", "every", "zone", "from", "to", "sent", "trouble", "id"),
        rows,
        "There are no recurring letters. Begin one: postoffice recurring add '0 9 * * 1-5' --to bob 'Stand-up?'",
    )


def _to(one: Any) -> str:
    to = one["letter"]["to"]
    return to if isinstance(to, str) else ", ".join(to)


COMMANDS = (
    Command(
        "recurring",
        "send a letter again and again; list such letters, or stop one",
        (
            "postoffice recurring add '0 9 * * 1-5' --zone Europe/Berlin --to coder 'Where are we?' --as boss",
            "postoffice recurring list --everyone",
            "postoffice recurring stop ID --as boss",
        ),
        recurring,
        _recurring,
        (
            argument("act", nargs="?", default="list", choices=["list", "add", "stop"]),
            argument(
                "what", nargs="?", metavar="WHEN|ID", help="minute, hour, day, month and weekday as in cron; or the id of the one to stop"
            ),
            argument("text", nargs="?", help="what to say"),
            argument("--to", action="append", metavar="AGENT", help="an agent, or ALL; more than once for several"),
            argument("--subject", default="", help="the conversation's topic"),
            argument("--zone", help="the time zone, such as Europe/Berlin (UTC)"),
            argument(
                "--missed",
                default="once",
                choices=[str(one) for one in Missed],
                help="if the office could not send one in time: send it once afterwards, or skip it",
            ),
            argument("--task", action="store_true", help="ask for work"),
            argument("--expires", metavar="TIME", help="each expires if it is not taken within this time: 1d"),
            argument("--everyone", action="store_true", help="of all agents, for the owner"),
        ),
    ),
)
