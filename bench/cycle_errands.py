"""The whole cycle over HTTP, as an errand: send, receive and ack, each client in a mailbox of its own that a friend writes to."""

from bench.errands import OutOfMail, acked, letters, new_names
from bench.mcp_errands import checked, structured, tool_request
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


class SeedPop:
    """A send and a pop, which is all that seed 001 has: what is popped and not handled is lost."""

    name = "send, pop"

    async def prepare(self, wires: list[Wire], mail: int) -> None:  # noqa: ARG002
        self._names = new_tool_names(len(wires))
        self._sends = [tool_request(f"friend-of-{name}", "send_to_agent", {"name": name, "msg": BODY}) for name in self._names]
        self._takes = [tool_request(name, "check_mail", {}) for name in self._names]

    async def go(self, client: int, wire: Wire) -> None:
        await self.take(client, wire)

    async def take(self, client: int, wire: Wire) -> bytes:
        """Send, and take what was sent."""
        checked(await wire.call(self._sends[client]))
        answer = checked(await wire.call(self._takes[client]))
        if _EMPTY in answer:
            raise OutOfMail
        return answer


class SeedCycle(SeedPop):
    """The same with an ack, as it would be in the seed's design."""

    name = "send, receive, ack"

    async def go(self, client: int, wire: Wire) -> None:
        taken = structured(await self.take(client, wire))["result"]
        answer = await wire.call(tool_request(self._names[client], "ack_mail", {"id": taken["id"]}))
        if structured(answer) != {"result": True}:
            raise RuntimeError(answer)


def _sends(names: list[str]) -> list[bytes]:
    return [request("POST", "/messages/send", f"friend-of-{name}", _LETTER | {"to": name}) for name in names]
