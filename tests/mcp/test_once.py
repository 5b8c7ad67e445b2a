"""A call whose answer was lost can be made again: under an id of its own it is done once, whatever it does."""

from typing import Any

import pytest

from tests.doors.served import Served
from tests.mcp.calling import ERAS, as_agent, call, refusal, result_of

RETRIED: dict[str, dict[str, Any]] = {
    "send_message": {"to_agent": "carol", "subject": "Phase 2"},
    "post_note": {"entity_id": "p-2", "entity_type": "phase", "note": "begun", "notify": ["carol"]},
    "mailbox_send": {"to": "carol", "content": "hello"},
    "mail_send": {"to": "carol", "text": "hello"},
    "mailbox_forward": {"to": "carol"},
    "mailbox_task_update": {"state": "completed", "content": "done"},
}
OTHER = {"send_message": "subject", "post_note": "note", "mailbox_send": "content", "mail_send": "text", "mailbox_forward": "content"}


@pytest.mark.parametrize("tool", RETRIED)
async def test_it_is_done_once_under_one_id(served: Served, tool: str) -> None:
    """A task that was completed could not be completed again, and notes and forwards were made twice."""
    async with as_agent(served, "bob") as bob, as_agent(served, "alice") as alice, as_agent(served, "carol") as carol:
        asked = (await call(alice, "mailbox_send", to="bob", type="task", content="Paint it", correlation_id="c-1"))["message_id"]
        named = {"mailbox_forward": {"message_id": asked}, "mailbox_task_update": {"task_id": asked}}.get(tool, {})
        given = RETRIED[tool] | named
        told = alice if tool == "mailbox_task_update" else carol
        first, again = [await call(bob, tool, **given, id="own-1") for _ in range(2)]
        assert again | {"duplicate": False} == first | {"duplicate": False}
        assert len((await call(told, "mailbox_receive"))["messages"]) == 1
        said = await refusal(bob, tool, **given | {OTHER.get(tool, "content"): "something else"}, id="own-1")
        assert said.endswith("[id_conflict]")


@pytest.mark.parametrize("era", ERAS)
async def test_no_id_and_an_empty_one_are_none(desk: Served, era: str) -> None:
    async with as_agent(desk, "bob", era=era) as bob, as_agent(desk, "carol", era=era) as carol:
        for own in ({}, {"id": ""}, {"id": None}):
            for _ in range(2):
                assert not (await result_of(bob, "post_note", **RETRIED["post_note"], **own)).is_error
        assert len((await call(carol, "mailbox_receive", limit=100))["messages"]) == 6
