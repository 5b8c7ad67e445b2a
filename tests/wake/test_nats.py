"""Hints between processes by NATS. No office here ticks: what wakes a waiter is the hint."""

import asyncio
import gc
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

import pytest

from postoffice.core.draft import Draft
from postoffice.office import OfficeRules, PostOffice
from postoffice.store.postgres.engine import PostgreSQL
from postoffice.store.store import Store
from postoffice.wake.carried import CarriedWake
from postoffice.wake.nats import NatsWake
from tests.engines import PostgresServer
from tests.serve.running import free_port
from tests.wake.patience import PATIENCE, until

SERVER = Path(sys.executable).parent / "nats-server"
LONG = timedelta(seconds=PATIENCE)


class Nats:
    """A real server that can be killed and started again on its port."""

    def __init__(self, port: int, *flags: str) -> None:
        self.url = f"nats://127.0.0.1:{port}"
        self._port = port
        self._flags = flags
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        command = [str(SERVER), "--addr", "127.0.0.1", "--port", str(self._port), *self._flags]
        self._process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        until = time.monotonic() + PATIENCE
        while not self._answers():
            assert time.monotonic() < until, "nats-server did not start"
            time.sleep(0.02)

    def _answers(self) -> bool:
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self._port)) == 0

    def kill(self) -> None:
        if self._process is not None:
            os.kill(self._process.pid, signal.SIGKILL)
            self._process.wait()
            self._process = None


@pytest.fixture
def server() -> Iterator[Nats]:
    running = Nats(free_port())
    running.start()
    yield running
    running.kill()


@asynccontextmanager
async def listening(url: str) -> AsyncIterator[tuple[NatsWake, list[frozenset[str]]]]:
    wake, heard = NatsWake(url), list[frozenset[str]]()
    await wake.open(heard.append)
    try:
        await until(lambda: wake.healthy)
        yield wake, heard
    finally:
        await wake.close()


async def test_a_hint_is_heard_once_at_home_and_once_elsewhere(server: Nats) -> None:
    async with listening(server.url) as (one, mine), listening(server.url) as (_, theirs):
        one.hint(frozenset({"bob"}))
        assert mine == [{"bob"}]
        await until(lambda: theirs == [{"bob"}])
        one.hint(frozenset({"end"}))
        await until(lambda: theirs[-1] == {"end"})
        assert mine == [{"bob"}, {"end"}]


async def test_hints_given_together_are_carried_as_one(server: Nats) -> None:
    async with listening(server.url) as (one, _), listening(server.url) as (_, theirs):
        names = {f"agent-{number}" for number in range(1000)}
        for name in names:
            one.hint(frozenset({name}))
        await until(lambda: bool(theirs))
        assert theirs == [names]


async def test_more_names_than_a_message_carries_wake_everybody(server: Nats) -> None:
    async with listening(server.url) as (one, _), listening(server.url) as (_, theirs):
        one.hint(frozenset(f"{number:099d}" for number in range(6000)))
        await until(lambda: theirs == [{"*"}])


async def test_a_server_that_is_killed_is_missed_and_found_again(server: Nats) -> None:
    async with listening(server.url) as (one, _), listening(server.url) as (other, theirs):
        server.kill()
        await until(lambda: not one.healthy and not other.healthy)
        one.hint(frozenset({"lost"}))
        server.start()
        await until(lambda: one.healthy and other.healthy)
        one.hint(frozenset({"bob"}))
        await until(lambda: any("bob" in heard for heard in theirs))


async def test_one_that_is_not_there_at_first_keeps_nobody_from_opening() -> None:
    late = Nats(free_port())
    wake, heard = NatsWake(late.url), list[frozenset[str]]()
    await wake.open(heard.append)
    try:
        wake.hint(frozenset({"bob"}))
        assert heard == [{"bob"}]
        assert not wake.healthy
        late.start()
        await until(lambda: wake.healthy)
    finally:
        await wake.close()
        late.kill()


@pytest.fixture
async def url(postgres: PostgresServer) -> AsyncIterator[str]:
    address = await postgres.copy()
    yield address
    await postgres.drop(address)


@asynccontextmanager
async def replica(url: str, server: Nats, tick: float = 3600) -> AsyncIterator[PostOffice]:
    wake = NatsWake(server.url)
    async with PostOffice(Store(PostgreSQL(url)), wake, OfficeRules(tick=tick)) as office:
        await until(lambda: office.hints_carried)
        yield office


async def test_a_waiter_at_one_office_wakes_for_mail_sent_at_another(url: str, server: Nats) -> None:
    async with replica(url, server) as here, replica(url, server) as there:
        alice, bob = await here.identify(name="alice"), await there.identify(name="bob")
        waiter = asyncio.create_task(there.wait(bob, within=LONG))
        await until(lambda: there._bells.names() == ["bob"])
        accepted = await here.send(alice, Draft(to="bob", content="hello"))
        (leased,) = (await waiter).leased
        assert leased.message.id == accepted.message_id


async def test_without_nats_offices_go_on_by_looking(url: str, server: Nats) -> None:
    async with replica(url, server, 0.05) as here, replica(url, server, 0.05) as there:
        server.kill()
        await until(lambda: not there.hints_carried)
        alice, bob = await here.identify(name="alice"), await there.identify(name="bob")
        waiter = asyncio.create_task(there.wait(bob, within=LONG))
        await until(lambda: there._bells.names() == ["bob"])
        await here.send(alice, Draft(to="bob", content="hello"))
        assert len((await waiter).leased) == 1


class Failing(CarriedWake):
    """A client that fails in the moment it is told to end: what waits for it in Python 3.11 then tells of the failure alone."""

    lost = ()
    most = 0
    deaf = True

    async def carry(self) -> None:
        self.connected()
        try:
            await asyncio.sleep(3600)
        except asyncio.CancelledError:
            if not self.deaf:
                raise
            self.deaf = False
            raise ConnectionRefusedError from None


async def test_closing_ends_though_it_was_taken_for_a_failure() -> None:
    wake = Failing("nats://nobody")
    await wake.open(lambda _: None)
    await until(lambda: wake.healthy)
    async with asyncio.timeout(PATIENCE):
        await wake.close()


@pytest.mark.filterwarnings(
    "ignore::pytest.PytestUnraisableExceptionWarning"
)  # the client leaves the socket of a refused connection to Python
async def test_what_keeps_hints_from_being_carried_is_said_once_and_without_the_secret(caplog: pytest.LogCaptureFixture) -> None:
    running = Nats(free_port(), "--user", "office", "--pass", "right")
    running.start()
    wake = NatsWake(running.url.replace("//", "//office:mistyped@"))
    try:
        await wake.open(lambda _: None)
        await until(lambda: wake.trouble is not None)
        await asyncio.sleep(1.0)  # it has tried again meanwhile
    finally:
        await wake.close()
        running.kill()
        gc.collect()
    assert (wake.healthy, wake.trouble) == (False, "nats: 'Authorization Violation'")
    assert [record.getMessage() for record in caplog.records] == ["hints are not carried: nats: 'Authorization Violation'"]
