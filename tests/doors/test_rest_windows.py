"""Windows over REST: open, renew, close, and who sees where they stand."""

from typing import Any

from tests.doors.callers import done, refused
from tests.doors.served import Served

PLACE = {"process": 4711, "started": "8123", "folder": "/home/ann/shop", "machine": "laptop"}


def window(**fields: Any) -> dict[str, Any]:
    return {"client": "claude-code", **PLACE, **fields}


async def test_a_window_opens_renews_and_closes_without_a_name(served: Served) -> None:
    async with served.client() as bell, served.client(name="alice") as alice:
        opened = done(await bell.post("/windows", json=window(session="s1", ring="socket")), 201)
        assert (opened["agent"], opened["new"], opened["lease_seconds"]) == ("shop", True, 15)
        assert done(await bell.post("/windows", json=window(session="s1")))["id"] == opened["id"]
        done(await alice.post("/messages/send", json={"to": "shop", "subject": "Lunch", "content": "Noon?"}), 201)
        renewed = done(await bell.put(f"/windows/{opened['id']}", json={"state": "busy"}))
        assert (renewed["agent"], renewed["state"], renewed["ring"], renewed["waiting"]) == ("shop", "busy", "socket", 1)
        gone = "0199d2a0-0000-7000-8000-000000000005"
        many = done(await bell.put("/windows", json={"windows": [{"id": opened["id"], "state": "idle"}, {"id": gone}]}))
        assert ([one["state"] for one in many["windows"]], many["gone"]) == (["idle"], [gone])
        assert done(await bell.delete(f"/windows/{opened['id']}"))["agent"] == "shop"
        refused(await bell.put(f"/windows/{opened['id']}", json={}), 404, "no_such_window")


async def test_path_process_and_machine_are_shown_to_the_owner_and_the_agent_itself_only(served: Served) -> None:
    async with served.client() as bell, served.client(name="alice") as alice, served.client(name="shop") as shop:
        done(await bell.post("/windows", json=window(session="s1")), 201)
        (seen,) = done(await alice.get("/windows"))["windows"]
        assert (seen["agent"], seen["client"]) == ("shop", "claude-code")
        assert not seen.keys() & {"session", *PLACE}
        async with served.client(key=served.owner_key) as owner:
            for entitled in (shop, owner):
                (whole,) = done(await entitled.get("/windows", params={"agent": "shop"}))["windows"]
                assert {**PLACE, "session": "s1"}.items() <= whole.items()


async def test_a_keyed_office_opens_no_window_for_a_stranger(guarded: Served) -> None:
    async with guarded.client() as stranger, guarded.client(key=guarded.owner_key) as owner:
        refused(await stranger.post("/windows", json=window()), 401, "unidentified")
        assert done(await owner.post("/windows", json=window()), 201)["agent"] == "shop"
