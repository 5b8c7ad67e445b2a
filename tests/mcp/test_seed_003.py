"""Seed 003: a durable bridge between agents in different editors, message by message from pending to acked."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest
from mcp.client.client import Client

from tests.doors.served import Served
from tests.engines import Engine
from tests.mcp.calling import ERAS, call, client, told

GALLERY = "electron-gallery.agent"
SCORING = "image-scoring.agent"
CHANGE = {"action": "update_image", "image_id": 12345, "fields_changed": ["rating"], "new_values": {"rating": 4, "label": "Green"}}
LEASE = timedelta(seconds=30)


async def notify(caller: Client, **fields: Any) -> str:
    """A notification as the seed sends it; gives its id."""
    sent = await call(caller, "mailbox_send", **{"from_": GALLERY, "to": SCORING, "type": "db_change", "payload": CHANGE} | fields)
    return str(sent["id"])


async def receive(caller: Client, agent: str = SCORING, **wish: Any) -> list[dict[str, Any]]:
    return list((await call(caller, "mailbox_receive", agent_id=agent, **wish))["messages"])


async def state(caller: Client, ref: str, sender: str = GALLERY) -> str:
    (standing,) = (await call(caller, "mailbox_status", agent_id=sender, message_id=ref))["standings"]
    return str(standing["state"])


class TestTheLifeCycle:
    @pytest.mark.parametrize("era", ERAS)
    async def test_sent_is_pending_received_is_leased_acked_is_done(self, served: Served, era: str) -> None:
        async with client(served, "/mcp?tools=all", era=era) as both:
            sent = await call(both, "mailbox_send", from_=GALLERY, to=SCORING, type="db_change", payload=CHANGE)
            assert (sent["status"], await state(both, sent["id"])) == ("pending", "pending")
            (mail,) = await receive(both, limit=5)
            seen = {name: mail[name] for name in ("id", "from", "to", "type", "payload", "status", "attempt", "from_verified")}
            assert seen == {
                "id": sent["message_id"],
                "from": GALLERY,
                "to": SCORING,
                "type": "db_change",
                "payload": CHANGE,
                "status": "leased",
                "attempt": 1,
                "from_verified": False,
            }
            assert await state(both, sent["id"]) == "leased"
            assert await receive(both) == []
            acked = await call(both, "mailbox_ack", agent_id=SCORING, message_id=mail["id"])
            assert acked == {"message_id": mail["id"], "status": "acked"}
            assert await state(both, sent["id"]) == "acked"

    async def test_a_lease_lasts_thirty_seconds(self, served: Served, engine: Engine) -> None:
        async with client(served) as both:
            ref = await notify(both)
            await receive(both)
            await engine.advance(LEASE - timedelta(seconds=2))
            assert await receive(both) == []
            await engine.advance(timedelta(seconds=3))
            (again,) = await receive(both)
            assert (again["id"], again["attempt"]) == (ref, 2)

    async def test_an_ack_after_the_lease_has_ended_counts_while_nobody_else_has_it(self, served: Served, engine: Engine) -> None:
        async with client(served) as both:
            ref = await notify(both)
            await receive(both)
            await engine.advance(LEASE * 2)
            await call(both, "mailbox_ack", agent_id=SCORING, message_id=ref)
            assert await receive(both) == []

    async def test_whoever_forgets_to_ack_gets_it_again_until_it_is_dead_and_its_sender_told(self, served: Served, engine: Engine) -> None:
        async with client(served, "/mcp?tools=all") as both:
            ref = await notify(both)
            for attempt in range(1, served.office.rules.limits.max_attempts + 1):
                (mail,) = await receive(both)
                assert mail["attempt"] == attempt
                await engine.advance(LEASE * 2)
            assert await receive(both) == []
            assert await state(both, ref) == "dead"
            (notice,) = await receive(both, GALLERY)
            assert (notice["from"], notice["from_verified"]) == ("system", True)

    async def test_an_ack_twice_is_as_good_as_once(self, served: Served) -> None:
        async with client(served) as both:
            ref = await notify(both)
            await receive(both)
            once = await call(both, "mailbox_ack", agent_id=SCORING, message_id=ref)
            assert await call(both, "mailbox_ack", agent_id=SCORING, message_id=ref) == once

    async def test_several_are_acked_at_once_each_answered_by_itself(self, served: Served) -> None:
        async with client(served) as both:
            refs = [await notify(both) for _ in range(2)]
            await receive(both)
            results = (await call(both, "mailbox_ack", agent_id=SCORING, message_id=["x" * 256, *refs, "none"]))["results"]
            assert [item["status"] for item in results] == [None, "acked", "acked", None]
            assert results[0]["problem"]
            assert results[3]["problem"]

    async def test_the_senders_own_id_settles_too(self, served: Served) -> None:
        async with client(served, "/mcp?tools=all") as both:
            assert await notify(both, id="change-1") == "change-1"
            (mail,) = await receive(both)
            assert mail["client_id"] == "change-1"
            await call(both, "mailbox_ack", agent_id=SCORING, message_id="change-1")
            assert await state(both, "change-1") == "acked"

    async def test_what_its_own_agent_holds_by_a_token_is_settled_without_it(self, served: Served) -> None:
        async with client(served) as both, served.client(name=SCORING) as rest:
            ref = await notify(both)
            (mail,) = (await rest.post("/messages/receive")).json()["messages"]
            await call(both, "mailbox_ack", agent_id=SCORING, message_id=ref)
            assert (await rest.post(f"/messages/{ref}/ack", json={"token": mail["token"]})).status_code == 200


class TestNacking:
    async def test_a_nacked_message_is_delivered_again_at_once(self, served: Served) -> None:
        async with client(served) as both:
            first, second = [await notify(both) for _ in range(2)]
            await receive(both, limit=1)
            assert await call(both, "mailbox_nack", agent_id=SCORING, message_id=first) == {"message_id": first, "status": "pending"}
            assert [(mail["id"], mail["attempt"]) for mail in await receive(both)] == [(first, 2), (second, 1)]

    async def test_it_can_be_put_off(self, served: Served, engine: Engine) -> None:
        async with client(served, "/mcp?tools=all") as both:
            ref = await notify(both)
            await receive(both)
            await call(both, "mailbox_nack", agent_id=SCORING, message_id=ref, delay_ms=60_000, reason="the camera is off")
            (standing,) = (await call(both, "mailbox_status", agent_id=GALLERY, message_id=ref))["standings"]
            assert (standing["state"], standing["reason"]) == ("held", "the camera is off")
            await engine.advance(timedelta(seconds=59))
            assert await receive(both) == []
            await engine.advance(timedelta(seconds=2))
            assert [mail["id"] for mail in await receive(both)] == [ref]


class TestCorrelation:
    async def test_ask_and_answer_in_two_calls(self, served: Served) -> None:
        async with client(served) as asker, client(served) as expert:
            await notify(expert, from_=SCORING, to=GALLERY, payload="noise")

            async def answer() -> None:
                (asked,) = (await call(expert, "mailbox_wait", agent_id=SCORING))["messages"]
                mark = asked["correlation_id"]
                await notify(expert, from_=SCORING, to=GALLERY, type="answer", payload=["SPAQ"], correlation_id=mark, reply_to=asked["id"])
                await call(expert, "mailbox_ack", agent_id=SCORING, message_id=asked["id"])

            async with asyncio.timeout(30), asyncio.TaskGroup() as group:
                group.create_task(answer())
                ref = await notify(asker, type="query", correlation_id="req-001", payload={"question": "What models are active?"})
                (got,) = (await call(asker, "mailbox_wait", agent_id=GALLERY, correlation_id="req-001"))["messages"]
            assert (got["payload"], got["correlation_id"], got["reply_to"]) == (["SPAQ"], "req-001", ref)
            assert [mail["payload"] for mail in await receive(asker, GALLERY)] == ["noise"]

    async def test_a_wait_can_be_for_one_conversation(self, served: Served) -> None:
        async with client(served) as both:
            sent = await call(both, "mailbox_send", from_=GALLERY, to=SCORING, subject="Models", content="Which?")
            await notify(both, from_=SCORING, to=GALLERY, payload="noise")
            waiting = asyncio.create_task(call(both, "mailbox_wait", agent_id=GALLERY, session_id=sent["session_id"], timeout_ms=10_000))
            await call(both, "mailbox_send", from_=SCORING, to=GALLERY, session_id=sent["session_id"], content="SPAQ")
            (got,) = (await waiting)["messages"]
            assert (got["content"], got["subject"], got["session_id"]) == ("SPAQ", "Models", sent["session_id"])
            assert [mail["payload"] for mail in await receive(both, GALLERY)] == ["noise"]

    async def test_receive_is_narrowed_the_same_way(self, served: Served) -> None:
        async with client(served) as both:
            for number in range(4):
                await notify(both, payload=number, correlation_id=f"c-{number % 2}", subject=f"s-{number // 2}")
            assert [mail["payload"] for mail in await receive(both, correlation_id="c-1")] == [1, 3]
            session = (await call(both, "mailbox_send", from_=GALLERY, to=SCORING, subject="s-0", payload=4))["session_id"]
            assert [mail["payload"] for mail in await receive(both, session_id=session)] == [0, 4]
            assert [mail["payload"] for mail in await receive(both)] == [2]


class TestAckingOnTheWay:
    @pytest.mark.parametrize("tool", ["mailbox_receive", "mailbox_wait"])
    async def test_the_next_call_acks_what_the_last_one_brought(self, served: Served, tool: str) -> None:
        async with client(served, "/mcp?tools=all") as both:
            first, second = [await notify(both) for _ in range(2)]
            await receive(both, limit=1)
            turned = await call(both, tool, agent_id=SCORING, ack=[first, "none"])
            assert [mail["id"] for mail in turned["messages"]] == [second]
            done, missed = turned["acked"]
            assert done == {"message_id": first, "status": "acked"}
            assert (missed["message_id"], missed["status"]) == ("none", None)
            assert missed["problem"]
            assert (await state(both, first), await state(both, second)) == ("acked", "leased")

    async def test_a_wait_acks_before_it_waits(self, served: Served) -> None:
        async with client(served, "/mcp?tools=all") as both:
            ref = await notify(both)
            await receive(both)
            said = await told(both, "mailbox_wait", agent_id=SCORING, ack=[ref], timeout_ms=0)
            assert f"{ref}: acked" in said
            assert await state(both, ref) == "acked"
