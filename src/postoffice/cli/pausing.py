"""Commands that pause and resume an agent's mail."""

from datetime import datetime
from typing import TYPE_CHECKING, Any

from postoffice.cli.command import Command, Options, argument
from postoffice.cli.dates import moment_of
from postoffice.cli.show import ahead, say
from postoffice.client.path import part

if TYPE_CHECKING:
    from rich.console import Console

    from postoffice.client.wire import Wire


async def pause(wire: "Wire", options: Options) -> Any:
    """Pause an agent's mail."""
    body = {} if options["reason"] is None else {"reason": options["reason"]}
    if options["until"] is not None:
        body["until"] = moment_of(options["until"], datetime.now().astimezone(), "--until").isoformat()
    return await wire.post(f"/agents/{part(options['name'])}/pause", body)


def _paused(console: "Console", answer: Any) -> None:
    end = "until it is resumed: postoffice resume" if answer["until"] is None else f"and goes on {ahead(answer['until'])}"
    say(console, f"Its mail is held {end}. Senders are told.")


async def resume(wire: "Wire", options: Options) -> Any:
    """Resume it."""
    return await wire.post(f"/agents/{part(options['name'])}/resume")


def _resumed(console: "Console", answer: Any) -> None:
    say(console, f"{answer['name']} gets its mail again.")


_NAME = argument("name", nargs="?", default="me", metavar="AGENT", help="another agent, for the owner (who asks)")

COMMANDS = (
    Command(
        "pause",
        "hold an agent's mail for a while; senders are told until when",
        ("postoffice pause coder --until 17:00 --reason 'my limit resets at 5'", "postoffice pause --as coder"),
        pause,
        _paused,
        (
            _NAME,
            argument("--until", metavar="WHEN", help="when it resumes by itself, such as 17:00 or 'in 2h' (when you resume it)"),
            argument("--reason", help="why, for whoever asks"),
        ),
    ),
    Command(
        "resume",
        "give an agent its mail again, at once and in order",
        ("postoffice resume coder",),
        resume,
        _resumed,
        (_NAME,),
    ),
)
