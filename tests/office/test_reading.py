"""Reading: inbox, history, notes, news and numbers, each page by page."""

from datetime import timedelta

import pytest

from postoffice.core.errors import BadCursor, OwnerOnly
from postoffice.office import PostOffice
from postoffice.store.reads import sessions as session_reads
from tests.engines import Engine
from tests.mail import kill, office_with, pages, people, person, take, write


class TestDirectory:
    async def test_agents_are_listed_by_name_page_by_page(self, office: PostOffice) -> None:
        await people(office, "Dora", "alice", "Bob", "carol")
        found = await pages(office.agents, limit=3)
        assert [[agent.name for agent in page] for page in found] == [["alice", "Bob", "carol"], ["Dora", "owner"]]

    async def test_an_agents_card_keeps_what_is_not_changed(self, office: PostOffice) -> None:
        alice = await person(office, "alice")
        await office.update_card(alice, {"description": "reads", "capabilities": ["a", "b"]})
        await office.update_card(alice, {"description": "writes"})
        card = (await office.agent("ALICE")).card
        assert (card.description, card.capabilities, card.allow_from) == ("writes", ("a", "b"), ("*",))


class TestInbox:
    async def test_sessions_come_newest_first_with_what_was_said_last(self, office: PostOffice) -> None:
        alice, carol, bob = await people(office, "alice", "carol", "bob")
        for n in range(5):
            await write(office, alice, "bob", f"alice {n}")
        await write(office, carol, "bob", "carol 0")
        threads = (await office.inbox(bob, lines=2)).items
        assert [(thread.other, thread.unread) for thread in threads] == [("carol", 1), ("alice", 5)]
        assert [line.message.content for line in threads[1].lines] == ["alice 4", "alice 3"]

    async def test_a_session_comes_first_again_when_something_is_said_in_it(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        for subject in ("one", "two"):
            await write(office, alice, "bob", subject=subject)
        await write(office, bob, "alice", subject="one")
        assert [thread.subject for thread in (await office.inbox(bob)).items] == ["one", "two"]

    async def test_the_inbox_is_paged(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        for n in range(5):
            await write(office, alice, "bob", subject=f"subject {n}")
        found = await pages(office.inbox, bob, limit=2)
        assert [[thread.subject for thread in page] for page in found] == [
            ["subject 4", "subject 3"],
            ["subject 2", "subject 1"],
            ["subject 0"],
        ]

    @pytest.mark.parametrize("many", [0, 2000])
    async def test_unread_only_leaves_out_what_is_read_and_is_paged(
        self, office: PostOffice, monkeypatch: pytest.MonkeyPatch, many: int
    ) -> None:
        monkeypatch.setattr(session_reads, "_MANY_WAITING_LETTERS", many)
        alice, bob = await people(office, "alice", "bob")
        sessions = [(await write(office, alice, "bob", subject=f"subject {n}")).session_id for n in range(5)]
        await office.history(bob, sessions[2] or "")
        found = await pages(office.inbox, bob, limit=2, unread_only=True)
        assert [[thread.subject for thread in page] for page in found] == [["subject 4", "subject 3"], ["subject 1", "subject 0"]]

    async def test_the_senders_inbox_has_the_session_with_nothing_unread(self, office: PostOffice) -> None:
        alice, _ = await people(office, "alice", "bob")
        await write(office, alice, "bob")
        (thread,) = (await office.inbox(alice)).items
        assert (thread.other, thread.unread) == ("bob", 0)
        assert (await office.inbox(alice, unread_only=True)).items == ()

    async def test_the_inbox_shows_no_lines_when_none_are_asked_for(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        await write(office, alice, "bob")
        assert (await office.inbox(bob, lines=0)).items[0].lines == ()

    async def test_the_owner_looks_into_any_inbox_and_nobody_else_does(self, office: PostOffice) -> None:
        alice, _ = await people(office, "alice", "bob")
        await write(office, alice, "bob")
        assert len((await office.inbox(office.owner(), of="bob")).items) == 1
        with pytest.raises(OwnerOnly):
            await office.inbox(alice, of="bob")


class TestHistory:
    async def test_history_is_newest_first_and_pages_back_with_before(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        for n in range(7):
            sent = await write(office, (alice, bob)[n % 2], ("bob", "alice")[n % 2], f"{n}")
        assert sent.session_id is not None
        said: list[str | None] = []
        before = None
        while lines := (await office.history(bob, sent.session_id, before=before, limit=3)).lines:
            said += [line.message.content for line in lines]
            before = lines[-1].message.id
        assert said == [f"{n}" for n in reversed(range(7))]

    async def test_a_page_before_a_message_of_another_session_is_refused(self, office: PostOffice) -> None:
        alice, _ = await people(office, "alice", "bob")
        here = await write(office, alice, "bob", subject="here")
        there = await write(office, alice, "bob", subject="there")
        for peek in (True, False):
            with pytest.raises(BadCursor):
                await office.history(alice, here.session_id or "", before=there.message_id, peek=peek)

    async def test_a_line_says_who_wrote_to_whom(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "Bob")
        sent = await write(office, alice, "bob")
        (line,) = (await office.history(bob, sent.session_id or "")).lines
        assert (line.message.sender, line.message.to, line.to.lower()) == ("alice", "Bob", "bob")


class TestWaitingMail:
    async def test_what_waits_is_paged_in_the_order_it_is_given_out(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        for n in range(6):
            await write(office, alice, "bob", f"{n}", priority=5 - n % 3)
        found = await pages(office.waiting, bob, limit=4)
        assert [[message.content for message in page] for page in found] == [["2", "5", "1", "4"], ["0", "3"]]

    async def test_what_is_leased_or_settled_does_not_wait(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        for n in range(3):
            await write(office, alice, "bob", f"{n}")
        await office.pop(bob)
        await take(office, bob)
        assert [message.content for message in (await office.waiting(bob)).items] == ["2"]


class TestNotes:
    async def test_notes_are_kept_with_their_entity_newest_first_and_paged(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        for n in range(5):
            await office.note((alice, bob)[n % 2], "P-1", "phase", f"note {n}")
        await office.note(alice, "P-2", "phase", "elsewhere")
        found = await pages(office.notes, "P-1", limit=3)
        assert [[note.content for note in page] for page in found] == [["note 4", "note 3", "note 2"], ["note 1", "note 0"]]
        assert {(note.type, note.ref_type) for page in found for note in page} == {("phase.note", "phase")}

    async def test_entities_are_listed_with_how_many_notes_they_have(self, office: PostOffice) -> None:
        alice = await person(office, "alice")
        for id in ("T-2", "T-1", "T-2", "T-3"):
            await office.note(alice, id, "task", "seen")
        found = await pages(office.entities, limit=2)
        assert [[(entity.id, entity.type, entity.notes) for entity in page] for page in found] == [
            [("T-1", "task", 1), ("T-2", "task", 2)],
            [("T-3", "task", 1)],
        ]

    async def test_a_note_reaches_those_it_should_and_is_kept_once(self, office: PostOffice) -> None:
        alice, bob, carol = await people(office, "alice", "bob", "carol")
        await office.note(alice, "T-1", "task", "look", ["bob", "carol"])
        assert (await take(office, bob)).message.content == (await take(office, carol)).message.content == "look"
        assert len((await office.notes("T-1")).items) == 1

    async def test_a_note_repeated_with_its_id_is_kept_once(self, office: PostOffice) -> None:
        alice = await person(office, "alice")
        for _ in range(2):
            await office.note(alice, "T-1", "task", "seen", client_id="n-1")
        assert [entity.notes for entity in (await office.entities()).items] == [1]


class TestNews:
    async def test_news_comes_in_order_after_a_number(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        ids = [(await write(office, alice, "bob")).message_id for _ in range(5)]
        first = await office.news(bob, limit=3)
        rest = await office.news(bob, after=first[-1].number)
        assert [event.ref for event in (*first, *rest)] == ids
        assert await office.news(bob, after=rest[-1].number) == []

    async def test_a_number_the_log_has_not_come_to_is_refused(self, office: PostOffice) -> None:
        alice, bob, eve = await people(office, "alice", "bob", "eve")
        await write(office, alice, "bob")
        (last,) = await office.news(bob)
        for caller, after in ((bob, last.number + 1), (eve, 1)):
            with pytest.raises(BadCursor):
                await office.news(caller, after=after)

    async def test_an_agent_hears_its_own_news_only(self, office: PostOffice) -> None:
        alice, _, eve = await people(office, "alice", "bob", "eve")
        await write(office, alice, "bob")
        assert await office.news(eve) == []

    async def test_the_owner_hears_everyones_news_after_a_cursor(self, office: PostOffice) -> None:
        alice, _, _ = await people(office, "alice", "bob", "carol")
        ids = [(await write(office, alice, to)).message_id for to in ("bob", "carol", "bob")]
        first = await office.all_news(office.owner(), limit=2)
        rest = await office.all_news(office.owner(), after=first[-1].cursor)
        assert [(event.agent, event.ref) for event in (*first, *rest)] == list(zip(("bob", "carol", "bob"), ids, strict=True))

    async def test_a_cursor_that_everyones_log_has_not_come_to_is_refused(self, office: PostOffice) -> None:
        alice, _ = await people(office, "alice", "bob")
        await write(office, alice, "bob")
        (last,) = await office.all_news(office.owner())
        *before, number = last.cursor.split(".")
        assert await office.all_news(office.owner(), after=last.cursor) == []
        with pytest.raises(BadCursor):
            await office.all_news(office.owner(), after=".".join([*before, str(int(number) + 1)]))

    async def test_the_last_cursor_is_where_new_news_begins(self, office: PostOffice) -> None:
        alice, _ = await people(office, "alice", "bob")
        await write(office, alice, "bob")
        last = await office.store.log.last()
        new = await write(office, alice, "bob")
        assert [event.ref for event in await office.all_news(office.owner(), after=last)] == [new.message_id]

    async def test_whoever_has_read_all_of_a_log_that_is_forgotten_is_told_what_comes(self, office: PostOffice) -> None:
        alice, _ = await people(office, "alice", "bob")
        await write(office, alice, "bob")
        last = await office.store.log.last()
        await office.store.sweeps.forget_events(timedelta(seconds=-1))
        assert await office.all_news(office.owner(), after=last) == []
        new = await write(office, alice, "bob")
        assert [event.ref for event in await office.all_news(office.owner(), after=last)] == [new.message_id]

    async def test_nobody_else_hears_everyones_news(self, office: PostOffice) -> None:
        alice = await person(office, "alice")
        with pytest.raises(OwnerOnly):
            await office.all_news(alice)


class TestNumbers:
    async def test_counts_say_how_a_mailbox_stands(self, engine: Engine) -> None:
        async with office_with(engine, max_attempts=1) as office:
            alice, bob = await people(office, "alice", "bob")
            await write(office, alice, "bob")
            await kill(office, bob)
            await write(office, alice, "bob", hold=True)
            await write(office, alice, "bob")
            await take(office, bob)
            await write(office, alice, "bob")
            counts = await office.counts(bob)
            assert (counts.held, counts.pending, counts.leased, counts.dead) == (0, 1, 1, 1)
            assert (await office.counts(office.owner(), of="bob")).held == 1
            agent = await office.agent("bob")
            assert (agent.unread, agent.leased, agent.dead) == (1, 1, 1)

    async def test_the_oldest_waiting_message_is_the_oldest_whatever_its_priority(self, office: PostOffice, engine: Engine) -> None:
        alice, bob = await people(office, "alice", "bob")
        assert (await office.counts(bob)).oldest_waiting is None
        await write(office, alice, "bob", "old")
        await engine.advance(timedelta(hours=1))
        await write(office, alice, "bob", "new and urgent", priority=1)
        oldest = (await office.counts(bob)).oldest_waiting
        assert oldest is not None
        assert oldest >= timedelta(hours=1)

    async def test_totals_count_the_whole_office(self, office: PostOffice) -> None:
        alice, bob, _ = await people(office, "alice", "bob", "carol")
        await write(office, alice, "ALL")
        await take(office, bob)
        totals = await office.totals()
        assert (totals.agents, totals.pending, totals.leased, totals.held, totals.dead) == (3, 1, 1, 0, 0)

    async def test_the_owner_counts_any_mailbox_and_nobody_else_does(self, office: PostOffice) -> None:
        alice, _ = await people(office, "alice", "bob")
        await write(office, alice, "bob")
        assert (await office.counts(office.owner(), of="bob")).pending == 1
        with pytest.raises(OwnerOnly):
            await office.counts(alice, of="bob")


class TestDeadLetters:
    async def test_dead_letters_are_paged_newest_first(self, engine: Engine) -> None:
        async with office_with(engine, max_attempts=1) as office:
            alice, bob = await people(office, "alice", "bob")
            for n in range(5):
                await write(office, alice, "bob", f"{n}")
                await kill(office, bob)
            for options in ({"caller": bob}, {"caller": office.owner(), "of": "bob"}, {"caller": office.owner(), "everyone": True}):
                found = await pages(office.dead_letters, limit=2, **options)
                assert [[letter.message.content for letter in page] for page in found] == [["4", "3"], ["2", "1"], ["0"]]

    async def test_a_broadcast_that_died_with_many_is_listed_for_each(self, engine: Engine) -> None:
        async with office_with(engine, max_attempts=1) as office:
            alice, *readers = await people(office, "alice", "bob", "carol", "dave")
            await write(office, alice, "ALL")
            for reader in readers:
                await kill(office, reader)
            found = await pages(office.dead_letters, office.owner(), limit=2, everyone=True)
            assert sorted(letter.standing.recipient for page in found for letter in page) == ["bob", "carol", "dave"]

    async def test_nobody_else_reads_dead_letters(self, office: PostOffice) -> None:
        alice, _ = await people(office, "alice", "bob")
        with pytest.raises(OwnerOnly):
            await office.dead_letters(alice, of="bob")
        with pytest.raises(OwnerOnly):
            await office.dead_letters(alice, everyone=True)
