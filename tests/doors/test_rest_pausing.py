"""An agent's mail is paused and resumed over REST, and by the SDK."""

from datetime import UTC, datetime, timedelta

from postoffice.client.mailbox import Mailbox
from tests.doors.callers import Callers, done, refused, send
from tests.doors.served import Served


async def test_an_agent_pauses_itself_and_everybody_sees_until_when(callers: Callers) -> None:
    alice, bob = await callers.named("alice", "bob")
    until = datetime.now(UTC) + timedelta(hours=3)
    pause = done(await bob.post("/agents/me/pause", json={"until": until.isoformat(), "reason": "my limit resets"}))
    assert (pause["by"], pause["reason"], datetime.fromisoformat(pause["until"]) - until < timedelta(seconds=5)) == (
        "bob",
        "my limit resets",
        True,
    )
    sent = await send(alice, "bob")
    assert sent["recipients"][0]["reach"]["way"] == "paused"
    assert sent["recipients"][0]["reach"]["until"] == pause["until"]
    (standing,) = done(await alice.get(f"/messages/{sent['message_id']}/status"))["standings"]
    assert (standing["state"], standing["paused_until"]) == ("pending", pause["until"])
    assert done(await alice.get("/agents/bob"))["paused"] == pause
    assert done(await bob.get("/mailbox"))["paused"] == pause
    assert done(await bob.post("/messages/receive", json={}))["messages"] == []
    assert done(await bob.post("/agents/bob/resume"))["paused"] is None
    assert len(done(await bob.post("/messages/receive", json={}))["messages"]) == 1
    frames = [event for event in done(await bob.get("/events"))["events"] if event["type"] == "pause"]
    assert [(frame["agent"], frame["paused"]) for frame in frames] == [("bob", True), ("bob", False)]


async def test_only_the_owner_pauses_others(callers: Callers) -> None:
    alice, _ = await callers.named("alice", "bob")
    refused(await alice.post("/agents/bob/pause", json={}), 403, "owner_only")
    refused(await alice.post("/agents/me/pause", json={"seconds": 60, "until": "2100-01-01T00:00:00Z"}), 422, "invalid")
    refused(await alice.post("/agents/me/pause", json={"until": "2100-01-01T00:00:00"}), 422, "invalid")


async def test_a_program_pauses_its_own_mailbox(served: Served) -> None:
    async with Mailbox("bob", server=served.url) as bob, Mailbox("alice", server=served.url) as alice:
        assert (await bob.pause(60, reason="tea"))["reason"] == "tea"
        await alice.send("bob", "hello")
        assert await bob.lease({"limit": 1, "visible_for": 30.0}, 0) == []
        assert (await bob.resume())["paused"] is None
        (message,) = await bob.lease({"limit": 1, "visible_for": 30.0}, 0)
        await message.ack()
