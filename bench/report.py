"""What was found, in one sitting or in several, as tables for people."""

from collections.abc import Iterator

import msgspec

from bench import tables
from bench.attachments import Transfer
from bench.backlog import LeaseCost
from bench.calls import Calls
from bench.files import FileWork
from bench.growth import Cost
from bench.inbox import InboxTime
from bench.lists import ListCost
from bench.load import Load
from bench.machine import Machine
from bench.mcp_calls import ToolCalls
from bench.mcp_wake import Wake
from bench.memory import Growth
from bench.page import Paint
from bench.push import Push
from bench.replicas import Replicas
from bench.rounds import Cycles
from bench.seed_cycles import CyclePace
from bench.table import Table
from bench.turnover import Turnover

_COMPANY = 0.1
FIELDS = {
    "sqlite": ("sqlite",),
    "postgres": ("postgres",),
    "backlog": ("leases",),
    "inbox": ("inboxes",),
    "memory": ("memory",),
    "http": ("calls", "pushes"),
    "mcp": ("tools", "wakes"),
    "files": ("files",),
    "page": ("paints",),
    "load": ("loads",),
    "replicas": ("replicas",),
    "brokers": ("brokers",),
    "seed": ("seed",),
    "growth": ("growth",),
    "lists": ("lists",),
    "attachments": ("transfers",),
}
"""By section: what of a report it fills."""


class Sitting(msgspec.Struct, frozen=True):
    """One section's measuring."""

    seconds: float
    fdatasync_micros: float
    """How long this disk took to make one small write durable, just before."""
    others: float
    """The part of the machine's CPU time that went to others meanwhile."""


class Report(msgspec.Struct, kw_only=True):
    """Everything that was measured."""

    machine: Machine
    sittings: dict[str, Sitting] = {}
    sqlite: list[Cycles] = []
    postgres: list[Cycles] = []
    leases: list[LeaseCost] = []
    inboxes: list[InboxTime] = []
    memory: Growth | None = None
    calls: list[Calls] = []
    pushes: list[Push] = []
    tools: list[ToolCalls] = []
    wakes: list[Wake] = []
    files: list[FileWork] = []
    paints: list[Paint] = []
    loads: list[Load] = []
    replicas: list[Replicas] = []
    brokers: list[Turnover] = []
    seed: list[CyclePace] = []
    growth: list[Cost] = []
    lists: list[ListCost] = []
    transfers: list[Transfer] = []

    def tables(self) -> Iterator[tuple[str, Table]]:
        """Every table that has something in it, by its section."""
        found = [
            ("sqlite", tables.cycles("SQLite: send, lease and ack", self.sqlite)),
            ("postgres", tables.cycles("PostgreSQL: send, lease and ack", self.postgres)),
            ("backlog", tables.leases(self.leases)),
            ("inbox", tables.inboxes(self.inboxes)),
            ("growth", tables.growth(self.growth)),
            ("lists", tables.lists(self.lists)),
            ("attachments", tables.transfers(self.transfers)),
            ("memory", tables.memory(self.memory)),
            ("http", tables.calls(self.calls)),
            ("http", tables.pushes(self.pushes)),
            ("seed", tables.seed(self.seed)),
            ("mcp", tables.tools(self.tools)),
            ("mcp", tables.wakes(self.wakes)),
            ("files", tables.files(self.files)),
            ("page", tables.paints(self.paints)),
            ("load", tables.loads(self.loads)),
            ("replicas", tables.replicas(self.replicas)),
            ("brokers", tables.brokers(self.brokers)),
        ]
        yield from ((section, table) for section, table in found if table.lines)

    def text(self) -> str:
        """Lay everything out for a terminal."""
        others = max((sitting.others for sitting in self.sittings.values()), default=0.0)
        company = f"Others used up to {others:.0%} of the machine meanwhile."
        if too_much(others):
            company += " TOO MUCH: do not trust these numbers."
        return "\n\n".join([*(table.text() for _, table in self.tables()), "\n".join([*self.machine.lines(), company])])


def too_much(others: float) -> bool:
    """Whether so large a part of the machine for others spoils what was measured."""
    return others > _COMPANY


def merged(before: Report | None, now: Report) -> Report:
    """What was measured now in the place of what was measured before. Another machine, or other versions, begin anew."""
    if before is None or not now.machine.same_as(before.machine):
        return now
    whole = msgspec.structs.replace(before, machine=now.machine.knowing(before.machine), sittings=before.sittings | now.sittings)
    for section in now.sittings:
        for field in FIELDS[section]:
            setattr(whole, field, getattr(now, field))
    return whole
