"""A list over partial failure: one member takes no mail half of the time, others come and go, and servers are killed."""

import asyncio
from collections import Counter

import httpx
import pytest

from tests.chaos.conftest import EACH
from tests.chaos.form import chance, either
from tests.chaos.ground import Ground
from tests.chaos.office import opened
from tests.chaos.test_recurring import call
from tests.serve.running import PATIENCE

ROUNDS = either(3, 24)
LETTERS = 8
"""In a round, while one server is killed."""


@EACH
@pytest.mark.timeout(90 * ROUNDS)
async def test_what_one_member_cannot_get_and_a_kill_cost_no_other_a_letter(ground: Ground) -> None:
    luck = chance("lists", ground.engine)
    async with opened(*ground.replicas()) as opened_replicas, httpx.AsyncClient(timeout=PATIENCE, trust_env=False) as http:
        replicas = list(opened_replicas)

        async def ask(method: str, path: str, agent: str, **body: object) -> httpx.Response:
            answer = await call(replicas, http, method, path, agent, **body)
            assert answer.is_success, answer.text
            return answer

        for name in ("bob", "carol", "dave"):
            await ask("POST", "/messages/send", name, to=name, content="I am here", subject="")
        await ask("POST", "/lists", "alice", name="#backend", who_may_join="invited", members=["bob", "carol", "dave"])
        delivered: Counter[str] = Counter()
        for number in range(ROUNDS):
            shut = number % 2 == 1
            await ask("PATCH", "/agents/me", "dave", allow_from=[] if shut else ["*"])
            ids = [f"letter-{number}-{one}" for one in range(LETTERS)]
            sending = asyncio.gather(*(ask("POST", "/messages/send", "alice", to="#backend", content=id, id=id) for id in ids))
            coming = asyncio.gather(ask("POST", "/lists/backend/leave", "carol") if shut else ask("POST", "/lists/backend/join", "bob"))
            await asyncio.sleep(luck.uniform(0, 0.4))
            replicas[number % len(replicas)].kill()
            await asyncio.to_thread(replicas[number % len(replicas)].start)
            for sent in await sending:
                to = sent.json()["to_list"]
                assert to["refused"] == int(shut)
                delivered[sent.json()["message_id"]] = to["delivered"]
            await coming
            if shut:
                await ask("POST", "/lists/backend/members", "alice", agents=["carol"])
        session = (await ask("GET", "/lists/backend", "alice")).json()["session_id"]
        whole = []
        before = ""
        while page := (await ask("GET", f"/sessions/{session}/history?limit=50&peek=true{before}", "alice")).json()["messages"]:
            whole += [line["id"] for line in page]
            before = f"&before={page[-1]['id']}"
        assert sorted(whole) == sorted(delivered), "each letter stands once in the list's session"
        got: Counter[str] = Counter()
        for name in ("bob", "carol", "dave"):
            mine = [one["id"] for one in await waiting(ask, name)]
            assert len(mine) == len(set(mine))
            assert mine == [id for id in whole[::-1] if id in set(mine)], "in the order of the session"
            if name != "carol":
                assert len(mine) == LETTERS * (ROUNDS if name == "bob" else -(-ROUNDS // 2))
            assert (await ask("GET", "/lists/backend", name)).json()["unread"] == len(mine)
            got.update(mine)
        assert got == delivered


async def waiting(ask, name: str) -> list[dict[str, str]]:  # type: ignore[no-untyped-def]
    """What waits for a member of the list's mail."""
    found: list[dict[str, str]] = []
    cursor = ""
    while True:
        page = (await ask("GET", f"/messages/waiting?limit=200{cursor}", name)).json()
        found += [one for one in page["messages"] if one["to"] == "#backend"]
        if page["cursor"] is None:
            return found
        cursor = f"&cursor={page['cursor']}"
