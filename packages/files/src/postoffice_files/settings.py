"""What can be set about a tree of mailboxes, in one frozen object."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Settings:
    """Durations are in seconds. All processes on one root should use the same settings, but nothing is lost if they do not."""

    claim_for: float = 30.0
    """How long a polled message stays with its poller before it comes back."""
    max_attempts: int = 10
    """How often a message is handed out before it is set aside."""
    max_bytes: int = 2 * 1024 * 1024
    """The largest message file: room for the office's largest message and the words around it."""
    poll_limit: int = 1000
    """How many messages one poll takes when it does not say."""
    heartbeat_timeout: float = 60.0
    """How long after its last heartbeat an agent counts as online."""
    grace: float = 1.0
    """How long a file that cannot be read yet is left alone: its writer may still be writing."""
    stale_after: float = 3600.0
    """When a temporary file is taken to be left over from a writer that died."""
    lock_timeout: float = 10.0
    """How long to wait for the registry's lock."""
    ttl: int = 3
    """How often a new message may be forwarded."""
