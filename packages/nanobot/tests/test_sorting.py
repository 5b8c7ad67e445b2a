"""What a mail is to this agent."""

from typing import Any

import pytest

from postoffice_nanobot.delegation import Delegation
from postoffice_nanobot.place import Place
from postoffice_nanobot.sorting import Nothing, Progress, Refused, Result, Verdict, Work, sort

ASKED = Delegation(id="t1", to="Typist", place=Place("websocket:1", "websocket", "1"), message={}, at=1)
CARD = {"agent_id": "coder", "allow_from": ["researcher"], "max_concurrent_tasks": 1, "current_tasks": []}
NOW = 1_745_659_200_000_000


def mail(type: str, sender: str = "researcher", text: str = "", **more: Any) -> dict[str, Any]:
    parts = [{"type": "text", "text": text}] if text else []
    return {"id": "m", "from": sender, "type": type, "task": None, "content": {"parts": parts}, "attempt": 1, **more}


def update(state: str, sender: str = "typist", text: str = "") -> dict[str, Any]:
    return mail("task_update", sender, text, task={"id": "t1", "state": state})


def verdict(mail: dict[str, Any], delegation: Delegation | None = None, *, allowed: bool = True, **card: Any) -> Verdict:
    return sort(mail, delegation=delegation, allowed=allowed, card=CARD | card, now=NOW)


def test_tasks_and_messages_of_those_allowed_are_errands() -> None:
    assert verdict(mail("task", task={"id": "t"})) == Work()
    assert verdict(mail("message")) == Work()
    assert verdict(mail("anything else")) == Work()


def test_a_task_is_refused_with_its_reason() -> None:
    task = mail("task", task={"id": "t", "deadline": "2025-04-26T09:20:00Z"})
    assert verdict(mail("task", task={"id": "t"}), allowed=False) == Refused("unauthorized: researcher is not in coder's allow_from")
    assert verdict(mail("task", task={"id": "t"}), current_tasks=["x"]) == Refused("over quota: coder has 1 of 1 tasks")
    assert verdict(task) == Refused("deadline passed: the task was due at 2025-04-26T09:20:00Z")


def test_whom_nanobot_allows_is_allowed_whatever_the_card_says() -> None:
    assert verdict(mail("task", "approved-by-pairing", task={"id": "t"})) == Work()


def test_a_task_that_comes_again_keeps_its_place() -> None:
    assert verdict(mail("task", task={"id": "t"}, attempt=2), current_tasks=["x"]) == Work()


def test_a_message_of_a_stranger_is_nothing() -> None:
    assert verdict(mail("message"), allowed=False) == Nothing("researcher is not in allowFrom")


@pytest.mark.parametrize("state", ["completed", "failed", "rejected"])
def test_a_final_update_is_the_result_even_of_one_who_is_not_allowed(state: str) -> None:
    assert verdict(update(state), ASKED, allowed=False) == Result(ASKED, final=True)


def test_news_is_progress_if_it_says_something() -> None:
    assert verdict(update("working", text="half of it"), ASKED) == Progress(ASKED)
    assert verdict(update("accepted"), ASKED) == Nothing("typist has it: accepted")


def test_an_answer_by_message_is_a_result_that_ends_nothing() -> None:
    assert verdict(mail("message", "typist", reply_to="t1"), ASKED, allowed=False) == Result(ASKED, final=False)


def test_nobody_but_the_one_asked_answers_for_it() -> None:
    assert verdict(update("completed", "mallory"), ASKED, allowed=False) == Nothing("mallory is not in allowFrom")
    assert verdict(update("completed", "mallory"), ASKED) == Work()
    assert verdict(update("working", "mallory", "half"), ASKED) == Nothing("news of a task this agent does not know")


def test_the_library_speaks_for_one_who_could_not_be_reached() -> None:
    assert verdict(update("failed", "system", "set aside"), ASKED, allowed=False) == Result(ASKED, final=True)
    assert isinstance(verdict(mail("message", "system", "set aside")), Nothing)


def test_a_task_that_bears_the_id_of_ours_is_still_a_task() -> None:
    assert verdict(mail("task", "typist", task={"id": "t1"}), ASKED) == Work()
