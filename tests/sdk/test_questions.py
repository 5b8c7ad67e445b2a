"""A program asks a person, whatever happens to the server meanwhile."""

import asyncio
from datetime import UTC, datetime, timedelta

from postoffice import Mailbox
from tests.sdk.conftest import Town


def owner_of(town: Town) -> Mailbox:
    key = (town.office.here / "data" / "owner.key").read_text().strip()
    return Mailbox("owner", server=town.office.url, key=key)


async def test_asked_killed_restarted_answered(mortal: Town) -> None:
    async with Mailbox(mortal.ann, server=mortal.office.url) as ann, owner_of(mortal) as owner:
        later = datetime.now(UTC) + timedelta(days=1)
        id = await ann.ask_person("Ship it?", choices=["yes", "no"], default="no", deadline=later)
        waiting = asyncio.create_task(ann.answered(id))
        await asyncio.sleep(0.2)
        await asyncio.to_thread(mortal.office.kill)
        await asyncio.to_thread(mortal.office.start)
        (question,) = await owner.questions()
        assert (question["id"], question["choices"], question["default"]) == (id, ["yes", "no"], "no")
        given = await owner.answer(id, "yes", "go")
        assert (given["by"], given["choice"], given["answer"]) == ("owner", "yes", "go")
        assert (await asyncio.wait_for(waiting, 60))["choice"] == "yes"
        await asyncio.to_thread(mortal.office.kill)
        await asyncio.to_thread(mortal.office.start)
        assert (await ann.question(id))["state"] == "answered"
        async for message in ann.receive(within=10):
            assert (message.letter.reply_to, message.text) == (id, "yes\n\ngo")
            break


async def test_a_question_is_taken_back_and_waited_for_no_longer_than_asked(town: Town) -> None:
    async with Mailbox(town.ann, server=town.office.url) as ann:
        id = await ann.ask_person("Ship it?")
        assert (await ann.answered(id, within=0.2))["state"] == "open"
        assert [question["id"] for question in await ann.questions(asked_by_me=True)] == [id]
        assert (await ann.withdraw(id))["state"] == "withdrawn"


async def test_a_person_finishes_mail(town: Town) -> None:
    async with Mailbox(town.ann, server=town.office.url) as ann, owner_of(town) as owner:
        first, second = [await ann.send("owner", f"letter {n}") for n in range(2)]
        assert (await owner.seen(first))["seen_at"]
        assert (await owner.keep_unread(first))["seen_at"] is None
        assert (await owner.snooze(second, 60))["state"] == "held"
        for id in (first, second):
            assert (await owner.done(id))["state"] == "acked"
