"""What a process keeps at hand is bounded, whatever is done and in whatever order."""

import asyncio
import itertools
from datetime import timedelta

import pytest

from postoffice.acts.mail.send import Send
from postoffice.acts.mail.take_and_settle import TakeAndSettle
from postoffice.acts.people.agents import Appear
from postoffice.acts.rows import Row
from postoffice.core.delivery import Wish
from postoffice.core.draft import Draft
from postoffice.store import drawer
from postoffice.store.drawer import Drawer
from postoffice.store.engine import Loads
from postoffice.store.postgres import committer
from postoffice.store.postgres.committer import Committer
from postoffice.store.postgres.engine import PostgreSQL
from postoffice.store.store import Store
from tests.engines import Engine, PostgresServer, postgres_of


async def test_what_is_leased_counts_among_what_is_at_hand(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Taken by a process that did not post it, mail is at hand all the same."""
    held: list[int] = []
    put_away = Drawer.put_away

    def noted(self: Drawer, *group: object) -> None:
        put_away(self, *group)  # type: ignore[arg-type]
        held.append(len(self.leased))

    first = engine.store()
    await first.open(lambda _: None)
    await first.do(Appear("alice"))
    for _ in range(3):
        await asyncio.gather(*(first.do(Send("alice", Draft(to="bob", content="x"), verified=False, strangers=True)) for _ in range(20)))
    await first.close()
    monkeypatch.setattr(drawer, "_ROWS_HELD", 25)
    monkeypatch.setattr(Drawer, "put_away", noted)
    second = engine.store()
    await second.open(lambda _: None)
    for _ in range(60):
        await second.do(TakeAndSettle("bob", (), Wish(limit=1, visible_for=timedelta(minutes=1))))
    await second.close()
    assert 10 < max(held) <= 25


async def test_the_same_statements_in_another_order_are_the_same_statement(postgres: PostgresServer) -> None:
    store = Store(PostgreSQL(await postgres.copy()))
    await store.open(lambda _: None)
    made = Committer(postgres_of(store)._connect, lambda _: pytest.fail("no desk is needed"), postgres_of(store)._sql, "BEGIN")
    made._connection = await postgres_of(store)._connect()
    loads: dict[str, list[Row]] = {name: [("x",)] for name in ("duty", "cursor", "login", "keys_of")}
    for names in itertools.permutations(loads):
        asked: Loads = {name: loads[name] for name in names}
        assert list(await made._fetch(asked)) == list(names)
    assert len(made._joined) == 1
    made.close()
    await store.close()


async def test_statements_made_of_others_are_not_kept_without_end(postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(committer, "_JOINED_STATEMENTS_KEPT", 3)
    store = Store(PostgreSQL(await postgres.copy()))
    await store.open(lambda _: None)
    made = Committer(postgres_of(store)._connect, lambda _: pytest.fail("no desk is needed"), postgres_of(store)._sql, "BEGIN")
    made._connection = await postgres_of(store)._connect()
    for names in itertools.combinations(("duty", "cursor", "login", "keys_of", "limits"), 2):
        assert await made._fetch({name: [("x",)] for name in names}) == {name: [] for name in names}
        assert len(made._joined) <= 3
    made.close()
    await store.close()
