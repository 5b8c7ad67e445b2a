"""The settings of a tree of mailboxes, in one frozen object."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Settings:
    """All durations are in seconds. All processes on one root should have the same settings, but nothing is lost if they do not."""

    claim_for: float = 30.0
    """How long a polled message stays with its poller before it comes back."""
    max_attempts: int = 10
    """How often a message is handed out before it is set aside."""
    max_bytes: int = 2 * 1024 * 1024
    """The largest message file. It has room for the office's largest message and the fields around it."""
    poll_limit: int = 1000
    """How many messages a poll takes by default."""
    heartbeat_timeout: float = 60.0
    """How long after its last heartbeat an agent counts as online."""
    grace: float = 1.0
    """How long an unreadable file is left alone, as its writer may still be writing."""
    stale_after: float = 3600.0
    """The age from which a temporary file counts as left by a dead writer."""
    lock_timeout: float = 10.0
    """How long to wait for the registry's lock."""
    ttl: int = 3
    """How often a new message may be forwarded."""
