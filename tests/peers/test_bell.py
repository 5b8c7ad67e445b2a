"""Real clients, open and idle in a terminal, are rung for their mail and take it."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from statistics import quantiles

import pytest

from tests.bridges.bell.pretend import Ground
from tests.peers.client import CLIENTS, QUIET
from tests.peers.mind import Mind, thinking
from tests.peers.terminal import Terminal, terminal, until
from tests.serve.running import COMMAND, free_port, serving

PATIENCE = 60.0
LETTERS = 20
CLIENTS_RUNG = ["claude", "codex", "opencode", "kilo", "copilot", "qwen"]


class Bench:
    """A home with one client set up, its mind, and an office."""

    def __init__(self, ground: Ground, mind: Mind, client: str, *words: str) -> None:
        self.ground, self.mind, self.client = ground, mind, client
        self.folder = ground.home / "shop"
        self.folder.mkdir()
        ready(ground.home, self.folder, mind.address)
        done = subprocess.run(
            [*COMMAND, "setup", client, "--hook", "--yes", *words],
            cwd=self.folder,
            env=self.environment(),
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr

    def environment(self) -> dict[str, str]:
        """What the client and the command get."""
        ours = {"PATH": os.pathsep.join([str(CLIENTS), os.environ["PATH"]]), "TERM": "xterm-256color", "OPENCODE_DISABLE_MODELS_FETCH": "1"}
        keyless = {
            "ANTHROPIC_BASE_URL": self.mind.address,
            "ANTHROPIC_API_KEY": "sk-ant-none-0000000000000000000000",
            "OPENAI_BASE_URL": f"{self.mind.address}/v1",
            "OPENAI_API_KEY": "none",
            "KILO_API_URL": self.mind.address,
            "GOOGLE_GEMINI_BASE_URL": self.mind.address,
            "GEMINI_API_KEY": "none",
            "COPILOT_OFFLINE": "true",
            "COPILOT_AUTO_UPDATE": "false",
            "COPILOT_PROVIDER_BASE_URL": f"{self.mind.address}/v1",
            "COPILOT_MODEL": "m",
        }
        kept = {name: value for name, value in self.ground.environment().items() if not name.startswith("CODEX")}
        return kept | {name: value for name, value in QUIET.items() if name != "NO_COLOR"} | ours | keyless

    @contextmanager
    def open(self, agent: str = "shop", *words: str) -> Iterator[Terminal]:
        """A window, once the office knows it and how to ring it."""
        with terminal([*WORDS[self.client], *words], self.folder, self.environment()) as window:
            if self.client == "codex":
                until(lambda: b"Trust" in window.shown or agent in self.ground.windows(), PATIENCE, lambda: window.shown)
                if b"Trust" in window.shown:
                    time.sleep(0.5)
                    window.press(b"\x1b[B")
                    time.sleep(0.5)
                    window.press(b"\r")
            until(
                lambda: self.ground.windows().get(agent, "none") != "none", PATIENCE, lambda: (self.ground.windows(), window.shown[-2000:])
            )
            yield window

    @contextmanager
    def opened_for_a_letter(self) -> Iterator[Terminal]:
        """A window that opens while a letter waits: rung for once, when it has the tools to take it."""
        (sent,) = self.ground.send("shop")
        began = time.time()
        with self.open() as window:
            until(lambda: self.mind.has(sent), PATIENCE, lambda: (self.mind.said[-1:], window.shown[-1500:]))
            sys.stdout.write(f"{self.client}: a letter that waits is taken {time.time() - began:.1f} s after the window opens\n")
            assert len(self.mind.rings) == 1
            self.rest(window)
            yield window

    def rest(self, window: Terminal) -> None:
        """Until its turn is over: a letter that comes before is told in it."""
        until(lambda: self.mind.rests, PATIENCE, lambda: self.mind.said[-1:])
        time.sleep(1)
        until(lambda: self.ground.idle("shop"), PATIENCE, lambda: window.shown[-1500:])
        time.sleep(0.5)


WORDS = {
    "claude": ["claude", "--allowedTools", "mcp__mail__mail_get,mcp__mail__mail_done"],
    "codex": ["codex"],
    "opencode": ["opencode"],
    "kilo": ["kilo"],
    "qwen": ["qwen"],
    "gemini": ["gemini"],
    "copilot": ["copilot", "--experimental", "--allow-all-tools"],
}


def ready(home: Path, folder: Path, address: str) -> None:
    """What a person has done before: themes chosen, folders trusted, a model named."""
    told = {"hasCompletedOnboarding": True, "theme": "dark", "customApiKeyResponses": {"approved": ["0" * 20], "rejected": []}}
    (home / ".claude.json").write_text(json.dumps(told | {"projects": {str(folder): {"hasTrustDialogAccepted": True}}}))
    (home / ".codex").mkdir()
    (home / ".codex" / "config.toml").write_text(
        f'model = "gpt-5"\nmodel_provider = "fake"\napproval_policy = "never"\n[model_providers.fake]\nname = "fake"\n'
        f'base_url = "{address}/v1"\nwire_api = "responses"\n[projects."{folder}"]\ntrust_level = "trusted"\n'
        '[notice.model_migrations]\n"gpt-5.5" = "gpt-6-sol"\n'
    )
    models = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "fake",
        "options": {"baseURL": f"{address}/v1", "apiKey": "x"},
        "models": {"m": {}},
    }
    document = {"provider": {"fake": models}, "model": "fake/m", "autoupdate": False}
    for name in ("opencode/opencode.json", "kilo/kilo.jsonc"):
        (home / ".config" / name).parent.mkdir(parents=True)
        (home / ".config" / name).write_text(json.dumps(document, indent=2))
    settings = {
        "security": {"auth": {"selectedType": "openai"}},
        "model": {"name": "m"},
        "permissions": {"allow": ["mcp__mail__*"]},
        "tools": {"toolSearch": {"enabled": False}},
        "ui": {"enableFollowupSuggestions": False},
    }
    (home / ".copilot").mkdir()
    (home / ".copilot" / "config.json").write_text(json.dumps({"trustedFolders": [str(folder)], "banner": "never"}))
    (home / ".gemini").mkdir()
    (home / ".gemini" / "settings.json").write_text(json.dumps({"security": {"auth": {"selectedType": "gemini-api-key"}}}))
    (home / ".qwen").mkdir()
    (home / ".qwen" / "settings.json").write_text(json.dumps(settings, indent=2))


@contextmanager
def bench_of(client: str, here: Path, *words: str) -> Iterator[Bench]:
    port = free_port()
    with ExitStack() as stack:
        mind = stack.enter_context(thinking())
        ground = Ground(here / "home", f"http://127.0.0.1:{port}")
        command = (*COMMAND, "serve", "--data", str(here / "data"), "--port", str(port), "--log-level", "error")
        stack.enter_context(serving(*command, port=port, here=here))
        stack.callback(end, ground)
        yield Bench(ground, mind, client, *words)


def end(ground: Ground) -> None:
    """Neither our bell nor a client's own servers are left behind."""
    with suppress(OSError, ValueError):
        os.kill(ground.bell, signal.SIGTERM)
    for path in Path("/proc").glob("[0-9]*/environ"):
        with suppress(OSError):
            if f"HOME={ground.home}\0".encode() in path.read_bytes() + b"\0":
                os.kill(int(path.parent.name), signal.SIGKILL)


@pytest.mark.parametrize("client", CLIENTS_RUNG)
def test_twenty_letters_to_an_idle_window_begin_twenty_turns_that_take_them(client: str, tmp_path: Path) -> None:
    with bench_of(client, tmp_path) as bench, bench.opened_for_a_letter() as window:
        mind, waited = bench.mind, []
        mind.rings.clear()
        for number in range(LETTERS):
            (sent,) = bench.ground.send("shop")
            answered = time.time()
            until(lambda sent=sent: mind.has(sent), PATIENCE, lambda: (number, mind.said[-1:], window.shown[-1500:]))  # type: ignore[misc]  # noqa: B023
            waited.append(1000 * (mind.rings[-1] - answered))
            bench.rest(window)
        sys.stdout.write(
            f"{client}: p50 {quantiles(waited, n=20)[9]:.0f} ms, p95 {quantiles(waited, n=20)[18]:.0f} ms, most {max(waited):.0f} ms\n"
        )
        assert len(mind.rings) == LETTERS


@pytest.mark.parametrize("client", ["claude", "codex", "opencode"])
def test_urgent_mail_is_in_the_next_request_of_a_turn_at_work(client: str, tmp_path: Path) -> None:
    with bench_of(client, tmp_path) as bench, bench.open() as window:
        mind, asked, sent = bench.mind, list[int](), list[str]()

        def urgent() -> None:
            if not sent:
                sent.extend(bench.ground.send("shop", priority=1))
                asked.append(len(mind.said))

        mind.at_work = urgent
        (first,) = bench.ground.send("shop")
        until(lambda: sent and mind.has(first, *sent), PATIENCE, lambda: (mind.said[-2:], window.shown[-1500:]))
        assert "Urgent mail" in mind.said[asked[0]], mind.said
        assert len(mind.rings) == 1


@pytest.mark.parametrize("client", CLIENTS_RUNG)
def test_fifty_letters_in_a_second_are_one_ring_and_all_taken(client: str, tmp_path: Path) -> None:
    with bench_of(client, tmp_path) as bench, bench.open() as window:
        sent = [id for _ in range(5) for id in bench.ground.send("shop", times=10)]
        until(lambda: bench.mind.has(*sent), PATIENCE, lambda: (len(bench.mind.taken), window.shown[-1500:]))
        time.sleep(3)
        assert len(bench.mind.rings) == 1


def test_25_turns_and_a_resume_leave_one_hook_that_waits_one_bell_and_one_name(tmp_path: Path) -> None:
    with bench_of("claude", tmp_path) as bench:
        with bench.open() as window:
            for _ in range(25):
                (sent,) = bench.ground.send("shop")
                until(lambda sent=sent: bench.mind.has(sent), PATIENCE, lambda: window.shown[-1500:])  # type: ignore[misc]
            until(lambda: _running(bench, b"--wait") == 1, 10, lambda: _running(bench, b"--wait"))
            assert _running(bench, b"bell") == 1
        until(lambda: bench.ground.windows() == {}, 20, bench.ground.windows)
        WORDS["again"] = [*WORDS["claude"], "--continue"]
        bench.client = "again"
        with bench.open():
            assert list(bench.ground.windows()) == ["shop"]
            (sent,) = bench.ground.send("shop")
            until(lambda: bench.mind.has(sent), PATIENCE, lambda: bench.mind.said[-2:])
            assert (_running(bench, b"--wait"), _running(bench, b"bell")) == (1, 1)


def _running(bench: Bench, word: bytes) -> int:
    return len(_ours(bench, word))


def _ours(bench: Bench, word: bytes) -> list[int]:
    """Our own programs that run for this person with this word, shells aside."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            words = (path / "cmdline").read_bytes().split(b"\0")
            mine = f"HOME={bench.ground.home}".encode() in (path / "environ").read_bytes().split(b"\0")
            if mine and word in words and b"postoffice" in words:
                found.append(int(path.name))
    return found


def test_two_windows_in_one_folder_have_a_name_and_mail_each_and_again_after_a_reboot(tmp_path: Path) -> None:
    with bench_of("claude", tmp_path) as bench:
        with bench.open() as first, bench.open("shop-2") as second:
            for name in ("shop-2", "shop"):
                _reaches(bench, name)
            sessions = {card["agent"]: card["session"] for card in bench.ground.cards()}
            for pid in (first.pid, second.pid, bench.ground.bell):  # the power fails
                os.kill(pid, signal.SIGKILL)
            until(lambda: bench.ground.windows() == {}, 30, bench.ground.windows)
        with bench.open("shop-2", "--resume", sessions["shop-2"]), bench.open("shop", "--resume", sessions["shop"]):
            assert sorted(bench.ground.windows()) == ["shop", "shop-2"]
            assert {card["agent"]: card["session"] for card in bench.ground.cards()} == sessions
            for name in ("shop", "shop-2"):
                _reaches(bench, name)


_RESUMING = {"codex": "resume {}", "copilot": "--resume={}", "qwen": "--resume {}", "opencode": "--session {}", "kilo": "--session={}"}


@pytest.mark.parametrize("client", list(_RESUMING))
def test_two_windows_in_one_folder_have_mail_each_and_a_resumed_one_its_name(client: str, tmp_path: Path) -> None:
    with bench_of(client, tmp_path) as bench:
        with bench.open(), bench.open("shop-2"):
            for name in ("shop-2", "shop"):
                _reaches(bench, name)
            sessions = {card["agent"]: card["session"] for card in bench.ground.cards()}
            assert sorted(bench.ground.windows()) == ["shop", "shop-2"]
        until(lambda: bench.ground.windows() == {}, 30, bench.ground.windows)
        with bench.open("shop-2", *_RESUMING[client].format(sessions["shop-2"]).split()):
            _reaches(bench, "shop-2")
            assert [(card["agent"], card["session"]) for card in bench.ground.cards()] == [("shop-2", sessions["shop-2"])]
            assert list(bench.ground.windows()) == ["shop-2"]


def _reaches(bench: Bench, name: str) -> None:
    """A letter is taken by the one window that has that name."""
    rings = len(bench.mind.rings)
    (sent,) = bench.ground.send(name)
    until(lambda: bench.mind.has(sent), PATIENCE, lambda: bench.mind.said[-2:])
    assert len(bench.mind.rings) == rings + 1
    until(lambda: bench.ground.idle(name), PATIENCE, bench.ground.windows)


def test_a_closed_inbox_leaves_the_hook_and_then_the_sender_is_told(tmp_path: Path) -> None:
    with bench_of("claude", tmp_path) as bench, bench.open() as window:
        until(lambda: _running(bench, b"--wait") == 1 and bench.ground.cards()[0]["tools"], PATIENCE, bench.ground.cards)
        for path in (bench.ground.home / ".claude" / "sessions").glob("*.json"):
            Path(json.loads(path.read_bytes())["messagingSocketPath"]).unlink()
        (sent,) = bench.ground.send("shop")
        answered = time.time()
        until(lambda: bench.mind.has(sent), PATIENCE, lambda: (bench.mind.said[-2:], window.shown[-1500:]))
        assert len(bench.mind.rings) == 1
        stepped = bench.mind.rings[0] - answered
        until(lambda: bench.ground.windows() == {"shop": "hook"}, PATIENCE, bench.ground.windows)  # the turn's end has started it anew
        gone = time.time()
        for pid in _ours(bench, b"--wait"):
            os.kill(pid, signal.SIGKILL)
        until(lambda: "nothing wakes it" in bench.ground.reach("shop"), PATIENCE, bench.ground.windows)
        sys.stdout.write(f"by the hook after {1000 * stepped:.0f} ms; the sender is told after {time.time() - gone:.1f} s\n")


def test_a_killed_bell_is_back_before_the_next_letter(tmp_path: Path) -> None:
    with bench_of("claude", tmp_path) as bench, bench.open():
        os.kill(bench.ground.bell, signal.SIGKILL)
        (sent,) = bench.ground.send("shop")
        until(lambda: bench.mind.has(sent), PATIENCE, lambda: bench.mind.said[-2:])
        assert len(bench.mind.rings) == 1


def test_an_idle_gemini_cli_is_not_woken_and_its_sender_is_told(tmp_path: Path) -> None:
    with bench_of("gemini", tmp_path) as bench, bench.open():
        assert bench.ground.windows() == {"shop": "turn-end"}
        until(lambda: bench.ground.idle("shop"), PATIENCE, bench.ground.windows)
        bench.ground.send("shop")
        assert "asleep: hears of mail after its next turn, but nothing wakes it" in bench.ground.reach("shop")
        time.sleep(3)
        assert bench.mind.said == []
