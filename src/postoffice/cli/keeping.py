"""Commands that keep mail safe and find faults: backup, restore, doctor."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from postoffice.cli.command import Options, add_caller, examples
from postoffice.cli.ending import ending_what_was_begun
from postoffice.cli.server import add_store, settings_of


def add(commands: Any) -> None:
    """Add backup, restore and doctor."""
    import argparse  # noqa: PLC0415

    plain = argparse.RawDescriptionHelpFormatter
    for name, help, example, run in (
        ("backup", "copy all mail into a file, while serving", "postoffice backup mail.backup", _backup),
        (
            "restore",
            "bring all mail back from a file",
            "postoffice restore mail.backup --data ./new",
            _restore,
        ),
    ):
        parser = commands.add_parser(
            name, help=help, description=f"{help[:1].upper()}{help[1:]}.", epilog=examples(example), formatter_class=plain
        )
        parser.add_argument("file", type=Path)
        if run is _restore:
            parser.add_argument("--replace", action="store_true", help="replace the mail there, even while it is served")
        add_store(parser)
        parser.set_defaults(command=run)
    checking = commands.add_parser(
        "doctor",
        help="find what is wrong, and say what to do",
        description="Find what is wrong between here and the office, and say what to do.",
        epilog=examples("postoffice doctor", "postoffice doctor --as coder --json"),
        formatter_class=plain,
    )
    checking.add_argument("--data", type=Path, help="the server's data directory, if it is on this machine")
    add_caller(checking)
    checking.set_defaults(command=_doctor)


def _backup(options: Options) -> None:
    from postoffice.serve.backup import backup  # noqa: PLC0415

    file = options.pop("file")
    with ending_what_was_begun():
        print(backup(settings_of(options), file, _progress()))


def _restore(options: Options) -> None:
    from postoffice.serve.backup import restore  # noqa: PLC0415

    file, replace = options.pop("file"), options.pop("replace")
    with ending_what_was_begun():
        print(restore(settings_of(options), file, _progress(), replace=replace))


def _progress() -> Callable[[int, int], None]:
    """Shows a person the progress, and the end once."""
    last_percent = -1

    def tell(done: int, total: int) -> None:
        nonlocal last_percent
        percent = 100 * done // max(total, 1)
        if percent > last_percent and sys.stderr is not None and sys.stderr.isatty():
            last_percent = percent
            print(f"\r{percent:3d} %", end="\n" if done >= total else "", file=sys.stderr, flush=True)

    return tell


def _doctor(options: Options) -> int:
    import asyncio  # noqa: PLC0415

    from postoffice.cli.doctor import examine, render  # noqa: PLC0415
    from postoffice.cli.show import show  # noqa: PLC0415

    findings = asyncio.run(examine(options))
    show(options, {"findings": findings}, render)
    return 1 if any(finding["is"] == "wrong" for finding in findings) else 0
