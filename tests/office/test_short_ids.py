"""Short ids: the end of an id, or its beginning, names a message, at every verb, and never by a guess."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from postoffice.core.agent import Caller
from postoffice.core.clock import Clock
from postoffice.core.delivery import Ack, Settled, State
from postoffice.core.draft import Draft
from postoffice.core.errors import AmbiguousBeginning, AmbiguousEnding, NoSuchMessage, NoSuchQuestion, NothingToAnswer, TooShortId
from postoffice.core.question import Ask
from postoffice.core.short_id import shortened
from postoffice.core.task import TaskState
from postoffice.office import PostOffice
from tests.mail import ask, people, take, taken, write

Verb = Callable[[PostOffice, Caller, str], Awaitable[Any]]
SETTLING: dict[str, Verb] = {
    "ack": lambda office, bob, ref: office.ack(bob, ref),
    "nack": lambda office, bob, ref: office.nack(bob, ref),
    "extend": lambda office, bob, ref: office.extend(bob, ref),
    "status": lambda office, bob, ref: office.status(bob, ref),
    "reply": lambda office, bob, ref: office.send(bob, Draft(to="alice", content="yes", reply_to=ref)),
    "forward": lambda office, bob, ref: office.send(bob, Draft(to="carol", forward_of=ref)),
    "several replies": lambda office, bob, ref: office.send_many(bob, [Draft(to="alice", content="yes", reply_to=ref)]),
}


@pytest.mark.parametrize("verb", SETTLING)
async def test_every_verb_takes_the_end_of_an_id(office: PostOffice, verb: str) -> None:
    alice, bob, _ = await people(office, "alice", "bob", "carol")
    sent = await write(office, alice, "bob")
    await take(office, bob)
    short = (await office.short_ids.shorten(bob, [sent.message_id]))[sent.message_id]
    assert len(short) == 4
    for ref in (short, short.upper()) if verb == "status" else (short,):
        answer = await SETTLING[verb](office, bob, ref)
        assert not isinstance(answer, list) or not isinstance(answer[0], BaseException), answer


@pytest.mark.parametrize("verb", SETTLING)
async def test_every_verb_takes_the_beginning_of_an_id_too(office: PostOffice, monkeypatch: pytest.MonkeyPatch, verb: str) -> None:
    alice, bob, _ = await people(office, "alice", "bob", "carol")
    new_id = Clock.new_id
    monkeypatch.setattr(Clock, "new_id", lambda clock: "0aaaaaaa" + new_id(clock)[8:])
    sent = await write(office, alice, "bob")
    monkeypatch.undo()
    await take(office, bob)
    answer = await SETTLING[verb](office, bob, sent.message_id[:7])
    assert not isinstance(answer, list) or not isinstance(answer[0], BaseException), answer


async def test_an_ambiguous_beginning_is_refused_and_an_end_goes_before_it(office: PostOffice, monkeypatch: pytest.MonkeyPatch) -> None:
    alice, bob = await people(office, "alice", "bob")
    new_id = Clock.new_id
    monkeypatch.setattr(Clock, "new_id", lambda clock: "0aaaaaaa" + new_id(clock)[8:])
    sent = [await write(office, alice, "bob", str(n)) for n in range(2)]
    with pytest.raises(AmbiguousBeginning, match="begin so"):
        await office.status(bob, "0aaaaaaa")
    assert (await office.status(bob, sent[0].message_id[:-1])).message_id == sent[0].message_id
    monkeypatch.setattr(Clock, "new_id", lambda clock: new_id(clock)[:-8] + "0aaaaaaa")
    ends_so = await write(office, alice, "bob", "2")
    monkeypatch.undo()
    assert (await office.status(bob, "0aaaaaaa")).message_id == ends_so.message_id
    with pytest.raises(NoSuchMessage):
        await office.status(bob, "0bbbbbbb")


async def test_questions_too(office: PostOffice) -> None:
    (alice,) = await people(office, "alice")
    asked = await office.send(alice, Draft(to="owner", content="Ship it?", ask=Ask()))
    for ref in (asked.message_id[-6:], asked.message_id[:-1]):
        assert (await office.question(alice, ref)).id == asked.message_id
    with pytest.raises(NoSuchQuestion):
        await office.question(alice, "ffff")
    assert (await office.answer(office.owner(), asked.message_id[-6:], text="yes")).answer == "yes"


async def test_tasks_and_dead_letters_too(office: PostOffice) -> None:
    alice, bob = await people(office, "alice", "bob")
    task = await ask(office, alice, "bob")
    short = task.message_id[-6:]
    assert (await office.update_task(bob, short, TaskState("done"))).message_id == task.message_id
    assert (await office.task(alice, short)).state is TaskState.COMPLETED
    dead = await write(office, alice, "bob")
    for _ in range(10):
        await office.nack(bob, (await take(office, bob)).message.id)
    assert (await office.requeue(bob, dead.message_id[-6:])).state is State.PENDING


async def test_what_is_stored_and_answered_is_the_whole_id(office: PostOffice) -> None:
    alice, bob = await people(office, "alice", "bob")
    sent = await write(office, alice, "bob", subject="Plan")
    reply = await write(office, bob, "alice", "yes", reply_to=sent.message_id[-6:], client_id="r-1")
    assert reply.session_id == sent.session_id
    assert (await take(office, alice)).message.reply_to == sent.message_id
    again = await write(office, bob, "alice", "yes", reply_to=sent.message_id[-6:], client_id="r-1")
    assert (again.message_id, again.duplicate) == (reply.message_id, True)


async def test_an_exact_id_wins(office: PostOffice) -> None:
    alice, bob = await people(office, "alice", "bob")
    first = await write(office, alice, "bob", "first")
    short = first.message_id[-5:]
    named = await write(office, alice, "bob", "named so", client_id=short)
    await office.receive(bob)
    assert (await office.ack(bob, short)).message_id == named.message_id


async def test_an_ambiguous_end_is_refused_with_the_ids_it_may_mean(office: PostOffice, monkeypatch: pytest.MonkeyPatch) -> None:
    alice, bob = await people(office, "alice", "bob")
    new_id = Clock.new_id
    monkeypatch.setattr(Clock, "new_id", lambda clock: new_id(clock)[:-5] + "abeef")
    sent = [await write(office, alice, "bob", str(n)) for n in range(2)]
    monkeypatch.undo()
    other = await write(office, alice, "bob", "2")
    ids = [one.message_id for one in sent]
    await office.receive(bob)
    for verb in SETTLING.values():
        if verb is SETTLING["several replies"]:
            continue
        with pytest.raises(AmbiguousEnding) as refusal:
            await verb(office, bob, "beef")
        assert all(id in str(refusal.value) for id in ids)
    short = await office.short_ids.shorten(bob, [*ids, other.message_id])
    assert len(set(short.values())) == 3
    assert all(id.endswith(end) and len(end) > 5 for id, end in short.items() if id in ids)
    outcomes = await office.settle(bob, [Ack("beef"), Ack(short[ids[0]]), Ack("0000")])
    assert isinstance(outcomes[0], AmbiguousEnding)
    assert outcomes[1] == Settled(ids[0], State.ACKED)
    assert isinstance(outcomes[2], NoSuchMessage)


async def test_less_than_four_characters_name_nothing(office: PostOffice) -> None:
    alice, bob = await people(office, "alice", "bob")
    sent = await write(office, alice, "bob")
    with pytest.raises(TooShortId, match="at least the last 4"):
        await office.status(bob, sent.message_id[-3:])
    with pytest.raises(NoSuchMessage):
        await office.status(bob, "zzzz")


async def test_nobody_names_others_mail_so(office: PostOffice) -> None:
    alice, bob, eve = await people(office, "alice", "bob", "eve")
    sent = await write(office, alice, "bob")
    held = await office.send(alice, Draft(to="bob", content="later", hold=True))
    for caller, ref in ((eve, sent), (bob, held)):
        with pytest.raises(NoSuchMessage):
            await office.status(caller, ref.message_id[-6:])
        with pytest.raises(NothingToAnswer):
            await write(office, caller, "alice", reply_to=ref.message_id[-6:])
        short = await office.short_ids.shorten(caller, [ref.message_id])
        assert caller is bob or short == {ref.message_id: ref.message_id}
    assert (await office.status(office.owner(), sent.message_id[-6:])).message_id == sent.message_id


def test_the_shortest_end_tells_it_from_all_others() -> None:
    ids = ["0199d2a0-0000-7000-8000-0000000012ab", "0199d2a0-0000-7000-8000-0000000a12ab", "0199d2a0-0000-7000-8000-00000000ffff"]
    short = shortened([*ids, "0199d2a0-0000-7000-8000-00000000eeee"], ids)
    assert [short[id] for id in ids] == ["012ab", "a12ab", "ffff"]
    assert short["0199d2a0-0000-7000-8000-00000000eeee"].startswith("0199")
    assert all(sum(other.endswith(short[id]) for other in ids) == 1 for id in ids)


async def test_a_mailbox_that_others_fill_is_searched_by_what_waits(office: PostOffice, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the office's newest are: what waits is found."""
    for place in ("store.reads.mail", "office.newest_ids"):
        monkeypatch.setattr(f"postoffice.{place}.NEWEST", 2)
    alice, bob = await people(office, "alice", "bob")
    waits, held = await write(office, alice, "bob", "waits"), await write(office, alice, "bob", "in hand")
    for n in range(3):
        await write(office, alice, "carol", str(n))
    assert await taken(office, bob, 1) == ["waits"]
    for sent in (waits, held):
        assert (await office.status(bob, sent.message_id[-6:])).message_id == sent.message_id
    await office.ack(bob, waits.message_id)
    with pytest.raises(NoSuchMessage):
        await office.status(bob, waits.message_id[-6:])
    assert (await office.short_ids.shorten(bob, [waits.message_id])) == {waits.message_id: waits.message_id}


async def test_the_newest_are_remembered_and_no_more_of_them_than_asked_for(office: PostOffice, monkeypatch: pytest.MonkeyPatch) -> None:
    for place in ("store.reads.mail", "office.newest_ids"):
        monkeypatch.setattr(f"postoffice.{place}.NEWEST", 3)
    alice, bob = await people(office, "alice", "bob")
    asked: list[str] = []
    ids_ending = office.store.mail.ids_ending

    async def counted(name: str | None, endings: list[str]) -> list[str]:
        asked.extend(endings)
        return await ids_ending(name, endings)

    monkeypatch.setattr(office.store.mail, "ids_ending", counted)
    for n in range(6):
        sent = await write(office, alice, "bob", str(n))
        short = (await office.short_ids.shorten(bob, [sent.message_id]))[sent.message_id]
        assert len(short) < 8
        assert (await office.status(bob, short)).message_id == sent.message_id
    assert asked == [], "what was remembered is not looked for"
    assert len(office.short_ids._newest._known) == 3
    assert sum(map(len, office.short_ids._newest._by_ending.values())) == 3


async def test_what_is_sent_and_taken_here_is_named_without_a_look_and_settled_in_one_act(
    office: PostOffice, monkeypatch: pytest.MonkeyPatch
) -> None:
    alice, bob = await people(office, "alice", "bob")
    first = await write(office, alice, "bob")
    await office.short_ids.shorten(alice, [first.message_id])
    looks: list[str] = []
    newer_ids, do = office.store.mail.newer_ids, office.store.do
    monkeypatch.setattr("postoffice.office.newest_ids._FRESH_NANOS", 3600 * 10**9)

    async def looked(after: str) -> Any:
        looks.append(after)
        return await newer_ids(after)

    async def done(act: Any) -> Any:
        looks.append(type(act).__name__)
        return await do(act)

    monkeypatch.setattr(office.store.mail, "newer_ids", looked)
    monkeypatch.setattr(office.store, "do", done)
    sent = await write(office, alice, "bob")
    assert len((await office.short_ids.shorten(alice, [sent.message_id]))[sent.message_id]) == 4
    await office.receive(bob)
    short = (await office.short_ids.shorten(bob, [sent.message_id]))[sent.message_id]
    assert (await office.ack(bob, short)).message_id == sent.message_id
    assert looks == ["Send", "TakeAndSettle", "TakeAndSettle"]


async def test_nobody_is_called_by_an_end_that_older_mail_of_theirs_has(office: PostOffice, monkeypatch: pytest.MonkeyPatch) -> None:
    for place in ("store.reads.mail", "office.newest_ids"):
        monkeypatch.setattr(f"postoffice.{place}.NEWEST", 2)
    alice, bob = await people(office, "alice", "bob")
    new_id = Clock.new_id
    monkeypatch.setattr(Clock, "new_id", lambda clock: new_id(clock)[:-5] + "abeef")
    old = await write(office, alice, "bob", "old")
    monkeypatch.undo()
    for place in ("store.reads.mail", "office.newest_ids"):
        monkeypatch.setattr(f"postoffice.{place}.NEWEST", 2)
    for n in range(3):
        await write(office, alice, "carol", str(n))
    monkeypatch.setattr(Clock, "new_id", lambda clock: new_id(clock)[:-4] + "beef")
    new = await write(office, alice, "bob", "new")
    await office.receive(bob)
    short = await office.short_ids.shorten(bob, [old.message_id, new.message_id])
    assert len(short[new.message_id]) > 4
    outcomes = await office.settle(bob, [Ack(short[new.message_id]), Ack(short[old.message_id])])
    assert outcomes == (Settled(new.message_id, State.ACKED), Settled(old.message_id, State.ACKED))


async def test_a_mailbox_with_a_long_backlog_is_not_gone_through_for_an_end(office: PostOffice, monkeypatch: pytest.MonkeyPatch) -> None:
    for place in ("store.reads.mail", "office.newest_ids"):
        monkeypatch.setattr(f"postoffice.{place}.NEWEST", 2)
    monkeypatch.setattr("postoffice.office.older_ids.MANY", 4)
    alice, bob = await people(office, "alice", "bob")
    for n in range(8):
        sent = await write(office, alice, "bob", str(n))
    asked: list[Any] = []

    async def gone_through(*given: Any) -> list[str]:
        asked.append(given)
        return []

    monkeypatch.setattr(office.store.mail, "unfinished_ids_ending", gone_through)
    short = (await office.short_ids.shorten(bob, [sent.message_id]))[sent.message_id]
    assert (len(short), asked) == (8, [])
    await office.receive(bob)
    assert (await office.ack(bob, short)).message_id == sent.message_id
