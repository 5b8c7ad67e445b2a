"""Words are compared alike on both engines, and as the rules in `core` compare them."""

import random
from datetime import timedelta

import pytest

from postoffice.core.draft import Draft
from postoffice.core.errors import NoSuchMessage
from postoffice.core.query import Query, Term, read_query, words_of
from postoffice.office import PostOffice
from tests.engines import Engine
from tests.mail import office_with, people, taken, write

LETTER_TYPES = ("bug.NOTE", "bug.Note", "bug.note ", "xnote", "note", "a%note", "bug_note")


class TestAlike:
    @pytest.mark.parametrize("type", LETTER_TYPES)
    async def test_what_is_no_note_is_shown_to_its_two_agents_only(self, office: PostOffice, type: str) -> None:
        alice, bob, eve = await people(office, "alice", "bob", "eve")
        accepted = await write(office, alice, "bob", "between us", type=type, ref_id="T-1")
        assert accepted.session_id is not None
        assert (await office.notes("T-1")).items == ()
        assert (await office.about(eve, "T-1")).items == ()
        assert [message.content for message in (await office.about(bob, "T-1")).items] == ["between us"]

    async def test_what_is_no_note_is_purged_as_mail_is(self, engine: Engine) -> None:
        async with office_with(engine, retention=timedelta(days=1)) as office:
            alice, bob = await people(office, "alice", "bob")
            for type in LETTER_TYPES:
                await write(office, alice, "bob", type=type, ref_id="T-1")
            note = await office.note(alice, "T-1", "task", "kept", ["bob"])
            for leased in (await office.receive(bob, 100)).leased:
                await office.ack(bob, leased.message.id, leased.token)
            await engine.advance(timedelta(days=3))
            await office.store.sweeps.purge(timedelta(days=1))
            assert [message.id for message in (await office.about(bob, "T-1")).items] == [note.message_id]

    async def test_a_note_is_one_whatever_stands_before_its_end(self, office: PostOffice) -> None:
        alice, _ = await people(office, "alice", "bob")
        for type in ("a\nb.note", "ünïcödé.note", ".note"):
            await office.send(alice, Draft(to=(), type=type, content=type, ref_id="T-2"))
        assert len((await office.notes("T-2")).items) == 3

    async def test_ids_are_told_apart_by_every_character(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        ids = ("id", "ID", "id ", " id", "i\u0307d", "\u0131d", "id\t", "%", "_")
        for id in ids:
            await write(office, alice, "bob", f"[{id}]", client_id=id)
        assert await taken(office, bob) == [f"[{id}]" for id in ids]
        for id in ids:
            proof = await office.status(alice, id)
            assert proof.message is not None
            assert proof.message.content == f"[{id}]"
        with pytest.raises(NoSuchMessage):
            await office.status(alice, "Id")

    async def test_entities_come_in_one_order_and_are_told_apart(self, office: PostOffice) -> None:
        alice, _ = await people(office, "alice", "bob")
        ids = ["a", "B", "b", "Z", "a b", "a-b", "aé", "a ", "ä", "a/b", "日本", "😀"]
        for id in ids:
            await office.note(alice, id, "task", "x")
        found, cursor = [], None
        while True:
            page = await office.entities(cursor, 5)
            found += [entity.id for entity in page.items]
            if (cursor := page.cursor) is None:
                break
        assert found == sorted(ids)

    async def test_subjects_are_one_without_regard_to_case_and_space_around(self, office: PostOffice) -> None:
        alice, _ = await people(office, "alice", "bob")
        sessions = {
            (await write(office, alice, "bob", subject=subject)).session_id
            for subject in ("Straße", "STRASSE", " strasse ", "\tStraße\n", "straße\u00a0")
        }
        assert len(sessions) == 1
        assert (await write(office, alice, "bob", subject="strase")).session_id not in sessions

    async def test_search_finds_the_same_words(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        await write(office, alice, "bob", "Das ist ÜBER-groß, siehe the_name und v1.2.3")
        found = {
            word: len((await office.search(bob, word)).items)
            for word in ("über", "ÜBER", "uber", "gross", "groß", "name", "the_name", "v1.2.3", "nam", "siehe das")
        }
        assert found == {
            "über": 1,
            "ÜBER": 1,
            "uber": 1,
            "gross": 1,
            "groß": 1,
            "name": 1,
            "the_name": 1,
            "v1.2.3": 1,
            "nam": 0,
            "siehe das": 1,
        }

    async def test_search_finds_what_the_rules_say_in_the_order_they_say(self, office: PostOffice) -> None:
        """The engines agree with each other where both agree with the rules."""
        alice, bob = await people(office, "alice", "bob")
        choice = random.Random(7)
        words = [
            "deploy",
            "Deployment",
            "café",
            "cafe",
            "main.py",
            "1e5",
            "v1.2",
            "10kg",
            "x_y",
            "release",
            "train",
            "0x1F",
            "失败",
            "ЖЧ",
            "don't",
        ]
        said = {
            (await write(office, alice, "bob", text)).message_id: text for text in (" ".join(choice.choices(words, k=4)) for _ in range(60))
        }
        for query in (
            "deploy",
            "deploy*",
            "cafe train",
            '"release train"',
            "main.py v1.2 1e5",
            "0x1f 10kg x",
            "失败 жч",
            "don't release",
            "py main",
        ):
            read = read_query(query)
            scores = {id: _score(read, words_of(text)) for id, text in said.items()}
            best = sorted((id for id in said if scores[id]), key=lambda ref: (scores[ref], ref), reverse=True)
            hits = [item.message.id for item in (await office.search(bob, query, limit=100)).items]
            assert hits == best, query


def _score(query: Query, words: list[str]) -> int:
    """How much of a search some words have."""
    if not all(_holds(term, words) for term in query.required):
        return 0
    return sum(_holds(term, words) for term in query.wanted) + bool(query.required)


def _holds(term: Term, words: list[str]) -> bool:
    length = len(term.words)
    places = [tuple(words[at : at + length]) for at in range(len(words) - length + 1)]
    if term.prefix:
        return any(place[:-1] == term.words[:-1] and place[-1].startswith(term.words[-1]) for place in places)
    return term.words in places
