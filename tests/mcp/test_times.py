"""A model's mail with times of its own, which it gives in minutes or as a clock says them."""

import asyncio

import pytest

from tests.doors.served import Served
from tests.mcp.calling import client, refusal, told


async def test_a_model_writes_for_later_and_until_then(served: Served) -> None:
    async with client(served, "/mail/alice", model=True) as alice, client(served, "/mail/bob", model=True) as bob:
        said = await told(alice, "mail_send", to="bob", text="stand-up", deliver_at="90", id="later-1")
        assert "It is delivered at 2" in said
        assert "asleep" not in said
        assert "not read yet, scheduled until 2" in await told(alice, "mail_find", id="later-1")
        assert "stand-up" not in await told(bob, "mail_get")
        assert "canceled" in await told(alice, "task_update", id="later-1", state="canceled")
        await told(alice, "mail_send", to="bob", text="in time", expires_at="2100-01-01T00:00:00Z")
        assert "in time" in await told(bob, "mail_get")
        await told(alice, "mail_send", to="bob", text="too late", expires_at="0.001", id="late-1")
        await asyncio.sleep(0.1)
        assert "too late" not in await told(bob, "mail_get")
        assert "expired, nobody had taken it" in await told(alice, "mail_find", id="late-1")


@pytest.mark.parametrize("given", ["soon", "2100-01-01T00:00:00"])
async def test_what_is_no_time_is_refused_in_words(served: Served, given: str) -> None:
    async with client(served, "/mail/alice", model=True) as alice:
        said = await refusal(alice, "mail_send", to="bob", text="hello", deliver_at=given)
        assert "deliver_at" in said
        assert "time" in said
