"""The runner: it takes an agent's messages, runs a command once for each, and sends what the command printed."""

import asyncio
import contextlib
from collections.abc import Callable, Coroutine, Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple, TypeVar

from postoffice.bridges.body import say
from postoffice.bridges.command import run_command
from postoffice.bridges.conversations import Conversations
from postoffice.bridges.limit import ERRORS, limit_ends
from postoffice.bridges.preset import Answer, Preset, fill
from postoffice.bridges.task_start import start_task
from postoffice.client.mailbox import Mailbox
from postoffice.client.message import Message
from postoffice.core.delivery import next_try
from postoffice.core.errors import (
    AlreadyAnswered,
    BudgetSpent,
    CommandFailed,
    Conflict,
    Forbidden,
    IdConflict,
    MailError,
    NotFound,
    WouldBeAnOption,
)
from postoffice.core.fence import one_line
from postoffice.core.message import NOTICE, TASK, TaskRef
from postoffice.core.task import TaskState

_VISIBLE_SECONDS = 30.0
_REASON_CHARACTERS = 400
_STOP_SECONDS = 10.0
_GIVE_BACK_SECONDS, _STOPPED_GIVE_BACK_SECONDS = 30.0, 2.0
_UNSENT_REMEMBERED = 100
_LIMIT = "the limit of the program that answers is reached"
T = TypeVar("T")


class _LimitReached(Exception):
    """The CLI refuses all work until then."""

    def __init__(self, until: datetime) -> None:
        super().__init__(_LIMIT)
        self.until = until


class Job(NamedTuple):
    """How a runner works."""

    agent: str
    server: str
    preset: Preset
    environment: Mapping[str, str]
    """The part of our environment that the command gets."""
    jobs: int | None = None
    timeout: float = 900.0
    folder: str | None = None
    """The command's working folder; None is the runner's own."""


class Runner:
    """One agent's runner. It works on the messages of a session one after another, and on several sessions side by side."""

    def __init__(self, job: Job, box: Mailbox, conversations: Conversations, say: Callable[[str], None]) -> None:
        self._job = job
        self._box = box
        self._conversations = conversations
        self._say = say
        self._running: set[asyncio.Task[None]] = set()
        self._in_hand: dict[str, Message] = {}
        self._unsent: dict[str, Answer] = {}
        """Answers that could not be sent yet, by message. The work is not repeated for that."""

    async def run(self, stop: asyncio.Event) -> None:
        """Work until told to stop. Then finish what is under way, or give it back."""
        stopping = asyncio.create_task(stop.wait())
        try:
            at_once = await _unless(stopping, self._at_once())
            while at_once is not None and not stop.is_set():
                if len(self._running) >= at_once:
                    await asyncio.wait({stopping, *self._running}, return_when=asyncio.FIRST_COMPLETED)
                    continue
                # Hanging up during this call leaves no lease behind.
                for message in await _unless(stopping, self._take(at_once - len(self._running))) or ():
                    self._begin(message)
        finally:
            stopping.cancel()
            await self._finish()

    async def _at_once(self) -> int:
        """How many messages to work on at once: as many as the agent's card allows, or fewer if asked."""
        card = await self._box.call("GET", "/agents/me")
        most = max(int(card["max_concurrent_tasks"]), 1)
        return most if self._job.jobs is None else min(self._job.jobs, most)

    async def _take(self, limit: int) -> list[Message]:
        return await self._box.lease({"limit": limit, "visible_for": _VISIBLE_SECONDS, "one_per_session": True})

    async def _finish(self) -> None:
        if self._running:
            self._say(f"finishing {len(self._running)} under way")
            await asyncio.wait(self._running, timeout=_STOP_SECONDS)
        for task in list(self._running):
            task.cancel()
        await asyncio.gather(*self._running, return_exceptions=True)

    def _begin(self, message: Message) -> None:
        """Begin the work. If it is under way already, the lease ran out while no office could extend it: the work goes on under the new lease."""
        before = self._in_hand.get(message.id)
        self._in_hand[message.id] = message
        if before is not None:
            before.settle()
            return
        task = asyncio.create_task(self._work(message))
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    async def _work(self, message: Message) -> None:
        letter = message.letter
        try:
            outcome = await self._handle(message)
            await self._in_hand[letter.id].ack()
            self._say(outcome)
        except _LimitReached as reached:
            await self._rest(letter.id, reached.until)
        except (CommandFailed, asyncio.CancelledError) as error:
            stopped = isinstance(error, asyncio.CancelledError)
            await self._give_back(
                letter.id, str(error) or "the runner was stopped", within=_STOPPED_GIVE_BACK_SECONDS if stopped else _GIVE_BACK_SECONDS
            )
            if stopped:
                raise
        except (Conflict, NotFound) as error:
            # It was settled elsewhere meanwhile; nothing is left to do.
            self._say(f"{letter.id}: {error}")
            with contextlib.suppress(MailError):
                await self._in_hand[letter.id].ack()
        except Exception as error:  # noqa: BLE001 - whatever happened, the mail goes back and the runner goes on
            await self._give_back(letter.id, f"{type(error).__name__}: {error}", within=_GIVE_BACK_SECONDS)
        finally:
            # If it was taken again while it was being given back, nobody works on it: forget it, or its lease would be extended for ever.
            self._in_hand.pop(letter.id).settle()

    async def _handle(self, message: Message) -> str:
        """Handle one message. Returns in a few words what was done."""
        letter = message.letter
        if letter.type == NOTICE:
            return f"notice: {message.text}"
        if isinstance(letter.task, TaskRef) and letter.task.state == TaskState.CANCELED:
            return f"{letter.sender} has canceled the task {letter.reply_to}"
        self._say(f"{letter.sender}: {letter.id} (try {letter.attempt})")
        if letter.type == TASK and not await start_task(message, f"run-{letter.id}"):
            return f"{letter.id}: the task is over, or too late"
        try:
            answer = self._unsent.pop(letter.id, None) or await self._run(message)
        except WouldBeAnOption as error:  # every try would fail in the same way
            await self._answer(message, Answer(str(error)), TaskState.FAILED)
            return f"{letter.id} was refused: {error}"
        try:
            await self._answer(message, answer)
        except (Conflict, NotFound):
            raise  # there is nothing left to answer
        except Exception:
            self._unsent[letter.id] = answer
            if len(self._unsent) > _UNSENT_REMEMBERED:  # the rest is of mail that others took, or that is dead
                del self._unsent[next(iter(self._unsent))]
            raise
        return f"answered {letter.id}"

    async def _give_back(self, id: str, reason: str, *, within: float) -> None:
        message = self._in_hand[id]
        delay = next_try(message.letter.attempt).total_seconds()
        self._say(f"{id} failed: {reason}; given back for {delay:g} s")
        # If no office answers in time, the lease runs out by itself. Only the reason is lost then.
        with contextlib.suppress(MailError, TimeoutError):
            async with asyncio.timeout(within):
                await message.nack(one_line(reason)[:_REASON_CHARACTERS], delay=delay)

    async def _rest(self, id: str, until: datetime) -> None:
        """Pause the agent's mail until the limit ends, including this message. A pause that is longer stays as it is."""
        try:
            async with asyncio.timeout(_GIVE_BACK_SECONDS):
                paused = (await self._box.call("GET", "/agents/me")).get("paused")
                if paused is None or (paused["until"] is not None and datetime.fromisoformat(paused["until"]) < until):
                    await self._box.pause(until=until, reason=_LIMIT)
                self._say(f"{_LIMIT}; mail is held until {until.astimezone(UTC):%Y-%m-%d %H:%M} UTC")
                await self._in_hand[id].nack(_LIMIT, untried=True)
        except (MailError, TimeoutError) as error:  # an older office that cannot pause
            await self._give_back(id, f"{_LIMIT} ({error})", within=_GIVE_BACK_SECONDS)

    def _check_limit(self, output: str, errors: str) -> None:
        """Raise if the CLI's own errors say that its limit is reached, with the time it ends."""
        now = datetime.now().astimezone()
        complaints = ERRORS[self._job.preset.name](output, errors) if self._job.preset.name in ERRORS else ()
        if until := next((end for said in complaints if (end := limit_ends(said, now)) is not None), None):
            raise _LimitReached(until)

    async def _run(self, message: Message) -> Answer:
        """The command's answer to one message."""
        preset, session = self._job.preset, message.session_id or message.sender
        conversation = self._conversations.get(session)
        words = fill(preset.first if conversation is None else preset.again, message.letter, conversation)
        variables = {
            "POSTOFFICE_AGENT": self._job.agent,
            "POSTOFFICE_SERVER": self._job.server,
            "POSTOFFICE_SESSION": message.session_id or "",
        }
        try:
            output = await run_command(
                words, preset.given(message.letter), {**self._job.environment, **variables}, self._job.timeout, self._job.folder
            )
        except CommandFailed as error:
            self._check_limit(str(error.facts.get("printed", "")), str(error.facts.get("errors", "")))
            # If the CLI has lost the conversation, continuing it would fail every time.
            self._conversations.put(session, None)
            raise
        self._check_limit(output, "")
        answer = preset.read(output)
        self._conversations.put(session, answer.conversation)
        return answer

    async def _answer(self, message: Message, answer: Answer, state: TaskState = TaskState.COMPLETED) -> None:
        """Send the answer exactly once, whatever happens in between. If nothing was printed, nothing is sent."""
        id = f"run-{message.id}"
        if message.letter.type == TASK:
            await say(answer.text, lambda body: message.report(state, automatic=True, id=id, **body))
            return
        if not answer.text:
            return
        try:
            await say(answer.text, lambda body: message.reply(automatic=True, id=id, **body))
        except IdConflict:
            self._say(f"{message.id} had been answered before")
        except AlreadyAnswered as error:
            self._say(f"{message.id}: {error}")
        except BudgetSpent as error:
            self._say(f"{message.sender}: {error}")
        except Forbidden as error:
            self._say(f"the answer to {message.sender} was refused: {error}")


async def _unless(stopping: asyncio.Task[Any], work: Coroutine[Any, Any, T]) -> T | None:
    """The result of the work; None if we are told to stop first."""
    task = asyncio.create_task(work)
    try:
        await asyncio.wait({stopping, task}, return_when=asyncio.FIRST_COMPLETED)
        return task.result() if task.done() else None
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
