"""The server dies by kill -9 and comes back: programs go on as if nothing had been."""

import asyncio
from typing import Any

import pytest

from postoffice import Mailbox
from postoffice.core.errors import NoAnswer
from tests.sdk.conftest import Town

PATIENCE = 60.0


async def restart(town: Town, away: float = 0.3, *, politely: bool = False) -> None:
    await asyncio.to_thread(town.office.stop if politely else town.office.kill)
    await asyncio.sleep(away)
    await asyncio.to_thread(town.office.start)


class TestSending:
    async def test_while_the_server_is_away_waits_for_it_and_sends_once(self, mortal: Town) -> None:
        async with Mailbox(mortal.ann, server=mortal.office.url) as box:
            await box.send(mortal.bob, "before")
            mortal.office.kill()
            sending = asyncio.gather(*(box.send(mortal.bob, f"{number}") for number in range(5)))
            await asyncio.sleep(0.3)
            await asyncio.to_thread(mortal.office.start)
            ids = await asyncio.wait_for(sending, PATIENCE)
        assert len(set(ids)) == 5
        assert sorted(found["content"] for found in mortal.office.waiting(mortal.bob)) == ["0", "1", "2", "3", "4", "before"]

    async def test_through_a_kill_at_any_moment_loses_and_doubles_nothing(self, mortal: Town) -> None:
        async with Mailbox(mortal.ann, server=mortal.office.url) as box:

            async def send_all() -> None:
                for number in range(150):
                    await box.send(mortal.bob, str(number), subject="count")

            sending = asyncio.create_task(send_all())
            await asyncio.sleep(0.1)
            await restart(mortal, away=0)
            await asyncio.wait_for(sending, PATIENCE)
        async with Mailbox(mortal.bob, server=mortal.office.url) as box:
            got = [message.text async for message in box.receive(limit=50, within=0.3)]
        assert got == [str(number) for number in range(150)]


class TestReceiving:
    async def test_resumes_and_what_was_handled_stays_handled(self, mortal: Town) -> None:
        one = mortal.office.send(mortal.ann, mortal.bob, "one")["message_id"]
        got = []
        async with asyncio.timeout(PATIENCE), Mailbox(mortal.bob, server=mortal.office.url) as box:
            async for message in box.receive():
                got.append(message.text)
                if message.text == "two":
                    break
                await restart(mortal)
                mortal.office.send(mortal.ann, mortal.bob, "two")
        assert got == ["one", "two"]
        assert mortal.state(one) == ("acked", 1)

    async def test_that_was_waiting_hears_of_mail_that_came_after_the_restart(self, mortal: Town) -> None:
        async with asyncio.timeout(PATIENCE), Mailbox(mortal.bob, server=mortal.office.url) as box:
            receiving = box.receive()
            waiting = asyncio.ensure_future(anext(receiving))
            await asyncio.sleep(0.3)
            await restart(mortal)
            mortal.office.send(mortal.ann, mortal.bob, "hello")
            assert (await waiting).text == "hello"

    async def test_within_a_while_is_given_up_where_the_server_stays_away(self, mortal: Town) -> None:
        async with asyncio.timeout(PATIENCE), Mailbox(mortal.bob, server=mortal.office.url, patience=0.5) as box:
            await box.send(mortal.ann, "hello")
            mortal.office.kill()
            with pytest.raises(NoAnswer):
                await anext(box.receive(within=0.1))

    async def test_given_up_while_the_server_is_away_still_acks_what_was_handled(self, mortal: Town) -> None:
        id = mortal.office.send(mortal.ann, mortal.bob, "one")["message_id"]
        async with asyncio.timeout(PATIENCE), Mailbox(mortal.bob, server=mortal.office.url) as box:
            receiving = box.receive()
            await anext(receiving)
            mortal.office.kill()
            going_on = asyncio.ensure_future(anext(receiving))
            await asyncio.sleep(0.3)
            going_on.cancel()
            await asyncio.gather(going_on, return_exceptions=True)
            await asyncio.to_thread(mortal.office.start)
        assert mortal.state(id) == ("acked", 1)

    async def test_anew_given_up_while_the_server_is_away_still_acks_what_was_handled(self, mortal: Town) -> None:
        id = mortal.office.send(mortal.ann, mortal.bob, "one")["message_id"]
        async with asyncio.timeout(PATIENCE), Mailbox(mortal.bob, server=mortal.office.url) as box:
            await anext(box.receive())
            mortal.office.kill()
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.3):
                    await anext(box.receive())
            await asyncio.to_thread(mortal.office.start)
        assert mortal.state(id) == ("acked", 1)

    async def test_for_a_bounded_time_is_not_over_because_the_server_closes(self, mortal: Town) -> None:
        async with asyncio.timeout(PATIENCE), Mailbox(mortal.bob, server=mortal.office.url) as box:
            waiting = asyncio.ensure_future(anext(box.receive(within=PATIENCE)))
            await asyncio.sleep(0.3)
            await restart(mortal, politely=True)
            mortal.office.send(mortal.ann, mortal.bob, "hello")
            assert (await waiting).text == "hello"


class TestSettlingByHand:
    @pytest.mark.parametrize("how", ["ack", "nack"])
    async def test_given_up_while_the_server_is_away_is_not_turned_into_something_else(self, mortal: Town, how: str) -> None:
        one = mortal.office.send(mortal.ann, mortal.bob, "one")["message_id"]
        mortal.office.send(mortal.ann, mortal.bob, "two")
        async with asyncio.timeout(PATIENCE), Mailbox(mortal.bob, server=mortal.office.url) as box:
            async for message in box.receive(visible_for=PATIENCE):
                if message.text == "two":
                    break
                await asyncio.to_thread(mortal.office.kill)
                with pytest.raises(TimeoutError):
                    async with asyncio.timeout(0.3):
                        await (message.ack() if how == "ack" else message.nack("later"))
                await asyncio.to_thread(mortal.office.start)
        assert mortal.state(one) == ("acked" if how == "ack" else "leased", 1)

    async def test_is_not_turned_into_something_else_by_a_cancellation_either(self, mortal: Town) -> None:
        """What was handled and acked was given back by leaving the block, or by whoever gives back what was broken off."""
        id = mortal.office.send(mortal.ann, mortal.bob, "one")["message_id"]
        acking = asyncio.Event()

        async def work() -> None:
            async with Mailbox(mortal.bob, server=mortal.office.url) as box:
                async for message in box.receive(visible_for=PATIENCE):
                    await asyncio.to_thread(mortal.office.kill)
                    acking.set()
                    try:
                        await message.ack()
                    finally:
                        await message.nack("broken off")

        async with asyncio.timeout(PATIENCE):
            worker = asyncio.create_task(work())
            await acking.wait()
            await asyncio.sleep(0.3)
            worker.cancel()
            await asyncio.to_thread(mortal.office.start)
            await asyncio.gather(worker, return_exceptions=True)
        assert mortal.state(id) == ("acked", 1)

    async def test_can_be_said_again(self, mortal: Town) -> None:
        id = mortal.office.send(mortal.ann, mortal.bob, "one")["message_id"]
        async with asyncio.timeout(PATIENCE), Mailbox(mortal.bob, server=mortal.office.url, patience=0) as box:
            async for message in box.receive(visible_for=PATIENCE):
                await asyncio.to_thread(mortal.office.kill)
                with pytest.raises(NoAnswer):
                    await message.ack()
                await asyncio.to_thread(mortal.office.start)
                await message.ack()
                assert mortal.state(id) == ("acked", 1)
                break


class TestLeaving:
    async def test_waits_once_for_a_server_that_is_gone_however_much_is_at_hand(
        self, mortal: Town, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for number in range(5):
            mortal.office.send(mortal.ann, mortal.bob, str(number))
        called = []
        async with Mailbox(mortal.bob, server=mortal.office.url, patience=0.2) as box:
            async for _ in box.receive(limit=5):
                break
            mortal.office.kill()
            call = box.call

            async def counted(method: str, path: str, *rest: Any) -> Any:
                called.append(path)
                return await call(method, path, *rest)

            monkeypatch.setattr(box, "call", counted)
        assert called == ["/messages/settle"]


class TestAsking:
    @pytest.mark.parametrize("how", ["killed", "stopped"])
    async def test_gets_its_answer_through_a_restart(self, mortal: Town, how: str) -> None:
        async with (
            asyncio.timeout(PATIENCE),
            Mailbox(mortal.bob, server=mortal.office.url) as bob,
            Mailbox(mortal.ann, server=mortal.office.url) as ann,
        ):
            asking = asyncio.create_task(bob.ask(mortal.ann, "why?", within=PATIENCE))
            async for message in ann.receive():
                await restart(mortal, politely=how == "stopped")
                await message.reply("because")
                break
            assert (await asking).text == "because"
