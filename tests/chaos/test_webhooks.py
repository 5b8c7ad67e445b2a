"""Whoever tells a webhook is killed, again and again, and another goes on: every event is told, under one id, in order for a session."""

import asyncio
import itertools
from collections.abc import Sequence
from random import Random

import httpx
import pytest

from tests.chaos.conftest import POSTGRES_FIRST, Tell
from tests.chaos.form import chance, either
from tests.chaos.ground import Ground
from tests.chaos.office import Replica, opened
from tests.chaos.verdict import Verdict
from tests.chaos.violation import Kind, Violation
from tests.proof.books import check_books
from tests.serve.running import PATIENCE
from tests.webhooks.receiver import Receiver, receiving

KILLS = either(2, 20)
SESSIONS = 3
ALLOWED = {"POSTOFFICE_WEBHOOK_NETWORKS": "127.0.0.0/8"}
_TAKEN_WITHIN = 90.0
"""Seconds in which another process has the duty and has told everything, however busy the machine is."""


class Writer:
    """Writes letters, one after the other in each session, to whichever server answers, each until it is accepted."""

    def __init__(self, luck: Random, replicas: Sequence[Replica]) -> None:
        self._luck = luck
        self._urls = [replica.url for replica in replicas]
        self._numbers = itertools.count()
        self.accepted: list[int] = []

    async def more(self, letters: int) -> None:
        async with httpx.AsyncClient(timeout=PATIENCE, trust_env=False) as http:
            for _ in range(letters):
                number = next(self._numbers)
                await self._write(http, number)
                self.accepted.append(number)

    async def _write(self, http: httpx.AsyncClient, number: int) -> None:
        mark = str(number)
        letter = {"to": "bob", "subject": f"s{number % SESSIONS}", "content": "hello", "correlation_id": mark, "id": f"letter-{mark}"}
        while not await self._is_accepted(http, letter):  # noqa: ASYNC110 - another process answers, when it does
            await asyncio.sleep(0.02)

    async def _is_accepted(self, http: httpx.AsyncClient, letter: dict[str, str]) -> bool:
        try:
            return (await http.post(f"{self._luck.choice(self._urls)}/messages/send", json=letter, headers={"X-Agent": "alice"})).is_success
        except httpx.TransportError:  # it is dead, or was killed before it could answer
            return False


def judged(accepted: Sequence[int], receiver: Receiver) -> Verdict:
    """What the receiver took, held against what was accepted."""
    told = [(got.id, got.told["data"]["message"]) for got in receiver.taken]
    ids = {number: {id for id, message in told if message["correlation_id"] == str(number)} for number in accepted}
    found = [Violation(Kind.LOST, f"letter {number}", ()) for number, known in ids.items() if not known]
    found += [Violation(Kind.DOUBLED, f"letter {number}", tuple(known)) for number, known in ids.items() if len(known) > 1]
    for session in range(SESSIONS):
        numbers = list(dict.fromkeys(int(message["correlation_id"]) for _, message in told if message["subject"] == f"s{session}"))
        found += [Violation(Kind.DISORDER, f"{one} before {next_}", ()) for one, next_ in itertools.pairwise(numbers) if one > next_]
    times = [got.at for got in receiver.taken]
    return Verdict(found, len(accepted), max((later - earlier for earlier, later in itertools.pairwise(times)), default=0.0))


@POSTGRES_FIRST
@pytest.mark.timeout(120 * KILLS)
async def test_a_webhook_is_told_everything_in_order_however_often_its_process_is_killed(ground: Ground, tell: Tell) -> None:
    luck = chance("webhooks", ground.engine)
    with receiving() as receiver:
        async with opened(*ground.replicas(**ALLOWED)) as replicas:
            first, writer = replicas[0], Writer(luck, replicas)
            owner_key = (first.here / "data" / "owner.key").read_text().strip()
            first.call("owner", "/webhooks", {"name": "ci", "url": receiver.url, "events": ["new_message"]}, key=owner_key)
            for number in range(KILLS):
                victim = replicas[number % len(replicas)]
                writing = asyncio.create_task(writer.more(luck.randint(20, 60)))
                await asyncio.sleep(luck.uniform(0, 0.5))
                victim.kill()
                if len(replicas) == 1:
                    await asyncio.to_thread(victim.start)
                await writing
                await asyncio.to_thread(receiver.wait, len(writer.accepted), _TAKEN_WITHIN)  # without the one that was killed
                if len(replicas) > 1:
                    await asyncio.to_thread(victim.start)
        verdict = judged(writer.accepted, receiver)
    tell(f"kill -9 of whoever tells a webhook ({KILLS})", verdict)
    check_books(await ground.books())
