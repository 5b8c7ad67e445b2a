"""Commands that wait: for an answer, for what happens, for the next message."""

import json
import os
import re
import shlex
import signal
import subprocess
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest

from tests.cli.home import Home, Office, next_line, opened
from tests.cli.terminal import seen
from tests.serve.running import COMMAND, PATIENCE, free_port, serving

README = Path(__file__).parents[2] / "README.md"


class TestWaitingForAnAnswer:
    def test_the_answer_is_given_with_what_was_sent(self, home: Home) -> None:
        alice, echo = home.names("alice", "echo")
        with home.staying("run", echo, "--", "printf", "heard"):
            got = home.ask("send", "--to", echo, "hello", "--wait-reply", "20", "--as", alice)
        assert (got["reply"]["from"], got["reply"]["content"]) == (echo, "heard")
        assert got["reply"]["session_id"] == got["sent"]["session_id"]
        assert home.ask("inbox", "--unread", "--as", alice)["sessions"] == []

    def test_dashes_in_the_midst_of_a_command_are_the_command_s(self, home: Home) -> None:
        alice, echo = home.names("alice", "echo")
        with home.staying("run", echo, "printf", "%s.", "one", "--", "two"):
            got = home.ask("send", "--to", echo, "hello", "--wait-reply", "20", "--as", alice)
        assert got["reply"]["content"] == "one.--.two."

    def test_a_task_s_result_is_its_answer(self, home: Home) -> None:
        """As the help's own example has it: `git diff | postoffice send --to reviewer --task … --wait-reply 120`."""
        alice, echo = home.names("alice", "echo")
        with home.staying("run", echo, "--", "printf", "reviewed"):
            got = home.ask("send", "--to", echo, "--task", "--wait-reply", "20", "--as", alice, said="a diff")
        assert got["reply"]["content"] == "reviewed"

    def test_no_answer_is_told_as_such(self, home: Home) -> None:
        alice, bob = home.names("alice", "bob")
        assert f"{bob} did not answer" in home.refused(69, "send", "--to", bob, "hello", "--wait-reply", "0", "--as", alice)
        assert home.ask("recv", "--as", bob)["content"] == "hello"

    def test_the_readme_s_own_question_is_answered(self, home: Home) -> None:
        """There the text stands where the seconds could."""
        (line,) = re.findall("^postoffice (send .*--wait-reply.*)$", README.read_text(), re.MULTILINE)
        with home.staying("run", "coder", "--", "grep", "-o", "What does this repository do?"):
            got = home.ask(*shlex.split(line), "--as", *home.names("alice"))
        assert got["reply"]["content"] == "What does this repository do?"

    @pytest.mark.parametrize("wait", ["-1", "241", "nan", "inf", "soon"])
    def test_a_wait_nobody_can_keep_sends_nothing(self, home: Home, wait: str) -> None:
        alice, bob = home.names("alice", "bob")
        home.refused(65, "send", "--to", bob, "hello", "--wait-reply", wait, "--as", alice)
        assert home.ask("inbox", "--as", bob)["sessions"] == []


@pytest.mark.parametrize("words", [("watch",), ("watch", "--after", "0"), ("recv",), ("recv", "--count", "0")])
def test_an_office_that_was_never_there_is_not_waited_for(home: Home, words: tuple[str, ...]) -> None:
    assert "No office answers" in home.refused(69, *words, "--as", "bob", "--server", f"127.0.0.1:{free_port()}")


def test_one_that_goes_away_meanwhile_is_waited_for(tmp_path: Path) -> None:
    """Who had asked was told to try again, and asked twice; who took mail without end took no more."""
    port, data = free_port(), tmp_path / "data"
    home = Home(tmp_path / "home", Office(port, data))
    with ExitStack() as stack:
        with opened(data, port=port):
            asking = stack.enter_context(home.staying("send", "--to", "echo", "hello", "--wait-reply", "60", "--as", "alice"))
            takers = {
                name: stack.enter_context(home.staying("recv", "--as", name, "--count", count, "--wait", "60"))
                for name, count in (("bob", "1"), ("carol", "0"))
            }
            # A wait by a name never seen makes no agent: the office's own number tells that all of them wait.
            while "postoffice_waiters 3.0" not in httpx.get(f"{home.office.url}/metrics", timeout=PATIENCE).text:
                pass
        stack.enter_context(opened(data, port=port))
        stack.enter_context(home.staying("run", "echo", "--", "printf", "heard"))
        assert json.loads(next_line(asking))["reply"]["content"] == "heard"
        for name, taking in takers.items():
            home.ask("send", "--to", name, "good morning", "--as", "dave")
            assert json.loads(next_line(taking))["content"] == "good morning"


@pytest.mark.parametrize("most", ["0.2", "0"])
def test_an_office_that_has_nobody_wait_long_is_asked_again(tmp_path: Path, most: str) -> None:
    with opened(tmp_path / "data", extra={"POSTOFFICE_WAIT_MOST": most}) as office, ExitStack() as stack:
        home = Home(tmp_path / "home", office)
        watch = stack.enter_context(home.staying("watch", "--as", "echo", "--after", "0"))
        receiving = stack.enter_context(home.staying("recv", "--wait", "100", "--as", "bob"))
        stack.enter_context(home.staying("run", "echo", "--", "printf", "heard"))
        got = home.ask("send", "--to", "echo", "hello", "--wait-reply", "20", "--as", "alice")
        assert got["reply"]["content"] == "heard"
        assert json.loads(next_line(watch))["content"] == "hello"
        home.ask("send", "--to", "bob", "late", "--as", "alice")
        assert json.loads(next_line(receiving))["content"] == "late"


class TestWatching:
    def test_every_event_is_one_line_of_json_as_it_happens(self, home: Home) -> None:
        alice, bob = home.names("alice", "bob")
        home.ask("send", "--to", bob, "one\ntwo", "--as", alice)
        with home.staying("watch", "--as", bob, "--after", "0", "--json") as watch:
            first = json.loads(next_line(watch))
            home.ask("send", "--to", bob, "three", "--as", alice)
            second = json.loads(next_line(watch))
        assert [event["type"] for event in (first, second)] == ["new_message"] * 2
        assert [event["content"] for event in (first, second)] == ["one\ntwo", "three"]
        assert int(second["cursor"]) > int(first["cursor"])

    def test_it_takes_nothing(self, home: Home) -> None:
        alice, bob = home.names("alice", "bob")
        home.ask("send", "--to", bob, "yours", "--as", alice)
        with home.staying("watch", "--as", bob, "--after", "0") as watch:
            next_line(watch)
        assert home.ask("recv", "--as", bob)["attempt"] == 1

    def test_it_goes_on_when_the_server_comes_back(self, tmp_path: Path) -> None:
        port, data = free_port(), tmp_path / "data"
        home = Home(tmp_path / "home", Office(port, data))
        with ExitStack() as stack:
            with opened(data, port=port):
                home.ask("send", "--to", "bob", "before", "--as", "alice")
                watch = stack.enter_context(home.staying("watch", "--as", "bob", "--after", "0"))
                seen = [json.loads(next_line(watch))["content"]]
            home.refused(69, "agents")
            stack.enter_context(opened(data, port=port))
            home.ask("send", "--to", "bob", "after", "--as", "alice")
            seen.append(json.loads(next_line(watch))["content"])
        assert seen == ["before", "after"]

    def test_an_interrupt_ends_it_quietly(self, home: Home) -> None:
        alice, bob = home.names("alice", "bob")
        home.ask("send", "--to", bob, "hello", "--as", alice)
        with home.staying("watch", "--as", bob, "--after", "0") as watch:
            next_line(watch)
            watch.send_signal(signal.SIGINT)
            out, err = watch.communicate(timeout=PATIENCE)
        assert (watch.returncode, out, err) == (130, "", "")


class TestReceiving:
    def test_a_message_is_printed_and_acked(self, home: Home) -> None:
        alice, bob = home.names("alice", "bob")
        sent = home.ask("send", "--to", bob, "hello", "--as", alice)["message_id"]
        assert home.ask("recv", "--as", bob)["id"] == sent
        assert home.ask("status", sent, "--as", alice)["standings"][0]["state"] == "acked"

    def test_nothing_came(self, home: Home) -> None:
        (bob,) = home.names("bob")
        assert "no message came" in home.refused(1, "recv", "--wait", "0", "--as", bob)

    @pytest.mark.parametrize("wait", ["-1", "nan"])
    def test_a_wait_nobody_can_keep(self, home: Home, wait: str) -> None:
        assert "--wait" in home.refused(65, "recv", "--wait", wait, "--as", *home.names("bob"))

    def test_a_command_that_succeeds_acks(self, home: Home) -> None:
        alice, bob = home.names("alice", "bob")
        sent = home.ask("send", "--to", bob, "hello", "--subject", "S", "--as", alice)["message_id"]
        done = home.run("recv", "--as", bob, "--exec", 'cat; echo; echo "$POSTOFFICE_FROM $POSTOFFICE_SUBJECT $POSTOFFICE_MESSAGE"')
        letter, names = done.stdout.splitlines()
        assert (done.returncode, json.loads(letter)["content"], names) == (0, "hello", f"{alice} S {sent}")
        assert home.ask("status", sent, "--as", alice)["standings"][0]["state"] == "acked"

    def test_a_command_that_fails_gives_back_with_the_reason(self, home: Home) -> None:
        alice, bob = home.names("alice", "bob")
        sent = home.ask("send", "--to", bob, "hello", "--as", alice)["message_id"]
        assert home.run("recv", "--as", bob, "--exec", "cat >/dev/null; exit 3").returncode == 3
        (standing,) = home.ask("status", sent, "--as", alice)["standings"]
        assert (standing["state"], standing["reason"]) == ("pending", "the command ended with 3")

    @pytest.mark.parametrize(("sent_signal", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 143)])
    def test_what_is_broken_off_ends_with_all_it_started_and_is_given_back(
        self, home: Home, sent_signal: signal.Signals, code: int
    ) -> None:
        alice, bob = home.names("alice", "bob")
        sent = home.ask("send", "--to", bob, "hello", "--as", alice)["message_id"]
        with home.staying("recv", "--as", bob, "--exec", "echo begun; sleep 3600; true") as receiving:
            assert next_line(receiving) == "begun\n"
            receiving.send_signal(sent_signal)
            # Nobody holds on to its output any more.
            assert receiving.communicate(timeout=PATIENCE) == ("", "")
        assert receiving.returncode == code
        (standing,) = home.ask("status", sent, "--as", alice)["standings"]
        assert (standing["state"], standing["reason"]) == ("pending", "it was broken off")

    def test_what_is_broken_off_is_given_back_to_an_office_that_takes_its_time_too(self, tmp_path: Path) -> None:
        port, data = free_port(), tmp_path / "data"
        home = Home(tmp_path / "home", Office(port, data))
        with serving(*COMMAND, "serve", "--data", str(data), "--port", str(port), port=port, here=tmp_path) as server:
            sent = home.ask("send", "--to", "bob", "hello", "--as", "alice")["message_id"]
            with home.staying("recv", "--as", "bob", "--exec", "echo begun; sleep 3600") as receiving:
                assert next_line(receiving) == "begun\n"
                server.send_signal(signal.SIGSTOP)
                try:
                    receiving.send_signal(signal.SIGTERM)
                    with pytest.raises(subprocess.TimeoutExpired):
                        receiving.wait(3)
                finally:
                    server.send_signal(signal.SIGCONT)
                assert receiving.wait(PATIENCE) == 143
            (standing,) = home.ask("status", sent, "--as", "alice")["standings"]
        assert (standing["state"], standing["reason"]) == ("pending", "it was broken off")

    def test_what_is_broken_off_while_the_office_is_away_ends_all_the_same(self, tmp_path: Path) -> None:
        with ExitStack() as stack:
            with opened(tmp_path / "data") as office:
                home = Home(tmp_path / "home", office)
                home.ask("send", "--to", "bob", "hello", "--as", "alice")
                receiving = stack.enter_context(home.staying("recv", "--as", "bob", "--exec", "echo begun; sleep 3600"))
                assert next_line(receiving) == "begun\n"
            receiving.send_signal(signal.SIGINT)
            assert receiving.communicate(timeout=PATIENCE) == ("", "")
        assert receiving.returncode == 130

    @pytest.mark.parametrize("again", [(), (signal.SIGINT,), (signal.SIGTERM,)])
    def test_a_command_that_will_not_end_is_ended(self, home: Home, again: tuple[signal.Signals, ...]) -> None:
        alice, bob = home.names("alice", "bob")
        sent = home.ask("send", "--to", bob, "hello", "--as", alice)["message_id"]
        stubborn = "trap 'echo told' TERM; echo begun; for _ in $(seq 99); do sleep 1; done"
        with home.staying("recv", "--as", bob, "--exec", stubborn) as receiving:
            assert next_line(receiving) == "begun\n"
            receiving.send_signal(signal.SIGTERM)
            assert next_line(receiving) == "told\n"
            for one in again:  # by somebody impatient
                receiving.send_signal(one)
            receiving.communicate(timeout=PATIENCE)  # until nobody holds on to its output
        assert home.ask("status", sent, "--as", alice)["standings"][0]["state"] == "pending"

    def test_a_command_at_a_terminal_may_ask(self, home: Home) -> None:
        alice, bob = home.names("alice", "bob")
        home.ask("send", "--to", bob, "hello", "--as", alice)
        asking = "printf 'sure? '; read -r answer </dev/tty; echo \"so: $answer\""
        assert "so: yes" in seen(home, "recv", "--as", bob, "--exec", asking, until="sure? ", typed=b"yes\n")

    def test_what_nobody_reads_is_given_back(self, home: Home) -> None:
        alice, bob = home.names("alice", "bob")
        sent = home.ask("send", "--to", bob, "hello", "--as", alice)["message_id"]
        gone, pipe = os.pipe()
        os.close(gone)
        with os.fdopen(pipe, "wb") as out:
            subprocess.run([*COMMAND, "recv", "--as", bob], env=home.environment(), stdout=out, timeout=PATIENCE, check=True)
        assert home.ask("status", sent, "--as", alice)["standings"][0]["state"] == "pending"

    def test_what_nobody_could_read_is_not_taken(self, home: Home) -> None:
        """Printed to a standard output that was closed from the beginning, it was acked all the same."""
        alice, bob = home.names("alice", "bob")
        sent = home.ask("send", "--to", bob, "hello", "--as", alice)["message_id"]
        done = home.run("recv", "--as", bob, under=("bash", "-c", 'exec "$@" >&-', "closed"))
        assert (done.returncode, "--exec" in done.stderr) == (65, True)
        standing = home.ask("status", sent, "--as", alice)["standings"][0]
        assert (standing["state"], standing["attempts"]) == ("pending", 0)

    def test_a_command_s_success_outlives_a_server_that_is_away_at_its_end(self, tmp_path: Path) -> None:
        port, data = free_port(), tmp_path / "data"
        home = Home(tmp_path / "home", Office(port, data))
        with ExitStack() as stack:
            with opened(data, port=port):
                sent = home.ask("send", "--to", "bob", "hello", "--as", "alice")["message_id"]
                receiving = stack.enter_context(
                    home.staying("recv", "--as", "bob", "--exec", "echo begun; until test -e end; do sleep 0.05; done")
                )
                assert next_line(receiving) == "begun\n"
            (home.folder / "end").touch()
            with pytest.raises(subprocess.TimeoutExpired):
                receiving.wait(1)
            stack.enter_context(opened(data, port=port))
            assert receiving.wait(PATIENCE) == 0
            (standing,) = home.ask("status", sent, "--as", "alice")["standings"]
        assert (standing["state"], standing["attempts"]) == ("acked", 1)

    def test_a_command_need_not_read_what_it_gets(self, home: Home) -> None:
        alice, bob = home.names("alice", "bob")
        home.ask("send", "--to", bob, "--as", alice, said="x" * 9_000)
        done = home.run("recv", "--as", bob, "--exec", "true")
        assert (done.returncode, done.stderr) == (0, "")

    def test_several_are_taken_one_after_another(self, home: Home) -> None:
        alice, bob = home.names("alice", "bob")
        for text in ("one", "two"):
            home.ask("send", "--to", bob, text, "--as", alice)
        done = home.run("recv", "--as", bob, "--count", "2")
        assert [json.loads(line)["content"] for line in done.stdout.splitlines()] == ["one", "two"]
