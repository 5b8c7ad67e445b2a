"""Searching what was said."""

import asyncio
import random
from datetime import timedelta
from typing import Any

import pytest

from postoffice.acts.mail.send import Send
from postoffice.acts.upkeep.indexing import IndexSearch
from postoffice.core.agent import Caller
from postoffice.core.draft import Draft
from postoffice.core.errors import MailError, OwnerOnly
from postoffice.office import PostOffice
from postoffice.store.reads import search
from tests.engines import Engine
from tests.mail import pages, people, write


def letter(**fields: Any) -> Draft:
    return Draft(to="bob", **fields)


async def outcome(office: PostOffice, caller: Caller, query: str) -> int | str:
    try:
        return len((await office.search(caller, query)).items)
    except MailError as error:
        return error.code


async def found(office: PostOffice, caller: Caller, query: str, **filters: Any) -> list[str]:
    return [hit.message.id for hit in (await office.search(caller, query, **filters)).items]


class TestSearch:
    async def test_the_message_with_most_of_the_words_comes_first_in_any_case(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        first = (await write(office, alice, "bob", "The deploy of Tuesday failed", subject="Release")).message_id
        second = (await write(office, alice, "bob", "The deploy of Monday went well")).message_id
        await write(office, alice, "bob", "Lunch?")
        asked = {
            "deploy tuesday": [first, second],
            "FAILED deploy": [first, second],
            "release": [first],
            "What did Alice say about the deploy of Tuesday?": [first, second],
            "deploy wednesday": [second, first],
            "wednesday": [],
        }
        assert {query: await found(office, bob, query) for query in asked} == asked

    async def test_a_phrase_must_be_there_and_other_words_rank_what_has_it(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        old = (await write(office, alice, "bob", "the release train is late, says Bob")).message_id
        new = (await write(office, alice, "bob", "release train!")).message_id
        await write(office, alice, "bob", "train the release, late")
        asked = {
            '"release train"': [new, old],
            '"release train" late': [old],
            '"Release-Train" late says': [old],
            '"release train" "says bob"': [old],
            '"release train" nothing': [],
            '"train release"': [],
            '"release train': [new, old],
        }
        assert {query: await found(office, bob, query) for query in asked} == asked

    async def test_a_star_finds_words_by_their_beginning(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        old = (await write(office, alice, "bob", "deployment of main.python")).message_id
        new = (await write(office, alice, "bob", "a DEPLOYED thing")).message_id
        asked = {"deploy*": [new, old], "deploym*": [old], "main.py*": [old], "deploy": [], "deploy* main*": [old, new], "*": []}
        assert {query: await found(office, bob, query) for query in asked if query != "*"} == {
            q: ids for q, ids in asked.items() if q != "*"
        }
        assert await outcome(office, bob, "*") == "bad_query"

    async def test_accents_widths_and_scripts_without_spaces_are_found_alike(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        cafe = (await write(office, alice, "bob", "Das Café an der Straße, наш йогурт")).message_id
        wide = (await write(office, alice, "bob", "部署失败了 请看日志 \uff21\uff22\uff23")).message_id
        asked = {
            "cafe": [cafe],
            "CAFE\u0301": [cafe],
            "strasse": [cafe],
            "ЙОГУРТ": [cafe],
            "失败": [wide],
            "部署为什么失败": [wide],
            '"看日志"': [wide],
            '"日看"': [],
            "abc": [wide],
        }
        assert {query: await found(office, bob, query) for query in asked} == asked

    async def test_filters_stand_in_the_text_with_words_and_without(self, office: PostOffice) -> None:
        alice, bob, _ = await people(office, "alice", "bob", "carol")
        first = await write(office, alice, "bob", "the plan")
        accepted = await write(office, bob, "carol", "the plan")
        third = (await write(office, bob, "alice", "nothing")).message_id
        old, second = first.message_id, accepted.message_id
        at = accepted.created_at.isoformat()
        today, later = (f"{first.created_at + timedelta(days=days):%Y-%m-%d}" for days in (0, 2))
        asked = {
            "plan from:alice": [old],
            "plan FROM:Alice": [old],
            "plan from:bob": [second],
            'from:"bob"': [third, second],
            "to:carol": [second],
            "from:bob to:alice": [third],
            "with:alice": [third, old],
            "plan with:Alice": [old],
            "with:carol from:alice": [],
            f"before:{at}": [old],
            f"after:{at}": [third, second],
            f"plan after:{at}": [second],
            f"plan before:{later} after:{today}": [second, old],
            f"after:{later}": [],
            f"before:{today}": [],
            "from:nobody-known": [],
            "plan from:": [second, old],
            "plan from:é": [second, old],
        }
        assert {query: await found(office, bob, query) for query in asked} == asked
        assert await found(office, bob, "from:bob", sender="alice") == []
        assert await found(office, bob, "", sender="alice") == [old]
        assert await found(office, bob, "plan", since=accepted.created_at) == [second]
        for wrong in ("before:tuesday", "after:2026-13-01", "before:99999-01-01"):
            assert await outcome(office, bob, wrong) == "invalid"
        for empty in ("", "  ", "?!", '""'):
            assert await outcome(office, bob, empty) == "bad_query"

    async def test_a_search_without_words_is_paged_and_looks_at_so_many_at_a_time(
        self, office: PostOffice, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(search, "_MESSAGES_READ", 3)
        alice, bob = await people(office, "alice", "bob")
        for n in range(8):
            await write(office, (alice, bob)[n % 4 == 0], "carol", str(n))
        seen = await pages(office.search, office.owner(), "from:bob", everyone=True, limit=2)
        assert [item.message.content for page in seen for item in page] == ["4", "0"]

    async def test_most_words_first_holds_across_pages_and_behind_much_that_has_fewer(self, office: PostOffice) -> None:
        _, bob = await people(office, "alice", "bob")
        both = [Draft(to="bob", content=f"red green {n}") for n in range(3)]
        one = [Draft(to="bob", content=f"{('red', 'green')[n % 2]} {n}") for n in range(500)]
        await office.store.do_each([Send("alice", draft, verified=False, strangers=True) for draft in both + one])
        seen = [item.message.content for page in await pages(office.search, bob, "red green", limit=20) for item in page]
        assert seen[:3] == ["red green 2", "red green 1", "red green 0"]
        assert seen[3:] == [draft.content for draft in reversed(one)][: len(seen) - 3]
        assert len(seen) == 203  # of each word the newest hundred

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
        by_bob = await write(office, bob, "Carol", "word", type="query")
        filters: list[tuple[dict[str, Any], str]] = [
            ({"sender": "ALICE"}, by_alice.message_id),
            ({"recipient": "carol"}, by_bob.message_id),
            ({"session_id": by_alice.session_id}, by_alice.message_id),
            ({"type": "query"}, by_bob.message_id),
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
        for query in ("word", "needle"):
            hits = [item.message.content for page in await pages(office.search, bob, query, limit=200) for item in page]
            assert hits == [text for text in newest_first if query in str(text)]
        best = (await office.search(bob, "word needle")).items
        assert [item.message.content for item in best[:4]] == [text for text in newest_first if "needle" in str(text)] + [newest_first[1]]

    @pytest.mark.parametrize("query", ['"', "word OR", "word NOT", "(word", "word*", "word:", "'; DROP TABLE messages; --word", "& word |"])
    async def test_nothing_a_person_types_is_an_operator(self, office: PostOffice, query: str) -> None:
        alice, bob = await people(office, "alice", "bob")
        await write(office, alice, "bob", "word or not drop table messages")
        assert await outcome(office, bob, query) == (1 if "word" in query else "bad_query")

    async def test_no_text_is_an_error_of_the_engine(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        await write(office, alice, "bob", "word")
        choice = random.Random(23)
        pieces = [
            *"\"*:()&|!<>-+^{}[]\\/'~,.%_ ",
            "NEAR",
            "AND",
            "NOT",
            "word",
            "text",
            "é",
            "部",
            "\u0301",
            "1e5",
            "0x1f",
            "-1",
            "a\u200bb",
            "from:",
            "ﬁ",
            "½",
        ]
        for _ in range(150):
            text = "".join(choice.choices(pieces, k=choice.randint(1, 12)))
            assert isinstance(await outcome(office, bob, text), int) or await outcome(office, bob, text) in ("bad_query", "invalid"), text

    async def test_a_broadcast_is_found_once(self, office: PostOffice) -> None:
        alice, bob, _ = await people(office, "alice", "bob", "carol")
        await write(office, alice, "ALL", "word")
        assert len((await office.search(alice, "word")).items) == len((await office.search(bob, "word")).items) == 1
