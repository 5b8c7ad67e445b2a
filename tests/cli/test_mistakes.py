"""Whatever goes wrong is told in one line, with an exit code that says what kind it is."""

import fcntl
import json
import signal
import subprocess
import termios
from pathlib import Path

import pytest

from tests.cli.home import Home, Office
from tests.cli.terminal import seen
from tests.proof.patience import until
from tests.serve.running import COMMAND, PATIENCE, free_port


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (2, ["nothing"]),
        (2, ["send", "hello"]),
        (2, ["inbox", "--limit", "many"]),
        (65, ["inbox", "--as", "no name"]),
        (65, ["inbox", "--as", "näme"]),
        (65, ["inbox", "--limit", "0"]),
        (65, ["agents", "--limit", "0"]),
        (65, ["agents", "--limit", "-1"]),
        (65, ["inbox", "--server", "ftp://nowhere"]),
        (65, ["inbox", "--server", "http://127.0.0.1:99999"]),
        (65, ["watch", "--after", "then"]),
        (65, ["send", "--to", "bob", "--file", "nowhere"]),
        (65, ["send", "--to", "bob", "--file", "."]),
        (65, ["send", "--to", "bob", "--file", "x", "text"]),
        (65, ["run", "bob"]),
        (65, ["openclaw"]),
        (66, ["read", "nothing"]),
        (66, ["read", "\x1b[31m"]),
        (66, ["status", "nothing", "--as", "alice"]),
        (66, ["ack", "nothing", "--token", "x", "--as", "alice"]),
        (66, ["approve", "XX-000", "--as", "alice"]),
        (66, ["dead", "discard", "nothing"]),
    ],
)
def test_each_kind_has_its_code(home: Home, code: int, words: list[str]) -> None:
    home.refused(code, *words)


@pytest.mark.parametrize(
    ("code", "words"), [(66, ["status", "{}"]), (66, ["ack", "{}", "--token", "x"]), (77, ["read", "{}"]), (2, ["status", "x", "{}"])]
)
def test_what_is_wrong_is_told_without_what_moves_a_terminal(home: Home, code: int, words: list[str]) -> None:
    said = home.refused(code, *(word.format("\x1b]0;mine\x07\u202e\nand so on") for word in words), "--as", "alice")
    assert said.rstrip("\n").isprintable()


def test_an_id_cannot_lead_elsewhere(home: Home) -> None:
    assert "session" in home.refused(66, "read", "../../agents/me/keys?")


@pytest.mark.parametrize("words", [("send", "--to", "bob", "Hello", "there"), ("serve", "--prot", "9"), ("ledger", "status", "--al")])
def test_what_a_command_does_not_know_is_explained_by_its_own_help(home: Home, words: tuple[str, ...]) -> None:
    command = " ".join(("postoffice", *words[: 1 + (words[0] == "ledger")]))
    assert f"see `{command} --help`" in home.refused(2, *words)


class TestKeys:
    @pytest.mark.parametrize("key", ["amb_0", "schlüssel", "two\nlines"])
    def test_a_wrong_one(self, home: Home, key: str) -> None:
        home.refused(77, "inbox", extra={"POSTOFFICE_KEY": key})


class TestNoServer:
    @pytest.mark.parametrize("words", [["agents"], ["recv"], ["send", "--to", "bob", "hello"], ["watch"]])
    def test_it_is_said_and_what_to_do(self, home: Home, words: list[str]) -> None:
        gone = Home(home.folder, Office(free_port(), home.office.data))
        assert "postoffice serve" in gone.refused(69, *words)

    def test_two_servers_do_not_share(self, home: Home) -> None:
        assert "in use" in home.refused(69, "serve", "--port", str(free_port()))
        assert "--port" in home.refused(69, "serve", "--data", "mine", "--port", str(home.office.port))


class TestStreams:
    def shell(self, home: Home, script: str) -> subprocess.CompletedProcess[str]:
        """The command as `$P` in a shell's script."""
        environ = home.environment({"P": " ".join(COMMAND)})
        words = ["bash", "-o", "pipefail", "-c", script]
        return subprocess.run(words, cwd=home.folder, env=environ, capture_output=True, text=True, timeout=PATIENCE, check=False)

    @pytest.mark.parametrize(
        "script",
        [
            "$P agents | true",
            "$P completions bash | true",
            "$P agents > /dev/full",
            "$P agents >&-",
            "$P send --to bob --as alice <&-",
            "$P login <&-",
            "$P hook --as bob <&-",
            "$P hook --as bob >&-",
            "$P setup cursor >&-",
            "$P setup cursor <&-",
            r"printf '\xff' | $P send --to bob --as alice",
            r"$P send --to bob --as alice $'\xff'",
        ],
    )
    def test_a_bad_one_is_no_traceback(self, home: Home, script: str) -> None:
        done = self.shell(home, script)
        assert "Traceback" not in done.stderr, done.stderr[-300:]
        assert "Exception ignored" not in done.stderr
        assert len(done.stderr.splitlines()) <= 1

    @pytest.mark.parametrize(
        ("script", "code"),
        [
            ("$P status nothing --as alice --json", 66),
            ("$P recv --as nobody-writes-to-me --wait 0", 1),
            ("$P ledger verify --ledger 127.0.0.1:50211=0.0.3 --ledger-mirror http://127.0.0.1:5551", 0),
        ],
    )
    def test_what_is_wrong_never_comes_out_among_the_answers(self, home: Home, script: str, code: int) -> None:
        """With standard error closed it did, and a verification that found nothing wrong ended as if it had."""
        done = self.shell(home, f"{script} 2>&-")
        assert done.returncode == code
        assert all(json.loads(line) for line in done.stdout.splitlines())
        assert bool(done.stdout) == (code == 0)

    def test_input_that_is_no_text(self, home: Home) -> None:
        (home.folder / "picture").write_bytes(b"\x89PNG\xff")
        done = self.shell(home, "$P send --to bob --as alice < picture")
        assert (done.returncode, done.stdout) == (65, "")
        assert "not text in UTF-8" in done.stderr

    @pytest.mark.parametrize("words", [["send", "--to", "bob", "--as", "alice"], ["login", "--as", "nobody-yet"]])
    async def test_one_interrupt_while_its_input_is_read(self, home: Home, words: list[str]) -> None:
        """It was noted, and nothing came of it until the input ended."""
        with subprocess.Popen([*COMMAND, *words], env=home.environment(), stdin=subprocess.PIPE, bufsize=0) as process:
            assert process.stdin is not None
            process.stdin.write(b"half")
            pipe = process.stdin.fileno()
            await until(lambda: not any(fcntl.ioctl(pipe, termios.FIONREAD, bytes(4))))  # it has read that, and waits for more
            process.send_signal(signal.SIGINT)
            assert process.wait(timeout=PATIENCE) == 130

    def test_an_interrupt_while_waiting(self, home: Home, tmp_path: Path) -> None:
        alice, bob = home.names("alice", "bob")
        home.ask("send", "--to", bob, "hello", "--as", alice)
        with home.staying("recv", "--as", bob, "--count", "0", "--exec", f"cat > {tmp_path}/got; echo got") as waiting:
            assert waiting.stdout is not None
            assert waiting.stdout.readline() == "got\n"
            waiting.send_signal(signal.SIGINT)
            out, err = waiting.communicate(timeout=PATIENCE)
        assert (waiting.returncode, out, err) == (130, "", "")


class TestGuesses:
    @pytest.mark.parametrize(
        ("words", "meant"),
        [
            (("sned", "--to", "bob", "hi"), "did you mean send?"),
            (("run", "x", "--with", "cluade"), "did you mean claude?"),
            (("task", "compleet", "x"), "did you mean complete?"),
            (("dead", "xyzzy"), "only list, requeue, discard"),
        ],
    )
    def test_a_slip_is_told_with_what_was_meant(self, home: Home, words: tuple[str, ...], meant: str) -> None:
        assert meant in home.refused(2, *words)

    def test_what_is_near_to_nothing_lists_nothing(self, home: Home) -> None:
        assert home.refused(2, "xyzzy") == "postoffice: there is no command 'xyzzy'; see `postoffice --help`\n"

    def test_a_name_that_nobody_has_is_told_with_the_nearest(self, home: Home) -> None:
        (coder,) = home.names("coder")
        home.ask("register", coder)
        assert f"Did you mean {coder}?" in seen(home, "send", "--to", f"{coder[:3]}{coder[4:]}", "hi")


class TestTheBeginning:
    def test_it_says_who_one_is_and_how_to_go_on(self, home: Home) -> None:
        done = home.run()
        assert (done.returncode, done.stderr) == (0, "")
        assert f"The office at {home.office.url} is open. You are owner" in done.stdout
        assert "inbox" in done.stdout

    def test_without_an_office_the_first_step_is_to_open_one(self, home: Home) -> None:
        done = Home(home.folder, Office(free_port(), home.office.data)).run()
        assert done.returncode == 0
        assert "No office answers" in done.stdout
        assert " serve " in done.stdout.splitlines()[4]
