"""Looking into a mailbox makes no agent, at whatever door."""

import asyncio
import json

import httpx
from websockets.asyncio.client import connect

from tests.doors.served import Served


class TestDoors:
    async def test_no_call_that_looks_makes_an_agent(self, served: Served) -> None:
        async with served.client(name="nobody-here") as client:
            for method, path in (
                ("GET", "/inbox"),
                ("GET", "/messages/waiting"),
                ("GET", "/messages/in-hand"),
                ("GET", "/mailbox"),
                ("GET", "/tasks"),
                ("POST", "/messages/receive"),
                ("POST", "/messages/pop"),
            ):
                answer = await client.request(method, path)
                assert answer.status_code == 200, (path, answer.text)
        async with served.client() as client:
            for body in (
                {"tool": "check_mail", "args": {}},
                {"tool": "mailbox_receive", "args": {}},
                {"tool": "mailbox_tasks", "args": {}},
            ):
                answer = await client.post("/agents/nobody-here/mcp", json=body)
                assert answer.status_code == 200, answer.text
            assert await self._names(client) == []
            sent = await client.post("/agents/somebody/mcp", json={"tool": "send_to_agent", "args": {"name": "bob", "msg": "hi"}})
            assert sent.status_code == 200
            assert await self._names(client) == ["bob", "somebody"]

    async def test_acks_of_a_name_that_never_came_are_answered_each(self, served: Served) -> None:
        async with served.client(name="nobody-here") as client:
            for path, more in (("/messages/receive", {}), ("/messages/wait", {"wait": 0}), ("/messages/settle", {})):
                answer = await client.post(path, json={"ack": [{"id": "nothing", "token": "x"}], **more})
                assert answer.status_code == 200, answer.text
                assert [one["problem"]["code"] for one in answer.json()["settled"]] == ["no_such_message"]

    async def test_who_only_listens_makes_none_until_mail_is_there(self, served: Served) -> None:
        async with connect(f"{served.url.replace('http', 'ws')}/ws?agent=listener") as socket, served.client(name="sender") as client:
            assert "listener" not in await self._names(client)
            assert (await client.post("/messages/send", json={"to": "listener", "subject": "", "content": "hi"})).status_code == 201
            async with asyncio.timeout(20):
                assert json.loads(await socket.recv())["type"] == "new_message"
            assert "listener" in await self._names(client)

    async def _names(self, client: httpx.AsyncClient) -> list[str]:
        return [
            agent["name"]
            for agent in (await client.get("/agents", headers={"X-Agent": "looker"})).json()["agents"]
            if agent["name"] != "owner"
        ]
