"""The registry: the cards of all agents in `_registry.json`, with what they can do and whether they are alive."""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from postoffice_files import disk, jsontext
from postoffice_files.clock import SECOND, Clock, instant, parse_instant
from postoffice_files.errors import BadCard, NameTaken, Unreadable
from postoffice_files.lock import locked
from postoffice_files.names import folded
from postoffice_files.settings import Settings

Cards = dict[str, Any]
STATUSES = ("idle", "busy", "offline")
_MAX_BYTES = 64 * 1024 * 1024
_TEXTS = ("description", "status", "registered_at", "last_heartbeat")
_LISTS = ("capabilities", "allow_from", "current_tasks")
_LAPSED = "status_before"
"""An agent's status from before its heartbeat stopped. Only the file has this field, while its status says offline."""


class Registry:
    """One file. One process at a time changes it; anybody may read it at any time."""

    def __init__(self, root: Path, settings: Settings, clock: Clock) -> None:
        self._path = root / "_registry.json"
        self.lock_path = root / "_registry.lock"
        self._settings = settings
        self._clock = clock

    def read(self) -> Cards:
        """All cards, the status of each as it is now. A registry that cannot be read counts as empty."""
        return {card["agent_id"]: card for card in self.read_all() or ()}

    def read_all(self) -> list[dict[str, Any]] | None:
        """The same as a list; None if the registry cannot be read."""
        try:
            cards = self._load()
        except (Unreadable, jsontext.NotJson):
            return None
        return [_shown(self._alive({**card, "agent_id": name})) for name, card in cards.items() if isinstance(card, dict)]

    def lapse(self) -> None:
        """Write into the file which agents' heartbeats have stopped or gone on, as others read it without this library."""
        with suppress(Unreadable, jsontext.NotJson):
            cards = self._load()
            if any(isinstance(card, dict) and self._alive(card) != card for card in cards.values()):
                self.change(lambda _: None, sync_folder=False)

    def change(self, act: Callable[[Cards], None], *, sync_folder: bool = True) -> None:
        """Change the cards while no other process does."""
        with locked(self.lock_path, self._settings.lock_timeout):
            cards, spoilt = {}, False
            try:
                cards = self._load()
            except (Unreadable, jsontext.NotJson):
                spoilt = True
            act(cards)
            cards = {name: self._alive(card) if isinstance(card, dict) else card for name, card in cards.items()}
            if spoilt:
                # If the registry is broken, its agents enter themselves again with their next heartbeat. The broken file is kept. It stays in
                # its place until the new one replaces it: without any registry, readers would think that no agent is at home.
                disk.keep(self._path, self._path.with_name(f"_registry.bad-{self._clock.token()}.json"))
            disk.publish(self._path, _pretty(cards), self._clock.token(), sync_folder=sync_folder)

    def _load(self) -> Cards:
        try:
            data, _ = disk.read(self._path, _MAX_BYTES)
        except FileNotFoundError:
            return {}
        cards = jsontext.decode(data)
        if not isinstance(cards, dict):
            why = "the registry is not an object"
            raise jsontext.NotJson(why)
        return cards

    def _alive(self, card: dict[str, Any]) -> dict[str, Any]:
        beat = parse_instant(card.get("last_heartbeat"))
        gone = beat is None or self._clock.now() - beat > self._settings.heartbeat_timeout * SECOND
        if gone and card.get("status") != "offline":
            return {**card, "status": "offline", _LAPSED: card.get("status")}
        if not gone and _LAPSED in card:
            return _shown(card) | {"status": card[_LAPSED]}
        return card


def _shown(card: dict[str, Any]) -> dict[str, Any]:
    """A card without the fields that only the file needs."""
    return {field: value for field, value in card.items() if field != _LAPSED}


def amended(card: dict[str, Any], changes: dict[str, Any], now: int) -> dict[str, Any]:
    """A card with changes and a new heartbeat. A new status replaces the remembered one."""
    return {**(_shown(card) if "status" in changes else card), **changes, "last_heartbeat": instant(now)}


def entry(cards: Cards, name: str) -> str | None:
    """An agent's name as the registry spells it."""
    if name in cards:
        return name
    return next((other for other in cards if folded(other) == folded(name)), None)


def make_card(name: str, card: dict[str, Any], before: object, now: int) -> dict[str, Any]:
    """A card with every field of the seed, and the caller's other fields."""
    claimed = card.get("agent_id", name)
    if claimed != name:
        raise BadCard(field="agent_id", why=f"it is {claimed!r}, but the agent is {name!r}; make them equal")
    fields = {key: value for key, value in card.items() if value is not None}
    first = before.get("registered_at") if isinstance(before, dict) else None
    made = {
        "agent_id": name,
        "description": "",
        "capabilities": [],
        "status": "idle",
        "allow_from": ["*"],
        "max_concurrent_tasks": 3,
        "current_tasks": [],
        "registered_at": first or instant(now),
        **fields,
        "last_heartbeat": instant(now),
    }
    check_card(made)
    return made


def check_card(card: dict[str, Any]) -> None:
    """Refuse a card that would break its readers."""
    for field in _TEXTS:
        if not isinstance(card[field], str):
            raise BadCard(field=field, why="it must be a text")
    for field in _LISTS:
        if not isinstance(card[field], list) or not all(isinstance(item, str) for item in card[field]):
            raise BadCard(field=field, why="it must be a list of texts")
    if card["status"] not in STATUSES:
        raise BadCard(field="status", why=f"it must be one of {', '.join(STATUSES)}, not {card['status']!r}")
    most = card["max_concurrent_tasks"]
    if not isinstance(most, int) or isinstance(most, bool) or most < 0:
        raise BadCard(field="max_concurrent_tasks", why="it must be a whole number, 0 or more")
    try:
        jsontext.check(card)
    except jsontext.NotJson as error:
        raise BadCard(field="content", why=str(error)) from None


def check_spelling(cards: Cards, folder: str | None, name: str) -> None:
    """Refuse a name that differs from one already here in case only."""
    for other in (entry(cards, name), folder):
        if other is not None and other != name:
            raise NameTaken(name=name, other=other)


def _pretty(cards: Cards) -> bytes:
    # One line for each card, as people read this file.
    lines = ",\n".join(
        f"  {jsontext.encode(name).decode().strip()}: {jsontext.encode(card).decode().strip()}" for name, card in cards.items()
    )
    return f"{{\n{lines}\n}}\n".encode() if lines else b"{}\n"
