"""The mailbox against a model of it: whatever happens in whatever order, nothing is lost, doubled or out of turn."""

import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from postoffice_files import ClaimLost, Clock, MailboxManager, Settings

ATTEMPTS = 3
CLAIM = 30


class StillClock(Clock):
    micros = 1_745_659_200_000_000

    def now(self) -> int:
        return self.micros


class Waiting:
    """A message as the model knows it."""

    def __init__(self, priority: int, number: int) -> None:
        self.priority, self.number = priority, number
        self.holder: int | None = None
        self.until = 0
        self.attempt = 0


class Mailbox(RuleBasedStateMachine):
    """Two pollers on one inbox; either may crash, forgetting what it held."""

    def __init__(self) -> None:
        super().__init__()
        self.root = Path(tempfile.mkdtemp())
        self.clock = StillClock()
        self.pollers = [self.fresh(), self.fresh()]
        self.sent = 0
        self.waiting: dict[str, Waiting] = {}
        self.claimed: list[dict[str, str]] = [{}, {}]  # poller → word → filename
        self.done: set[str] = set()
        self.dead: set[str] = set()

    def fresh(self) -> MailboxManager:
        return MailboxManager(self.root, Settings(claim_for=CLAIM, max_attempts=ATTEMPTS), self.clock)

    @rule(poller=st.integers(0, 1), priority=st.sampled_from([1, 3, 3, 3, 5]))
    def send(self, poller: int, priority: int) -> None:
        self.clock.micros += 1
        word = f"w{self.sent}"
        self.pollers[poller].send("x", "y", {"id": word, "content": word, "priority": priority})
        self.waiting[word] = Waiting(priority, self.sent)
        self.sent += 1

    @rule(poller=st.integers(0, 1), limit=st.integers(1, 4))
    def poll(self, poller: int, limit: int) -> None:
        free = sorted((m.priority, m.number, word) for word, m in self.waiting.items() if m.until <= self.clock.micros)
        expected: list[str] = []
        for _, _, word in free:
            if len(expected) == limit:
                break
            message = self.waiting[word]
            if message.attempt >= ATTEMPTS:
                del self.waiting[word]
                self.dead.add(word)
                continue
            message.holder, message.until, message.attempt = poller, self.clock.micros + CLAIM * 1_000_000, message.attempt + 1
            expected.append(word)
        got = self.pollers[poller].poll("y", limit=limit)
        assert [m["id"] for m in got] == expected
        assert [m["attempt"] for m in got] == [self.waiting[word].attempt for word in expected]
        self.claimed[poller].update({m["id"]: m["filename"] for m in got})

    @precondition(lambda self: any(self.claimed))
    @rule(data=st.data(), act=st.sampled_from(["mark_processed", "fail", "refuse", "release", "extend"]))
    def settle(self, data: st.DataObject, act: str) -> None:
        poller = data.draw(st.sampled_from([n for n in (0, 1) if self.claimed[n]]))
        word = data.draw(st.sampled_from(sorted(self.claimed[poller])))
        name = self.claimed[poller][word]
        if act != "extend":
            del self.claimed[poller][word]
        mail, message = self.pollers[poller], self.waiting.get(word)
        if message is None:  # the other had it after us, and settled it
            if word in self.done and act == "mark_processed":
                mail.mark_processed("y", name)
            return
        if message.holder != poller:
            with pytest.raises(ClaimLost):
                mail.mark_processed("y", name)
            return
        self.settle_own(mail, word, name, act)

    def settle_own(self, mail: MailboxManager, word: str, name: str, act: str) -> None:
        message = self.waiting[word]
        match act:
            case "mark_processed":
                mail.mark_processed("y", name)
                del self.waiting[word]
                self.done.add(word)
            case "fail":
                set_aside = mail.fail("y", name, "no")
                assert set_aside == (message.attempt >= ATTEMPTS)
                message.until = 0
                if set_aside:
                    del self.waiting[word]
                    self.dead.add(word)
            case "refuse":
                mail.refuse("y", name, "never")
                del self.waiting[word]
                self.dead.add(word)
            case "release":
                mail.release("y", name)
                message.until, message.attempt = 0, message.attempt - 1
            case "extend":
                mail.extend("y", name, 60)
                message.until = self.clock.micros + 60_000_000

    @rule(poller=st.integers(0, 1))
    def crash(self, poller: int) -> None:
        self.pollers[poller] = self.fresh()
        self.claimed[poller].clear()

    @rule(seconds=st.sampled_from([1, CLAIM - 1, CLAIM, 100]))
    def wait(self, seconds: int) -> None:
        self.clock.micros += seconds * 1_000_000

    @invariant()
    def every_message_is_in_one_place(self) -> None:
        home = self.root / "y"
        if home.exists():
            assert len(list((home / "inbox").iterdir())) == len(self.waiting)
            assert len(list((home / "processed").iterdir())) == len(self.done)
            assert len(list((home / "bad").glob("*.reason.json"))) == len(self.dead)
            assert len(list((home / "bad").iterdir())) == 2 * len(self.dead)

    def teardown(self) -> None:
        # Whatever was claimed comes back, and then all is accounted for.
        self.clock.micros += 1_000_000_000
        reader = self.fresh()
        rest = {m["id"] for m in reader.poll("y")}
        exhausted = {word for word, m in self.waiting.items() if m.attempt >= ATTEMPTS}
        assert rest == set(self.waiting) - exhausted
        told = [m["reply_to"] for m in reader.poll("x")]
        assert sorted(told) == sorted(self.dead | exhausted)
        shutil.rmtree(self.root)


Mailbox.TestCase.settings = settings(max_examples=60, stateful_step_count=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
TestMailbox = Mailbox.TestCase
