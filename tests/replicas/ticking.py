"""The command with a tick of the test's choosing: under one that never comes, only hints wake anybody."""

import sys

import msgspec

from postoffice.cli.main import main
from postoffice.config import Settings
from postoffice.office import OfficeRules
from postoffice.serve import build

_usual = build.build_rules


def _with_tick(seconds: float) -> None:
    def build_rules(settings: Settings) -> OfficeRules:
        return msgspec.structs.replace(_usual(settings), tick=seconds)

    build.build_rules = build_rules


if __name__ == "__main__":
    _with_tick(float(sys.argv.pop(1)))
    sys.exit(main())
