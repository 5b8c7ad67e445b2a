"""One agent's inbox: mail is claimed, then processed, given back, or set aside with a reason."""

import logging
import os
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from postoffice_files import disk, jsontext
from postoffice_files.claims import Claim, Claims
from postoffice_files.clock import SECOND, Clock, instant, parse_instant
from postoffice_files.errors import ClaimLost, FileMailError, NoSuchMessage, NotAMailbox, Unreadable
from postoffice_files.folder import Folder
from postoffice_files.home import Home, free, move
from postoffice_files.letter import NoLetter, read_letter
from postoffice_files.message import PRIORITY, priority
from postoffice_files.names import SUFFIX, handle, place
from postoffice_files.notice import notice
from postoffice_files.settings import Settings

Tell = Callable[[str, dict[str, Any], int, str], None]
"""Puts a notice into its recipient's inbox, one for each key."""
_LOG = logging.getLogger(__name__)
_REASON_CHARACTERS = 2000
_SWEEP_MICROS = 60 * SECOND


class Memory:
    """What a process remembers of an inbox between calls: the claims it holds, so that it notices a lost one."""

    def __init__(self) -> None:
        self.held: dict[str, Claim] = {}
        self.urgency: dict[str, int] = {}
        self.swept = 0


class Inbox:
    """An inbox, held open for one call, so that everything happens in the same folders, even if others are put in their place."""

    def __init__(self, home: Home, memory: Memory, settings: Settings, clock: Clock, tell: Tell) -> None:
        self.home = home
        self._folder = home.inbox
        self._memory = memory
        self._settings = settings
        self._clock = clock
        self._tell = tell
        self._claims = Claims(home.claims, clock, settings.claim_for)

    def take(self, limit: int, seconds: float) -> list[dict[str, Any]]:
        """Claim waiting mail: the most urgent first, then the oldest."""
        # List claims before messages: if a claim's message is then missing, it has left the inbox.
        numbers = self._claims.numbers()
        names = self._waiting()
        handles = {handle(name) for name in names}
        self._claims.sweep(handles, numbers)
        self._memory.held = {key: claim for key, claim in self._memory.held.items() if key in handles}
        taken: list[dict[str, Any]] = []
        for name in names:
            if len(taken) >= limit:
                break
            try:
                message = self._take(name, numbers.get(handle(name), 0), seconds)
            except OSError:
                if not taken:
                    raise
                break  # hand out what is claimed so far, or it would have been an attempt in vain; the next poll meets the same trouble
            if message is not None:
                taken.append(message)
        return taken

    def processed(self, name: str) -> None:
        """Mark a message as processed. Doing so again changes nothing."""
        try:
            claim = self._own(name)
        except (ClaimLost, NoSuchMessage):
            if self._folder.lstat(name) is not None or self.home.processed.lstat(name) is None:
                raise
            self._memory.held.pop(name, None)
            return
        move(name, self._folder, self.home.processed, name)
        self._claims.clear(name, 0 if claim is None else claim.number)
        self._memory.held.pop(name, None)

    def failed(self, name: str, reason: str, retry_in: float) -> bool:
        """Record a failure: the message comes again, or after the last attempt is set aside for good (True)."""
        claim = self._settling(name)
        if claim.attempt < self._settings.max_attempts:
            self._claims.change(name, claim, until=self._clock.now() + int(retry_in * SECOND), attempt=claim.attempt)
            self._memory.held.pop(name, None)
            return False
        self._set_aside(name, claim, reason or "handling it failed", self._found(name), claim.attempt)
        return True

    def refused(self, name: str, reason: str, *, tell: bool) -> None:
        """Set a message aside for good, however many attempts are left."""
        claim = self._settling(name)
        self._set_aside(name, claim, reason, self._found(name) if tell else None, claim.attempt)

    def released(self, name: str) -> None:
        """Give a message back untried."""
        if (claim := self._own(name)) is not None:
            self._claims.change(name, claim, until=0, attempt=max(0, claim.attempt - 1))
        self._memory.held.pop(name, None)

    def extended(self, name: str, seconds: float) -> None:
        """Keep a message longer."""
        claim = self._own(name)
        if claim is None:
            raise ClaimLost(filename=name)
        self._memory.held[name] = self._claims.change(name, claim, until=self._clock.now() + int(seconds * SECOND), attempt=claim.attempt)

    def original(self, name: str) -> dict[str, Any]:
        """A message that is or was here, for a forward."""
        for folder in (self._folder, self.home.processed):
            with suppress(FileNotFoundError, NoLetter):
                return read_letter(folder, name, self.home.agent, self._settings)[0]
        raise NoSuchMessage(agent=self.home.agent, filename=name)

    def _found(self, name: str) -> dict[str, Any]:
        """What can be read of a message that is to be set aside."""
        try:
            return read_letter(self._folder, name, self.home.agent, self._settings)[0]
        except FileNotFoundError:
            raise NoSuchMessage(agent=self.home.agent, filename=name) from None
        except NoLetter as error:
            return error.found or {}

    def _waiting(self) -> list[str]:
        ranks: dict[str, tuple[int, int, str]] = {}
        urgency: dict[str, int] = {}
        now = self._clock.now()
        if not 0 <= now - self._memory.swept < _SWEEP_MICROS:
            self.home.sweep(now, self._settings.stale_after)
            self._memory.swept = now
        with self._folder.scan() as entries:
            for entry in entries:
                name, spot = entry.name, place(entry.name)
                if name.startswith(".") and not name.endswith(SUFFIX):
                    continue
                with suppress(FileNotFoundError):
                    written = entry.stat(follow_symlinks=False).st_mtime_ns // 1000 if spot.micros is None or name.endswith(".tmp") else 0
                    if name.endswith(".tmp") and now - written < self._settings.stale_after * SECOND:
                        continue
                    if spot.priority is None:
                        urgency[name] = self._memory.urgency[name] if name in self._memory.urgency else self._look(name)
                    ranks[name] = (spot.priority or urgency[name], written if spot.micros is None else spot.micros, spot.order)
        self._memory.urgency = urgency
        return sorted(ranks, key=lambda name: (*ranks[name], name))

    def _look(self, name: str) -> int:
        """The priority of a message whose name does not show it."""
        try:
            return priority(read_letter(self._folder, name, self.home.agent, self._settings)[0])
        except (FileNotFoundError, NoLetter):
            return PRIORITY

    def _claim(self, name: str, number: int, seconds: float) -> Claim | None:
        """Claim a file, whatever it contains, unless it is gone or somebody has it."""
        key, status = handle(name), self._folder.lstat(name)
        before = self._claims.read(key, number) if number else None
        if status is None or (number and before is None):
            return None
        print_ = disk.print_of(status)
        if before is not None and before.covers(print_, self._clock.now()):
            return None
        tries = 0 if before is None else before.tries(print_)
        return self._claims.take(key, number + 1, attempt=tries + 1, of=print_, seconds=seconds)

    def _take(self, name: str, number: int, seconds: float) -> dict[str, Any] | None:
        key, claim = handle(name), self._claim(name, number, seconds)
        if claim is None:
            return None
        if claim.number == 1:
            self._begin_anew(key)
        tries = claim.attempt - 1
        try:
            message, read_print = read_letter(self._folder, name, self.home.agent, self._settings)
        except FileNotFoundError:
            self._claims.clear(key, claim.number)
        except NoLetter as error:
            if error.unfinished and self._is_young(name):
                self._claims.change(key, claim, until=0, attempt=tries)
            else:
                self._set_aside(name, claim, error.reason, error.found, tries)
        else:
            if read_print != claim.of:  # another file since it was claimed
                self._claims.change(key, claim, until=0, attempt=0)
            elif tries >= self._settings.max_attempts:
                self._set_aside(name, claim, f"it was handed out {tries} times and never marked processed", message, tries)
            else:
                self._memory.held[key] = claim
                return {**message, "filename": name, "attempt": claim.attempt}
        return None

    def _is_young(self, name: str) -> bool:
        """Whether a file is so new that its writer may still be writing it."""
        status = self._folder.lstat(name)
        return status is not None and abs(self._clock.now() - status.st_mtime_ns // 1000) < self._settings.grace * SECOND

    def _own(self, name: str) -> Claim | None:
        """The claim by which we settle this message; None if nobody ever claimed it."""
        held = self._memory.held.get(name)
        if held is not None and self._claims.lost(name, held):
            raise ClaimLost(filename=name)
        print_ = self._print(name)
        if held is not None:
            if held.of != print_:  # another file was put under its name, as seed 002's writers may do within a second
                del self._memory.held[name]
                raise NoSuchMessage(agent=self.home.agent, filename=name)
            return held
        # Seed 002's calls carry no token: one program may poll, and another that runs later may mark.
        number = self._claims.numbers().get(name, 0)
        return self._claims.read(name, number) if number else None

    def _settling(self, name: str) -> Claim:
        """The same claim, or a first one made now."""
        if (claim := self._own(name)) is not None:
            return claim
        claim = self._claims.take(name, 1, attempt=1, of=self._print(name), seconds=self._settings.claim_for)
        if claim is None:
            raise ClaimLost(filename=name)
        self._begin_anew(name)
        return claim

    def _begin_anew(self, key: str) -> None:
        """Clean up before the first claim: somebody may have moved the file back out of bad/ and left its old reason there."""
        with suppress(OSError, NotAMailbox):
            self.home.bad.unlink(_beside(free(self.home.bad, key)))

    def _print(self, name: str) -> str:
        status = self._folder.lstat(name)
        if status is None:
            raise NoSuchMessage(agent=self.home.agent, filename=name)
        return disk.print_of(status)

    def _set_aside(self, name: str, claim: Claim, reason: str, message: dict[str, Any] | None, attempts: int) -> None:
        """Write the reason, then send the notice, then move the file. After a kill in between, the next process does the same again."""
        key = handle(name)
        try:
            kept = free(self.home.bad, key)
            record = _record(self.home.bad, _beside(kept)) or {
                "filename": os.fsencode(name).decode("utf-8", "backslashreplace"),
                "agent": self.home.agent,
                "reason": reason.encode("utf-8", "backslashreplace").decode().replace("\0", "\\0")[:_REASON_CHARACTERS],
                "attempts": attempts,
                "at": instant(self._clock.now()),
            }
            self.home.bad.publish(_beside(kept), jsontext.encode(record), self._clock.token())
            self._notify(kept, record, message)
            move(name, self._folder, self.home.bad, kept)
        except (OSError, NotAMailbox) as error:
            # It stays claimed, and a later poll tries again: one such file must not hold up the others.
            _LOG.warning("%s/%s cannot be set aside: %s", self._folder.path, key, error)
            return
        self._claims.clear(key, claim.number)
        self._memory.held.pop(key, None)

    def _notify(self, kept: str, record: dict[str, Any], message: dict[str, Any] | None) -> None:
        if (words := notice(record, message)) is None:
            return
        at = parse_instant(record["at"]) or self._clock.now()
        try:
            self._tell(*words, at, f"{self.home.agent}/{kept}")
        except FileMailError as error:
            _LOG.warning("%s cannot be told that %s was set aside: %s", words[0], kept, error)


def _beside(kept: str) -> str:
    """The name of the file with the reason why another was set aside."""
    return f"{kept}.reason.json"


def _record(folder: Folder, name: str) -> dict[str, Any] | None:
    """The record of an earlier try to set the file aside that was not finished."""
    try:
        record = jsontext.decode(folder.read(name, 64 * 1024)[0])
        match record:
            case {"filename": str(), "agent": str(), "reason": str(), "attempts": int(), "at": str()}:
                return dict(record)
    except (FileNotFoundError, Unreadable, jsontext.NotJson):
        pass
    return None
