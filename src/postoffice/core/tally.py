"""How long things took, counted in steps: cheap enough to count everything."""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from typing import Final

STEPS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0, 60.0, 600.0, 3600.0)


class Tally:
    """A histogram of seconds."""

    def __init__(self, steps: Sequence[float] = STEPS) -> None:
        self.steps = tuple(steps)
        self.counts = [0] * (len(self.steps) + 1)
        self.sum = 0.0

    def add(self, seconds: float) -> None:
        """Count one."""
        self.counts[bisect_left(self.steps, seconds)] += 1
        self.sum += seconds

    def extend(self, many: Iterable[float]) -> None:
        """Count several."""
        for seconds in many:
            self.add(seconds)

    def up_to(self) -> list[tuple[str, int]]:
        """By step: how many took no longer; the last one counts all."""
        total, totals = 0, []
        for step, count in zip((*map(str, self.steps), "+Inf"), self.counts, strict=True):
            total += count
            totals.append((step, total))
        return totals


class Headcount:
    """How many are at something now; `with` counts one in and out."""

    def __init__(self) -> None:
        self.now = 0

    def __enter__(self) -> None:
        self.now += 1

    def __exit__(self, *_: object) -> None:
        self.now -= 1
