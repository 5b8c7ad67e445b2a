"""At most so many in so long."""

import time
from collections import deque


class Throttle:
    def __init__(self, limit: int, seconds: float = 1.0) -> None:
        self.limit = limit
        self.seconds = seconds
        self._passed: deque[float] = deque()

    def passes(self) -> bool:
        now = time.monotonic()
        while self._passed and self._passed[0] <= now - self.seconds:
            self._passed.popleft()
        if len(self._passed) >= self.limit:
            return False
        self._passed.append(now)
        return True
