"""Machines' keys: each opens windows whose names begin alike, speaks for their agents, and does nothing else."""

from postoffice.acts.desk import Desk
from postoffice.acts.upkeep.housekeeping import Housekeeping
from postoffice.core.agent import KEYS_OF
from postoffice.core.errors import NoSuchKey
from postoffice.core.names import folded


class MakeMachineKey(Housekeeping[None]):
    """Keep the hash of a machine's key. Earlier keys for the same names stay valid."""

    def __init__(self, prefix: str, hash: str, shown: str) -> None:
        self.prefix = folded(prefix)
        self.hash = hash
        self.shown = shown

    def run(self, desk: Desk) -> None:
        desk.room.take()
        desk.write("add_machine_key", (self.hash, self.prefix, self.shown, desk.now))


class RevokeMachine(Housekeeping[int]):
    """Take all keys of a machine back."""

    def __init__(self, prefix: str, hashes: tuple[str, ...]) -> None:
        self.prefix = folded(prefix)
        self.hashes = hashes

    def run(self, desk: Desk) -> int:
        if not self.hashes:
            raise NoSuchKey(name=self.prefix, which="of a machine")
        for hash in self.hashes:
            desk.write("revoke_machine_key", (hash, desk.now), hash)
        desk.hints.add(KEYS_OF + self.prefix)
        return len(self.hashes)
