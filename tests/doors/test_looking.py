"""Looking into a mailbox makes no agent, at whatever door."""

import httpx

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

    async def _names(self, client: httpx.AsyncClient) -> list[str]:
        return [
            agent["name"]
            for agent in (await client.get("/agents", headers={"X-Agent": "looker"})).json()["agents"]
            if agent["name"] != "owner"
        ]
