"""Windows by the SDK: the calls that a bell makes."""

from postoffice.client.windows import Windows
from tests.doors.callers import done
from tests.doors.served import serving
from tests.engines import Engine

PLACE = {"process": 4711, "started": "8123", "folder": "/home/ann/shop", "machine": "laptop"}


async def test_a_bell_opens_renews_rings_and_closes(engine: Engine) -> None:
    async with (
        serving(engine) as served,
        Windows(served.url) as windows,
        Windows(served.url, agent="shop") as shop,
        served.client(name="alice") as alice,
    ):
        opened = await windows.open(client="claude-code", ring="socket", session="s1", **PLACE)  # type: ignore[arg-type]
        assert opened["agent"] == "shop"
        sent = done(await alice.post("/messages/send", json={"to": "shop", "subject": "Lunch", "content": "Noon?"}), 201)
        renewed = await windows.renew({"id": opened["id"], "state": "idle"})
        assert (renewed["windows"][0]["waiting"], renewed["gone"]) == (1, [])
        assert await windows.rung(opened["id"], [sent["message_id"]]) == 1
        assert (await windows.turn(opened["id"]))["state"] == "busy"
        assert await windows.untaken(opened["id"], [sent["message_id"]]) == 1
        (stands,) = done(await alice.get(f"/messages/{sent['message_id']}/status"))["standings"]
        assert stands["rung"]["times"] == 1
        assert stands["rung"]["turn_at"] > stands["rung"]["last_at"]
        (seen,) = await shop.open_now("shop")
        assert seen["folder"] == "/home/ann/shop"
        assert (await windows.close(opened["id"]))["returned"] == 0
        assert await shop.open_now() == []
