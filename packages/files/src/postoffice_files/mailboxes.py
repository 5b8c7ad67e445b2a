"""`MailboxManager`, as seed 002 has it: mailboxes for all agents under one folder."""

import hashlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from postoffice_files import jsontext
from postoffice_files.clock import Clock, instant
from postoffice_files.errors import BadMessage, FileMailError, TooLarge, UnknownAgent
from postoffice_files.home import Home, find, make, spelling
from postoffice_files.inbox import Inbox, Memory
from postoffice_files.lock import locked
from postoffice_files.loops import hop, is_forward
from postoffice_files.message import check, fill, priority
from postoffice_files.names import SUFFIX, SYSTEM, check_filename, check_free, check_name, check_recipient, filename, folded
from postoffice_files.registry import Cards, Registry, amended, check_card, check_spelling, entry, make_card
from postoffice_files.settings import Settings

DEFAULT_ROOT = Path("~/.nanobot/mailboxes")


class Deposit(NamedTuple):
    """The place where a message was put."""

    filename: str
    folder: str
    """Identifies the folder, by `Folder.print_`: another may be in its place later."""


class MailboxManager:
    """All mailboxes under one root. Each call is complete when it returns. Any number of managers and processes may share a root."""

    def __init__(self, mailboxes_root: Path | str = DEFAULT_ROOT, settings: Settings | None = None, clock: Clock | None = None) -> None:
        self.root = Path(mailboxes_root).expanduser()
        self.settings = settings or Settings()
        self._clock = clock or Clock()
        self._registry = Registry(self.root, self.settings, self._clock)
        self._memories: dict[str, Memory] = {}
        self._cards: Cards = {}
        self._last = 0
        self._order = threading.Lock()

    def register(self, agent_id: str, card: dict[str, Any] | None = None) -> None:
        """Register an agent, also again after a restart: its card is replaced and its mail kept."""
        name = check_free(agent_id)
        made = make_card(name, card or {}, None, self._clock.now())
        self._ready()

        def act(cards: Cards) -> None:
            check_spelling(cards, spelling(self.root, name), name)
            with find(self.root, name) or make(self.root, name) as home:
                home.build()
            cards[name] = make_card(name, card or {}, cards.get(name), self._clock.now())

        self._registry.change(act)
        self._cards[name] = made

    def heartbeat(self, agent_id: str) -> None:
        """Record that an agent is alive."""
        self._amend(agent_id, {})

    def update_status(self, agent_id: str, status: str, current_tasks: list[str] | None = None) -> None:
        """Record an agent's status (idle, busy or offline) and its tasks."""
        self._amend(agent_id, {"status": status} if current_tasks is None else {"status": status, "current_tasks": list(current_tasks)})

    def send(self, from_id: str, to_id: str, msg: dict[str, Any], *, forward_of: str | None = None) -> None:
        """Put a message into an agent's inbox, whether it is online or not. It is on disk when this returns.

        A forward names the file of the message it passes on. A message that carries another agent's trace counts as a forward too.
        """
        self.deliver(from_id, to_id, msg, forward_of=forward_of)

    def deliver(
        self,
        from_id: str,
        to_id: str,
        msg: dict[str, Any],
        *,
        forward_of: str | None = None,
        at: int | None = None,
        key: str | None = None,
        order: int = 0,
    ) -> str:
        """Send, and return the file's name. A repeat with the same time, key and order sends nothing, whatever became of the first.

        Messages of the same time are sorted by order.
        """
        return self.deposit(from_id, to_id, msg, forward_of=forward_of, at=at, key=key, order=order).filename

    def deposit(
        self,
        from_id: str,
        to_id: str,
        msg: dict[str, Any],
        *,
        forward_of: str | None = None,
        at: int | None = None,
        key: str | None = None,
        order: int = 0,
    ) -> Deposit:
        """The same, and the folder it was put into."""
        sender, to = check_name(from_id), check_recipient(to_id)
        if not isinstance(msg, dict):
            raise BadMessage(field="form", why=f"it must be a dict, not a {type(msg).__name__}")
        stamp = self._stamp() if at is None else at
        token = self._clock.token()
        tail = token if key is None else f"{order:010x}{hashlib.sha256(key.encode()).hexdigest()[:16]}"
        name = filename(stamp, sender, priority(msg), tail)
        message = self._routed(sender, to, msg, forward_of, name, instant(stamp))
        try:
            data = jsontext.encode(message)
        except jsontext.NotJson as error:
            raise BadMessage(field="content", why=str(error)) from None
        if len(data) > self.settings.max_bytes:
            raise TooLarge(size=len(data), limit=self.settings.max_bytes)
        with self._home(to) as home:
            if key is None or not home.holds(name):
                while home.inbox.lstat(name) is not None:
                    token = self._clock.token()
                    name = filename(self._stamp(), sender, priority(msg), token)
                home.inbox.publish(name, data, token)
            return Deposit(name, home.inbox.print_)

    def poll(self, agent_id: str, *, limit: int | None = None, claim_for: float | None = None) -> list[dict[str, Any]]:
        """New messages for an agent, urgent first, then oldest first, each with its "filename" for mark_processed().

        Nobody else gets a returned message until its claim runs out. If it is not marked processed by then, it is returned again.
        """
        seconds = self.settings.claim_for if claim_for is None else claim_for
        with self._inbox(agent_id) as box:
            return [] if box is None else box.take(self.settings.poll_limit if limit is None else limit, seconds)

    def mark_processed(self, agent_id: str, filename: str) -> None:
        """Mark a message as handled: it moves to processed/ and is never returned again."""
        with self._need(agent_id) as box:
            box.processed(check_filename(filename))

    def fail(self, agent_id: str, filename: str, reason: str = "", *, retry_in: float = 0) -> bool:
        """Record a failure: the message is returned again, or after the last attempt set aside, with a notice to its sender (True)."""
        with self._need(agent_id) as box:
            return box.failed(check_filename(filename), reason, retry_in)

    def refuse(self, agent_id: str, filename: str, reason: str, *, tell: bool = True) -> None:
        """Set a message aside at once, with a notice to its sender unless somebody else may have written it."""
        with self._need(agent_id) as box:
            box.refused(check_filename(filename), reason, tell=tell)

    def release(self, agent_id: str, filename: str) -> None:
        """Give a message back untried, which is not an attempt."""
        with self._need(agent_id) as box:
            box.released(check_filename(filename))

    def extend(self, agent_id: str, filename: str, seconds: float) -> None:
        """Keep a message for so many seconds from now."""
        with self._need(agent_id) as box:
            box.extended(check_filename(filename), seconds)

    def list_online_agents(self) -> list[dict[str, Any]]:
        """The cards of all agents with a recent heartbeat that are not marked offline."""
        return [card for card in self._registry.read().values() if card.get("status") != "offline"]

    def lapse(self) -> None:
        """Mark agents that are silent for too long as offline in `_registry.json` itself. Every heartbeat does this for the others too."""
        self._registry.lapse()

    def list_agents(self) -> list[dict[str, Any]] | None:
        """Every card, online or not; None while the registry cannot be read."""
        return self._registry.read_all()

    def mirror(self, cards: list[dict[str, Any]]) -> list[str]:
        """Enter agents at home elsewhere (each card's "home" says where), all at once. Returns the names that were entered.

        Agents at home here keep their cards. One agent that cannot have a mailbox here does not affect the others.
        """
        self._ready()
        entered: list[str] = []

        def act(directory: Cards) -> None:
            for card in cards:
                with suppress(FileMailError, OSError):
                    name = check_free(card["agent_id"])
                    before = directory.get(entry(directory, name) or name)
                    if isinstance(before, dict) and not before.get("home"):
                        continue
                    made = make_card(name, card, before, self._clock.now()) | {"last_heartbeat": card["last_heartbeat"]}
                    with find(self.root, name) or make(self.root, name) as home:
                        home.build()
                    directory[name] = made
                    entered.append(name)

        self._registry.change(act, sync_folder=False)
        return entered

    def get_agent(self, agent_id: str) -> dict[str, Any] | None:
        """An agent's card; offline if its heartbeat stopped."""
        cards = self._registry.read()
        name = entry(cards, check_name(agent_id))
        return None if name is None else dict(cards[name])

    def _amend(self, agent_id: str, changes: dict[str, Any]) -> None:
        wanted_name = check_name(agent_id)
        self._ready()

        def act(cards: Cards) -> None:
            name = entry(cards, wanted_name) or entry(self._cards, wanted_name)
            # A program that writes the registry without its lock may lose a card, and another program may then enter the agent as its own.
            # The one that entered it first puts it back.
            there, own = cards.get(name or ""), self._cards.get(name or "")
            card = there if isinstance(there, dict) and (own is None or not there.get("home")) else own
            if name is None or card is None:
                raise UnknownAgent(name=wanted_name)
            changed = amended(card, changes, self._clock.now())
            if changes:
                check_card(make_card(name, {**changed, "agent_id": name}, None, self._clock.now()))
            cards[name] = changed
            if name in self._cards:
                self._cards[name] = changed

        self._registry.change(act, sync_folder=False)

    def _routed(self, sender: str, to: str, msg: dict[str, Any], forward_of: str | None, name: str, now: str) -> dict[str, Any]:
        id = f"msg_{name.removesuffix(SUFFIX)}"
        if forward_of is not None:
            with self._need(sender) as box:
                original = box.original(check_filename(forward_of))
            ttl, trace = hop(original["ttl"], [mark for mark in original["trace"] if folded(mark) != folded(sender)], sender, to)
            message = fill({**msg, "ttl": ttl, "trace": trace}, id=id, sender=sender, to=to, timestamp=now, ttl=ttl)
            check(message)
            return message
        message = fill(msg, id=id, sender=sender, to=to, timestamp=now, ttl=self.settings.ttl)
        check(message)
        if is_forward(message, sender):
            message["ttl"], message["trace"] = hop(message["ttl"], message["trace"], sender, to)
            message["timestamp"] = now
        elif not message["trace"]:
            message["trace"] = [sender]
        return message

    def _stamp(self) -> int:
        """The present time, never the same twice, so that messages of one microsecond keep their order."""
        with self._order:
            self._last = max(self._clock.now(), self._last + 1)
            return self._last

    def _ready(self) -> None:
        if not self.root.is_dir():
            self.root.mkdir(mode=0o700, parents=True, exist_ok=True)

    def _home(self, name: str) -> Home:
        """An agent's home, made if missing, as mail may come before its reader."""
        if (home := find(self.root, name)) is None:
            self._ready()
            # One process at a time, or two spellings of one name could get a folder each.
            with locked(self._registry.lock_path, self.settings.lock_timeout):
                home = find(self.root, name) or make(self.root, entry(self._registry.read(), name) or name)
                return _built(home)
        try:
            return home if home.has_inbox() else _built(home)
        except BaseException:
            home.close()
            raise

    @contextmanager
    def _inbox(self, agent_id: str) -> Iterator[Inbox | None]:
        home = find(self.root, check_name(agent_id))
        if home is None:
            yield None
            return
        with home:
            if home.agent not in self._memories:
                home.build()
                self._memories[home.agent] = Memory()
            yield Inbox(home, self._memories[home.agent], self.settings, self._clock, self._tell)

    @contextmanager
    def _need(self, agent_id: str) -> Iterator[Inbox]:
        with self._inbox(agent_id) as box:
            if box is None:
                raise UnknownAgent(name=agent_id)
            yield box

    def _tell(self, to: str, msg: dict[str, Any], at: int, key: str) -> None:
        self.deliver(SYSTEM, to, msg, at=at, key=key)


def _built(home: Home) -> Home:
    try:
        home.build()
    except BaseException:
        home.close()
        raise
    return home
