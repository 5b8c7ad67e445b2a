"""One message of a session at a time, sessions side by side; a lease lasts as long as the work; stopping leaves nothing behind."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from postoffice.bridges import runner as bridge
from postoffice.bridges.conversations import Conversations
from postoffice.bridges.preset import own_command
from postoffice.bridges.runner import Job, Runner
from postoffice.client.mailbox import Mailbox
from postoffice.client.message import Message
from postoffice.core.errors import NoAnswer
from tests.runner.bench import Bench
from tests.runner.office import Office, until
from tests.serve.running import COMMAND, PATIENCE, free_port

# Says when it begins and ends, and how many are at it, and waits for leave to go on.
WORK = 'echo "begin $1" >> log; while [ ! -e "go-$1" ] && [ ! -e go ]; do sleep 0.02; done; echo "end $1" >> log'


def work(bench: Bench, *flags: str) -> None:
    bench.run("sh", "-c", WORK, "sh", "{message}", flags=flags)


def let_go(bench: Bench, name: str = "go") -> None:
    (bench.here / name).touch()


def set_card(bench: Bench, most: int) -> None:
    bench.office.call(bench.coder, "/agents/me", {"max_concurrent_tasks": most}, method="PATCH")


class TestSessions:
    def test_are_worked_on_side_by_side_each_one_message_at_a_time(self, bench: Bench) -> None:
        work(bench)
        for content in ("a1", "a2"):
            bench.send(content, subject="a")
        bench.send("b1", subject="b")
        assert sorted(bench.until_lines("log", 2)) == ["begin a1", "begin b1"]
        let_go(bench, "go-b1")
        bench.until_lines("log", 3)
        bench.office.call(bench.ann, "/agents")
        assert "begin a2" not in bench.lines("log")
        let_go(bench)
        log = bench.until_lines("log", 6)
        assert log.index("end a1") < log.index("begin a2")

    @pytest.mark.parametrize(("card", "flags", "most"), [(2, (), 2), (5, ("--jobs", "3"), 3), (1, ("--jobs", "4"), 1), (0, (), 1)])
    def test_are_as_many_at_once_as_the_card_and_the_flag_allow(self, bench: Bench, card: int, flags: tuple[str, ...], most: int) -> None:
        set_card(bench, card)
        for number in range(5):
            bench.send(f"m{number}", subject=f"s{number}")
        work(bench, *flags)
        bench.until_lines("log", most)
        assert until(lambda: bench.office.call(bench.coder, "/agents/me")["leased"]) == most
        assert len(bench.lines("log")) == most
        let_go(bench)
        log = bench.until_lines("log", 10)
        at_once = [sum(1 if line.startswith("begin") else -1 for line in log[: end + 1]) for end in range(len(log))]
        assert max(at_once) == most


class TestStopping:
    @pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
    def test_while_waiting_ends_at_once_and_leaves_mail_to_be_taken(self, bench: Bench, how: signal.Signals) -> None:
        runner = bench.run("cat")
        bench.send("first")
        bench.replies()
        runner.until_said("answered")
        runner.process.send_signal(how)
        assert runner.process.wait(PATIENCE / 2) == 0
        sent = bench.send("second")
        assert bench.office.standing(bench.ann, sent["message_id"])["state"] == "pending"
        assert bench.office.call(bench.coder, "/agents/me")["leased"] == 0
        assert "Traceback" not in runner.said()

    def test_while_working_finishes_what_is_under_way(self, bench: Bench) -> None:
        runner = bench.run("sh", "-c", "touch begun; sleep 0.7; echo finished")
        sent = bench.send()
        until((bench.here / "begun").exists)
        assert runner.stop() == 0
        assert [reply["content"] for reply in bench.office.waiting(bench.ann)] == ["finished"]
        assert bench.office.standing(bench.ann, sent["message_id"])["state"] == "acked"

    def test_by_a_terminal_that_is_closed_leaves_nothing_at_work(self, bench: Bench) -> None:
        """Its command is in a session of its own: nobody else would end it, and somebody else would get its mail."""
        runner = bench.run("sh", "-c", "touch begun; sleep 0.7; echo finished")
        sent = bench.send()
        until((bench.here / "begun").exists)
        runner.process.send_signal(signal.SIGHUP)
        assert runner.process.wait(PATIENCE) == 0
        assert bench.office.standing(bench.ann, sent["message_id"])["state"] == "acked"

    def test_is_not_what_the_end_of_a_terminal_means_after_nohup(self, bench: Bench) -> None:
        runner = bench.run("cat", program=("nohup", *COMMAND))
        runner.until_said("answering mail")
        runner.process.send_signal(signal.SIGHUP)
        bench.send()
        bench.replies()
        assert runner.stop() == 0

    def test_works_too_where_no_office_answers_which_is_told(self, bench: Bench) -> None:
        runner = bench.run("cat", server=f"http://127.0.0.1:{free_port()}")
        runner.until_said("waiting: No office answers at")
        runner.process.send_signal(signal.SIGTERM)
        until(lambda: runner.process.poll() is not None, told=runner.said)
        assert "Traceback" not in runner.said()

    async def test_works_too_where_the_office_died_meanwhile(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """What is in hand cannot be given back, so its lease runs out; the runner does not wait for ever."""
        monkeypatch.setattr(bridge, "_STOP_SECONDS", 0.2)
        (tmp_path / "office").mkdir()
        office = Office(tmp_path / "office")
        office.start()
        bench = Bench(office, tmp_path)
        bench.send()
        stopped: asyncio.Task[None] | None = None
        try:
            async with Mailbox(bench.coder, server=office.url, patience=None) as box:
                stop = asyncio.Event()
                job = Job(bench.coder, office.url, own_command(("sh", "-c", f"touch {tmp_path}/begun; sleep 30")), os.environ)
                stopped = asyncio.create_task(Runner(job, box, Conversations(bench.coder, tmp_path), lambda _: None).run(stop))
                await until_there(tmp_path / "begun")
                office.kill()
                stop.set()
                done, _ = await asyncio.wait({stopped}, timeout=20)
                assert done
        finally:
            office.close()
            if stopped is not None:
                stopped.cancel()


@asynccontextmanager
async def inside(bench: Bench, *words: str) -> AsyncIterator[asyncio.Event]:
    """A runner in this process, whose patience a test may shorten."""
    stop = asyncio.Event()
    job = Job(bench.coder, bench.office.url, own_command(words), os.environ)
    async with Mailbox(bench.coder, server=bench.office.url) as box:
        running = asyncio.create_task(Runner(job, box, Conversations(bench.coder, bench.here), lambda _: None).run(stop))
        try:
            yield stop
        finally:
            stop.set()
            await running


async def until_there(path: Path) -> None:
    async with asyncio.timeout(30):
        while not path.exists():  # noqa: ASYNC110 - another process makes it
            await asyncio.sleep(0.02)


class TestALease:
    async def test_lasts_as_long_as_the_command_works(self, bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(bridge, "_VISIBLE_SECONDS", 6.0)  # a busy machine may be late by most of it
        sent = bench.send()
        async with inside(bench, "sh", "-c", f"echo ran >> {bench.here}/ran; sleep 8; echo slow but sure"):
            await until_there(bench.here / "ran")
            # Another taker of the same mailbox, who would get it as soon as the lease were over.
            async with Mailbox(bench.coder, server=bench.office.url) as other:
                assert [message.text async for message in other.receive(within=7)] == []
            reply = await asyncio.to_thread(bench.replies)
        assert [found["content"] for found in reply] == ["slow but sure"]
        assert bench.until_state(sent["message_id"], "acked")["attempts"] == 1
        assert bench.lines("ran") == ["ran"]

    async def test_that_ran_out_while_the_office_was_away_is_taken_anew_and_the_command_not_run_twice(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(bridge, "_VISIBLE_SECONDS", 1.0)
        (tmp_path / "office").mkdir()
        office = Office(tmp_path / "office")
        office.start()
        bench = Bench(office, tmp_path)
        sent = bench.send()
        work = f"echo ran >> {tmp_path}/ran; while [ ! -e {tmp_path}/go ]; do sleep 0.02; done; echo slow but sure"
        try:
            async with inside(bench, "sh", "-c", work):
                await until_there(tmp_path / "ran")
                office.kill()
                await asyncio.sleep(1.2)
                await asyncio.to_thread(office.start)
                await asyncio.to_thread(until, lambda: office.standing(bench.ann, sent["message_id"])["attempts"] >= 2)
                let_go(bench)
                (reply,) = await asyncio.to_thread(bench.replies)
                await asyncio.to_thread(bench.until_state, sent["message_id"], "acked")
        finally:
            office.close()
        assert reply["content"] == "slow but sure"
        assert bench.lines("ran") == ["ran"]

    async def test_is_given_back_with_its_reason_also_to_an_office_that_takes_its_time(
        self, bench: Bench, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(bridge, "_STOPPED_GIVE_BACK_SECONDS", 0.05)
        nack = Message.nack

        async def slow(message: Message, reason: str | None = None, *, delay: float = 0) -> None:
            await asyncio.sleep(0.5)
            await nack(message, reason, delay=delay)

        monkeypatch.setattr(Message, "nack", slow)
        sent = bench.send()
        async with inside(bench, "false"):
            standing = await asyncio.to_thread(bench.until_state, sent["message_id"], "dead")
        assert (standing["attempts"], standing["reason"]) == (2, "The command failed: false ended with 1.")

    async def test_taken_anew_while_the_one_before_was_given_back_runs_out_like_any_other(
        self, bench: Bench, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(bridge, "_VISIBLE_SECONDS", 1.0)
        sent = bench.send()

        async def lost(message: Message, *_: object, **__: object) -> None:
            message.settle()
            await asyncio.to_thread(until, lambda: bench.office.standing(bench.ann, sent["message_id"])["attempts"] == 2)
            raise NoAnswer(server=bench.office.url)

        monkeypatch.setattr(Message, "nack", lost)
        async with inside(bench, "false"):
            await asyncio.to_thread(bench.until_state, sent["message_id"], "dead")

    async def test_is_given_back_with_a_reason_when_the_runner_stops_before_the_command(
        self, bench: Bench, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(bridge, "_STOP_SECONDS", 0.2)
        monkeypatch.setattr(bridge, "_STOPPED_GIVE_BACK_SECONDS", PATIENCE)
        sent = bench.send()
        async with inside(bench, "sh", "-c", f"touch {bench.here}/begun; sleep 30"):
            await until_there(bench.here / "begun")
        standing = bench.office.standing(bench.ann, sent["message_id"])
        assert standing["state"] in ("held", "pending")
        assert standing["reason"] == "the runner was stopped"
