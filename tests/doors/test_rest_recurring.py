"""Recurring letters over REST, and by the SDK."""

from postoffice.client.mailbox import Mailbox
from tests.doors.callers import Callers, done, refused
from tests.doors.served import Served


async def test_one_is_begun_listed_and_stopped(callers: Callers) -> None:
    alice, bob = await callers.named("alice", "bob")
    body = {
        "every": "0 9 * * 1-5",
        "zone": "Europe/Berlin",
        "missed": "skip",
        "to": "bob",
        "subject": "Stand-up",
        "content": "Where are we?",
    }
    one = done(await alice.post("/recurring", json=body), 201)
    assert (one["every"], one["zone"], one["missed"], one["sent"], one["trouble"]) == ("0 9 * * 1-5", "Europe/Berlin", "skip", 0, None)
    assert one["letter"] == {"to": "bob", "subject": "Stand-up", "content": "Where are we?"}
    assert done(await alice.get("/recurring"))["recurring"] == [one]
    assert done(await bob.get("/recurring"))["recurring"] == []
    refused(await bob.delete(f"/recurring/{one['id']}"), 404, "no_such_recurring")
    assert done(await alice.delete(f"/recurring/{one['id']}"))["id"] == one["id"]
    refused(await alice.post("/recurring", json=body | {"every": "often"}), 422, "invalid")
    refused(await alice.post("/recurring", json=body | {"zone": "Mars"}), 422, "invalid")


async def test_a_program_has_letters_sent_again_and_again(served: Served) -> None:
    async with Mailbox("alice", server=served.url) as alice:
        one = await alice.recur("0 9 1 * *", ["bob", "carol"], "Invoices", zone="Europe/Berlin", priority=2)
        assert [item["id"] for item in await alice.recurring()] == [one["id"]]
        assert (await alice.stop_recurring(one["id"]))["letter"]["to"] == ["bob", "carol"]
        assert await alice.recurring() == []
