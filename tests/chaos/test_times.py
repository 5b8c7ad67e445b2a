"""Letters that wait for their time, while servers and databases are killed: each comes once and never early, or was taken back."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

import httpx
import pytest

from postoffice.store.migrations.upgrade import run_alembic
from tests.chaos.conftest import EACH
from tests.chaos.form import chance, either
from tests.chaos.ground import Ground, PostgresGround
from tests.chaos.office import opened
from tests.chaos.patroni import running_patroni
from tests.serve.running import PATIENCE

KILLS, LETTERS = either(2, 20), either(24, 300)
_SPREAD_SECONDS = 1.5  # seconds in which a kill's share of the letters comes due
_LONGEST_SECONDS = 120.0


class Scene:
    """A sender, who takes back every third letter at about its time, and takers at every server."""

    def __init__(self, urls: list[str], luck: Random, letters: int, spread: float) -> None:
        self.urls = urls
        self.luck = luck
        self.due = {f"letter-{n}": timedelta(seconds=0.5 + spread * n / letters) for n in range(letters)}
        self.comes: dict[str, datetime] = {}
        self.taken: Counter[str] = Counter()
        self.early: list[str] = []
        self.over = asyncio.Event()

    async def call(self, http: httpx.AsyncClient, agent: str, path: str, body: dict[str, Any] | None = None) -> httpx.Response:
        """At whatever server answers, again until one does."""
        while True:
            try:
                url = self.luck.choice(self.urls) + path
                headers = {"X-Agent": agent}
                answer = await (http.get(url, headers=headers) if body is None else http.post(url, headers=headers, json=body))
                if answer.status_code < httpx.codes.INTERNAL_SERVER_ERROR:
                    return answer
            except httpx.TransportError:
                pass
            await asyncio.sleep(0.05)

    async def send(self, http: httpx.AsyncClient) -> None:
        for id, span in self.due.items():
            letter = {"to": "bob", "subject": "", "content": id, "id": id, "deliver_in": span.total_seconds()}
            sent = (await self.call(http, "alice", "/messages/send", letter)).raise_for_status().json()
            self.comes[id] = datetime.fromisoformat(sent["deliver_at"])

    async def take_back(self, http: httpx.AsyncClient) -> None:
        for id in list(self.due)[::3]:
            while id not in self.comes:  # noqa: ASYNC110 - it is being sent
                await asyncio.sleep(0.01)
            await asyncio.sleep(max(0.0, (self.comes[id] - datetime.now(UTC)).total_seconds() + self.luck.uniform(-0.05, 0.05)))
            await self.call(http, "alice", f"/messages/{id}/cancel", {})

    async def take(self, http: httpx.AsyncClient) -> None:
        while not self.over.is_set():
            answer = await self.call(http, "bob", "/messages/wait", {"limit": 5, "wait": 1, "visible_for": 5})
            for letter in answer.json().get("messages", ()):
                at, id = datetime.now(UTC), letter["content"]
                if at < datetime.fromisoformat(letter["deliver_at"]):
                    self.early.append(id)
                settled = await self.call(http, "bob", f"/messages/{letter['id']}/ack", {"token": letter["token"]})
                self.taken[id] += settled.status_code == httpx.codes.OK

    async def play(self, faults: Callable[[], Awaitable[None]]) -> None:
        """Until every letter has ended, which the sender sees."""
        async with httpx.AsyncClient(timeout=PATIENCE, trust_env=False) as http:
            takers = [asyncio.create_task(self.take(http)) for _ in range(3)]
            await asyncio.gather(self.send(http), self.take_back(http), faults())
            async with asyncio.timeout(_LONGEST_SECONDS):
                ends = {id: await self._end(http, id) for id in self.due}
            self.over.set()
            await asyncio.gather(*takers)
        assert not self.early
        for id, (state, reason) in ends.items():
            assert (state, reason) in {("acked", None), ("dead", "canceled")}, (id, state, reason)
            assert self.taken[id] == (state == "acked"), (id, state, self.taken[id])
        assert {state for state, _ in ends.values()} >= {"acked"}

    async def _end(self, http: httpx.AsyncClient, id: str) -> tuple[str, str | None]:
        while True:
            (standing,) = (await self.call(http, "alice", f"/messages/{id}/status")).raise_for_status().json()["standings"]
            if standing["state"] in ("acked", "dead"):
                return standing["state"], standing["reason"]
            await asyncio.sleep(0.1)


@EACH
@pytest.mark.timeout(90 * KILLS)
async def test_due_mail_comes_once_and_never_early_however_often_servers_are_killed(ground: Ground) -> None:
    luck = chance("due", ground.engine)
    async with opened(*ground.replicas()) as replicas:

        async def kill() -> None:
            for number in range(KILLS):
                await asyncio.sleep(luck.uniform(0.2, _SPREAD_SECONDS))
                victim = replicas[number % len(replicas)]
                victim.kill()
                await asyncio.to_thread(victim.start)

        await Scene([replica.url for replica in replicas], luck, LETTERS, KILLS * _SPREAD_SECONDS).play(kill)


@pytest.mark.chaos
@pytest.mark.timeout(600)
async def test_due_mail_comes_once_and_never_early_over_a_failover(tmp_path: Path) -> None:
    luck = chance("due over failover")
    with running_patroni() as patroni:
        leader = await asyncio.to_thread(patroni.await_leader)
        await asyncio.to_thread(run_alembic, leader.url, schema="postoffice", inbox_schema="postoffice")
        async with opened(*PostgresGround(tmp_path, patroni.url).replicas()) as replicas:

            async def lose_the_leader() -> None:
                await asyncio.sleep(5)
                lost = await asyncio.to_thread(patroni.await_leader, keeping_up=2)
                lost.kill()
                await asyncio.to_thread(patroni.await_leader, lost)

            await Scene([replica.url for replica in replicas], luck, LETTERS, 40.0).play(lose_the_leader)
