"""Three agents, each at a door of its own, that do the same things: ask, report, pass on, say what they take."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Protocol

import httpx

from postoffice_files import LoopRefused, MailboxManager, task_update
from tests.doors.callers import done
from tests.doors.served import Served
from tests.mcp.calling import as_agent, call, result_of, text_of
from tests.proof.patience import until

Letter = dict[str, Any]


class Member(Protocol):
    """One agent in a ring. A refusal is given back as the sentence that says why; nothing means it was done."""

    door: str
    name: str

    async def send(self, to: str, content: str, **fields: Any) -> str | None:
        """Write to another agent."""

    async def take(self) -> Letter:
        """The next message, done with."""

    async def update(self, letter: Letter, state: str, text: str = "") -> str | None:
        """Report on a task."""

    async def forward(self, letter: Letter, to: str) -> str | None:
        """Pass a message on."""

    async def card(self, **changes: Any) -> None:
        """Say something else of oneself."""


class RestMember:
    door = "REST"

    def __init__(self, name: str, http: httpx.AsyncClient) -> None:
        self.name = name
        self._http = http

    async def send(self, to: str, content: str, **fields: Any) -> str | None:
        return _sentence(await self._http.post("/messages/send", json={"to": to, "subject": "Ring", "content": content, **fields}))

    async def take(self) -> Letter:
        (letter,) = done(await self._http.post("/messages/wait", json={"limit": 1, "wait": 20}))["messages"]
        done(await self._http.post(f"/messages/{letter['id']}/ack", json={"token": letter["token"]}))
        return dict(letter)

    async def update(self, letter: Letter, state: str, text: str = "") -> str | None:
        return _sentence(await self._http.post(f"/tasks/{letter['id']}/update", json={"state": state, "content": text}))

    async def forward(self, letter: Letter, to: str) -> str | None:
        return _sentence(await self._http.post("/messages/send", json={"to": to, "forward_of": letter["id"]}))

    async def card(self, **changes: Any) -> None:
        done(await self._http.patch("/agents/me", json=changes))


class McpMember:
    """The official client, opened anew for each call: a fixture of pytest's cannot keep one open."""

    door = "MCP"

    def __init__(self, name: str, served: Served, http: httpx.AsyncClient) -> None:
        self.name = name
        self._served = served
        self._http = http

    async def send(self, to: str, content: str, **fields: Any) -> str | None:
        task = fields.pop("task", {})
        deadline = {"deadline": task["deadline"]} if task.get("deadline") else {}
        return await self._call("mailbox_send", to=to, subject="Ring", content=content, **fields, **deadline)

    async def take(self) -> Letter:
        async with as_agent(self._served, self.name) as mailbox:
            (letter,) = (await call(mailbox, "mailbox_wait", timeout_ms=20_000))["messages"]
            await call(mailbox, "mailbox_ack", message_id=letter["id"])
        return dict(letter)

    async def update(self, letter: Letter, state: str, text: str = "") -> str | None:
        return await self._call("mailbox_task_update", task_id=letter["id"], state=state, content=text)

    async def forward(self, letter: Letter, to: str) -> str | None:
        return await self._call("mailbox_forward", message_id=letter["id"], to=to)

    async def card(self, **changes: Any) -> None:
        done(await self._http.patch("/agents/me", json=changes))  # no tool changes a card

    async def _call(self, tool: str, **arguments: Any) -> str | None:
        async with as_agent(self._served, self.name) as mailbox:
            result = await result_of(mailbox, tool, **arguments)
        return text_of(result) if result.is_error else None


class FileMember:
    door = "files"

    def __init__(self, name: str, root: Path, http: httpx.AsyncClient) -> None:
        self.name = name
        self._mail = MailboxManager(root)
        self._root = root
        self._http = http
        self._mail.register(name)

    async def send(self, to: str, content: str, **fields: Any) -> str | None:
        return await self._sent(to, {"content": content, "subject": "Ring", **fields})

    async def take(self) -> Letter:
        taken: list[Letter] = []

        def came() -> bool:
            taken.extend(self._mail.poll(self.name, limit=1))
            return bool(taken)

        await until(came)
        self._mail.mark_processed(self.name, taken[0]["filename"])
        parts = taken[0]["content"]["parts"]
        return taken[0] | {"content": parts[0]["text"] if parts else ""}

    async def update(self, letter: Letter, state: str, text: str = "") -> str | None:
        return await self._sent(letter["from"], task_update(letter, state, text))

    async def forward(self, letter: Letter, to: str) -> str | None:
        passed = {"content": letter["content"], "type": letter["type"], "callback": letter["callback"]}
        return await self._sent(to, passed, forward_of=letter["filename"])

    async def card(self, **changes: Any) -> None:
        self._mail.register(self.name, changes)

        async def carried() -> bool:
            shown = done(await self._http.get("/agents/me"))
            return all(shown[field] == value for field, value in changes.items())

        await until(carried)

    async def _sent(self, to: str, message: dict[str, Any], forward_of: str | None = None) -> str | None:
        """What became of a file: taken by the office, read by its recipient, or set aside, which a file from the office tells."""
        try:
            name = self._mail.deliver(self.name, to, message, forward_of=forward_of)
        except LoopRefused as error:
            return str(error)
        home = self._root / to
        await until(lambda: not (home / "inbox" / name).exists() or self._at_home(to))
        if not (home / "bad" / name).exists():
            return None
        told = await self.take()
        assert told["from"] == "system"
        return str(told["metadata"]["reason"])

    def _at_home(self, name: str) -> bool:
        card = self._mail.get_agent(name)
        return card is not None and not card.get("home")


DOORS = ("REST", "MCP", "files")


@asynccontextmanager
async def member(served: Served, root: Path, door: str, name: str) -> AsyncIterator[Member]:
    """An agent of that name at that door."""
    async with served.client(name=name) as http:
        done(await http.get("/agents/me"))
        if door == "REST":
            yield RestMember(name, http)
        elif door == "MCP":
            yield McpMember(name, served, http)
        else:
            yield FileMember(name, root, http)


def _sentence(answer: httpx.Response) -> str | None:
    return None if answer.is_success else str(answer.json()["detail"])
