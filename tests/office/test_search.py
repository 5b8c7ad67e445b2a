"""Searching what was said."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from postoffice.acts.mail.send import Send
from postoffice.acts.upkeep.indexing import IndexSearch
from postoffice.core.agent import Caller
from postoffice.core.errors import MailError, OwnerOnly
from postoffice.core.message import Draft
from postoffice.office import PostOffice
from tests.engines import Engine
from tests.mail import pages, people, write


def letter(**fields: Any) -> Draft:
    return Draft(to="bob", **fields)


async def outcome(office: PostOffice, caller: Caller, query: str) -> int | str:
    try:
        return len((await office.search(caller, query)).items)
    except MailError as error:
        return error.code


class TestSearch:
    async def test_a_message_is_found_by_all_its_words_in_any_case(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        sent = await write(office, alice, "bob", "The deploy of Tuesday failed", subject="Release")
        await write(office, alice, "bob", "The deploy of Monday went well")
        for query in ("deploy tuesday", "FAILED deploy", "release"):
            assert [found.message.id for found in (await office.search(bob, query)).items] == [sent.message_id]
        assert (await office.search(bob, "deploy wednesday")).items == ()

    async def test_an_excerpt_shows_the_words_around_the_hit(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        await write(office, alice, "bob", "before " * 200 + "needle " + "after " * 200)
        (found,) = (await office.search(bob, "needle")).items
        assert "needle" in found.excerpt
        assert len(found.excerpt) < 400

    @pytest.mark.parametrize("query", ["main.py", "src/app/main.py", "example.com", "ops@example.com", "v1.2.3", "build-42", "snake_case"])
    async def test_paths_addresses_and_versions_are_found_as_they_are_typed(self, office: PostOffice, query: str) -> None:
        alice, bob = await people(office, "alice", "bob")
        sent = await write(
            office, alice, "bob", "see src/app/main.py at mail.example.com or ops@example.com, v1.2.3 of build-42, snake_case"
        )
        assert [found.message.id for found in (await office.search(bob, query)).items] == [sent.message_id]

    async def test_parts_and_payload_are_searched_too(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        await office.send(alice, letter(parts=({"type": "text", "text": "walnut"},)))
        await office.send(alice, letter(payload={"tree": "chestnut"}))
        for query in ("walnut", "chestnut"):
            assert len((await office.search(bob, query)).items) == 1

    async def test_two_who_search_at_once_both_find_what_was_said_last(self, office: PostOffice) -> None:
        alice, _ = await people(office, "alice", "bob")
        for number in range(6):
            await office.send_many(alice, [Draft(to="bob", content=f"word{number}") for _ in range(100)])
        found = await asyncio.gather(office.search(alice, "word5"), office.store.do(IndexSearch()), office.search(alice, "word5"))
        assert all(isinstance(page, int) or page.items for page in found)

    async def test_a_message_of_more_words_than_an_index_takes_keeps_nobody_from_searching(self, office: PostOffice) -> None:
        alice, _ = await people(office, "alice", "bob")
        await write(office, alice, "bob", " ".join(f"{number:x}" for number in range(100_000, 240_000)))
        await write(office, alice, "bob", "needle")
        assert len((await office.search(alice, "needle")).items) == 1
        assert len((await office.search(alice, "186a0")).items) == 1  # its first word

    async def test_only_ones_own_mail_is_found(self, office: PostOffice) -> None:
        alice, bob, eve = await people(office, "alice", "bob", "eve")
        await write(office, alice, "bob", "secret")
        assert len((await office.search(alice, "secret")).items) == 1
        assert len((await office.search(bob, "secret")).items) == 1
        assert (await office.search(eve, "secret")).items == ()
        assert len((await office.search(office.owner(), "secret", everyone=True)).items) == 1
        with pytest.raises(OwnerOnly):
            await office.search(eve, "secret", everyone=True)

    async def test_each_filter_narrows_the_search(self, office: PostOffice) -> None:
        alice, bob, carol = await people(office, "alice", "bob", "carol")
        by_alice = await write(office, alice, "bob", "word", subject="one")
        by_bob = await write(office, bob, "Carol", "word", type="question")
        filters: list[tuple[dict[str, Any], str]] = [
            ({"sender": "ALICE"}, by_alice.message_id),
            ({"recipient": "carol"}, by_bob.message_id),
            ({"session_id": by_alice.session_id}, by_alice.message_id),
            ({"type": "question"}, by_bob.message_id),
        ]
        for narrowed, id in filters:
            assert [found.message.id for found in (await office.search(bob, "word", **narrowed)).items] == [id]
        assert (await office.search(bob, "word", sender="carol")).items == ()
        assert len((await office.search(carol, "word")).items) == 1

    async def test_since_and_until_bound_the_time(self, office: PostOffice, engine: Engine) -> None:
        alice, bob = await people(office, "alice", "bob")
        old = await write(office, alice, "bob", "word")
        await engine.advance(timedelta(days=1))
        new = await write(office, alice, "bob", "word")
        border = new.created_at
        assert [found.message.id for found in (await office.search(bob, "word", since=border)).items] == [new.message_id]
        assert [found.message.id for found in (await office.search(bob, "word", until=border)).items] == [old.message_id]

    async def test_what_is_found_is_paged_newest_first(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        for n in range(5):
            await write(office, alice, "bob", f"word {n}")
        found = await pages(office.search, bob, "word", limit=2)
        assert [[item.message.content for item in page] for page in found] == [["word 4", "word 3"], ["word 2", "word 1"], ["word 0"]]

    async def test_what_was_said_long_ago_is_found_behind_much_that_was_said_since(self, office: PostOffice) -> None:
        _, bob = await people(office, "alice", "bob")
        said = [Draft(to="bob", content=f"word {'needle' if n % 600 == 0 else 'hay'} {n}") for n in range(1201)]
        await office.store.do_each([Send("alice", draft, verified=False, strangers=True) for draft in said])
        newest_first = [draft.content for draft in reversed(said)]
        for query in ("word", "needle", "word needle"):
            found = [item.message.content for page in await pages(office.search, bob, query, limit=200) for item in page]
            assert found == [text for text in newest_first if query.split()[-1] in str(text)]

    @pytest.mark.parametrize("query", ['"', "word OR", "word NOT", "(word", "word*", "word:", "'; DROP TABLE messages; --word", "& word |"])
    async def test_nothing_a_person_types_is_an_operator(self, office: PostOffice, query: str) -> None:
        alice, bob = await people(office, "alice", "bob")
        await write(office, alice, "bob", "word or not drop table messages")
        assert await outcome(office, bob, query) == (1 if "word" in query else "bad_query")

    async def test_a_broadcast_is_found_once(self, office: PostOffice) -> None:
        alice, bob, _ = await people(office, "alice", "bob", "carol")
        await write(office, alice, "ALL", "word")
        assert len((await office.search(alice, "word")).items) == len((await office.search(bob, "word")).items) == 1
