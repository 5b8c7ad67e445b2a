"""The office and the ledger as processes of their own, and the command as people run it against both."""

import io
import json
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any
from unittest.mock import patch

import httpx

from postoffice.cli.main import main
from tests.cli.home import Home, Office
from tests.ledger.emulator import Remote
from tests.serve.running import COMMAND, PATIENCE, answers, environment, free_port
from tests.tls import TLS
from tests.warm import start


def settings_for(ledger: Remote, folder: Path, **extra: str) -> dict[str, str]:
    """What makes an office or a command use this ledger; the key is in a file."""
    key = folder / "ledger.key"
    key.write_text(f"{ledger.operator_key}\n")
    nodes = ",".join(f"{address}={account}" for address, account in ledger.nodes.items())
    return {
        "POSTOFFICE_LEDGER": nodes,
        "POSTOFFICE_LEDGER_MIRROR": ledger.mirror_url,
        "POSTOFFICE_LEDGER_ACCOUNT": ledger.operator_id,
        "POSTOFFICE_LEDGER_KEY_FILE": str(key),
        "POSTOFFICE_LEDGER_POLL": "0.05",
        "POSTOFFICE_LEDGER_RATE": "200",
        **extra,
    }


class Server:
    """An office that can be killed and started again where it was."""

    def __init__(self, folder: Path, ledger: Remote, **extra: str) -> None:
        self.folder = folder
        self.data = folder / "data"
        self.port = free_port()
        self.settings = settings_for(ledger, folder, **extra)
        self._popen: subprocess.Popen[str] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def home(self) -> "LedgerHome":
        return LedgerHome(self.folder / "home", Office(self.port, self.data), self.settings)

    def client(self, name: str | None = None) -> httpx.Client:
        owner = {"X-API-Key": (self.data / "owner.key").read_text().strip()}
        return httpx.Client(base_url=self.url, headers=owner if name is None else {"X-Agent": name}, timeout=PATIENCE, verify=TLS)

    def start(self) -> None:
        words = (*COMMAND, "serve", "--port", str(self.port), "--data", str(self.data), "--log-level", "debug")
        log = (self.folder / "server.log").open("a")
        self._popen = start.popen(words, cwd=self.folder, env=environment(self.settings), stdout=log, stderr=log, text=True)
        log.close()
        until = time.monotonic() + PATIENCE
        while not answers(self.port):
            assert self._popen.poll() is None, self.log()
            assert time.monotonic() < until, self.log()
            time.sleep(0.02)

    def kill(self) -> None:
        """As the power does."""
        assert self._popen is not None
        self._popen.kill()
        self._popen.wait(PATIENCE)

    def stop(self) -> None:
        if self._popen is not None and self._popen.poll() is None:
            self._popen.send_signal(signal.SIGTERM)
            self._popen.wait(PATIENCE)

    def log(self) -> str:
        return (self.folder / "server.log").read_text()

    def settle(self, ledger: Remote, *names: str) -> dict[str, dict[str, str]]:
        """Give agents topics without the command, which has tests of its own."""
        found = {}
        with self.client() as owner:
            for name in names:
                httpx.get(f"{self.url}/agents/me", headers={"X-Agent": name}, timeout=PATIENCE).raise_for_status()
                made = {
                    "account_id": ledger.operator_id,
                    "inbound_topic_id": ledger.call("new_topic", f"hcs-10:0:3600:0:{ledger.operator_id}")["id"],
                    "outbound_topic_id": ledger.call("new_topic", "hcs-10:0:3600:1")["id"],
                }
                owner.put(f"/ledger/accounts/{name}", json=made).raise_for_status()
                found[name] = made
        return found


class LedgerHome(Home):
    """Somebody whose command knows the ledger too."""

    def __init__(self, folder: Path, office: Office, settings: Mapping[str, str]) -> None:
        super().__init__(folder, office)
        self._settings = settings

    def environment(self, extra: Mapping[str, str] | None = None) -> dict[str, str]:
        return super().environment({**self._settings, **(extra or {})})

    def run(
        self, *words: str, said: str | bytes = "", extra: Mapping[str, str] | None = None, under: tuple[str, ...] = ()
    ) -> subprocess.CompletedProcess[str]:
        """The command without the seconds that starting an interpreter takes."""
        assert not said
        assert not under
        out, err = io.StringIO(), io.StringIO()
        with (
            patch.dict("os.environ", self.environment(extra), clear=True),
            chdir(self.folder),
            redirect_stdout(out),
            redirect_stderr(err),
        ):
            try:
                code = main(words)
            except SystemExit as ended:  # a command that cannot be read ends its process
                code = int(ended.code or 0)
        return subprocess.CompletedProcess(words, code, out.getvalue(), err.getvalue())

    def answer(self, *words: str, code: int = 0, extra: Mapping[str, str] | None = None) -> Any:
        """What the command says to programs; what it tells people meanwhile is on standard error."""
        done = self.run(*words, extra=extra)
        assert done.returncode == code, done.stderr + done.stdout
        assert "Traceback" not in done.stderr, done.stderr
        return json.loads(done.stdout)


@contextmanager
def server(folder: Path, ledger: Remote, **extra: str) -> Iterator[Server]:
    """An office over this ledger until the block ends."""
    folder.mkdir(parents=True, exist_ok=True)
    opened = Server(folder, ledger, **extra)
    try:
        opened.start()
        yield opened
    finally:
        opened.stop()


def until(holds: Any, seconds: float = PATIENCE) -> Any:
    """What it gives, once that is something."""
    end = time.monotonic() + seconds
    while True:
        if found := holds():
            return found
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.02)
