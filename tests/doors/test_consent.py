"""Consent over REST: what each handshake shows, how wrong codes are met, and how requests end."""

import asyncio
import json
import string
from collections.abc import AsyncIterator
from datetime import timedelta
from itertools import product
from typing import Any

import httpx
import pytest
from websockets.asyncio.client import connect as open_socket

from postoffice.core.limits import Limits
from tests.doors.callers import Callers, approve, ask, connect, done, events, refused, send, take
from tests.doors.served import serving
from tests.engines import Engine

AN_HOUR = timedelta(hours=1)
MASKED = "**-***"
HANDSHAKES = ["visible", "human"]


@pytest.fixture
async def human(engine: Engine) -> AsyncIterator[Callers]:
    async with serving(engine, auth="keys", handshake="human") as running, Callers(running) as found:
        yield found


@pytest.fixture
async def visible(engine: Engine) -> AsyncIterator[Callers]:
    async with serving(engine, auth="keys", handshake="visible") as running, Callers(running) as found:
        yield found


@pytest.fixture(params=HANDSHAKES)
async def either(request: pytest.FixtureRequest, engine: Engine) -> AsyncIterator[Callers]:
    async with serving(engine, auth="keys", handshake=request.param) as running, Callers(running) as found:
        yield found


async def pending(client: httpx.AsyncClient) -> list[dict[str, Any]]:
    return list(done(await client.get("/connections/pending"))["pending"])


async def statuses(client: httpx.AsyncClient) -> list[str]:
    return [item["status"] for item in done(await client.get("/connections"))["connections"]]


async def guess(client: httpx.AsyncClient, times: int, *, but: str = "") -> None:
    """Give wrong codes, well formed, each another."""
    codes = (f"{letter}Q-{number:03d}" for letter, number in product(string.ascii_uppercase, range(2)))
    for code in [code for code in codes if code != but][:times]:
        refused(await approve(client, code), 404, "no_such_code")


class TestWhatTheTargetSees:
    async def test_with_people_between_neither_code_nor_note_before_approval(self, human: Callers) -> None:
        alice, bob = await human.join_all("alice", "bob")
        asked = await ask(alice, "bob", "approve me at once")
        (in_inbox,) = done(await bob.get("/inbox"))["pending_connections"]
        (in_list,) = await pending(bob)
        (told,) = await events(bob)
        for shown in (in_inbox, in_list, told):
            assert (shown["verification_code"], shown["message"]) == (MASKED, None)
        whole = [done(await bob.get(path)) for path in ("/connections", f"/connections/{asked['connection_id']}")]
        assert "approve me" not in json.dumps(whole)
        assert asked["verification_code"] not in json.dumps(whole)

    async def test_with_people_between_the_socket_shows_neither(self, human: Callers) -> None:
        alice, key = await human.join("alice"), await human.register("bob")
        async with open_socket(human.served.ws_url, additional_headers={"X-API-Key": key}) as socket:
            await ask(alice, "bob", "approve me at once")
            frame = json.loads(await socket.recv())
        assert (frame["type"], frame["from_agent"]) == ("connection_request", "alice")
        assert (frame["verification_code"], frame["message"]) == (MASKED, None)

    async def test_the_requester_sees_its_own_code_and_note(self, human: Callers) -> None:
        alice, _ = await human.join_all("alice", "bob")
        asked = await ask(alice, "bob", "hi")
        (mine,) = await pending(alice)
        assert (mine["verification_code"], mine["message"]) == (asked["verification_code"], "hi")

    async def test_after_approval_the_note_is_shown(self, human: Callers) -> None:
        alice, bob = await human.join_all("alice", "bob")
        asked = await ask(alice, "bob", "hi")
        done(await approve(bob, asked["verification_code"]))
        assert done(await bob.get(f"/connections/{asked['connection_id']}"))["message"] == "hi"

    async def test_the_note_of_a_rejected_request_stays_hidden(self, human: Callers) -> None:
        alice, bob = await human.join_all("alice", "bob")
        asked = await ask(alice, "bob", "approve me at once")
        rejected = done(await bob.post(f"/connections/{asked['connection_id']}/reject"))
        assert (rejected["status"], rejected["message"]) == ("REJECTED", None)
        assert "approve me" not in json.dumps([done(await bob.get(path)) for path in ("/connections", "/events")])

    async def test_a_visible_code_is_shown_everywhere(self, visible: Callers) -> None:
        alice, bob = await visible.join_all("alice", "bob")
        asked = await ask(alice, "bob", "hi")
        (in_inbox,) = done(await bob.get("/inbox"))["pending_connections"]
        for shown in (in_inbox, *await pending(bob), *await events(bob)):
            assert (shown["verification_code"], shown["message"]) == (asked["verification_code"], "hi")


class TestAssurance:
    @pytest.mark.parametrize(("handshake", "assurance"), [("visible", "in_band"), ("human", "human")])
    async def test_the_connection_and_every_letter_say_how_consent_was_given(self, engine: Engine, handshake: str, assurance: str) -> None:
        async with serving(engine, auth="keys", handshake=handshake) as running, Callers(running) as callers:
            alice, bob = await callers.join_all("alice", "bob")
            approved = done(await approve(bob, (await ask(alice, "bob"))["verification_code"]))
            assert approved["assurance"] == assurance
            for sender, taker, to in ((alice, bob, "bob"), (bob, alice, "alice")):
                (connection,) = done(await sender.get("/connections"))["connections"]
                assert connection["assurance"] == assurance
                await send(sender, to)
                (letter,) = await take(taker)
                assert (letter["assurance"], letter["from_verified"]) == (assurance, True)
            assert [event["assurance"] for event in await events(alice) if event["type"] == "connection_approved"] == [assurance]

    async def test_what_the_owner_approved_says_so(self, human: Callers) -> None:
        alice, bob = await human.join_all("alice", "bob")
        asked = await ask(alice, "bob")
        approved = done(await (await human.owner()).post(f"/connections/{asked['connection_id']}/approve"))
        assert (approved["status"], approved["assurance"]) == ("ACTIVE", "owner")
        await send(alice, "bob")
        assert (await take(bob))[0]["assurance"] == "owner"

    async def test_mail_that_needed_no_connection_claims_none(self, human: Callers) -> None:
        alice, bob = await human.join("alice"), await human.join("bob", allow_from=["alice"])
        await send(alice, "bob")
        assert "assurance" not in (await take(bob))[0]


class TestWrongCodes:
    async def test_a_visible_code_aimed_at_another_is_403_and_an_unknown_one_404(self, visible: Callers) -> None:
        alice, _, eve = await visible.join_all("alice", "bob", "eve")
        asked = await ask(alice, "bob")
        refused(await approve(eve, asked["verification_code"]), 403, "not_target")
        await guess(eve, 1, but=asked["verification_code"])

    async def test_with_people_between_both_are_the_same_404(self, human: Callers) -> None:
        alice, _, eve = await human.join_all("alice", "bob", "eve")
        asked = await ask(alice, "bob")
        aimed_elsewhere, unknown = await approve(eve, asked["verification_code"]), await approve(eve, "QQ-000")
        assert (aimed_elsewhere.status_code, aimed_elsewhere.content) == (unknown.status_code, unknown.content)
        refused(unknown, 404, "no_such_code")

    async def test_five_in_a_row_burn_the_callers_requests_and_their_requesters_are_told(self, either: Callers) -> None:
        alice, bob, carol = await either.join_all("alice", "bob", "carol")
        asked = await ask(alice, "bob")
        elsewhere = await ask(alice, "carol")
        await guess(bob, 4, but=asked["verification_code"])
        assert sorted(await statuses(alice)) == ["PENDING", "PENDING"]
        assert await events(alice) == []
        await guess(bob, 1, but=asked["verification_code"])
        (told,) = await events(alice)
        assert (told["type"], told["connection_id"], told["other_agent"]) == ("connection_expired", asked["connection_id"], "bob")
        assert "wrong codes" in told["reason"]
        refused(await approve(bob, asked["verification_code"]), 404, "no_such_code")
        assert await pending(bob) == []
        assert done(await approve(carol, elsewhere["verification_code"]))["status"] == "ACTIVE"

    async def test_who_was_burnt_may_ask_again(self, human: Callers) -> None:
        alice, bob = await human.join_all("alice", "bob")
        await ask(alice, "bob")
        await guess(bob, 5)
        again = await ask(alice, "bob")
        assert done(await approve(bob, again["verification_code"]))["status"] == "ACTIVE"

    async def test_a_right_code_begins_a_new_row(self, human: Callers) -> None:
        alice, bob, carol = await human.join_all("alice", "bob", "carol")
        first, second = await ask(alice, "bob"), await ask(carol, "bob")
        await guess(bob, 4)
        done(await approve(bob, first["verification_code"]))
        await guess(bob, 4)
        assert done(await approve(bob, second["verification_code"]))["status"] == "ACTIVE"

    async def test_beyond_ten_an_hour_even_the_right_code_waits(self, either: Callers, engine: Engine) -> None:
        alice, bob, carol = await either.join_all("alice", "bob", "carol")
        await guess(bob, 10)
        asked = await ask(alice, "bob")
        for code in (asked["verification_code"], "QQ-999"):
            limited = await approve(bob, code)
            refused(limited, 429, "rate_limited")
            assert 0 < int(limited.headers["Retry-After"]) <= 3600
        assert done(await approve(carol, (await ask(alice, "carol"))["verification_code"]))["status"] == "ACTIVE"
        await engine.advance(AN_HOUR)
        asked = await ask(alice, "bob")
        assert done(await approve(bob, asked["verification_code"]))["status"] == "ACTIVE"


class TestHowManyWait:
    async def test_one_requester_has_at_most_20_waiting(self, served_widely: Callers) -> None:
        alice = await served_widely.join("alice")
        for n in range(21):
            await served_widely.register(f"agent-{n}")
        asked = [await ask(alice, f"agent-{n}") for n in range(20)]
        refused(await alice.post("/connections/request", json={"target_agent_name": "agent-20"}), 429, "too_many_requests")
        done(await alice.post(f"/connections/{asked[0]['connection_id']}/reject"))
        await ask(alice, "agent-20")

    async def test_one_target_has_at_most_20_waiting(self, served_widely: Callers, engine: Engine) -> None:
        await served_widely.register("bob")
        others = await served_widely.join_all(*(f"agent-{n}" for n in range(21)))
        for other in others[:20]:
            await ask(other, "bob")
        refused(await others[20].post("/connections/request", json={"target_agent_name": "bob"}), 429, "too_many_requests")
        await engine.advance(AN_HOUR)
        await ask(others[20], "bob")

    @pytest.fixture
    async def served_widely(self, engine: Engine) -> AsyncIterator[Callers]:
        limits = Limits(registrations_per_hour=0)
        async with serving(engine, auth="keys", limits=limits) as running, Callers(running) as found:
            yield found


class TestExpiry:
    async def test_a_request_expires_by_itself_after_an_hour_and_both_sides_are_told(self, either: Callers, engine: Engine) -> None:
        alice, bob = await either.join_all("alice", "bob")
        asked = await ask(alice, "bob")
        await engine.advance(AN_HOUR)
        assert await pending(bob) == []
        refused(await approve(bob, asked["verification_code"]), 404, "no_such_code")
        await either.served.office.upkeep.tick()
        assert await statuses(alice) == await statuses(bob) == ["EXPIRED"]
        for side in (alice, bob):
            told = (await events(side))[-1]
            assert (told["type"], told["connection_id"]) == ("connection_expired", asked["connection_id"])
            assert told["reason"]

    @pytest.mark.parametrize("swept", [True, False])
    async def test_an_expired_request_never_blocks_a_new_one(self, human: Callers, engine: Engine, *, swept: bool) -> None:
        alice, bob = await human.join_all("alice", "bob")
        await ask(alice, "bob")
        await engine.advance(AN_HOUR)
        if swept:
            await human.served.office.upkeep.tick()
        again = await ask(alice, "bob")
        assert done(await approve(bob, again["verification_code"]))["status"] == "ACTIVE"
        assert sorted(await statuses(alice)) == ["ACTIVE", "EXPIRED"]


class TestOneConnection:
    async def test_two_approvals_at_once_make_one(self, either: Callers) -> None:
        alice, bob = await either.join_all("alice", "bob")
        asked = await ask(alice, "bob")
        answers = await asyncio.gather(*(approve(bob, asked["verification_code"]) for _ in range(2)))
        first, second = map(done, answers)
        assert first == second  # as whoever asks again hears the same
        assert await statuses(alice) == ["ACTIVE"]
        assert [event["type"] for event in await events(alice)] == ["connection_approved"]

    async def test_requests_that_cross_and_are_approved_at_once_make_one(self, either: Callers) -> None:
        alice, bob = await either.join_all("alice", "bob")
        forth, back = await ask(alice, "bob"), await ask(bob, "alice")
        answers = await asyncio.gather(approve(bob, forth["verification_code"]), approve(alice, back["verification_code"]))
        assert min(answer.status_code for answer in answers) == 200
        assert all(answer.status_code in (200, 404, 409) for answer in answers)
        assert sorted(await statuses(alice)) == ["ACTIVE", "EXPIRED"]
        (only,) = done(await alice.get("/connections", params={"status": "ACTIVE"}))["connections"]
        done(await alice.post(f"/connections/{only['connection_id']}/end"))
        refused(await alice.post("/messages/send", json={"to": "bob", "subject": "Hi", "content": "Hello"}), 403, "not_admitted")

    async def test_requests_that_cross_at_once_make_one(self, either: Callers) -> None:
        alice, bob = await either.join_all("alice", "bob")
        asked = await asyncio.gather(ask(alice, "bob"), ask(bob, "alice"))
        done(await approve(bob, asked[0]["verification_code"]))
        assert await pending(alice) == await pending(bob) == []
        assert sorted(await statuses(bob)) == ["ACTIVE", "EXPIRED"]


class TestLookAlikes:
    async def test_a_name_in_other_letters_is_taken(self, either: Callers) -> None:
        await either.register("alice")
        async with either.served.client() as anyone:
            for name in ("Alice", "ALICE", "aLiCe"):
                refused(await anyone.post("/agents/register", json={"name": name}), 409, "name_taken")

    async def test_letters_of_other_scripts_name_nobody(self, either: Callers) -> None:
        alice = await either.join("alice")
        cyrillic, fullwidth, dotless = "\u0430lice", "\uff41lice", "al\u0131ce"
        for name in (cyrillic, fullwidth, dotless, "al\u200bice", "alice\u0301", "AL\u0130CE", "\u202ealice"):
            refused(await alice.post("/agents/register", json={"name": name}), 422, "bad_name")
            refused(await alice.post("/connections/request", json={"target_agent_name": name}), 422, "bad_name")

    async def test_a_connection_holds_however_its_names_are_written(self, human: Callers) -> None:
        alice, bob = await human.join_all("alice", "bob")
        await connect(alice, bob, "BOB")
        refused(await bob.post("/connections/request", json={"target_agent_name": "Alice"}), 409, "already_connected")
        assert (await send(alice, "Bob"))["recipients"][0]["recipient"] == "bob"
