"""Every tool called once, in an order in which each succeeds: a small day at the office."""

from collections.abc import Awaitable, Callable
from typing import Any

Call = Callable[..., Awaitable[Any]]
"""Takes an agent, a tool, and the tool's arguments; gives what the tool gives to programs."""


async def tour(call: Call) -> None:
    """alice and bob simply appear; each call succeeds."""
    await call("alice", "send_to_agent", name="bob", msg="one", msg_id="m-1")
    await call("bob", "check_mail")
    await call("bob", "check_mail")  # empty by now
    sent = await call("alice", "mailbox_send", to="bob", subject="Lunch", content="Noon?", correlation_id="c-1", priority=2)
    (first,) = (await call("bob", "mailbox_receive"))["messages"]
    await call("bob", "mailbox_nack", message_id=first["id"], reason="later")
    (again,) = (await call("bob", "mailbox_wait", timeout_ms=1000))["messages"]
    await call("bob", "mailbox_ack", message_id=again["id"])
    await call("bob", "mailbox_ack", message_id=[again["id"], "none"])
    await call("alice", "mailbox_send", to=["bob", "carol"], payload={"a": [1, None]})
    await call("bob", "mailbox_check")
    await call("bob", "mailbox_read", session_id=sent["session_id"])
    asked = await call("alice", "mailbox_connect", target_agent_name="bob", message="It is me.")
    await call("bob", "mailbox_check", unread_only=True)
    await call("bob", "mailbox_approve", code=asked["verification_code"])
    await call("bob", "mailbox_agents")
    task = await call("alice", "mailbox_send", to="bob", type="task", content="Paint it", deadline="2999-12-31T18:00:00Z")
    (waiting,) = (await call("bob", "mailbox_tasks"))["tasks"]
    await call("bob", "mailbox_task_update", task_id=waiting["id"], state="working", content="at it")
    await call("alice", "mailbox_tasks", asked_by_me=True)
    await call("alice", "mailbox_status", message_id=task["id"])
    await call("alice", "mailbox_search", query="paint")
    await call("bob", "mailbox_forward", message_id=sent["message_id"], to="carol")
    await call("alice", "send_message", to_agent="bob", subject="Phase 2", message_type="fyi", ref_id="p-2", ref_type="phase")
    await call("alice", "post_note", entity_id="p-2", entity_type="phase", note="begun", notify=["bob"])
    await call("bob", "mailbox_receive", limit=100)
    written = await call("dora", "mail_send", to="emil, fred", subject="Tea", text="At four?")
    (letter,) = (await call("emil", "mail_get", wait_seconds=5))["messages"]
    await call("emil", "mail_send", reply_to=letter["id"], text="Gladly.")
    await call("emil", "mail_done", ids=[letter["id"], "none"])
    await call("dora", "mail_find", id=written["message_id"])
    await call("dora", "mail_find", words="tea")
    await call("dora", "mail_find")
    asked = await call("dora", "mail_send", to="emil", text="Bake a cake", task=True)
    await call("emil", "task_update", id=asked["message_id"], state="completed", text="It is on the table.")
    await call("dora", "mail_agents")
    connecting = await call("dora", "mail_connect", agent_="emil")
    await call("emil", "mail_connect")
    await call("emil", "mail_pause", minutes=5, reason="lunch")
    await call("emil", "mail_pause", resume=True)
    await call("emil", "mail_reserve", paths=["cake/**"], why="baking", project="/home/emil")
    await call("emil", "mail_release")
    await call("emil", "mail_connect", code=connecting["request"]["verification_code"])
