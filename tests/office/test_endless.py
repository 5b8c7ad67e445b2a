"""Models that write to each other without end: the owner is asked, both are told once, and then the session is held."""

from datetime import timedelta
from typing import Any

import pytest

from postoffice.core.agent import Caller
from postoffice.core.draft import Draft
from postoffice.core.errors import OwnerOnly, TalkHeld
from postoffice.core.for_you import MatterKind
from postoffice.core.message import NOTICE, Accepted
from postoffice.core.question import Question
from postoffice.core.task import TaskState
from postoffice.office import PostOffice
from tests.engines import Engine
from tests.mail import ask, office_with, people
from tests.office.test_lists import on_list

ASKED, HELD = 6, 10


def talking(engine: Engine, **limits: Any) -> PostOffice:
    return office_with(engine, **{"talk_asked": ASKED, "talk_held": HELD, **limits})


async def says(office: PostOffice, sender: Caller, to: str, **fields: Any) -> Accepted:
    return await office.send(sender, Draft(to=to, content="and you?", by_model=True, **fields))


async def to_and_fro(office: PostOffice, one: Caller, other: Caller, letters: int) -> None:
    for number in range(letters):
        sender, to = (one, other) if number % 2 == 0 else (other, one)
        await says(office, sender, to.name)


async def asked(office: PostOffice) -> list[Question]:
    await office.upkeep.tick()
    return list((await office.questions(office.owner())).items)


async def notices(office: PostOffice, caller: Caller) -> list[str]:
    messages = [event.message for event in await office.news(caller, limit=200)]
    return [message.payload["kind"] for message in messages if message is not None and message.type == NOTICE]


async def until_held(office: PostOffice, *ring: Caller) -> None:
    """Each writes to the next, round and round."""
    for number in range(HELD * 6):
        await says(office, ring[number % len(ring)], ring[(number + 1) % len(ring)].name)


class TestTwoModels:
    async def test_at_so_many_the_owner_is_asked_and_both_are_told_once(self, engine: Engine) -> None:
        async with talking(engine) as office:
            ann, ben = await people(office, "ann", "ben")
            await to_and_fro(office, ann, ben, ASKED - 1)
            assert await asked(office) == []
            await says(office, ben, "ann")
            (question,) = await asked(office)
            assert (question.asker, question.choices, question.text) == ("system", ("go on", "stop"), False)
            await to_and_fro(office, ann, ben, 2)
            assert len(await asked(office)) == 1
            for caller in (ann, ben):
                assert await notices(office, caller) == ["long_talk"]

    async def test_at_so_many_more_the_session_is_held_and_go_on_frees_it(self, engine: Engine) -> None:
        async with talking(engine) as office:
            ann, ben = await people(office, "ann", "ben")
            await to_and_fro(office, ann, ben, HELD)
            with pytest.raises(TalkHeld):
                await says(office, ann, "ben")
            (question,) = await asked(office)
            assert [matter.kind for matter in (await office.for_you(office.owner())).matters] == [MatterKind.QUESTION]
            assert await office.for_you_count(office.owner()) == 1
            await engine.advance(timedelta(hours=3))
            with pytest.raises(TalkHeld):
                await says(office, ben, "ann")
            await says(office, ann, "cid")
            await office.answer(office.owner(), question.id, choice="go on")
            assert (await office.for_you(office.owner())).count == 0
            await to_and_fro(office, ann, ben, ASKED - 1)
            assert await asked(office) == []

    async def test_the_owner_may_stop_it_at_once_and_a_word_of_a_person_frees_it(self, engine: Engine) -> None:
        async with talking(engine) as office:
            ann, ben = await people(office, "ann", "ben")
            await to_and_fro(office, ann, ben, ASKED)
            (question,) = await asked(office)
            await office.answer(office.owner(), question.id, choice="stop")
            with pytest.raises(TalkHeld):
                await says(office, ann, "ben")
            await office.send(office.owner(), Draft(to="ben", content="once more, please"))
            await says(office, ann, "ben")
            assert (await office.for_you(office.owner())).count == 0

    async def test_what_is_stopped_waits_for_the_owner_who_lets_it_go_on(self, engine: Engine) -> None:
        async with talking(engine) as office:
            ann, ben = await people(office, "ann", "ben")
            await to_and_fro(office, ann, ben, HELD)
            (question,) = await asked(office)
            assert [matter.kind for matter in (await office.for_you(office.owner())).matters] == [MatterKind.QUESTION]
            await office.answer(office.owner(), question.id, choice="stop")
            (held,) = (await office.for_you(office.owner())).matters
            assert (held.kind, held.can, await office.for_you_count(office.owner())) == (MatterKind.HELD, ("go_on", "write"), 1)
            with pytest.raises(OwnerOnly):
                await office.go_on(ann, held.id)
            await office.go_on(office.owner(), held.id)
            await office.go_on(office.owner(), held.id)
            assert await office.for_you_count(office.owner()) == 0
            await to_and_fro(office, ann, ben, ASKED - 1)

    async def test_to_let_it_go_on_is_the_answer_to_the_open_question(self, engine: Engine) -> None:
        async with talking(engine) as office:
            ann, ben = await people(office, "ann", "ben")
            await to_and_fro(office, ann, ben, ASKED)
            (question,) = await asked(office)
            session = next(thread.id for thread in (await office.inbox(ann)).items if thread.other == "ben")
            await office.go_on(office.owner(), session)
            assert (await office.question(office.owner(), question.id)).choice == "go on"
            assert await asked(office) == []

    async def test_a_word_of_a_person_or_a_task_that_moves_begins_it_anew(self, engine: Engine) -> None:
        async with talking(engine) as office:
            ann, ben = await people(office, "ann", "ben")
            await to_and_fro(office, ann, ben, ASKED - 1)
            await office.send(office.owner(), Draft(to="ann", content="good"))
            await to_and_fro(office, ann, ben, ASKED - 1)
            task = await ask(office, ann, "ben")
            await office.update_task(ben, task.message_id, TaskState.WORKING)
            await to_and_fro(office, ann, ben, ASKED - 1)
            assert await asked(office) == []

    async def test_within_an_hour_only(self, engine: Engine) -> None:
        async with talking(engine) as office:
            ann, ben = await people(office, "ann", "ben")
            for _ in range(3):
                await to_and_fro(office, ann, ben, ASKED - 1)
                await engine.advance(timedelta(hours=2))
            assert await asked(office) == []


class TestWhatPasses:
    async def test_reports_that_go_one_way(self, engine: Engine) -> None:
        async with talking(engine) as office:
            ann, ben = await people(office, "ann", "ben")
            for _ in range(HELD * 2):
                await says(office, ann, "ben")
            await says(office, ben, "ann")
            for _ in range(HELD):
                await says(office, ann, "ben")
            assert await asked(office) == []

    async def test_mail_to_others_beside_a_long_talk(self, engine: Engine) -> None:
        async with talking(engine) as office:
            ann, ben, _ = await people(office, "ann", "ben", "cid")
            for _ in range(HELD // 2):
                await says(office, ann, "ben")
                await says(office, ann, "cid")
                await says(office, ben, "ann")
            with pytest.raises(TalkHeld):
                await until_held(office, ann, ben)
            for _ in range(HELD):
                await says(office, ann, "cid")
            assert len(await asked(office)) == 1

    async def test_what_programs_say_by_other_doors(self, engine: Engine) -> None:
        async with talking(engine) as office:
            ann, ben = await people(office, "ann", "ben")
            for _ in range(HELD):
                await office.send(ann, Draft(to="ben", content="x"))
                await office.send(ben, Draft(to="ann", content="y"))
            assert await asked(office) == []

    async def test_nothing_is_counted_where_both_limits_are_none(self, engine: Engine) -> None:
        async with talking(engine, talk_asked=0, talk_held=0) as office:
            ann, ben = await people(office, "ann", "ben")
            await to_and_fro(office, ann, ben, HELD * 3)
            assert await asked(office) == []


class TestARing:
    async def test_three_that_pass_the_word_round_are_asked_about_once_and_held(self, engine: Engine) -> None:
        async with talking(engine) as office:
            ring = await people(office, "ann", "ben", "cid")
            with pytest.raises(TalkHeld):
                await until_held(office, *ring)
            (question,) = await asked(office)
            await office.answer(office.owner(), question.id, choice="go on")
            await says(office, ring[0], "ben")

    async def test_automatic_replies_count_too(self, engine: Engine) -> None:
        async with talking(engine) as office:
            ann, ben = await people(office, "ann", "ben")
            first = await says(office, ann, "ben")
            ref = first.message_id
            for number in range(ASKED - 1):
                sender, to = (ben, "ann") if number % 2 == 0 else (ann, "ben")
                ref = (await office.send(sender, Draft(to=to, content="auto", automatic=True, reply_to=ref))).message_id
            assert len(await asked(office)) == 1


async def round_and_round(office: PostOffice, ring: list[Caller], to: list[str]) -> None:
    """Each writes in turn, to whoever's turn it is."""
    for number in range(HELD * 6):
        await says(office, ring[number % len(ring)], to[number % len(to)])


class TestLists:
    @pytest.mark.parametrize("members", [3, 70])
    async def test_a_ring_on_a_list_is_asked_about_and_held_until_a_person_writes(self, engine: Engine, members: int) -> None:
        async with talking(engine) as office:
            ring = await on_list(office, "#backend", *(f"model-{number}" for number in range(members)))
            with pytest.raises(TalkHeld):
                await round_and_round(office, ring[:3], ["#backend"])
            (question,) = await asked(office)
            assert question.subject == "#backend"
            assert await notices(office, ring[0]) == ["long_talk"]
            (matter,) = [one for one in (await office.for_you(office.owner())).matters if one.kind is MatterKind.QUESTION]
            assert "Models on #backend have answered each other" in matter.text
            await office.send(office.owner(), Draft(to="#backend", content="well?"))
            await says(office, ring[0], "#backend")

    async def test_it_is_caught_also_where_some_answer_by_direct_mail(self, engine: Engine) -> None:
        async with talking(engine) as office:
            ann, ben, _ = await on_list(office, "#backend", "ann", "ben", "cem")
            with pytest.raises(TalkHeld):
                await round_and_round(office, [ann, ben], ["#backend", "ann"])

    async def test_one_that_only_reports_there_is_not_held(self, engine: Engine) -> None:
        async with talking(engine) as office:
            ann, *_ = await on_list(office, "#backend", "ann", "ben")
            for _ in range(HELD * 2):
                await says(office, ann, "#backend")
            assert await asked(office) == []

    async def test_the_owner_lets_a_list_go_on(self, engine: Engine) -> None:
        async with talking(engine) as office:
            ring = await on_list(office, "#backend", "ann", "ben")
            with pytest.raises(TalkHeld) as refusal:
                await round_and_round(office, ring, ["#backend"])
            assert await office.go_on(office.owner(), str(refusal.value.facts["session"]))
            await says(office, ring[0], "#backend")
