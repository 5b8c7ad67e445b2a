"""The owner is told away from the page what waits: by real services' own code, at stand-ins that listen on this machine."""

import asyncio
from datetime import timedelta

import pytest

from postoffice.core.errors import NoSuchNotify, NoSuchWebhook, OwnerOnly, WebhookTaken
from postoffice.core.for_you import MatterKind
from postoffice.core.notify import NotifyKind
from postoffice.core.webhook import WebhookState
from tests.engines import Engine, PostgresEngine
from tests.mail import ask, kill, people, write
from tests.notify.offices import PUBLIC, asks, opened, settled, telling
from tests.notify.told import json_at, token_in, told
from tests.webhooks.receiver import Receiver, receiving


class TestWhatIsTold:
    async def test_a_question_is_told_without_its_words_and_its_link_answers_it(self, engine: Engine, receiver: Receiver) -> None:
        async with opened(engine) as office:
            (coder,) = await people(office, "coder")
            await office.notify.add(office.owner(), "phone", json_at(receiver), kinds=[NotifyKind.QUESTION], trusted=True)
            async with telling(office):
                id = await asks(office, coder)
                (word,) = await told(receiver)
                found = await settled(office)
            assert word["title"] == "coder asks you"
            assert word["text"].startswith("Release\n")
            assert "1234" not in str(receiver.got[0].body)
            assert found.told_at is not None
            assert f"\n{PUBLIC}/page/answer/" in word["text"]
            token = token_in(receiver)
            for _ in range(3):  # previews look, too
                assert (await office.answer_links.opened(token)).question == id
            answered = await office.answer_links.answer(token, choice="ship it")
            assert (answered.choice, answered.via) == ("ship it", "link")

    async def test_what_several_ask_for_is_told_in_one_word_and_only_in_chosen_kinds(self, engine: Engine, receiver: Receiver) -> None:
        async with opened(engine) as office:
            coder, docs = await people(office, "coder", "docs")
            await office.notify.add(office.owner(), "phone", json_at(receiver), kinds=[NotifyKind.TASK, NotifyKind.MAIL, NotifyKind.STUCK])
            await asks(office, coder)
            await write(office, coder, "owner", "a secret", subject="Look @here")
            await ask(office, coder, "owner", subject="Read it")
            await write(office, coder, "docs", subject="Build")
            await kill(office, docs, "no")
            async with telling(office):
                (word,) = await told(receiver)
            assert word["title"] == "3 things wait for you"
            assert word["text"].splitlines() == [
                "coder wrote to you: Look \uff20here",
                "coder asks you for work: Read it",
                "Stuck: coder to docs: Build",
                f"For you: {PUBLIC}/",
            ]

    async def test_a_request_for_consent_is_told_without_its_note_or_code(self, engine: Engine, receiver: Receiver) -> None:
        async with opened(engine) as office:
            coder, _ = await people(office, "coder", "docs")
            await office.notify.add(office.owner(), "phone", json_at(receiver), kinds=[NotifyKind.CONSENT])
            asked = await office.request_connection(coder, "docs", "let me in, please")
            async with telling(office):
                (word,) = await told(receiver)
            assert word["title"] == "coder asks to write to docs"
            assert not any(said in str(word) for said in ("let me in", asked.code))

    async def test_words_are_told_where_that_was_asked_for(self, engine: Engine, receiver: Receiver) -> None:
        async with opened(engine, public_url=None) as office:
            (coder,) = await people(office, "coder")
            await office.notify.add(office.owner(), "phone", json_at(receiver), bodies=True)
            await asks(office, coder)
            async with telling(office):
                (word,) = await told(receiver)
            assert word["text"] == "Release\nthe launch code is 1234", "and no link without a public address"

    async def test_what_no_longer_waits_is_not_told(self, engine: Engine, receiver: Receiver) -> None:
        async with opened(engine) as office:
            (coder,) = await people(office, "coder")
            owner = office.owner()
            await office.notify.add(owner, "phone", json_at(receiver))
            await office.answer(owner, await asks(office, coder), choice="wait")
            done, opened_ = await write(office, coder, "owner"), await write(office, coder, "owner")
            await office.done(owner, done.message_id)
            await office.seen(owner, opened_.message_id)
            async with telling(office):
                assert (await settled(office)).told_at is None
            assert receiver.got == []

    async def test_a_snoozed_letter_is_told_again_when_it_comes_back(self, engine: Engine, receiver: Receiver) -> None:
        async with opened(engine) as office:
            (coder,) = await people(office, "coder")
            await office.notify.add(office.owner(), "phone", json_at(receiver))
            async with telling(office):
                sent = await write(office, coder, "owner", subject="Later")
                await told(receiver)
                await office.snooze(office.owner(), sent.message_id, timedelta(hours=1))
                await engine.advance(timedelta(hours=2))
                assert len(await told(receiver, 2)) == 2


class TestWhen:
    async def test_at_most_one_word_in_a_while_and_then_all_of_it(self, engine: Engine, receiver: Receiver) -> None:
        async with opened(engine, pause=timedelta(minutes=5)) as office:
            (coder,) = await people(office, "coder")
            await office.notify.add(office.owner(), "phone", json_at(receiver))
            async with telling(office):
                await write(office, coder, "owner", subject="one")
                await told(receiver)
                for subject in ("two", "three"):
                    await write(office, coder, "owner", subject=subject)
                async with asyncio.timeout(20):
                    while (await office.notify.get(office.owner(), "phone")).waiting < 2:  # noqa: ASYNC110 - the bridge changes it
                        await asyncio.sleep(0.02)
                assert len(receiver.got) == 1
                await engine.advance(timedelta(minutes=6))
                words = await told(receiver, 2)
            assert words[1]["title"] == "2 things wait for you"

    async def test_in_quiet_hours_nobody_is_told_but_a_try_goes_out(self, engine: Engine, receiver: Receiver) -> None:
        async with opened(engine) as office:
            (coder,) = await people(office, "coder")
            await office.notify.add(office.owner(), "phone", json_at(receiver), quiet="00:00-23:59:59.999999", zone="UTC")
            await asks(office, coder)
            async with telling(office):
                async with asyncio.timeout(20):
                    while not (await office.notify.get(office.owner(), "phone")).waiting:  # noqa: ASYNC110 - the bridge changes it
                        await asyncio.sleep(0.02)
                assert receiver.got == []
                outcome = await office.notify.try_out(office.owner(), "phone")
                assert (outcome.service, outcome.error) == ("JSON", None)
                assert [word["title"] for word in await told(receiver)] == ["Postoffice"]


class TestWhatFails:
    async def test_it_is_told_again_until_it_is_taken(self, engine: Engine, receiver: Receiver) -> None:
        receiver.status = 500
        async with opened(engine) as office:
            (coder,) = await people(office, "coder")
            await office.notify.add(office.owner(), "phone", json_at(receiver))
            await write(office, coder, "owner", subject="Please")
            async with telling(office):
                async with asyncio.timeout(60):
                    while (found := await office.notify.get(office.owner(), "phone")).error is None:  # noqa: ASYNC110 - as above
                        await asyncio.sleep(0.02)
                assert (found.error, found.waiting) == ("it answered 500", 1)
                receiver.status = 200
                await engine.advance(timedelta(hours=1))
                assert [word["text"].splitlines()[0] for word in await told(receiver)] == ["Please"]

    async def test_after_three_days_it_is_dead_and_in_for_you_and_goes_on_when_resumed(self, engine: Engine, receiver: Receiver) -> None:
        receiver.status = 500
        async with opened(engine) as office:
            (coder,) = await people(office, "coder")
            owner = office.owner()
            await office.notify.add(owner, "phone", json_at(receiver) + "?token=SECRET")
            await write(office, coder, "owner", subject="Please")
            async with telling(office):
                async with asyncio.timeout(60):
                    while (await office.notify.get(owner, "phone")).error is None:  # noqa: ASYNC110 - as above
                        await asyncio.sleep(0.02)
                await engine.advance(timedelta(days=3, hours=1))
                async with asyncio.timeout(60):
                    while (await office.notify.get(owner, "phone")).state is not WebhookState.DEAD:  # noqa: ASYNC110 - as above
                        await asyncio.sleep(0.02)
                (matter,) = [one for one in (await office.for_you(owner)).matters if one.kind is MatterKind.NOTIFY]
                assert (matter.id, matter.what) == ("phone", "notify address at JSON is dead")
                assert "SECRET" not in str(matter)
                receiver.status = 200
                await office.notify.resume(owner, "phone")
                await told(receiver)

    async def test_another_address_tells_that_one_is_dead(self, engine: Engine, receiver: Receiver) -> None:
        with receiving() as deaf:
            deaf.status = 500
            async with opened(engine) as office:
                owner = office.owner()
                await office.notify.add(owner, "phone", json_at(deaf), kinds=[NotifyKind.MAIL])
                await office.notify.add(owner, "desk", json_at(receiver), kinds=[NotifyKind.STUCK])
                (coder,) = await people(office, "coder")
                await write(office, coder, "owner")
                async with telling(office):
                    async with asyncio.timeout(60):
                        while (await office.notify.get(owner, "phone")).error is None:  # noqa: ASYNC110 - as above
                            await asyncio.sleep(0.02)
                    await engine.advance(timedelta(days=3, hours=1))
                    assert [word["title"] for word in await told(receiver)] == ["Stuck: phone"]

    async def test_of_several_processes_one_tells(self, engine: Engine, receiver: Receiver) -> None:
        async with opened(engine) as office:
            await office.notify.add(office.owner(), "phone", json_at(receiver))
            (coder,) = await people(office, "coder")
            if not isinstance(engine, PostgresEngine):
                return  # where one process owns the mail there is no other
            async with opened(engine) as other, telling(office), telling(other):
                await asks(office, coder)
                await told(receiver)
                await settled(office)
                await asyncio.sleep(1)
            assert len(receiver.got) == 1


class TestWhoseItIs:
    async def test_only_the_owner_keeps_addresses_and_links(self, engine: Engine, receiver: Receiver) -> None:
        async with opened(engine) as office:
            (coder,) = await people(office, "coder")
            notify = office.notify
            for call in (
                notify.add(coder, "phone", json_at(receiver)),
                notify.all(coder),
                notify.try_out(coder, "phone"),
                notify.remove(coder, "phone"),
                notify.resume(coder, "phone"),
                office.answer_links.all(coder),
                office.answer_links.revoke(coder, "x"),
            ):
                with pytest.raises(OwnerOnly):
                    await call

    async def test_an_address_is_no_webhook_and_its_secrets_are_not_shown(self, engine: Engine, receiver: Receiver) -> None:
        async with opened(engine) as office:
            owner = office.owner()
            made = await office.notify.add(owner, "phone", json_at(receiver) + "?token=SECRET")
            assert "SECRET" not in str(made)
            assert (made.service, await office.webhooks.all(owner), await office.notify.all(owner)) == ("JSON", (), (made,))
            with pytest.raises(WebhookTaken):
                await office.webhooks.add(owner, "phone", receiver.url)
            for call in (
                office.webhooks.get(owner, "phone"),
                office.webhooks.rotate(owner, "phone"),
                office.webhooks.remove(owner, "phone"),
            ):
                with pytest.raises(NoSuchWebhook):
                    await call
            await office.webhooks.add(owner, "ci", receiver.url)
            with pytest.raises(NoSuchNotify):
                await office.notify.remove(owner, "ci")
            await office.notify.remove(owner, "phone")
            assert await office.notify.all(owner) == ()
