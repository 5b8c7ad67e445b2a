"""How many connections this process may hold open: each takes a descriptor."""

import sys
from contextlib import suppress


def raise_limit() -> int | None:
    """Take as many as the system allows, which is often far more than it gives unasked. Gives how many that is, where it can be told."""
    if sys.platform == "win32":
        return None
    import resource  # noqa: PLC0415 - not on every platform

    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(ValueError, OSError):  # "without limit" is more than some systems then accept
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    return resource.getrlimit(resource.RLIMIT_NOFILE)[0]
