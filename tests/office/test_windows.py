"""Windows: where clients are open, the names they get, and what happens when they end."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest
from msgspec import UNSET

from postoffice.core.agent import Caller
from postoffice.core.delivery import Rings, State
from postoffice.core.errors import (
    BadKey,
    KeyRequired,
    MachineOnly,
    NoSuchKey,
    NoSuchWindow,
    NotAdmitted,
    OwnerOnly,
    Unidentified,
    WindowTaken,
)
from postoffice.core.task import TaskState
from postoffice.core.window import LEASE, Opened, Opening, Place, Ring, WindowState
from postoffice.office import Auth, PostOffice
from postoffice.office.windows import Renewal
from tests.engines import Engine
from tests.mail import ask, at, member, notices, office_with, people, standing, take, write

PAST_ITS_LEASE = LEASE + timedelta(seconds=1)


def opening(process: int, folder: str = "/home/ann/shop", **fields: Any) -> Opening:
    return Opening(client="claude-code", place=Place("laptop", process, "1000"), folder=folder, **fields)


async def open_one(office: PostOffice, process: int, caller: Caller | None = None, **fields: Any) -> Opened:
    return await office.open_window(caller, opening(process, **fields))


class TestNames:
    async def test_a_window_is_called_as_its_folder_and_a_second_one_there_by_the_next_number(self, office: PostOffice) -> None:
        assert [(await open_one(office, process)).agent for process in (1, 2, 3)] == ["shop", "shop-2", "shop-3"]

    async def test_windows_that_open_together_never_get_one_name(self, office: PostOffice) -> None:
        opened = await asyncio.gather(*[open_one(office, process) for process in range(20)])
        assert len({one.agent for one in opened}) == 20

    async def test_more_windows_than_are_looked_at_together_all_get_a_name(self, office: PostOffice) -> None:
        opened = [await open_one(office, process) for process in range(34)]
        assert opened[-1].agent == "shop-34"

    async def test_stdio_and_a_hook_of_one_process_are_one_window(self, office: PostOffice) -> None:
        first, second = await asyncio.gather(open_one(office, 1), open_one(office, 1, session="abc"))
        assert first.id == second.id
        assert first.agent == second.agent == "shop"
        (only,) = await office.windows()
        assert only.session == "abc"

    async def test_a_fresh_session_takes_the_lowest_free_name_with_its_mail_and_says_so(self, office: PostOffice) -> None:
        (alice,) = await people(office, "alice")
        first = await open_one(office, 1)
        await open_one(office, 2)
        await write(office, alice, "shop")
        await office.close_window(None, first.id)
        third = await open_one(office, 3)
        assert (third.agent, third.waiting, third.new) == ("shop", 1, False)

    async def test_a_resumed_session_gets_its_own_name_back_also_after_a_reboot(self, office: PostOffice, engine: Engine) -> None:
        await open_one(office, 1, session="one")
        await open_one(office, 2, session="two")
        await engine.advance(timedelta(days=3))
        back = await open_one(office, 77, session="two")
        assert (back.agent, back.resumed, back.was) == ("shop-2", True, None)
        assert (await open_one(office, 78, session="three")).agent == "shop"

    async def test_a_resumed_session_whose_name_is_held_gets_the_next_and_is_told(self, office: PostOffice) -> None:
        first = await open_one(office, 1, session="one")
        await office.close_window(None, first.id)
        await open_one(office, 2, session="two")
        back = await open_one(office, 3, session="one")
        assert (back.agent, back.resumed, back.was) == ("shop-2", False, "shop")

    async def test_a_new_session_in_the_same_process_keeps_the_name(self, office: PostOffice) -> None:
        first = await open_one(office, 1, session="one")
        second = await open_one(office, 2, session="two")
        await office.close_window(None, first.id)
        cleared = await open_one(office, 2, session="another")
        assert (cleared.agent, cleared.id) == ("shop-2", second.id)

    async def test_a_process_that_lost_its_lease_asleep_gets_its_name_back(self, office: PostOffice, engine: Engine) -> None:
        await open_one(office, 1)
        await open_one(office, 2)
        await engine.advance(timedelta(hours=8))
        await office.upkeep.tick()
        assert await office.windows() == ()
        assert (await open_one(office, 2)).agent == "shop-2"

    async def test_a_name_that_a_person_chose_is_nobody_elses(self, office: PostOffice) -> None:
        await people(office, "shop")
        assert (await open_one(office, 1)).agent == "shop-2"

    async def test_a_name_that_only_received_mail_is_free(self, office: PostOffice) -> None:
        (alice,) = await people(office, "alice")
        await write(office, alice, "shop")
        opened = await open_one(office, 1)
        assert (opened.agent, opened.waiting) == ("shop", 1)

    async def test_a_person_may_say_the_name_and_a_second_window_gets_the_next(self, office: PostOffice) -> None:
        first, second = [await open_one(office, process, agent="coder") for process in (1, 2)]
        assert (first.agent, second.agent) == ("coder", "coder-2")
        await office.close_window(None, first.id)
        assert (await open_one(office, 3, folder="/x/coder")).agent == "coder-3"  # what a person chose stays reserved

    async def test_two_windows_share_a_mailbox_only_where_both_say_so(self, office: PostOffice) -> None:
        first = await open_one(office, 1, agent="coder", shared=True)
        assert (await open_one(office, 2, agent="coder", shared=True)).agent == "coder"
        assert (await open_one(office, 3, agent="coder")).agent == "coder-2"
        assert len(await office.windows("coder")) == 2
        assert first.agent == "coder"

    @pytest.mark.parametrize(
        ("folder", "name"),
        [
            ("/home/ann/My Shop (old)/", "my-shop-old"),
            ("C:\\Users\\Ann\\Läden", "laden"),
            ("/srv/owner", "window-owner"),
            ("/srv/nul.txt", "window-nul.txt"),
            ("/", "window"),
            ("/home/ann/店", "window"),
            ("/x/" + "a" * 300, "a" * 90),
        ],
    )
    async def test_a_folders_name_is_folded_to_a_legal_free_one(self, office: PostOffice, folder: str, name: str) -> None:
        assert (await open_one(office, 1, folder=folder)).agent == name


class TestLife:
    async def test_a_window_ends_when_it_is_not_renewed(self, office: PostOffice, engine: Engine) -> None:
        opened = await open_one(office, 1)
        await engine.advance(LEASE - timedelta(seconds=1))
        await office.renew_window(None, Renewal(id=opened.id))
        await engine.advance(LEASE - timedelta(seconds=1))
        await office.upkeep.tick()
        assert len(await office.windows()) == 1
        await engine.advance(timedelta(seconds=2))
        assert await office.windows() == ()
        await office.upkeep.tick()
        with pytest.raises(NoSuchWindow):
            await office.renew_window(None, Renewal(id=opened.id))

    async def test_renewing_tells_of_its_name_state_and_mail(self, office: PostOffice) -> None:
        (alice,) = await people(office, "alice")
        opened = await open_one(office, 1)
        await write(office, alice, "shop")
        renewed = await office.renew_window(None, Renewal(id=opened.id, state=WindowState.BUSY, ring=Ring.SOCKET))
        assert (renewed.agent, renewed.state, renewed.ring, renewed.waiting) == ("shop", "busy", "socket", 1)
        (only,) = await office.windows()
        assert (only.state, only.ring) == ("busy", "socket")

    async def test_several_are_renewed_at_once_and_each_is_answered_by_itself(self, office: PostOffice) -> None:
        first, second = await open_one(office, 1), await open_one(office, 2)
        await office.close_window(None, first.id)
        gone, kept = await office.renew_windows(None, [Renewal(id=first.id), Renewal(id=second.id)])
        assert isinstance(gone, NoSuchWindow)
        assert not isinstance(kept, Exception)

    @pytest.mark.parametrize("how", ["closed", "lost"])
    async def test_what_an_ended_window_had_in_hand_waits_again_and_was_an_attempt(
        self, office: PostOffice, engine: Engine, how: str
    ) -> None:
        alice, shop = await people(office, "alice", "bob")
        opened = await open_one(office, 1, agent="bob")
        sent = await write(office, alice, "bob")
        await take(office, at(shop, opened), visible_for=timedelta(hours=1))
        if how == "closed":
            assert (await office.close_window(None, opened.id)).returned == 1
        else:
            await engine.advance(PAST_ITS_LEASE)
            await office.upkeep.tick()
        stands = await standing(office, alice, sent.message_id)
        assert (stands.state, stands.attempts) == (State.PENDING, 1)
        assert (await take(office, shop)).attempt == 2

    async def test_a_window_that_takes_a_name_over_keeps_what_it_takes_itself(self, office: PostOffice, engine: Engine) -> None:
        (alice,) = await people(office, "alice")
        first = await open_one(office, 1)
        sent = await write(office, alice, "shop")
        shop = Caller("shop", verified=False)
        await take(office, at(shop, first), visible_for=timedelta(hours=1))
        await engine.advance(PAST_ITS_LEASE)
        second = await open_one(office, 2)  # nobody has swept yet
        await take(office, at(shop, second), visible_for=timedelta(hours=1))
        await office.upkeep.tick()
        assert (await standing(office, alice, sent.message_id)).state is State.LEASED

    async def test_a_letter_tried_too_often_by_windows_that_ended_is_dead(self, engine: Engine) -> None:
        async with office_with(engine, max_attempts=1) as office:
            alice, bob = await people(office, "alice", "bob")
            opened = await open_one(office, 1, agent="bob")
            sent = await write(office, alice, "bob")
            await take(office, at(bob, opened))
            await office.close_window(None, opened.id)
            assert (await standing(office, alice, sent.message_id)).state is State.DEAD


class TestWhoMay:
    async def test_a_name_with_a_key_needs_its_key(self, office: PostOffice) -> None:
        keyed = await member(office, "coder")
        with pytest.raises(KeyRequired):
            await open_one(office, 1, agent="coder")
        opened = await open_one(office, 1, keyed)
        assert opened.agent == "coder"
        for stranger in (None, *await people(office, "bob")):
            with pytest.raises(NoSuchWindow):
                await office.close_window(stranger, opened.id)
        with pytest.raises(WindowTaken):
            await open_one(office, 2, keyed)
        assert (await office.close_window(keyed, opened.id)).agent == "coder"

    async def test_a_folder_does_not_get_a_name_with_a_key(self, office: PostOffice) -> None:
        await member(office, "shop")
        assert (await open_one(office, 1)).agent == "shop-2"
        assert (await open_one(office, 2, office.owner())).agent == "shop-3"

    async def test_a_keyed_office_wants_to_know_who_asks(self, engine: Engine) -> None:
        async with office_with(engine, auth=Auth.KEYS) as office:
            with pytest.raises(Unidentified):
                await open_one(office, 1)
            keyed = await member(office, "coder")
            opened = await open_one(office, 1, keyed)
            with pytest.raises(Unidentified):
                await office.renew_window(None, Renewal(id=opened.id))
            assert (await open_one(office, 2, office.owner())).agent == "shop"


class TestRinging:
    async def test_rung_turn_begun_and_taken_are_three_things_in_the_senders_status(self, office: PostOffice, engine: Engine) -> None:
        alice, bob = await people(office, "alice", "bob")
        opened = await open_one(office, 1, agent="bob", ring=Ring.SOCKET)
        sent = await write(office, alice, "bob")
        assert (await standing(office, alice, sent.message_id)).rung is UNSET
        assert await office.rung(None, opened.id, [sent.message_id]) == 1
        await engine.advance(timedelta(seconds=5))
        await office.renew_window(None, Renewal(id=opened.id))
        rings = await rings_of(office, alice, sent.message_id)
        assert (rings.times, rings.turn_at) == (1, None)
        assert (await office.begin_turn(None, opened.id)).state == "busy"
        rings = await rings_of(office, alice, sent.message_id)
        assert rings.turn_at is not None
        assert rings.turn_at > rings.last_at
        assert (await standing(office, alice, sent.message_id)).state is State.PENDING
        await take(office, bob)
        assert (await standing(office, alice, sent.message_id)).state is State.LEASED

    async def test_nothing_is_rung_for_that_was_read_meanwhile_or_is_somebody_elses(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        opened = await open_one(office, 1, agent="bob")
        read, others = await write(office, alice, "bob"), await write(office, bob, "alice")
        await office.pop(bob)
        assert await office.rung(None, opened.id, [read.message_id, others.message_id, "no id"]) == 0
        assert (await standing(office, alice, read.message_id)).rung is UNSET

    async def test_rings_in_one_group_all_count(self, office: PostOffice) -> None:
        (alice,) = await people(office, "alice")
        opened = await open_one(office, 1)
        sent = await write(office, alice, "shop")
        await asyncio.gather(*[office.rung(None, opened.id, [sent.message_id]) for _ in range(3)], office.begin_turn(None, opened.id))
        assert (await rings_of(office, alice, sent.message_id)).times == 3

    async def test_rung_in_vain_is_told_to_the_sender_once(self, office: PostOffice) -> None:
        (alice,) = await people(office, "alice")
        opened = await open_one(office, 1)
        sent = await write(office, alice, "shop")
        assert await office.rung_in_vain(None, opened.id, [sent.message_id]) == 0  # nobody has rung yet
        for _ in range(4):
            await office.rung(None, opened.id, [sent.message_id])
        assert [await office.rung_in_vain(None, opened.id, [sent.message_id]) for _ in range(2)] == [1, 0]
        (notice,) = await notices(office, alice)
        assert notice.payload == {"kind": "rung_in_vain", "message_id": sent.message_id, "to": "shop", "times": 4}
        assert (await rings_of(office, alice, sent.message_id)).told_at is not None
        assert await office.rung(None, opened.id, [notice.id]) == 0  # a notice to alice is none of the window's

    async def test_a_purged_message_leaves_no_rings_behind(self, engine: Engine) -> None:
        async with office_with(engine, retention=timedelta(hours=1)) as office:
            alice, bob = await people(office, "alice", "bob")
            opened = await open_one(office, 1, agent="bob")
            sent = await write(office, alice, "bob")
            await office.rung(None, opened.id, [sent.message_id])
            await office.pop(bob)
            await engine.advance(timedelta(hours=2))
            assert await office.store.sweeps.purge(timedelta(hours=1)) == 1
            again = await write(office, alice, "bob")
            assert (await standing(office, alice, again.message_id)).rung is UNSET


async def rings_of(office: PostOffice, caller: Caller, ref: str) -> Rings:
    rings = (await standing(office, caller, ref)).rung
    assert isinstance(rings, Rings)
    return rings


class TestMachines:
    async def test_a_machine_opens_windows_under_its_prefix_and_speaks_for_their_agents_only(self, engine: Engine) -> None:
        async with office_with(engine, auth=Auth.KEYS) as office:
            raw, made = await office.machines.make_key(office.owner(), "Ann")
            assert (made.prefix, made.shown) == ("ann", raw[:8])
            machine = await office.identify(key=raw, machine=True)
            first, second = [await open_one(office, process, machine, session=str(process)) for process in (1, 2)]
            assert (first.agent, second.agent) == ("ann-shop", "ann-shop-2")
            assert (await open_one(office, 3, machine, agent="coder")).agent == "ann-coder"
            speaker = await office.identify(key=raw, name="ann-shop")
            assert (speaker.name, speaker.verified, speaker.owner) == ("ann-shop", True, False)
            await member(office, "ann-old")  # begins alike, and is no window's
            for name in (None, "bob", "owner", "ann-old", "ann"):
                with pytest.raises(MachineOnly):
                    await office.identify(key=raw, name=name)
            assert (await office.renew_window(machine, Renewal(id=second.id))).agent == "ann-shop-2"
            with pytest.raises(BadKey):
                await office.add_key(speaker)

    async def test_a_machine_has_no_say_over_anothers_windows(self, engine: Engine) -> None:
        async with office_with(engine, auth=Auth.KEYS) as office:
            keys = [(await office.machines.make_key(office.owner(), prefix))[0] for prefix in ("ann", "ben")]
            ann, ben = [await office.identify(key=key, machine=True) for key in keys]
            opened = await open_one(office, 1, ann)
            with pytest.raises(NoSuchWindow):
                await office.close_window(ben, opened.id)
            with pytest.raises(MachineOnly):
                await office.identify(key=keys[1], name="ann-shop")
            assert (await open_one(office, 2, ben, agent="ann-shop")).agent == "ben-ann-shop"

    async def test_windows_of_one_machine_and_the_owner_write_to_them_at_once_and_nobody_else(self, engine: Engine) -> None:
        async with office_with(engine, auth=Auth.KEYS) as office:
            keys = [(await office.machines.make_key(office.owner(), prefix))[0] for prefix in ("ann", "ben")]
            ann, ben = [await office.identify(key=key, machine=True) for key in keys]
            for process, machine in enumerate((ann, ann, ben)):
                await open_one(office, process, machine)
            alike = await member(office, "ann-shop-3")  # begins alike, and is no window's
            shop = await office.identify(key=keys[0], name="ann-shop")
            for sender in (shop, office.owner()):
                sent = await write(office, sender, "ann-shop-2")
                assert (await standing(office, sender, sent.message_id)).state is State.PENDING
            asked = await ask(office, shop, "ann-shop-2")
            assert (
                await office.update_task(await office.identify(key=keys[0], name="ann-shop-2"), asked.message_id, TaskState.ACCEPTED)
            ).state
            for stranger in (alike, await office.identify(key=keys[1], name="ben-shop")):
                with pytest.raises(NotAdmitted):
                    await write(office, stranger, "ann-shop")

    async def test_a_key_that_was_taken_back_opens_nothing(self, engine: Engine) -> None:
        async with office_with(engine, auth=Auth.KEYS) as office:
            raw, _ = await office.machines.make_key(office.owner(), "ann")
            machine = await office.identify(key=raw, machine=True)
            await open_one(office, 1, machine)
            assert await office.machines.revoke(office.owner(), "ANN") == 1
            for name in (None, "ann-shop"):
                with pytest.raises(BadKey):
                    await office.identify(key=raw, name=name, machine=True)
            assert await office.machines.all(office.owner()) == ()
            with pytest.raises(NoSuchKey):
                await office.machines.revoke(office.owner(), "ann")

    async def test_only_the_owner_gives_machines_keys(self, office: PostOffice) -> None:
        for caller in (await member(office, "coder"), *await people(office, "bob")):
            with pytest.raises(OwnerOnly):
                await office.machines.make_key(caller, "ann")
