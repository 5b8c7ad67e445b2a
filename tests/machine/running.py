"""How a machine is run on either engine, and how long."""

import itertools
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from postoffice.core.limits import Limits
from tests.machine.ground import Ground, SQLiteGround
from tests.machine.grounded import GroundedMachine

TIMES = int(os.environ.get("POSTOFFICE_EXAMPLES", "1"))
_SETTINGS = settings(
    stateful_step_count=40,
    deadline=None,
    derandomize="CI" in os.environ,
    suppress_health_check=list(HealthCheck),
    # Shrinking and explaining a failure take longer than finding it: the blob that is printed repeats it.
    phases=(Phase.explicit, Phase.reuse, Phase.generate),
    print_blob=True,
)


def sqlite_grounds(folder: Path, limits: Limits) -> Callable[[], Ground]:
    """A ground with an empty file for each run."""
    numbers = itertools.count()

    def ground() -> SQLiteGround:
        run = folder / f"run-{next(numbers)}"
        run.mkdir()
        return SQLiteGround(run, limits)

    return ground


def run(machine: type[GroundedMachine], ground: Callable[[], Ground], examples: int) -> None:
    factory: Any = partial(machine, ground)
    run_state_machine_as_test(factory, settings=settings(_SETTINGS, max_examples=examples * TIMES))
