"""The message that one reader of a mailbox has in hand, and what becomes of it when the reader stops."""

import asyncio
from contextlib import suppress
from typing import Any

from postoffice.client.message import Message

_REASON_CHARACTERS = 500


class Hand:
    """The message that one reader of a mailbox has in hand."""

    def __init__(self) -> None:
        self.asker = self.reader = running_task()
        self.closed = False
        self.done: list[Message] = []
        self.current: Message | None = None
        self.waiting: list[Message] = []

    def begin(self) -> None:
        """Note the task that asks for the first message: it is the reader."""
        self.reader = running_task()

    @property
    def fetched(self) -> bool:
        """Whether the reader was a helper task that only fetched a message for another, as `wait_for` starts one."""
        reader = self.reader
        return reader is not None and reader.done() and not reader.cancelled() and reader.exception() is None

    @property
    def _holder(self) -> asyncio.Task[Any] | None:
        return self.asker if self.fetched else self.reader

    def comes_after(self, earlier: "Hand") -> bool:
        """Whether the earlier hand was the same reader's, directly or through helper tasks."""
        return earlier.reader is self.reader or (earlier.fetched and earlier.asker is self.asker)

    def abandoned(self) -> bool:
        """Whether the reader will never come back. A reader that only left its loop may still work on the last message."""
        holder = self._holder
        return self.failed() or (self.closed and (holder is None or holder.done()))

    def failed(self) -> bool:
        """Whether the reader's task failed or was cancelled. Its exception may keep the generator alive, which is then never closed."""
        holder = self._holder
        return holder is not None and holder.done() and (holder.cancelled() or holder.exception() is not None)

    def left_undone(self) -> BaseException | None:
        """Why another task has not handled what it read: it failed, was cancelled, or is still working. None if it has."""
        holder = self._holder
        if holder is None or holder is running_task():
            return None
        ended = holder.done() and not holder.cancelled()
        return holder.exception() if ended else asyncio.CancelledError()

    def go_on(self) -> None:
        """Count the current message as done, unless it was settled meanwhile. A settlement stands even if its answer was lost."""
        if self.current is not None and not self.current.settled:
            self.done.append(self.current)
        self.current = None

    def let_go(self, error: BaseException | None) -> dict[str, list[dict[str, Any]]]:
        """Settle everything: ack what was handled, nack what failed with its reason, and give back the rest as untried."""
        if error is None or (self.current is not None and self.current.acked):
            self.go_on()
        done, failed, waiting = self.done, self.current, self.waiting
        self.done, self.current, self.waiting = [], None, []
        back = [message.lease | {"untried": True} for message in waiting if message.settle()]
        if failed is not None and failed.settle():
            back.append(failed.lease | {"reason": _reason(error)})
        return {"ack": [message.lease for message in done if message.settle()], "nack": back}


def running_task() -> asyncio.Task[Any] | None:
    """The task that runs this, if any."""
    with suppress(RuntimeError):  # outside of any event loop
        return asyncio.current_task()
    return None


def _reason(error: BaseException | None) -> str:
    """The error as text that can always be sent."""
    return f"{type(error).__name__}: {error}"[:_REASON_CHARACTERS].replace("\0", "?").encode(errors="replace").decode()
