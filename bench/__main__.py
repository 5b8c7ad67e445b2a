"""Run the benchmark: `python -m bench [--quick] [--only sqlite,postgres,backlog,inbox,memory,http,mcp] [--json FILE]`."""

import argparse
from contextlib import ExitStack
from pathlib import Path

import msgspec

from bench.backlog import lease_costs
from bench.calls import measure_calls
from bench.clients import run
from bench.filling import Filled, FilledPostgres, FilledSQLite
from bench.house import echo_house, our_house, running
from bench.inbox import inbox_time
from bench.machine import Company, this_machine
from bench.mcp_calls import Tour, measure_tools
from bench.mcp_errands import ReceiveAck, echo, our_check, our_send, seed_check, seed_send
from bench.mcp_wake import measure_wake
from bench.memory import growth
from bench.ours import OurPostgres, OurSQLite, install
from bench.peers.huey_storage import Huey
from bench.peers.lite_queue import LiteQueue
from bench.peers.one_commit import OneCommit
from bench.peers.persist_queue import PersistQueue
from bench.peers.pg_queuer import PgQueuer
from bench.peers.procrastinate_jobs import Procrastinate
from bench.plan import FULL, QUICK, SECTIONS, Plan
from bench.push import measure_push
from bench.report import Report
from bench.rounds import measure_all
from bench.scratch import BUILD, progress, scratch
from bench.server import Server, running_server

_SEED001 = ".venv-seed001/bin/python"


def main() -> None:
    """Measure what was asked for, print it, and write it down."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a smoke test of a minute; its numbers mean little")
    parser.add_argument("--only", default=",".join(SECTIONS), metavar="SECTIONS", help=f"some of {','.join(SECTIONS)}")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the numbers here too")
    given = parser.parse_args()
    sections = set(given.only.split(","))
    if unknown := sections - set(SECTIONS):
        parser.error(f"there is no section {', '.join(sorted(unknown))}")
    report = _measure(sections, QUICK if given.quick else FULL)
    print(report.text())
    numbers = msgspec.json.format(msgspec.json.encode(report), indent=2)
    for path in (BUILD / "bench.json", given.json):
        if path is not None:
            path.write_bytes(numbers)
    progress("done")


def _measure(sections: set[str], plan: Plan) -> Report:
    with ExitStack() as stack:
        company = Company()
        server = stack.enter_context(running_server()) if sections & {"postgres", "backlog", "inbox", "http"} else None
        report = Report(machine=this_machine(None if server is None else server.version))
        if "memory" in sections:
            report.memory = growth(plan)
        if "sqlite" in sections:
            report.sqlite = measure_all([OurSQLite(), OneCommit(), LiteQueue(), PersistQueue(), Huey()], plan)
        if "mcp" in sections:
            _measure_tools(plan, report)
        if server is not None:
            _measure_with(server, sections, plan, report)
        report.others = company.share(0.0 if server is None else server.cpu())
        return report


def _measure_tools(plan: Plan, report: Report) -> None:
    with scratch() as folder, ExitStack() as stack:
        ours = stack.enter_context(our_house("ours", folder))
        bare = stack.enter_context(running("SDK echo", "bench.mcp_echo"))
        path = folder / "seed001.db"
        seed = stack.enter_context(running("seed 001", "bench.seed001", str(path), python=_SEED001))
        tours: list[Tour] = [
            (bare, echo()),
            (ours, our_send()),
            (seed, seed_send()),
            (ours, our_check()),
            (seed, seed_check(path)),
            (ours, ReceiveAck()),
        ]
        report.tools = measure_tools(tours, plan)
        report.wakes = [measure_wake(ours, plan)]


def _measure_with(server: Server, sections: set[str], plan: Plan, report: Report) -> None:
    if "postgres" in sections:
        report.postgres = measure_all([OurPostgres(server), PgQueuer(server), Procrastinate(server)], plan)
    with scratch() as folder:
        engines: list[Filled] = [FilledSQLite(folder), FilledPostgres(server)]
        if "backlog" in sections:
            report.leases = [cost for engine in engines for cost in run(lease_costs(engine, plan))]
        if "inbox" in sections:
            report.inboxes = [run(inbox_time(engine, plan)) for engine in engines]
        if "http" in sections:
            _measure_doors(server, folder, plan, report)


def _measure_doors(server: Server, folder: Path, plan: Plan, report: Report) -> None:
    url = run(server.database("ours", install))
    with echo_house() as echo, our_house("SQLite", folder) as sqlite, our_house("PostgreSQL", folder, url) as postgres:
        report.calls = measure_calls(echo, [sqlite, postgres], plan)
        report.pushes = [measure_push(house, plan) for house in (sqlite, postgres)]


if __name__ == "__main__":
    main()
