"""Mail attended to: what is asked of this agent, and what becomes of it."""

import asyncio
import errno
import os
from pathlib import Path
from typing import Any

import pytest
from packages.nanobot.tests.bots import CHAT, Bot, Later, Still, at_work, ended, names, states, told, until

from postoffice_files import MailboxManager, disk
from postoffice_files.clock import SECOND, instant
from postoffice_nanobot.config import MailboxConfig
from postoffice_nanobot.delegation import Delegation
from postoffice_nanobot.host import TurnFailed
from postoffice_nanobot.marks import marks
from postoffice_nanobot.place import Place


async def test_a_task_is_worked_at_reported_and_marked_processed(bot: Bot, mail: MailboxManager, root: Path) -> None:
    mail.send("researcher", "coder", {"type": "task", "content": "sort 3 1 2"})
    during: list[Any] = []

    def say(place: Place, text: str, cause: str) -> str:
        during.append((mail.get_agent("coder"), names(root, "inbox") == [cause], place.chat_id))
        return "1 2 3" if "sort 3 1 2" in text else "?"

    bot.say = say
    async with at_work(bot):
        updates = await ended(mail)
        await until(lambda: names(root, "processed"))
        await until(lambda: (mail.get_agent("coder") or {})["status"] == "idle")
    assert states(updates) == ["accepted", "working", "completed"]
    assert updates[-1]["content"]["parts"] == [{"type": "text", "text": "1 2 3"}]
    ((card, waits, chat),) = during
    assert (card["status"], len(card["current_tasks"]), waits, chat) == ("busy", 1, True, "researcher")
    assert names(root, "inbox") == []
    assert (mail.get_agent("coder") or {})["status"] == "offline"


async def test_a_turn_that_mail_has_caused_carries_the_seeds_keys(bot: Bot, mail: MailboxManager) -> None:
    said: list[Any] = []

    def say(_place: Place, _text: str, cause: str) -> str:
        said.append(marks(cause, bot.desk.mail(cause)))
        return "done"

    bot.say = say
    mail.send("researcher", "coder", {"type": "task", "content": "sort", "task": {"id": "t1"}, "ttl": 2, "reply_to": "m0"})
    async with at_work(bot):
        await ended(mail)
    ((kept),) = said
    assert kept.pop("mailbox_cause").endswith(".msg.json")
    assert kept.pop("mailbox_task")["id"] == "t1"
    parts = [{"type": "text", "text": "sort"}]
    assert kept == {
        "mailbox_type": "task",
        "mailbox_parts": parts,
        "mailbox_ttl": 2,
        "mailbox_trace": ["researcher"],
        "reply_to": "m0",
    }
    assert marks("", None) == {"mailbox_cause": ""}


async def test_tasks_have_a_session_each_and_the_messages_of_one_agent_share_one(bot: Bot, mail: MailboxManager) -> None:
    for kind in ("task", "task", "message", "message"):
        mail.send("researcher", "coder", {"type": kind, "content": "x"})
    async with at_work(bot):
        await until(lambda: len(bot.asked) == 4)
    sessions = [session for session, _ in bot.asked]
    assert sessions.count("mailbox:researcher") == 2
    assert len(set(sessions)) == 3
    assert all(session.startswith("mailbox:researcher") for session in sessions)


async def test_the_messages_of_one_agent_are_heard_in_the_order_it_sent_them(bot: Bot, mail: MailboxManager) -> None:
    """Found in one look, they raced each other to the model."""
    words = [f"number {number:02}" for number in range(20)]
    for word in words:
        mail.send("researcher", "coder", {"content": word})
    async with at_work(bot):
        await until(lambda: len(bot.asked) == len(words))
    assert [word for _, text in bot.asked for word in words if word in text] == words


@pytest.mark.parametrize("where", ["_registry.json", "delegated", "typist"])
async def test_a_disk_that_is_full_at_the_start_is_waited_for(
    bot: Bot, mail: MailboxManager, root: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    """The channel ended, nobody started it again, and what an earlier process had meant to ask was forgotten."""
    await bot.desk._box.keep(Delegation("msg_1", "typist", CHAT, {"id": "msg_1", "content": "type this"}, at=1))
    publish, refused = disk.publish, []

    def full(path: Any, *rest: Any, at: int | None = None, **named: Any) -> None:
        if where in Path(path).parts or (at is not None and _is_within(root / where, at)):
            refused.append(path)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        publish(path, *rest, at=at, **named)

    with monkeypatch.context() as writing:
        writing.setattr(disk, "publish", full)
        running = asyncio.create_task(bot.desk.run())
        await until(lambda: running.done() or len(refused) > 1)
    (asked,) = await until(lambda: running.done() or mail.poll("typist"))
    await bot.desk.leave()
    await running
    assert asked["id"] == "msg_1"


def _is_within(folder: Path, held_open: int) -> bool:
    """Whether that is one of the folders there: a folder that is held open has no path."""
    return any(os.path.samestat(inner.stat(), os.fstat(held_open)) for inner in folder.glob("*/"))


async def test_an_answer_that_no_mailbox_could_keep_is_told_as_well_as_can_be(bot: Bot, mail: MailboxManager) -> None:
    mail.send("researcher", "coder", {"type": "task", "content": "sort"})
    bot.say = lambda *_: "half \ud83d and \0"
    async with at_work(bot):
        updates = await ended(mail)
    assert states(updates) == ["accepted", "working", "completed"]
    assert updates[-1]["content"]["parts"] == [{"type": "text", "text": "half ? and \\u0000"}]
    assert len(bot.asked) == 1


async def test_a_refusal_that_no_mailbox_could_keep_is_told_as_well_as_can_be(bot: Bot, mail: MailboxManager) -> None:
    mail.send("researcher", "coder", {"type": "task", "content": "sort"})
    bot.say = lambda *_: "[decline] half \ud83d and \0"
    async with at_work(bot):
        updates = await ended(mail)
    assert updates[-1]["content"]["parts"] == [{"type": "text", "text": "declined: half ? and \\u0000"}]
    assert len(bot.asked) == 1


async def test_an_answer_too_long_for_a_mailbox_is_cut_and_not_asked_for_again(bot: Bot, mail: MailboxManager) -> None:
    mail.send("researcher", "coder", {"type": "task", "content": "sort"})
    bot.say = lambda *_: "漢" * 1_000_000
    async with at_work(bot):
        updates = await ended(mail)
    assert states(updates) == ["accepted", "working", "completed"]
    assert set(updates[-1]["content"]["parts"][0]["text"]) == {"漢"}
    assert len(bot.asked) == 1


async def test_a_turn_that_fails_is_tried_again_and_reported_once(bot: Bot, mail: MailboxManager) -> None:
    mail.send("researcher", "coder", {"type": "task", "content": "sort"})

    def say(_place: Place, _text: str, _cause: str) -> str:
        if len(bot.asked) == 1:
            why = "no model today"
            raise TurnFailed(why)
        return "1 2 3"

    bot.say = say
    async with at_work(bot):
        updates = await ended(mail)
    assert states(updates) == ["accepted", "working", "completed"]
    assert len(bot.asked) == 2


async def test_a_task_that_never_works_out_fails_and_its_asker_is_told_why(mail: MailboxManager, config: MailboxConfig, root: Path) -> None:
    mail.send("researcher", "coder", {"type": "task", "content": "sort"})
    for _ in range(9):
        (task,) = mail.poll("coder")
        mail.fail("coder", task["filename"], "not yet")
    bot = Bot(config)

    def say(_place: Place, _text: str, _cause: str) -> str:
        why = "no model today"
        raise TurnFailed(why)

    bot.say = say
    async with at_work(bot):
        (update,) = await ended(mail)
    assert (update["from"], update["task"]["state"]) == ("system", "failed")
    assert "no model today" in update["content"]["parts"][0]["text"]
    assert len(bot.asked) == 1
    assert any(name.endswith(".reason.json") for name in names(root, "bad"))


async def test_refusals_are_told_and_cost_no_turn(bot: Bot, mail: MailboxManager) -> None:
    bot.allowed = False
    mail.send("researcher", "coder", {"type": "task", "content": "sort"})
    mail.send("researcher", "coder", {"content": "hello"})
    async with at_work(bot):
        (update,) = await ended(mail)
    assert update["content"]["parts"][0]["text"].startswith("unauthorized")
    assert bot.asked == []


async def test_more_tasks_than_allowed_are_rejected(bot: Bot, mail: MailboxManager) -> None:
    gate = asyncio.Event()

    async def say(_place: Place, _text: str, _cause: str) -> str:
        await gate.wait()
        return "done"

    bot.say = say
    for number in range(3):
        mail.send("researcher", "coder", {"type": "task", "content": f"{number}"})
    async with at_work(bot):
        (update,) = await ended(mail)
        assert update["content"]["parts"][0]["text"] == "over quota: coder has 2 of 2 tasks"
        gate.set()
        await until(lambda: not bot.desk._errands)
    assert len(bot.asked) == 2


async def test_a_task_that_is_not_done_by_its_deadline_fails_then(mail: MailboxManager, config: MailboxConfig) -> None:
    clock = Still()  # by which it is not over before it is begun
    bot = Bot(config, clock)
    due = instant(clock.now() + SECOND // 2)
    mail.send("researcher", "coder", {"type": "task", "content": "think", "task": {"deadline": due}})
    bot.say = lambda *_: asyncio.sleep(60, "too late")
    async with at_work(bot):
        updates = await ended(mail)
    assert states(updates) == ["failed"]
    assert updates[-1]["content"]["parts"][0]["text"] == f"deadline passed: the task was due at {due}"


async def test_what_is_in_hand_is_given_back_untried_when_the_desk_is_left(bot: Bot, mail: MailboxManager) -> None:
    mail.send("researcher", "coder", {"type": "task", "content": "think"})
    bot.say = lambda *_: asyncio.sleep(60, "too late")
    async with at_work(bot):
        await until(lambda: bot.asked)
    (task,) = mail.poll("coder")
    assert task["attempt"] == 1
    assert mail.poll("researcher") == []


async def test_what_another_process_has_taken_is_left_alone(bot: Bot, mail: MailboxManager, root: Path) -> None:
    mail.send("researcher", "coder", {"type": "task", "content": "think"})
    gate = asyncio.Event()

    async def say(_place: Place, _text: str, _cause: str) -> str:
        await gate.wait()
        return "too late"

    bot.say = say
    async with at_work(bot):
        await until(lambda: bot.asked)
        (taken,) = MailboxManager(root, clock=Later()).poll("coder")
        await until(lambda: not bot.desk._in_hand)
        gate.set()
        await asyncio.sleep(0.2)
    assert taken["attempt"] == 2
    assert mail.poll("researcher") == []
    assert len(bot.asked) == 1


async def test_a_model_that_thinks_long_has_taken_the_task_up(bot: Bot, mail: MailboxManager, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("postoffice_nanobot.errand._DECIDING_SECONDS", 0.05)
    mail.send("researcher", "coder", {"type": "task", "content": "think"})
    gate = asyncio.Event()

    async def say(_place: Place, _text: str, _cause: str) -> str:
        await gate.wait()
        return "[decline] after all"

    bot.say = say
    async with at_work(bot):
        assert states(await told(mail, lambda got: got[1:])) == ["accepted", "working"]
        gate.set()
        (last,) = await ended(mail)
    assert (last["task"]["state"], last["content"]["parts"][0]["text"]) == ("failed", "declined: after all")
