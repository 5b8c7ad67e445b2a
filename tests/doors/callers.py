"""Callers of a served office: agents with keys, agents with bare names, the owner; and what they do most."""

import asyncio
from contextlib import AsyncExitStack
from types import TracebackType
from typing import Any, Self

import httpx

from tests.doors.served import Served


class Callers:
    """Clients of one server, all closed when the block ends."""

    def __init__(self, served: Served) -> None:
        self.served = served
        self._open = AsyncExitStack()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self._open.aclose()

    async def client(self, **who: Any) -> httpx.AsyncClient:
        return await self._open.enter_async_context(self.served.client(**who))

    async def join(self, name: str, **card: Any) -> httpx.AsyncClient:
        """An agent that registers, and brings its key from then on."""
        return await self.client(key=await self.register(name, **card))

    async def join_all(self, *names: str, **card: Any) -> list[httpx.AsyncClient]:
        return [await self.join(name, **card) for name in names]

    async def register(self, name: str, **card: Any) -> str:
        async with self.served.client() as anyone:
            return str(done(await anyone.post("/agents/register", json={"name": name, **card}), 201)["api_key"])

    async def named(self, *names: str) -> list[httpx.AsyncClient]:
        """Agents that simply appear on an open server."""
        return [await self.client(name=name) for name in names]

    async def owner(self) -> httpx.AsyncClient:
        return await self.client(key=self.served.owner_key)


def done(response: httpx.Response, status: int = 200) -> Any:
    """What a call that must succeed answers."""
    assert response.status_code == status, response.text
    return response.json()


def refused(response: httpx.Response, status: int, code: str | None = None) -> str:
    """The sentence of a call that must be refused, which every refusal has beside its code."""
    assert response.status_code == status, response.text
    problem = response.json()
    assert problem.keys() == {"detail", "code"}
    assert isinstance(problem["detail"], str)
    assert " " in problem["detail"]
    assert isinstance(problem["code"], str)
    assert code in (None, problem["code"])
    return problem["detail"]


async def ask(requester: httpx.AsyncClient, target: str, message: str | None = None) -> dict[str, Any]:
    """A request for a connection, and its code."""
    body = {"target_agent_name": target, "message": message}
    return dict(done(await requester.post("/connections/request", json=body), 201))


async def approve(approver: httpx.AsyncClient, code: str) -> httpx.Response:
    return await approver.post("/connections/approve", json={"verification_code": code})


async def connect(requester: httpx.AsyncClient, approver: httpx.AsyncClient, target: str) -> str:
    """Two agents that may write to each other from now on; gives the connection's id."""
    asked = await ask(requester, target)
    return str(done(await approve(approver, asked["verification_code"]))["connection_id"])


async def send(sender: httpx.AsyncClient, to: str | list[str], content: str = "hello", **fields: Any) -> dict[str, Any]:
    body = {"to": to, "subject": "Lunch", "content": content, **fields}
    return dict(done(await sender.post("/messages/send", json=body), 201))


async def take(taker: httpx.AsyncClient, **wish: Any) -> list[dict[str, Any]]:
    """Mail leased from the mailbox."""
    return list(done(await taker.post("/messages/receive", json=wish))["messages"])


async def contents(taker: httpx.AsyncClient) -> list[str]:
    """What waits in the mailbox, looked at and not taken."""
    return [letter["content"] for letter in done(await taker.get("/messages/waiting"))["messages"]]


async def events(client: httpx.AsyncClient, **query: Any) -> list[dict[str, Any]]:
    return list(done(await client.get("/events", params=query))["events"])


async def walk(client: httpx.AsyncClient, path: str, items: str, *, limit: int = 2, **query: Any) -> list[dict[str, Any]]:
    """A whole list, page by page. No page is longer than asked, and none but the last leads nowhere."""
    found: list[dict[str, Any]] = []
    cursor: dict[str, str] = {}
    while True:
        page = done(await client.get(path, params={"limit": limit, **query, **cursor}))
        assert len(page[items]) <= limit
        found += page[items]
        if page["cursor"] is None:
            return found
        assert page[items], "a page that is not the last has something on it"
        cursor = {"cursor": page["cursor"]}


async def two(callers: Callers) -> tuple[httpx.AsyncClient, httpx.AsyncClient]:
    """Alice and Bob, both known to the office."""
    alice, bob = await callers.named("alice", "bob")
    await asyncio.gather(alice.get("/agents/me"), bob.get("/agents/me"))
    return alice, bob
