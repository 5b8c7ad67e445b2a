"""What a store can be asked about roles."""

from collections.abc import Iterable
from datetime import timedelta

import msgspec

from postoffice.acts.mail.reach_signs import known_of_box
from postoffice.acts.rows import Box, DeliveryRow, Row
from postoffice.core.agent import Card
from postoffice.core.clock import micros, moment
from postoffice.core.message import Message
from postoffice.core.names import folded
from postoffice.core.reach import Known
from postoffice.core.role import Role, RoleHand, has_capability
from postoffice.store.engine import Engine

_HANDS_SHOWN = 1000
_card = msgspec.json.Decoder(Card).decode


class RoleReads:
    """Which roles there are, and who is in them."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    async def all(self) -> tuple[Role, ...]:
        """Every role, with all who are in it."""
        rows = await self._engine.fetch("roles")
        if not rows:
            return ()
        named: dict[str, list[str]] = {}
        for role, agent in await self._engine.fetch("role_members"):
            named.setdefault(role, []).append(agent)
        cards = [(name, _card(card)) for name, card in await self._engine.fetch("cards")] if any(row[5] for row in rows) else []
        return tuple(_role(row, named.get(row[0], []), cards) for row in rows)

    async def named(self, name: str) -> Role | None:
        """One role."""
        return next((one for one in await self.all() if folded(one.name) == folded(name)), None)

    async def hands(self, name: str) -> tuple[RoleHand, ...]:
        """What is in hand of a role, and whose hand it is."""
        rows = await self._engine.fetch("role_hands", role=folded(name), limit=_HANDS_SHOWN)
        return tuple(RoleHand(agent=agent, message_id=id) for id, agent in rows)

    async def waiting(self, role: str, taker: str, silence: timedelta, stay: timedelta, limit: int) -> tuple[Message, ...]:
        """What one agent of a role would be given of its mail now, in this order."""
        given = {"role": folded(role), "taker": folded(taker), "silence": micros(silence), "stay": micros(stay), "limit": limit}
        found: list[Message] = []
        sessions: set[str] = set()
        for *raw, session_busy, leased, text in await self._engine.fetch("waiting_for_staff", **given):
            row, card = DeliveryRow(*raw), _card(text)
            if card.max_in_hand is not None and leased + len(found) >= card.max_in_hand:
                break
            if card.in_order and row.session_id is not None:
                if session_busy or row.session_id in sessions:
                    continue
                sessions.add(row.session_id)
            found.append(row.read())
        return tuple(found)

    async def signs(self, names: Iterable[str]) -> dict[str, Known]:
        """What is known of these agents, by their names."""
        known = {}
        for row in await self._engine.fetch("signs_of", agents=[folded(name) for name in names]):
            name, acted, last_seen, leased, *pause, card, now = row
            box = Box(
                folded(name), name, "", _card(card), has_key=False, acted=bool(acted), created_at=0, last_seen=last_seen, leased=leased
            )
            box.paused_at, box.paused_until, box.paused_by, box.pause_reason = pause
            known[str(name)] = known_of_box(box, now)
        return known

    async def mailboxes(self, ref: str) -> tuple[str, ...]:
        """The roles to which a message was sent, by either of its ids."""
        return tuple(role for (role,) in await self._engine.fetch("role_mailboxes", ref=ref))


def _role(row: Row, named: list[str], cards: list[tuple[str, Card]]) -> Role:
    _, name, text, made_by, created_at, capability, pending, leased, dead = row
    card = _card(text)
    able = {name for name, theirs in cards if has_capability(theirs, capability)}
    return Role(
        name=name,
        description=card.description,
        made_by=made_by,
        created_at=moment(created_at),
        capability=capability,
        staff=tuple(sorted({*named, *able}, key=folded)),
        named=tuple(named),
        allow_from=card.allow_from,
        max_in_hand=card.max_in_hand,
        in_order=card.in_order,
        pending=pending,
        leased=leased,
        dead=dead,
    )
