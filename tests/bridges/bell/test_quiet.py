"""Quiet is quiet: by a person's word, at hours of rest, for a paused agent, and for mail that is worth no ring."""

import json
import subprocess
import time
from datetime import datetime, timedelta

from tests.bridges.bell.pretend import Ground, until, window
from tests.serve.running import COMMAND


def quiet(ground: Ground, *words: str) -> str:
    return subprocess.run([*COMMAND, "quiet", *words], env=ground.environment(), capture_output=True, text=True, check=True).stdout


def hours(begin: int, end: int) -> str:
    """From so many minutes after now, to so many."""
    now = datetime.now().astimezone()
    return "-".join(f"{now + timedelta(minutes=minutes):%H:%M}" for minutes in (begin, end))


def test_an_agent_that_is_left_alone_is_not_rung_and_its_sender_knows(ground: Ground) -> None:
    with window(ground) as shop:
        shop.open()
        assert "shop: until" in quiet(ground, "shop", "--for", "1h")
        until(lambda: ground.windows() == {"shop": "none"})
        assert "nothing wakes it" in ground.reach("shop")
        ground.send("shop", priority=1)
        time.sleep(1.5)
        assert shop.heard == []
        assert quiet(ground, "shop", "--off") == "Nobody is left alone.\n"
        until(lambda: shop.heard)
        assert len(shop.heard) == 1


def test_while_it_is_quiet_a_turn_at_work_is_told_nothing_and_the_next_everything(ground: Ground) -> None:
    with window(ground) as shop:
        shop.open()
        quiet(ground, "--for", "1h")
        shop.hook("UserPromptSubmit", prompt="work")
        shop.say("busy")
        ground.send("shop", priority=1)
        assert shop.hook("PostToolUse", tool_name="Bash") == ""
        assert shop.hook("Stop", stop_hook_active=False) == ""
        shop.say("idle")
        assert "1 letter waits" in shop.hook("UserPromptSubmit", prompt="go on")
        assert shop.heard == []


def test_hours_of_rest_hold_within_their_hours_alone(ground: Ground) -> None:
    with window(ground) as shop:
        shop.open()
        assert "each day" in quiet(ground, "shop", "--hours", hours(-2, 10))
        until(lambda: ground.windows() == {"shop": "none"})
        ground.send("shop")
        time.sleep(1.5)
        assert shop.heard == []
        quiet(ground, "shop", "--hours", hours(60, 120))
        until(lambda: shop.heard)


def test_a_paused_agent_is_not_rung_until_it_goes_on(ground: Ground) -> None:
    with window(ground) as shop:
        shop.open()
        ground.call("POST", "/agents/shop/pause", {}, "shop")
        ground.send("shop", priority=1)
        time.sleep(1.5)
        assert shop.heard == []
        assert shop.hook("UserPromptSubmit", prompt="work") == ""
        shop.say("idle")
        ground.call("POST", "/agents/shop/resume", {}, "shop")
        until(lambda: shop.heard)


def test_the_least_urgent_mail_and_the_office_s_notices_ring_nobody_and_are_told_with_the_next_turn(ground: Ground) -> None:
    with window(ground) as shop:
        shop.open()
        opened = ground.call(
            "POST", "/windows", {"client": "x", "process": 1, "started": "1", "folder": "/x", "machine": "m", "agent": "dora"}
        )
        sent = ground.call("POST", "/messages/send", {"to": "dora", "subject": "s", "content": "x"}, "shop")
        for what in ("rung", "untaken"):
            ground.call("POST", f"/windows/{opened['id']}/{what}", {"messages": [sent["id"]]})
        (notice,) = ground.call("GET", "/messages/waiting", agent="shop")["messages"]
        assert notice["from"] == "system", json.dumps(notice)
        for priority in (4, 5):
            ground.send("shop", priority=priority)
        time.sleep(1.5)
        assert shop.heard == []
        assert shop.hook("Stop", stop_hook_active=False) == ""
        assert "3 letters wait" in shop.hook("UserPromptSubmit", prompt="go on")
