"""Mail is acked by going on or by leaving the block, and given back by an exception."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from postoffice import Mailbox
from postoffice.client import wire
from postoffice.client.message import Message
from postoffice.core.errors import MailboxClosed, NoAnswer, NoReply
from tests.runner.office import Office
from tests.sdk.conftest import Town, town_of

WITHIN = 45.0


def box_of(town: Town, name: str | None = None) -> Mailbox:
    return Mailbox(name or town.bob, server=town.office.url)


def write(town: Town, *contents: str) -> list[str]:
    """Letters from ann to bob, each in a session of its own."""
    return [str(town.office.send(town.ann, town.bob, content, subject=content)["message_id"]) for content in contents]


class TestGoingOn:
    async def test_acks_what_came_before(self, town: Town) -> None:
        one, two = write(town, "one", "two")
        async with box_of(town) as box:
            async for message in box.receive(within=WITHIN):
                if message.text == "two":
                    assert town.state(one) == ("acked", 1)
                    assert town.state(two) == ("leased", 1)
                    break
        assert town.state(two) == ("acked", 1)

    async def test_until_nothing_comes_acks_all(self, town: Town) -> None:
        ids = write(town, "one", "two", "three")
        async with box_of(town) as box:
            assert [message.text async for message in box.receive(limit=2, within=0.1)] == ["one", "two", "three"]
            assert [town.state(id) for id in ids] == [("acked", 1)] * 3

    async def test_waits_as_long_as_it_was_told_though_one_wait_is_shorter(self, town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(wire, "_LONGEST_WAIT_SECONDS", 0.05)
        async with box_of(town) as box:
            waiting = asyncio.ensure_future(anext(box.receive(within=WITHIN)))
            await asyncio.sleep(0.3)
            write(town, "late")
            assert (await waiting).text == "late"

    @pytest.mark.parametrize("most", ["0.2", "0"])
    async def test_waits_also_where_the_server_has_nobody_wait_so_long(self, tmp_path: Path, most: str) -> None:
        office = Office(tmp_path, POSTOFFICE_WAIT_MOST=most)
        try:
            office.start()
            town = town_of(office)
            async with box_of(town) as box, box_of(town, town.ann) as ann:
                for receiving in (box.receive(), box.receive(within=WITHIN)):
                    waiting = asyncio.ensure_future(anext(receiving))
                    await asyncio.sleep(0.3)
                    write(town, "late")
                    assert (await asyncio.wait_for(waiting, WITHIN)).text == "late"
                answering = asyncio.create_task(answer_one(ann))
                assert (await box.ask(town.ann, "why?", within=WITHIN)).text == "because"
                await answering
        finally:
            office.close()


class TestLeaving:
    @pytest.mark.parametrize("how", ["break", "return"])
    async def test_acks(self, town: Town, how: str) -> None:
        (id,) = write(town, "one")

        async def work() -> None:
            async with box_of(town) as box:
                async for _ in box.receive():
                    if how == "return":
                        return
                    break

        await work()
        assert town.state(id) == ("acked", 1)

    async def test_by_an_exception_gives_the_mail_back_with_the_reason(self, town: Town) -> None:
        (id,) = write(town, "one")

        async def work() -> None:
            async with box_of(town) as box:
                async for _ in box.receive():
                    msg = "no good"
                    raise RuntimeError(msg)

        with pytest.raises(RuntimeError, match="no good"):
            await work()
        standing = town.office.standing(town.ann, id)
        assert (standing["state"], standing["reason"]) == ("pending", "RuntimeError: no good")

    @pytest.mark.parametrize("before", ["receiving", "asking"])
    async def test_by_an_exception_gives_back_what_was_read_after_something_else(self, town: Town, before: str) -> None:
        ids = write(town, "one", "two")

        async def work() -> None:
            async with box_of(town) as box, box_of(town, town.ann) as ann:
                if before == "asking":
                    answering = asyncio.create_task(answer_one(ann))
                    await box.ask(town.ann, "why?", within=WITHIN)
                    await answering
                async for message in box.receive():
                    if before == "asking":
                        raise ValueError(message.text)
                    break
                async for message in box.receive():
                    raise ValueError(message.text)

        failed = {"asking": "one", "receiving": "two"}[before]
        with pytest.raises(ValueError, match=failed):
            await work()
        standing = town.office.standing(town.ann, ids[["one", "two"].index(failed)])
        assert (standing["state"], standing["reason"]) == ("pending", f"ValueError: {failed}")

    async def test_by_an_exception_gives_back_what_every_worker_was_at(self, town: Town) -> None:
        ids = write(town, "one", "two")
        both = asyncio.Barrier(2)

        async def worker(box: Mailbox) -> None:
            async for message in box.receive():
                await both.wait()
                if message.text == "two":
                    raise ValueError(message.text)
                await asyncio.sleep(60)

        async def work() -> None:
            async with box_of(town) as box, asyncio.TaskGroup() as group:
                group.create_task(worker(box))
                group.create_task(worker(box))

        with pytest.raises(ExceptionGroup):
            await work()
        assert [town.state(id) for id in ids] == [("pending", 1)] * 2

    @pytest.mark.parametrize("how", ["cancelled", "failed", "still at it"])
    async def test_without_one_gives_back_what_a_worker_did_not_come_to_the_end_of(self, town: Town, how: str) -> None:
        (id,) = write(town, "one")
        begun, go_on = asyncio.Event(), asyncio.Event()

        async def work(box: Mailbox) -> None:
            async for message in box.receive():
                begun.set()
                await go_on.wait()
                raise ValueError(message.text)

        async with box_of(town) as box:
            worker = asyncio.create_task(work(box))
            await asyncio.wait_for(begun.wait(), WITHIN)
            if how == "cancelled":
                worker.cancel()
            elif how == "failed":
                go_on.set()
            if how != "still at it":
                await asyncio.gather(worker, return_exceptions=True)
        standing = town.office.standing(town.ann, id)
        worker.cancel()
        await asyncio.gather(worker, return_exceptions=True)
        assert (standing["state"], standing["reason"]) == ("pending", "ValueError: one" if how == "failed" else "CancelledError: ")

    @pytest.mark.parametrize("how", ["failed", "still at it"])
    async def test_gives_back_what_was_fetched_for_a_worker(self, town: Town, how: str) -> None:
        """As `wait_for` does it: the task that reads is done as soon as it has brought the message."""
        (id,) = write(town, "one")
        begun = asyncio.Event()

        async def work(box: Mailbox) -> None:
            message = await asyncio.create_task(bring(box.receive()))
            begun.set()
            if how == "failed":
                raise ValueError(message.text)
            await asyncio.sleep(60)

        async with box_of(town) as box:
            worker = asyncio.create_task(work(box))
            await asyncio.wait_for(begun.wait(), WITHIN)
        worker.cancel()
        await asyncio.gather(worker, return_exceptions=True)
        standing = town.office.standing(town.ann, id)
        assert (standing["state"], standing["reason"]) == ("pending", "ValueError: one" if how == "failed" else "CancelledError: ")

    async def test_by_an_exception_that_cannot_be_spelt_still_settles_everything(self, town: Town) -> None:
        ids = write(town, "one", "two")

        async def work() -> None:
            async with box_of(town) as box:
                async for message in box.receive(limit=2):
                    if message.text == "two":
                        msg = "\0\ud800"
                        raise ValueError(msg)

        with pytest.raises(ValueError, match="\0"):
            await work()
        assert town.state(ids[0]) == ("acked", 1)
        assert town.office.standing(town.ann, ids[1])["reason"] == "ValueError: ??"

    async def test_by_cancelling_gives_the_mail_back(self, town: Town) -> None:
        (id,) = write(town, "one")
        begun = asyncio.Event()

        async def work() -> None:
            async with box_of(town) as box:
                async for _ in box.receive():
                    begun.set()
                    await asyncio.sleep(60)

        task = asyncio.create_task(work())
        await asyncio.wait_for(begun.wait(), WITHIN)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        assert town.state(id) == ("pending", 1)

    async def test_with_several_at_hand_acks_the_handled_nacks_the_failed_and_gives_back_the_rest(self, town: Town) -> None:
        ids = write(town, "one", "two", "three", "four")

        async def work() -> None:
            async with box_of(town) as box:
                async for message in box.receive(limit=4):
                    if message.text == "two":
                        raise ValueError(message.text)

        with pytest.raises(ValueError, match="two"):
            await work()
        states = [town.office.standing(town.ann, id) for id in ids]
        assert [standing["state"] for standing in states] == ["acked", "pending", "pending", "pending"]
        assert [standing.get("reason") for standing in states] == [None, "ValueError: two", None, None]

    async def test_early_tries_only_what_was_begun(self, town: Town) -> None:
        ids = write(town, "one", "two", "three")
        async with box_of(town) as box:
            async for _ in box.receive(limit=3):
                break
        assert [town.state(id) for id in ids] == [("acked", 1), ("pending", 0), ("pending", 0)]

    async def test_early_gives_the_rest_back_also_to_an_office_that_knows_nothing_of_untried_mail(
        self, town: Town, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        ids = write(town, "one", "two", "three")
        said = wire.Wire.call

        async def call(wire: Any, method: str, path: str, body: Any = None, **query: object) -> Any:
            if path == "/messages/settle":
                # By another name it is one that this office does not know either.
                body = {how: [{name.replace("un", "not_"): item[name] for name in item} for item in items] for how, items in body.items()}
            return await said(wire, method, path, body, **query)

        monkeypatch.setattr(wire.Wire, "call", call)
        async with box_of(town) as box:
            async for _ in box.receive(limit=3):
                break
        assert [town.state(id) for id in ids] == [("acked", 1), ("pending", 1), ("pending", 1)]

    async def test_settles_the_others_though_one_was_settled_elsewhere(self, town: Town) -> None:
        ids = write(town, "one", "two", "three")

        async def work() -> None:
            async with box_of(town) as box:
                async for message in box.receive(limit=3):
                    if message.text == "two":
                        # Somebody acks it under our hands.
                        town.office.call(town.bob, f"/messages/{message.id}/ack", {"token": message.letter.token})
                        msg = "mine"
                        raise ValueError(msg)

        with pytest.raises(ValueError, match="mine"):
            await work()
        assert [town.state(id)[0] for id in ids] == ["acked", "acked", "pending"]

    async def test_does_nothing_more_to_what_was_settled_by_hand(self, town: Town) -> None:
        ids = write(town, "one", "two")
        async with box_of(town) as box:
            async for message in box.receive(limit=2, within=0.1):
                await (message.ack() if message.text == "one" else message.nack("later", delay=60))
        assert [town.state(id)[0] for id in ids] == ["acked", "held"]


class TestOneBlock:
    async def test_may_receive_again_after_a_break(self, town: Town) -> None:
        """The first is done with, and what was not begun comes again."""
        ids = write(town, "one", "two", "three")
        async with box_of(town) as box:
            async for _ in box.receive(limit=3):
                break
            async for message in box.receive(within=WITHIN):
                assert message.text == "two"
                break
        assert [town.state(id)[0] for id in ids] == ["acked", "acked", "pending"]

    async def test_may_have_a_worker_begin_while_another_is_at_it(self, town: Town) -> None:
        ids = write(town, "one", "two", "three")
        async with box_of(town) as box:

            async def second() -> None:
                async for message in box.receive():
                    assert message.text == "two"
                    return

            async for message in box.receive(within=WITHIN):
                if message.text == "one":
                    await asyncio.create_task(second())
                    assert town.state(ids[0]) == ("leased", 1)
                    continue
                assert message.text == "three"
                break
        assert [town.state(id) for id in ids] == [("acked", 1)] * 3

    async def test_gives_a_failed_worker_s_message_to_the_one_that_takes_its_place(self, town: Town) -> None:
        (id,) = write(town, "one")

        async def work(box: Mailbox, *, fail: bool) -> None:
            async for message in box.receive(within=WITHIN):
                if fail:
                    raise ValueError(message.text)
                return

        async with box_of(town) as box:
            with pytest.raises(ValueError, match="one"):
                await asyncio.create_task(work(box, fail=True))
            await asyncio.create_task(work(box, fail=False))
        assert town.state(id) == ("acked", 2)

    @pytest.mark.parametrize("how", ["another takes its place", "nobody does"])
    async def test_gives_back_what_a_worker_failed_at_also_while_its_failure_is_kept(self, town: Town, how: str) -> None:
        """An exception holds what was at hand when it was raised, and so the loop that the worker read by."""
        (id,) = write(town, "one")

        async def work(box: Mailbox) -> None:
            receiving = box.receive(visible_for=6)
            async for message in receiving:
                raise ValueError(message.text)

        async with box_of(town) as box:
            worker = asyncio.create_task(work(box))
            await asyncio.gather(worker, return_exceptions=True)
            async with asyncio.timeout(WITHIN):
                if how == "nobody does":
                    while town.state(id) != ("pending", 1):  # noqa: ASYNC110 - of another process
                        await asyncio.sleep(0.1)
                    assert town.office.standing(town.ann, id)["reason"] == "ValueError: one"
                else:
                    assert (await anext(box.receive())).letter.attempt == 2
        assert isinstance(worker.exception(), ValueError)

    async def test_leaves_a_worker_the_message_it_left_its_loop_with(self, town: Town) -> None:
        ids = write(town, "one", "two")
        read = asyncio.Event()

        async def next_of(box: Mailbox) -> str:
            async for message in box.receive(within=WITHIN):
                return message.text
            raise AssertionError

        async def first(box: Mailbox) -> None:
            assert await next_of(box) == "one"
            read.set()
            await asyncio.sleep(60)

        async with box_of(town) as box:
            worker = asyncio.create_task(first(box))
            await asyncio.wait_for(read.wait(), WITHIN)
            assert await next_of(box) == "two"
            assert town.state(ids[0]) == ("leased", 1)
            worker.cancel()
            await asyncio.gather(worker, return_exceptions=True)
        assert [town.state(id) for id in ids] == [("pending", 1), ("acked", 1)]

    async def test_leaves_a_worker_what_was_fetched_for_it_until_it_fetches_more(self, town: Town) -> None:
        ids = write(town, "one", "two", "three")
        read = asyncio.Event()

        async def first(box: Mailbox) -> None:
            assert (await asyncio.create_task(bring(box.receive()))).text == "one"
            read.set()
            await asyncio.sleep(60)

        async with box_of(town) as box:
            worker = asyncio.create_task(first(box))
            await asyncio.wait_for(read.wait(), WITHIN)
            assert (await asyncio.create_task(bring(box.receive()))).text == "two"
            assert [town.state(id) for id in ids[:2]] == [("leased", 1)] * 2
            assert (await asyncio.create_task(bring(box.receive()))).text == "three"
            assert [town.state(id) for id in ids[:2]] == [("leased", 1), ("acked", 1)]
            worker.cancel()
            await asyncio.gather(worker, return_exceptions=True)
        assert [town.state(id) for id in ids] == [("pending", 1), ("acked", 1), ("acked", 1)]

    async def test_may_receive_in_the_middle_of_receiving(self, town: Town) -> None:
        ids = write(town, "one", "two", "three")
        async with box_of(town) as box:
            async for message in box.receive(within=0.1):
                if message.text == "one":
                    async for inner in box.receive(within=WITHIN):
                        assert inner.text == "two"
                        break
        assert [town.state(id) for id in ids] == [("acked", 1)] * 3

    async def test_may_ask_while_it_holds_a_message(self, town: Town) -> None:
        (id,) = write(town, "one")
        async with box_of(town) as box, box_of(town, town.ann) as ann:
            async for _ in box.receive():
                answering = asyncio.create_task(answer_one(ann))
                answer = await box.ask(town.ann, "why?", within=WITHIN)
                assert answer.text == "because"
                await answering
                break
            asked = answer.id
        assert town.state(id) == ("acked", 1)
        assert town.office.standing(town.bob, asked)["state"] == "acked"

    async def test_gives_back_the_right_message_if_it_fails_after_asking(self, town: Town) -> None:
        (id,) = write(town, "one")

        async def work() -> None:
            async with box_of(town) as box, box_of(town, town.ann) as ann:
                async for _ in box.receive():
                    answering = asyncio.create_task(answer_one(ann))
                    await box.ask(town.ann, "why?", within=WITHIN)
                    await answering
                    msg = "after all"
                    raise ValueError(msg)

        with pytest.raises(ValueError, match="after all"):
            await work()
        assert town.office.standing(town.ann, id).get("reason") == "ValueError: after all"

    async def test_may_ask_two_at_once(self, town: Town) -> None:
        async with box_of(town) as box, box_of(town, town.ann) as ann:
            answering = asyncio.create_task(answer_one(ann, 2))
            answers = await asyncio.gather(*(box.ask(town.ann, f"{number}?", within=WITHIN) for number in range(2)))
            await answering
        assert [town.office.standing(town.ann, answer.id)["state"] for answer in answers] == ["acked", "acked"]


async def bring(receiving: AsyncIterator[Message]) -> Message:
    return await anext(receiving)


async def answer_one(box: Mailbox, count: int = 1) -> None:
    async for message in box.receive(within=WITHIN):
        await message.reply("because")
        count -= 1
        if not count:
            break


class TestWorkThatTakesLong:
    async def test_keeps_its_lease(self, town: Town) -> None:
        (id,) = write(town, "slow")
        async with box_of(town) as box, box_of(town) as other:
            async for _ in box.receive(visible_for=6):  # a busy machine may be late by most of it
                assert [message async for message in other.receive(within=7)] == []
                break
        assert town.state(id) == ("acked", 1)

    async def test_keeps_what_a_task_has_brought_that_is_over(self, town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
        """As `wait_for` brings it, with all that reads in it: it was acked while somebody was at it, and lost when that failed."""
        (id,) = write(town, "slow")

        async def next_of(box: Mailbox) -> Message:
            return await anext(box.receive(visible_for=6))

        async def work() -> None:
            async with box_of(town) as box:
                call, extended = box._wire.call, asyncio.Event()

                async def heard(method: str, path: str, *rest: Any, **query: Any) -> Any:
                    answer = await call(method, path, *rest, **query)
                    if path.endswith("/extend"):
                        extended.set()
                    return answer

                monkeypatch.setattr(box._wire, "call", heard)
                message = await asyncio.create_task(next_of(box))
                await asyncio.wait_for(extended.wait(), WITHIN)
                raise ValueError(message.text)

        with pytest.raises(ValueError, match="slow"):
            await work()
        assert town.state(id) == ("pending", 1)

    async def test_keeps_it_also_where_the_server_was_away_for_longer_than_anybody_waits_for_it(
        self, town: Town, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (id,) = write(town, "slow")
        async with Mailbox(town.bob, server=town.office.url, patience=0) as box:
            call, away, extended = box._wire.call, ["once", "twice"], asyncio.Event()

            async def extend_late(method: str, path: str, *rest: Any, **query: Any) -> Any:
                if path.endswith("/extend") and away:
                    away.pop()
                    raise NoAnswer(server=town.office.url)
                answer = await call(method, path, *rest, **query)
                if path.endswith("/extend"):
                    extended.set()
                return answer

            monkeypatch.setattr(box._wire, "call", extend_late)
            async for _ in box.receive(visible_for=6):
                await asyncio.wait_for(extended.wait(), WITHIN)
                break
        assert town.state(id) == ("acked", 1)


class TestAsking:
    async def test_gives_the_answer_to_this_question_and_no_other_mail(self, town: Town) -> None:
        write(town, "unrelated")
        async with box_of(town) as box, box_of(town, town.ann) as ann:
            answering = asyncio.create_task(answer_one(ann))
            answer = await box.ask(town.ann, "why?", within=WITHIN)
            await answering
            assert (answer.sender, answer.text) == (town.ann, "because")
        assert [found["content"] for found in town.office.waiting(town.bob)] == ["unrelated"]

    async def test_is_done_with_the_answer_as_it_gets_it(self, town: Town) -> None:
        async with box_of(town) as box, box_of(town, town.ann) as ann:
            answering = asyncio.create_task(answer_one(ann))
            answer = await box.ask(town.ann, "why?", within=WITHIN)
            await answering
            assert town.office.standing(town.ann, answer.id)["state"] == "acked"

    async def test_gets_its_answer_though_another_task_reads_the_mailbox(self, town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
        """That task was given the answer as if it were any mail, and whoever had asked was told that nobody answered."""
        async with box_of(town) as box, box_of(town, town.ann) as ann:
            lease, never = box.lease, asyncio.Event()

            async def lease_last(wish: dict[str, Any], until: float | None = None) -> list[Message]:
                if "correlation_id" in wish:
                    await never.wait()
                return await lease(wish, until)

            monkeypatch.setattr(box, "lease", lease_last)
            reading = asyncio.ensure_future(anext(box.receive()))
            answering = asyncio.create_task(answer_one(ann))
            answer = await asyncio.wait_for(box.ask(town.ann, "why?"), WITHIN)
            await answering
            assert (answer.text, town.office.standing(town.ann, answer.id)["state"]) == ("because", "acked")
            write(town, "unrelated")
            assert (await asyncio.wait_for(reading, WITHIN)).text == "unrelated"

    async def test_leaves_what_comes_later_under_its_mark_to_whoever_reads(self, town: Town) -> None:
        async with box_of(town) as box, box_of(town, town.ann) as ann:
            answering = asyncio.create_task(answer_one(ann))
            await box.ask(town.ann, "why?", within=WITHIN, correlation_id="mine")
            await answering
            await ann.send(town.bob, "by the way", correlation_id="mine")
            assert [message.text async for message in box.receive(within=0.1)] == ["by the way"]

    async def test_that_is_given_up_is_forgotten(self, town: Town) -> None:
        async with box_of(town) as box:
            for _ in range(3):
                with pytest.raises(TimeoutError):
                    await asyncio.wait_for(box.ask(town.ann, "why?"), 0.2)
            assert (box._hands, box._asked) == (set(), {})

    async def test_without_an_answer_says_so_and_the_question_stays(self, town: Town) -> None:
        town.office.call(town.ann, "/agents/me")
        async with box_of(town) as box:
            with pytest.raises(NoReply, match=f"{town.ann} did not answer"):
                await box.ask(town.ann, "why?", within=0.3)
        assert [found["content"] for found in town.office.waiting(town.ann)] == ["why?"]


class TestWaitingElsewhere:
    async def test_ends_when_the_block_is_left_and_says_why(self, town: Town) -> None:
        async with box_of(town) as box:
            waits = [asyncio.ensure_future(anext(box.receive())), asyncio.create_task(box.ask(town.ann, "why?"))]
            while not town.office.waiting(town.ann):  # noqa: ASYNC110 - another process
                await asyncio.sleep(0.01)
            await asyncio.sleep(0.1)
        async with asyncio.timeout(WITHIN):
            ended = await asyncio.gather(*waits, return_exceptions=True)
        assert [type(error) for error in ended] == [MailboxClosed, MailboxClosed]
        assert str(ended[0]).startswith(f"{town.bob}'s mailbox was left")
        with pytest.raises(MailboxClosed):
            await anext(box.receive())
        (sent,) = write(town, "for whoever comes next")
        async with box_of(town) as box:
            assert [(message.id, message.letter.attempt) async for message in box.receive(within=0.1)] == [(sent, 1)]
