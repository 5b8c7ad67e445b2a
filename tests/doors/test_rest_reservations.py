"""Files are reserved and released over REST, and by the SDK."""

from datetime import datetime, timedelta

import pytest

from postoffice.client.mailbox import Mailbox
from postoffice.core.errors import AlreadyReserved
from tests.doors.callers import Callers, done, refused
from tests.doors.served import Served

HOME = "/home/ann/shop"


async def test_files_are_reserved_checked_and_released(callers: Callers) -> None:
    alice, bob = await callers.named("alice", "bob")
    asked = {"project": HOME, "paths": ["src/"], "seconds": 600, "why": "moving"}
    held = done(await alice.post("/reservations", json=asked), 201)
    assert (held["holder"], held["paths"], held["why"], held["exclusive"]) == ("alice", ["src/**"], "moving", True)
    assert datetime.fromisoformat(held["until"]) - datetime.fromisoformat(held["since"]) == timedelta(minutes=10)
    told = refused(await bob.post("/reservations", json=asked | {"paths": ["src/x.py"], "tell": True}), 409, "already_reserved")
    assert told.startswith("'src/x.py' is reserved by alice until ")
    assert told.endswith("who says: 'moving'.")
    files = {"files": [{"project": HOME, "path": "src/x.py"}, {"project": HOME, "path": "docs/x.md"}]}
    assert done(await bob.post("/reservations/check", json=files))["reservations"] == [held]
    assert done(await alice.post("/reservations/check", json=files))["reservations"] == []
    assert done(await bob.get("/reservations", params={"project": HOME}))["reservations"] == [held]
    assert done(await bob.get("/reservations", params={"project": "/other"}))["reservations"] == []
    refused(await bob.delete(f"/reservations/{held['id']}"), 404, "no_such_reservation")
    assert done(await alice.post("/reservations/release", json={"project": HOME, "paths": ["src/"]}))["reservations"] == [held]
    assert done(await alice.post("/reservations/release"))["reservations"] == []
    (letter,) = done(await bob.post("/messages/receive", json={}))["messages"]
    assert (letter["from"], letter["payload"]["kind"]) == ("system", "reservation_free")
    frames = [event for event in done(await alice.get("/events"))["events"] if event["type"] == "reservation"]
    assert [(frame["state"], frame["reservation_id"]) for frame in frames] == [("held", held["id"]), ("released", held["id"])]


async def test_what_makes_no_sense_is_refused(callers: Callers) -> None:
    (alice,) = await callers.named("alice")
    for wrong, status, code in (
        ({"paths": []}, 422, "invalid"),
        ({"paths": ["../x"]}, 422, "invalid"),
        ({"seconds": 43_201}, 422, "bad_limit"),
        ({"seconds": 0}, 422, "bad_limit"),
        ({"project": "a/../b"}, 422, "invalid"),
    ):
        refused(await alice.post("/reservations", json={"project": HOME, "paths": ["x"]} | wrong), status, code)


async def test_a_program_reserves_and_the_owner_ends_it(served: Served) -> None:
    async with Mailbox("alice", server=served.url) as alice, Mailbox("bob", server=served.url) as bob:
        held = await alice.reserve(HOME, ["a.py", "b.py"], 60, "both")
        with pytest.raises(AlreadyReserved, match="who says: 'both'"):
            await bob.reserve(HOME, ["b.py"])
        assert await bob.in_the_way(HOME, ["a.py"]) == [held]
        assert [one["paths"] for one in await alice.release(HOME, ["a.py"])] == [["a.py"]]
        assert [one["paths"] for one in await bob.reservations(HOME)] == [["b.py"]]
        assert (await alice.end_reservation(held["id"]))["paths"] == ["b.py"]
        assert await bob.reservations() == []
