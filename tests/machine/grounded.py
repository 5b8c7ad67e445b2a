"""What every machine needs: the ground its offices stand on, and a loop in which rules run."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from hypothesis.stateful import RuleBasedStateMachine

from postoffice.office.office import PostOffice
from tests.machine.ground import Ground

T = TypeVar("T")


class GroundedMachine(RuleBasedStateMachine):
    """Nothing drawn depends on what the office does, so that every run can be repeated; a rule with nothing to act on does nothing."""

    def __init__(self, ground: Callable[[], Ground]) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.ground = ground()

    def do(self, work: Coroutine[Any, Any, T]) -> T:
        async def bounded() -> T:
            async with asyncio.timeout(60):
                return await work

        return self.runner.run(bounded())

    def teardown(self) -> None:
        self.runner.run(self.ground.close())
        self.runner.close()

    def office(self, door: int = 0) -> PostOffice:
        return self.ground.doors[door % len(self.ground.doors)].office
