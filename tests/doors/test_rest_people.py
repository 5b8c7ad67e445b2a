"""People finish their mail over REST, and by the SDK."""

from datetime import UTC, datetime, timedelta

from tests.doors.callers import Callers, done, refused, send


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


async def test_a_question_is_asked_answered_and_told_who_was_first(callers: Callers) -> None:
    (alice,) = await callers.named("alice")
    office = callers.served.office
    done(await alice.get("/agents/me"))
    await office.identify(name="hanna")
    await office.update_card(office.owner(), {"person": True}, of="hanna")
    (hanna,) = await callers.named("hanna")
    listed = {agent["name"]: agent["person"] for agent in done(await alice.get("/agents"))["agents"]}
    assert (listed["owner"], listed["hanna"], listed["alice"]) == (True, True, False)
    letter = {"to": "hanna", "content": "Ship it?", "ask": {"choices": ["yes", "no"]}}
    id = done(await alice.post("/messages/send", json=letter), 201)["message_id"]
    assert [one["id"] for one in done(await hanna.get("/questions"))["questions"]] == [id]
    assert [one["id"] for one in done(await alice.get("/questions", params={"asked_by_me": True}))["questions"]] == [id]
    refused(await alice.post(f"/questions/{id}/answer", json={"choice": "yes"}), 403, "persons_only")
    refused(await hanna.post(f"/questions/{id}/answer", json={"choice": "perhaps"}), 422, "no_such_choice")
    answered = done(await hanna.post(f"/questions/{id}/answer", json={"choice": "yes", "text": "please", "id": "mine"}))
    assert (answered["state"], answered["choice"], answered["answer"], answered["via"]) == ("answered", "yes", "please", "rest")
    assert done(await hanna.post(f"/questions/{id}/answer", json={"choice": "yes", "text": "please", "id": "mine"})) == answered
    assert "'yes / please'" in refused(await hanna.post(f"/questions/{id}/answer", json={"choice": "no"}), 409, "answered_first")
    (got,) = done(await alice.post("/messages/receive", json={}))["messages"]
    assert (got["reply_to"], got["type"], got["answer"]["choice"], got["answer"]["text"]) == (id, "answer", "yes", "please")
    assert done(await alice.get(f"/questions/{id}"))["answer_id"] == got["id"]
    second = done(await alice.post("/messages/send", json=letter), 201)["message_id"]
    assert done(await alice.post(f"/questions/{second}/withdraw"))["state"] == "withdrawn"
    refused(await hanna.post(f"/questions/{second}/answer", json={"choice": "yes"}), 409, "question_closed")
    assert done(await hanna.get("/questions", params={"any_state": True}))["questions"][0]["id"] == second


async def test_the_owner_alone_lets_a_session_go_on_and_is_told_where_none_is_held(callers: Callers) -> None:
    (alice,) = await callers.named("alice")
    owner = await callers.owner()
    session = (await send(alice, "bob"))["session_id"]
    refused(await alice.post(f"/sessions/{session}/go-on"), 403, "owner_only")
    assert done(await owner.post(f"/sessions/{session}/go-on")) == {"session_id": session, "freed": False}


async def test_what_waits_for_somebody_is_one_list(callers: Callers) -> None:
    alice, bob = await callers.named("alice", "bob")
    letter = (await send(alice, "bob"))["message_id"]
    found = done(await bob.get("/for-you"))
    assert ([(one["kind"], one["id"], one["who"]) for one in found["matters"]], found["count"]) == ([("mail", letter, "alice")], 1)
    assert done(await alice.get("/for-you")) == {"matters": [], "count": 0}


async def test_a_task_given_to_a_person_takes_words_when_it_ends(callers: Callers) -> None:
    (alice,) = await callers.named("alice")
    office = callers.served.office
    await office.identify(name="hanna")
    await office.update_card(office.owner(), {"person": True}, of="hanna")
    (hanna,) = await callers.named("hanna")
    for state in ("completed", "rejected", "failed"):
        task = (await send(alice, "hanna", type="task"))["message_id"]
        done(await hanna.post(f"/tasks/{task}/update", json={"state": state, "content": f"{state}: the serif logo stays"}))
        (told,) = done(await alice.post("/messages/pop", json={}))["messages"]
        assert (told["type"], told["content"], told["task"]["state"]) == ("task_update", f"{state}: the serif logo stays", state)
