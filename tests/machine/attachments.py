"""A machine that uploads, sends, takes, purges and sweeps in every order, and compares who may fetch what with a model after every step."""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from hypothesis import strategies as st
from hypothesis.stateful import invariant, rule

from postoffice.core.attachment import Attachment
from postoffice.core.draft import Draft
from postoffice.core.errors import NoSuchAttachment
from tests.machine.ground import Ground
from tests.machine.grounded import GroundedMachine

FILES: Final = (b"one", b"two" * 1000, b"")
DIGESTS: Final = tuple(f"sha256:{hashlib.sha256(data).hexdigest()}" for data in FILES)
NAMES: Final = ("ann", "ben", "cora")
RETENTION: Final = timedelta(days=7)
_UNSENT_HOURS, _RETENTION_HOURS = 24, 7 * 24
agents = st.sampled_from(NAMES)
which = st.integers(0, len(FILES) - 1)
doors = st.integers(0, 1)


@dataclass
class Letter:
    """A letter that is still here, as the model has it."""

    sender: str
    recipient: str
    carried: frozenset[int]
    taken_at: int | None = None


async def stream(data: bytes) -> AsyncIterator[bytes]:
    yield data


class AttachmentMachine(GroundedMachine):
    """Nothing drawn depends on what the office does; a rule with nothing to act on does nothing."""

    def __init__(self, ground: Callable[[], Ground]) -> None:
        super().__init__(ground)
        self.hours = 0
        self.holdings: dict[tuple[str, int], int] = {}
        """By agent and file: since when."""
        self.letters: list[Letter] = []
        self.do(self.ground.open())
        self.callers = {name: self.do(self.office().identify(name=name)) for name in NAMES}

    def may_fetch(self, agent: str, file: int) -> bool:
        got = any(letter.recipient == agent and file in letter.carried for letter in self.letters)
        return (agent, file) in self.holdings or got

    # What happens

    @rule(agent=agents, file=which, door=doors)
    def upload(self, agent: str, file: int, door: int) -> None:
        brought = self.do(self.office(door).attachments.upload(self.callers[agent], Attachment("", "x"), None, stream(FILES[file])))
        assert (brought.digest, brought.size) == (DIGESTS[file], len(FILES[file]))
        self.holdings[agent, file] = self.hours

    @rule(file=which)
    def all_upload_at_once(self, file: int) -> None:
        async def every() -> None:
            said = Attachment("", "x")
            uploads = [
                self.office(door).attachments.upload(self.callers[name], said, None, stream(FILES[file])) for door, name in enumerate(NAMES)
            ]
            await asyncio.gather(*uploads)

        self.do(every())
        self.holdings |= {(name, file): self.hours for name in NAMES}

    @rule(sender=agents, recipient=agents, carried=st.frozensets(which, min_size=1, max_size=2), door=doors)
    def send(self, sender: str, recipient: str, carried: frozenset[int], door: int) -> None:
        draft = Draft(to=recipient, content="see", attachments=tuple(Attachment(DIGESTS[file]) for file in sorted(carried)))
        allowed = all(self.may_fetch(sender, file) for file in carried)
        try:
            self.do(self.office(door).send(self.callers[sender], draft))
        except NoSuchAttachment:
            assert not allowed
        else:
            assert allowed
            self.letters.append(Letter(sender, recipient, carried))
            self.holdings |= {(sender, file): self.hours for file in carried}

    @rule(agent=agents, door=doors)
    def take_all(self, agent: str, door: int) -> None:
        self.do(self.office(door).pop(self.callers[agent], 100))
        for letter in self.letters:
            if letter.recipient == agent and letter.taken_at is None:
                letter.taken_at = self.hours

    @rule(hours=st.sampled_from([30, 200]))
    def wait(self, hours: int) -> None:
        self.do(self.ground.engine.advance(timedelta(hours=hours)))
        self.hours += hours

    @rule(door=doors)
    def purge_and_sweep(self, door: int) -> None:
        async def all_of_it() -> None:
            sweeps = self.office(door).store.sweeps
            while await sweeps.purge(RETENTION):
                pass
            while await sweeps.drop_attachments():
                pass

        self.do(all_of_it())
        self.letters = [one for one in self.letters if one.taken_at is None or self.hours - one.taken_at <= _RETENTION_HOURS]
        sent = {(letter.sender, file) for letter in self.letters for file in letter.carried}
        self.holdings = {key: since for key, since in self.holdings.items() if key in sent or self.hours - since <= _UNSENT_HOURS}

    # What always holds

    @invariant()
    def each_fetches_what_the_model_says_and_all_of_it(self) -> None:
        self.do(self._compare())

    async def _compare(self) -> None:
        for door, name in enumerate(NAMES):
            for file, digest in enumerate(DIGESTS):
                attachments = self.office(door).attachments
                try:
                    kept = await attachments.fetch(self.callers[name], digest)
                except NoSuchAttachment:
                    assert not self.may_fetch(name, file), (name, file)
                else:
                    assert self.may_fetch(name, file), (name, file)
                    assert b"".join([piece async for piece in attachments.read(kept)]) == FILES[file]
