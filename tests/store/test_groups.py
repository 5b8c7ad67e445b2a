"""Decision 1's rule of groups: one act's failure never harms its neighbours."""

import asyncio
from collections.abc import AsyncIterator, Coroutine, Sequence
from datetime import timedelta
from typing import Any

import asyncpg
import pytest

from postoffice.acts.act import Act
from postoffice.acts.desk import Desk
from postoffice.acts.mail.moves import notify
from postoffice.acts.mail.send import Send
from postoffice.acts.mail.session import ReadSession
from postoffice.acts.mail.take_and_settle import TakeAndSettle
from postoffice.acts.needs import Needs
from postoffice.acts.people.agents import Appear, Register, Seen, UpdateCard
from postoffice.acts.people.connections import Approve, Request
from postoffice.acts.rules.notices import Notice
from postoffice.acts.upkeep.forgetting import Purge
from postoffice.core.agent import Card, key_hash, key_prefix, new_key
from postoffice.core.connection import Assurance, Connection, Handshake, Status
from postoffice.core.delivery import Ack, Collected, Nack, Settled, State, Wish
from postoffice.core.draft import Draft
from postoffice.core.errors import BadKey, MailError, NoLogin, Unavailable
from postoffice.core.limits import Limits
from postoffice.core.message import Accepted
from postoffice.core.task import TaskState
from postoffice.office import PostOffice
from postoffice.store.postgres.engine import PostgreSQL
from postoffice.store.reads.pages import END
from postoffice.store.store import Store
from tests.engines import Engine, PostgresServer, postgres_of
from tests.mail import ask, kill, member, office_with, people, take, write

A_MINUTE = timedelta(minutes=1)
A_DAY = timedelta(days=1)


class Faulty(Act[None]):
    """An act that writes what the database cannot take: the same tombstone twice."""

    def run(self, desk: Desk) -> None:
        for _ in range(2):
            desk.write("add_tombstone", ("00000000-0000-7000-8000-000000000000", "bob", 0))


class Broken(Act[None]):
    """An act with a bug."""

    def run(self, _: Desk) -> None:
        raise ZeroDivisionError


class Halfway(Act[None]):
    """An act that misses somebody's mailbox after it has begun to change things."""

    def ask(self, needs: Needs) -> None:
        needs.boxes.add("bob")

    def run(self, desk: Desk) -> None:
        notify(desk, desk.boxes["bob"], Notice("half of it", {}))
        notify(desk, desk.boxes["nobody"], Notice("the other half", {}))


class WithoutSender(TakeAndSettle):
    """A turn that finds no mailbox of the one who sent what it settles."""

    def run(self, desk: Desk) -> Collected:
        del desk.boxes["alice"]
        return super().run(desk)


def letter(text: str, to: str = "bob", sender: str = "alice", **fields: Any) -> Send:
    return Send(sender, Draft(to=to, content=text, priority=3, **fields), verified=False, strangers=True)


def send(store: Store, text: str, **fields: Any) -> Coroutine[Any, Any, Accepted]:
    draft = Draft(to=fields.pop("to", "bob"), content=text, priority=3, **fields)
    return store.do(Send("alice", draft, verified=False, strangers=True))


async def texts(store: Store, mailbox: str = "bob") -> list[str]:
    return sorted(message.content or "" for message in (await store.mail.waiting(mailbox, None, 200)).items)


def codes(outcomes: Sequence[Any]) -> list[str]:
    return [outcome.code if isinstance(outcome, MailError) else type(outcome).__name__ for outcome in outcomes]


@pytest.fixture
async def grouped(engine: Engine) -> AsyncIterator[Store]:
    """A store with two agents, to which acts of the test's own can be given."""
    store = engine.store()
    await store.open(lambda _: None)
    await store.do(Appear("alice"))
    await store.do(Appear("bob"))
    yield store
    await store.close()


class TestDecision1Groups:
    async def test_a_refused_act_leaves_its_neighbours_alone(self, grouped: Store) -> None:
        acts = [letter("one"), letter("x", session_id="no such session"), letter("two"), letter("x", forward_of="nothing"), letter("three")]
        outcomes = await asyncio.gather(*map(grouped.do, acts), return_exceptions=True)
        assert codes(outcomes) == ["Accepted", "no_such_session", "Accepted", "no_such_message", "Accepted"]
        assert await texts(grouped) == ["one", "three", "two"]

    async def test_a_constraint_hit_by_one_act_leaves_its_neighbours_alone(self, grouped: Store) -> None:
        acts: list[Act[Any]] = [*(letter(f"before {n}") for n in range(10)), Faulty(), *(letter(f"after {n}") for n in range(10))]
        outcomes = await asyncio.gather(*map(grouped.do, acts), return_exceptions=True)
        assert isinstance(outcomes[10], Unavailable)
        assert codes(outcomes[:10] + outcomes[11:]) == ["Accepted"] * 20
        assert len(await texts(grouped)) == 20

    async def test_an_act_with_a_bug_leaves_its_neighbours_alone(self, grouped: Store) -> None:
        acts: list[Act[Any]] = [letter("before"), Broken(), letter("after")]
        outcomes = await asyncio.gather(*map(grouped.do, acts), return_exceptions=True)
        assert codes(outcomes) == ["Accepted", "ZeroDivisionError", "Accepted"]
        assert await texts(grouped) == ["after", "before"]

    @pytest.mark.parametrize("neighbours", [0, 1])
    async def test_an_act_that_misses_a_mailbox_halfway_leaves_nothing_of_itself(self, grouped: Store, neighbours: int) -> None:
        acts: list[Act[Any]] = [Halfway(), *(letter("beside it") for _ in range(neighbours))]
        outcomes = await asyncio.gather(*map(grouped.do, acts), return_exceptions=True)
        assert codes(outcomes) == ["unavailable", *["Accepted"] * neighbours]
        assert await texts(grouped) == ["beside it"] * neighbours

    async def test_a_settlement_that_misses_a_mailbox_halfway_leaves_nothing_of_itself(self, grouped: Store) -> None:
        await grouped.do(letter("hello"))
        wish = Wish(limit=1, visible_for=A_MINUTE)
        (taken,) = (await grouped.do(TakeAndSettle("bob", (), wish))).leased
        with pytest.raises(Unavailable):
            await grouped.do(WithoutSender("bob", (Ack(taken.message.id, taken.token),)))
        (settled,) = (await grouped.do(TakeAndSettle("bob", (Nack(taken.message.id, taken.token),)))).settled
        assert isinstance(settled, Settled), "it is still in hand"

    async def test_text_the_database_cannot_take_leaves_its_neighbours_alone(self, grouped: Store) -> None:
        poison = TakeAndSettle("bob", (), Wish(limit=1, visible_for=A_MINUTE, correlation_id="\ud800"))
        acts: list[Act[Any]] = [letter("before"), poison, letter("after")]
        outcomes = await asyncio.gather(*map(grouped.do, acts), return_exceptions=True)
        assert [codes(outcomes)[n] for n in (0, 2)] == ["Accepted", "Accepted"]
        assert await texts(grouped) == ["after", "before"]

    async def test_the_store_goes_on_after_a_fault(self, grouped: Store) -> None:
        for act in (Faulty(), Broken()):
            with pytest.raises((MailError, ZeroDivisionError)):
                await grouped.do(act)
        await grouped.do(letter("still here"))
        assert await texts(grouped) == ["still here"]

    async def test_a_failed_act_leaves_nothing_of_itself(self, grouped: Store) -> None:
        before = await grouped.overview.totals()
        await asyncio.gather(grouped.do(Faulty()), grouped.do(Broken()), return_exceptions=True)
        assert await grouped.overview.totals() == before

    async def test_acts_of_one_group_see_each_other(self, grouped: Store) -> None:
        answers = await asyncio.gather(*(grouped.do(letter(f"{n}", to="newcomer", subject="plan")) for n in range(20)))
        assert len({answer.session_id for answer in answers}) == 1
        assert sum(answer.posted[0].unseen for answer in answers) == 1
        assert (await grouped.mail.counts("newcomer")).pending == 20

    async def test_counts_are_true_after_many_acts_at_once(self, grouped: Store) -> None:
        await asyncio.gather(*(grouped.do(letter(f"{n}")) for n in range(60)))
        wish = Wish(limit=3, visible_for=A_MINUTE)
        turns = await asyncio.gather(*(grouped.do(TakeAndSettle("bob", (), wish)) for _ in range(10)))
        counts = await grouped.mail.counts("bob")
        assert sum(len(turn.leased) for turn in turns) == 30
        assert (counts.pending, counts.leased, counts.counted) == (30, 30, 60)


class TestDecision1OneRow:
    """Acts of one group that change the same row leave it as the last of them says."""

    async def test_a_task_moved_three_times_at_once_is_where_it_was_moved_last(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        asked = await ask(office, alice, "bob")
        road = (TaskState.ACCEPTED, TaskState.WORKING, TaskState.COMPLETED)
        await asyncio.gather(*(office.update_task(bob, asked.message_id, state) for state in road))
        task = await office.task(alice, asked.message_id)
        assert task.state is TaskState.COMPLETED
        assert [step.state for step in task.steps] == [TaskState.PENDING, *road]

    async def test_a_connection_approved_and_ended_at_once_is_ended(self, office: PostOffice) -> None:
        alice, bob = await member(office, "alice"), await member(office, "bob")
        request = await office.request_connection(alice, "bob")
        await asyncio.gather(office.approve_connection(bob, request.code), office.end_connection(bob, request.id))
        assert [item.status for item in (await office.connections(bob)).items] == [Status.ENDED]

    async def test_of_keys_rotated_at_once_only_the_last_stays(self, office: PostOffice, engine: Engine) -> None:
        await office.register("alice")
        hour = timedelta(hours=1)
        rotations = (office.rotate_key(office.owner(), of="alice", overlap=hour) for _ in range(3))
        *older, (last, _) = await asyncio.gather(*rotations)
        await engine.advance(hour)
        assert (await office.identify(key=last)).name == "alice"
        for key, _ in older:
            with pytest.raises(BadKey):
                await office.identify(key=key)

    async def test_a_key_made_and_revoked_at_once_is_revoked(self, office: PostOffice) -> None:
        await office.register("alice")
        (key, _), revoked = await asyncio.gather(office.add_key(office.owner(), of="alice"), office.revoke_keys(office.owner(), of="alice"))
        assert len(revoked) == 2
        with pytest.raises(BadKey):
            await office.identify(key=key)

    async def test_a_card_changed_twice_at_once_keeps_both_changes(self, office: PostOffice) -> None:
        (alice,) = await people(office, "alice")
        await asyncio.gather(office.update_card(alice, {"description": "reads"}), office.update_card(alice, {"model": "m"}))
        card = (await office.agent("alice")).card
        assert (card.description, card.model) == ("reads", "m")

    async def test_a_name_that_appears_and_is_written_to_at_once_is_one_agent(self, office: PostOffice) -> None:
        (alice,) = await people(office, "alice")
        sends = (write(office, alice, "newcomer", f"{n}") for n in range(5))
        await asyncio.gather(*sends, office.identify(name="Newcomer"), return_exceptions=True)
        agent = await office.agent("newcomer")
        assert (agent.unread, agent.acted) == (5, True)

    async def test_a_message_acked_twice_at_once_is_acked_once(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        await write(office, alice, "bob")
        leased = await take(office, bob)
        await asyncio.gather(*(office.ack(bob, leased.message.id, leased.token) for _ in range(3)))
        counts = await office.counts(bob)
        assert (counts.pending, counts.leased) == (0, 0)
        assert len([event for event in await office.news(alice) if event.kind == "receipt"]) == 1

    async def test_a_message_acked_and_read_at_once_is_settled_once(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        sent = await write(office, alice, "bob")
        pops = asyncio.gather(office.pop(bob), office.history(bob, sent.session_id or ""), office.pop(bob))
        await pops
        assert (await office.counts(bob)).pending == 0
        assert (await office.history(bob, sent.session_id or "")).unread == 0
        assert len([event for event in await office.news(alice) if event.kind == "receipt"]) == 1


class TestDecision1Neighbours:
    """What one act of a group does holds for the acts after it, though all they need was loaded before the first."""

    async def test_what_was_purged_cannot_be_requeued(self, engine: Engine) -> None:
        async with office_with(engine, retention=A_DAY, max_attempts=1) as office:
            alice, bob = await people(office, "alice", "bob")
            sent = await write(office, alice, "bob", client_id="mine")
            await kill(office, bob)
            await engine.advance(2 * A_DAY)
            purge = office.store.do(Purge(((sent.message_id, "bob"),), A_DAY))
            outcomes = await asyncio.gather(
                purge, office.requeue(bob, sent.message_id), office.discard(bob, "mine"), return_exceptions=True
            )
            assert codes(outcomes) == ["int", "no_such_message", "no_such_message"]
            counts = await office.counts(bob)
            assert (counts.pending, counts.dead) == (0, 0)

    async def test_what_one_reads_is_passed_over_by_one_who_takes(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        first = await write(office, alice, "bob", "read", subject="a")
        for number in range(5):
            await write(office, alice, "bob", f"number {number}", subject="b")
        _, turned = await asyncio.gather(office.history(bob, first.session_id or ""), office.receive(bob, 1))
        assert [leased.message.content for leased in turned.leased] == ["number 0"]

    async def test_a_connection_admits_though_the_list_stops_to(self, office: PostOffice) -> None:
        alice, bob = await member(office, "alice", "*"), await member(office, "bob", "*")
        request = await office.request_connection(alice, "bob")
        await office.approve_connection(bob, request.code or "")
        await asyncio.gather(office.update_card(bob, {"allow_from": []}), write(office, alice, "bob"))
        assert [message.assurance for message in (await office.waiting(bob)).items] == [Assurance.IN_BAND]

    async def test_a_connection_that_ends_admits_nothing_more(self, office: PostOffice) -> None:
        alice, bob = await member(office, "alice"), await member(office, "bob")
        request = await office.request_connection(alice, "bob")
        made = await office.approve_connection(bob, request.code or "")
        outcomes = await asyncio.gather(office.end_connection(bob, made.id), write(office, alice, "bob"), return_exceptions=True)
        assert codes(outcomes) == ["Connection", "not_admitted"]

    async def test_mail_is_found_by_either_id_whoever_named_it_first(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        await write(office, alice, "bob", client_id="mine")
        leased = await take(office, bob)
        extended, acked = await asyncio.gather(
            office.extend(bob, leased.message.id, A_MINUTE, leased.token), office.ack(bob, "mine", leased.token)
        )
        assert (extended.state, acked.state) == (State.LEASED, State.ACKED)

    @pytest.mark.parametrize("revoked_first", [True, False])
    async def test_a_visit_begun_while_the_key_is_revoked_is_over(self, office: PostOffice, *, revoked_first: bool) -> None:
        alice = await member(office, "alice")
        entering, revoking = office.enter(await office.make_link(alice)), office.revoke_keys(office.owner(), of="alice")
        outcomes = await asyncio.gather(*((revoking, entering) if revoked_first else (entering, revoking)))
        proof, _ = outcomes[int(revoked_first)]
        with pytest.raises(NoLogin):
            await office.visitor(proof)

    async def test_a_link_is_not_made_by_a_key_that_has_been_revoked_since(self, office: PostOffice) -> None:
        _, _, key = await office.register("alice")
        alice = await office.identify(key=key)
        await office.revoke_keys(office.owner(), of="alice")
        with pytest.raises(BadKey):
            await office.make_link(alice)
        newer, _ = await office.add_key(office.owner(), of="alice")
        assert await office.make_link(await office.identify(key=newer))

    async def test_a_key_that_ends_leaves_no_other_behind(self, office: PostOffice) -> None:
        _, _, key = await office.register("alice")
        alice, thief = await office.identify(key=key), await office.identify(key=key)
        outcomes = await asyncio.gather(
            office.revoke_keys(alice), office.add_key(thief), office.rotate_key(thief), office.revoke_keys(thief), return_exceptions=True
        )
        assert codes(outcomes) == ["tuple", "bad_key", "bad_key", "bad_key"]
        assert [shown.revoked_at is None for shown in await office.keys(alice)] == [False]


class TestDecision1Races:
    async def test_fifty_identical_sends_at_once_make_one_message(self, grouped: Store) -> None:
        answers = await asyncio.gather(*(send(grouped, "once", client_id="a-1") for _ in range(50)))
        assert len({answer.message_id for answer in answers}) == 1
        assert await texts(grouped) == ["once"]

    async def test_fifty_takers_of_fifty_messages_never_share_one(self, grouped: Store) -> None:
        await asyncio.gather(*(send(grouped, f"{n}") for n in range(50)))
        wish = Wish(limit=1, visible_for=A_MINUTE)
        turns = await asyncio.gather(*(grouped.do(TakeAndSettle("bob", (), wish)) for _ in range(50)))
        ids = [leased.message.id for turn in turns for leased in turn.leased]
        assert len(ids) == len(set(ids)) == 50

    async def test_a_name_registered_by_many_at_once_is_given_to_one(self, grouped: Store) -> None:
        outcomes = await asyncio.gather(*(register(grouped, "newcomer") for _ in range(10)), return_exceptions=True)
        assert sorted(codes(outcomes)) == ["name_taken"] * 9 + ["str"]

    async def test_one_code_approved_many_times_at_once_makes_one_connection(self, grouped: Store) -> None:
        request = await grouped.do(Request("alice", "bob", None))
        approvals = (grouped.do(Approve("bob", request.code, Handshake.VISIBLE, owner=False)) for _ in range(10))
        outcomes = await asyncio.gather(*approvals, return_exceptions=True)
        assert len({outcome.id for outcome in outcomes if isinstance(outcome, Connection)}) == 1
        assert sorted(codes(outcomes)) == ["Connection"] * 10


async def register(store: Store, name: str, address: str | None = None) -> str:
    key = new_key()
    hash = key_hash(key)
    assert hash is not None
    id, _ = await store.do(Register(name, Card(), hash, key_prefix(key), owner=False, address=address))
    return id


_STANDING = "SELECT count(*) FROM pg_locks, pg_sleep(0.01) WHERE NOT granted"


async def queueing(url: str, mailbox: str, calls: Sequence[Coroutine[Any, Any, Any]]) -> list[Any]:
    """What becomes of calls from different processes that all stand before one mailbox's lock when it opens."""
    guard = await asyncpg.connect(url)
    try:
        async with guard.transaction():
            await guard.execute("SELECT 1 FROM postoffice.mailboxes WHERE agent = $1 FOR UPDATE", mailbox)
            waiting: list[asyncio.Future[Any]] = []
            for call in calls:
                waiting.append(asyncio.ensure_future(call))
                queue = len(waiting)
                while not waiting[-1].done() and await guard.fetchval(_STANDING) < queue:
                    pass
        return await asyncio.gather(*waiting, return_exceptions=True)
    finally:
        await guard.close()


class TestDecision1Replicas:
    """Two processes on one PostgreSQL race for the same rows."""

    @pytest.fixture
    async def replicas(self, postgres: PostgresServer) -> AsyncIterator[list[Store]]:
        url = await postgres.copy()
        stores = [Store(PostgreSQL(url, limits=Limits())) for _ in range(2)]
        for store in stores:
            await store.open(lambda _: None)
        await stores[0].do(Appear("alice"))
        yield stores
        for store in stores:
            await store.close()
        await postgres.drop(url)

    async def test_a_race_to_create_one_name_harms_nobody(self, replicas: list[Store]) -> None:
        for round in range(10):
            name = f"newcomer-{round}"
            sends = [send(store, f"{n}", to=name) for n in range(5) for store in replicas]
            appearances = [store.do(Appear(name)) for store in replicas]
            await asyncio.gather(*sends, *appearances)
            assert len(await texts(replicas[0], name)) == 10

    async def test_a_race_to_begin_one_session_harms_nobody(self, replicas: list[Store]) -> None:
        for round in range(10):
            answers = await asyncio.gather(*(send(store, f"{n}", subject=f"plan {round}") for n in range(5) for store in replicas))
            assert len({answer.session_id for answer in answers}) == 1
        assert len(await texts(replicas[0])) == 100

    async def test_a_race_to_register_one_name_has_one_winner(self, replicas: list[Store]) -> None:
        for round in range(10):
            outcomes = await asyncio.gather(*(register(store, f"name-{round}") for store in replicas), return_exceptions=True)
            assert sorted(codes(outcomes)) == ["name_taken", "str"]

    async def test_a_race_to_register_a_name_that_has_mail_has_one_winner(self, replicas: list[Store]) -> None:
        await send(replicas[0], "before it was ever there")
        outcomes = await queueing(postgres_of(replicas[0]).url, "bob", [register(store, "bob") for store in replicas])
        assert sorted(codes(outcomes)) == ["name_taken", "str"]

    async def test_changes_of_one_card_at_two_replicas_both_stay(self, replicas: list[Store]) -> None:
        first, second = replicas
        await queueing(
            postgres_of(first).url,
            "alice",
            [first.do(UpdateCard("alice", {"model": "m"})), second.do(UpdateCard("alice", {"description": "d"}))],
        )
        alice = await first.agents.named("alice")
        assert alice is not None
        assert (alice.card.model, alice.card.description) == ("m", "d")

    async def test_a_sign_of_life_at_one_replica_takes_no_key_from_a_name_at_another(self, replicas: list[Store]) -> None:
        first, second = replicas
        await send(first, "before it was ever there")
        for calls in (
            [register(first, "bob"), second.do(Seen({"bob": timedelta(0)}))],
            [second.do(Seen({"bob": timedelta(0)})), first.do(Appear("bob"))],
        ):
            outcomes = await queueing(postgres_of(first).url, "bob", calls)
        bob = await first.agents.named("bob")
        assert bob is not None
        assert bob.has_key
        assert bob.last_seen is not None
        assert codes(outcomes) == ["NoneType", "key_required"]

    async def test_the_same_send_at_two_replicas_makes_one_message(self, replicas: list[Store]) -> None:
        for round in range(10):
            answers = await asyncio.gather(*(send(store, "once", client_id=f"id-{round}") for store in replicas for _ in range(5)))
            assert len({answer.message_id for answer in answers}) == 1
        assert len(await texts(replicas[0])) == 10

    async def test_takers_at_two_replicas_never_share_a_message(self, replicas: list[Store]) -> None:
        await asyncio.gather(*(send(replicas[0], f"{n}") for n in range(50)))
        wish = Wish(limit=1, visible_for=A_MINUTE)
        ids: list[str] = []
        while len(ids) < 50:
            turns = await asyncio.gather(*(store.do(TakeAndSettle("bob", (), wish)) for store in replicas for _ in range(25)))
            ids += [leased.message.id for turn in turns for leased in turn.leased]
        assert len(set(ids)) == len(ids) == 50

    @pytest.mark.parametrize(("reader", "type"), [("alice", "message"), ("bob", "task")])
    async def test_what_is_only_shown_at_one_replica_is_taken_at_another(self, replicas: list[Store], reader: str, type: str) -> None:
        first, second = replicas
        sent = await send(first, "hello", type=type)
        wish = Wish(limit=1, visible_for=A_MINUTE)
        reading = first.do(ReadSession(reader, sent.session_id or "", END, 10))
        _, turned = await queueing(postgres_of(first).url, "alice", [reading, second.do(TakeAndSettle("bob", (), wish))])
        assert [leased.message.content for leased in turned.leased] == ["hello"]

    async def test_notes_on_one_new_entity_from_two_replicas_are_all_counted(self, replicas: list[Store]) -> None:
        await replicas[0].do(Appear("carol"))
        for round in range(10):
            draft = Draft(to=(), type="task.note", content="seen", ref_id=f"T-{round}", ref_type="task", priority=3)
            notes = zip(replicas, ("alice", "carol"), strict=True)
            await asyncio.gather(*(store.do(Send(sender, draft, verified=False, strangers=True)) for store, sender in notes))
        assert [entity.notes for entity in (await replicas[0].notes.entities(None, 100)).items] == [2] * 10

    async def test_registrations_at_two_replicas_keep_one_limit(self, replicas: list[Store]) -> None:
        for store in replicas:
            store.engine.limits = Limits(registrations_per_hour=1)
        for round in range(10):
            address = f"192.0.2.{round}"
            calls = [register(store, f"name-{round}-{n}", address) for n, store in enumerate(replicas)]
            assert sorted(codes(await asyncio.gather(*calls, return_exceptions=True))) == ["rate_limited", "str"]

    async def test_one_replica_at_a_time_holds_a_duty(self, replicas: list[Store]) -> None:
        first, second = replicas
        held = await asyncio.gather(first.hold("upkeep", "1", A_MINUTE), second.hold("upkeep", "2", A_MINUTE))
        assert sorted(held) == [False, True]
        winner = "1" if held[0] else "2"
        assert await first.hold("upkeep", winner, A_MINUTE)

    async def test_a_program_that_calls_duties_roles_takes_turns_with_this_one(self, replicas: list[Store]) -> None:
        earlier = await asyncpg.connect(postgres_of(replicas[0]).url, server_settings={"search_path": "postoffice"})
        try:
            for holder, until in (("earlier", 2**55), ("earlier", 2)):
                await earlier.execute(
                    "INSERT INTO roles (role, holder, until) SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[])"
                    " ON CONFLICT (role) DO UPDATE SET holder = excluded.holder, until = excluded.until",
                    ["upkeep"],
                    [holder],
                    [until],
                )
                held = await replicas[0].hold("upkeep", "this", timedelta(days=400_000))
                assert held == (until == 2)
            assert await earlier.fetchval("SELECT holder FROM roles WHERE role = ANY ($1::text[])", ["upkeep"]) == "this"
        finally:
            await earlier.close()
