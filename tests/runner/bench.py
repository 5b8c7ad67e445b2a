"""A place to try `postoffice run`: an office, somebody who writes, an agent that is run, and its scripts."""

import itertools
import json
import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.runner.office import Office, until
from tests.serve.running import COMMAND, PATIENCE, environment
from tests.warm import start

_numbers = itertools.count(1)
# One whose first try is its only one for as long as a test lasts: a second's pause may be over before anybody has looked.
ONE_TRY = """
from datetime import timedelta
from postoffice.bridges import runner
from postoffice.cli.main import main
runner.next_try = lambda _: timedelta(minutes=5)
raise SystemExit(main())
"""


class Running:
    """One `postoffice run` as a process."""

    def __init__(self, process: subprocess.Popen[bytes], log: Path) -> None:
        self.process = process
        self._log = log

    def said(self) -> str:
        return self._log.read_text()

    def until_said(self, words: str) -> str:
        until(lambda: words in self.said(), told=self.said)
        return self.said()

    def stop(self) -> int:
        """As `systemctl stop` does it; gives the exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(PATIENCE)

    def end(self) -> None:
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(3)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()


class Bench:
    """Names of one test's own, so that one office serves many tests."""

    def __init__(self, office: Office, here: Path) -> None:
        number = next(_numbers)
        self.office = office
        self.here = here
        self.ann, self.coder = f"ann-{number}", f"coder-{number}"
        self.bin = here / "bin"
        self.bin.mkdir()
        self._running: list[Running] = []

    def sh(self, name: str, body: str) -> str:
        """A shell script, and where it is."""
        return self._script(name, f"#!/bin/sh\n{body}\n")

    def python(self, name: str, body: str) -> str:
        """A Python script, and where it is."""
        return self._script(name, f"#!/bin/sh\n''':'\nexec {shlex.quote(sys.executable)} -I \"$0\" \"$@\"\n'''\n{body}\n")

    def _script(self, name: str, text: str) -> str:
        path = self.bin / name
        path.write_text(text)
        path.chmod(0o755)
        return str(path)

    def environment(self) -> dict[str, str]:
        ours = {
            "HOME": str(self.here),
            "XDG_STATE_HOME": str(self.here / "state"),
            "POSTOFFICE_CREDENTIALS": str(self.here / "keys"),
            "PATH": f"{self.bin}{os.pathsep}{os.environ['PATH']}",
        }
        return environment(ours)

    def run(
        self,
        *words: str,
        agent: str | None = None,
        flags: tuple[str, ...] = (),
        server: str | None = None,
        program: tuple[str, ...] = COMMAND,
    ) -> Running:
        """Start a runner with a command of one's own; without any, the flags say with what."""
        command = [*program, "run", "--server", server or self.office.url, *flags, agent or self.coder, *(["--", *words] if words else [])]
        log = self.here / f"runner-{len(self._running)}.log"
        with log.open("wb") as file:
            process = start.popen(command, cwd=self.here, env=self.environment(), stdout=file, stderr=file)
        self._running.append(Running(process, log))
        return self._running[-1]

    def close(self) -> None:
        for runner in self._running:
            runner.end()

    def send(self, content: str = "hello", **fields: Any) -> dict[str, Any]:
        return self.office.send(self.ann, self.coder, content, **fields)

    def replies(self, count: int = 1) -> list[dict[str, Any]]:
        """What ann was sent, once there are so many."""
        return until(lambda: (found := self.office.waiting(self.ann))[: len(found) * (len(found) >= count)], told=self._told)

    def until_state(self, message_id: str, *states: str) -> dict[str, Any]:
        """Where a message of ann's stands, once it stands there."""
        return (
            until(lambda: found if (found := self.office.standing(self.ann, message_id))["state"] in states else None, told=self._told)
            or {}
        )

    def lines(self, name: str) -> list[str]:
        path = self.here / name
        return path.read_text().splitlines() if path.exists() else []

    def records(self, name: str) -> list[Any]:
        """What a script wrote down, one JSON value a line."""
        return [json.loads(line) for line in self.lines(name)]

    def until_lines(self, name: str, count: int) -> list[str]:
        return until(lambda: (found := self.lines(name))[: len(found) * (len(found) >= count)], told=self._told)

    def _told(self) -> str:
        return "\n".join(runner.said() for runner in self._running)
