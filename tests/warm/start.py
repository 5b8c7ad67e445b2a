"""Start the command from a nursery: the process is a real one in all that can be done with it, and only its loading is spared."""

import atexit
import functools
import inspect
import json
import os
import select
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

_FLAGS = {"command": ("-W", "error"), "serve": ("-W", "error")}
_BESIDE = ("-I", "-S", str(Path(__file__).with_name("beside.py")))
COMMAND = (sys.executable, "-W", "error", "-m", "postoffice")
_ROOT = Path(__file__).parent.parent.parent
_INTERPRETERS = ("PYTHON", "LANG", "LC_")
"""What an interpreter reads when it starts, and not again."""
_ASKED_CHARACTERS = 50_000
"""More than this does not pass in one message."""
_PLACES = list(inspect.signature(subprocess.Popen._execute_child).parameters)[1:]  # type: ignore[attr-defined]


class Warm(subprocess.Popen[Any]):
    """A process whose parent is a nursery, which says how it ended."""

    def _execute_child(self, *given: Any) -> None:
        wanted = dict(zip(_PLACES, given, strict=True))
        words, folder = [os.fspath(word) for word in wanted["args"]], wanted["cwd"]
        wish = {
            "words": words[len(COMMAND) :],
            "folder": folder and os.fspath(folder),
            "environment": dict(wanted["env"]),
            "together": False,
        }
        theirs = [wanted["p2cread"], wanted["c2pwrite"], wanted["errwrite"]]
        self._ended = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            self._ended.connect(_nursery("serve" if "serve" in words else "command"))
            streams = [number if given == -1 else given for number, given in enumerate(theirs)]
            socket.send_fds(self._ended, [json.dumps(wish).encode()], streams)
        finally:
            self._close_pipe_fds(*(wanted[name] for name in ("p2cread", "p2cwrite", "c2pread", "c2pwrite", "errread", "errwrite")))  # type: ignore[attr-defined]
        self.pid = int.from_bytes(self._ended.recv(8), "big")
        self._child_created = True

    def _try_wait(self, flags: int) -> tuple[int, int]:
        if flags == os.WNOHANG and not select.select([self._ended], [], [], 0)[0]:
            return 0, 0
        status = int.from_bytes(self._ended.recv(8), "big")
        self._ended.close()
        return self.pid, status

    def _internal_poll(self, *_: Any, **__: Any) -> int | None:
        if self.returncode is None and self._waitpid_lock.acquire(blocking=False):  # type: ignore[attr-defined]
            try:
                if self.returncode is None and (status := self._try_wait(os.WNOHANG)) != (0, 0):
                    self._handle_exitstatus(status[1])  # type: ignore[attr-defined]
            finally:
                self._waitpid_lock.release()  # type: ignore[attr-defined]
        return self.returncode


def popen(command: Sequence[str], *, env: Mapping[str, str], **options: Any) -> subprocess.Popen[Any]:
    """The command as it was asked for, started warm where an interpreter of its own would be no other."""
    return (Warm if _alike(command, env) else subprocess.Popen)(command, env=env, **options)


def run(
    command: Sequence[str], *, env: Mapping[str, str], said: str | bytes, timeout: float, **options: Any
) -> subprocess.CompletedProcess[Any]:
    """Run it to its end, with all that it says."""
    pipe = subprocess.PIPE
    with popen(command, env=env, stdin=pipe, stdout=pipe, stderr=pipe, **options) as process:
        try:
            out, err = process.communicate(said, timeout=timeout)
        except BaseException:
            process.kill()
            raise
    return subprocess.CompletedProcess(command, process.returncode, out, err)


def _alike(command: Sequence[str], env: Mapping[str, str]) -> bool:
    """Whether the nurseries' interpreter is as this one would be."""
    ours = {name: value for name, value in os.environ.items() if name.startswith(_INTERPRETERS)}
    theirs = {name: value for name, value in env.items() if name.startswith(_INTERPRETERS)}
    known = tuple(command[: len(COMMAND)]) == COMMAND and ours == theirs
    return known and hasattr(os, "pidfd_open") and sum(map(len, [*command, *env, *env.values()])) < _ASKED_CHARACTERS


def beside(kind: str, *words: str) -> tuple[str, ...]:
    """What somebody else can start, and comes to the same as to start what the nursery holds."""
    return (sys.executable, *_BESIDE, _nursery(kind), *words)


@functools.cache
def _nursery(kind: str) -> str:
    """The address to ask for more at."""
    folder = tempfile.mkdtemp(prefix="postoffice-")
    place = f"{folder}/nursery"
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as asked:
        asked.bind(place)
        asked.listen()
        words = [sys.executable, *_FLAGS.get(kind, ()), "-m", "tests.warm.nursery", kind, str(asked.fileno())]
        process = subprocess.Popen(words, cwd=_ROOT, pass_fds=[asked.fileno()], stdin=subprocess.PIPE)
    atexit.register(_leave, process, folder)
    return place


def _leave(process: subprocess.Popen[bytes], folder: str) -> None:
    process.communicate()
    shutil.rmtree(folder)
