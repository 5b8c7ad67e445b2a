"""Many processes on one root, some of them killed in the middle of it."""

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from postoffice_files import Busy, Clock, MailboxManager, Settings
from postoffice_files.lock import locked

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="kills the POSIX way")

ALL_AT_ONCE = """
import sys
from postoffice_files import MailboxManager
root, me, count, people = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
mail = MailboxManager(root)
name = f"agent{me}"
mail.register(name, {"description": name})
sent = 0
over = False
while not over:
    if sent < count:
        mail.send(name, f"agent{sent % people}", {"id": f"{me}-{sent}", "content": "x"})
        mail.send(name, "shared", {"id": f"s{me}-{sent}", "content": "x"})
        sent += 1
    if sent % 10 == 0:
        mail.heartbeat(name)
        mail.update_status(name, "busy", [str(sent)])
    told = [card for card in mail.list_agents() or () if card["current_tasks"] == [str(count)]]
    got = [(box, m) for box in (name, "shared") for m in mail.poll(box, limit=5)]
    for box, message in got:
        print(box, message["id"], flush=True)
        mail.mark_processed(box, message["filename"])
    over = len(told) == people and not got  # all had sent everything before we looked
"""

WRITER = """
import sys
from postoffice_files import MailboxManager
mail = MailboxManager(sys.argv[1])
n = 0
while True:
    mail.send(sys.argv[2], "y", {"id": f"{sys.argv[2]}-{n}", "content": "x" * 20000})
    print(n, flush=True)
    n += 1
"""

POLLER = """
import sys
from postoffice_files import MailboxManager, Settings
mail = MailboxManager(sys.argv[1], Settings(max_attempts=1000))
while True:
    for message in mail.poll("y", limit=3):
        mail.mark_processed("y", message["filename"])
        print(message["id"], flush=True)
"""

REGISTRAR = """
import sys
from postoffice_files import MailboxManager
mail = MailboxManager(sys.argv[1])
n = 0
while True:
    mail.register(f"{sys.argv[2]}-{n}", {})
    print(n, flush=True)
    n += 1
"""


class Later(Clock):
    """A clock that has seen every claim run out."""

    def now(self) -> int:
        return super().now() + 60_000_000


def killed(process: "subprocess.Popen[str]") -> list[str]:
    """Kill a process and read what it had said."""
    process.send_signal(signal.SIGKILL)
    output, _ = process.communicate()
    # The last line may be cut off where the kill found it.
    return output.splitlines() if output.endswith("\n") else output.splitlines()[:-1]


def wait(true: Callable[[], object]) -> None:
    """However long a busy machine takes to start a process."""
    end = time.monotonic() + 60
    while not true():
        assert time.monotonic() < end
        time.sleep(0.02)


def written(folder: Path, like: str, more_than: int) -> bool:
    return len(list(folder.glob(like))) > more_than


def entered(registry: Path, name: str) -> bool:
    return registry.exists() and f'"{name}"' in registry.read_text()


def files(path: Path) -> list[Path]:
    return [entry for entry in path.iterdir() if not entry.name.startswith(".")]


def test_eight_processes_lose_nothing_and_double_nothing(root: Path, start: Any) -> None:
    people, count = 8, 60
    processes = [start(ALL_AT_ONCE, me, count, people) for me in range(people)]
    outputs = [process.communicate(timeout=100)[0] for process in processes]
    assert [process.returncode for process in processes] == [0] * people
    got = Counter(line for output in outputs for line in output.splitlines())
    expected = {f"agent{n % people} {me}-{n}" for me in range(people) for n in range(count)}
    expected |= {f"shared s{me}-{n}" for me in range(people) for n in range(count)}
    assert set(got) == expected
    assert set(got.values()) == {1}
    cards = json.loads((root / "_registry.json").read_text())
    assert set(cards) == {f"agent{n}" for n in range(people)}
    assert all(card["current_tasks"] == [str(count)] for card in cards.values())
    for home in (root / name for name in [*cards, "shared"]):
        assert not list((home / "inbox").iterdir())
        assert not list((home / "bad").iterdir())


def test_two_managers_in_two_processes_talk(root: Path, start: Any) -> None:
    echo = start(
        """
import sys, time
from postoffice_files import MailboxManager
mail = MailboxManager(sys.argv[1])
mail.register("echo", {})
print("ready", flush=True)
while not (got := mail.poll("echo")):
    time.sleep(0.01)
mail.send("echo", got[0]["from"], {"content": got[0]["content"], "reply_to": got[0]["id"]})
mail.mark_processed("echo", got[0]["filename"])
"""
    )
    assert echo.stdout is not None
    echo.stdout.readline()
    mail = MailboxManager(root)
    mail.register("asker", {})
    assert [card["agent_id"] for card in mail.list_online_agents()] == ["echo", "asker"]
    mail.send("asker", "echo", {"content": "hallo", "id": "m1"})
    echo.communicate(timeout=60)
    (answer,) = mail.poll("asker")
    assert (answer["from"], answer["reply_to"]) == ("echo", "m1")


def test_a_killed_writer_leaves_whole_messages_and_every_one_it_was_told_of(root: Path, start: Any) -> None:
    said: set[str] = set()
    for life in range(6):
        writer = start(WRITER, f"w{life}")
        wait(partial(written, root / "y" / "inbox", f"*_w{life}_*", 0))
        time.sleep(0.1 + life * 0.037)
        said |= {f"w{life}-{n}" for n in killed(writer)}
    mail = MailboxManager(root)
    arrived = Counter(message["id"] for message in mail.poll("y", limit=100_000))
    assert said <= set(arrived)
    assert set(arrived.values()) == {1}
    assert len(arrived) <= len(said) + 6 * 2
    assert not files(root / "y" / "bad")


def test_killed_pollers_lose_nothing(root: Path, start: Any) -> None:
    # Claims outlast any pause of those who are at work, and are over for whoever comes last.
    mail, last = MailboxManager(root), MailboxManager(root, Settings(max_attempts=1000), Later())
    count = 400
    for n in range(count):
        mail.send("x", "y", {"id": str(n), "content": "x"})
    said: Counter[str] = Counter()
    for life in range(6):
        before, pollers = len(files(root / "y" / "processed")), [start(POLLER), start(POLLER)]
        if files(root / "y" / "inbox"):
            wait(partial(written, root / "y" / "processed", "*", before))
        time.sleep(life * 0.031)
        for poller in pollers:
            said.update(killed(poller))
    for message in last.poll("y"):
        last.mark_processed("y", message["filename"])
        said[message["id"]] += 1
    assert not files(root / "y" / "inbox")
    last.poll("y")
    # Said only after it was marked: never twice. Killed between the two, it is in processed/ all the same.
    assert set(said.values()) == {1}
    assert {json.loads(path.read_text())["id"] for path in files(root / "y" / "processed")} == {str(n) for n in range(count)}
    assert len(files(root / "y" / "processed")) == count
    assert not files(root / "y" / "bad")


def test_killed_registrars_lose_no_entry_and_leave_no_lock(root: Path, start: Any) -> None:
    expected: set[str] = set()
    for life in range(4):
        both = [start(REGISTRAR, f"a{life}"), start(REGISTRAR, f"b{life}")]
        wait(partial(entered, root / "_registry.json", f"b{life}-0"))
        time.sleep(0.3)
        for name, process in zip("ab", both, strict=True):
            expected |= {f"{name}{life}-{n}" for n in killed(process)}
    mail = MailboxManager(root)
    mail.register("last", {})
    assert expected
    assert expected | {"last"} <= {card["agent_id"] for card in mail.list_agents() or ()}


def test_a_stopped_holder_of_the_lock_hangs_nobody(root: Path) -> None:
    mail = MailboxManager(root, Settings(lock_timeout=0.2))
    mail.register("x", {})
    with locked(root / "_registry.lock", 1), pytest.raises(Busy, match=r"0\.2 s"):
        mail.heartbeat("x")
    mail.heartbeat("x")


def test_a_child_forked_while_the_lock_is_held_does_not_keep_it(root: Path) -> None:
    mail = MailboxManager(root, Settings(lock_timeout=0.5))
    mail.register("x", {})
    with locked(root / "_registry.lock", 1):
        child = os.fork()
        if child == 0:
            time.sleep(30)
            os._exit(0)
    try:
        mail.heartbeat("x")
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
