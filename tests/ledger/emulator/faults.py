"""What is to go wrong next, and how often."""

from dataclasses import dataclass
from typing import Any

from hiero_sdk_python.response_code import ResponseCode


@dataclass
class Fault:
    kind: str
    left: int
    method: str | None = None
    """The calls it is meant for, `getTransactionReceipts` or the like; nothing means any transaction."""
    detail: Any = None


class Faults:
    """Switches that count themselves down. Calls are met in the order the switches were set."""

    def __init__(self) -> None:
        self._planned: list[Fault] = []

    # At a node

    def refuse(self, status: str, calls: int = 1, *, method: str | None = None) -> None:
        """Answer the next calls with this code and do nothing."""
        self._plan("refuse", calls, method, ResponseCode[status])

    def busy(self, calls: int = 1, *, method: str | None = None) -> None:
        self.refuse("BUSY", calls, method=method)

    def cut(self, calls: int = 1, *, accepted: bool = True, method: str | None = None) -> None:
        """Break the connection instead of answering: after the transaction was taken, or before anyone looked at it."""
        self._plan("cut", calls, method, accepted)

    def silence(self, calls: int = 1, *, method: str | None = None) -> None:
        """Take the transaction and never answer."""
        self._plan("silence", calls, method)

    # At the mirror

    def mirror_answers(self, status: int, calls: int = 1) -> None:
        """Answer the next requests with 429, 503 or the like."""
        self._plan("status", calls, None, status)

    def cut_pages(self, calls: int = 1) -> None:
        """Break the connection in the middle of a page of messages."""
        self._plan("cut page", calls)

    def repeat_pages(self, calls: int = 1) -> None:
        """Give the page of a topic that was given last once more, whatever is asked for."""
        self._plan("repeat page", calls)

    def clear(self) -> None:
        self._planned.clear()

    def due(self, kind: str, method: str | None = None, *, named: bool = False) -> Fault | None:
        """The fault that meets this call, if one is planned; it counts as met. Queries are met only where they are named."""
        meant = {method} if named else {None, method}
        for fault in self._planned:
            if fault.kind == kind and fault.method in meant:
                fault.left -= 1
                if fault.left <= 0:
                    self._planned.remove(fault)
                return fault
        return None

    def _plan(self, kind: str, calls: int, method: str | None = None, detail: Any = None) -> None:
        self._planned.append(Fault(kind, calls, method, detail))
