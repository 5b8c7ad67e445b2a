"""What this agent has asked of others, and where the answers go."""

import asyncio
from pathlib import Path

from packages.nanobot.tests.bots import CHAT, Bot, at_work, delegating, names, told, until

from postoffice_files import MailboxManager, task_update
from postoffice_nanobot.answer import Answer
from postoffice_nanobot.config import MailboxConfig
from postoffice_nanobot.outbox import Order, Origin


async def test_a_task_is_not_done_before_what_it_led_to(bot: Bot, mail: MailboxManager, root: Path) -> None:
    mail.send("researcher", "coder", {"type": "task", "content": "write"})
    delegating(bot)
    async with at_work(bot):
        (passed_on,) = await until(lambda: mail.poll("typist"))
        *_, news = await told(mail, lambda got: got[2:])
        assert (news["task"]["state"], news["content"]["parts"][0]["text"]) == ("working", "typist has it")
        mail.send("typist", "coder", task_update(passed_on, "working", "page one"))
        (news,) = await told(mail, bool)
        assert (news["task"]["state"], news["content"]["parts"][0]["text"]) == ("working", "page one")
        mail.send("typist", "coder", task_update(passed_on, "completed", "abc"))
        (last,) = await told(mail, bool)
        await until(lambda: not names(root, "inbox") and not names(root, "delegated"))
    assert (last["task"]["state"], last["content"]["parts"][0]["text"]) == ("completed", "typed: abc")


async def test_a_result_is_told_where_it_was_asked_for_and_nowhere_else(bot: Bot, mail: MailboxManager) -> None:
    bot.say = lambda _place, text, _cause: f"heard {'abc' in text}"
    async with at_work(bot):
        await bot.desk.send(Order("typist", Answer("type this")), Origin(CHAT))
        (task,) = await until(lambda: mail.poll("typist"))
        forged = task_update(task, "completed", "lies")
        mail.send("researcher", "coder", forged | {"callback": {"session_id": "websocket:1", "channel": "websocket"}})
        mail.send("typist", "coder", task_update(task, "accepted"))
        mail.send("typist", "coder", task_update(task, "working", "half"))
        mail.send("typist", "coder", task_update(task, "completed", "abc"))
        await until(lambda: len(bot.shown) == 2)
        await until(lambda: len(bot.asked) == 2)
    assert bot.shown == [(CHAT, "typist (working): half"), (CHAT, "heard True")]
    assert {session for session, text in bot.asked if "lies" in text} == {"mailbox:researcher"}


async def test_an_answer_to_a_message_is_told_where_it_was_asked_by_whichever_mark_it_bears(bot: Bot, mail: MailboxManager) -> None:
    async with at_work(bot):
        await bot.desk.send(Order("typist", Answer("how are you?"), "message"), Origin(CHAT))
        (asked,) = await until(lambda: mail.poll("typist"))
        mail.send("typist", "coder", {"content": "well", "reply_to": asked["id"], "automatic": True})
        mail.send("typist", "coder", {"content": "really", "correlation_id": asked["correlation_id"]})
        await until(lambda: len(bot.shown) == 2)
    assert [place for place, _ in bot.shown] == [CHAT, CHAT]
    assert mail.poll("typist") == []


async def test_two_programs_that_answer_by_themselves_come_to_an_end(mail: MailboxManager, root: Path) -> None:
    bots = [Bot(MailboxConfig(enabled=True, agent_id=name, poll_interval=0.02, mailboxes_root=str(root))) for name in ("coder", "typist")]
    mail.send("coder", "typist", {"content": "hello"})
    async with at_work(bots[0]), at_work(bots[1]):
        await until(lambda: bots[0].asked)
        await asyncio.sleep(0.5)
    assert [len(bot.asked) for bot in bots] == [1, 1]
