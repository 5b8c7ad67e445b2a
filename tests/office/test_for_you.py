"""For you: one list of all that waits for a person, ranked, and its count is exactly the list's."""

from datetime import UTC, datetime, timedelta

from postoffice.core.agent import Caller
from postoffice.core.delivery import Refuse
from postoffice.core.draft import Draft
from postoffice.core.for_you import Matter, MatterKind
from postoffice.core.question import Ask
from postoffice.core.task import TaskState
from postoffice.office import PostOffice
from tests.engines import Engine
from tests.mail import ask, people, take, write


async def listed(office: PostOffice, caller: Caller) -> list[Matter]:
    found = await office.for_you(caller, 200)
    assert found.count == len(found.matters) == await office.for_you_count(caller)
    return list(found.matters)


async def kinds(office: PostOffice, caller: Caller) -> list[MatterKind]:
    return [matter.kind for matter in await listed(office, caller)]


class TestTheList:
    async def test_nobody_waits_on_an_office_without_mail(self, office: PostOffice) -> None:
        await people(office, "alice", "bob")
        assert await listed(office, office.owner()) == []

    async def test_it_holds_each_kind_in_its_rank(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        owner = office.owner()
        await write(office, alice, "bob", "never")
        leased = await take(office, bob)
        await office.settle(bob, [Refuse(leased.message.id, leased.token, "no")])
        await office.cancel(alice, (await write(office, alice, "bob", "taken back")).message_id)
        await write(office, alice, "owner", "when you like", subject="later")
        await ask(office, alice, "owner", subject="paint")
        await office.request_connection(bob, "alice")
        await office.send(bob, Draft(to="owner", content="Ship?", subject="ship", ask=Ask()))
        await write(office, bob, "owner", "fire", subject="fire", priority=1)
        found = await listed(office, owner)
        assert [matter.kind for matter in found] == ["mail", "question", "consent", "task", "mail", "dead"]
        assert [(matter.who, matter.whom) for matter in found] == [
            ("bob", None),
            ("bob", None),
            ("bob", "alice"),
            ("alice", None),
            ("alice", None),
            ("alice", "bob"),
        ]
        assert [matter.can[0] for matter in found] == ["answer", "answer", "approve", "accept", "answer", "requeue"]
        assert len((await office.for_you(owner, 2)).matters) == 2
        assert (await office.for_you(owner, 2)).count == 6

    async def test_it_empties(self, engine: Engine, office: PostOffice) -> None:
        (alice,) = await people(office, "alice")
        owner = office.owner()
        letter = (await write(office, alice, "owner")).message_id
        question = (await office.send(alice, Draft(to="owner", content="?", ask=Ask()))).message_id
        task = (await ask(office, alice, "owner")).message_id
        assert sorted(await kinds(office, owner)) == ["mail", "question", "task"]
        await office.seen(owner, letter)
        (mail,) = [matter for matter in await listed(office, owner) if matter.kind is MatterKind.MAIL]
        assert mail.seen_at is not None
        assert "unseen" in mail.can
        for id in (letter, question, task):
            await office.snooze(owner, id)
        assert await listed(office, owner) == []
        await engine.advance(timedelta(hours=2))
        await office.upkeep.tick()
        assert len(await listed(office, owner)) == 3
        await office.done(owner, letter)
        await office.answer(owner, question, text="yes")
        await office.update_task(owner, task, TaskState.COMPLETED, Draft(to="owner", content="the serif logo stays"))
        assert await listed(office, owner) == []
        told = [leased.message.content for leased in (await office.receive(alice, 10)).leased]
        assert "the serif logo stays" in told

    async def test_what_expired_waits_as_a_letter(self, engine: Engine, office: PostOffice) -> None:
        (alice,) = await people(office, "alice")
        owner = office.owner()
        await office.send(alice, Draft(to="owner", content="?", ask=Ask(deadline=datetime.now(UTC) + timedelta(minutes=30))))
        (question,) = await listed(office, owner)
        assert (question.kind, question.rank) == (MatterKind.QUESTION, 0)
        await engine.advance(timedelta(hours=2))
        await office.upkeep.tick()
        assert await kinds(office, owner) == ["mail"]

    async def test_an_agent_sees_its_own_and_the_owner_what_is_stuck_anywhere(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        await write(office, alice, "bob")
        assert await kinds(office, bob) == ["mail"]
        assert await listed(office, office.owner()) == []
        assert await listed(office, alice) == []
