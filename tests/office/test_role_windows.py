"""Role mail and windows: what an agent would be given of its roles' mail, and what is said of a window that is rung for it."""

from datetime import timedelta

import pytest
from msgspec import UNSET

from postoffice.core.agent import Caller
from postoffice.core.delivery import Ack, Rings
from postoffice.core.errors import BadRole, NoSuchRole, NotInRole
from postoffice.core.event import Kind
from postoffice.core.window import Opened, Opening, Place, Ring
from postoffice.office import PostOffice
from postoffice.office.windows import Renewal
from tests.engines import Engine
from tests.mail import notices, people, standing, take, write

ROLE = "role:reviewer"
SILENCE = timedelta(seconds=61)


async def reviewers(office: PostOffice, **wanted: object) -> list[Caller]:
    sender, alice, bob = await people(office, "sender", "alice", "bob")
    await office.roles.make(sender, ROLE, ("alice", "bob"), **wanted)  # type: ignore[arg-type]
    return [sender, alice, bob]


async def window_of(office: PostOffice, agent: str, process: int = 1) -> Opened:
    place = Place(machine="laptop", process=process, started="1")
    return await office.open_window(None, Opening(client="claude-code", place=place, folder="/home/ann", agent=agent, ring=Ring.SOCKET))


async def seen(office: PostOffice, caller: Caller) -> list[str | None]:
    """What of its role's mail the caller could take."""
    (mail,) = await office.waiting_in_roles(caller)
    assert mail.role == ROLE
    return [message.content for message in mail.messages]


class TestLooking:
    async def test_an_agent_sees_of_its_roles_mail_what_it_would_be_given_and_takes_nothing(
        self, office: PostOffice, engine: Engine
    ) -> None:
        sender, alice, bob = await reviewers(office)
        await write(office, sender, ROLE, "first", subject="pay")
        assert await seen(office, alice) == await seen(office, bob) == ["first"]
        assert (await office.waiting(alice)).items == ()
        assert await office.waiting_in_roles(sender) == ()
        first = await take(office, alice)
        assert await seen(office, bob) == []
        await office.settle(alice, [Ack(first.message.id)])
        await write(office, sender, ROLE, "second", subject="pay")
        await write(office, sender, ROLE, "other", subject="tax")
        assert await seen(office, alice) == ["second", "other"]
        assert await seen(office, bob) == ["other"], "alice has that session"
        await engine.advance(SILENCE)  # alice is not heard of any more
        assert await seen(office, bob) == ["second", "other"]

    async def test_it_sees_no_more_than_fits_into_hands_and_of_an_orderly_role_one_letter_of_each_session(self, office: PostOffice) -> None:
        sender, alice, bob = await reviewers(office, max_in_hand=2, in_order=True)
        for subject, text in (("pay", "one"), ("pay", "two"), ("tax", "three"), ("law", "four")):
            await write(office, sender, ROLE, text, subject=subject)
        assert await seen(office, bob) == ["one", "three"]
        await take(office, alice)
        assert await seen(office, alice) == ["three"]
        await take(office, bob)
        assert await seen(office, alice) == await seen(office, bob) == []


class TestWindows:
    async def test_a_renewal_tells_the_roles_of_a_windows_agent_and_nothing_to_who_is_in_none(self, office: PostOffice) -> None:
        sender, alice, _ = await reviewers(office)
        first, other = await window_of(office, "alice"), await window_of(office, "sender", 2)
        await write(office, sender, ROLE)
        assert (await office.renew_window(None, Renewal(id=first.id))).roles == {ROLE: 1}
        assert (await office.renew_window(None, Renewal(id=other.id))).roles is UNSET
        await office.roles.change(alice, ROLE, remove=["alice"])
        assert (await office.renew_window(None, Renewal(id=first.id))).roles is UNSET

    async def test_of_a_roles_letter_rung_turn_and_vain_are_told_and_only_the_turn_it_was_rung_for_counts(self, office: PostOffice) -> None:
        sender, *_ = await reviewers(office)
        first, other = await window_of(office, "alice"), await window_of(office, "bob", 2)
        stranger = await window_of(office, "sender", 3)
        sent = (await write(office, sender, ROLE)).message_id
        assert await office.rung(None, stranger.id, [sent]) == 0
        assert await office.rung(None, first.id, [sent]) == 1
        await office.begin_turn(None, other.id)
        await office.begin_turn(None, stranger.id, [sent])
        rings = (await standing(office, sender, sent)).rung
        assert isinstance(rings, Rings)
        assert (rings.times, rings.turn_at) == (1, None)
        await office.begin_turn(None, first.id, [sent])
        rings = (await standing(office, sender, sent)).rung
        assert isinstance(rings, Rings)
        assert rings.turn_at is not None
        assert [await office.rung_in_vain(None, one.id, [sent]) for one in (stranger, first, other)] == [0, 1, 0]
        (notice,) = await notices(office, sender)
        assert ROLE in (notice.content or "")


class TestNews:
    async def test_a_roles_log_is_read_by_its_staff_its_maker_and_the_owner_alone(self, office: PostOffice) -> None:
        sender, alice, bob = await reviewers(office)
        (stranger,) = await people(office, "stranger")
        sent = await write(office, sender, ROLE)
        for entitled in (sender, alice, bob, office.owner()):
            (event,) = await office.news(entitled, of=ROLE)
            assert (event.kind, event.ref) == (Kind.NEW_MESSAGE, sent.message_id)
        with pytest.raises(NotInRole):
            await office.news(stranger, of=ROLE)
        with pytest.raises(NoSuchRole):
            await office.news(alice, of="role:none")
        with pytest.raises(BadRole):
            await office.news(alice, of="bob")
        await office.roles.change(alice, ROLE, remove=["alice"])
        with pytest.raises(NotInRole):
            await office.news(alice, 1, of=ROLE, within=timedelta(seconds=1))
