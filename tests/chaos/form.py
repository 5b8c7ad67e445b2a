"""How much is done: the short form inside `make test`, the long one of `make chaos`. `POSTOFFICE_SEED` chooses the accidents."""

import os
import random
from typing import Final, TypeVar

T = TypeVar("T")

LONG: Final = "POSTOFFICE_EXAMPLES" in os.environ
TIMES: Final = int(os.environ.get("POSTOFFICE_EXAMPLES", "1"))
SEED: Final = os.environ.get("POSTOFFICE_SEED", "1")


def chance(*about: object) -> random.Random:
    """The same accidents whenever the seed is the same."""
    return random.Random(" ".join([SEED, *map(str, about)]))


def either(short: T, long: T) -> T:
    return long if LONG else short
