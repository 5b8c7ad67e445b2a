"""What models do at the MCP door, where answers are text: the set `mail`, and a look at the mailbox."""

import re
from typing import Any

from bench.errands import OutOfMail
from bench.mcp_errands import checked, fill_ours, new_names, tool_request
from bench.plan import BODY
from bench.wire import Wire, request

_SESSIONS, _LINES = 20, 3
_TAKEN = re.compile(rb"New: 1 message.*? message ([0-9a-f-]+) from ", re.DOTALL)


class MailSend:
    """One letter to the next client."""

    name = "mail_send"
    calls = 1

    async def prepare(self, wires: list[Wire], mail: int) -> None:
        del mail  # nothing has to wait
        names = new_names(len(wires) + 1)
        letters = [{"to": to, "text": BODY, "subject": "The build"} for to in names[1:]]
        self._requests = [_text_request(name, "mail_send", letter) for name, letter in zip(names, letters, strict=False)]

    async def go(self, client: int, wire: Wire) -> None:
        checked(await wire.call(self._requests[client]))


class MailGetDone:
    """One letter got and done with, in two calls, by its short id."""

    name = "mail_get + mail_done"
    calls = 2

    async def prepare(self, wires: list[Wire], mail: int) -> None:
        self._names = new_names(len(wires))
        self._gets = [_text_request(name, "mail_get", {"limit": 1}) for name in self._names]
        await fill_ours(wires, self._names, mail)

    async def go(self, client: int, wire: Wire) -> None:
        got = _TAKEN.search(checked(await wire.call(self._gets[client])))
        if got is None:
            raise OutOfMail
        checked(await wire.call(_text_request(self._names[client], "mail_done", {"ids": [got[1].decode()]})))


class Look:
    """A look at a mailbox with twenty sessions, by any way."""

    calls = 1

    def __init__(self, name: str) -> None:
        self.name = name

    async def prepare(self, wires: list[Wire], mail: int) -> None:
        del mail  # it has its own
        names = new_names(len(wires))
        self._requests = [self._request(name) for name in names]
        await _fill_sessions(wires[0], names)

    async def go(self, client: int, wire: Wire) -> None:
        self._check(await wire.call(self._requests[client]))

    def _request(self, name: str) -> bytes:
        return _text_request(name, "mailbox_check", {})

    def _check(self, answer: bytes) -> None:
        checked(answer)


class InboxLook(Look):
    """The same over REST."""

    def _request(self, name: str) -> bytes:
        return request("GET", "/inbox", name)

    def _check(self, answer: bytes) -> None:
        if answer.count(b'"session_id"') < _SESSIONS:
            raise RuntimeError(answer.decode())


async def _fill_sessions(wire: Wire, names: list[str]) -> None:
    """Twenty have written to each."""
    for name in names:
        letters = [{"to": name, "subject": "The build", "content": BODY}] * _LINES
        for number in range(_SESSIONS):
            await wire.call(request("POST", "/messages/send/batch", f"writer-{number}", {"messages": letters}))


def _text_request(agent: str, tool: str, arguments: dict[str, Any]) -> bytes:
    return tool_request(agent, tool, arguments).replace(b"?structured=1", b"", 1)
