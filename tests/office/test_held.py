"""Mail that is held since it was sent is its sender's alone, until it is released."""

from typing import Any

import pytest

from postoffice.acts.mail.dead import Release
from postoffice.core.agent import Caller
from postoffice.core.draft import Draft
from postoffice.core.errors import NoSuchMessage, NoSuchTask, NotParticipant
from postoffice.core.message import Accepted
from postoffice.core.task import TaskState
from postoffice.core.traffic import Span
from postoffice.office import PostOffice
from tests.mail import ask, people, taken, write

WORD = "marzipan"


async def told(office: PostOffice, reader: Caller) -> dict[str, Any]:
    """All by which a recipient could learn of a letter."""
    me = reader.name
    return {
        "inbox": [(thread.id, thread.unread, thread.last_message_at, thread.lines) for thread in (await office.inbox(reader)).items],
        "unread": [thread.id for thread in (await office.inbox(reader, unread_only=True)).items],
        "history": [
            await office.history(reader, thread.id, peek=peek) for thread in (await office.inbox(reader)).items for peek in (True, False)
        ],
        "news": [(event.kind, event.ref) for event in await office.news(reader)],
        "search": [found.message.id for found in (await office.search(reader, WORD)).items],
        "about": [message.id for message in (await office.about(reader, "T-1")).items],
        "waiting": [message.id for message in (await office.waiting(reader)).items],
        "tasks": [task.id for task in (await office.tasks(reader)).items],
        "board": [task.id for task in (await office.open_tasks(reader, TaskState.PENDING)).items],
        "between": [task.id for task in (await office.tasks(reader, assignee=me, requester="alice")).items],
        "letters": sum(slot.letters for slot in (await office.traffic(reader, Span.HOUR)).slots),
        "counts": [(c.held, c.pending) for c in [await office.counts(reader)]],
        "directory": (await office.agent(me)).unread,
        "seats": [seat.unread for seat in (await office.roster(office.owner())).items if seat.name == me],
    }


async def held(office: PostOffice, sender: Caller, **fields: Any) -> Accepted:
    return await write(office, sender, "bob", WORD, hold=True, ref_id="T-1", **fields)


class TestHeld:
    @pytest.mark.parametrize("said_before", [False, True])
    async def test_its_recipient_learns_nothing_of_it_before_and_all_of_it_after(self, office: PostOffice, *, said_before: bool) -> None:
        alice, bob = await people(office, "alice", "bob")
        if said_before:
            for n in range(4):
                await write(office, alice, "bob", f"earlier {n}")
            await taken(office, bob)
        before = await told(office, bob)
        letters = [await held(office, alice) for _ in range(3)] + [await held(office, alice, type="task")]
        assert await told(office, bob) == before
        for letter in letters:
            await office.store.do(Release("bob", letter.message_id))
        after = await told(office, bob)
        assert {name for name in before if before[name] == after[name]} == set()
        ids = {letter.message_id for letter in letters}
        assert ids <= set(after["search"]) & set(after["about"]) & {ref for _, ref in after["news"]}

    async def test_whoever_knows_its_ids_can_do_nothing_with_them(self, office: PostOffice) -> None:
        alice, bob, _ = await people(office, "alice", "bob", "carol")
        letter = await held(office, alice, client_id="mine")
        task = await ask(office, alice, "bob", hold=True)
        for ref in (letter.message_id, "mine"):
            for verb in (office.status, office.ack, office.requeue):
                with pytest.raises(NoSuchMessage):
                    await verb(bob, ref)
            with pytest.raises(NoSuchMessage):
                await office.send(bob, Draft(to="carol", forward_of=ref))
        for peek in (True, False):
            with pytest.raises(NotParticipant):
                await office.history(bob, letter.session_id or "", peek=peek)
        with pytest.raises(NoSuchTask):
            await office.task(bob, task.message_id)
        with pytest.raises(NoSuchTask):
            await office.update_task(bob, task.message_id, TaskState.ACCEPTED)

    async def test_its_sender_sees_it_everywhere(self, office: PostOffice) -> None:
        alice, _ = await people(office, "alice", "bob")
        letter = await held(office, alice)
        task = await ask(office, alice, "bob", hold=True)
        assert [line.message.id for line in (await office.history(alice, letter.session_id or "")).lines] == [
            task.message_id,
            letter.message_id,
        ]
        (thread,) = (await office.inbox(alice)).items
        assert len(thread.lines) == 2
        assert (await office.task(alice, task.message_id)).id == task.message_id
        assert [one.id for one in (await office.tasks(alice, requester="alice")).items] == [task.message_id]

    async def test_the_others_of_several_recipients_find_it(self, office: PostOffice) -> None:
        alice, bob, carol = await people(office, "alice", "bob", "carol")
        letter = await office.send(alice, Draft(to=("bob", "carol"), content=WORD, hold=True))
        await office.store.do(Release("carol", letter.message_id))
        assert len((await office.search(carol, WORD)).items) == 1
        assert (await office.search(bob, WORD)).items == ()
