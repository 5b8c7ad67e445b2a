"""How much of everything one run does: the whole of it, or a smoke test."""

import msgspec

CONCURRENCIES = (1, 16, 64)
SECTIONS = (
    "sqlite",
    "postgres",
    "backlog",
    "inbox",
    "memory",
    "http",
    "mcp",
    "files",
    "page",
    "load",
    "replicas",
    "brokers",
    "seed",
    "growth",
    "lists",
    "attachments",
)
BODY = "The build is green again; the two flaky tests were waiting for a clock that nobody had wound. " * 2
"""What every message says, to us and to every peer."""


class Plan(msgspec.Struct, frozen=True):
    """The numbers of one run."""

    rounds: int
    warm_up: float
    """Seconds before the window of each measurement."""
    window: float
    """Seconds of each measurement."""
    backlogs: tuple[int, ...]
    in_flight: int
    leases: int
    """How many leases are timed at each backlog."""
    messages: int
    """In the database whose inbox is read."""
    inboxes: int
    """How often the inbox is read."""
    memory_warm_up: int
    memory_cycles: int
    mail: int
    """How many messages wait for those who only receive."""
    push_rate: int
    push_seconds: float
    wakes: int
    """How often somebody waits for mail that comes."""
    agents: int
    letters: int
    """In the office that a person looks at."""
    looks: int
    """How often each view is looked at."""
    sockets: int
    waits: int
    """Connections that are open at once and idle."""
    load_rate: int
    load_seconds: float
    sizes: tuple[int, ...]
    """Messages in one mailbox, for the cost of growth."""
    crowds: tuple[int, ...]
    """Agents in one office, for the cost of growth."""
    lists: tuple[int, ...]
    """Members of a list."""
    list_letters: int
    """Letters to each."""
    megabytes: int
    """Of an attachment."""


FULL = Plan(
    rounds=3,
    warm_up=0.3,
    window=1.5,
    backlogs=(1_000, 100_000, 1_000_000),
    in_flight=100_000,
    leases=400,
    messages=1_000_000,
    inboxes=500,
    memory_warm_up=5_000,
    memory_cycles=50_000,
    mail=6_400,
    push_rate=200,
    push_seconds=10.0,
    wakes=400,
    agents=100,
    letters=100_000,
    looks=11,
    sockets=10_000,
    waits=2_000,
    load_rate=50,
    load_seconds=20.0,
    sizes=(1_000, 10_000, 100_000, 1_000_000),
    crowds=(10, 100, 1_000, 10_000),
    lists=(10, 1_000, 10_000),
    list_letters=9,
    megabytes=200,
)
QUICK = Plan(
    rounds=1,
    warm_up=0.1,
    window=0.5,
    backlogs=(1_000, 10_000, 100_000),
    in_flight=10_000,
    leases=100,
    messages=100_000,
    inboxes=100,
    memory_warm_up=1_000,
    memory_cycles=5_000,
    mail=3_200,
    push_rate=200,
    push_seconds=2.0,
    wakes=50,
    agents=100,
    letters=10_000,
    looks=3,
    sockets=1_000,
    waits=200,
    load_rate=50,
    load_seconds=2.0,
    sizes=(1_000, 10_000, 100_000),
    crowds=(10, 100, 1_000),
    lists=(10, 1_000),
    list_letters=5,
    megabytes=50,
)
TINY = Plan(
    rounds=1,
    warm_up=0.02,
    window=0.1,
    backlogs=(100, 200),
    in_flight=100,
    leases=25,
    messages=1_000,
    inboxes=5,
    memory_warm_up=100,
    memory_cycles=500,
    mail=1_600,
    push_rate=50,
    push_seconds=0.2,
    wakes=3,
    agents=10,
    letters=1_000,
    looks=1,
    sockets=20,
    waits=10,
    load_rate=50,
    load_seconds=0.2,
    sizes=(100, 200),
    crowds=(20, 40),
    lists=(5, 10),
    list_letters=1,
    megabytes=2,
)
"""Whether everything runs at all."""
