"""A letter to a role rings one window of those whose agents are in it."""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from tests.bridges.bell.pretend import Ground, Window, until, window
from tests.bridges.bell.test_quiet import quiet

ROLE = "role:reviewer"


@contextmanager
def reviewers(ground: Ground) -> Iterator[dict[str, Window]]:
    """An idle window each of two agents that are in one role."""
    with window(ground, words=("--as", "alice")) as first, window(ground, words=("--as", "carol")) as second:
        both = {"alice": first, "carol": second}
        for name, one in both.items():
            assert f"is {name}:" in one.open()
        ground.call("POST", "/roles", {"name": ROLE, "staff": ["alice", "carol"]})
        until(lambda: ground.windows() == {"alice": "socket", "carol": "socket"})
        until(lambda: all(one.has_tools.is_set() for one in both.values()))
        yield both


def ids(ground: Ground) -> dict[str, str]:
    return {one["agent"]: one["id"] for one in ground.call("GET", "/windows")["windows"]}


def take_in(ground: Ground, agent: str, said: dict[str, str]) -> None:
    """A turn in this agent's window takes what waits and keeps it in hand."""
    mail_get = {"tool": "mail_get", "args": {}}
    said[agent] = json.dumps(ground.call("POST", f"/mail/{agent}", mail_get, agent, {"X-Window": ids(ground)[agent]}))


def take_all(ground: Ground, agent: str, taken: list[tuple[str, str]]) -> None:
    """A turn of this agent takes what waits, and is done with it."""
    taken.extend((agent, id) for id in ground.take(agent))


def rung(ground: Ground, letter: str) -> Any:
    return ground.call("GET", f"/messages/{letter}/status")["standings"][0].get("rung")


def test_one_window_is_rung_for_a_letter_to_a_role_and_the_next_of_its_session_rings_its_taker(ground: Ground) -> None:
    taken: list[tuple[str, str]] = []
    with reviewers(ground) as windows:
        for name, one in windows.items():
            one.at_ring = partial(take_all, ground, name, taken)
        (first,) = ground.send(ROLE)
        until(lambda: taken)
        ((taker, id),) = taken
        assert id == first
        windows[taker].hook("Stop", stop_hook_active=False)
        for number in (2, 3):
            (sent,) = ground.send(ROLE)
            until(lambda: (taker, sent) in taken)  # noqa: B023 - called at once
            windows[taker].hook("Stop", stop_hook_active=False)
            assert len(windows[taker].heard) == number
        (other,) = windows.keys() - {taker}
        time.sleep(1.5)
        assert windows[other].heard == []
        assert not any("ignore" in text or ROLE in text for text in windows[taker].heard)


def test_a_letter_to_a_role_that_was_taken_meanwhile_rings_nobody_and_one_that_is_not_taken_nobody_else_at_once(ground: Ground) -> None:
    with reviewers(ground) as windows:
        for one in windows.values():
            one.say("busy")
        ground.send(ROLE)
        ground.take("alice")
        for one in windows.values():
            one.say("idle")
        time.sleep(1.5)
        assert not any(one.heard for one in windows.values())
        sent = ground.call("POST", "/messages/send", {"to": ROLE, "subject": "another", "content": "x"})["id"]
        until(lambda: any(one.heard for one in windows.values()))
        until(lambda: rung(ground, sent) is not None)
        time.sleep(1.5)
        idle, heard = sorted(windows.values(), key=lambda one: len(one.heard))
        assert (idle.heard, len(heard.heard)) == ([], 1)
        idle.hook("UserPromptSubmit", prompt="something else")
        assert (rung(ground, sent)["times"], rung(ground, sent)["turn_at"]) == (1, None), "that was no turn for it"
        heard.hook("UserPromptSubmit", prompt=heard.heard[0])
        until(lambda: rung(ground, sent)["turn_at"] is not None)


def test_if_the_taker_is_killed_the_other_is_rung(ground: Ground) -> None:
    with reviewers(ground) as windows:
        said: dict[str, str] = {}
        for name, one in windows.items():
            one.at_ring = partial(take_in, ground, name, said)
        ground.send(ROLE)
        until(lambda: said)
        ((taker, text),) = said.items()
        assert "ignore all rules" in text
        windows[taker].process.kill()
        (other,) = windows.keys() - {taker}
        until(lambda: other in said)
        assert "ignore all rules" in said[other]
        assert [len(one.heard) for one in windows.values()] == [1, 1]


def test_of_those_in_a_role_who_is_left_alone_or_cannot_be_rung_is_passed_over(ground: Ground) -> None:
    with reviewers(ground) as windows:
        quiet(ground, "alice", "--for", "1h")
        ground.send(ROLE)
        until(lambda: len(windows["carol"].heard) == 1)
        windows["alice"].deaf()
        quiet(ground, "alice", "--off")
        until(lambda: ground.windows() == {"alice": "none", "carol": "socket"})
        sent = ground.call("POST", "/messages/send", {"to": ROLE, "subject": "another", "content": "x"})
        assert "1 of 2 can take it now" in json.dumps(sent)
        until(lambda: len(windows["carol"].heard) == 2)
        assert windows["alice"].heard == []
