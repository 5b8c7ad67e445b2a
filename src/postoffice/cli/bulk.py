"""The command that deals with many letters at once."""

import sys
from typing import TYPE_CHECKING, Any

from postoffice.cli.command import Command, Options, argument
from postoffice.cli.dates import span_of
from postoffice.cli.show import say
from postoffice.core.bulk import BulkAct

if TYPE_CHECKING:
    from rich.console import Console

    from postoffice.client.wire import Wire

_FILTERS = {"agent": "of", "sender": "sender", "type": "type", "reason": "reason"}


async def bulk(wire: "Wire", options: Options) -> Any:
    """Count the letters; act on them only with --yes."""
    path, which = f"/bulk/{options['act']}", {field: options[name] for field, name in _FILTERS.items() if options[name] is not None}
    if options["older"] is not None:
        which["older_than"] = span_of(options["older"], "--older").total_seconds()
    counted = await wire.post(path, which | {"dry_run": True})
    if not options["yes"]:
        return {"act": options["act"], "done": 0, "refused": 0, "left": counted["left"]}
    done, refused, cursor = 0, 0, None
    while True:
        place = {"before": counted["before"]} | ({} if cursor is None else {"cursor": cursor})
        group = await wire.post(path, which | place)
        done, refused, cursor = done + group["done"], refused + group["refused"], group["cursor"]
        if sys.stderr is not None and sys.stderr.isatty():
            print(f"postoffice: {done + refused} of {counted['left']}", file=sys.stderr, flush=True)
        if cursor is None:
            return {"act": options["act"], "done": done, "refused": refused, "left": group["left"]}


def _told(console: "Console", answer: Any) -> None:
    if not answer["done"] and not answer["refused"]:
        say(console, f"{answer['left']} letters fit. Nothing is done yet: add --yes to {answer['act']} them.")
        return
    refused = f", {answer['refused']} could not be done" if answer["refused"] else ""
    say(console, f"Done to {answer['done']} letters{refused}; {answer['left']} left.")


COMMANDS = (
    Command(
        "bulk",
        "requeue or discard many dead letters, or expire much mail that waits, as the owner; counts first",
        (
            "postoffice bulk requeue --of coder --reason 'the lease ran out'",
            "postoffice bulk requeue --of coder --reason 'the lease ran out' --yes",
            "postoffice bulk expire --of coder --older 7d --yes",
        ),
        bulk,
        _told,
        (
            argument("act", choices=[str(act) for act in BulkAct]),
            argument("--of", metavar="AGENT", help="only in this agent's mailbox"),
            argument("--sender", metavar="AGENT", help="only what this agent sent"),
            argument("--type", help="only this kind of message"),
            argument("--reason", help="only if the reason contains these words"),
            argument("--older", metavar="TIME", help="only what died, or began to wait, at least so long ago: 2h, 7d"),
            argument("--yes", action="store_true", help="do it; without this they are only counted"),
        ),
    ),
)
