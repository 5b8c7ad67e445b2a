"""The relay's journal: each conversation's gateway session, and the unfinished handovers. It survives a crash."""

import asyncio
import logging
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec

from postoffice.client.lock import private, took
from postoffice.core.errors import BadSetting

log = logging.getLogger(__name__)

_SESSIONS_KEPT = 10_000
_STANDBY_SECONDS = 1.0


class Handover(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One message on its way through the gateway, from just before it is handed over until its reply is posted."""

    message_id: str
    to: str
    session_id: str
    gateway_session: str
    mark: str
    """A random word in the text for the gateway, by which the message is found in the gateway's history."""
    asked_at: float
    correlation_id: str | None = None
    task: bool = False
    """The message is a task, and the reply is its result."""
    run_id: str | None = None
    late: bool = False
    """The gateway answers later; the message itself is acked."""
    reply: str | None = None


class _Pages(msgspec.Struct, kw_only=True):
    """The content of the journal."""

    sessions: dict[str, str] = {}
    handovers: dict[str, Handover] = msgspec.field(name="errands", default_factory=dict)


class Journal:
    """Each change writes a whole new file and then puts it in the old one's place, so there is always one to read."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._pages = self._read()

    def session(self, session_id: str) -> str | None:
        """A conversation's gateway session."""
        return self._pages.sessions.get(session_id)

    def handover(self, message_id: str) -> Handover | None:
        """The handover of a message, if it was handed over before."""
        return self._pages.handovers.get(message_id)

    def late(self) -> list[Handover]:
        """The handovers of acked mail whose replies are still owed."""
        return [handover for handover in self._pages.handovers.values() if handover.late]

    def keep(self, handover: Handover) -> None:
        """Write a handover down as it is now."""
        self._pages.handovers[handover.message_id] = handover
        self._write()

    def done(self, message_id: str) -> None:
        """Strike a handover out."""
        if self._pages.handovers.pop(message_id, None) is not None:
            self._write()

    def place(self, session_id: str, gateway_session: str) -> None:
        """Remember a conversation's gateway session."""
        sessions = self._pages.sessions
        if session_id and sessions.get(session_id) != gateway_session:
            sessions[session_id] = gateway_session
            while len(sessions) > _SESSIONS_KEPT:
                del sessions[next(iter(sessions))]
            self._write()

    def move(self, session_id: str) -> None:
        """Forget a conversation's gateway session, as it is gone."""
        if self._pages.sessions.pop(session_id, None) is not None:
            self._write()

    def tidy(self, before: float) -> None:
        """Strike out handovers so old that their mail has been settled in another way."""
        old = [handover.message_id for handover in self._pages.handovers.values() if not handover.late and handover.asked_at < before]
        for message_id in old:
            self.done(message_id)

    def _read(self) -> _Pages:
        try:
            return msgspec.json.decode(self._path.read_bytes(), type=_Pages)
        except FileNotFoundError:
            return _Pages()
        except msgspec.DecodeError as error:
            aside = self._path.with_suffix(".bad")
            self._path.replace(aside)
            log.warning("the relay's journal could not be read (%s); it is set aside as %s, and a new one begins", error, aside)
            return _Pages()

    def _write(self) -> None:
        try:
            self._replace(msgspec.json.encode(self._pages))
        except OSError as error:
            raise BadSetting(name=str(self._path), why=f"the relay cannot write its journal there ({error.strerror})") from error

    def _replace(self, text: bytes) -> None:
        fresh = self._path.with_suffix(".new")
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(self._path)
        if os.name == "posix":
            folder = os.open(self._path.parent, os.O_RDONLY)
            try:
                os.fsync(folder)  # so that the new name is on disk too
            finally:
                os.close(folder)


@asynccontextmanager
async def only_reader(path: Path) -> AsyncIterator[Journal]:
    """The journal, once no other process has it. Agents may start their tools several times, but a mailbox needs only one relay."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with open(path.with_suffix(".lock"), "a+b", opener=private) as file:  # noqa: ASYNC230 - Path.open takes no opener
        warned = False
        while not took(file):
            if not warned:
                log.info("another relay has this mailbox; standing by until it ends")
                warned = True
            await asyncio.sleep(_STANDBY_SECONDS)
        yield Journal(path)
