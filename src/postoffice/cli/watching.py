"""Commands that keep running: watch what happens, and take mail for a command."""

import asyncio
import json
import os
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from postoffice.cli.caller import asking
from postoffice.cli.command import Options, add_caller, examples
from postoffice.cli.ending import when_told_to_end
from postoffice.cli.show import for_programs, text_of
from postoffice.core.errors import BadCursor, BadLimit, BadSetting, Invalid, MailError
from postoffice.core.fence import one_line
from postoffice.core.role import address_of

if TYPE_CHECKING:
    from postoffice.client.wire import Wire

_WAIT_SECONDS, _LOOK_SECONDS = 25.0, 1.0
_LEASE_SECONDS = 30.0
_ANSWER_SECONDS, _GIVE_BACK_SECONDS, _FLUSH_SECONDS = 60.0, 10.0, 2.0
_TERMINATED = 128 + signal.SIGTERM


def add(commands: Any) -> None:
    """Add watch and recv."""
    import argparse  # noqa: PLC0415

    plain = argparse.RawDescriptionHelpFormatter
    watching = commands.add_parser(
        "watch",
        help="show what happens as it happens, one line an event",
        description="Show what happens to an agent as it happens. Takes nothing.",
        epilog=examples("postoffice watch --as coder", "postoffice watch --as coder --after 0 --json"),
        formatter_class=plain,
    )
    watching.add_argument("--after", metavar="CURSOR", help="begin after this cursor; 0 is the first event (now)")
    add_caller(watching)
    watching.set_defaults(command=_watch)
    receiving = commands.add_parser(
        "recv",
        help="take the next message, print it or pass it to a command, and ack it",
        description="Take the next message. With --exec the command gets it as JSON on standard input; its success acks, its failure gives back.",
        epilog=examples(
            "postoffice recv --as coder",
            "postoffice recv --as coder --exec 'jq -r .content' --count 0",
            "postoffice recv --of role:reviewer --as coder",
        ),
        formatter_class=plain,
    )
    receiving.add_argument("--exec", dest="execute", metavar="CMD", help="run this for each message")
    receiving.add_argument("--count", type=_count, default=1, help="messages to take; 0 means without end (1)")
    receiving.add_argument("--wait", type=float, default=_WAIT_SECONDS, metavar="SECONDS", help="how long to wait for one (25)")
    receiving.add_argument("--of", metavar="ROLE", help="only from this role; without it, your own mail first and then your roles'")
    receiving.add_argument("--in-order", action="store_true", help="of each conversation only one at a time")
    add_caller(receiving)
    receiving.set_defaults(command=_recv)


def _count(text: str) -> int:
    """Parse a count; 0 means without end."""
    if (count := int(text)) < 0:
        raise ValueError
    return count


def _watch(options: Options) -> None:
    asyncio.run(_events(options))


async def _events(options: Options) -> None:
    """Read events by long polls: unlike a socket they resume by themselves and need no further library."""
    from postoffice.client.wire import until_answered  # noqa: PLC0415

    async with asking(options) as wire:
        now = (await wire.get("/mailbox"))["counted"]  # not repeated, as we do not wait for an office that was never there
        after, carried, wait = (now, True, _WAIT_SECONDS) if options["after"] is None else (options["after"], False, _WAIT_SECONDS)
        while True:

            async def ask(after: Any = after, wait: float = wait) -> Any:
                return await wire.get("/events", after=after, wait=wait, limit=100)

            try:
                news = await until_answered(ask)
            except BadCursor:
                if not carried:
                    raise
                after = (await until_answered(lambda: wire.get("/mailbox")))["counted"]
                print("postoffice: a backup replaced the mail here; going on from now", file=sys.stderr, flush=True)
                continue
            except BadLimit:
                if not wait:
                    raise
                wait = 0.0  # that office does not allow so long a wait
                continue
            for event in news["events"]:
                print(json.dumps(event) if for_programs(options) else _line(event), flush=True)
            after, carried = news["cursor"], True
            if not (wait or news["events"]):
                await asyncio.sleep(_LOOK_SECONDS)


_SENTENCES = {
    "new_message": "{from_agent}: {content}",
    "receipt": "{by} has handled {message_id}",
    "dead_letter": "{message_id} could not be delivered: {reason}",
    "connection_request": "{from_agent} asks to connect, code {verification_code}",
    "connection_approved": "connected with {connected_agent}",
    "task": "task {task_id} is {state}",
}


def _line(event: dict[str, Any]) -> str:
    """An event on one line; nothing in it can begin another line."""
    if event["type"] == "new_message":
        event |= {"content": text_of(event["message"])}
    rest = ", ".join(f"{name} {value}" for name, value in event.items() if name not in ("type", "cursor", "at"))
    sentence = _SENTENCES[event["type"]].format_map(event) if event["type"] in _SENTENCES else rest
    kind = f"{event['type']:<20}"
    if "NO_COLOR" not in os.environ:
        kind = f"\x1b[36m{kind}\x1b[0m"
    return f"{event['at'][11:19]} {kind} {one_line(sentence)}"


def _recv(options: Options) -> int:
    if not options["wait"] >= 0:
        raise BadSetting(name="--wait", why=f"{options['wait']} is not a number of seconds")
    if sys.stdout is None and options["execute"] is None:
        raise Invalid(what="recv", why="standard output is closed, and mail that nobody sees would be acked; give --exec CMD")
    with suppress(asyncio.CancelledError):
        return asyncio.run(_take(options))
    return _TERMINATED


async def _take(options: Options) -> int:
    """Take messages one after another. Returns the last command's failure, or 1 if nothing came."""
    if this := asyncio.current_task():
        when_told_to_end(this.cancel, signal.SIGTERM)  # like an interrupt
    taken = 0
    code = 0
    wish = {"limit": 1, "visible_for": _LEASE_SECONDS, "one_per_session": options["in_order"]}
    wish |= {} if options["of"] is None else {"of": address_of(options["of"])}
    async with asking(options) as wire:
        await wire.get("/mailbox")  # as above: we wait for the office only once it has answered
        while options["count"] == 0 or taken < options["count"]:
            letters = await _next(wire, wish, options["wait"], without_end=options["count"] == 0)
            if not letters and options["count"] != 0:
                print("postoffice: no message came", file=sys.stderr)
                return 1
            for letter in letters:
                taken += 1
                code = await _handle(wire, letter, options["execute"])
    return code


async def _next(wire: "Wire", wish: dict[str, Any], seconds: float, *, without_end: bool) -> list[Any]:
    """The next message, if one comes in time. Single waits may be shorter than that, and the office may be away for a while."""
    from postoffice.client.wire import until_answered  # noqa: PLC0415

    until = time.monotonic() + seconds

    def left() -> float:
        return max(until - time.monotonic(), 0)

    while True:
        asked = left()
        letters = await until_answered(
            lambda: wire.wait(wish, left()),
            None if without_end else asked,
            lambda error: print(f"postoffice: waiting: {error}", file=sys.stderr, flush=True),
        )
        if letters or not asked:
            return letters


async def _handle(wire: "Wire", letter: dict[str, Any], execute: str | None) -> int:
    """Print a message or pass it to a command, and settle it by the result. Returns the command's exit code as shells count it."""
    keeping = asyncio.create_task(_keep(wire, letter))
    try:
        code = _print(letter) if execute is None else await _execute(execute, letter)
    except BaseException:
        # The work was broken off. Give the message back, so that its next taker need not wait until the lease runs out.
        # Only once: we wait for an office that is busy, but not for one that is away.
        with suppress(MailError, TimeoutError):
            async with asyncio.timeout(_GIVE_BACK_SECONDS):
                await _say(wire, letter, "nack", reason="it was broken off")
        raise
    finally:
        keeping.cancel()
    if code == 0:
        await _settle(wire, letter, "ack")
    else:
        await _settle(wire, letter, "nack", reason=f"the command ended with {code}")
    return code if code >= 0 else 128 - code


def _print(letter: dict[str, Any]) -> int:
    print(json.dumps(letter), flush=True)
    return 0


async def _execute(command: str, letter: dict[str, Any]) -> int:
    """Run a command with a message. Returns its exit code, below 0 for a signal."""
    names = {"POSTOFFICE_FROM": letter["from"], "POSTOFFICE_MESSAGE": letter["id"], "POSTOFFICE_SUBJECT": letter["subject"]}
    # At a terminal the command may ask, and Ctrl-C reaches all it started. Elsewhere it gets a process group, so that we can end all of that.
    alone = not os.isatty(0)
    starting = asyncio.create_task(
        asyncio.create_subprocess_shell(command, stdin=asyncio.subprocess.PIPE, env=os.environ | names, start_new_session=alone)
    )
    try:
        process = await asyncio.shield(starting)
        await process.communicate(json.dumps(letter).encode())
    except OSError as error:
        raise BadSetting(name="--exec", why=str(error)) from None
    except BaseException:
        process = await starting
        await _end(process, partial(os.killpg, process.pid) if alone else process.send_signal)
        raise
    return process.returncode or 0


async def _end(process: asyncio.subprocess.Process, send: Callable[[int], None]) -> None:
    """End a command, politely first, as its message goes back."""
    try:
        with suppress(ProcessLookupError, TimeoutError):
            send(signal.SIGTERM)
            async with asyncio.timeout(_FLUSH_SECONDS):
                await process.wait()
    finally:  # also if a second signal interrupts the polite wait
        with suppress(ProcessLookupError):
            send(signal.SIGKILL)
        await process.wait()


async def _settle(wire: "Wire", letter: dict[str, Any], how: str, **more: object) -> None:
    """Settle, and repeat that while the server is away, so that a restart does not undo the work."""
    from postoffice.client.wire import until_answered  # noqa: PLC0415

    await until_answered(lambda: _say(wire, letter, how, **more), _ANSWER_SECONDS)


async def _say(wire: "Wire", letter: dict[str, Any], how: str, **more: object) -> None:
    await wire.post(f"/messages/{letter['id']}/{how}", {"token": letter["token"]} | more)


async def _keep(wire: "Wire", letter: dict[str, Any]) -> None:
    while True:
        await asyncio.sleep(_LEASE_SECONDS / 3)
        await _settle(wire, letter, "extend", visible_for=_LEASE_SECONDS)
