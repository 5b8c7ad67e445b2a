"""Questions to people: open over restarts, answered exactly once, by a person only, at whichever door comes first."""

import asyncio
from contextlib import AsyncExitStack
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from postoffice.core.agent import Caller, Card
from postoffice.core.delivery import State
from postoffice.core.draft import Draft
from postoffice.core.errors import (
    AnsweredFirst,
    BadMessage,
    Forbidden,
    IdConflict,
    NoAnswerGiven,
    NoPerson,
    NoSuchChoice,
    NoSuchQuestion,
    OneRecipient,
    OwnerOnly,
    PersonsOnly,
    QuestionClosed,
)
from postoffice.core.event import Kind
from postoffice.core.message import ANSWER, QUESTION, Message
from postoffice.core.question import Ask, QuestionState
from postoffice.office import Auth, PostOffice
from tests.engines import Engine, PostgresEngine
from tests.mail import member, office_with, people, standing, take
from tests.notify.offices import opened

CHOICES = ("ship it", "wait")


async def asks(office: PostOffice, asker: Caller, to: str = "owner", **ask: Any) -> str:
    """A question's id."""
    return (
        await office.send(asker, Draft(to=to, subject="Release", content="Ship 1.4?", ask=Ask(**{"choices": CHOICES, **ask})))
    ).message_id


async def told(office: PostOffice, asker: Caller) -> Message:
    """The letter with the answer."""
    return (await take(office, asker)).message


async def keyed(office: PostOffice, name: str, *, person: bool = False) -> Caller:
    _, _, key = await office.register(name, Card(allow_from=("*",), person=person), by=office.owner())
    return await office.identify(key=key)


def soon() -> datetime:
    return datetime.now(UTC) + timedelta(hours=1)


class TestAsking:
    async def test_a_question_is_a_letter_that_stays_open_until_it_is_answered(self, office: PostOffice) -> None:
        (alice,) = await people(office, "alice")
        id = await asks(office, alice)
        (found,) = (await office.questions(office.owner())).items
        assert (found.id, found.asker, found.person, found.state) == (id, "alice", "owner", QuestionState.OPEN)
        assert (found.content, found.choices, found.text, found.subject) == ("Ship 1.4?", CHOICES, True, "Release")
        (letter,) = (await office.waiting(office.owner())).items
        assert (letter.type, letter.ask) == (QUESTION, Ask(choices=CHOICES))
        assert [question.id for question in (await office.questions(alice, asked_by_me=True)).items] == [id]
        assert await office.question(alice, id) == found
        kinds = [(event.kind, event.ref, event.data) for event in await office.news(office.owner())]
        assert (Kind.QUESTION, id, {"state": "open"}) in kinds

    async def test_only_people_are_asked_one_at_a_time(self, office: PostOffice) -> None:
        alice, _ = await people(office, "alice", "bob")
        for to in ("bob", "nobody-yet"):
            with pytest.raises(NoPerson):
                await asks(office, alice, to)
        for many in (("owner", "bob"), "ALL"):
            with pytest.raises(OneRecipient):
                await office.send(alice, Draft(to=many, content="?", ask=Ask()))

    @pytest.mark.parametrize(
        "ask",
        [
            {"choices": tuple(map(str, range(11)))},
            {"choices": ("yes", "YES")},
            {"choices": (" ",)},
            {"choices": (), "text": False},
            {"default": "wait"},
            {"default": "maybe", "text": False, "deadline": datetime(2100, 1, 1, tzinfo=UTC)},
            {"deadline": datetime(2100, 1, 1)},  # noqa: DTZ001 - without a zone is the point
            {"deadline": datetime(2000, 1, 1, tzinfo=UTC)},
        ],
    )
    async def test_what_nobody_could_answer_is_refused(self, office: PostOffice, ask: dict[str, Any]) -> None:
        (alice,) = await people(office, "alice")
        with pytest.raises((BadMessage, NoSuchChoice)):
            await asks(office, alice, **ask)
        assert (await office.questions(office.owner())).items == ()

    async def test_a_question_that_is_sent_again_is_one_question(self, office: PostOffice) -> None:
        (alice,) = await people(office, "alice")
        draft = Draft(to="owner", content="Ship?", ask=Ask(), client_id="q-1")
        first, again = await office.send(alice, draft), await office.send(alice, draft)
        assert (again.message_id, again.duplicate) == (first.message_id, True)
        assert len((await office.questions(office.owner())).items) == 1


class TestAnswering:
    async def test_the_answer_is_a_letter_in_the_same_session_with_choice_and_text_apart(self, engine: Engine) -> None:
        async with office_with(engine, auth=Auth.KEYS) as office:
            alice, hanna = await keyed(office, "alice"), await keyed(office, "hanna", person=True)
            id = await asks(office, alice, "hanna")
            question = await office.question(hanna, id)
            given = await office.answer(hanna, id, choice="SHIP IT", text="after lunch", via="page")
            assert (given.state, given.by, given.choice, given.answer, given.via) == ("answered", "hanna", "ship it", "after lunch", "page")
            leased = await take(office, alice)
            letter = leased.message
            assert (letter.sender, letter.type, letter.reply_to, letter.from_verified) == ("hanna", ANSWER, id, True)
            assert (leased.session_id, letter.correlation_id, letter.content) == (question.session_id, id, "ship it\n\nafter lunch")
            assert letter.answer is not None
            assert (letter.answer.question, letter.answer.by) == (id, "hanna")
            assert (letter.answer.choice, letter.answer.text) == ("ship it", "after lunch")
            assert given.answer_id == letter.id
            assert (await standing(office, alice, id)).state is State.ACKED
            assert (await office.questions(hanna)).items == ()
            assert (await office.question(alice, id)) == given

    async def test_the_asker_wakes_with_the_answer(self, office: PostOffice) -> None:
        (alice,) = await people(office, "alice")
        id = await asks(office, alice)
        waiting = asyncio.create_task(office.wait(alice, 1, within=timedelta(seconds=30), correlation_id=id))
        await asyncio.sleep(0.05)
        await office.answer(office.owner(), id, choice="wait")
        assert [leased.message.reply_to for leased in (await waiting).leased] == [id]

    async def test_an_answer_reaches_an_asker_that_takes_no_mail_from_that_person(self, engine: Engine) -> None:
        async with office_with(engine, auth=Auth.KEYS, depth=1) as office:
            alice, other = await member(office, "alice"), await keyed(office, "other")
            await office.update_card(alice, {"allow_from": ["other"]})
            id = await asks(office, alice)
            await office.send(other, Draft(to="alice", content="it is full"))
            await office.answer(office.owner(), id, text="yes")
            assert len((await office.receive(alice, 10)).leased) == 2

    async def test_the_second_answer_is_told_who_was_first_when_and_what(self, engine: Engine) -> None:
        async with office_with(engine, auth=Auth.KEYS) as office:
            alice, hanna = await keyed(office, "alice"), await keyed(office, "hanna", person=True)
            id = await asks(office, alice, "hanna")
            given = await office.answer(hanna, id, choice="wait")
            assert given.closed_at is not None
            for again in ("wait", "ship it"):
                with pytest.raises(AnsweredFirst) as refusal:
                    await office.answer(office.owner(), id, choice=again)
                words = str(refusal.value)
                assert all(part in words for part in ("hanna", given.closed_at.isoformat(timespec="seconds"), "wait")), words

    async def test_an_answer_repeated_under_its_own_id_is_the_same_answer(self, office: PostOffice) -> None:
        (alice,) = await people(office, "alice")
        id = await asks(office, alice)
        first = await office.answer(office.owner(), id, choice="wait", client_id="once")
        assert await office.answer(office.owner(), id, choice="wait", client_id="once") == first
        with pytest.raises(IdConflict):
            await office.answer(office.owner(), id, choice="ship it", client_id="once")
        assert len((await office.receive(alice, 10)).leased) == 1

    async def test_no_agents_key_answers(self, engine: Engine) -> None:
        async with office_with(engine, auth=Auth.KEYS) as office:
            alice, bob, hanna = await keyed(office, "alice"), await keyed(office, "bob"), await keyed(office, "hanna", person=True)
            id = await asks(office, alice)
            with pytest.raises(PersonsOnly):
                await office.answer(alice, id, choice="wait")
            for stranger in (bob, hanna):
                with pytest.raises(NoSuchQuestion):
                    await office.answer(stranger, id, choice="wait")
            asked_of_hanna = await asks(office, hanna)
            with pytest.raises(Forbidden):
                await office.answer(hanna, asked_of_hanna, choice="wait")
            assert (await office.question(alice, id)).state is QuestionState.OPEN

    async def test_on_an_open_office_it_is_recorded_that_nobody_can_tell_who_answered(self, office: PostOffice) -> None:
        (alice,) = await people(office, "alice")
        id = await asks(office, alice)
        assert (await office.answer(office.owner(), id, choice="wait")).by == "open"
        letter = await told(office, alice)
        assert (letter.from_verified, letter.answer and letter.answer.by) == (False, "open")
        assert "any program on this machine" in (letter.content or "")

    async def test_the_owners_key_proves_the_owner_on_an_open_office_too(self, office: PostOffice) -> None:
        (alice,) = await people(office, "alice")
        raw, _ = await office.add_key(office.owner(), of="owner")
        id = await asks(office, alice)
        assert (await office.answer(await office.identify(key=raw), id, choice="wait")).by == "owner"
        assert (await told(office, alice)).from_verified

    async def test_what_was_not_offered_is_refused_and_the_question_stays_open(self, office: PostOffice) -> None:
        (alice,) = await people(office, "alice")
        owner = office.owner()
        id = await asks(office, alice, text=False)
        for wrong, error in (({"choice": "never"}, NoSuchChoice), ({"text": "hm"}, NoSuchChoice), ({}, NoAnswerGiven)):
            with pytest.raises(error):
                await office.answer(owner, id, **wrong)
        assert (await office.question(owner, id)).state is QuestionState.OPEN

    async def test_of_many_answers_at_every_door_one_wins(self, engine: Engine) -> None:
        """By the page, the command and a link, at two replicas where there can be two."""
        async with AsyncExitStack() as stack:
            office = await stack.enter_async_context(opened(engine))
            (alice,) = await people(office, "alice")
            raw, _ = await office.add_key(office.owner(), of="owner")
            commander = await office.identify(key=raw)
            other = await stack.enter_async_context(opened(engine)) if isinstance(engine, PostgresEngine) else office
            await office.notify.add(office.owner(), "phone", "json://127.0.0.1:1/", trusted=True)
            (phone,) = await office.webhooks.active()
            for number in range(200):
                id = await asks(office, alice, choices=())
                token = (await office.answer_links.made(phone.id, [id]))[id].rpartition("/")[2]
                answers = await asyncio.gather(
                    office.answer(office.owner(), id, text=f"page {number}", via="page"),
                    other.answer(commander, id, text=f"command {number}", via="command"),
                    other.answer_links.answer(token, text=f"link {number}"),
                    return_exceptions=True,
                )
                won = [answer for answer in answers if not isinstance(answer, BaseException)]
                lost = [answer for answer in answers if isinstance(answer, BaseException)]
                assert (len(won), len(lost)) == (1, 2)
                assert all(isinstance(answer, AnsweredFirst) and repr(won[0].answer) in str(answer) for answer in lost)
                (leased,) = (await office.receive(alice, 10)).leased
                assert leased.message.answer is not None
                assert (leased.message.answer.text, won[0].via) == (won[0].answer, (won[0].answer or "").split()[0])
                await office.ack(alice, leased.message.id, leased.token)


class TestTheEndWithoutAnAnswer:
    async def test_the_default_counts_at_the_deadline_and_is_recorded_as_such(self, engine: Engine, office: PostOffice) -> None:
        (alice,) = await people(office, "alice")
        id = await asks(office, alice, default="Wait", deadline=soon())
        await office.upkeep.tick()
        assert (await office.question(alice, id)).state is QuestionState.OPEN
        await engine.advance(timedelta(hours=2))
        await office.upkeep.tick()
        await office.upkeep.tick()
        ended = await office.question(alice, id)
        assert (ended.state, ended.by, ended.choice, ended.answer) == ("answered", "default", "wait", None)
        (leased,) = (await office.receive(alice, 10)).leased
        assert (leased.message.sender, leased.message.reply_to, leased.session_id) == ("system", id, ended.session_id)
        assert leased.message.answer is not None
        assert leased.message.answer.by == "default"
        with pytest.raises(AnsweredFirst, match="default"):
            await office.answer(office.owner(), id, choice="ship it")

    async def test_without_a_default_it_expires(self, engine: Engine, office: PostOffice) -> None:
        (alice,) = await people(office, "alice")
        id = await asks(office, alice, deadline=soon())
        await engine.advance(timedelta(hours=2))
        await office.upkeep.tick()
        letter = await told(office, alice)
        assert (letter.sender, letter.answer and letter.answer.state) == ("system", "expired")
        with pytest.raises(QuestionClosed):
            await office.answer(office.owner(), id, choice="wait")
        assert (await office.counts(office.owner())).unread == 1  # as a letter it can still be read

    async def test_its_asker_takes_it_back(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        id = await asks(office, alice)
        with pytest.raises(NoSuchQuestion):
            await office.withdraw_question(bob, id)
        assert (await office.withdraw_question(alice, id)).state is QuestionState.WITHDRAWN
        assert (await office.questions(office.owner())).items == ()
        assert (await office.counts(office.owner())).pending == 0
        for call in (office.answer(office.owner(), id, choice="wait"), office.withdraw_question(alice, id)):
            with pytest.raises(QuestionClosed):
                await call
        assert (await office.receive(alice, 10)).leased == ()

    async def test_who_was_asked_cannot_take_it_back(self, office: PostOffice) -> None:
        (alice,) = await people(office, "alice")
        hanna = await office.identify(name="hanna")
        await office.update_card(office.owner(), {"person": True}, of="hanna")
        id = await asks(office, alice, "hanna")
        with pytest.raises(OwnerOnly):
            await office.withdraw_question(hanna, id)

    async def test_an_open_question_is_not_purged(self, engine: Engine) -> None:
        async with office_with(engine, retention=timedelta(days=1)) as office:
            (alice,) = await people(office, "alice")
            id = await asks(office, alice)
            await office.done(office.owner(), id)
            await engine.advance(timedelta(days=3))
            for _ in range(61):
                await office.upkeep.sweep()
                office.upkeep._ticks += 1
            await office.answer(office.owner(), id, choice="wait")
            assert (await told(office, alice)).reply_to == id
