"""What the agent sends of its own accord, into real files."""

import asyncio
from typing import Any

import pytest

from postoffice_files import BadName, LoopRefused, MailboxManager
from postoffice_nanobot.answer import Answer
from postoffice_nanobot.box import Box
from postoffice_nanobot.delegation import Delegation
from postoffice_nanobot.errand import Errand
from postoffice_nanobot.outbox import Nobody, Order, Origin, Outbox
from postoffice_nanobot.place import Place
from postoffice_nanobot.reports import reports_for

CHAT = Origin(Place("slack:C1:17.5", "slack", "C1"))
TASK = Order("typist", Answer("type this", ("/tmp/a.txt",)))


@pytest.fixture
def errands() -> dict[str, Errand]:
    return {}


@pytest.fixture
def told() -> dict[str, Delegation]:
    return {}


@pytest.fixture
def outbox(box: Box, errands: dict[str, Errand], told: dict[str, Delegation]) -> Outbox:
    return Outbox(box, errands, told)


def errand_of(mail: MailboxManager, box: Box, errands: dict[str, Errand], message: dict[str, Any]) -> Errand:
    mail.send("researcher", "coder", message)
    (found,) = mail.poll("coder")
    errands[found["filename"]] = Errand(found, reports_for(box, found), lambda *_: asyncio.sleep(0, Answer("")))
    return errands[found["filename"]]


async def test_a_task_carries_the_conversation_it_was_asked_in(outbox: Outbox, box: Box, mail: MailboxManager) -> None:
    id = await outbox.send(Order("typist", Answer("type this", ("/tmp/a.txt",)), deadline="2026-04-26T11:00:00Z"), CHAT)
    (task,) = mail.poll("typist")
    assert (task["id"], task["type"], task["from"], task["trace"], task["ttl"]) == (id, "task", "coder", ["coder"], 3)
    assert task["task"] == {"id": id, "state": "pending", "deadline": "2026-04-26T11:00:00Z"}
    assert task["callback"] == {"session_id": "slack:C1:17.5", "channel": "slack"}
    assert [part["type"] for part in task["content"]["parts"]] == ["text", "file"]
    kept = await box.delegation(id)
    assert kept is not None
    assert (kept.place, kept.parent, kept.sent) == (CHAT.place, None, True)


async def test_a_message_is_no_task(outbox: Outbox, mail: MailboxManager) -> None:
    await outbox.send(Order("typist", Answer("hello"), "message"), CHAT)
    (message,) = mail.poll("typist")
    assert (message["type"], message["task"]) == ("message", None)


async def test_what_is_sent_while_working_for_another_is_passed_on(
    outbox: Outbox, mail: MailboxManager, box: Box, errands: dict[str, Errand]
) -> None:
    errand = errand_of(mail, box, errands, {"type": "task", "content": "write", "ttl": 2})
    origin = Origin(errand.place, errand.mail["filename"])
    id = await outbox.send(TASK, origin)
    (task,) = mail.poll("typist")
    assert (task["trace"], task["ttl"]) == (["researcher", "coder"], 1)
    assert task["callback"] == {"session_id": errand.place.session_id, "channel": "mailbox"}
    kept = await box.delegation(id)
    assert kept is not None
    assert kept.parent == errand.mail["filename"]


async def test_nothing_goes_back_where_it_has_been_or_on_without_hops(
    outbox: Outbox, mail: MailboxManager, box: Box, errands: dict[str, Errand]
) -> None:
    errand = errand_of(mail, box, errands, {"type": "task", "content": "write", "ttl": 0})
    origin = Origin(errand.place, errand.mail["filename"])
    with pytest.raises(LoopRefused, match="no hops left"):
        await outbox.send(TASK, origin)
    errand = errand_of(mail, box, errands, {"type": "task", "content": "write"})
    origin = Origin(errand.place, errand.mail["filename"])
    with pytest.raises(LoopRefused, match="been there already"):
        await outbox.send(Order("researcher", Answer("you do it")), origin)
    with pytest.raises(LoopRefused, match="this agent itself"):
        await outbox.send(Order("CODER", Answer("myself")), CHAT)
    assert await box.delegations() == []
    assert not errand._open
    assert mail.poll("typist") == mail.poll("researcher") == []


async def test_a_message_to_the_asker_tells_it_how_far_the_work_is(
    outbox: Outbox, mail: MailboxManager, box: Box, errands: dict[str, Errand]
) -> None:
    errand = errand_of(mail, box, errands, {"type": "task", "content": "write"})
    assert await outbox.send(Order("researcher", Answer("half"), "message"), Origin(errand.place, errand.mail["filename"])) is None
    *_, update = mail.poll("researcher")
    assert (update["task"]["state"], update["content"]["parts"][0]["text"]) == ("working", "half")


async def test_results_lead_to_further_tasks_only_so_often(outbox: Outbox, box: Box, told: dict[str, Delegation]) -> None:
    origin, ids = CHAT, []
    for number in range(4):
        ids.append(await outbox.send(TASK, origin))
        found = await box.delegation(ids[-1])
        assert found is not None
        told[f"result {number}"] = found
        origin = Origin(CHAT.place, f"result {number}")
    with pytest.raises(LoopRefused, match="too many delegations"):
        await outbox.send(TASK, origin)


async def test_only_who_is_known_is_written_to(outbox: Outbox, box: Box) -> None:
    with pytest.raises(Nobody, match="Nobody called 'ghost'"):
        await outbox.send(Order("ghost", Answer("boo")), CHAT)
    with pytest.raises(BadName):
        await outbox.send(Order("../typist", Answer("boo")), CHAT)
    assert await box.delegations() == []


async def test_what_was_written_down_and_not_sent_is_sent_at_the_next_start_and_only_then(
    outbox: Outbox, box: Box, mail: MailboxManager
) -> None:
    unsent = outbox._delegation("typist", TASK, CHAT, None)
    await box.keep(unsent)
    await outbox.post_again()
    await outbox.post_again()
    # Killed after it was sent and before that was written down.
    await box.keep(unsent)
    await outbox.post_again()
    assert [message["id"] for message in mail.poll("typist")] == [unsent.id]
