"""Somebody who runs the command, with files of their own, against an office of this test's."""

import itertools
import json
import signal
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from tests.engines import furnish
from tests.serve.running import COMMAND, PATIENCE, environment, free_port, serving
from tests.warm import start

_NUMBERS = itertools.count(1)
_ELSEWHERE = ("XDG_", "MAILBOX_", "OPENCLAW_", "NO_COLOR", "FORCE_COLOR", "COLUMNS", "TERM")


class Office(NamedTuple):
    """An office that is open."""

    port: int
    data: Path

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def owner_key(self) -> str:
        return (self.data / "owner.key").read_text().strip()


@contextmanager
def opened(data: Path, *flags: str, port: int | None = None, extra: Mapping[str, str] | None = None) -> Iterator[Office]:
    port = port or free_port()
    furnish(data)
    words = ("serve", "--data", str(data), "--port", str(port), "--log-level", "error", *flags)
    with serving(*COMMAND, *words, port=port, here=data.parent, extra=extra):
        yield Office(port, data)


class Home:
    """One home. Its data directory is the office's: it is the owner's home, too."""

    def __init__(self, folder: Path, office: Office) -> None:
        self.folder = folder
        self.office = office
        self.keys = folder / "keys"
        folder.mkdir(parents=True, exist_ok=True)

    def names(self, *words: str) -> list[str]:
        """Names that nobody else in this office has."""
        number = next(_NUMBERS)
        return [f"{word}-{number}" for word in words]

    def environment(self, extra: Mapping[str, str] | None = None) -> dict[str, str]:
        kept = {name: value for name, value in environment().items() if not name.startswith(_ELSEWHERE)}
        ours = {"HOME": self.folder, "POSTOFFICE_SERVER": self.office.url}
        ours |= {"POSTOFFICE_DATA": self.office.data, "POSTOFFICE_CREDENTIALS": self.keys}
        return kept | {name: str(value) for name, value in ours.items()} | dict(extra or {})

    def run(
        self, *words: str, said: str | bytes = "", extra: Mapping[str, str] | None = None, under: tuple[str, ...] = ()
    ) -> subprocess.CompletedProcess[str]:
        done = start.run(
            [*under, *COMMAND, *words],
            cwd=self.folder,
            env=self.environment(extra),
            said=said.encode() if isinstance(said, str) else said,
            timeout=PATIENCE,
        )
        return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())

    def ask(self, *words: str, said: str = "", extra: Mapping[str, str] | None = None) -> Any:
        """The answer: one JSON value on one line, and nothing else."""
        done = self.run(*words, said=said, extra=extra)
        assert (done.returncode, done.stderr) == (0, ""), done.stderr
        assert done.stdout.endswith("\n")
        assert done.stdout.count("\n") == 1
        return json.loads(done.stdout)

    def refused(self, code: int, *words: str, said: str | bytes = "", extra: Mapping[str, str] | None = None) -> str:
        """Why not: one line for people, and the exit code for programs."""
        done = self.run(*words, said=said, extra=extra)
        assert "Traceback" not in done.stderr, done.stderr[-400:]
        assert (done.returncode, done.stdout) == (code, ""), done.stderr
        assert done.stderr.startswith("postoffice")
        assert done.stderr.count("\n") == 1
        return done.stderr

    @contextmanager
    def staying(self, *words: str, extra: Mapping[str, str] | None = None) -> Iterator[subprocess.Popen[str]]:
        """A command that stays until it is interrupted."""
        process = start.popen(
            [*COMMAND, *words],
            cwd=self.folder,
            env=self.environment(extra),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            yield process
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGINT)
            process.communicate(timeout=PATIENCE)

    def key_of(self, agent: str) -> str:
        (path,) = self.keys.rglob(f"{agent}.json")
        return str(json.loads(path.read_text())["key"])


def next_line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    line = process.stdout.readline()
    assert line, process.communicate(timeout=PATIENCE)
    return line
