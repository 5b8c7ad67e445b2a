"""Section 5: what keeps agents from running in circles."""

import pytest

from postoffice.core.agent import Caller
from postoffice.core.draft import Draft
from postoffice.core.errors import AmbiguousId, BadMessage, BudgetSpent, LoopRefused, NoSuchMessage, OneRecipient
from postoffice.core.message import Accepted
from postoffice.core.task import TaskState
from postoffice.office import PostOffice
from tests.engines import Engine
from tests.mail import ask, notices, office_with, people, take, taken, write


async def forward(office: PostOffice, caller: Caller, to: str, ref: str, **fields: object) -> Accepted:
    return await office.send(caller, Draft(to=to, forward_of=ref, **fields))  # type: ignore[arg-type]


async def reply(office: PostOffice, caller: Caller, to: str, reply_to: str = "anything", **fields: object) -> Accepted:
    """An automatic reply."""
    return await write(office, caller, to, "automatic", automatic=True, reply_to=reply_to, answers_elsewhere=True, **fields)


class TestForwarding:
    async def test_a_forward_takes_one_hop_and_adds_the_forwarder(self, office: PostOffice) -> None:
        alice, bob, carol = await people(office, "alice", "bob", "carol")
        original = await write(office, alice, "bob", "pass it on", callback={"channel": "chat"})
        await forward(office, bob, "carol", original.message_id)
        message = (await take(office, carol)).message
        assert (message.sender, message.content, message.callback) == ("bob", "pass it on", {"channel": "chat"})
        assert (message.ttl, message.trace, message.forward_of) == (2, ("alice", "bob"), original.message_id)

    async def test_a_forward_may_carry_words_of_its_own(self, office: PostOffice) -> None:
        alice, bob, carol = await people(office, "alice", "bob", "carol")
        original = await write(office, alice, "bob", "original")
        await forward(office, bob, "carol", original.message_id, content="summary")
        assert await taken(office, carol) == ["summary"]

    async def test_a_forward_never_goes_to_an_agent_in_the_trace(self, office: PostOffice) -> None:
        alice, bob, carol = await people(office, "alice", "bob", "carol")
        original = await write(office, alice, "bob")
        second = await forward(office, bob, "carol", original.message_id)
        for to in ("alice", "Bob", "carol"):
            with pytest.raises(LoopRefused):
                await forward(office, carol, to, second.message_id)

    async def test_a_forward_is_never_made_at_ttl_0(self, office: PostOffice) -> None:
        alice, bob, _ = await people(office, "alice", "bob", "carol")
        original = await write(office, alice, "bob", ttl=0)
        with pytest.raises(LoopRefused):
            await forward(office, bob, "carol", original.message_id)

    async def test_the_default_ttl_allows_three_forwards(self, office: PostOffice) -> None:
        agents = await people(office, "a0", "a1", "a2", "a3", "a4", "a5")
        sent = await write(office, agents[0], "a1")
        for n in range(1, 4):
            sent = await forward(office, agents[n], f"a{n + 1}", sent.message_id)
        with pytest.raises(LoopRefused):
            await forward(office, agents[4], "a5", sent.message_id)

    async def test_a_forwarder_cannot_give_itself_more_hops(self, office: PostOffice) -> None:
        alice, bob, carol = await people(office, "alice", "bob", "carol")
        original = await write(office, alice, "bob", ttl=1)
        await forward(office, bob, "carol", original.message_id, ttl=9)
        assert (await take(office, carol)).message.ttl == 0

    async def test_only_mail_one_received_can_be_forwarded(self, office: PostOffice) -> None:
        alice, _, eve = await people(office, "alice", "bob", "eve")
        original = await write(office, alice, "bob")
        for caller in (eve, alice):
            with pytest.raises(NoSuchMessage):
                await forward(office, caller, "carol", original.message_id)

    async def test_a_forward_accepts_the_senders_id_and_refuses_an_ambiguous_one(self, office: PostOffice) -> None:
        alice, dave, bob, carol = await people(office, "alice", "dave", "bob", "carol")
        await write(office, alice, "bob", "one", client_id="id-1")
        await forward(office, bob, "carol", "id-1")
        assert await taken(office, carol) == ["one"]
        await write(office, dave, "bob", "two", client_id="id-1")
        with pytest.raises(AmbiguousId):
            await forward(office, bob, "carol", "id-1")

    async def test_a_forward_goes_to_one_agent(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        original = await write(office, alice, "bob")
        with pytest.raises(OneRecipient):
            await office.send(bob, Draft(to="ALL", forward_of=original.message_id))

    async def test_replies_and_task_updates_are_not_forwards(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        asked = await ask(office, alice, "bob", ttl=0)
        await write(office, bob, "alice", "a reply", reply_to=asked.message_id)
        await office.update_task(bob, asked.message_id, TaskState.ACCEPTED)
        for leased in (await office.receive(alice)).leased:
            assert (leased.message.ttl, leased.message.trace) == (3, ("bob",))


class TestWhoseWords:
    async def test_a_forward_keeps_subject_and_author(self, office: PostOffice) -> None:
        alice, bob, carol, dave = await people(office, "alice", "bob", "carol", "dave")
        original = await write(office, alice, "bob", "the plan", subject="Plan")
        first = await forward(office, bob, "carol", original.message_id)
        second = await forward(office, carol, "dave", first.message_id)
        for taker, sender, before in ((carol, "bob", original), (dave, "carol", first)):
            message = (await take(office, taker)).message
            whose = message.forwarded_from
            assert whose is not None
            assert (message.sender, message.subject, message.content, message.forward_of) == (sender, "Plan", "the plan", before.message_id)
            assert (whose.id, whose.sender, whose.subject, whose.own_words) == (original.message_id, "alice", "Plan", False)
            assert whose.created_at == original.created_at
        assert (await office.inbox(dave)).items[0].subject == "Plan"
        assert second.session_id != first.session_id

    async def test_words_of_ones_own_are_ones_own(self, office: PostOffice) -> None:
        alice, bob, carol, dave = await people(office, "alice", "bob", "carol", "dave")
        original = await write(office, alice, "bob", "the plan", subject="Plan")
        first = await forward(office, bob, "carol", original.message_id, content="alice has a plan")
        await forward(office, carol, "dave", first.message_id)
        told, passed_on = (await take(office, carol)).message.forwarded_from, (await take(office, dave)).message.forwarded_from
        assert told is not None
        assert passed_on is not None
        assert (told.sender, told.own_words) == ("alice", True)
        assert (passed_on.sender, passed_on.own_words) == ("bob", False)

    async def test_it_goes_to_nobody_who_has_it(self, office: PostOffice) -> None:
        alice, bob, carol, dave = await people(office, "alice", "bob", "carol", "dave")
        original = await write(office, alice, ("bob", "dave"), "the plan")
        sent = await forward(office, bob, "carol", original.message_id, client_id="f-1")
        assert (await forward(office, bob, "carol", original.message_id, client_id="f-1")).message_id == sent.message_id
        for sender, to, ref in (
            (bob, "Carol", original.message_id),  # again
            (dave, "carol", original.message_id),  # by somebody else
            (bob, "dave", original.message_id),  # who got it with bob
            (carol, "dave", sent.message_id),
        ):
            with pytest.raises(LoopRefused, match="has that message already"):
                await forward(office, sender, to, ref)
        assert await taken(office, carol) == ["the plan"]


class TestAutomaticReplies:
    async def test_an_automatic_reply_names_the_message_it_answers(self, office: PostOffice) -> None:
        alice, _ = await people(office, "alice", "bob")
        with pytest.raises(BadMessage):
            await write(office, alice, "bob", automatic=True)

    async def test_an_automatic_reply_says_so(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        await reply(office, alice, "bob")
        assert (await take(office, bob)).message.automatic

    async def test_a_session_has_a_hundred_automatic_replies_by_default(self, office: PostOffice) -> None:
        assert office.rules.limits.automatic_replies == 100

    async def test_without_automatic_replies_not_even_the_first_of_a_session_goes(self, engine: Engine) -> None:
        async with office_with(engine, automatic_replies=0) as office:
            alice, bob = await people(office, "alice", "bob")
            for subject in ("one", "two"):
                with pytest.raises(BudgetSpent, match="bob"):
                    await reply(office, alice, "bob", subject=subject)
            await write(office, alice, "bob", "by hand")
            with pytest.raises(BudgetSpent):
                await reply(office, bob, "alice")
            await reply(office, alice, "alice")  # to itself it goes in no session

    async def test_a_spent_budget_refuses_automatic_replies_of_both_sides(self, engine: Engine) -> None:
        async with office_with(engine, automatic_replies=2) as office:
            alice, bob = await people(office, "alice", "bob")
            await reply(office, alice, "bob")
            await reply(office, bob, "alice")
            for caller, to in ((alice, "bob"), (bob, "alice")):
                with pytest.raises(BudgetSpent):
                    await reply(office, caller, to)

    async def test_both_sides_are_told_once_that_it_is_spent(self, engine: Engine) -> None:
        async with office_with(engine, automatic_replies=2) as office:
            alice, bob = await people(office, "alice", "bob")
            await reply(office, alice, "bob")
            assert await notices(office, alice) == await notices(office, bob) == []
            sent = await reply(office, alice, "bob")
            for _ in range(2):
                with pytest.raises(BudgetSpent):
                    await reply(office, alice, "bob")
            for caller, other in ((alice, "bob"), (bob, "alice")):
                (notice,) = await notices(office, caller)
                assert notice.payload == {"kind": "budget_spent", "session_id": sent.session_id, "with": other}
                assert [event.ref for event in await office.news(caller) if event.kind == "budget_spent"] == [sent.session_id]

    async def test_any_message_that_is_not_automatic_refills_it(self, engine: Engine) -> None:
        async with office_with(engine, automatic_replies=2) as office:
            alice, bob = await people(office, "alice", "bob")
            await reply(office, alice, "bob")
            await reply(office, alice, "bob")
            await write(office, bob, "alice", "by hand")
            await reply(office, alice, "bob")
            await reply(office, alice, "bob")
            with pytest.raises(BudgetSpent):
                await reply(office, alice, "bob")

    async def test_a_task_update_by_hand_refills_it(self, engine: Engine) -> None:
        async with office_with(engine, automatic_replies=1) as office:
            alice, bob = await people(office, "alice", "bob")
            asked = await ask(office, alice, "bob")
            await reply(office, bob, "alice")
            await office.update_task(bob, asked.message_id, TaskState.ACCEPTED)
            assert (await reply(office, bob, "alice")).session_id == asked.session_id

    async def test_an_automatic_task_update_leaves_it_and_is_not_refused(self, engine: Engine) -> None:
        async with office_with(engine, automatic_replies=1) as office:
            alice, bob = await people(office, "alice", "bob")
            asked = await ask(office, alice, "bob")
            await reply(office, bob, "alice")
            report = Draft(to="bob", content="done", automatic=True)
            assert (await office.update_task(bob, asked.message_id, TaskState.COMPLETED, report)).state is TaskState.COMPLETED
            with pytest.raises(BudgetSpent):
                await reply(office, bob, "alice")

    async def test_each_session_has_its_own_budget(self, engine: Engine) -> None:
        async with office_with(engine, automatic_replies=1) as office:
            alice, _, _ = await people(office, "alice", "bob", "carol")
            await reply(office, alice, "bob", subject="one")
            await reply(office, alice, "bob", subject="two")
            await reply(office, alice, "carol", subject="one")
            with pytest.raises(BudgetSpent):
                await reply(office, alice, "bob", subject="ONE")

    async def test_an_automatic_reply_repeated_with_its_id_is_counted_once(self, engine: Engine) -> None:
        async with office_with(engine, automatic_replies=2) as office:
            alice, _ = await people(office, "alice", "bob")
            for _ in range(3):
                await reply(office, alice, "bob", client_id="r-1")
            assert not (await reply(office, alice, "bob", client_id="r-2")).duplicate
