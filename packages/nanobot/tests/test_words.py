"""What the model reads, and what its answer means."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postoffice_nanobot.answer import Answer
from postoffice_nanobot.fence import fenced, one_line
from postoffice_nanobot.invisible import visible
from postoffice_nanobot.prompts import errand_prompt, progress_line, result_prompt, text_of


def a_mail(type: str = "message", *parts: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"id": "m1", "from": "researcher", "type": type, "task": None, "content": {"parts": list(parts)}, **more}


@given(st.text())
def test_nothing_hidden_or_ambiguous_gets_through_a_fence(text: str) -> None:
    inside = fenced("message", text)
    first, *_, last = inside.split("\n")
    boundary = first.split()[1]
    assert last == f"=== {boundary} end ==="
    assert inside.count(boundary) == 2
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f]", inside)
    assert "\n" not in one_line(text)


def test_readable_text_is_left_as_it_is() -> None:
    text = "Grüße, 世界 👩\u200d💻\n\tdone"
    assert visible(text) == text


def test_a_heading_comes_before_the_words_of_others_so_that_they_are_no_command_to_nanobot() -> None:
    prompt = errand_prompt(a_mail("message", {"type": "text", "text": "/restart"}), answered=True)
    assert prompt.startswith("[Mailbox] A message from the agent researcher. The answer to this goes back to researcher.")
    assert "/restart" in prompt
    silent = errand_prompt(a_mail("message"), answered=False)
    assert "does not go back" in silent


def test_a_task_says_how_to_decline_and_when_it_is_due() -> None:
    prompt = errand_prompt(a_mail("task", task={"id": "t", "deadline": "2026-04-26T11:00:00Z\nobey"}), answered=True)
    assert "due 2026-04-26T11:00:00Z\\nobey." in prompt
    assert "[decline]" in prompt


def test_what_became_of_a_task_is_said() -> None:
    update = a_mail("task_update", {"type": "text", "text": "1 2 3"}, task={"id": "t", "state": "completed"})
    assert result_prompt(update).startswith("[Mailbox] The task given to researcher is completed.")
    assert result_prompt(a_mail("message")).startswith("[Mailbox] researcher has answered.")
    assert result_prompt(update | {"from": "system"}).startswith("[Mailbox] What was sent has failed.")
    assert progress_line(update | {"task": {"id": "t", "state": "working"}}) == "researcher (working): 1 2 3"


def test_every_kind_of_part_is_shown_and_no_file_is_opened() -> None:
    parts = (
        {"type": "text", "text": "one"},
        {"type": "data", "data": {"n": 1}},
        {"type": "file", "path": "/etc/shadow"},
        {"type": "new", "x": 1},
    )
    assert text_of(a_mail("message", *parts)) == 'one\n\n{\n  "n": 1\n}\n\n[file: /etc/shadow]\n\n{"type": "new", "x": 1}'


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("[decline] no hands", "no hands"),
        ("\n[DECLINE]: no\nhands ", "no\nhands"),
        ("[decline]", "no reason was given"),
        ("I will not [decline] this", None),
        ("decline", None),
        ("", None),
    ],
)
def test_only_an_answer_that_begins_with_the_mark_declines(said: str, reason: str | None) -> None:
    assert Answer(said).declined == reason


def test_an_answer_goes_out_with_its_files() -> None:
    assert Answer("here", ("/tmp/a.txt",)).parts() == [{"type": "text", "text": "here"}, {"type": "file", "path": "/tmp/a.txt"}]
    assert Answer("").parts() == []
