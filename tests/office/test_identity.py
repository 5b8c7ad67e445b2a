"""Section 4, identity: who is calling, and what a key protects."""

from collections.abc import Awaitable, Callable
from datetime import timedelta

import pytest

from postoffice.core.agent import Caller, Card, key_hash
from postoffice.core.draft import Draft
from postoffice.core.errors import (
    BadKey,
    BadName,
    KeyRequired,
    NameTaken,
    NoSuchKey,
    NotYou,
    OwnerOnly,
    RateLimited,
    ReservedName,
    TooManyKeys,
    Unavailable,
    Unidentified,
)
from postoffice.office import Auth, PostOffice
from tests.engines import Engine
from tests.mail import member, office_with, people, person, take, taken, write
from tests.office.bad_calls import NO_ID

RESERVED = ["all", "ALL", "system", "System", "me", "register", "owner", "Owner", "con", "NUL", "com1", "lpt9.txt"]


async def owner_key(office: PostOffice) -> str:
    key, _ = await office.add_key(office.owner())
    return key


GONE = Caller("gone", verified=False)
"""Somebody who was known a moment ago, before a backup took the place of the mail."""
ACTS_OF_THE_GONE: dict[str, Callable[[PostOffice], Awaitable[object]]] = {
    "send": lambda office: office.send(GONE, Draft(to="bob", content="x")),
    "ask": lambda office: office.request_connection(GONE, "bob"),
    "forward": lambda office: office.send(GONE, Draft(to="bob", forward_of=NO_ID)),
    "count": lambda office: office.counts(GONE),
}


class TestAnOpenServer:
    @pytest.mark.parametrize("act", ACTS_OF_THE_GONE.values(), ids=list(ACTS_OF_THE_GONE))
    async def test_whoever_went_with_the_mail_that_a_backup_replaced_is_told_to_try_again(
        self, office: PostOffice, act: Callable[[PostOffice], Awaitable[object]]
    ) -> None:
        await person(office, "bob")
        with pytest.raises(Unavailable, match="a backup"):
            await act(office)
        assert await office.identify(name="gone") == GONE
        await write(office, GONE, "bob")

    async def test_a_name_without_a_key_is_used_by_whoever_says_it(self, office: PostOffice) -> None:
        assert await office.identify(name="alice") == Caller("alice", verified=False)

    async def test_neither_key_nor_name_is_unidentified(self, office: PostOffice) -> None:
        with pytest.raises(Unidentified):
            await office.identify()

    async def test_mail_for_a_name_does_not_make_the_office_ask_for_it_again(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        await write(office, alice, "bob")
        asked = sum(office.store.engine.commits.counts)
        assert await office.identify(name="bob") == bob
        assert sum(office.store.engine.commits.counts) == asked

    async def test_a_name_is_the_same_in_any_case_and_keeps_its_first_spelling(self, office: PostOffice) -> None:
        await office.identify(name="Alice")
        assert (await office.identify(name="ALICE")).name == "Alice"

    async def test_mail_of_the_keyless_is_marked_unverified(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        await write(office, alice, "bob")
        assert not (await take(office, bob)).message.from_verified

    async def test_mail_sent_with_a_key_is_marked_verified(self, office: PostOffice) -> None:
        alice = await member(office, "alice")
        bob = await person(office, "bob")
        await write(office, alice, "bob")
        assert (await take(office, bob)).message.from_verified

    @pytest.mark.parametrize("name", RESERVED)
    async def test_a_reserved_name_can_be_neither_used_nor_registered(self, office: PostOffice, name: str) -> None:
        with pytest.raises(ReservedName):
            await office.identify(name=name)
        with pytest.raises(ReservedName):
            await office.register(name)

    @pytest.mark.parametrize("name", ["", "-a", ".a", "a b", "a/b", "ä", "a" * 101, "a\n", "a\x00", "*"])
    async def test_what_cannot_be_a_name_is_refused(self, office: PostOffice, name: str) -> None:
        with pytest.raises(BadName):
            await office.identify(name=name)
        with pytest.raises(BadName):
            await office.register(name)


class TestKeys:
    async def test_a_key_stands_for_its_agent(self, office: PostOffice) -> None:
        _, _, key = await office.register("alice")
        assert await office.identify(key=key) == Caller("alice", verified=True, key=key_hash(key))

    async def test_a_name_with_a_key_is_never_open_to_the_keyless(self, office: PostOffice) -> None:
        await office.register("alice")
        for spelling in ("alice", "ALICE"):
            with pytest.raises(KeyRequired):
                await office.identify(name=spelling)

    async def test_a_name_used_a_moment_ago_is_closed_as_soon_as_it_has_a_key(self, office: PostOffice) -> None:
        await office.identify(name="alice")
        await office.register("alice", by=office.owner())
        with pytest.raises(KeyRequired):
            await office.identify(name="alice")

    @pytest.mark.parametrize("key", ["", "amb_", "amb_" + "0" * 64, "nonsense", "amb_" + "Z" * 64, "\ud800"])
    async def test_an_unknown_key_is_refused(self, office: PostOffice, key: str) -> None:
        with pytest.raises(BadKey):
            await office.identify(key=key)

    async def test_a_key_with_its_own_name_is_accepted_in_any_case(self, office: PostOffice) -> None:
        _, _, key = await office.register("alice")
        assert (await office.identify(key=key, name="ALICE")).name == "alice"

    async def test_a_key_cannot_speak_as_another(self, office: PostOffice) -> None:
        _, _, key = await office.register("alice")
        await person(office, "bob")
        with pytest.raises(NotYou):
            await office.identify(key=key, name="bob")

    async def test_keys_are_shown_by_their_beginning_only(self, office: PostOffice) -> None:
        _, _, key = await office.register("alice")
        (shown,) = await office.keys(await office.identify(key=key))
        assert key.startswith(shown.prefix)
        assert len(shown.prefix) < len(key) / 4

    async def test_both_keys_work_during_the_overlap_of_a_rotation(self, office: PostOffice, engine: Engine) -> None:
        _, _, old = await office.register("alice")
        alice = await office.identify(key=old)
        new, _ = await office.rotate_key(alice, overlap=timedelta(hours=1))
        await engine.advance(timedelta(minutes=59))
        assert [(await office.identify(key=key)).name for key in (new, old)] == ["alice", "alice"]

    async def test_the_old_key_ends_with_the_overlap(self, office: PostOffice, engine: Engine) -> None:
        _, _, old = await office.register("alice")
        new, _ = await office.rotate_key(office.owner(), of="alice", overlap=timedelta(hours=1))
        await engine.advance(timedelta(hours=1))
        with pytest.raises(BadKey):
            await office.identify(key=old)
        assert (await office.identify(key=new)).name == "alice"

    async def test_a_rotation_without_overlap_ends_the_old_key_at_once(self, office: PostOffice) -> None:
        _, _, old = await office.register("alice")
        await office.rotate_key(await office.identify(key=old), overlap=timedelta(0))
        with pytest.raises(BadKey):
            await office.identify(key=old)

    async def test_a_second_rotation_does_not_lengthen_the_first_keys_life(self, office: PostOffice, engine: Engine) -> None:
        _, _, old = await office.register("alice")
        await office.rotate_key(office.owner(), of="alice", overlap=timedelta(hours=1))
        await office.rotate_key(office.owner(), of="alice", overlap=timedelta(hours=9))
        await engine.advance(timedelta(hours=1))
        with pytest.raises(BadKey):
            await office.identify(key=old)

    async def test_a_revoked_key_is_refused_at_once(self, office: PostOffice) -> None:
        _, _, key = await office.register("alice")
        alice = await office.identify(key=key)
        (revoked,) = await office.revoke_keys(alice)
        assert revoked.revoked_at is not None
        with pytest.raises(BadKey):
            await office.identify(key=key)

    async def test_a_name_stays_locked_when_all_its_keys_are_revoked(self, office: PostOffice) -> None:
        _, _, key = await office.register("alice")
        await office.revoke_keys(await office.identify(key=key))
        with pytest.raises(KeyRequired):
            await office.identify(name="alice")
        with pytest.raises(NameTaken):
            await office.register("alice")

    async def test_the_owner_gives_a_locked_name_a_new_key(self, office: PostOffice) -> None:
        await office.register("alice")
        await office.revoke_keys(office.owner(), of="alice")
        key, _ = await office.add_key(office.owner(), of="alice")
        assert (await office.identify(key=key)).name == "alice"

    async def test_one_key_is_revoked_by_its_beginning_and_the_others_stay(self, office: PostOffice) -> None:
        _, _, first = await office.register("alice")
        alice = await office.identify(key=first)
        second, shown = await office.add_key(alice)
        while first.startswith(shown.prefix):
            second, shown = await office.add_key(alice)
        await office.revoke_keys(alice, shown.prefix)
        assert await office.identify(key=first) == alice
        with pytest.raises(BadKey):
            await office.identify(key=second)

    async def test_an_agent_has_only_so_many_keys(self, engine: Engine) -> None:
        async with office_with(engine, keys=2) as office:
            alice = await member(office, "alice")
            await office.add_key(alice)
            for more in (office.add_key, office.rotate_key):
                with pytest.raises(TooManyKeys):
                    await more(alice)
            await office.rotate_key(alice, overlap=timedelta(0))
            assert (await office.add_key(office.owner(), of="alice"))[1].agent == "alice"

    async def test_revoking_a_key_that_is_not_there_is_refused(self, office: PostOffice) -> None:
        alice = await member(office, "alice")
        with pytest.raises(NoSuchKey):
            await office.revoke_keys(alice, "amb_zzzz")

    async def test_another_agents_keys_are_not_ones_own(self, office: PostOffice) -> None:
        alice = await member(office, "alice")
        await member(office, "bob")
        for call in (office.keys(alice, of="bob"), office.revoke_keys(alice, of="bob"), office.rotate_key(alice, of="bob")):
            with pytest.raises(OwnerOnly):
                await call

    @pytest.mark.parametrize("verb", ["add_key", "rotate_key"])
    async def test_whoever_says_a_keyless_name_cannot_lock_it(self, office: PostOffice, verb: str) -> None:
        alice = await person(office, "alice")
        with pytest.raises(OwnerOnly):
            await getattr(office, verb)(alice)
        assert (await office.identify(name="alice")).name == "alice"


class TestRegistering:
    async def test_a_registered_agent_takes_mail_from_nobody_at_first(self, office: PostOffice) -> None:
        await office.register("alice")
        agent = await office.agent("alice")
        assert (agent.card.allow_from, agent.has_key, agent.acted) == ((), True, False)

    async def test_an_agent_that_simply_appears_takes_mail_from_anyone(self, office: PostOffice) -> None:
        await person(office, "alice")
        agent = await office.agent("alice")
        assert (agent.card.allow_from, agent.has_key, agent.acted) == (("*",), False, True)

    async def test_a_registered_name_is_taken_in_any_case(self, office: PostOffice) -> None:
        await office.register("alice")
        with pytest.raises(NameTaken):
            await office.register("Alice")

    async def test_a_keyless_name_that_has_acted_is_taken(self, office: PostOffice) -> None:
        await person(office, "alice")
        with pytest.raises(NameTaken):
            await office.register("alice")

    async def test_the_owner_registers_a_keyless_name_that_has_acted(self, office: PostOffice) -> None:
        await person(office, "alice")
        _, _, key = await office.register("alice", by=office.owner())
        assert (await office.identify(key=key)).name == "alice"

    async def test_a_name_that_only_received_mail_may_be_registered_and_keeps_its_mail(self, office: PostOffice) -> None:
        alice = await person(office, "alice")
        await write(office, alice, "newcomer", "waiting for you")
        newcomer = await member(office, "newcomer")
        assert await taken(office, newcomer) == ["waiting for you"]

    async def test_registering_again_with_an_old_card_is_refused_and_changes_nothing(self, office: PostOffice) -> None:
        await office.register("alice", Card(description="first"))
        with pytest.raises(NameTaken):
            await office.register("alice", Card(description="second"), by=office.owner())
        assert (await office.agent("alice")).card.description == "first"

    async def test_registrations_from_one_address_are_limited_for_an_hour(self, engine: Engine) -> None:
        async with office_with(engine, registrations_per_hour=2) as office:
            await office.register("one", address="192.0.2.1")
            await office.register("two", address="192.0.2.1")
            with pytest.raises(RateLimited):
                await office.register("three", address="192.0.2.1")
            await office.register("four", address="192.0.2.2")
            await engine.advance(timedelta(hours=1))
            await office.register("three", address="192.0.2.1")
            assert (await office.agent("three")).has_key

    async def test_the_owner_registers_as_many_as_it_likes_and_uses_up_nobodys_share(self, engine: Engine) -> None:
        async with office_with(engine, registrations_per_hour=2) as office:
            for number in range(5):
                await office.register(f"of-the-team-{number}", by=office.owner(), address="192.0.2.1")
            await office.register("one", address="192.0.2.1")
            await office.register("two", address="192.0.2.1")
            with pytest.raises(RateLimited):
                await office.register("three", address="192.0.2.1")
            await office.register("three", by=office.owner(), address="192.0.2.1")


class TestAHouseOfKeys:
    async def test_a_bare_name_is_refused(self, engine: Engine) -> None:
        async with office_with(engine, auth=Auth.KEYS) as office:
            with pytest.raises(KeyRequired):
                await office.identify(name="alice")
            with pytest.raises(Unidentified):
                await office.identify()

    async def test_a_key_opens_it(self, engine: Engine) -> None:
        async with office_with(engine, auth=Auth.KEYS) as office:
            assert (await member(office, "alice")).verified

    async def test_a_name_used_keyless_before_needs_a_key_now(self, engine: Engine) -> None:
        async with office_with(engine) as office:
            await person(office, "alice")
        async with office_with(engine, auth=Auth.KEYS) as office:
            with pytest.raises(KeyRequired):
                await office.identify(name="alice")


class TestTheOwner:
    async def test_the_owners_key_makes_the_owner(self, office: PostOffice) -> None:
        key = await owner_key(office)
        assert await office.identify(key=key) == Caller("owner", verified=True, owner=True, key=key_hash(key))

    async def test_the_owner_lends_its_voice_to_a_keyless_name(self, office: PostOffice) -> None:
        caller = await office.identify(key=await owner_key(office), name="alice")
        assert (caller.name, caller.owner) == ("alice", True)

    async def test_the_owner_cannot_speak_as_an_agent_with_a_key(self, office: PostOffice) -> None:
        await office.register("alice")
        with pytest.raises(KeyRequired):
            await office.identify(key=await owner_key(office), name="alice")

    async def test_nobody_becomes_owner_by_saying_so(self, office: PostOffice) -> None:
        with pytest.raises(ReservedName):
            await office.identify(name="owner")
