"""Kill either side at any moment: nothing is lost, nothing is doubled, in either direction."""

import asyncio
import json
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.engines import PostgresServer
from tests.files.worker import FRIEND, ME
from tests.proof.books import Books, check_books, postgres_books, sqlite_books
from tests.proof.child import ROOT
from tests.serve.running import COMMAND, PATIENCE, answers, environment, free_port
from tests.warm import start

MESSAGES = 1_000
FEW = 300
KILLS = 6
SENDERS = 8
BOUND = 100.0


class Victim:
    """A process that is killed and started again."""

    def __init__(self, stack: ExitStack, here: Path, *words: str) -> None:
        self._words = words
        self._here = here
        self._process: subprocess.Popen[bytes] | None = None
        stack.callback(self.kill)

    def start(self) -> None:
        self._process = start.popen(self._words, cwd=self._here, env=environment(), stdout=subprocess.DEVNULL)

    def kill(self) -> None:
        if self._process is not None:
            assert self._process.poll() is None, f"it ended by itself with {self._process.returncode}"
            self._process.kill()
            self._process.wait(PATIENCE)
            self._process = None


async def until(true: Callable[[], Any]) -> None:
    end = time.monotonic() + BOUND
    while not true():
        assert time.monotonic() < end, "it never came to be"
        await asyncio.sleep(0.05)


async def send_all(url: str, numbers: list[int]) -> None:
    """Send each number until it is answered, under one id."""
    async with httpx.AsyncClient(base_url=url, headers={"X-Agent": FRIEND}, timeout=5) as http:
        while numbers:
            body = {"to": ME, "subject": "Numbers", "content": f"This is down-{numbers[-1]}.", "id": f"down-{numbers[-1]}"}
            try:
                answer = await http.post("/messages/send", json=body)
            except httpx.TransportError:
                await asyncio.sleep(0.05)
                continue
            if answer.status_code == 201:
                numbers.pop()
            else:
                assert answer.status_code == 503, answer.text


async def take_all(url: str, count: int) -> Counter[str]:
    """Everything the friend gets, each settled, until it has so many."""
    got: Counter[str] = Counter()
    end = time.monotonic() + BOUND
    async with httpx.AsyncClient(base_url=url, headers={"X-Agent": FRIEND}, timeout=30) as http:
        settled: list[dict[str, str]] = []
        while len(got) < count or settled:
            assert time.monotonic() < end, f"{len(got)} of {count} came"
            turned = (await http.post("/messages/wait", json={"limit": 100, "wait": 1, "ack": settled})).json()["messages"]
            got.update(letter["client_id"] for letter in turned)
            settled = [{"id": letter["id"], "token": letter["token"]} for letter in turned]
    return got


async def killed_over_and_over(folder: Path, *flags: str, count: int, kills: int) -> None:
    chance = random.Random(20260426)
    root, port = folder / "mailboxes", free_port()
    home = root / ME
    serve = (*COMMAND, "serve", "--port", str(port), "--data", str(folder / "data"), "--files", str(root), "--log-level", "error", *flags)
    work = (sys.executable, "-m", "tests.files.worker", str(root), str(count), str(folder / "said"))
    with ExitStack() as stack:
        server, worker = Victim(stack, folder, *serve), Victim(stack, ROOT, *work)
        server.start()
        worker.start()
        waiting = list(range(count))
        shares = [waiting[share::SENDERS] for share in range(SENDERS)]
        sending = [asyncio.create_task(send_all(f"http://127.0.0.1:{port}", share)) for share in shares]
        for round_ in range(kills):
            await until(lambda: answers(port))
            await asyncio.sleep(chance.uniform(0.1, 0.8))
            victims = (server, worker) if round_ % 3 == 2 else (server,) if round_ % 3 == 0 else (worker,)
            for victim in victims:
                victim.kill()
            for victim in victims:
                victim.start()
        await until(lambda: answers(port))
        await asyncio.gather(*sending)
        got = await take_all(f"http://127.0.0.1:{port}", count)
        # What a killed writer left half written has another name, and is removed when it is an hour old.
        await until(lambda: len(list((home / "processed").iterdir())) >= count and not list((home / "inbox").glob("*.msg.json")))
    assert got == Counter(f"up-{n}" for n in range(count))
    handled = Counter(json.loads(path.read_text())["id"] for path in (home / "processed").iterdir())
    assert handled == Counter(f"down-{n}" for n in range(count))
    for name in (ME, FRIEND):
        assert not list((root / name / "bad").iterdir())


def check(books: Books, count: int) -> None:
    """The office kept each message once; all that was handed over is settled or will be when it is opened again."""
    check_books(books)
    assert {name: len(ids) for name, ids in books.by_client_id().items()} == dict.fromkeys(
        [*(f"up-{n}" for n in range(count)), *(f"down-{n}" for n in range(count))], 1
    )
    assert {state for (_, mailbox), state in books.states().items() if mailbox == FRIEND} == {"acked"}
    assert {state for (_, mailbox), state in books.states().items() if mailbox == ME} <= {"acked", "leased"}


@pytest.fixture
def memory() -> Iterator[Path]:
    """A folder in memory where there is one: a kill, unlike a power cut, loses nothing there that a disk would keep."""
    shared = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=shared if shared.is_dir() else None) as folder:
        yield Path(folder)


@pytest.mark.timeout(300)
async def test_on_sqlite(memory: Path) -> None:
    await killed_over_and_over(memory, count=MESSAGES, kills=KILLS)
    check(sqlite_books(memory / "data" / "mailbox.db"), MESSAGES)


@pytest.mark.timeout(300)
async def test_on_postgresql(memory: Path, postgres: PostgresServer) -> None:
    url = await postgres.copy()
    await killed_over_and_over(memory, "--database", url, count=FEW, kills=KILLS - 3)
    check(await postgres_books(url), FEW)
