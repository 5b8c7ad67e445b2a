"""A real OpenClaw gateway, with a scripted model behind it, answers its mail through our relay."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

import httpx
import pytest

from postoffice.bridges.openclaw.gateway import Gateway
from postoffice.bridges.openclaw.relay import run_relay
from postoffice.bridges.openclaw.settings import RelaySettings
from postoffice.bridges.outcome import Away
from tests.peers.openclaw.gateway import TOKEN, RealGateway
from tests.peers.openclaw.model import Model

PATIENCE = 90.0
T = TypeVar("T")
pytestmark = pytest.mark.timeout(400)


@pytest.fixture(scope="module")
def model() -> Iterator[Model]:
    running = Model()
    yield running
    running.stop()


@pytest.fixture(scope="module")
def gateway(model: Model, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealGateway]:
    real = RealGateway(tmp_path_factory.mktemp("openclaw"), model.url)
    real.start()
    yield real
    real.kill()


@asynccontextmanager
async def relaying(served: str, gateway: RealGateway, state: Path, agent: str, **more: Any) -> AsyncIterator[None]:
    given: dict[str, Any] = {"server": served, "token": TOKEN, "gateway": gateway.url, "agent": agent, "state": state, "look": 0.5}
    settings = RelaySettings(**given | more)
    task = asyncio.create_task(run_relay(settings))
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def send(served: str, to: str, content: str, sender: str = "ann") -> str:
    async with httpx.AsyncClient(base_url=served, headers={"X-Agent": sender}) as client:
        answer = await client.post("/messages/send", json={"to": to, "subject": "work", "content": content})
    assert answer.status_code == 201, answer.text
    return str(answer.json()["message_id"])


async def until(check: Callable[[], Awaitable[T]]) -> T:
    """What the check gives, once it gives something."""
    async with asyncio.timeout(PATIENCE):
        while not (found := await check()):  # noqa: ASYNC110 - what is awaited happens elsewhere
            await asyncio.sleep(0.2)
    return found


async def replies(served: str, agent: str, count: int, sender: str = "ann") -> list[dict[str, Any]]:
    async with httpx.AsyncClient(base_url=served, headers={"X-Agent": sender}) as client:

        async def enough() -> list[dict[str, Any]]:
            waiting = (await client.get("/messages/waiting")).json()["messages"]
            found = [message for message in waiting if message["from"] == agent]
            return found if len(found) >= count else []

        return await until(enough)


async def state_of(served: str, message_id: str) -> Any:
    async with httpx.AsyncClient(base_url=served, headers={"X-Agent": "ann"}) as client:
        return (await client.get(f"/messages/{message_id}/status")).json()["standings"][0]["state"]


async def test_mail_is_answered_end_to_end(served: str, gateway: RealGateway, model: Model, tmp_path: Path) -> None:
    async with relaying(served, gateway, tmp_path, "claw"):
        first = await send(served, "claw", "hello there")
        (reply,) = await replies(served, "claw", 1)
        await send(served, "claw", "and again")
        both = await replies(served, "claw", 2)
    assert (reply["content"], reply["reply_to"], reply["automatic"]) == ("The model heard: hello there", first, True)
    assert [one["content"] for one in both] == ["The model heard: hello there", "The model heard: and again"]
    assert "from ann (not verified) ===" in model.seen[0]


async def test_a_late_reply_is_found_in_the_real_history(served: str, gateway: RealGateway, model: Model, tmp_path: Path) -> None:
    model.slow = 6.0
    try:
        async with relaying(served, gateway, tmp_path, "late-claw", timeout=1):
            sent = await send(served, "late-claw", "take your time")

            async def acked() -> bool:
                return bool(await state_of(served, sent) == "acked")

            await until(acked)
        # The relay is stopped, and another one finds what was still owed.
        async with relaying(served, gateway, tmp_path, "late-claw", timeout=1):
            (reply,) = await replies(served, "late-claw", 1)
    finally:
        model.slow = 0.0
    assert (reply["content"], reply["reply_to"]) == ("The model heard: take your time", sent)
    assert sum("take your time" in text for text in model.seen) == 1


async def test_a_relay_stopped_in_the_middle_finds_the_reply_when_it_is_back(
    served: str, gateway: RealGateway, model: Model, tmp_path: Path
) -> None:
    model.slow = 4.0

    async def begun() -> bool:
        return any("do not ask twice" in text for text in model.seen)

    try:
        async with relaying(served, gateway, tmp_path, "stop-claw"):
            await send(served, "stop-claw", "do not ask twice")
            await until(begun)
        async with relaying(served, gateway, tmp_path, "stop-claw"):
            (reply,) = await replies(served, "stop-claw", 1)
    finally:
        model.slow = 0.0
    assert reply["content"] == "The model heard: do not ask twice"
    assert sum("do not ask twice" in text for text in model.seen) == 1


@pytest.mark.parametrize("mode", ["chat", "sessions_send"])
async def test_senders_may_have_sessions_of_their_own(served: str, gateway: RealGateway, tmp_path: Path, mode: str) -> None:
    agent = f"{mode[:4]}-claw"
    async with relaying(served, gateway, tmp_path, agent, mode=mode, per_sender=True):
        for number in range(2):
            for sender in ("ann", "bob"):
                await send(served, agent, f"{sender} {number}", sender)
        found = {sender: await replies(served, agent, 2, sender) for sender in ("ann", "bob")}
    assert {sender: [reply["content"] for reply in said] for sender, said in found.items()} == {
        sender: [f"The model heard: {sender} {number}" for number in range(2)] for sender in ("ann", "bob")
    }


async def test_a_missing_permission_is_explained_and_mail_waits(
    served: str, gateway: RealGateway, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "postoffice")
    gateway.configure([])
    async with Gateway(RelaySettings(server=served, token=TOKEN, gateway=gateway.url)) as there:
        await until(there.probe)
    async with relaying(served, gateway, tmp_path, "shut-claw"):
        sent = await send(served, "shut-claw", "let me in")

        async def explained() -> bool:
            return 'add "sessions_send" to gateway.tools.allow' in caplog.text

        await until(explained)
        assert await state_of(served, sent) == "pending"
        gateway.configure(["sessions_send"])
        (reply,) = await replies(served, "shut-claw", 1)
    assert reply["content"] == "The model heard: let me in"


async def test_a_wrong_token_is_explained(served: str, gateway: RealGateway) -> None:
    async with Gateway(RelaySettings(server=served, token="not-the-token", gateway=gateway.url)) as there:
        problem = await there.probe()
    assert isinstance(problem, Away)
    assert "OPENCLAW_GATEWAY_TOKEN" in problem.why


async def test_a_gateway_killed_in_the_middle_answers_after_its_restart(
    served: str, gateway: RealGateway, model: Model, tmp_path: Path
) -> None:
    model.slow = 60.0
    async with relaying(served, gateway, tmp_path, "hard-claw", timeout=5):
        await send(served, "hard-claw", "survive this")

        async def begun() -> bool:
            return any("survive this" in text for text in model.seen)

        await until(begun)
        gateway.kill()
        model.slow = 0.0
        await send(served, "hard-claw", "and this", "bob")
        await asyncio.to_thread(gateway.start)
        (reply,) = await replies(served, "hard-claw", 1)
        (other,) = await replies(served, "hard-claw", 1, "bob")
    assert (reply["content"], other["content"]) == ("The model heard: survive this", "The model heard: and this")
