"""The limit of open connections: each needs a descriptor."""

import sys
from contextlib import suppress


def raise_limit() -> int | None:
    """Raise the limit as far as the system allows, often far above its default. Returns the limit, or None if the system does not say."""
    if sys.platform == "win32":
        return None
    import resource  # noqa: PLC0415 - not on every platform

    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(ValueError, OSError):  # some systems report "without limit" and then do not accept it
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    return resource.getrlimit(resource.RLIMIT_NOFILE)[0]
