"""Accepted means durable: whatever is killed, and whenever, what was answered is there."""

import asyncio
import itertools
import random
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

import pytest

from postoffice.core.delivery import Ack
from postoffice.core.draft import Draft
from postoffice.core.errors import DatabaseLost, MailError, OutcomeUnknown
from postoffice.office import OfficeRules, PostOffice
from postoffice.store.postgres.engine import PostgreSQL
from postoffice.store.sqlite.engine import SQLite
from postoffice.store.store import Store
from postoffice.wake.local import LocalWake
from tests.engines import OwnedClock
from tests.proof.books import Books, check_books, check_office, postgres_books, sqlite_books
from tests.proof.child import command, lines, running, wait_for
from tests.proof.cluster import running_cluster
from tests.proof.patience import BOUND, until
from tests.proof.writer import LIMITS, READERS, SENDERS, draft_for

_ROUNDS = 15
_KILLS = 4


@dataclass
class Answers:
    """What callers were told."""

    tried: set[str] = field(default_factory=set)
    sent: dict[str, str] = field(default_factory=dict)
    settled: list[tuple[str, str]] = field(default_factory=list)

    def read(self, said: Path) -> None:
        for line in lines(said):
            match line:
                case ["trying", client_id]:
                    self.tried.add(client_id)
                case ["sent", client_id, id]:
                    self.sent[client_id] = id
                case ["settled", name, id]:
                    self.settled.append((id, name))

    def check(self, books: Books) -> None:
        """Every answer is true."""
        found = books.by_client_id()
        assert {client_id: [id] for client_id, id in self.sent.items()} == {client_id: found.get(client_id) for client_id in self.sent}
        assert len(set(self.settled)) == len(self.settled), "a message was settled twice"
        states = books.states()
        assert not [standing for standing in self.settled if states.get(standing) != "acked"]


async def _take_all(office: PostOffice, names: tuple[str, ...]) -> list[tuple[str, str]]:
    """Lease and ack until nothing is left."""
    taken: list[tuple[str, str]] = []
    for name in names:
        caller = await office.identify(name=name)
        settle: list[Ack] = []
        for _ in range(10_000):
            turned = await office.receive(caller, 100, settle=settle)
            if not turned.leased:
                break
            taken += [(leased.message.id, name) for leased in turned.leased]
            settle = [Ack(leased.message.id, leased.token) for leased in turned.leased]
    return taken


@pytest.mark.timeout(180)
async def test_a_writer_killed_at_any_point_leaves_everything_it_acknowledged(tmp_path: Path) -> None:
    chance = random.Random(20260425)
    path, answers, clock = tmp_path / "mailbox.db", Answers(), OwnedClock()
    for run in range(_ROUNDS):
        said = tmp_path / f"said-{run}"
        with running(command("writer", path, run), said) as process:
            if run % 5 == 3:  # in the middle of opening what the last one left
                await asyncio.sleep(chance.uniform(0.2, 0.7))
            else:
                await asyncio.to_thread(wait_for, "ready", said, process)
                await asyncio.sleep(chance.uniform(0.0, 0.6))
            assert process.poll() is None
        answers.read(said)
        async with PostOffice(Store(SQLite(path, clock, LIMITS)), LocalWake(), OfficeRules(limits=LIMITS, tick=3600)) as office:
            books = sqlite_books(path)
            check_books(books)
            answers.check(books)
            await check_office(office, books, READERS)
            # Whoever got no answer says it again, and it is there once.
            for client_id in answers.tried - answers.sent.keys():
                caller = await office.identify(name=client_id.split("-")[0])
                accepted = await office.send(caller, draft_for(client_id))
                assert accepted.duplicate == (client_id in books.by_client_id())
                answers.sent[client_id] = accepted.message_id
    assert len(answers.sent) > 500
    assert len(answers.settled) > 100

    clock.ahead += 3_600_000_000
    async with PostOffice(Store(SQLite(path, clock, LIMITS)), LocalWake(), OfficeRules(limits=LIMITS, tick=3600)) as office:
        before = sqlite_books(path).states()
        taken = await _take_all(office, READERS)
    assert not set(taken) & set(answers.settled), "a settled message was leased again"
    assert len(set(taken)) == len(taken)
    assert set(taken) == {standing for standing, state in before.items() if state in ("pending", "leased")}
    books = sqlite_books(path)
    check_books(books)
    assert set(books.states().values()) == {"acked"}


class _Load:
    """Senders and takers in this process, who write down each answer they get and go on."""

    def __init__(self, office: PostOffice) -> None:
        self._office = office
        self.answers = Answers()
        self.unknown: set[str] = set()
        self.refused: set[str] = set()
        self.failures: list[MailError] = []
        self._going = True

    async def run(self, run: int) -> None:
        self._going = True
        async with asyncio.TaskGroup() as group:
            for name in SENDERS:
                group.create_task(self._send(name, run))
            for name in READERS:
                group.create_task(self._take(name))

    def stop(self) -> None:
        self._going = False

    async def _send(self, name: str, run: int) -> None:
        for number in itertools.count(1):
            if not self._going:
                return
            client_id = f"{name}-{run}-{number}"
            try:
                async with asyncio.timeout(BOUND):
                    accepted = await self._office.send(await self._office.identify(name=name), draft_for(client_id))
            except OutcomeUnknown as error:
                self.unknown.add(client_id)
                await self._fail(error)
            except MailError as error:
                self.refused.add(client_id)
                await self._fail(error)
            else:
                self.answers.sent[client_id] = accepted.message_id

    async def _take(self, name: str) -> None:
        while self._going:
            try:
                async with asyncio.timeout(BOUND):
                    caller = await self._office.identify(name=name)
                    # However long this takes, nothing comes back by itself: what is pending at the end is all there is to take.
                    for leased in (await self._office.receive(caller, 5, visible_for=timedelta(hours=1))).leased:
                        await self._office.ack(caller, leased.message.id, leased.token)
                        self.answers.settled.append((leased.message.id, name))
            except MailError as error:
                await self._fail(error)

    async def _fail(self, error: MailError) -> None:
        self.failures.append(error)
        await asyncio.sleep(0.05)


@pytest.mark.timeout(180)
async def test_a_database_server_killed_under_load_loses_nothing_that_was_acknowledged() -> None:
    chance = random.Random(71)
    # Commits take their time here, so that a kill finds some of them under way.
    with running_cluster(commit_delay=10_000, commit_siblings=0) as cluster:
        await cluster.migrate()
        store = Store(PostgreSQL(cluster.url, limits=LIMITS))
        async with PostOffice(store, LocalWake(), OfficeRules(limits=LIMITS, tick=0.1)) as office:
            load = _Load(office)
            for run in range(_KILLS):
                working = asyncio.create_task(load.run(run))
                await asyncio.sleep(chance.uniform(0.3, 1.0))
                await asyncio.to_thread(cluster.kill)
                await asyncio.sleep(0.4)  # everybody is told that it is gone
                async with asyncio.timeout(BOUND):
                    with pytest.raises(DatabaseLost):
                        await office.counts(await office.identify(name="ada"), of="ada")
                await asyncio.to_thread(cluster.start)
                answered = len(load.answers.sent)
                # Nobody has to be told that it is back.
                await until(lambda more=answered + 50: len(load.answers.sent) >= more)  # type: ignore[misc]
                load.stop()
                async with asyncio.timeout(BOUND):
                    await working
                assert not [error for error in load.failures if not isinstance(error, DatabaseLost | OutcomeUnknown)]
                assert load.failures
                books = await postgres_books(cluster.url)
                check_books(books)
                load.answers.check(books)
                await check_office(office, books, READERS)
                # An error that says nothing was stored means it; what was left open is closed by saying it again.
                assert not load.refused & books.by_client_id().keys()
                for client_id in load.unknown | load.refused:
                    caller = await office.identify(name=client_id.split("-")[0])
                    accepted = await office.send(caller, draft_for(client_id))
                    assert accepted.duplicate == (client_id in books.by_client_id())
                    load.answers.sent[client_id] = accepted.message_id
                load.unknown.clear()
                load.refused.clear()
                load.answers.check(await postgres_books(cluster.url))
            before = (await postgres_books(cluster.url)).states()
            taken = await _take_all(office, READERS)
    assert not set(taken) & set(load.answers.settled), "a settled message was leased again"
    assert set(taken) == {standing for standing, state in before.items() if state == "pending"}


async def test_a_commit_whose_answer_was_lost_is_unknown_and_saying_it_again_makes_one_message() -> None:
    """The server dies between COMMIT and its answer: whether it was stored cannot be known, and is not claimed."""
    with running_cluster() as cluster:
        await cluster.migrate()
        async with PostOffice(Store(PostgreSQL(cluster.url)), LocalWake(), OfficeRules(tick=3600)) as office:
            alice = await office.identify(name="alice")
            draft = Draft(to="bob", content="Did you get this?", client_id="once")
            # A trigger that waits in the commit itself gives us the time to kill the server there.
            await cluster.rows(
                "CREATE FUNCTION wait_in_commit() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(60); RETURN NULL; END $$"
            )
            await cluster.rows(
                "CREATE CONSTRAINT TRIGGER wait_in_commit AFTER INSERT ON postoffice.messages DEFERRABLE INITIALLY DEFERRED "
                "FOR EACH ROW EXECUTE FUNCTION wait_in_commit()"
            )
            sending = asyncio.create_task(office.send(alice, draft))
            await until(lambda: cluster.rows("SELECT 1 FROM pg_stat_activity WHERE query LIKE 'COMMIT%' AND wait_event = 'PgSleep'"))
            cluster.kill()
            async with asyncio.timeout(BOUND):
                with pytest.raises(OutcomeUnknown) as unknown:
                    await sending
            assert unknown.value.code == "outcome_unknown"
            await asyncio.to_thread(cluster.start)
            await cluster.rows("DROP TRIGGER wait_in_commit ON postoffice.messages")
            async with asyncio.timeout(BOUND):
                first = await office.send(alice, draft)
                again = await office.send(alice, draft)
            assert again.message_id == first.message_id
            books = await postgres_books(cluster.url)
            assert books.by_client_id() == {"once": [first.message_id]}
            check_books(books)
            bob = await office.identify(name="bob")
            turned = await office.wait(bob, within=timedelta(seconds=1))
            assert [leased.message.id for leased in turned.leased] == [first.message_id]
