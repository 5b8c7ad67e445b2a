"""What a failure of PostgreSQL says about what was asked for: whether the server is there, and whether it was done."""

import asyncpg

LOST = (
    OSError,
    TimeoutError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,  # the next word on a connection that was just cut off
    asyncpg.PostgresConnectionError,
    asyncpg.CannotConnectNowError,
    asyncpg.AdminShutdownError,
    asyncpg.CrashShutdownError,
    asyncpg.IdleInTransactionSessionTimeoutError,
    asyncpg.TransactionTimeoutError,
    asyncpg.TooManyConnectionsError,
)
"""How a driver says that the server is not there."""
_ENDED = (asyncpg.IdleInTransactionSessionTimeoutError, asyncpg.TransactionTimeoutError)
"""How a server says that it ended a transaction by itself: a COMMIT that was on its way then did nothing."""
_UNSENT = "cannot switch to state"
"""What the driver says, as for some other failures, if it read that before it could send anything more."""
CLASH = (asyncpg.IntegrityConstraintViolationError, asyncpg.DeadlockDetectedError, asyncpg.SerializationError)
"""How a server says that another process was first: what that one committed is seen on the next try."""


def did_nothing(error: Exception, *, alone: bool) -> bool:
    """Whether it is certain that what failed so committed nothing. If the connection ended, the server's last words are the cause.

    `alone`: it was no COMMIT, but a statement that is a transaction by itself. Its server says that it must go before it commits, or after it answered.
    """
    unsent = isinstance(error, asyncpg.InternalClientError) and str(error).startswith(_UNSENT)
    return unsent or any(isinstance(said, _ENDED) or (alone and _must_go(said)) for said in (error, error.__cause__))


def _must_go(said: BaseException | None) -> bool:
    """Whether these are the words of the server's own process, and not of a pooler between, which may not have heard an answer."""
    return isinstance(said, asyncpg.AdminShutdownError) and getattr(said, "server_source_function", None) == "ProcessInterrupts"
