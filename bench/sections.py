"""The sections of the benchmark: what each measures, and what it needs for that."""

from collections.abc import Callable
from contextlib import ExitStack
from functools import cached_property
from pathlib import Path

from bench.attachments import measure_attachments
from bench.backlog import lease_costs
from bench.brokers import measure_brokers
from bench.calls import measure_calls
from bench.clients import run
from bench.crowding import Crowded, CrowdedPostgres, CrowdedSQLite
from bench.files import measure_files
from bench.filling import Filled, FilledPostgres, FilledSQLite
from bench.growth import growth_costs
from bench.house import echo_house, our_house, running, seed_house
from bench.inbox import inbox_time
from bench.lists import list_costs
from bench.load import measure_load
from bench.mcp_calls import Tour, measure_tools
from bench.mcp_errands import ReceiveAck, echo, our_check, our_send, seed_check, seed_send
from bench.mcp_wake import measure_wake
from bench.memory import growth
from bench.mind_errands import InboxLook, Look, MailGetDone, MailSend
from bench.nats_server import nats_version
from bench.ours import OurPostgres, OurSQLite, install
from bench.page import measure_page
from bench.peers.huey_storage import Huey
from bench.peers.lite_queue import LiteQueue
from bench.peers.one_commit import OneCommit
from bench.peers.persist_queue import PersistQueue
from bench.peers.pg_queuer import PgQueuer
from bench.peers.procrastinate_jobs import Procrastinate
from bench.plan import Plan
from bench.push import measure_push
from bench.redis_server import redis_version
from bench.replicas import measure_replicas
from bench.report import Report
from bench.rounds import measure_all
from bench.scratch import scratch
from bench.seed_cycles import SEED, measure_seed
from bench.server import Server, running_server

ON_POSTGRES = frozenset({"postgres", "backlog", "inbox", "http", "replicas", "growth", "lists"})


class Workshop:
    """What several sections share: each is made when it is first needed, and gone at the end."""

    def __init__(self, plan: Plan, stack: ExitStack) -> None:
        self.plan = plan
        self._stack = stack

    @cached_property
    def server(self) -> Server:
        """A PostgreSQL."""
        return self._stack.enter_context(running_server())

    @cached_property
    def folder(self) -> Path:
        """A place on the disk."""
        return self._stack.enter_context(scratch())

    @cached_property
    def engines(self) -> list[Filled]:
        """Both engines, with databases full of mail that are filled once."""
        return [FilledSQLite(self.folder), FilledPostgres(self.server)]


def _sqlite(shop: Workshop, report: Report) -> None:
    report.sqlite = measure_all([OurSQLite(), OneCommit(), LiteQueue(), PersistQueue(), Huey()], shop.plan)


def _postgres(shop: Workshop, report: Report) -> None:
    report.postgres = measure_all([OurPostgres(shop.server), PgQueuer(shop.server), Procrastinate(shop.server)], shop.plan)


def _backlog(shop: Workshop, report: Report) -> None:
    report.leases = [cost for engine in shop.engines for cost in run(lease_costs(engine, shop.plan))]


def _inbox(shop: Workshop, report: Report) -> None:
    report.inboxes = [run(inbox_time(engine, shop.plan)) for engine in shop.engines]


def _growth(shop: Workshop, report: Report) -> None:
    crowds: list[Crowded] = [CrowdedSQLite(shop.folder), CrowdedPostgres(shop.server)]
    pairs = zip(shop.engines, crowds, strict=True)
    report.growth = [cost for engine, crowd in pairs for cost in run(growth_costs(engine, crowd, shop.plan))]


def _lists(shop: Workshop, report: Report) -> None:
    crowds: list[tuple[str, Crowded]] = [("SQLite", CrowdedSQLite(shop.folder / "lists")), ("PostgreSQL", CrowdedPostgres(shop.server))]
    (shop.folder / "lists").mkdir()
    report.lists = run(list_costs(crowds, shop.plan))


def _memory(shop: Workshop, report: Report) -> None:
    report.memory = growth(shop.plan)


def _http(shop: Workshop, report: Report) -> None:
    url = run(shop.server.database("ours", install))
    with scratch() as folder, echo_house() as echo, our_house("SQLite", folder) as sqlite, our_house("PostgreSQL", folder, url) as postgres:
        report.calls = measure_calls(echo, [sqlite, postgres], shop.plan)
        report.pushes = [measure_push(house, shop.plan) for house in (sqlite, postgres)]


def _mcp(shop: Workshop, report: Report) -> None:
    with (
        scratch() as folder,
        our_house("ours", folder) as ours,
        running("SDK echo", "bench.mcp_echo") as bare,
        seed_house(SEED, folder) as seed,
    ):
        tours: list[Tour] = [
            (bare, echo()),
            (ours, our_send()),
            (seed, seed_send()),
            (ours, our_check()),
            (seed, seed_check(folder / "seed001.db")),
            (ours, ReceiveAck()),
            (ours, MailSend()),
            (ours, MailGetDone()),
            (ours, Look("mailbox_check, 20 sessions")),
            (ours, InboxLook("GET /inbox, 20 sessions")),
        ]
        report.tools = measure_tools(tours, shop.plan)
        report.wakes = [measure_wake(ours, shop.plan)]


def _files(shop: Workshop, report: Report) -> None:
    report.files = measure_files(shop.plan)


def _page(shop: Workshop, report: Report) -> None:
    report.paints = measure_page(shop.plan)


def _load(shop: Workshop, report: Report) -> None:
    report.loads = measure_load(shop.plan)


def _replicas(shop: Workshop, report: Report) -> None:
    report.replicas = measure_replicas(shop.server, shop.plan)
    report.machine.servers["NATS"] = nats_version()


def _brokers(shop: Workshop, report: Report) -> None:
    report.brokers = measure_brokers(shop.plan)
    report.machine.servers.update({"Redis": redis_version(), "NATS": nats_version()})


def _seed(shop: Workshop, report: Report) -> None:
    report.seed = measure_seed(shop.plan)


def _attachments(shop: Workshop, report: Report) -> None:
    report.transfers = measure_attachments(shop.plan)


MEASURES: dict[str, Callable[[Workshop, Report], None]] = {
    "memory": _memory,
    "sqlite": _sqlite,
    "seed": _seed,
    "mcp": _mcp,
    "files": _files,
    "attachments": _attachments,
    "page": _page,
    "load": _load,
    "brokers": _brokers,
    "postgres": _postgres,
    "backlog": _backlog,
    "inbox": _inbox,
    "growth": _growth,
    "lists": _lists,
    "http": _http,
    "replicas": _replicas,
}
"""By name, in the order in which they are measured."""
