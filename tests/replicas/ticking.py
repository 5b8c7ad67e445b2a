"""The command with a tick of the test's choosing: under one that never comes, only hints wake anybody."""

import sys

import msgspec

from postoffice.cli.main import main
from postoffice.config import Settings
from postoffice.office import House
from postoffice.serve import build

_usual = build.build_house


def _with_tick(seconds: float) -> None:
    def build_house(settings: Settings) -> House:
        return msgspec.structs.replace(_usual(settings), tick=seconds)

    build.build_house = build_house


if __name__ == "__main__":
    _with_tick(float(sys.argv.pop(1)))
    sys.exit(main())
