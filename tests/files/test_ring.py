"""Seed 002's tables, row by row, in a ring of three agents at three doors: REST, MCP and the files."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest

from tests.doors.callers import done
from tests.doors.served import Served, serving
from tests.engines import SQLiteEngine
from tests.files.members import DOORS, Member, member
from tests.proof.patience import until

CALLBACK = {"session_id": "feishu:user_123", "channel": "feishu"}


class Ring(NamedTuple):
    """Three who pass mail on to the next, and a fourth who only looks."""

    served: Served
    engine: SQLiteEngine
    members: tuple[Member, Member, Member]
    owner: httpx.AsyncClient

    @property
    def pairs(self) -> list[tuple[Member, Member]]:
        a, b, c = self.members
        return [(a, b), (b, c), (c, a)]

    async def task(self, letter: dict[str, Any]) -> dict[str, Any]:
        """A task as the office has it. A file calls the office's id for it `message_id`."""
        return dict(done(await self.owner.get(f"/tasks/{letter.get('message_id', letter['id'])}")))


@pytest.fixture(params=[DOORS, DOORS[::-1]], ids=" to ".join)
async def ring(request: pytest.FixtureRequest, tmp_path: Path, root: Path) -> AsyncIterator[Ring]:
    """Both ways round, so that each writes to each."""
    engine = SQLiteEngine(tmp_path)
    async with serving(engine, files=root) as served, AsyncExitStack() as stack:
        first, second, third = [
            await stack.enter_async_context(member(served, root, door, name)) for door, name in zip(request.param, "abc", strict=True)
        ]
        owner = await stack.enter_async_context(served.client(key=served.owner_key))
        yield Ring(served, engine, (first, second, third), owner)


def in_an_hour(ring: Ring) -> str:
    return (datetime.now(UTC) + timedelta(microseconds=ring.engine.clock.ahead, hours=1)).isoformat()


async def presence(ring: Ring, name: str, wanted: str) -> None:
    async def so() -> bool:
        return bool(done(await ring.owner.get(f"/agents/{name}"))["presence"] == wanted)

    await until(so)


class TestMessageTypes:
    async def test_a_message_goes_round_and_each_answers_the_one_before(self, ring: Ring) -> None:
        for sender, reader in ring.pairs:
            assert await sender.send(reader.name, f"from {sender.name}") is None
            letter = await reader.take()
            assert (letter["from"], letter["type"], letter["content"]) == (sender.name, "message", f"from {sender.name}")
            assert await reader.send(sender.name, f"re {sender.name}", reply_to=letter["id"]) is None
            answer = await sender.take()
            assert (answer["from"], answer["content"], answer["subject"]) == (reader.name, f"re {sender.name}", "Ring")


class TestLifecycle:
    async def test_pending_accepted_working_completed_with_progress(self, ring: Ring) -> None:
        for asker, doer in ring.pairs:
            assert await asker.send(doer.name, "sort it", type="task") is None
            asked = await doer.take()
            assert (asked["type"], asked["task"]["state"]) == ("task", "pending")
            for state, text in (("accepted", ""), ("working", "10 %"), ("working", "60 %"), ("completed", "sorted")):
                assert await doer.update(asked, state, text) is None
                told = await asker.take()
                assert (told["type"], told["from"], told["task"]["state"], told["content"]) == ("task_update", doer.name, state, text)
            steps = (await ring.task(asked))["steps"]
            assert [step["state"] for step in steps] == ["pending", "accepted", "working", "working", "completed"]
            assert [step.get("text") for step in steps[2:]] == ["10 %", "60 %", "sorted"]

    async def test_pending_rejected_with_the_reason(self, ring: Ring) -> None:
        for asker, doer in ring.pairs:
            await asker.send(doer.name, "sort it", type="task")
            asked = await doer.take()
            assert await doer.update(asked, "rejected", "not my trade") is None
            told = await asker.take()
            assert (told["task"]["state"], told["content"]) == ("rejected", "not my trade")
            refusal = await doer.update(asked, "working")
            assert refusal is not None
            assert "final" in refusal

    async def test_working_failed(self, ring: Ring) -> None:
        for asker, doer in ring.pairs:
            await asker.send(doer.name, "sort it", type="task")
            asked = await doer.take()
            assert await doer.update(asked, "failed", "the disk is full") is None  # the steps between are implied
            told = await asker.take()
            assert (told["task"]["state"], told["content"]) == ("failed", "the disk is full")

    async def test_the_callback_is_on_every_update_whatever_the_doer_s_door(self, ring: Ring) -> None:
        for asker in ring.members:
            if asker.door == "MCP":
                continue  # MCP's tools have no callback: a client there has its own conversation at hand
            for doer in ring.members:
                if doer is asker:
                    continue
                await asker.send(doer.name, "sort it", type="task", callback=CALLBACK)
                asked = await doer.take()
                assert asked["callback"] == CALLBACK
                for state in ("accepted", "working", "completed"):
                    await doer.update(asked, state, state)
                    assert (await asker.take())["callback"] == CALLBACK


class TestStates:
    async def test_idle_busy_and_idle_again(self, ring: Ring) -> None:
        for asker, doer in ring.pairs:
            await presence(ring, doer.name, "idle")
            await asker.send(doer.name, "sort it", type="task")
            asked = await doer.take()
            await doer.update(asked, "accepted")
            await presence(ring, doer.name, "busy")
            await doer.update(asked, "completed")
            await presence(ring, doer.name, "idle")
            for _ in range(2):
                await asker.take()

    async def test_mail_to_one_that_is_offline_waits_for_it(self, ring: Ring) -> None:
        for sender, reader in ring.pairs:
            await ring.served.office.leave(await ring.served.office.identify(name=reader.name))
            await presence(ring, reader.name, "offline")
            assert await sender.send(reader.name, "when you are back") is None
            assert (await reader.take())["content"] == "when you are back"


class TestAcceptance:
    async def refuses(self, ring: Ring, asker: Member, doer: Member, asked: dict[str, Any], why: str) -> None:
        """Accepting is refused for that reason, the task is untouched, and its asker hears of the rejection and why."""
        refusal = await doer.update(asked, "accepted")
        assert refusal is not None
        assert why in refusal
        assert (await ring.task(asked))["state"] == "pending"
        assert await doer.update(asked, "rejected", refusal) is None
        told = await asker.take()
        assert (told["task"]["state"], told["content"]) == ("rejected", refusal)

    async def test_unauthorised(self, ring: Ring) -> None:
        for asker, doer in ring.pairs:
            await asker.send(doer.name, "sort it", type="task")
            asked = await doer.take()
            await doer.card(allow_from=["somebody-else"])
            await self.refuses(ring, asker, doer, asked, f"does not take mail from {asker.name}")
            refusal = await asker.send(doer.name, "and this?", type="task")
            assert refusal is not None
            assert f"{doer.name} does not take mail from {asker.name}" in refusal
            await doer.card(allow_from=["*"])

    async def test_over_quota(self, ring: Ring) -> None:
        for asker, doer in ring.pairs:
            await doer.card(max_concurrent_tasks=1)
            for text in ("first", "second"):
                await asker.send(doer.name, text, type="task")
            first, second = await doer.take(), await doer.take()
            await doer.update(first, "working")
            await asker.take()
            await self.refuses(ring, asker, doer, second, f"{doer.name} has 1 tasks under way")
            await doer.update(first, "completed")
            await asker.take()

    async def test_deadline_passed(self, ring: Ring) -> None:
        for asker, doer in ring.pairs:
            await asker.send(doer.name, "sort it", type="task", task={"deadline": in_an_hour(ring)})
            asked = await doer.take()
            assert asked["task"]["deadline"]
            await ring.engine.advance(timedelta(hours=2))
            await self.refuses(ring, asker, doer, asked, "deadline")


class TestLoops:
    async def test_a_and_b_cannot_ping_each_other(self, ring: Ring) -> None:
        for one, other in ring.pairs:
            await one.send(other.name, "ping")
            refusal = await other.forward(await other.take(), one.name)
            assert refusal is not None
            assert "it has been there already" in refusal

    async def test_a_b_c_a_is_refused_at_the_third_step(self, ring: Ring) -> None:
        for begin in range(3):
            a, b, c = (*ring.members[begin:], *ring.members[:begin])
            await a.send(b.name, "pass it on")
            assert await b.forward(await b.take(), c.name) is None
            letter = await c.take()
            assert (letter["content"], letter["trace"], letter["ttl"]) == ("pass it on", [a.name, b.name], 2)
            for to in (a.name, b.name):
                refusal = await c.forward(letter, to)
                assert refusal is not None
                assert f"it has been there already ({a.name} → {b.name} → {c.name})" in refusal

    async def test_an_endless_chain_ends_when_the_ttl_does(self, ring: Ring, root: Path) -> None:
        a, b, c = ring.members
        async with AsyncExitStack() as stack:
            doors = [type(one).__name__ for one in ring.members]
            names = {"RestMember": "REST", "McpMember": "MCP", "FileMember": "files"}
            more = [
                await stack.enter_async_context(member(ring.served, root, names[door], name))
                for door, name in zip(doors, "def", strict=True)
            ]
            chain: list[Member] = [a, b, c, *more]
            await a.send(b.name, "onwards")
            for ttl, (here, there) in zip((3, 2, 1), pairwise(chain[1:5]), strict=True):
                letter = await here.take()
                assert letter["ttl"] == ttl
                assert await here.forward(letter, there.name) is None
            last = await chain[4].take()
            assert (last["ttl"], last["trace"]) == (0, ["a", "b", "c", "d"])
            refusal = await chain[4].forward(last, chain[5].name)
            assert refusal is not None
            assert "no hops left; handle it yourself" in refusal

    async def test_a_reply_and_an_update_are_no_forwards(self, ring: Ring) -> None:
        a, b, _ = ring.members
        await a.send(b.name, "sort it", type="task")
        asked = await b.take()
        await b.update(asked, "working")
        assert await b.send(a.name, "which way?", reply_to=asked["id"]) is None
        for _ in range(2):
            letter = await a.take()
            assert (letter["ttl"], letter["trace"]) == (3, ["b"])


class TestErrors:
    async def test_a_task_not_finished_by_its_deadline_is_reported_to_its_asker_once(self, ring: Ring) -> None:
        for asker, doer in ring.pairs:
            await asker.send(doer.name, "sort it", type="task", task={"deadline": in_an_hour(ring)})
            asked = await doer.take()
            await doer.update(asked, "working")
            await asker.take()
            await ring.engine.advance(timedelta(hours=2))  # it crashed, and never says another word
            for _ in range(3):
                await ring.served.office.upkeep.sweep()
            notice = await asker.take()
            assert (notice["from"], notice["type"]) == ("system", "notice")
            assert await doer.send(asker.name, "sorry, I fell over") is None
            assert (await asker.take())["content"] == "sorry, I fell over"

    async def test_a_sender_not_on_the_list_is_told_so(self, ring: Ring) -> None:
        for sender, reader in ring.pairs:
            await reader.card(allow_from=[])
            refusal = await sender.send(reader.name, "let me in")
            assert refusal is not None
            assert f"{reader.name} does not take mail from {sender.name}" in refusal
            await reader.card(allow_from=["*"])
            assert await sender.send(reader.name, "now?") is None
            assert (await reader.take())["content"] == "now?"
