"""Reservations: of all who want one file alone one gets it, until it lets go, its time comes or its window ends."""

import asyncio
from collections import Counter
from datetime import timedelta

import pytest

from postoffice.core.agent import Caller
from postoffice.core.errors import AlreadyReserved, BadLimit, Invalid, NoSuchReservation, TooLarge, TooManyReservations
from postoffice.core.event import Kind
from postoffice.core.reservation import Reservation
from postoffice.core.window import Opening, Place
from postoffice.office import PostOffice
from tests.engines import Engine
from tests.mail import people

HOME = "/home/ann/shop"
HOUR = timedelta(hours=1)


async def reserve(office: PostOffice, caller: Caller, *paths: str, **given: object) -> Reservation:
    return await office.reservations.reserve(caller, HOME, paths, **given)  # type: ignore[arg-type]


async def refused(office: PostOffice, caller: Caller, *paths: str, **given: object) -> AlreadyReserved:
    with pytest.raises(AlreadyReserved) as refusal:
        await reserve(office, caller, *paths, **given)
    return refusal.value


async def notices(office: PostOffice, caller: Caller) -> list[dict[str, object]]:
    return [message.payload for message in (await office.waiting(caller)).items if message.sender == "system"]


async def at_a_window(office: PostOffice, name: str, process: int = 1, *, shared: bool = False) -> Caller:
    place = Place("machine", process, "1")
    opened = await office.open_window(None, Opening(client="claude-code", place=place, folder=HOME, agent=name, shared=shared))
    return await office.at_window(await office.identify(name=name), opened.id)


class TestReserved:
    async def test_what_one_has_alone_no_other_gets_and_is_told_who_why_and_until_when(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        held = await reserve(office, alice, "src/pay/**", "docs/", lasts=2 * HOUR, why="moving to the new API")
        assert (held.holder, held.paths, held.exclusive, held.window) == ("alice", ("docs/**", "src/pay/**"), True, None)
        assert held.until - held.since == 2 * HOUR
        error = await refused(office, bob, "README.md", "src/pay/card.py")
        assert str(error).startswith("'src/pay/card.py' is reserved by alice until 2")
        assert str(error).endswith(", who says: 'moving to the new API'.")
        assert error.facts["reservation"] == held
        await reserve(office, bob, "README.md")
        assert [one.holder for one in await office.reservations.all(HOME)] == ["alice", "bob"]
        assert await office.reservations.all("/elsewhere") == ()

    async def test_shared_with_all_who_share_and_with_nobody_who_wants_it_alone(self, office: PostOffice) -> None:
        alice, bob, carol = await people(office, "alice", "bob", "carol")
        await reserve(office, alice, "docs", exclusive=False)
        await reserve(office, bob, "docs/**", exclusive=False)
        await refused(office, carol, "docs/x.md")
        await refused(office, alice, "docs")  # to have it alone now is to have it from bob
        await office.reservations.release(bob)
        assert (await reserve(office, alice, "docs/one.md")).exclusive

    async def test_the_same_said_again_is_the_same_with_another_end(self, office: PostOffice, engine: Engine) -> None:
        (alice,) = await people(office, "alice")
        first = await reserve(office, alice, "b", "a", why="begin")
        await engine.advance(HOUR / 2)
        again = await reserve(office, alice, "a", "./b", why="go on", exclusive=False)
        assert (again.id, again.why, again.exclusive, again.since) == (first.id, "go on", False, first.since)
        assert again.until > first.until
        assert await office.reservations.all() == (again,)

    async def test_of_a_thousand_who_claim_it_at_once_one_gets_it(self, office: PostOffice) -> None:
        callers = await people(office, *[f"agent-{number}" for number in range(20)])
        claims = [reserve(office, callers[number % 20], "src/**" if number % 2 else "src/x.py") for number in range(1000)]
        outcomes = await asyncio.gather(*claims, return_exceptions=True)
        got = [one for one in outcomes if isinstance(one, Reservation)]
        assert {one.holder for one in got} == {got[0].holder}
        assert Counter(type(one) for one in outcomes) == {Reservation: len(got), AlreadyReserved: 1000 - len(got)}
        assert {one.holder for one in await office.reservations.all()} == {got[0].holder}

    async def test_what_makes_no_sense_is_refused(self, office: PostOffice) -> None:
        (alice,) = await people(office, "alice")
        for lasts in (timedelta(0), timedelta(hours=12, seconds=1)):
            with pytest.raises(BadLimit):
                await reserve(office, alice, "x", lasts=lasts)
        with pytest.raises(TooLarge):
            await reserve(office, alice, "x", why="y" * 501)
        for path in ("../x", "/etc/passwd"):
            with pytest.raises(Invalid):
                await reserve(office, alice, path)
        with pytest.raises(Invalid):
            await office.reservations.release(alice, None, ["x"])
        assert await office.reservations.all() == ()
        assert (await reserve(office, alice, "x", lasts=timedelta(hours=12))).paths == ("x",)

    async def test_one_agent_has_no_more_than_a_hundred(self, office: PostOffice) -> None:
        (alice,) = await people(office, "alice")
        await asyncio.gather(*[reserve(office, alice, f"{number}.md") for number in range(100)])
        with pytest.raises(TooManyReservations):
            await reserve(office, alice, "one-more.md")
        await reserve(office, alice, "7.md")


class TestEnding:
    async def test_it_ends_at_its_time_and_not_before(self, office: PostOffice, engine: Engine) -> None:
        alice, bob = await people(office, "alice", "bob")
        await reserve(office, alice, "src", lasts=HOUR)
        await engine.advance(HOUR - timedelta(minutes=1))
        await refused(office, bob, "src")
        await engine.advance(timedelta(minutes=1))
        await reserve(office, bob, "src")  # no tick has been needed
        await office.upkeep.tick()
        assert [one.holder for one in await office.reservations.all()] == ["bob"]
        told = [event.data["state"] for event in await office.news(alice) if event.kind is Kind.RESERVATION]
        assert told == ["held", "ended"]

    async def test_its_windows_end_frees_it_closed_or_lost(self, office: PostOffice, engine: Engine) -> None:
        (bob,) = await people(office, "bob")
        for lost in (False, True):
            coder = await at_a_window(office, "coder", 1 + lost)
            held = await reserve(office, coder, "src")
            assert held.window == coder.window
            await refused(office, bob, "src/x.py")
            if lost:
                await engine.advance(timedelta(seconds=16))
            else:
                await office.close_window(None, str(coder.window))
            assert (await reserve(office, bob, "src/x.py")).holder == "bob"
            await office.reservations.release(bob)
            await office.upkeep.tick()
            assert await office.reservations.all() == ()

    async def test_a_window_that_is_not_its_own_does_not_hold_it(self, office: PostOffice) -> None:
        (bob,) = await people(office, "bob")
        coder = await at_a_window(office, "coder")
        held = await office.reservations.reserve(Caller("bob", verified=False, window=coder.window), HOME, ["x"])
        assert held.window is None
        await office.close_window(None, str(coder.window))
        assert (await office.reservations.all())[0].holder == bob.name

    async def test_windows_that_share_a_mailbox_keep_out_of_each_others_files(self, office: PostOffice) -> None:
        one, other = [await at_a_window(office, "coder", process, shared=True) for process in (1, 2)]
        await reserve(office, one, "src")
        await refused(office, other, "src")
        assert len(await office.reservations.in_the_way(other, [(HOME, "src/x.py")])) == 1
        assert await office.reservations.release(other) == ()
        assert len(await office.reservations.release(one)) == 1

    async def test_it_is_released_wholly_or_path_by_path(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        await reserve(office, alice, "a", "b")
        await office.reservations.reserve(alice, "/other", ["c"])
        assert [one.paths for one in await office.reservations.release(alice, HOME, ["./a", "nothing"])] == [("a",)]
        await reserve(office, bob, "a")
        await refused(office, bob, "b")
        assert await office.reservations.release(bob, HOME, ["b"]) == ()
        assert [one.paths for one in await office.reservations.release(alice, HOME)] == [("b",)]
        assert [one.paths for one in await office.reservations.release(alice)] == [("c",)]
        assert [one.holder for one in await office.reservations.all()] == ["bob"]

    async def test_the_owner_breaks_any_and_its_holder_is_told(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        held = await reserve(office, alice, "src")
        with pytest.raises(NoSuchReservation):
            await office.reservations.end(bob, held.id)
        assert (await office.reservations.end(office.owner(), held.id)).id == held.id
        with pytest.raises(NoSuchReservation):
            await office.reservations.end(office.owner(), held.id)
        await reserve(office, bob, "src")
        (notice,) = await notices(office, alice)
        assert (notice["kind"], notice["reservation_id"], notice["paths"]) == ("reservation_broken", held.id, ["src"])
        mine = await reserve(office, alice, "docs")
        assert (await office.reservations.end(alice, mine.id)).id == mine.id
        assert len(await notices(office, alice)) == 1


class TestToldWhenFree:
    async def test_a_letter_comes_once_when_it_is_released(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        await reserve(office, alice, "src", "docs")
        for _ in range(2):
            await refused(office, bob, "src/x.py", tell=True)
        await office.reservations.release(alice, HOME, ["docs"])
        await office.upkeep.tick()
        assert await notices(office, bob) == []
        await office.reservations.release(alice)
        (notice,) = await notices(office, bob)
        assert (notice["kind"], notice["project"], notice["paths"]) == ("reservation_free", HOME, ["src/x.py"])
        await office.upkeep.tick()
        assert len(await notices(office, bob)) == 1

    async def test_also_when_its_time_comes_or_it_is_broken_and_not_while_a_third_has_it(self, office: PostOffice, engine: Engine) -> None:
        alice, bob, carol = await people(office, "alice", "bob", "carol")
        await reserve(office, alice, "a", exclusive=False, lasts=HOUR)
        held = await reserve(office, carol, "a", exclusive=False, lasts=3 * HOUR)
        await refused(office, bob, "a", tell=True)
        await engine.advance(HOUR)
        await office.upkeep.tick()
        assert await notices(office, bob) == []
        await office.reservations.end(office.owner(), held.id)
        assert [one["kind"] for one in await notices(office, bob)] == ["reservation_free"]
        await reserve(office, alice, "b", lasts=HOUR)
        await refused(office, bob, "b", tell=True)
        await engine.advance(HOUR)
        await office.upkeep.tick()
        assert len(await notices(office, bob)) == 2

    async def test_who_got_it_meanwhile_waits_no_more(self, office: PostOffice, engine: Engine) -> None:
        alice, bob = await people(office, "alice", "bob")
        await reserve(office, alice, "a", lasts=HOUR)
        await refused(office, bob, "a", tell=True)
        await engine.advance(HOUR)
        await reserve(office, bob, "a")
        await office.upkeep.tick()
        assert await notices(office, bob) == []


class TestEdits:
    async def test_only_what_others_have_alone_is_in_the_way(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        held = await reserve(office, alice, "src/[id]/*.py", "docs")
        await reserve(office, alice, "shared", exclusive=False)
        for path, found in (("src/[id]/x.py", [held]), ("src/7/x.py", [held]), ("src/7/x.ts", []), ("shared/x", []), ("docs/a/b", [held])):
            assert list(await office.reservations.in_the_way(bob, [(HOME, path)])) == found
            assert await office.reservations.in_the_way(alice, [(HOME, path)]) == ()
        assert await office.reservations.in_the_way(bob, [(f"{HOME}/docs", "a"), (HOME, "docs/a")]) == (held,)
