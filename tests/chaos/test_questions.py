"""A question is asked, the office is killed, and opened again: the question is open, is answered once, and its asker hears of it."""

import asyncio

import httpx
import pytest

from tests.chaos.conftest import EACH
from tests.chaos.form import chance, either
from tests.chaos.ground import Ground
from tests.chaos.office import Replica, opened
from tests.serve.running import COMMAND, PATIENCE, environment

KILLS = either(3, 20)


async def at_the_command(replica: Replica, id: str, choice: str) -> None:
    """As its owner types it, where the office keeps its data."""
    kept = {"POSTOFFICE_SERVER": replica.url, "POSTOFFICE_DATA": str(replica.here / "data")}
    process = await asyncio.create_subprocess_exec(
        *COMMAND, "answer", id[-8:], choice, "--as", "owner", env=environment(kept), stdout=asyncio.subprocess.PIPE
    )
    said, _ = await asyncio.wait_for(process.communicate(), PATIENCE)
    assert process.returncode == 0, said


async def on_the_page(replica: Replica, id: str, choice: str) -> None:
    """As a browser sends it. Before that the question stands in *For you*."""
    async with httpx.AsyncClient(base_url=replica.url, timeout=PATIENCE, trust_env=False) as browser:
        assert f"/page/question/{id}" in (await browser.get("/")).text
        form = {"choice": choice, "once": f"once-{id}"}
        answered = await browser.post(f"/page/question/{id}/answer", data=form, headers={"Sec-Fetch-Site": "same-origin"})
        assert answered.status_code == 303


async def over_rest(replica: Replica, id: str, choice: str) -> None:
    key = (replica.here / "data" / "owner.key").read_text().strip()
    await asyncio.to_thread(replica.call, "owner", f"/questions/{id}/answer", {"choice": choice}, key=key)


DOORS = (on_the_page, over_rest, at_the_command)


@EACH
@pytest.mark.timeout(60 * KILLS)
async def test_what_was_asked_before_a_kill_is_answered_after_it_once(ground: Ground) -> None:
    luck = chance("questions", ground.engine)
    async with opened(*ground.replicas()) as replicas:
        for number in range(KILLS):
            replica = replicas[number % len(replicas)]
            ask = {"choices": ["yes", "no"], "text": False}
            asked = await asyncio.to_thread(
                replica.send, "coder", "owner", f"Ship {number}?", subject="Release", ask=ask, correlation_id=f"q-{number}"
            )
            replica.kill()
            await asyncio.to_thread(replica.start)
            id, choice = asked["message_id"], luck.choice(["yes", "no"])
            assert replica.call("coder", f"/questions/{id}")["state"] == "open"
            await DOORS[number % len(DOORS)](replica, id, choice)
            replica.kill()
            await asyncio.to_thread(replica.start)
            closed = replica.call("coder", f"/questions/{id}")
            assert (closed["state"], closed["choice"]) == ("answered", choice)
            (letter,) = replica.call("coder", "/messages/receive", {"limit": 10})["messages"]
            assert (letter["reply_to"], letter["answer"]["choice"]) == (id, choice)
            replica.call("coder", f"/messages/{letter['id']}/ack", {"token": letter["token"]})
