"""The office of a machine opens by itself, once, and proves itself before it is told anything."""

import asyncio
import json
import os
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from postoffice import __version__
from postoffice.client import own_office, starter
from postoffice.client.mailbox import Mailbox
from postoffice.client.proving import ask_for_proof
from postoffice.core.errors import NotOurOffice, OfficeNotStarted
from postoffice.core.proof import OfficeProof, is_older, new_secret, prove
from tests.serve.running import ANEW, PATIENCE, answers, environment, free_port, serving


class Home:
    """A data directory, and a port that nobody serves yet."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.data = folder / "data"
        self.port = free_port()
        self.address = f"http://127.0.0.1:{self.port}"
        self.extra = {
            "HOME": str(folder),
            "POSTOFFICE_DATA": str(self.data),
            "POSTOFFICE_SERVER": self.address,
            "POSTOFFICE_AUTOSTART": "1",
        }

    def begin(self, *words: str, **extra: str) -> "subprocess.Popen[str]":
        environment_ = environment(self.extra | extra)
        return subprocess.Popen(
            [*ANEW, *words],
            cwd=self.folder,
            env=environment_,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, *words: str, **extra: str) -> tuple[int, str, str]:
        running = self.begin(*words, **extra)
        out, err = running.communicate(timeout=PATIENCE)
        return running.returncode, out, err

    def proof(self) -> "OfficeProof | bool | None":
        return asyncio.run(ask_for_proof(self.address, own_office.secret(self.data)))

    def pid(self) -> int:
        return int((self.data / "mailbox.db.lock").read_text())


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Home]:
    made = Home(tmp_path)
    monkeypatch.setenv("POSTOFFICE_DATA", str(made.data))
    monkeypatch.setenv("POSTOFFICE_AUTOSTART", "1")
    yield made
    if answers(made.port):
        os.kill(made.pid(), signal.SIGTERM)
        until = time.monotonic() + PATIENCE
        while answers(made.port) and time.monotonic() < until:
            time.sleep(0.05)


class Thief:
    """Somebody who took the port, and writes down whatever is said."""

    def __init__(self, port: int, proofs_from: str | None = None) -> None:
        heard = self.heard = list[str]()

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                heard.append(f"{self.path} {self.headers.get('X-API-Key', '')} {body.decode()}")
                said = _passed_on(proofs_from, body) if proofs_from and self.path == "/prove" else b"{}"
                self.send_response(200)
                self.send_header("Content-Length", str(len(said)))
                self.end_headers()
                self.wfile.write(said)

            do_GET = do_POST  # noqa: N815 - as the library names them

            def log_message(self, *_: Any) -> None:
                pass

        self.server = HTTPServer(("127.0.0.1", port), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def leave(self) -> None:
        self.server.shutdown()
        self.server.server_close()


def _passed_on(address: str, body: bytes) -> bytes:
    import urllib.request  # noqa: PLC0415

    asked = urllib.request.Request(f"{address}/prove", body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(asked, timeout=PATIENCE) as answer:
        return bytes(answer.read())


class TestOnce:
    def test_the_first_letter_opens_the_office_with_its_log_and_what_reads_starts_nothing(self, home: Home) -> None:
        code, _, err = home.run("inbox", "--as", "ann")
        assert (code, answers(home.port)) == (69, False), err
        code, out, err = home.run("send", "--to", "bob", "Lunch?", "--as", "ann")
        assert code == 0, err
        assert json.loads(out)["message_id"]
        assert (home.data / own_office.LOG).stat().st_mode & 0o777 == 0o600
        assert home.run("inbox", "--as", "bob")[0] == 0
        found = home.proof()
        assert isinstance(found, OfficeProof)
        assert found.itself

    def test_however_many_begin_together_it_is_opened_once(self, home: Home) -> None:
        running = [home.begin("send", "--to", "bob", f"{number}", "--as", "ann") for number in range(6)]
        for one in running:
            _, err = one.communicate(timeout=2 * PATIENCE)
            assert one.returncode == 0, err
        assert (home.data / own_office.LOG).read_text().count("Postoffice is open on") == 1
        assert len(json.loads(home.run("inbox", "--as", "bob")[1])["sessions"]) == 1

    def test_it_outlives_whoever_started_it_and_close_ends_it(self, home: Home) -> None:
        assert home.run("send", "--to", "bob", "Lunch?", "--as", "ann")[0] == 0
        assert os.getpgid(home.pid()) == home.pid()  # a group of its own: no Ctrl-C of a terminal reaches it
        assert home.run("close") == (0, f"Postoffice on {home.address} is closed.\n", "")
        assert not answers(home.port)
        assert home.run("close") == (0, f"No office that a program of this machine started is open on {home.address}.\n", "")
        assert home.run("send", "--to", "bob", "Dinner?", "--as", "ann")[0] == 0  # with the mail that was there

    def test_serve_says_that_it_is_open_already_and_where(self, home: Home) -> None:
        assert home.run("send", "--to", "bob", "Lunch?", "--as", "ann")[0] == 0
        code, _, err = home.run("serve", "--port", str(home.port))
        where = f"is already open on {home.address} (mail in {home.data}/mailbox.db)"
        assert (code, err) == (0, f"Postoffice {__version__} {where}: a program started it, and `postoffice close` closes it.\n")

    def test_an_office_that_a_person_opened_is_used_and_not_closed(self, home: Home) -> None:
        command = (*ANEW, "serve", "--port", str(home.port))
        with serving(*command, port=home.port, here=home.folder, extra=home.extra):
            assert home.run("send", "--to", "bob", "Lunch?", "--as", "ann")[0] == 0
            code, _, err = home.run("close")
            assert (code, "A person started this office" in err) == (73, True)
        assert not (home.data / own_office.LOG).exists()

    def test_stdio_opens_it(self, home: Home) -> None:
        process = subprocess.Popen(
            [*ANEW, "mcp", "--as", "ann"],
            cwd=home.folder,
            env=environment(home.extra),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert process.stdin is not None
        assert process.stdout is not None
        hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
        for message in (
            {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello},
            {"jsonrpc": "2.0", "method": "notifications/initialized"},
            {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "mailbox_check", "arguments": {}}},
        ):
            process.stdin.write(json.dumps(message) + "\n")
            process.stdin.flush()
        answered = [json.loads(process.stdout.readline()) for _ in range(2)]
        process.stdin.close()
        assert process.wait(timeout=PATIENCE) == 0
        process.stdout.close()
        assert not answered[1]["result"].get("isError"), answered
        assert answers(home.port)


class TestWhere:
    @pytest.mark.parametrize(
        ("address", "wish", "before", "may"),
        [
            ("http://127.0.0.1:8787", None, False, True),
            ("http://localhost:8787", None, False, True),
            ("http://127.0.0.1:9000", None, False, False),
            ("http://127.0.0.1:9000", None, True, True),
            ("http://127.0.0.1:9000", "1", False, True),
            ("http://127.0.0.1:8787", "0", True, False),
            ("http://192.0.2.1:8787", "1", False, False),
            ("https://127.0.0.1:8787", "1", False, False),
            ("https://mail.example.com", "1", False, False),
            ("http://127.0.0.1:8787/behind", "1", False, False),
        ],
    )
    def test_only_where_it_may(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, address: str, wish: str | None, *, before: bool, may: bool
    ) -> None:
        monkeypatch.delenv("POSTOFFICE_AUTOSTART")
        if wish is not None:
            monkeypatch.setenv("POSTOFFICE_AUTOSTART", wish)
        if before:
            own_office.note_served(tmp_path, address, itself=False)
        assert own_office.may_start(tmp_path, address) is may

    def test_a_setting_in_the_data_directory_says_no(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("POSTOFFICE_AUTOSTART")
        (tmp_path / "postoffice.toml").write_text("autostart = false\n")
        assert not own_office.may_start(tmp_path, "http://127.0.0.1:8787")

    def test_what_keeps_it_from_opening_is_told_with_its_log(self, home: Home) -> None:
        home.data.mkdir()
        (home.data / "postoffice.toml").write_text("max_attempts = 0\n")
        code, _, err = home.run("send", "--to", "bob", "Lunch?", "--as", "ann")
        assert code == 69
        assert "max_attempts" in err
        assert str(home.data / own_office.LOG) in err


class TestProof:
    async def test_nobody_who_took_the_port_hears_a_letter_or_a_key(self, home: Home) -> None:
        await asyncio.to_thread(home.run, "send", "--to", "bob", "Lunch?", "--as", "ann")
        await asyncio.to_thread(home.run, "close")
        thief = Thief(home.port)
        try:
            for words in (("send", "--to", "bob", "a secret", "--as", "ann"), ("inbox",), ("agents", "--as", "owner")):
                code, _, err = await asyncio.to_thread(home.run, *words)
                assert code == 77
                assert "cannot prove to be this machine's own office" in err
            with pytest.raises(NotOurOffice):
                async with Mailbox("ann", server=home.address) as box:
                    await box.send("bob", "a secret")
            with pytest.raises(NotOurOffice):
                await starter.ensure_open(home.address)
        finally:
            await asyncio.to_thread(thief.leave)
        assert thief.heard
        assert all(line.startswith("/prove  {") for line in thief.heard)

    async def test_a_proof_that_is_passed_on_from_elsewhere_proves_nothing(self, home: Home) -> None:
        await asyncio.to_thread(home.run, "send", "--to", "bob", "Lunch?", "--as", "ann")
        there = free_port()
        own_office.note_served(home.data, f"http://127.0.0.1:{there}", itself=True)
        thief = Thief(there, proofs_from=home.address)
        try:
            with pytest.raises(NotOurOffice):
                await starter.ensure_open(f"http://127.0.0.1:{there}")
        finally:
            await asyncio.to_thread(thief.leave)

    def test_a_proof_holds_for_one_question_and_place_and_word(self) -> None:
        secret, here = new_secret(), "http://127.0.0.1:8787"
        proof = prove(secret, here, "n" * 16, "1.0", itself=True)
        from postoffice.core.proof import is_proven  # noqa: PLC0415

        assert is_proven(proof, secret, here, "n" * 16)
        assert not is_proven(proof, secret, here, "m" * 16)
        assert not is_proven(proof, new_secret(), here, "n" * 16)
        assert not is_proven(proof, secret, "http://127.0.0.1:1", "n" * 16)
        assert not is_proven(OfficeProof(version="2.0", itself=True, seal=proof.seal), secret, here, "n" * 16)

    def test_the_secret_is_nobody_elses_to_read_and_stays(self, tmp_path: Path) -> None:
        first = own_office.ensure_secret(tmp_path / "data")
        assert own_office.ensure_secret(tmp_path / "data") == first
        assert (tmp_path / "data" / "proof.secret").stat().st_mode & 0o777 == 0o600


async def _next(box: Mailbox) -> str:
    async for message in box.receive(within=PATIENCE):
        return message.text
    raise AssertionError


class TestUpgrade:
    async def test_an_older_one_that_a_program_started_is_replaced_and_its_waiter_waits_on(
        self, home: Home, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        await asyncio.to_thread(home.run, "send", "--to", "bob", "Lunch?", "--as", "ann")
        before = home.pid()
        async with Mailbox("carol", server=home.address) as box:
            waiting = asyncio.create_task(_next(box))
            await asyncio.sleep(0.3)
            monkeypatch.setattr(starter, "__version__", "999.0")
            await asyncio.gather(starter.ensure_open(home.address), starter.ensure_open(home.address, start=False))
            assert home.pid() != before
            monkeypatch.undo()
            assert (await asyncio.to_thread(home.run, "send", "--to", "carol", "Dinner?", "--as", "ann"))[0] == 0
            assert await waiting == "Dinner?"

    async def test_one_that_a_person_started_is_theirs_to_replace(self, home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
        with serving(*ANEW, "serve", "--port", str(home.port), port=home.port, here=home.folder, extra=home.extra):
            before = home.pid()
            monkeypatch.setattr(starter, "__version__", "999.0")
            await starter.ensure_open(home.address)
            assert home.pid() == before

    def test_releases_are_compared_by_their_numbers(self) -> None:
        assert is_older("0.9.0", "0.10.0")
        assert not is_older("0.10.0", "0.10.0")
        assert not is_older("1.0", "0.99.1")


async def test_an_office_that_does_not_open_in_time_is_told(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(starter, "_words", lambda *_: ["sleep", "5"])
    monkeypatch.setattr(starter, "_OPENS_WITHIN_SECONDS", 0.5)
    with pytest.raises(OfficeNotStarted):
        await starter.ensure_open(home.address)
