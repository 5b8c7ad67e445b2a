"""What a network may do to those who depend on it, in any order."""

import random
from collections.abc import Iterator

from tests.chaos.proxy import Rule, Side


def storm(luck: random.Random, largest: int = 2000) -> Iterator[Rule]:
    """Every kind of fault once, each cut somewhere within so many bytes."""
    rules = [
        Rule(delay=luck.uniform(0.02, 0.1)),
        Rule(silent=True),
        Rule(down=0),
        Rule(down=luck.randrange(largest)),
        Rule(up=luck.randrange(largest)),
        Rule(up=luck.randrange(largest), spared=Side.SERVER),
        Rule(down=luck.randrange(largest), spared=Side.SERVER),
        Rule(down=luck.randrange(largest), spared=Side.CLIENT),
    ]
    luck.shuffle(rules)
    yield from rules
