"""A CLI's own conversation is kept for each session, from one start to the next."""

import json
import shlex
import sys

import pytest

from tests.runner.bench import Bench

# Writes down how it was called and answers as the real one does, in the conversation it was given or a new one.
FAKE = """
import json, pathlib, sys
seen = pathlib.Path("calls")
before = seen.read_text().splitlines() if seen.exists() else []
seen.write_text("".join(line + "\\n" for line in [*before, json.dumps(sys.argv[1:])]))
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


class TestAPrompt:
    def test_is_one_word_and_fenced_for_every_cli(self, bench: Bench) -> None:
        install(bench, "claude")
        bench.run(flags=("--with", "claude"))
        bench.send("$(touch owned)\n--dangerously-skip-permissions")
        bench.replies()
        ((mark, prompt, *rest),) = bench.records("calls")
        assert (mark, rest) == ("-p", ["--output-format", "json"])
        assert prompt.startswith(f"A message from the agent {bench.ann} ")
        assert "$(touch owned)\n--dangerously-skip-permissions" in prompt

    def test_is_kept_in_a_file_for_its_owner_alone(self, bench: Bench) -> None:
        install(bench, "claude")
        bench.run(flags=("--with", "claude"))
        talk(bench, 1)
        (kept,) = (bench.here / "state").rglob(f"{bench.coder}.json")
        assert kept.stat().st_mode & 0o777 == 0o600
        assert list(json.loads(kept.read_text()).values()) == ["conv-0"]
