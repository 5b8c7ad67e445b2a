"""Section 4: who may write to whom. A refusal is answered, never silent."""

import pytest

from postoffice.acts.ledger.foreign import Meet
from postoffice.acts.people.connections import Request
from postoffice.core.draft import Draft
from postoffice.core.errors import NoSuchAgent, NotAdmitted, OutOfReach, ReservedName
from postoffice.core.task import TaskState
from postoffice.office import Auth, PostOffice
from tests.engines import Engine
from tests.mail import ask, member, office_with, people, person, taken, write


async def connect(office: PostOffice, requester: str, target: str) -> str:
    """Two agents' consent; gives the connection's id."""
    request = await office.store.do(Request(requester, target, None))
    return (await office.approve_for(office.owner(), request.id)).id


class TestAllowFrom:
    async def test_a_sender_that_is_listed_is_admitted(self, office: PostOffice) -> None:
        alice = await person(office, "Alice")
        bob = await member(office, "bob", "aLICE")
        await write(office, alice, "bob")
        assert await taken(office, bob) == ["hello"]

    async def test_a_sender_that_is_not_listed_is_refused(self, office: PostOffice) -> None:
        alice = await person(office, "alice")
        bob = await member(office, "bob", "carol")
        with pytest.raises(NotAdmitted):
            await write(office, alice, "bob")
        assert await taken(office, bob) == []

    async def test_a_star_admits_anyone(self, office: PostOffice) -> None:
        alice = await person(office, "alice")
        bob = await member(office, "bob", "*")
        await write(office, alice, "bob")
        assert await taken(office, bob) == ["hello"]

    async def test_an_empty_list_admits_nobody_without_a_connection(self, office: PostOffice) -> None:
        alice = await member(office, "alice")
        await member(office, "bob")
        with pytest.raises(NotAdmitted):
            await write(office, alice, "bob")

    async def test_a_changed_list_counts_from_the_next_message(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        await write(office, alice, "bob", "before")
        await office.update_card(bob, {"allow_from": ["carol"]})
        with pytest.raises(NotAdmitted):
            await write(office, alice, "bob", "after")
        assert await taken(office, bob) == ["before"]

    async def test_the_list_is_about_receiving_and_not_about_sending(self, office: PostOffice) -> None:
        alice = await member(office, "alice")
        bob = await person(office, "bob")
        await write(office, alice, "bob")
        assert await taken(office, bob) == ["hello"]

    async def test_mail_to_oneself_is_always_admitted(self, office: PostOffice) -> None:
        alice = await member(office, "alice")
        await write(office, alice, "alice")
        assert await taken(office, alice) == ["hello"]

    async def test_the_owner_takes_mail_from_anyone(self, office: PostOffice) -> None:
        alice = await person(office, "alice")
        assert (await write(office, alice, "owner")).posted[0].recipient == "owner"


class TestConnections:
    @pytest.mark.parametrize("requested_by", ["alice", "bob"])
    async def test_an_active_connection_admits_both_ways(self, office: PostOffice, requested_by: str) -> None:
        alice, bob = await member(office, "alice"), await member(office, "bob")
        await connect(office, requested_by, {"alice": "bob", "bob": "alice"}[requested_by])
        await write(office, alice, "bob")
        await write(office, bob, "alice")
        assert await taken(office, alice) == await taken(office, bob) == ["hello"]

    async def test_a_request_alone_admits_nobody(self, office: PostOffice) -> None:
        alice = await member(office, "alice")
        await member(office, "bob")
        await office.request_connection(alice, "bob")
        with pytest.raises(NotAdmitted):
            await write(office, alice, "bob")

    async def test_an_ended_connection_admits_nobody(self, office: PostOffice) -> None:
        alice, bob = await member(office, "alice"), await member(office, "bob")
        id = await connect(office, "alice", "bob")
        await office.end_connection(bob, id)
        with pytest.raises(NotAdmitted):
            await write(office, alice, "bob")

    async def test_a_connection_joins_its_two_agents_only(self, office: PostOffice) -> None:
        await member(office, "alice")
        await member(office, "bob")
        eve = await member(office, "eve")
        await connect(office, "alice", "bob")
        with pytest.raises(NotAdmitted):
            await write(office, eve, "bob")


class TestAlwaysAdmitted:
    async def test_an_update_from_a_tasks_assignee_is_always_admitted(self, office: PostOffice) -> None:
        alice = await member(office, "alice")
        bob = await person(office, "bob")
        asked = await ask(office, alice, "bob")
        await office.update_task(bob, asked.message_id, TaskState.ACCEPTED, Draft(to="alice", content="on it"))
        assert await taken(office, alice) == ["on it"]

    async def test_nobody_passes_by_calling_a_message_a_task_update(self, office: PostOffice) -> None:
        alice = await member(office, "alice")
        bob = await person(office, "bob")
        with pytest.raises(Exception, match="moved by updating it"):
            await write(office, bob, "alice", type="task_update")
        assert await taken(office, alice) == []

    async def test_nobody_passes_by_writing_as_system(self, office: PostOffice) -> None:
        with pytest.raises(ReservedName):
            await office.identify(name="system")


class TestUnknownRecipients:
    async def test_an_open_server_keeps_mail_for_a_name_it_has_not_seen(self, office: PostOffice) -> None:
        alice = await person(office, "alice")
        assert (await write(office, alice, "newcomer")).posted[0].unseen

    async def test_a_house_of_keys_refuses_an_unknown_name_and_guesses_the_right_one(self, engine: Engine) -> None:
        async with office_with(engine, auth=Auth.KEYS) as office:
            alice = await member(office, "alice")
            await member(office, "robert", "*")
            with pytest.raises(NoSuchAgent, match="robert"):
                await write(office, alice, "robrt")

    async def test_a_wrong_name_is_compared_with_its_neighbours_however_many_there_are(self, office: PostOffice) -> None:
        await people(office, *(f"worker-{number:03}" for number in range(300)))
        near = await office.store.agents.near("Worker-15O", 50)
        assert sorted(near) == [f"worker-{number:03}" for number in range(110, 210)]
        with pytest.raises(NoSuchAgent, match="did you mean 'worker-1"):
            await office.agent("Worker-15O")

    @pytest.mark.parametrize("name", ["me", "register", "ME"])
    async def test_mail_to_a_reserved_name_that_nobody_can_have_is_refused(self, office: PostOffice, name: str) -> None:
        alice = await person(office, "alice")
        with pytest.raises(ReservedName):
            await write(office, alice, name)

    async def test_all_in_another_case_never_becomes_an_agent(self, office: PostOffice) -> None:
        alice = await person(office, "alice")
        with pytest.raises(ReservedName, match="say ALL"):
            await write(office, alice, "all")
        assert await office.store.agents.named("all") is None

    async def test_mail_to_system_is_refused(self, office: PostOffice) -> None:
        alice = await person(office, "alice")
        with pytest.raises(NotAdmitted):
            await write(office, alice, "system")

    async def test_mail_to_an_account_met_over_a_ledger_that_is_served_no_more_is_refused(self, office: PostOffice) -> None:
        """It would lie in a mailbox that nobody looks into."""
        alice = await person(office, "alice")
        await office.store.do(Meet("0.0.7", "0.0.8"))
        await connect(office, "alice", "0.0.7")
        with pytest.raises(OutOfReach):
            await write(office, alice, "0.0.7")
