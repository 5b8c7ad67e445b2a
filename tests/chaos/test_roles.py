"""A role whose takers and servers are killed: each letter is in one hand at a time, and in the end done once."""

import asyncio
from collections import Counter
from datetime import datetime, timedelta
from itertools import pairwise
from random import Random
from typing import Any

import httpx
import pytest

from tests.chaos.conftest import EACH
from tests.chaos.form import chance, either
from tests.chaos.ground import Ground
from tests.chaos.office import opened
from tests.serve.running import PATIENCE

_KILLS, _LETTERS, _TAKERS = either(2, 20), either(30, 400), 4
_LEASE_SECONDS = 2.0
_LONGEST_SECONDS = 120.0
_ROLE = "role:worker"


class Shift:
    """Takers that die with letters in hand, and come again."""

    def __init__(self, urls: list[str], luck: Random) -> None:
        self.urls = urls
        self.luck = luck
        self.ids = [f"letter-{number}" for number in range(_LETTERS)]
        self.leased: dict[str, list[datetime]] = {id: [] for id in self.ids}
        """When each lease of a letter ends, in the order they were given."""
        self.done: Counter[str] = Counter()
        self.over = asyncio.Event()

    async def call(self, http: httpx.AsyncClient, agent: str, path: str, body: dict[str, Any] | None = None) -> Any:
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

    async def work(self, http: httpx.AsyncClient, name: str) -> None:
        """Take letters; one time in four die with what is in hand."""
        while not self.over.is_set():
            wish = {"limit": 2, "wait": 1, "visible_for": _LEASE_SECONDS}
            for letter in (await self.call(http, name, "/messages/wait", wish)).json().get("messages", ()):
                self.leased[letter["content"]].append(datetime.fromisoformat(letter["leased_until"]))
                if self.luck.random() < 0.25:
                    break
                settled = await self.call(http, name, f"/messages/{letter['id']}/ack", {"token": letter["token"]})
                self.done[letter["content"]] += settled.status_code == httpx.codes.OK

    async def play(self, replicas: list[Any]) -> None:
        """Until every letter is done, which its sender sees."""
        async with httpx.AsyncClient(timeout=PATIENCE, trust_env=False) as http:
            names = [f"taker-{number}" for number in range(_TAKERS)]
            for name in names:
                await self.call(http, name, "/agents/me/heartbeat", {})
            await self.call(http, "boss", "/roles", {"name": _ROLE, "staff": names})
            takers = [asyncio.create_task(self.work(http, name)) for name in names]
            await asyncio.gather(self.send(http), self.kill(replicas))
            async with asyncio.timeout(_LONGEST_SECONDS):
                for id in self.ids:
                    while (await self.stands(http, id))["state"] != "acked":  # noqa: ASYNC110 - it is asked over HTTP
                        await asyncio.sleep(0.1)
            self.over.set()
            await asyncio.gather(*takers)
        assert all(self.done[id] <= 1 for id in self.ids), self.done.most_common(3)
        for id, ends in self.leased.items():
            for earlier, later in pairwise(sorted(ends)):
                assert later - timedelta(seconds=_LEASE_SECONDS) >= earlier, (id, ends)

    async def send(self, http: httpx.AsyncClient) -> None:
        for number, id in enumerate(self.ids):
            letter = {"to": _ROLE, "subject": f"talk {number % 7}", "content": id, "id": id}
            (await self.call(http, "boss", "/messages/send", letter)).raise_for_status()

    async def stands(self, http: httpx.AsyncClient, id: str) -> Any:
        (standing,) = (await self.call(http, "boss", f"/messages/{id}/status")).raise_for_status().json()["standings"]
        return standing

    async def kill(self, replicas: list[Any]) -> None:
        for number in range(_KILLS):
            await asyncio.sleep(self.luck.uniform(0.2, 1.5))
            victim = replicas[number % len(replicas)]
            victim.kill()
            await asyncio.to_thread(victim.start)


@EACH
@pytest.mark.timeout(90 * _KILLS)
async def test_each_letter_is_in_one_hand_at_a_time_and_none_is_lost_however_often_takers_and_servers_die(ground: Ground) -> None:
    async with opened(*ground.replicas()) as replicas:
        await Shift([replica.url for replica in replicas], chance("roles", ground.engine)).play(list(replicas))
