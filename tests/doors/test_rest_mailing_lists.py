"""Lists over REST and by the SDK: made, joined, written to, read, and left."""

from collections.abc import AsyncIterator

import pytest

from postoffice.client.mailbox import Mailbox
from postoffice.core.errors import MayNotJoin
from tests.doors.callers import Callers, done, refused
from tests.doors.served import Served


@pytest.fixture
async def callers(served: Served) -> AsyncIterator[Callers]:
    async with Callers(served) as found:
        yield found


async def test_a_list_is_made_joined_written_to_and_read(callers: Callers) -> None:
    alice, carol = await callers.named("alice", "carol")
    bob = await callers.join("bob", allow_from=["alice"])
    made = done(await alice.post("/lists", json={"name": "list:backend", "who_may_join": "anyone", "members": ["bob", "nobody"]}), 201)
    assert (made["list"]["name"], made["list"]["you"], made["list"]["members"]) == ("#backend", "member", 2)
    assert [(one["name"], one["place"]) for one in made["members"]] == [("bob", "member"), ("nobody", None)]
    assert done(await carol.post("/lists/%23backend/join"))["you"] == "member"
    sent = done(await alice.post("/messages/send", json={"to": "#backend", "content": "who is in?"}), 201)
    assert sent["to_list"] == {"name": "#backend", "session_id": sent["session_id"], "number": 1, "delivered": 2, "refused": 0}
    stands = done(await alice.get(f"/messages/{sent['message_id']}/status", params={"limit": 1}))
    assert (stands["counts"], [one["recipient"] for one in stands["standings"]], stands["cursor"]) == ({"pending": 2}, ["bob"], "bob")
    rest = done(await alice.get(f"/messages/{sent['message_id']}/status", params={"cursor": "bob"}))
    assert ([one["recipient"] for one in rest["standings"]], "cursor" in rest) == (["carol"], False)
    (letter,) = done(await bob.post("/messages/receive", json={}))["messages"]
    assert (letter["to"], letter["session_id"]) == ("#backend", sent["session_id"])
    everyone = {"to": letter["to"], "content": "me", "reply_to": letter["id"]}
    assert done(await bob.post("/messages/send", json=everyone), 201)["session_id"] == sent["session_id"]
    author = {"to": "alice", "content": "psst", "reply_to": letter["id"], "session_id": letter["session_id"]}
    assert done(await bob.post("/messages/send", json=author), 201)["session_id"] != sent["session_id"]
    assert [line["content"] for line in done(await carol.get("/lists/backend/history"))["messages"]] == ["me", "who is in?"]
    assert done(await carol.get("/lists/backend"))["unread"] == 0
    by_session = done(await alice.get(f"/sessions/{sent['session_id']}/history", params={"limit": 10}))
    assert [line["content"] for line in by_session["messages"]] == ["me", "who is in?"]
    assert done(await carol.post("/lists/backend/leave"))["you"] == "left"
    assert [one["name"] for one in done(await alice.get("/lists/backend/members"))["members"]] == ["alice", "bob"]
    refused(await bob.patch("/lists/backend", json={"history": True}), 403, "not_your_list")
    assert done(await alice.patch("/lists/backend", json={"who_may_post": "named", "posters": ["bob"]}))["posters"] == ["bob"]
    refused(await carol.post("/messages/send", json={"to": "#backend", "content": "x"}), 403, "may_not_post")
    assert done(await alice.delete("/lists/backend/members/bob"))["members"][0]["place"] == "left"
    assert done(await alice.delete("/lists/backend"))["members"] == 0
    refused(await alice.get("/lists/backend"), 404, "no_such_list")


async def test_by_the_sdk_a_letter_of_a_list_is_answered_to_its_author_or_to_all(served: Served) -> None:
    async with (
        Mailbox("alice", server=served.url) as alice,
        Mailbox("bob", server=served.url) as bob,
        Mailbox("carol", server=served.url) as carol,
    ):
        await alice.make_list("#backend", who_may_join="anyone", description="the API")
        for box in (bob, carol):
            await box.join_list("#backend")
        assert [one["name"] for one in await bob.lists(mine=True)] == ["#backend"]
        await alice.send("#backend", "who is in?", subject="Friday")
        for box, to_list in ((bob, True), (carol, False)):
            async for message in box.receive(within=5):
                await message.reply("me", to_list=to_list)
                break
        got = [(message.sender, message.letter.to) async for message in alice.receive(10, within=1)]
        assert got == [("bob", "#backend"), ("carol", "alice")]
        assert [line["sender_name"] for line in await carol.list_history("#backend")] == ["bob", "alice"]
        await alice.change_list("#backend", who_may_join="owner")
        await alice.take_off_list("#backend", "carol")
        with pytest.raises(MayNotJoin):
            await carol.join_list("#backend")
        assert [one["place"] for one in await alice.add_to_list("#backend", "carol")] == ["member"]
        assert len((await alice.list_members("#backend"))["members"]) == 3
        assert (await bob.leave_list("#backend"))["members"] == 2
        assert (await alice.show_list("#backend"))["letters"] == 2
        await alice.delete_list("#backend")
        assert await alice.lists() == []
