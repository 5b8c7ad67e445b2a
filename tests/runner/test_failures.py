"""A command that fails gives the mail back with a pause and a reason; after the last try the sender hears why."""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.runner.bench import ONE_TRY, Bench
from tests.runner.office import until
from tests.serve.running import COMMAND, PATIENCE


def given_back(bench: Bench, *words: str, flags: tuple[str, ...] = (), meanwhile: Callable[[], None] = lambda: None) -> dict[str, Any]:
    """Where the first try left a message."""
    runner = bench.run(*words, flags=flags, program=(sys.executable, "-W", "error", "-c", ONE_TRY))
    runner.until_said("answering mail")
    meanwhile()
    id = bench.send()["message_id"]
    runner.until_said("failed: ")
    standing = bench.until_state(id, "held", "pending", "dead")
    assert standing["attempts"] == 1
    return standing


def alive(pid: str) -> bool:
    """Whether a process is there and more than an entry nobody has read."""
    try:
        with open(f"/proc/{pid}/stat") as file:  # noqa: PTH123 - a file that may vanish at any moment
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


class TestACommandThatFails:
    @pytest.mark.parametrize(
        ("words", "reason"),
        [
            (("sh", "-c", "echo first >&2; echo last words >&2; exit 7"), "sh ended with 7, saying last words"),
            (("false",), "false ended with 1"),
            (("sh", "-c", "kill -9 $$"), "sh ended with -9"),
        ],
    )
    def test_gives_the_mail_back_with_a_reason_and_a_pause(self, bench: Bench, words: tuple[str, ...], reason: str) -> None:
        standing = given_back(bench, *words)
        assert reason in standing["reason"]
        assert standing["state"] == "held"
        assert bench.office.waiting(bench.ann) == []

    @pytest.mark.parametrize(
        ("lost", "reason"),
        [
            (Path.unlink, "cannot be run (No such file or directory)"),
            (partial(Path.chmod, mode=0o644), "cannot be run (Permission denied)"),
        ],
    )
    def test_does_so_too_where_it_was_lost_meanwhile(self, bench: Bench, lost: Callable[[Path], None], reason: str) -> None:
        command = bench.sh("lost", "echo never")
        assert f"{command} {reason}" in given_back(bench, command, meanwhile=lambda: lost(Path(command)))["reason"]

    @pytest.mark.parametrize("words", [("no-such-command", "{message}"), ("/etc/passwd",)])
    def test_that_never_was_there_takes_no_mail(self, bench: Bench, words: tuple[str, ...]) -> None:
        id = bench.send()["message_id"]
        runner = bench.run(*words)
        runner.until_said(f"{words[0]} cannot be run here")
        assert runner.process.wait(PATIENCE) == 65
        standing = bench.until_state(id, "pending")
        assert standing["attempts"] == 0

    def test_says_so_to_the_sender_after_the_last_try_and_sends_no_answer(self, bench: Bench) -> None:
        runner = bench.run("sh", "-c", "echo ran >> ran; echo half an answer; echo boom >&2; exit 1")
        begun = time.monotonic()
        id = bench.send()["message_id"]
        standing = bench.until_state(id, "dead")
        assert time.monotonic() - begun >= 1
        assert (standing["attempts"], len(bench.lines("ran"))) == (2, 2)
        (notice,) = bench.office.notices(bench.ann)
        assert "boom" in notice
        assert bench.office.waiting(bench.ann) == []
        assert runner.said().count("The command failed: ") == 2

    def test_holds_up_nobody_else(self, bench: Bench) -> None:
        bench.run("sh", "-c", '[ "$1" = bad ] && exit 1; echo "fine $1"', "sh", "{message}")
        bench.send("bad", subject="one")
        bench.send("good", subject="two")
        (reply,) = bench.replies()
        assert reply["content"] == "fine good"

    def test_gives_a_reason_whatever_its_last_words_were(self, bench: Bench) -> None:
        """No mailbox keeps U+0000, and a reason that is refused would leave the mail leased."""
        assert "sh ended with 1, saying half" in given_back(bench, "sh", "-c", r"printf 'half\000way' >&2; exit 1")["reason"]

    def test_prints_without_end_and_is_ended(self, bench: Bench) -> None:
        """Not kept in memory until its time is over: that would take the whole machine."""
        standing = given_back(bench, "sh", "-c", "echo $$ > printing; exec yes")
        assert "it printed more than 64 MiB" in standing["reason"]
        (pid,) = bench.lines("printing")
        assert not alive(pid)

    def test_complains_without_end_and_is_heard_to_the_last(self, bench: Bench) -> None:
        standing = given_back(bench, "sh", "-c", "yes oh dear | head -c 80000000 >&2; echo last words >&2; exit 7")
        assert "sh ended with 7, saying last words" in standing["reason"]

    def test_prints_what_is_no_text_and_is_understood_as_well_as_can_be(self, bench: Bench) -> None:
        bench.run("printf", r"a\377b")
        bench.send()
        (reply,) = bench.replies()
        assert reply["content"] == "a\ufffdb"


class TestATimeout:
    def test_ends_the_command_and_all_it_started(self, bench: Bench) -> None:
        standing = given_back(bench, "sh", "-c", "sleep 60 & echo $! > child; echo $$ > parent; wait", flags=("--timeout", "4"))
        assert "no answer within 4 seconds" in standing["reason"]
        assert standing["state"] == "held"
        for name in ("child", "parent"):
            (pid,) = bench.lines(name)
            until(lambda pid=pid: not alive(pid))  # type: ignore[misc]

    def test_ends_also_what_outlived_the_command(self, bench: Bench) -> None:
        """The command is gone at once, but what it left behind holds on to its output."""
        standing = given_back(bench, "sh", "-c", "sleep 60 & echo $! > child", flags=("--timeout", "4"))
        assert "no answer within 4 seconds" in standing["reason"]
        (pid,) = bench.lines("child")
        try:
            until(lambda: not alive(pid))
        finally:
            if alive(pid):
                os.kill(int(pid), 9)

    def test_ends_a_command_in_the_midst_of_printing(self, bench: Bench) -> None:
        """What it printed that nobody reads any more must not keep its end from being seen."""
        assert given_back(bench, "yes", flags=("--timeout", "0.02"))["state"] == "held"

    def test_does_not_wait_for_what_got_away(self, bench: Bench) -> None:
        """In a session of its own it is not ended with the command, and it holds on to the command's output."""
        away = bench.python("away", "import os, time\nos.setsid()\nopen('away', 'w').write(str(os.getpid()))\ntime.sleep(40)")
        standing = given_back(bench, "sh", "-c", f"{away} & wait", flags=("--timeout", "4"))
        (pid,) = bench.lines("away")
        assert alive(pid)
        os.kill(int(pid), 9)
        assert "no answer within 4 seconds" in standing["reason"]

    def test_is_heard_by_the_sender(self, bench: Bench) -> None:
        bench.run("sleep", "60", flags=("--timeout", "0.2"))
        bench.until_state(bench.send()["message_id"], "dead")
        (notice,) = bench.office.notices(bench.ann)
        assert "no answer within 0.2 seconds" in notice


class TestARunner:
    def test_takes_its_flags_after_the_agent_too(self, bench: Bench) -> None:
        """As its own help writes them: `postoffice run coder --with claude`."""
        command = [*COMMAND, "run", bench.coder, "--server", bench.office.url, "--jobs", "1", "--", "echo", "{message}"]
        process = subprocess.Popen(command, cwd=bench.here, env=bench.environment(), stderr=subprocess.PIPE)
        bench.send("here")
        try:
            until(lambda: bench.office.waiting(bench.ann) or process.poll() is not None)
            assert [reply["content"] for reply in bench.office.waiting(bench.ann)] == ["here"]
        finally:
            process.terminate()
            process.communicate(timeout=PATIENCE)

    def test_answers_though_nobody_hears_what_it_says_of_it(self, bench: Bench) -> None:
        """A log on a full disk is the same. The mail stayed leased for as long as the runner was there."""
        command = [*COMMAND, "run", "--server", bench.office.url, bench.coder, "--", "echo", "{message}"]
        process = subprocess.Popen(command, cwd=bench.here, env=bench.environment(), stderr=subprocess.PIPE)
        assert process.stderr is not None
        try:
            assert b"answering mail" in process.stderr.readline()
            process.stderr.close()
            id = bench.send("here")["message_id"]
            bench.until_state(id, "acked")
            assert [reply["content"] for reply in bench.replies()] == ["here"]
        finally:
            process.terminate()
            process.wait(PATIENCE)

    def test_wants_a_command_or_a_preset(self, bench: Bench) -> None:
        runner = bench.run()
        assert runner.process.wait(PATIENCE) != 0
        assert "give --with CLI, or -- COMMAND" in runner.said()
        assert "Traceback" not in runner.said()

    @pytest.mark.parametrize("flags", [("--jobs", "0"), ("--timeout", "0")])
    def test_refuses_numbers_that_make_no_sense(self, bench: Bench, flags: tuple[str, ...]) -> None:
        runner = bench.run("cat", flags=flags)
        until(lambda: runner.process.poll() is not None, told=runner.said)
        assert runner.process.returncode != 0
        assert "Traceback" not in runner.said()
