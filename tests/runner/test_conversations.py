"""A CLI's own conversation is kept for each session, from one start to the next."""

import errno
import json
import os
import shlex
import sys
from pathlib import Path
from unittest.mock import Mock

import pytest

from postoffice.bridges.conversations import Conversations
from postoffice.bridges.preset import PRESETS, Answer
from tests.runner.bench import Bench

# Writes down how it was called and answers as the real one does, in the conversation it was given or a new one.
FAKE = """
import json, pathlib, sys
seen = pathlib.Path("calls")
before = seen.read_text().splitlines() if seen.exists() else []
seen.write_text("".join(line + "\\n" for line in [*before, json.dumps(sys.argv[1:])]))
pathlib.Path("given").write_bytes(sys.stdin.buffer.read())
resumed = sys.argv[sys.argv.index(FLAG) + 1] if FLAG in sys.argv else None
if resumed and pathlib.Path("lost").exists():
    sys.exit("no such conversation")
conversation, text = resumed or f"conv-{len(before)}", f"answer {len(before)}"
"""
CLIS = {
    "claude": ("--resume", "print(json.dumps({'type': 'result', 'is_error': False, 'result': text, 'session_id': conversation}))"),
    "codex": (
        "resume",
        (
            "print(json.dumps({'type': 'thread.started', 'thread_id': conversation}))\n"
            "print(json.dumps({'type': 'turn.started'}))\n"
            "print(json.dumps({'type': 'item.completed', 'item': {'id': 'item_0', 'type': 'reasoning', 'text': 'hm'}}))\n"
            "print(json.dumps({'type': 'item.completed', 'item': {'id': 'item_1', 'type': 'agent_message', 'text': text}}))\n"
            "print(json.dumps({'type': 'turn.completed', 'usage': {}}))"
        ),
    ),
    "gemini": ("--resume", "print(json.dumps({'session_id': conversation, 'response': text, 'stats': {}}, indent=2))"),
    "opencode": (
        "--session",
        (
            "print(json.dumps({'type': 'step_start', 'sessionID': conversation, 'part': {'type': 'step-start'}}))\n"
            "print(json.dumps({'type': 'text', 'sessionID': conversation, 'part': {'type': 'text', 'text': text}}))\n"
            "print(json.dumps({'type': 'step_finish', 'sessionID': conversation, 'part': {'type': 'step-finish'}}))"
        ),
    ),
}


def install(bench: Bench, cli: str) -> str:
    """Put a CLI of that name first on the path; gives the word by which it resumes."""
    flag, printing = CLIS[cli]
    program = bench.bin / f"{cli}.py"
    program.write_text(f"FLAG = {flag!r}{FAKE}{printing}\n")
    bench.sh(cli, f'exec {shlex.quote(sys.executable)} -I {shlex.quote(str(program))} "$@"')
    return flag


def resumed(bench: Bench, flag: str) -> list[str | None]:
    """The conversation each call went on with."""
    return [words[words.index(flag) + 1] if flag in words else None for words in bench.records("calls")]


def talk(bench: Bench, count: int, **fields: str) -> str:
    """Write, and wait until so many answers have come; gives the newest."""
    bench.send("hello", **fields)
    return str(bench.replies(count)[-1]["content"])


class TestAConversation:
    @pytest.mark.parametrize("cli", CLIS)
    def test_goes_on_in_its_session_and_after_a_restart(self, bench: Bench, cli: str) -> None:
        flag = install(bench, cli)
        runner = bench.run(flags=("--with", cli))
        assert talk(bench, 1) == "answer 0"
        assert talk(bench, 2) == "answer 1"
        assert talk(bench, 3, subject="something else") == "answer 2"
        runner.until_said("answered")
        assert runner.stop() == 0
        bench.run(flags=("--with", cli))
        assert talk(bench, 4) == "answer 3"
        assert talk(bench, 5, subject="something else") == "answer 4"
        assert resumed(bench, flag) == [None, "conv-0", None, "conv-0", "conv-2"]

    @pytest.mark.parametrize("cli", ["claude", "codex"])
    def test_that_the_cli_has_lost_is_begun_anew_at_the_next_try(self, bench: Bench, cli: str) -> None:
        flag = install(bench, cli)
        bench.run(flags=("--with", cli))
        talk(bench, 1)
        (bench.here / "lost").touch()
        sent = bench.send("still there?")
        assert bench.replies(2)[-1]["content"] == "answer 2"
        assert bench.until_state(sent["message_id"], "acked")["attempts"] == 2
        assert resumed(bench, flag) == [None, "conv-0", None]

    def test_that_cannot_be_kept_is_answered_all_the_same(self, bench: Bench) -> None:
        flag = install(bench, "claude")
        (bench.here / "state").touch()
        bench.run(flags=("--with", "claude"))
        assert talk(bench, 1) == "answer 0"
        assert talk(bench, 2) == "answer 1"
        assert resumed(bench, flag) == [None, "conv-0"]

    def test_goes_on_with_whichever_of_two_runners_has_the_next_message(self, tmp_path: Path) -> None:
        one, other = Conversations("coder", tmp_path), Conversations("coder", tmp_path)
        one.put("first", "conv-0")
        assert other.get("first") == "conv-0"
        other.put("second", "conv-1")
        one.put("third", "conv-2")
        again = Conversations("coder", tmp_path)
        assert [again.get(session) for session in ("first", "second", "third")] == ["conv-0", "conv-1", "conv-2"]
        assert [path.name for path in tmp_path.iterdir()] == ["coder.json"]

    def test_that_one_of_two_runners_found_lost_is_not_brought_back_by_the_other(self, tmp_path: Path) -> None:
        one, other = Conversations("coder", tmp_path), Conversations("coder", tmp_path)
        one.put("first", "conv-0")
        other.put("second", "conv-1")
        one.put("first", None)
        other.put("third", "conv-2")
        assert [box.get("first") for box in (one, other)] == [None, None]

    def test_that_is_lost_stays_lost_also_on_a_full_disk(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """It would be gone on with at every try, until the message is dead."""
        kept = Conversations("coder", tmp_path)
        kept.put("first", "conv-0")
        monkeypatch.setattr(os, "replace", Mock(side_effect=OSError(errno.ENOSPC, "no space left")))
        kept.put("first", None)
        assert kept.get("first") is None
        kept.put("first", "conv-1")
        assert kept.get("first") == "conv-1"
        monkeypatch.undo()
        kept.put("second", "conv-2")
        assert Conversations("coder", tmp_path).get("first") == "conv-1"


class TestAPrompt:
    @pytest.mark.parametrize("cli", CLIS)
    def test_is_all_that_a_cli_is_told_and_fenced(self, bench: Bench, cli: str) -> None:
        """They read words and standard input alike: what stands in both is read twice, and in one of them without its fence."""
        install(bench, cli)
        bench.run(flags=("--with", cli))
        bench.send("$(touch owned)\n--dangerously-skip-permissions")
        bench.replies()
        (words,) = bench.records("calls")
        assert not any("owned" in word for word in words)
        prompt = (bench.here / "given").read_text()
        assert prompt.startswith(f"A message from the agent {bench.ann} ")
        assert prompt.count("$(touch owned)\n--dangerously-skip-permissions") == 1
        assert prompt.endswith(f"=== {prompt.splitlines()[1].split()[1]} end ===")

    def test_may_be_as_long_as_mail(self, bench: Bench) -> None:
        """No word of a command is longer than 128 KiB."""
        install(bench, "claude")
        bench.run(flags=("--with", "claude"))
        bench.send(parts=[{"type": "text", "text": "x" * 500_000}], content=None)  # type: ignore[arg-type]
        assert bench.replies()[0]["content"] == "answer 0"
        assert "x" * 500_000 in (bench.here / "given").read_text()

    def test_is_kept_in_a_file_for_its_owner_alone(self, bench: Bench) -> None:
        install(bench, "claude")
        bench.run(flags=("--with", "claude"))
        talk(bench, 1)
        (kept,) = (bench.here / "state").rglob(f"{bench.coder}.json")
        assert kept.stat().st_mode & 0o777 == 0o600
        assert list(json.loads(kept.read_text()).values()) == ["conv-0"]


class TestWhatACliPrints:
    """One JSON object a line, in the letters its model chose."""

    @pytest.mark.parametrize("end", ["\u2028", "\u2029", "\x85"])
    def test_is_read_whatever_ends_of_lines_the_answer_has(self, end: str) -> None:
        said = [{"type": "agent_message", "text": "I look into it."}, {"type": "agent_message", "text": f"Done.{end}Really."}]
        events = [{"type": "thread.started", "thread_id": "t"}, *({"type": "item.completed", "item": item} for item in said)]
        printed = "\n".join(json.dumps(event, ensure_ascii=False) for event in events)
        assert PRESETS["codex"].read(printed) == Answer(f"Done.{end}Really.", "t")

    @pytest.mark.parametrize(
        ("cli", "events"),
        [
            ("codex", [{"type": "thread.started", "thread_id": "one"}, {"type": "turn.completed", "usage": {}}]),
            ("opencode", [{"type": "step_start", "sessionID": "one", "part": {"type": "step-start"}}]),
        ],
    )
    def test_is_no_answer_where_the_model_said_nothing(self, cli: str, events: list[dict[str, object]]) -> None:
        assert PRESETS[cli].read("\n".join(map(json.dumps, events))) == Answer("", "one")
