"""Roles over REST and by the SDK."""

from collections.abc import AsyncIterator

import pytest

from postoffice.client.mailbox import Mailbox
from postoffice.core.errors import NoSuchRole
from tests.doors.callers import Callers, done, refused
from tests.doors.served import Served

ROLE = "role:reviewer"


@pytest.fixture
async def callers(served: Served) -> AsyncIterator[Callers]:
    async with Callers(served) as found:
        yield found


async def test_a_role_is_made_staffed_taken_from_and_deleted(callers: Callers) -> None:
    alice, bob, carol = await callers.named("alice", "bob", "carol")
    for one in (bob, carol):
        done(await one.post("/agents/me/heartbeat"))
    made = done(await alice.post("/roles", json={"name": "reviewer", "staff": ["bob"], "max_in_hand": 1}), 201)
    assert (made["name"], made["staff"], made["made_by"], made["allow_from"]) == (ROLE, ["bob"], "alice", ["*"])
    refused(await alice.post("/roles", json={"name": ROLE}), 409, "role_taken")
    refused(await bob.post(f"/roles/{ROLE}/staff", json={"agents": ["carol"]}), 403, "not_its_maker")
    assert done(await alice.post(f"/roles/{ROLE}/staff", json={"agents": ["carol"]}))["staff"] == ["bob", "carol"]
    sent = [done(await alice.post("/messages/send", json={"to": ROLE, "content": "look", "subject": word}), 201) for word in "ab"]
    assert sent[0]["recipients"][0]["recipient"] == ROLE
    (taken,) = done(await bob.post("/messages/receive", json={"of": ROLE, "limit": 9}))["messages"]
    assert (taken["to"], taken["from"]) == (ROLE, "alice")
    assert done(await carol.post("/messages/receive"))["messages"] == []  # one in hand at most
    (stands,) = done(await alice.get(f"/messages/{taken['id']}/status"))["standings"]
    assert (stands["recipient"], stands["state"], stands["taken_by"]) == (ROLE, "leased", "bob")
    assert done(await alice.get(f"/roles/{ROLE}"))["in_hand"] == [{"agent": "bob", "message_id": taken["id"]}]
    refused(await alice.post("/messages/receive", json={"of": ROLE}), 403, "not_in_role")
    done(await bob.post(f"/messages/{taken['id']}/ack", json={"token": taken["token"]}))
    (popped,) = done(await carol.post("/messages/pop", json={"of": ROLE}))["messages"]
    assert popped["subject"] == "b"
    assert done(await alice.patch(f"/roles/{ROLE}", json={"max_in_hand": None, "description": "reviews"}))["max_in_hand"] is None
    assert done(await bob.get("/mailbox", params={"of": ROLE}))["pending"] == 0
    assert [one["name"] for one in done(await carol.get("/roles"))["roles"]] == [ROLE]
    assert done(await bob.post(f"/roles/{ROLE}/unstaff", json={"agents": ["bob"]}))["staff"] == ["carol"]
    assert done(await alice.delete(f"/roles/{ROLE}")) == {"dead": 0}
    refused(await alice.post("/messages/send", json={"to": ROLE, "content": "look", "subject": "c"}), 404, "no_such_role")
    refused(await alice.get("/roles/role:"), 422, "bad_name")


async def test_a_bell_sees_role_mail_only_where_it_asks_for_it_and_listens_as_one_of_its_staff(callers: Callers) -> None:
    alice, bob = await callers.named("alice", "bob")
    done(await bob.post("/agents/me/heartbeat"))
    done(await alice.post("/roles", json={"name": ROLE, "staff": ["bob"]}), 201)
    place = {"client": "codex", "process": 7, "started": "1", "folder": "/home/ann", "machine": "laptop", "agent": "bob"}
    opened = done(await bob.post("/windows", json=place), 201)
    sent = done(await alice.post("/messages/send", json={"to": ROLE, "content": "look", "subject": "pay"}), 201)["id"]
    assert done(await bob.get("/messages/waiting")) == {"messages": [], "cursor": None}
    looked = done(await bob.get("/messages/waiting", params={"roles": "true"}))
    assert (looked["messages"], [(one["role"], [letter["id"] for letter in one["messages"]]) for one in looked["roles"]]) == (
        [],
        [(ROLE, [sent])],
    )
    assert "roles" not in done(await alice.get("/messages/waiting", params={"roles": "true"}))
    (renewed,) = done(await bob.put("/windows", json={"windows": [{"id": opened["id"]}]}))["windows"]
    assert renewed["roles"] == {ROLE: 1}
    assert done(await bob.post(f"/windows/{opened['id']}/rung", json={"messages": [sent]})) == {"rung": 1}
    assert done(await bob.post(f"/windows/{opened['id']}/turn", json={"messages": [sent]}))["state"] == "busy"
    (stands,) = done(await alice.get(f"/messages/{sent}/status"))["standings"]
    assert (stands["rung"]["times"], stands["rung"]["turn_at"] is None) == (1, False)
    (event,) = done(await bob.get("/events", params={"of": ROLE}))["events"]
    assert (event["type"], event["message_id"]) == ("new_message", sent)
    assert done(await bob.get("/events"))["events"] == []
    (stranger,) = await callers.named("stranger")
    refused(await stranger.get("/events", params={"of": ROLE}), 403, "not_in_role")


async def test_a_program_takes_from_a_role_in_order_and_answers(served: Served) -> None:
    async with Mailbox("alice", server=served.url) as alice, Mailbox("bob", server=served.url) as bob:
        await bob.call("POST", "/agents/me/heartbeat")
        await alice.make_role(ROLE, ["bob"], description="reviews")
        first = await alice.send(ROLE, "first", subject="pay")
        await alice.send(ROLE, "second", subject="pay")
        said = []
        async for message in bob.receive(2, of=ROLE, one_per_session=True, within=5):
            said.append(message.text)
            await message.reply(f"did {message.text}")
            if len(said) == 2:
                break
        assert said == ["first", "second"]
        answers = [message async for message in alice.receive(9, within=0)]
        assert [(one.sender, one.text) for one in answers] == [("bob", "did first"), ("bob", "did second")]
        assert (await alice.status(first))["standings"][0]["taken_by"] == "bob"
        assert (await alice.roles())[0]["description"] == "reviews"
        assert (await alice.change_role(ROLE, in_order=True))["in_order"]
        assert (await alice.unstaff(ROLE, ["bob"]))["staff"] == []
        assert (await alice.staff(ROLE, ["bob"]))["staff"] == ["bob"]
        assert (await alice.role(ROLE))["in_hand"] == []
        assert await alice.delete_role(ROLE) == {"dead": 0}
        with pytest.raises(NoSuchRole):
            await alice.role(ROLE)
