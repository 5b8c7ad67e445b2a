"""What clients do at the REST door: each errand is one operation, done over and over by everyone."""

import asyncio
import itertools
from typing import Any, Protocol

import msgspec

from bench.plan import BODY
from bench.wire import Wire, request

BATCH = 50
_FILL = 100
_LETTER = {"subject": "The build", "content": BODY}
_SESSIONS = 20
_numbers = itertools.count(1)
_decode = msgspec.json.Decoder().decode


class OutOfMail(Exception):
    """There is nothing left to receive: the measurement ends here."""


class Errand(Protocol):
    """One kind of operation."""

    name: str

    async def prepare(self, wires: list[Wire], mail: int) -> None:
        """Make ready what the clients will need, so many messages of mail among it."""

    async def go(self, client: int, wire: Wire) -> None:
        """Do it once."""


class Send:
    """One message to the next client."""

    name = "send"

    async def prepare(self, wires: list[Wire], mail: int) -> None:  # noqa: ARG002
        names = new_names(len(wires))
        self._requests = [request("POST", "/messages/send", name, _LETTER | {"to": to}) for name, to in _pairs(names)]
        await asyncio.gather(*(wire.call(request("GET", "/health", name)) for wire, name in zip(wires, names, strict=True)))

    async def go(self, client: int, wire: Wire) -> None:
        await wire.call(self._requests[client])


class ReadInbox:
    """A look at an inbox of twenty sessions."""

    name = "inbox read"

    async def prepare(self, wires: list[Wire], mail: int) -> None:  # noqa: ARG002
        (reader,) = new_names(1)
        for sender in new_names(_SESSIONS):
            await wires[0].call(request("POST", "/messages/send", sender, _LETTER | {"to": reader}))
        self._request = request("GET", f"/inbox?limit={_SESSIONS}", reader)

    async def go(self, client: int, wire: Wire) -> None:  # noqa: ARG002
        await wire.call(self._request)


class ReceiveAck:
    """One message received and acked, in two calls."""

    name = "receive + ack"

    async def prepare(self, wires: list[Wire], mail: int) -> None:
        self._names = new_names(len(wires))
        self._receives = [request("POST", "/messages/receive", name, {"limit": 1}) for name in self._names]
        await _fill(wires, self._names, mail)

    async def go(self, client: int, wire: Wire) -> None:
        (letter,) = letters(await wire.call(self._receives[client]))
        await wire.call(request("POST", f"/messages/{letter['id']}/ack", self._names[client], {"token": letter["token"]}))


class FusedReceive:
    """One message received with the call that acks the one before."""

    name = "receive, ack carried"

    async def prepare(self, wires: list[Wire], mail: int) -> None:
        self._names = new_names(len(wires))
        self._acks: list[list[dict[str, str]]] = [[] for _ in wires]
        await _fill(wires, self._names, mail)

    async def go(self, client: int, wire: Wire) -> None:
        body = {"limit": 1, "ack": self._acks[client]}
        answer = await wire.call(request("POST", "/messages/receive", self._names[client], body))
        self._acks[client] = [acked(letter) for letter in letters(answer)]


class Batches:
    """Fifty messages sent in one call, then fifty received in one that acks the fifty before."""

    name = f"send {BATCH}, receive {BATCH}"

    async def prepare(self, wires: list[Wire], mail: int) -> None:  # noqa: ARG002
        self._names = new_names(len(wires))
        self._acks: list[list[dict[str, str]]] = [[] for _ in wires]
        self._sends = [_batch(name, to, BATCH) for name, to in _pairs(self._names)]

    async def go(self, client: int, wire: Wire) -> None:
        await wire.call(self._sends[client])
        body = {"limit": BATCH, "ack": self._acks[client]}
        answer = _decode(await wire.call(request("POST", "/messages/receive", self._names[client], body)))
        self._acks[client] = [acked(letter) for letter in answer["messages"]]


def new_names(count: int) -> list[str]:
    """Agents that nobody has met: every measurement has mailboxes of its own."""
    return [f"client-{next(_numbers)}" for _ in range(count)]


def _pairs(names: list[str]) -> list[tuple[str, str]]:
    """A ring. Mail to oneself has no session and would be cheaper than mail is: one client alone has a friend who writes back."""
    if len(names) == 1:
        return [(new_names(1)[0], names[0])]
    return list(zip(names, [*names[1:], names[0]], strict=True))


def _batch(sender: str, to: str, count: int) -> bytes:
    return request("POST", "/messages/send/batch", sender, {"messages": [_LETTER | {"to": to}] * count})


async def _fill(wires: list[Wire], names: list[str], mail: int) -> None:
    (friend,) = new_names(1)
    for wire, name in zip(wires, names, strict=True):
        for _ in range(max(1, mail // len(names) // _FILL)):
            await wire.call(_batch(friend, name, _FILL))


def letters(answer: bytes) -> list[dict[str, Any]]:
    """What was received, which is never nothing."""
    messages: list[dict[str, Any]] = _decode(answer)["messages"]
    if not messages:
        raise OutOfMail
    return messages


def acked(letter: dict[str, Any]) -> dict[str, str]:
    """What settles a letter."""
    return {"id": letter["id"], "token": letter["token"]}
