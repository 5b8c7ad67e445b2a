"""The doors there are. A row in DOORS is all that a new one needs to cross with every other."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import httpx
from mcp.client.client import Client
from websockets.asyncio.client import ClientConnection

from postoffice.core.delivery import State
from postoffice.core.errors import NoSuchMessage
from postoffice_files import MailboxManager
from tests.crossing.door import Desk, Door, Letter, Person
from tests.doors.callers import done
from tests.doors.served import Served
from tests.doors.sockets import heard_of, plugged
from tests.mcp.calling import call, client, post, result_of, text_of
from tests.mcp.processes import started
from tests.proof.patience import until


def shown(raw: dict[str, Any], content: str | None = None) -> Letter:
    """A letter as most doors show it."""
    said = raw["content"] if content is None else content
    return Letter(raw["from"], said, raw["from_verified"], raw["subject"], raw.get("correlation_id"))


class RestDesk:
    def __init__(self, http: httpx.AsyncClient) -> None:
        self._http = http

    async def send(self, to: str, content: str, *, subject: str, correlation_id: str) -> str:
        body = {"to": to, "subject": subject, "content": content, "correlation_id": correlation_id}
        return str(done(await self._http.post("/messages/send", json=body), 201)["message_id"])

    async def collect(self, count: int) -> list[Letter]:
        taken = done(await self._http.post("/messages/receive", json={"limit": count}))["messages"]
        for item in taken:
            done(await self._http.post(f"/messages/{item['id']}/ack", json={"token": item["token"]}))
        return [shown(item) for item in taken]


class Rest:
    name = "REST"
    sends = subjects = correlates = settles = keyed = True

    @asynccontextmanager
    async def open(self, served: Served, person: Person) -> AsyncIterator[Desk]:
        async with served.client(key=person.key, name=person.name) as http:
            yield RestDesk(http)


class WebSocketDesk:
    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket

    async def send(self, to: str, content: str, *, subject: str, correlation_id: str) -> str:
        raise NotImplementedError

    async def collect(self, count: int) -> list[Letter]:
        frames = [await heard_of(self._socket, "new_message") for _ in range(count)]
        return [shown(frame["message"], frame["content"]) for frame in frames]


class WebSocket:
    """News, not consumption."""

    name = "WebSocket"
    sends = settles = False
    subjects = correlates = keyed = True

    @asynccontextmanager
    async def open(self, served: Served, person: Person) -> AsyncIterator[Desk]:
        async with plugged(served.ws_url, agent=person.name, api_key=person.key) as socket:
            yield WebSocketDesk(socket)


class FifoDesk:
    def __init__(self, mailbox: Client) -> None:
        self._mailbox = mailbox

    async def send(self, to: str, content: str, *, subject: str, correlation_id: str) -> str:  # noqa: ARG002 - seed 001 has neither
        return str((await call(self._mailbox, "send_to_agent", name=to, msg=content))["result"])

    async def collect(self, count: int) -> list[Letter]:
        popped = [await result_of(self._mailbox, "check_mail") for _ in range(count)]
        taken = [(item["result"], text_of(pop)) for pop in popped if (item := pop.structured_content) and item["result"] is not None]
        return [Letter(mail["from"], mail["content"], "(verified)" in said.splitlines()[0]) for mail, said in taken]


class McpPerAgent:
    name = "MCP per agent"
    sends = settles = keyed = True
    subjects = correlates = False

    @asynccontextmanager
    async def open(self, served: Served, person: Person) -> AsyncIterator[Desk]:
        async with client(served, f"/agents/{person.name}/mcp/?tools=fifo", era="legacy", key=person.key) as mailbox:
            yield FifoDesk(mailbox)


class QueueDesk:
    def __init__(self, mailbox: Client, me: str) -> None:
        self._mailbox = mailbox
        self._me = me

    async def send(self, to: str, content: str, *, subject: str, correlation_id: str) -> str:
        fields = {"content": content, "subject": subject, "correlation_id": correlation_id}
        return str((await call(self._mailbox, "mailbox_send", from_=self._me, to=to, **fields))["id"])

    async def collect(self, count: int) -> list[Letter]:
        taken = (await call(self._mailbox, "mailbox_wait", agent_id=self._me, limit=count, timeout_ms=5_000))["messages"]
        await call(self._mailbox, "mailbox_ack", agent_id=self._me, message_id=[item["id"] for item in taken])
        return [shown(item) for item in taken]


class McpShared:
    name = "MCP shared"
    sends = subjects = correlates = settles = keyed = True

    @asynccontextmanager
    async def open(self, served: Served, person: Person) -> AsyncIterator[Desk]:
        async with client(served, "/mcp", key=person.key) as mailbox:
            yield QueueDesk(mailbox, person.name)


class InboxDesk:
    """Seed 000's tools: look who wrote, and read each conversation."""

    def __init__(self, mailbox: Client) -> None:
        self._mailbox = mailbox

    async def send(self, to: str, content: str, *, subject: str, correlation_id: str) -> str:
        fields = {"subject": subject, "content": content, "correlation_id": correlation_id}
        return str((await call(self._mailbox, "mailbox_send", to=to, **fields))["id"])

    async def collect(self, count: int) -> list[Letter]:
        unread = (await call(self._mailbox, "mailbox_check", unread_only=True))["sessions"]
        lines: list[dict[str, Any]] = []
        for session in unread:
            lines += (await call(self._mailbox, "mailbox_read", session_id=session["session_id"], limit=50))["messages"]
        oldest_first = sorted(lines, key=lambda line: line["created_at"])[:count]
        return [shown(line["message"], line["content"]) for line in oldest_first]


class McpInbox:
    name = "MCP inbox"
    sends = subjects = correlates = settles = keyed = True

    @asynccontextmanager
    async def open(self, served: Served, person: Person) -> AsyncIterator[Desk]:
        async with client(served, "/mcp?tools=inbox", key=person.key, name=person.name) as mailbox:
            yield InboxDesk(mailbox)


class McpStdio:
    name = "MCP stdio"
    sends = subjects = correlates = settles = keyed = True

    @asynccontextmanager
    async def open(self, served: Served, person: Person) -> AsyncIterator[Desk]:
        async with started(served, "--as", person.name, key=person.key) as mailbox:
            yield InboxDesk(mailbox)


class PlainDesk:
    def __init__(self, http: httpx.AsyncClient, me: str) -> None:
        self._http = http
        self._address = f"/agents/{me}/mcp"

    async def send(self, to: str, content: str, *, subject: str, correlation_id: str) -> str:
        fields = {"content": content, "subject": subject, "correlation_id": correlation_id}
        return str(done(await post(self._http, self._address, "mailbox_send", to=to, **fields))["id"])

    async def collect(self, count: int) -> list[Letter]:
        answer = await post(self._http, self._address, "mailbox_receive", limit=count)
        taken = json.loads(answer.content)["messages"]
        done(await post(self._http, self._address, "mailbox_ack", message_id=[item["id"] for item in taken]))
        return [shown(item) for item in taken]


class PlainPost:
    name = "plain POST"
    sends = subjects = correlates = settles = keyed = True

    @asynccontextmanager
    async def open(self, served: Served, person: Person) -> AsyncIterator[Desk]:
        async with served.client(key=person.key) as http:
            yield PlainDesk(http, person.name)


class FileDesk:
    """The library, as an agent at home in the files uses it; what crosses to the office is waited for."""

    def __init__(self, served: Served, me: str) -> None:
        assert served.files is not None
        self._mail = MailboxManager(served.files)
        self._mail.register(me)
        self._office = served.office
        self._me = me

    async def send(self, to: str, content: str, *, subject: str, correlation_id: str) -> str:
        fields = {"content": content, "subject": subject, "correlation_id": correlation_id}
        name = self._mail.deliver(self._me, to, fields)
        ref = f"msg_{name.removesuffix('.msg.json')}"
        await until(lambda: self._known(ref))
        return ref

    async def collect(self, count: int) -> list[Letter]:
        taken: list[dict[str, Any]] = []

        def enough() -> bool:
            taken.extend(self._mail.poll(self._me, limit=count - len(taken)))
            return len(taken) == count

        await until(enough)
        for item in taken:
            self._mail.mark_processed(self._me, item["filename"])
            await until(partial(self._known, item.get("message_id", item["id"]), State.ACKED))
        return [
            Letter(
                item["from"],
                item["content"]["parts"][0]["text"],
                item.get("from_verified", False),
                item.get("subject", ""),
                item.get("correlation_id"),
            )
            for item in taken
        ]

    async def _known(self, ref: str, state: State | None = None) -> bool:
        """Whether the office has a message of one's own, in that state."""
        try:
            proof = await self._office.status(await self._office.lending.guest(self._me), ref)
        except NoSuchMessage:
            return False
        return state is None or [standing.state for standing in proof.standings] == [state]


class Files:
    name = "files"
    sends = subjects = correlates = settles = True
    keyed = False

    @asynccontextmanager
    async def open(self, served: Served, person: Person) -> AsyncIterator[Desk]:
        yield FileDesk(served, person.name)


DOORS: tuple[Door, ...] = (Rest(), WebSocket(), McpPerAgent(), McpShared(), McpInbox(), PlainPost(), McpStdio(), Files())
SENDING = tuple(door for door in DOORS if door.sends)
