"""Lists: who makes and keeps them, who comes and goes, and whose word that takes."""

import asyncio

import pytest

from postoffice.core.errors import (
    BadName,
    ListFull,
    ListTaken,
    MayNotJoin,
    NoSuchAgent,
    NoSuchList,
    NotOnList,
    NotYourList,
    ReservedName,
    TooManyLists,
)
from postoffice.core.event import Kind
from postoffice.core.mailing_list import ListRules, MayJoin, MayPost, Place
from postoffice.office import PostOffice
from tests.engines import Engine
from tests.mail import member, office_with, pages, people, taken, write

OPEN = ListRules(who_may_join=MayJoin.ANYONE)


async def on_list(office: PostOffice, name: str, *names: str, rules: ListRules = OPEN) -> list:  # type: ignore[type-arg]
    """These agents, all on a list that the first of them keeps."""
    callers = await people(office, *names)
    await office.lists.make(callers[0], name, rules)
    for caller in callers[1:]:
        await office.lists.join(caller, name)
    return callers


class TestKeeping:
    async def test_both_spellings_name_one_list_without_regard_to_case(self, office: PostOffice) -> None:
        (alice,) = await people(office, "alice")
        made, _ = await office.lists.make(alice, "list:Backend", ListRules(description="the API"))
        assert (made.name, made.owner, made.you, made.members) == ("#Backend", "alice", Place.MEMBER, 1)
        assert (await office.lists.show(alice, "#backend")).description == "the API"
        with pytest.raises(ListTaken):
            await office.lists.make(alice, "#BACKEND", ListRules())

    async def test_what_follows_the_mark_is_as_a_name_of_an_agent(self, office: PostOffice) -> None:
        (alice,) = await people(office, "alice")
        for name, refusal in {"#": BadName, "#a b": BadName, "##a": BadName, "#all": ReservedName, "list:owner": ReservedName}.items():
            with pytest.raises(refusal):
                await office.lists.make(alice, name, ListRules())

    async def test_a_list_is_no_agent(self, office: PostOffice) -> None:
        alice, _bob = await on_list(office, "#backend", "alice", "bob")
        assert [agent.name for agent in (await office.agents()).items] == ["alice", "bob", "owner"]
        assert [one.recipient for one in (await write(office, alice, "ALL")).posted] == ["bob"]
        with pytest.raises(BadName):
            await office.identify(name="#backend")

    async def test_only_whoever_keeps_it_and_the_owner_change_it(self, office: PostOffice) -> None:
        alice, bob = await on_list(office, "#backend", "alice", "bob")
        with pytest.raises(NotYourList):
            await office.lists.change(bob, "#backend", ListRules(description="mine"))
        with pytest.raises(NotYourList):
            await office.lists.delete(bob, "#backend")
        await office.lists.change(alice, "#backend", ListRules(who_may_post=MayPost.NAMED, posters=("bob",)))
        changed = await office.lists.change(office.owner(), "#backend", ListRules(history=True))
        assert (changed.who_may_post, changed.posters, changed.history) == (MayPost.NAMED, ("bob",), True)
        assert [event.data["change"] for event in await office.news(bob) if event.kind is Kind.LIST] == [
            "joined",
            "changed",
            "changed",
        ]

    async def test_a_deleted_list_leaves_what_was_written_and_frees_its_name(self, office: PostOffice) -> None:
        alice, bob = await on_list(office, "#backend", "alice", "bob")
        sent = await write(office, alice, "#backend", "last words")
        await office.lists.delete(alice, "#backend")
        with pytest.raises(NoSuchList):
            await write(office, alice, "#backend")
        assert [line.message.content for line in (await office.history(bob, sent.session_id or "", peek=True)).lines] == ["last words"]
        made, _ = await office.lists.make(bob, "#backend", ListRules())
        assert made.session_id != sent.session_id
        assert await taken(office, bob) == ["last words"]

    async def test_one_agent_keeps_only_so_many(self, engine: Engine) -> None:
        async with office_with(engine, lists=1) as office:
            (alice,) = await people(office, "alice")
            await office.lists.make(alice, "#one", ListRules())
            with pytest.raises(TooManyLists):
                await office.lists.make(alice, "#two", ListRules())
            await office.lists.delete(alice, "#one")
            await office.lists.make(alice, "#two", ListRules())

    async def test_lists_and_members_are_told_page_by_page(self, office: PostOffice) -> None:
        alice, bob, carol = await on_list(office, "#b", "alice", "bob", "carol")
        await office.lists.make(alice, "#a", ListRules())
        assert [[one.name for one in page] for page in await pages(office.lists.all, bob, limit=1)] == [["#a"], ["#b"]]
        assert [one.name for one in (await office.lists.all(bob, mine=True)).items] == ["#b"]
        assert [[one.name for one in page] for page in await pages(office.lists.members, carol, "#b", limit=2)] == [
            ["alice", "bob"],
            ["carol"],
        ]
        with pytest.raises(NotOnList):
            await office.lists.members(bob, "#a")


class TestJoining:
    async def test_anyone_joins_what_is_open_and_leaves_again(self, office: PostOffice) -> None:
        _, bob = await on_list(office, "#backend", "alice", "bob")
        assert (await office.lists.show(bob, "#backend")).members == 2
        await office.lists.join(bob, "#backend")
        left = await office.lists.leave(bob, "#backend")
        assert (left.members, left.you) == (1, Place.LEFT)
        with pytest.raises(NotOnList):
            await office.lists.leave(bob, "#backend")

    @pytest.mark.parametrize("policy", [MayJoin.INVITED, MayJoin.OWNER])
    async def test_nobody_joins_a_closed_list_by_itself(self, office: PostOffice, policy: MayJoin) -> None:
        alice, bob = await people(office, "alice", "bob")
        await office.lists.make(alice, "#backend", ListRules(who_may_join=policy))
        with pytest.raises(MayNotJoin):
            await office.lists.join(bob, "#backend")

    async def test_whoever_lets_the_keeper_write_is_put_on_at_once_and_others_are_only_invited(self, office: PostOffice) -> None:
        (alice,) = await people(office, "alice")
        bob, carol = await member(office, "bob", "alice"), await member(office, "carol")
        made, added = await office.lists.make(alice, "#backend", ListRules(who_may_join=MayJoin.INVITED), ["bob", "carol"])
        assert [one.place for one in added] == [Place.MEMBER, Place.INVITED]
        assert (made.members, (await office.lists.show(carol, "#backend")).you) == (2, Place.INVITED)
        sent = await write(office, alice, "#backend")
        assert sent.to_list is not None
        assert (sent.to_list.delivered, await taken(office, bob), await taken(office, carol)) == (1, ["hello"], [])
        assert (await office.lists.join(carol, "#backend")).members == 3

    async def test_members_invite_others_unless_the_keeper_decides(self, office: PostOffice) -> None:
        alice, bob, _ = await people(office, "alice", "bob", "carol")
        await office.lists.make(alice, "#backend", ListRules(who_may_join=MayJoin.INVITED), ["bob"])
        await office.lists.add(bob, "#backend", ["carol"])
        with pytest.raises(NotYourList):
            await office.lists.remove(bob, "#backend", ["carol"])
        await office.lists.remove(alice, "#backend", ["carol"])
        await office.lists.change(alice, "#backend", ListRules(who_may_join=MayJoin.OWNER))
        with pytest.raises(NotYourList):
            await office.lists.add(bob, "#backend", ["carol"])

    async def test_of_several_each_is_added_or_refused_by_itself(self, office: PostOffice) -> None:
        alice, _ = await people(office, "alice", "bob")
        _, added = await office.lists.make(alice, "#backend", ListRules(), ["nobody", "bob"])
        assert [(one.name, one.place) for one in added] == [("nobody", None), ("bob", Place.MEMBER)]
        with pytest.raises(NoSuchAgent):
            await office.lists.add(alice, "#backend", ["nobody"])

    async def test_a_list_holds_only_so_many(self, engine: Engine) -> None:
        async with office_with(engine, list_members=2) as office:
            *_, carol = await on_list(office, "#backend", "alice", "bob") + await people(office, "carol")
            with pytest.raises(ListFull):
                await office.lists.join(carol, "#backend")

    async def test_who_joins_at_once_is_counted_once_each(self, office: PostOffice) -> None:
        alice, *others = await people(office, "alice", *(f"agent-{n}" for n in range(20)))
        await office.lists.make(alice, "#backend", OPEN)
        await asyncio.gather(*(office.lists.join(caller, "#backend") for caller in others * 2))
        assert (await office.lists.show(alice, "#backend")).members == 21
