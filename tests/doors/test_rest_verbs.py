"""Mail over REST: send once, take, wait, settle, and know where it stands."""

import asyncio
import json
import select
import socket
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest

from postoffice.core.limits import Limits
from tests.doors.callers import Callers, contents, done, events, refused, send, take, two
from tests.doors.served import serving
from tests.engines import Engine, SQLiteEngine

PAYLOADS: list[Any] = [
    None,
    False,
    0,
    -1,
    "",
    [],
    {},
    2**53 + 1,
    2**63,
    -(2**64),
    10**30,
    0.1,
    1e300,
    "ünï\u2028 \U0001f980 \ud7ff\ue000",
    {"null": None, "deep": [{"a": [None, False, 0, ""]}], "": {"é": "\u0001\t\n"}},
    [[[[[[1]]]]]],
]


async def waiter(callers: Callers, name: str) -> None:
    """Until somebody waits for this agent's mail or news."""
    async with asyncio.timeout(30):
        while name not in callers.served.office._bells.names():  # noqa: ASYNC110 - a bell says nothing when it is hung up
            await asyncio.sleep(0.01)


async def state(sender: httpx.AsyncClient, message_id: str) -> str:
    (standing,) = done(await sender.get(f"/messages/{message_id}/status"))["standings"]
    return str(standing["state"])


class TestReceiving:
    async def test_what_is_taken_is_leased_and_comes_back_unless_settled(self, callers: Callers, engine: Engine) -> None:
        alice, bob = await two(callers)
        sent = await send(alice, "bob", "hello")
        (letter,) = await take(bob, visible_for=60)
        assert (letter["id"], letter["session_id"], letter["attempt"]) == (sent["message_id"], sent["session_id"], 1)
        assert await take(bob) == []
        await engine.advance(timedelta(seconds=60))
        (again,) = await take(bob)
        assert (again["id"], again["attempt"]) == (letter["id"], 2)
        refused(await bob.post(f"/messages/{letter['id']}/ack", json={"token": letter["token"]}), 409, "lease_lost")
        done(await bob.post(f"/messages/{letter['id']}/ack", json={"token": again["token"]}))

    async def test_a_taker_says_how_many_and_from_where(self, callers: Callers) -> None:
        alice, bob = await two(callers)
        sent = [await send(alice, "bob", str(n), subject=f"s{n % 2}", correlation_id=f"c{n}") for n in range(6)]
        assert [letter["content"] for letter in await take(bob, limit=1)] == ["0"]
        assert [letter["content"] for letter in await take(bob, session_id=sent[1]["session_id"], limit=1)] == ["1"]
        assert [letter["content"] for letter in await take(bob, correlation_id="c4")] == ["4"]
        assert len(await take(bob, limit=100)) == 3

    async def test_one_per_session_takes_no_two_of_one(self, callers: Callers) -> None:
        alice, bob = await two(callers)
        for n in range(4):
            await send(alice, "bob", str(n), subject=f"s{n % 2}")
        assert [letter["content"] for letter in await take(bob, one_per_session=True)] == ["0", "1"]

    async def test_wishes_out_of_bounds_are_refused(self, callers: Callers) -> None:
        _, bob = await two(callers)
        for wish in ({"limit": 0}, {"limit": 101}, {"visible_for": 0}, {"visible_for": 43_201}, {"nonsense": 1}):
            refused(await bob.post("/messages/receive", json=wish), 422)
        refused(await bob.post("/messages/wait", json={"wait": 241}), 422)
        refused(await bob.post("/messages/pop", json={"limit": 101}), 422)
        refused(await bob.post("/messages/settle", json={"ack": [{"id": "x"}] * 101}), 422)
        refused(await bob.post("/messages/send", json={"to": "alice", "subject": "s", "content": "x", "ttl": 11}), 422)
        for raw in (b'{"wait": 1e400}', b'{"wait": 1e300}', b'{"visible_for": 1e17}', b'{"limit": 1%s}' % (b"0" * 5000)):
            answer = await bob.post("/messages/wait", content=raw, headers={"Content-Type": "application/json"})
            assert answer.status_code in (400, 422), raw

    async def test_wishes_are_bounded_by_the_settings(self, tmp_path: Path) -> None:
        seconds = timedelta(seconds=1)
        wide = Limits(
            wait_most=600 * seconds, visibility_most=86_400 * seconds, visibility_least=seconds / 5, batch=500, ttl_most=20, depth=1000
        )
        engine = SQLiteEngine(tmp_path)
        async with serving(engine, limits=wide) as served, Callers(served) as callers:
            alice, bob = await two(callers)
            await send(alice, "bob", ttl=15)
            assert len(await take(bob, visible_for=0.5, limit=200)) == 1
            await engine.advance(seconds)
            (letter,) = await take(bob, limit=200)
            more = {"id": letter["id"], "token": letter["token"], "visible_for": 50_000}
            (settled,) = done(await bob.post("/messages/settle", json={"extend": [more]}))["settled"]
            assert settled["state"] == "leased"
            later = {"token": letter["token"], "delay": 50_000}
            done(await bob.post(f"/messages/{letter['id']}/nack", json=later))
            many = [{"to": "bob", "subject": "s", "content": str(number)} for number in range(200)]
            assert len(done(await alice.post("/messages/send/batch", json={"messages": many}))["results"]) == 200
            assert len(done(await bob.post("/messages/wait", json={"wait": 300, "limit": 150}))["messages"]) == 150
            assert len(done(await bob.post("/messages/pop", json={"limit": 150}))["messages"]) == 50
            assert len(await events(bob, wait=300)) == 50

    async def test_popped_mail_is_settled(self, callers: Callers) -> None:
        alice, bob = await two(callers)
        sent = [await send(alice, "bob", str(n)) for n in range(3)]
        (first,) = done(await bob.post("/messages/pop"))["messages"]
        assert (first["content"], "token" in first) == ("0", False)
        assert [letter["content"] for letter in done(await bob.post("/messages/pop", json={"limit": 5}))["messages"]] == ["1", "2"]
        assert [await state(alice, item["message_id"]) for item in sent] == ["acked"] * 3
        assert done(await bob.post("/messages/pop"))["messages"] == []

    async def test_looking_at_what_waits_takes_nothing(self, callers: Callers) -> None:
        alice, bob = await two(callers)
        await send(alice, "bob", "later", priority=4)
        await send(alice, "bob", "sooner", priority=1)
        assert await contents(bob) == await contents(bob) == ["sooner", "later"]
        assert done(await bob.get("/mailbox"))["leased"] == 0


class TestWaiting:
    async def test_a_waiter_wakes_when_mail_is_sent(self, callers: Callers) -> None:
        alice, bob = await two(callers)
        waiting = asyncio.create_task(bob.post("/messages/wait", json={"wait": 20}))
        await waiter(callers, "bob")
        await send(alice, "bob", "at last")
        async with asyncio.timeout(30):
            (letter,) = done(await waiting)["messages"]
        assert (letter["content"], letter["attempt"]) == ("at last", 1)

    async def test_mail_that_is_there_is_not_waited_for(self, callers: Callers) -> None:
        alice, bob = await two(callers)
        await send(alice, "bob")
        async with asyncio.timeout(30):
            assert len(done(await bob.post("/messages/wait", json={"wait": 240}))["messages"]) == 1

    async def test_nothing_in_time_is_an_empty_answer(self, callers: Callers) -> None:
        _, bob = await two(callers)
        for seconds in (0, 0.05):
            assert done(await bob.post("/messages/wait", json={"wait": seconds})) == {"messages": [], "settled": []}

    async def test_a_wait_for_one_answer_that_ends_without_it_says_so(self, callers: Callers) -> None:
        alice, bob = await two(callers)
        asked = await send(alice, "bob")
        await send(bob, "alice", "by the way")
        wish = {"answer_to": asked["message_id"], "wait": 0}
        assert done(await alice.post("/messages/wait", json=wish)) == {"messages": [], "settled": [], "timed_out": True, "waiting": 1}
        await send(bob, "alice", "yes", reply_to=asked["message_id"])
        answered = done(await alice.post("/messages/wait", json=wish))
        assert ([letter["content"] for letter in answered["messages"]], "timed_out" in answered) == (["yes"], False)

    async def test_who_hangs_up_leaves_no_lease_behind(self, callers: Callers) -> None:
        alice, bob = await two(callers)
        waiting = asyncio.create_task(bob.post("/messages/wait", json={"wait": 60}))
        await waiter(callers, "bob")
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        await send(alice, "bob", "still here")
        (letter,) = done(await bob.post("/messages/wait", json={"wait": 10}))["messages"]
        assert (letter["content"], letter["attempt"]) == ("still here", 1)

    @pytest.mark.parametrize(("path", "body"), [("/messages/wait", {}), ("/agents/bob/mcp", {"tool": "mailbox_wait", "args": {}})])
    async def test_an_answer_that_nobody_read_leaves_no_lease_behind(self, callers: Callers, path: str, body: dict[str, Any]) -> None:
        alice, bob = await two(callers)
        url, said = httpx.URL(callers.served.url), json.dumps(body)
        head = {**bob.headers, "host": f"{url.host}:{url.port}", "content-type": "application/json", "content-length": str(len(said))}
        with socket.create_connection((url.host, url.port)) as line:
            line.sendall("\r\n".join([f"POST {path} HTTP/1.1", *(f"{name}: {value}" for name, value in head.items()), "", said]).encode())
            await waiter(callers, "bob")
            await send(alice, "bob", "unread")
            assert (await asyncio.to_thread(select.select, [line], [], [], 30))[0]
        (letter,) = done(await bob.post("/messages/wait", json={"wait": 10}))["messages"]
        assert (letter["content"], letter["attempt"]) == ("unread", 1)

    async def test_one_message_wakes_many_and_goes_to_one(self, callers: Callers) -> None:
        alice, bob = await two(callers)
        waiting = [asyncio.create_task(bob.post("/messages/wait", json={"wait": 60})) for _ in range(4)]
        await waiter(callers, "bob")
        await send(alice, "bob")
        await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        callers.served.office.drain()  # sends home whoever waits on
        taken = [len(done(answer)["messages"]) for answer in await asyncio.gather(*waiting)]
        assert sorted(taken) == [0, 0, 0, 1]


class TestSettling:
    async def test_a_nacked_message_waits_again_at_once_or_later(self, callers: Callers, engine: Engine) -> None:
        alice, bob = await two(callers)
        sent = await send(alice, "bob")
        (letter,) = await take(bob)
        path = f"/messages/{letter['id']}/nack"
        assert done(await bob.post(path, json={"token": letter["token"], "reason": "busy"}))["state"] == "pending"
        (letter,) = await take(bob)
        assert letter["attempt"] == 2
        assert done(await bob.post(path, json={"token": letter["token"], "delay": 60}))["state"] == "held"
        assert await take(bob) == []
        assert await state(alice, sent["message_id"]) == "held"
        await engine.advance(timedelta(seconds=60))
        await callers.served.office.upkeep.tick()
        assert [letter["attempt"] for letter in await take(bob)] == [3]

    async def test_what_was_never_begun_goes_back_untried(self, callers: Callers) -> None:
        alice, bob = await two(callers)
        await send(alice, "bob")
        await send(alice, "bob")
        first, second = await take(bob, limit=2)
        back = {"token": first["token"], "untried": True}
        assert done(await bob.post(f"/messages/{first['id']}/nack", json=back))["state"] == "pending"
        done(await bob.post("/messages/settle", json={"nack": [{"id": second["id"], "token": second["token"], "untried": True}]}))
        assert [letter["attempt"] for letter in await take(bob, limit=2)] == [1, 1]

    async def test_an_extended_lease_lasts_longer(self, callers: Callers, engine: Engine) -> None:
        alice, bob = await two(callers)
        await send(alice, "bob")
        (letter,) = await take(bob, visible_for=60)
        more = {"token": letter["token"], "visible_for": 600}
        assert done(await bob.post(f"/messages/{letter['id']}/extend", json=more))["state"] == "leased"
        await engine.advance(timedelta(seconds=599))
        assert await take(bob) == []
        await engine.advance(timedelta(seconds=1))
        assert len(await take(bob)) == 1

    async def test_a_sender_takes_back_what_waits(self, callers: Callers) -> None:
        alice, bob = await two(callers)
        sent = await send(alice, "bob")
        canceled = {"message_id": sent["message_id"], "recipients": [{"recipient": "bob", "state": "dead", "canceled": True}]}
        assert done(await alice.post(f"/messages/{sent['message_id'][-8:]}/cancel")) == canceled
        assert await take(bob) == []
        taken = await send(alice, "bob")
        await take(bob)
        refused(await alice.post(f"/messages/{taken['message_id']}/cancel"), 409, "too_late_to_cancel")
        refused(await bob.post(f"/messages/{taken['message_id']}/cancel"), 404, "no_such_message")

    async def test_whoever_asked_for_a_task_cancels_it_at_any_time(self, callers: Callers) -> None:
        alice, bob = await two(callers)
        for place in ("/tasks/{}/update", "/messages/{}/cancel"):
            task = (await send(alice, "bob", type="task"))["message_id"]
            await take(bob)
            done(await bob.post(f"/tasks/{task}/update", json={"state": "working"}))
            refused(await bob.post(f"/tasks/{task}/update", json={"state": "canceled"}), 403, "not_requester")
            done(await alice.post(place.format(task), json={"state": "cancelled"} if "tasks" in place else None))
            assert done(await alice.get(f"/tasks/{task}"))["state"] == "canceled"
            (told,) = await take(bob)
            assert (told["type"], told["task"]["state"]) == ("task_update", "canceled")
            refused(await bob.post(f"/tasks/{task}/update", json={"state": "completed"}), 409, "task_final")
        assert len(done(await alice.get("/tasks", params={"requester": "alice", "state": "canceled"}))["tasks"]) == 2

    async def test_what_is_in_hand_is_listed_with_the_time_left(self, callers: Callers, engine: Engine) -> None:
        alice, bob = await two(callers)
        await send(alice, "bob")
        (letter,) = await take(bob, visible_for=60)
        await engine.advance(timedelta(seconds=20))
        (kept,) = done(await bob.get("/messages/in-hand"))["messages"]
        assert kept["message"] == letter
        assert 30 < kept["seconds_left"] <= 40
        assert done(await alice.get("/messages/in-hand"))["messages"] == []

    async def test_a_wrong_token_or_message_settles_nothing(self, callers: Callers) -> None:
        alice, bob = await two(callers)
        await send(alice, "bob")
        (letter,) = await take(bob)
        for verb in ("ack", "nack", "extend"):
            refused(await bob.post(f"/messages/{letter['id']}/{verb}", json={"token": "0" * 32}), 409, "lease_lost")
            refused(await bob.post(f"/messages/{uuid4()}/{verb}", json={"token": letter["token"]}), 404, "no_such_message")
            refused(await alice.post(f"/messages/{letter['id']}/{verb}", json={"token": letter["token"]}), 404, "no_such_message")
        assert await state(alice, letter["id"]) == "leased"

    async def test_a_second_ack_is_as_good_as_the_first(self, callers: Callers) -> None:
        alice, bob = await two(callers)
        await send(alice, "bob")
        (letter,) = await take(bob)
        answers = [await bob.post(f"/messages/{letter['id']}/ack", json={"token": letter["token"]}) for _ in range(2)]
        assert done(answers[0]) == done(answers[1]) == {"message_id": letter["id"], "state": "acked"}

    async def test_an_id_that_is_too_long_is_told_so(self, callers: Callers) -> None:
        _, bob = await two(callers)
        for verb in ("ack", "nack", "extend"):
            assert "message_id is not valid: String should have at most 255" in refused(
                await bob.post(f"/messages/{'x' * 256}/{verb}"), 422, "invalid"
            )

    async def test_a_batch_is_answered_one_by_one_in_order(self, callers: Callers) -> None:
        alice, bob = await two(callers)
        for n in range(3):
            await send(alice, "bob", str(n))
        first, second, third = [{"id": letter["id"], "token": letter["token"]} for letter in await take(bob)]
        batch = {"ack": [first, first | {"token": "wrong"}, {"id": "unknown"}], "nack": [second], "extend": [third | {"visible_for": 60}]}
        settled = done(await bob.post("/messages/settle", json=batch))["settled"]
        assert [item["message_id"] for item in settled] == [first["id"], first["id"], "unknown", second["id"], third["id"]]
        assert [item["state"] for item in settled] == ["acked", None, None, "pending", "leased"]
        assert [item["problem"] and item["problem"]["code"] for item in settled] == [None, "lease_lost", "no_such_message", None, None]

    @pytest.mark.parametrize(("path", "wish"), [("/messages/settle", {}), ("/messages/receive", {}), ("/messages/wait", {"wait": 0})])
    async def test_one_that_is_not_right_keeps_none_of_the_others_from_being_settled(
        self, callers: Callers, path: str, wish: dict[str, int]
    ) -> None:
        """What had been handled came again, because of something else that was said wrong beside it."""
        alice, bob = await two(callers)
        await send(alice, "bob")
        (letter,) = await take(bob)
        lease = {"id": letter["id"], "token": letter["token"]}
        wrong: dict[str, list[Any]] = {
            "ack": [{"id": "x" * 256}, {"id": "a\0b"}, {"id": "x", "tokn": "y"}, {"token": "y"}, {"id": 5}, 5],
            "nack": [lease | {"delay": 43_201}, lease | {"delay": -1}, lease | {"reason": "x" * 501}],
            "extend": [lease | {"visible_for": 0}, lease | {"visible_for": 43_201}],
        }
        settled = done(await bob.post(path, json=wrong | wish | {"ack": [*wrong["ack"], lease]}))["settled"]
        assert [item["message_id"] for item in settled] == ["x" * 256, "a\0b", "x", "", "", "", *[letter["id"]] * 6]
        assert [item["state"] for item in settled] == [*[None] * 6, "acked", *[None] * 5]
        assert all(item["problem"]["detail"] for item in settled if item["state"] is None)
        refused(await bob.post(path, json={"ack": {}}), 422)

    async def test_the_next_receive_carries_the_acks_of_the_last(self, callers: Callers) -> None:
        alice, bob = await two(callers)
        sent = [await send(alice, "bob", str(n)) for n in range(3)]
        (letter,) = await take(bob, limit=1)
        for path in ("/messages/receive", "/messages/wait"):
            ack = [{"id": letter["id"], "token": letter["token"]}]
            turned = done(await bob.post(path, json={"limit": 1, "ack": ack}))
            assert turned["settled"] == [{"message_id": letter["id"], "state": "acked", "problem": None}]
            (letter,) = turned["messages"]
        assert letter["content"] == "2"
        assert [await state(alice, item["message_id"]) for item in sent] == ["acked", "acked", "leased"]


class TestSending:
    @pytest.mark.parametrize("payload", PAYLOADS, ids=lambda value: json.dumps(value)[:20])
    async def test_any_json_comes_back_exactly(self, callers: Callers, payload: Any) -> None:
        alice, bob = await two(callers)
        fields = {"payload": payload, "context": {"c": payload}, "metadata": {"m": payload}, "callback": {"k": payload}}
        body = {"to": "bob", "subject": "Data", "parts": [{"type": "data", "data": payload}], **fields}
        sent = done(await alice.post("/messages/send", json=body), 201)
        (told,) = await events(bob)
        (line,) = done(await bob.get(f"/sessions/{sent['session_id']}/history", params={"peek": "true"}))["messages"]
        for letter in (told["message"], line["message"], *await take(bob)):
            for name in ("parts", *fields):
                assert json.dumps(letter[name], sort_keys=True) == json.dumps(body[name], sort_keys=True)

    async def test_a_letter_without_a_payload_shows_none(self, callers: Callers) -> None:
        alice, bob = await two(callers)
        await send(alice, "bob")
        assert "payload" not in (await take(bob))[0]

    async def test_a_batch_with_a_bad_item_sends_the_others(self, callers: Callers) -> None:
        alice, bob = await two(callers)
        letters = [{"to": to, "subject": "Hi", "content": to} for to in ("bob", "not a name", "bob")]
        first, bad, last = done(await alice.post("/messages/send/batch", json={"messages": letters}))["results"]
        assert bad.keys() == {"problem"}
        assert bad["problem"]["code"] == "bad_name"
        assert [letter["id"] for letter in await take(bob)] == [first["sent"]["message_id"], last["sent"]["message_id"]]

    async def test_a_message_of_several_that_cannot_be_read_keeps_no_other_back(self, callers: Callers) -> None:
        alice, bob = await two(callers)
        letters: list[Any] = [
            {"to": "bob", "subject": "Hi", "content": "one"},
            {"to": "bob", "subject": "Hi", "content": "x" * 10_001},
            {"to": "bob", "content": "without a subject"},
            {"to": "bob", "subject": "Hi", "content": "two", "urgent": True},
            "no letter",
            {"to": "bob", "subject": "Hi", "content": "two"},
        ]
        results = done(await alice.post("/messages/send/batch", json={"messages": letters}))["results"]
        assert [result.get("problem", {}).get("code") for result in results] == [None, *["invalid"] * 4, None]
        assert "at most 10000 characters" in results[1]["problem"]["detail"]
        assert results[3]["problem"]["detail"].startswith("messages.urgent is not valid")
        assert await contents(bob) == ["one", "two"]
        for whole in (5, None, "x", [letters[0]] * 101):
            refused(await alice.post("/messages/send/batch", json={"messages": whole}), 422)

    async def test_a_message_of_several_that_a_rate_refused_says_when_to_come_back(self, engine: Engine) -> None:
        async with serving(engine, limits=Limits(sends_per_minute=1)) as served, Callers(served) as callers:
            (alice,) = await callers.named("alice")
            letter = {"to": "bob", "subject": "Hi", "content": "x"}
            first, second = done(await alice.post("/messages/send/batch", json={"messages": [letter, letter]}))["results"]
            assert "sent" in first
            assert second["problem"]["code"] == "rate_limited"
            assert 0 < second["problem"]["retry_after"] <= 60

    async def test_a_key_for_one_message_is_not_taken_for_several_and_passed_over(self, callers: Callers) -> None:
        alice, bob = await two(callers)
        letters = [{"to": "bob", "subject": "Hi", "content": "one"}, {"to": "bob", "subject": "Hi", "content": "two", "id": "2"}]
        for _ in range(2):
            again = await alice.post("/messages/send/batch", json={"messages": letters}, headers={"Idempotency-Key": "batch-7"})
            first, second = done(again)["results"]
            assert first["problem"]["code"] == "bad_message"
            assert second["sent"]["id"] == "2"
        assert await contents(bob) == ["two"]

    async def test_many_recipients_have_a_standing_each(self, callers: Callers) -> None:
        alice, bob = await two(callers)
        (carol,) = await callers.named("carol")
        sent = await send(alice, ["bob", "carol"])
        assert [item["recipient"] for item in sent["recipients"]] == ["bob", "carol"]
        done(await bob.post("/messages/pop"))
        whole = done(await alice.get(f"/messages/{sent['message_id']}/status"))
        assert {item["recipient"]: item["state"] for item in whole["standings"]} == {"bob": "acked", "carol": "pending"}
        own = done(await carol.get(f"/messages/{sent['message_id']}/status"))["standings"]
        assert [item["recipient"] for item in own] == ["carol"]

    async def test_a_message_of_others_has_no_status(self, callers: Callers) -> None:
        alice, _ = await two(callers)
        (eve,) = await callers.named("eve")
        sent = await send(alice, "bob")
        refused(await eve.get(f"/messages/{sent['message_id']}/status"), 404, "no_such_message")


class TestSendingOnce:
    async def test_the_same_id_and_body_are_one_message(self, callers: Callers) -> None:
        alice, bob = await two(callers)
        body = {"to": "bob", "subject": "Hi", "content": "Hello"}
        first = done(await alice.post("/messages/send", json=body | {"id": "order-1"}), 201)
        again = done(await alice.post("/messages/send", json=body, headers={"Idempotency-Key": "order-1"}), 201)
        both = done(await alice.post("/messages/send", json=body | {"id": "order-1"}, headers={"Idempotency-Key": "order-1"}), 201)
        assert (first["id"], first["duplicate"]) == ("order-1", False)
        for repeat in (again, both):
            assert repeat == first | {"duplicate": True}
        assert len(await take(bob)) == 1
        assert done(await alice.get("/messages/order-1/status"))["message_id"] == first["message_id"]

    async def test_the_same_id_with_another_body_is_409(self, callers: Callers) -> None:
        alice, bob = await two(callers)
        await send(alice, "bob", "one", id="order-1")
        for changed in ({"content": "two"}, {"payload": None}, {"priority": 1}):
            body = {"to": "bob", "subject": "Lunch", "content": "one", "id": "order-1"} | changed
            refused(await alice.post("/messages/send", json=body), 409, "id_conflict")
        assert await contents(bob) == ["one"]

    async def test_an_id_and_a_key_that_disagree_are_422(self, callers: Callers) -> None:
        alice, bob = await two(callers)
        body = {"to": "bob", "subject": "Hi", "content": "Hello", "id": "order-1"}
        refused(await alice.post("/messages/send", json=body, headers={"Idempotency-Key": "order-2"}), 422, "bad_message")
        assert await contents(bob) == []

    async def test_ids_are_each_senders_own(self, callers: Callers) -> None:
        alice, bob = await two(callers)
        mine, theirs = await send(alice, "bob", id="order-1"), await send(bob, "alice", id="order-1")
        assert mine["message_id"] != theirs["message_id"]
        assert not theirs["duplicate"]

    async def test_the_same_message_sent_many_times_at_once_is_one(self, callers: Callers) -> None:
        alice, bob = await two(callers)
        sent = await asyncio.gather(*(send(alice, "bob", id="order-1") for _ in range(8)))
        assert len({item["message_id"] for item in sent}) == 1
        assert [item["duplicate"] for item in sent].count(False) == 1
        assert len(await take(bob)) == 1
