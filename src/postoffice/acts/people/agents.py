"""Agents come, say who they are, and show that they are there; keys are given, changed and taken back."""

from datetime import timedelta

import msgspec

from postoffice.acts.act import Act
from postoffice.acts.desk import Desk
from postoffice.acts.needs import Needs
from postoffice.acts.rows import Box, KeyRow
from postoffice.acts.rules.counting import count
from postoffice.acts.rules.naming import OfPerhapsNewName, check_new_name, is_new
from postoffice.core.agent import Card, Key, key_hash, key_prefix
from postoffice.core.clock import micros, moment
from postoffice.core.errors import BadKey, KeyRequired, NameTaken, NoSuchAgent, NoSuchKey, TooManyKeys
from postoffice.core.event import Kind
from postoffice.core.names import OWNER, SYSTEM, folded
from postoffice.core.policy import ANYONE
from postoffice.core.role import ROLES

_NONE = timedelta(0)


class Register(OfPerhapsNewName[tuple[str, str]]):
    """Take a name, with a key. A name that only received mail keeps its mail; one that acted is taken."""

    def __init__(self, name: str, card: Card, hash: str, prefix: str, *, owner: bool, address: str | None = None) -> None:
        super().__init__(name)
        self.card = card
        self.key = (hash, prefix)
        self.owner = owner
        self.bucket = None if address is None else f"register:{address}"

    def ask(self, needs: Needs) -> None:
        super().ask(needs)
        if self.bucket is not None:
            needs.limits.add(self.bucket)
            needs.boxes.add(SYSTEM)  # no agent owns an address: counting it locks the office's own mailbox

    def run(self, desk: Desk) -> tuple[str, str]:
        box = desk.boxes.get(self.agent)
        if box is not None and (box.has_key or (box.acted and not self.owner)):
            raise NameTaken(name=box.name)
        if is_new(box):
            check_new_name(desk, self.name, owner=self.owner)
        desk.room.take()
        if self.bucket is not None and desk.limits.registrations_per_hour is not None:
            count(desk, self.bucket, desk.limits.registrations_per_hour, timedelta(hours=1))
        if box is None:
            box = desk.new_box(self.name, self.card)
            desk.boxes[box.agent] = box
            desk.new_agents.append(box)
            say_able(desk, Card(), box)
        else:
            was, box.card = box.card, self.card
            say_able(desk, was, box)
            desk.remember(box)
            desk.tell(box, Kind.KEY_ADDED, self.key[1])  # whoever used the name without a key must stop
        box.has_key = True
        hash, prefix = self.key
        desk.write_key(KeyRow(hash, box.agent, prefix, desk.now, None, None))
        return box.id, box.name


class Appear(OfPerhapsNewName[str]):
    """A name is used without a key, perhaps for the first time. Gives the name as its agent writes it."""

    def run(self, desk: Desk) -> str:
        box = desk.boxes.get(self.agent)
        if box is None:
            check_new_name(desk, self.name)
            desk.room.take()
            box = desk.new_box(self.name, Card(allow_from=(ANYONE,)), acted=True)
            desk.boxes[box.agent] = box
            desk.new_agents.append(box)
        elif box.has_key:
            raise KeyRequired(name=box.name)
        elif not box.acted:
            if box.forgotten:
                check_new_name(desk, self.name)
            box.acted = True
            desk.remember(box)
        return box.name


class UpdateCard(Act[Card]):
    """Change what an agent says of itself; what is not given stays."""

    def __init__(self, name: str, changes: dict[str, object]) -> None:
        self.agent = folded(name)
        self.changes = changes

    def ask(self, needs: Needs) -> None:
        needs.boxes.add(self.agent)
        needs.agents = True

    def run(self, desk: Desk) -> Card:
        box = box_of(desk, self.agent)
        desk.room.take()
        was, box.card = box.card, msgspec.structs.replace(box.card, **self.changes)
        say_able(desk, was, box)
        desk.changed_agents[box.agent] = box
        if "max_in_hand" in self.changes or "in_order" in self.changes:
            desk.changed_boxes[box.agent] = box  # whoever remembers its mailbox must look again
        desk.hints.add(box.agent)
        return box.card


def say_able(desk: Desk, was: Card, box: Box) -> None:
    """An agent that can do something else than before may be in other roles. What it had of those it has left is anybody's."""
    now = set(map(folded, box.card.capabilities))
    if now == (before := set(map(folded, was.capabilities))):
        return
    desk.hints.add(ROLES)
    for capability in before - now:
        desk.write("free_sessions_by_capability", (box.agent, capability), (box.agent, capability))


class Seen(Act[None]):
    """Signs of life, gathered and written together: how long ago each agent was last there; None says it left."""

    def __init__(self, ages: dict[str, timedelta | None]) -> None:
        self.ages = {folded(name): age for name, age in ages.items()}

    def ask(self, needs: Needs) -> None:
        needs.boxes.update(self.ages)
        needs.agents = True

    def run(self, desk: Desk) -> None:
        for agent, age in self.ages.items():
            box = desk.boxes.get(agent)
            if box is not None:
                box.last_seen = None if age is None else max(desk.now - micros(age), min(box.last_seen or 0, desk.now))
                desk.changed_agents[agent] = box


class AddKey(Act[Key]):
    """Give an agent another key; with an overlap, its older ones end when that is over."""

    def __init__(self, name: str, hash: str, prefix: str, overlap: timedelta | None, by: str | None = None) -> None:
        self.agent = folded(name)
        self.by = by
        self.hash = hash
        self.prefix = prefix
        self.overlap = overlap

    def ask(self, needs: Needs) -> None:
        needs.boxes.update((self.agent, SYSTEM))  # whoever uses a link holds the office's own mailbox
        needs.agents = True
        needs.keys.update((self.agent, OWNER))

    def run(self, desk: Desk) -> Key:
        box = box_of(desk, self.agent)
        proving_key(desk, self.by)
        live = live_keys(desk, self.agent)
        if len(live) >= desk.limits.keys and self.overlap != _NONE:
            raise TooManyKeys(name=box.name, count=len(live))
        if self.overlap is not None:
            end = desk.now + micros(self.overlap)
            for row in live:
                row.expires_at = min(end, row.expires_at or end)
                desk.write_key(row)
            desk.end_logins(self.agent, end)
        row = KeyRow(self.hash, self.agent, self.prefix, desk.now, None, None)
        desk.keys[row.hash] = row
        desk.write_key(row)
        if not box.has_key:
            box.has_key = True
            desk.changed_agents[box.agent] = box
        desk.tell(box, Kind.KEY_ADDED, self.prefix)
        return as_key(row, box.name)


class RevokeKeys(Act[tuple[Key, ...]]):
    """Take keys back: those beginning with a prefix, or all. The name stays locked: once it had a key, it always needs one."""

    def __init__(self, name: str, prefix: str | None, by: str | None = None) -> None:
        self.agent = folded(name)
        self.by = by
        self.prefix = prefix
        self.hash = None if prefix is None else key_hash(prefix)
        """Somebody whose key has leaked has it whole."""

    def ask(self, needs: Needs) -> None:
        needs.boxes.update((self.agent, SYSTEM))  # whoever uses a link holds the office's own mailbox
        needs.keys.update((self.agent, OWNER))

    def run(self, desk: Desk) -> tuple[Key, ...]:
        box = box_of(desk, self.agent)
        proving_key(desk, self.by)
        live = live_keys(desk, self.agent)
        rows = (
            [row for row in live if row.hash == self.hash]
            if self.hash
            else [row for row in live if row.prefix.startswith(self.prefix or "")]
        )
        if not rows:
            raise NoSuchKey(name=box.name, which=f"beginning with {key_prefix(self.prefix)!r}" if self.prefix else "to take back")
        for row in rows:
            row.revoked_at = desk.now
            desk.write_key(row)
            desk.tell(box, Kind.KEY_REVOKED, row.prefix)
        desk.end_logins(self.agent, desk.now)  # whoever looks at the page by such a key looks no longer
        return tuple(as_key(row, box.name) for row in rows)


def box_of(desk: Desk, agent: str) -> Box:
    """An agent that a verb names, who has to be there."""
    box = desk.boxes.get(agent)
    if box is None or box.forgotten:
        raise NoSuchAgent(name=agent, hint="check the name")
    return box


def proving_key(desk: Desk, hash: str | None) -> KeyRow | None:
    """The key by which the caller acts; None if it needs none. The caller was identified a moment ago: by now the key may have ended."""
    if hash is None:
        return None
    key = next((row for row in live_keys(desk) if row.hash == hash), None)
    if key is None:
        raise BadKey
    return key


def live_keys(desk: Desk, agent: str | None = None) -> list[KeyRow]:
    """Keys on the desk that open something, of one agent or of all."""
    return [
        row
        for row in desk.keys.values()
        if agent in (None, row.agent) and row.revoked_at is None and (row.expires_at is None or row.expires_at > desk.now)
    ]


def as_key(row: KeyRow, name: str) -> Key:
    """A key as it may be shown."""
    return Key(
        agent=name,
        prefix=row.prefix,
        created_at=moment(row.created_at),
        expires_at=None if row.expires_at is None else moment(row.expires_at),
        revoked_at=None if row.revoked_at is None else moment(row.revoked_at),
    )
