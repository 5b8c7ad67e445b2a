"""Letters with times of their own over REST, and by the SDK."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

from postoffice.client.mailbox import Mailbox
from postoffice.core.clock import sender_id
from tests.doors.callers import Callers, done, refused
from tests.doors.served import Served

HOUR = timedelta(hours=1)


def letter(**fields: Any) -> dict[str, Any]:
    return {"to": "bob", "subject": "Times", "content": "hello", "id": sender_id()} | fields


async def test_a_letter_waits_for_its_time_and_is_taken_back(callers: Callers) -> None:
    alice, bob = await callers.named("alice", "bob")
    at = (datetime.now(UTC) + HOUR).replace(microsecond=0)
    sent = done(await alice.post("/messages/send", json=letter(deliver_at=at.isoformat())), 201)
    assert datetime.fromisoformat(sent["deliver_at"]) == at
    (standing,) = done(await alice.get(f"/messages/{sent['id']}/status"))["standings"]
    assert (standing["state"], standing["deliver_at"]) == ("held", sent["deliver_at"])
    assert done(await bob.post("/messages/receive", json={}))["messages"] == []
    assert done(await bob.get("/inbox"))["sessions"] == []
    canceled = done(await alice.post(f"/messages/{sent['id']}/cancel"))
    assert canceled["recipients"][0]["canceled"] is True
    assert done(await bob.get("/dead-letters"))["dead_letters"] == []


async def test_what_comes_due_is_news_and_carries_its_times(callers: Callers) -> None:
    alice, bob = await callers.named("alice", "bob")
    sent = done(await alice.post("/messages/send", json=letter(deliver_in=1, expires_in=60)), 201)
    assert done(await bob.post("/messages/receive", json={}))["messages"] == []
    await asyncio.sleep(1.1)
    (got,) = done(await bob.post("/messages/receive", json={}))["messages"]
    assert datetime.now(UTC) >= datetime.fromisoformat(sent["deliver_at"])
    assert (got["deliver_at"], got["expires_at"]) == (sent["deliver_at"], sent["expires_at"])
    (news,) = [event for event in done(await bob.get("/events"))["events"] if event["type"] == "new_message"]
    assert news["message_id"] == sent["message_id"]


async def test_what_expires_is_dead_and_its_sender_is_told(callers: Callers) -> None:
    alice, bob = await callers.named("alice", "bob")
    sent = done(await alice.post("/messages/send", json=letter(expires_in=0.2)), 201)
    await asyncio.sleep(0.3)
    assert done(await bob.post("/messages/receive", json={}))["messages"] == []
    (notice,) = done(await alice.post("/messages/receive", json={}))["messages"]
    assert notice["payload"] | {"kind": "dead_letter", "reason": "expired", "message_id": sent["message_id"]} == notice["payload"]


async def test_what_is_no_time_is_refused(callers: Callers) -> None:
    (alice,) = await callers.named("alice")
    for fields in (
        {"deliver_in": 5, "deliver_at": "2100-01-01T00:00:00Z"},
        {"expires_at": "2100-01-01T00:00:00"},
        {"expires_at": "2000-01-01T00:00:00Z"},
        {"deliver_in": 60, "expires_in": 30},
    ):
        refused(await alice.post("/messages/send", json=letter(**fields)), 422, "bad_message")
    refused(await alice.post("/messages/send", json=letter(deliver_in=-1)), 422, "invalid")
    refused(await alice.post("/messages/send", json=letter(expires_in=1e9 + 1)), 422, "invalid")
    refused(await alice.post("/messages/send", json=letter(deliver_at="soon")), 422, "invalid")


async def test_a_program_gives_times_as_it_has_them(served: Served) -> None:
    async with Mailbox("bob", server=served.url) as bob, Mailbox("alice", server=served.url) as alice:
        id = await alice.send("bob", "later", deliver_in=HOUR, expires_at=datetime.now(UTC) + 2 * HOUR)
        assert (await alice.status(id))["standings"][0]["state"] == "held"
        await alice.send("bob", "soon", deliver_in=0.2)
        await asyncio.sleep(0.3)
        (message,) = await bob.lease({"limit": 5, "visible_for": 30.0}, 0)
        assert message.text == "soon"
        await message.ack()
        assert (await alice.cancel(id))["recipients"][0]["canceled"]
