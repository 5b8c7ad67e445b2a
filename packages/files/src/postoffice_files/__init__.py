"""Mailboxes for agents in plain files: any process that can write a file can send, receive and be found."""

from postoffice_files.clock import Clock
from postoffice_files.errors import (
    BadCard,
    BadFilename,
    BadMessage,
    BadName,
    Busy,
    ClaimLost,
    FileMailError,
    LoopRefused,
    NameTaken,
    NoSuchMessage,
    NotAMailbox,
    ReservedName,
    TooLarge,
    UnknownAgent,
)
from postoffice_files.mailboxes import DEFAULT_ROOT, MailboxManager
from postoffice_files.settings import Settings
from postoffice_files.tasks import past_deadline, refusal, task_update

__version__ = "0.1.0"

__all__ = [
    "DEFAULT_ROOT",
    "BadCard",
    "BadFilename",
    "BadMessage",
    "BadName",
    "Busy",
    "ClaimLost",
    "Clock",
    "FileMailError",
    "LoopRefused",
    "MailboxManager",
    "NameTaken",
    "NoSuchMessage",
    "NotAMailbox",
    "ReservedName",
    "Settings",
    "TooLarge",
    "UnknownAgent",
    "past_deadline",
    "refusal",
    "task_update",
]
