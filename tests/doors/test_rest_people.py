"""People finish their mail over REST, and by the SDK."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import pytest

from tests.doors.callers import Callers, done, refused, send
from tests.doors.served import Served


@pytest.fixture
async def callers(served: Served) -> AsyncIterator[Callers]:
    async with Callers(served) as found:
        yield found


async def test_a_person_sees_keeps_puts_off_and_is_done_with_a_letter(callers: Callers) -> None:
    alice, hanna = await callers.named("alice", "hanna")
    await hanna.get("/agents/me")
    refused(await hanna.patch("/agents/me", json={"person": True}), 403, "owner_only")
    await callers.served.office.update_card(callers.served.office.owner(), {"person": True}, of="hanna")
    assert done(await alice.get("/agents/hanna"))["person"] is True
    letter = (await send(alice, "hanna"))["message_id"]
    refused(await alice.post(f"/messages/{letter}/done"), 403, "persons_only")
    seen = done(await hanna.post(f"/messages/{letter}/seen"))
    assert (seen["state"], seen["seen_at"] is not None) == ("pending", True)
    assert done(await hanna.get("/mailbox"))["unread"] == 0
    (standing,) = done(await alice.get(f"/messages/{letter}/status"))["standings"]
    assert standing["seen_at"] == seen["seen_at"]
    kinds = [event["type"] for event in done(await alice.get("/events"))["events"]]
    assert kinds.count("seen") == 1
    assert done(await hanna.post(f"/messages/{letter}/unseen"))["seen_at"] is None
    until = datetime.now(UTC) + timedelta(hours=20)
    for body in (None, {"seconds": 60}, {"until": until.isoformat()}):
        assert done(await hanna.post(f"/messages/{letter}/snooze", json=body))["state"] == "held"
    refused(await hanna.post(f"/messages/{letter}/snooze", json={"seconds": 5, "until": until.isoformat()}), 422, "invalid")
    assert done(await hanna.post(f"/messages/{letter}/done"))["state"] == "acked"
    refused(await hanna.post(f"/messages/{letter}/unseen"), 409, "not_waiting")
