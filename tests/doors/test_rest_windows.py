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


async def test_what_a_windows_tools_took_comes_back_when_it_ends_and_what_a_program_took_does_not(served: Served) -> None:
    async with served.client(name="alice") as alice, served.client() as tools, served.client(name="coder") as program:
        windows = [
            done(await tools.post("/windows", json=window(process=process, agent="coder", shared=True)), 201)["id"] for process in (1, 2)
        ]
        for _ in range(3):
            done(await alice.post("/messages/send", json={"to": "coder", "subject": "Lunch", "content": "Noon?"}), 201)
        get = {"tool": "mail_get", "args": {"limit": 1}}
        for id in windows:
            done(await tools.post("/mail/coder", json=get, headers={"X-Window": id}))
        done(await program.post("/messages/receive", json={"limit": 1}))
        assert [done(await tools.delete(f"/windows/{id}"))["returned"] for id in windows] == [1, 1]
        assert done(await program.get("/mailbox"))["leased"] == 1


async def test_tools_that_say_nothing_are_in_the_only_window_of_their_agent(served: Served) -> None:
    async with served.client(name="alice") as alice, served.client() as tools:
        id = done(await tools.post("/windows", json=window()), 201)["id"]
        done(await alice.post("/messages/send", json={"to": "shop", "subject": "Lunch", "content": "Noon?"}), 201)
        done(await tools.post("/mail/shop", json={"tool": "mail_get", "args": {}}))
        assert done(await tools.delete(f"/windows/{id}"))["returned"] == 1
