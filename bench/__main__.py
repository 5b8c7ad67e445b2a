"""Run the benchmark: `python -m bench [--quick] [--only sqlite,load,…] [--json FILE] [--report]`.

What a full run measures takes its place in `build/bench.json` beside what earlier runs on this machine measured, so that one report can be
put together in several sittings. `--report` then writes it all to `bench/REPORT.md`; with `--only ''` it measures nothing before that.
"""

import argparse
import time
from contextlib import ExitStack
from pathlib import Path

import msgspec

from bench.document import write_document
from bench.machine import Company, this_machine
from bench.plan import FULL, QUICK, SECTIONS, TINY, Plan
from bench.report import Report, Sitting, merged
from bench.scratch import BUILD, fdatasync_micros, progress
from bench.sections import MEASURES, ON_POSTGRES, Workshop

_KEPT = BUILD / "bench.json"


def main() -> None:
    """Measure what was asked for, print it, and write it down."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    small = parser.add_mutually_exclusive_group()
    small.add_argument("--quick", action="store_true", help="a smoke test of some minutes; its numbers mean little and are not kept")
    small.add_argument("--tiny", action="store_true", help="whether everything runs at all; its numbers mean nothing")
    small.add_argument("--report", action="store_true", help="write bench/REPORT.md and its plots from all that has been measured")
    parser.add_argument("--only", default=",".join(SECTIONS), metavar="SECTIONS", help=f"some of {','.join(SECTIONS)}")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write this run's numbers here")
    given = parser.parse_args()
    sections = set(filter(None, given.only.split(",")))
    if unknown := sections - set(SECTIONS):
        parser.error(f"there is no section {', '.join(sorted(unknown))}")
    plan = QUICK if given.quick else TINY if given.tiny else FULL
    report = _measure(sections, plan)
    if given.json is not None:
        given.json.write_bytes(_encoded(report))
    print(report.text())
    if given.report:
        progress(f"wrote {write_document(merged(_kept(), report))}")
    progress("done")


def _measure(sections: set[str], plan: Plan) -> Report:
    with ExitStack() as stack:
        shop = Workshop(plan, stack)
        servers = {"PostgreSQL": shop.server.version} if sections & ON_POSTGRES else {}
        report = Report(machine=this_machine(servers))
        for section in (name for name in MEASURES if name in sections):
            company = Company(shop.server if servers else None)
            synced, began = fdatasync_micros(), time.monotonic()
            MEASURES[section](shop, report)
            report.sittings[section] = Sitting(time.monotonic() - began, synced, company.share())
            if plan is FULL:
                # Section by section: what the next one runs into does not take this one with it.
                _KEPT.write_bytes(_encoded(merged(_kept(), report)))
        return report


def _kept() -> Report | None:
    """What was measured before; none if it was by another program than this."""
    try:
        return msgspec.json.decode(_KEPT.read_bytes(), type=Report)
    except (FileNotFoundError, msgspec.DecodeError):
        return None


def _encoded(report: Report) -> bytes:
    return msgspec.json.format(msgspec.json.encode(report), indent=2)


if __name__ == "__main__":
    main()
