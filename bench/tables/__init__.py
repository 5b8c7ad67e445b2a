"""The tables of the report, a file for each part of the benchmark: what was found, and whether it is what was wished for."""

from bench.tables.attached import transfers
from bench.tables.beside_brokers import brokers
from bench.tables.beside_seed import seed
from bench.tables.connections import loads
from bench.tables.doors import calls, paints, pushes, tools, wakes
from bench.tables.engine import cycles, inboxes, leases, memory
from bench.tables.files import files
from bench.tables.growing import growth
from bench.tables.many import lists
from bench.tables.side_by_side import replicas

__all__ = [
    "brokers",
    "calls",
    "cycles",
    "files",
    "growth",
    "inboxes",
    "leases",
    "lists",
    "loads",
    "memory",
    "paints",
    "pushes",
    "replicas",
    "seed",
    "tools",
    "transfers",
    "wakes",
]
