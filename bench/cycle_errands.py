"""The whole cycle over HTTP, as an errand: send, receive and ack, each client in a mailbox of its own that a friend writes to."""

from bench.errands import OutOfMail, acked, letters, new_names
from bench.mcp_errands import checked, tool_request
from bench.mcp_errands import new_names as new_tool_names
from bench.plan import BODY
from bench.wire import Wire, request

_LETTER = {"subject": "The build", "content": BODY}
_EMPTY = b'"structuredContent":{"result":null}'


class ThreeCalls:
    """A send, a receive and an ack, one after the other."""

    name = "three calls"

    async def prepare(self, wires: list[Wire], mail: int) -> None:  # noqa: ARG002
        self._names = new_names(len(wires))
        self._sends = _sends(self._names)
        self._receives = [request("POST", "/messages/receive", name, {"limit": 1}) for name in self._names]

    async def go(self, client: int, wire: Wire) -> None:
        await wire.call(self._sends[client])
        (letter,) = letters(await wire.call(self._receives[client]))
        await wire.call(request("POST", f"/messages/{letter['id']}/ack", self._names[client], {"token": letter["token"]}))


class Fused:
    """A send, and a receive that acks what was received before."""

    name = "fused"

    async def prepare(self, wires: list[Wire], mail: int) -> None:  # noqa: ARG002
        self._names = new_names(len(wires))
        self._sends = _sends(self._names)
        self._acks: list[list[dict[str, str]]] = [[] for _ in wires]

    async def go(self, client: int, wire: Wire) -> None:
        await wire.call(self._sends[client])
        body = {"limit": 1, "ack": self._acks[client]}
        answer = await wire.call(request("POST", "/messages/receive", self._names[client], body))
        self._acks[client] = [acked(letter) for letter in letters(answer)]


class SeedCycle:
    """A send and a pop, which is all that seed 001 has: what is popped and not handled is lost."""

    name = "send, pop"

    async def prepare(self, wires: list[Wire], mail: int) -> None:  # noqa: ARG002
        names = new_tool_names(len(wires))
        self._sends = [tool_request(f"friend-of-{name}", "send_to_agent", {"name": name, "msg": BODY}) for name in names]
        self._pops = [tool_request(name, "check_mail", {}) for name in names]

    async def go(self, client: int, wire: Wire) -> None:
        checked(await wire.call(self._sends[client]))
        if _EMPTY in checked(await wire.call(self._pops[client])):
            raise OutOfMail


def _sends(names: list[str]) -> list[bytes]:
    return [request("POST", "/messages/send", f"friend-of-{name}", _LETTER | {"to": name}) for name in names]
