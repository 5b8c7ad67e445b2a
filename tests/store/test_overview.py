"""What people ask of a store: the whole office at a glance, the same on both engines."""

import asyncio
from datetime import timedelta
from unittest.mock import AsyncMock

import pytest

from postoffice.core.agent import Presence
from postoffice.core.errors import BadLink, NoLogin, NotYou, OwnerOnly
from postoffice.core.event import Kind
from postoffice.core.task import TaskState
from postoffice.core.traffic import Span
from postoffice.office import OfficeRules, PostOffice
from postoffice.wake.local import LocalWake
from tests.engines import Engine
from tests.mail import ask, member, pages, people, take, write


class TestTheRoster:
    async def test_each_agent_with_its_mailbox_in_numbers(self, office: PostOffice, engine: Engine) -> None:
        alice, bob = await people(office, "alice", "bob")
        await write(office, alice, "bob", "first", priority=5)
        await engine.advance(timedelta(minutes=10))
        await write(office, alice, "bob", "urgent", priority=1)
        task = await ask(office, alice, "bob")
        await take(office, bob)
        await office.update_task(bob, task.message_id, TaskState.WORKING)
        seats = {seat.name: seat for seat in (await office.roster(office.owner())).items}
        assert list(seats) == ["alice", "bob"]
        seat = seats["bob"]
        # Moving a task settles its letter.
        assert (seat.unread, seat.leased, seat.dead, seat.tasks, seat.presence) == (1, 1, 0, 1, Presence.BUSY)
        assert seat.oldest_waiting is not None
        assert timedelta(minutes=10) <= seat.oldest_waiting < timedelta(minutes=11)
        # A move of the task tells alice.
        assert (seats["alice"].unread, seats["alice"].presence) == (1, Presence.IDLE)

    async def test_it_comes_in_pages(self, office: PostOffice) -> None:
        await people(office, *(f"agent-{number}" for number in range(5)))
        found = await pages(office.roster, office.owner(), limit=2)
        assert [[seat.name for seat in page] for page in found] == [["agent-0", "agent-1"], ["agent-2", "agent-3"], ["agent-4"]]

    async def test_only_the_owner_sees_it(self, office: PostOffice) -> None:
        (alice,) = await people(office, "alice")
        for verb in (office.roster, office.glances, office.who_waits):
            with pytest.raises(OwnerOnly):
                await verb(alice)

    async def test_the_longest_waiting_comes_first(self, office: PostOffice, engine: Engine) -> None:
        alice, _, _ = await people(office, "alice", "bob", "carol")
        await write(office, alice, "carol")
        await engine.advance(timedelta(hours=1))
        await write(office, alice, "bob")
        longest = await office.store.overview.longest_waiting(5)
        assert [(item.name, item.pending) for item in longest] == [("carol", 1), ("bob", 1)]
        assert timedelta(hours=1) <= longest[0].waiting < timedelta(hours=1, minutes=1)


class TestEveryonesLetters:
    async def test_newest_first_with_where_they_stand(self, office: PostOffice) -> None:
        alice, bob, _ = await people(office, "alice", "bob", "carol")
        first = await write(office, alice, "bob", "one")
        await write(office, alice, "ALL", "to all")
        await take(office, bob)
        every = (await office.glances(office.owner())).items
        assert [glance.message.content for glance in every] == ["to all", "one"]
        assert [(g.recipients, g.waiting, g.leased, g.dead) for g in every] == [(2, 2, 0, 0), (1, 0, 1, 0)]
        assert [glance.session_id for glance in every] == [None, first.session_id]
        found = await pages(office.glances, office.owner(), limit=1)
        assert [[glance.message.content for glance in page] for page in found] == [["to all"], ["one"]]

    async def test_a_note_that_went_to_nobody_is_there_too(self, office: PostOffice) -> None:
        (alice,) = await people(office, "alice")
        await office.note(alice, "project-1", "project", "begun")
        (note,) = (await office.glances(office.owner())).items
        assert (note.recipients, note.session_id) == (0, None)


class TestTheBoard:
    async def test_open_tasks_by_state_the_longest_open_first(self, office: PostOffice) -> None:
        alice, bob, carol = await people(office, "alice", "bob", "carol")
        first = await ask(office, alice, "bob")
        second = await ask(office, alice, "bob")
        third = await ask(office, carol, "carol")
        await office.update_task(bob, second.message_id, TaskState.WORKING)
        owner = office.owner()

        async def ids(caller: object, state: TaskState) -> list[str]:
            return [task.message_id for task in (await office.open_tasks(caller, state)).items]  # type: ignore[arg-type]

        assert await ids(owner, TaskState.PENDING) == [first.message_id, third.message_id]
        assert await ids(owner, TaskState.WORKING) == [second.message_id]
        assert await ids(alice, TaskState.PENDING) == [first.message_id]
        assert await ids(carol, TaskState.PENDING) == [third.message_id]
        assert len(await pages(office.open_tasks, owner, TaskState.PENDING, limit=1)) == 2

    async def test_finished_tasks_newest_first(self, office: PostOffice) -> None:
        alice, bob, _ = await people(office, "alice", "bob", "carol")
        done = await ask(office, alice, "bob")
        refused = await ask(office, alice, "bob")
        await ask(office, alice, "bob")
        await office.update_task(bob, done.message_id, TaskState.COMPLETED)
        await office.update_task(bob, refused.message_id, TaskState.REJECTED)
        for caller in (office.owner(), alice, bob):
            assert [task.message_id for task in await office.finished_tasks(caller)] == [refused.message_id, done.message_id]
            assert [task.message_id for task in await office.finished_tasks(caller, 1)] == [refused.message_id], (
                "open ones count for nothing"
            )
        (eve,) = await people(office, "eve")
        assert await office.finished_tasks(eve) == ()


class TestTheTraffic:
    async def test_letters_waits_and_latencies_in_their_slot(self, office: PostOffice, engine: Engine) -> None:
        alice, bob = await people(office, "alice", "bob")
        for _ in range(3):
            await write(office, alice, "bob")
        await engine.advance(timedelta(seconds=2))
        leased = (await office.receive(bob, 2)).leased
        await engine.advance(timedelta(seconds=3))
        await office.ack(bob, leased[0].message.id, leased[0].token)
        traffic = await office.traffic(office.owner(), Span.HOUR)
        assert (len(traffic.slots), traffic.whole) == (60, True)
        slots = [slot for slot in traffic.slots if slot.letters]
        assert sum(slot.letters for slot in slots) == 3
        waits = [slot.wait_p50 for slot in slots if slot.wait_p50 is not None]
        assert [round(wait.total_seconds()) for wait in waits] == [2]
        latencies = [slot.latency_p95 for slot in slots if slot.latency_p95 is not None]
        assert [round(latency.total_seconds()) for latency in latencies] == [5]
        assert [(e.sender, e.recipient, e.letters) for e in traffic.exchanges] == [("alice", "bob", 3)]

    @pytest.mark.parametrize("span", list(Span))
    async def test_an_agent_sees_its_own_only(self, office: PostOffice, span: Span) -> None:
        alice, bob, carol = await people(office, "alice", "bob", "carol")
        await write(office, alice, "bob")
        await write(office, bob, "carol")
        assert [e.recipient for e in (await office.traffic(carol, span)).exchanges] == ["carol"]
        assert sum(slot.letters for slot in (await office.traffic(carol, span)).slots) == 1
        assert len((await office.traffic(office.owner(), span)).exchanges) == 2
        assert len((await office.traffic(alice, span)).exchanges) == 1


class TestTheTimeline:
    async def test_a_line_says_how_it_came_to_stand_where_it_stands(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        sent = await write(office, alice, "bob")
        leased = await take(office, bob)
        await office.nack(bob, leased.message.id, leased.token, reason="busy")
        assert sent.session_id is not None
        thread = await office.history(office.owner(), sent.session_id)
        standing = thread.lines[0].standing
        assert standing is not None
        assert (standing.attempts, standing.reason, standing.leased_at is not None, standing.settled_at) == (1, "busy", True, None)
        assert {thread.reader, thread.other} == {"alice", "bob"}
        assert (await office.status(alice, sent.message_id)).standings[0].leased_at == standing.leased_at


class TestWatching:
    async def test_the_owner_hears_of_everyone_and_goes_on_from_a_place(self, office: PostOffice) -> None:
        alice, _ = await people(office, "alice", "bob")
        owner = office.owner()
        place = await office.place(owner)
        sent = await write(office, alice, "bob")
        pulse = await anext(office.watch(owner, place))
        assert [(event.kind, event.ref) for event in pulse.events] == [(Kind.NEW_MESSAGE, sent.message_id)]
        assert (await anext(office.watch(owner, pulse.cursor))).quiet

    async def test_an_agent_hears_of_itself(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        place = await office.place(alice)
        await write(office, bob, "bob")
        assert (await anext(office.watch(alice, place))).quiet
        await write(office, bob, "alice")
        assert len((await anext(office.watch(alice, place))).events) == 1

    async def test_mail_that_lies_there_is_no_news(self, engine: Engine) -> None:
        async with PostOffice(engine.store(), LocalWake(), OfficeRules(tick=0.05)) as office:
            alice, bob = await people(office, "alice", "bob")
            watching = office.watch(alice, None)
            await anext(watching)
            await write(office, bob, "alice")
            while not (await anext(watching)).events:
                pass
            at_rest = 0  # the last hint may come after a quiet look
            async with asyncio.timeout(20):
                while at_rest < 10:
                    at_rest = at_rest + 1 if (await anext(watching)).quiet else 0
            office.drain()

    async def test_whoever_is_far_behind_or_elsewhere_is_told_so(self, office: PostOffice) -> None:
        alice, _ = await people(office, "alice", "bob")
        owner = office.owner()
        start = await office.place(owner)
        for number in range(201):
            await write(office, alice, "bob", str(number))
        far = await anext(office.watch(owner, start))
        assert (far.missed, far.events, far.cursor) == (True, (), await office.place(owner))
        for caller, cursor in ((owner, "x"), (owner, "9" * 18 + ".1"), (owner, "9" * 18), (alice, "-1"), (alice, "9" * 17), (alice, "1.2")):
            pulse = await anext(office.watch(caller, cursor))
            assert (pulse.missed, pulse.cursor) == (True, await office.place(caller))

    async def test_whoever_watches_while_an_older_log_takes_the_place_of_this_one_is_told_so(
        self, office: PostOffice, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        alice, bob = await people(office, "alice", "bob")
        watching = office.watch(alice, await office.place(alice))
        await write(office, bob, "alice")
        pulse = await anext(watching)
        assert pulse.events
        monkeypatch.setattr(office.store.mail, "look", AsyncMock(return_value={"alice": (0, int(pulse.cursor) - 1)}))
        pulse = await anext(watching)
        assert (pulse.missed, pulse.cursor) == (True, await office.place(alice))

    async def test_a_watcher_is_woken_by_mail_and_by_what_the_log_does_not_tell(self, engine: Engine) -> None:
        async with PostOffice(engine.store(), LocalWake(), OfficeRules(tick=0.05)) as office:
            alice, bob = await people(office, "alice", "bob")
            watching = office.watch(office.owner(), None)
            assert (await anext(watching)).quiet
            await write(office, alice, "bob")
            while not (pulse := await anext(watching)).events:
                pass
            assert pulse.events[0].kind is Kind.NEW_MESSAGE
            await take(office, bob)
            while not (pulse := await anext(watching)).moved:
                pass
            # What changes neither the log nor any count is noticed by its hint, although it comes while another change is being told.
            await office.update_card(alice, {"description": "changed"})
            async with asyncio.timeout(30):
                while not (pulse := await anext(watching)).moved:
                    pass
            office.drain()
            assert [pulse async for pulse in watching] == []


class TestVisits:
    async def test_a_link_opens_the_page_once(self, office: PostOffice) -> None:
        alice = await member(office, "alice")
        code = await office.make_link(alice)
        proof, _ = await office.enter(code)
        visitor = await office.visitor(proof)
        assert (visitor.name, visitor.owner, visitor.verified) == ("alice", False, True)
        with pytest.raises(BadLink):
            await office.enter(code)
        for wrong in ("", "nonsense", proof):
            with pytest.raises(BadLink):
                await office.enter(wrong)
        for unproven in (None, "", "nonsense", code):
            with pytest.raises(NoLogin):
                await office.visitor(unproven)

    async def test_a_link_is_good_for_ten_minutes_and_a_visit_for_thirty_days(self, office: PostOffice, engine: Engine) -> None:
        owner = office.owner()
        late, soon = await office.make_link(owner), await office.make_link(owner)
        await engine.advance(timedelta(minutes=9))
        proof, lasts = await office.enter(soon)
        await engine.advance(timedelta(minutes=2))
        with pytest.raises(BadLink):
            await office.enter(late)
        assert (await office.visitor(proof)).owner
        await engine.advance(lasts)
        await office.store.sweeps.forget()
        with pytest.raises(NoLogin):
            await office.visitor(proof)

    async def test_a_visit_ends_when_asked_and_when_keys_are_revoked(self, office: PostOffice) -> None:
        alice, bob = await member(office, "alice"), await member(office, "bob")
        first, _ = await office.enter(await office.make_link(alice))
        second, _ = await office.enter(await office.make_link(alice))
        others, _ = await office.enter(await office.make_link(bob))
        await office.end_login(first)
        with pytest.raises(NoLogin):
            await office.visitor(first)
        assert (await office.visitor(second)).name == "alice"
        await office.revoke_keys(alice)
        with pytest.raises(NoLogin):
            await office.visitor(second)
        assert (await office.visitor(others)).name == "bob"

    async def test_a_visit_ends_with_the_key_that_is_rotated(self, office: PostOffice, engine: Engine) -> None:
        alice = await member(office, "alice")
        proof, _ = await office.enter(await office.make_link(alice))
        await office.rotate_key(alice, overlap=timedelta(hours=1))
        await office.rotate_key(alice, overlap=timedelta(hours=9))
        await engine.advance(timedelta(minutes=59))
        assert (await office.visitor(proof)).name == "alice"
        await engine.advance(timedelta(minutes=2))
        with pytest.raises(NoLogin):
            await office.visitor(proof)

    async def test_a_visit_that_begins_while_an_old_key_still_works_ends_with_that_key(self, office: PostOffice, engine: Engine) -> None:
        alice = await member(office, "alice")
        before = await office.make_link(alice)
        await office.rotate_key(alice, overlap=timedelta(hours=1))
        proofs = [(await office.enter(code))[0] for code in (before, await office.make_link(alice))]
        await engine.advance(timedelta(minutes=55))
        unused = await office.make_link(alice)
        assert [(await office.visitor(proof)).name for proof in proofs] == ["alice", "alice"]
        await engine.advance(timedelta(minutes=6))
        for proof in proofs:
            with pytest.raises(NoLogin):
                await office.visitor(proof)
        with pytest.raises(BadLink):
            await office.enter(unused)

    @pytest.mark.parametrize("revoked_first", [True, False])
    async def test_a_visit_ends_at_once_where_keys_are_revoked_and_rotated_together(
        self, office: PostOffice, *, revoked_first: bool
    ) -> None:
        proof, _ = await office.enter(await office.make_link(await member(office, "alice")))
        acts = [office.revoke_keys(office.owner(), of="alice"), office.rotate_key(office.owner(), of="alice", overlap=timedelta(hours=1))]
        await asyncio.gather(*(acts if revoked_first else acts[::-1]))
        with pytest.raises(NoLogin):
            await office.visitor(proof)

    async def test_a_name_that_no_key_proves_gets_no_link(self, office: PostOffice) -> None:
        (alice,) = await people(office, "alice")
        with pytest.raises(OwnerOnly):
            await office.make_link(alice)

    async def test_the_owner_lends_its_voice_and_nobody_else_does(self, office: PostOffice) -> None:
        alice, _ = await people(office, "alice", "bob")
        assert (await office.speak_as(office.owner(), "bob")).name == "bob"
        assert await office.speak_as(alice, "Alice") == alice
        with pytest.raises(NotYou):
            await office.speak_as(alice, "bob")
