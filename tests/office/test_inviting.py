"""Invitations: a code instead of a key, good once and for an hour."""

import asyncio
from datetime import timedelta

import pytest

from postoffice.core.agent import Card
from postoffice.core.errors import BadInvite, KeyRequired, MailError, OwnerOnly, ReservedName
from postoffice.office import Auth, PostOffice
from tests.engines import Engine
from tests.mail import member, office_with, person


async def test_a_code_gives_the_agent_its_key_once(engine: Engine) -> None:
    async with office_with(engine, auth=Auth.KEYS) as office:
        invited = await office.invites.make(office.owner(), "Coder", Card(allow_from=("*",)))
        name, key = await office.invites.accept(invited.code)
        assert name == "Coder"
        assert (await office.identify(key=key)).name == "Coder"
        assert (await office.agent("coder")).card.allow_from == ("*",)
        with pytest.raises(BadInvite):
            await office.invites.accept(invited.code)


async def test_of_many_who_use_it_at_once_one_gets_a_key(office: PostOffice) -> None:
    code = (await office.invites.make(office.owner(), "coder")).code
    answers = await asyncio.gather(*[office.invites.accept(code) for _ in range(10)], return_exceptions=True)
    assert sum(isinstance(answer, tuple) for answer in answers) == 1
    assert sum(isinstance(answer, BadInvite) for answer in answers) == 9
    assert len(await office.keys(office.owner(), of="coder")) == 1


async def test_it_lasts_an_hour(office: PostOffice, engine: Engine) -> None:
    code = (await office.invites.make(office.owner(), "coder")).code
    await engine.advance(timedelta(minutes=61))
    with pytest.raises(BadInvite):
        await office.invites.accept(code)


async def test_an_agent_with_a_key_gets_one_more_and_one_without_is_locked(office: PostOffice) -> None:
    await member(office, "coder")
    await person(office, "ann")
    for name in ("coder", "ann"):
        _, key = await office.invites.accept((await office.invites.make(office.owner(), name)).code)
        assert (await office.identify(key=key)).name == name
    assert len(await office.keys(office.owner(), of="coder")) == 2
    with pytest.raises(KeyRequired):
        await office.identify(name="ann")


async def test_only_the_owner_invites_and_nobody_is_invited_as_the_office(office: PostOffice) -> None:
    with pytest.raises(OwnerOnly):
        await office.invites.make(await member(office, "alice"), "coder")
    for name in ("owner", "admin"):
        with pytest.raises(ReservedName):
            await office.invites.make(office.owner(), name)


@pytest.mark.parametrize("code", ["", "x", "\ud83d" * 3, "y" * 100_000])
async def test_what_is_no_code_opens_nothing(office: PostOffice, code: str) -> None:
    with pytest.raises(MailError):
        await office.invites.accept(code)


async def test_a_link_to_the_page_is_no_invitation_and_an_invitation_no_link(office: PostOffice) -> None:
    alice = await member(office, "alice")
    with pytest.raises(BadInvite):
        await office.invites.accept(await office.make_link(alice))
    with pytest.raises(MailError):
        await office.enter((await office.invites.make(office.owner(), "alice")).code)


async def test_no_code_stands_in_the_store(office: PostOffice) -> None:
    code = (await office.invites.make(office.owner(), "coder")).code
    assert await office.store.agents.by_login(code, "invite") is None
