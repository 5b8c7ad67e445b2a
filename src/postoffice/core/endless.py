"""Talk without end: letters that models send to and fro, in a pair, a ring or a list, while no person writes and no task moves.

Each agent remembers when it last wrote to whom, and which letters of whose came round to it. A letter counts for its session when the one
before it, from the same sender to the same recipient, has come round to its sender. What only goes one way never comes round.
A list remembers as an agent does: what was written to it has come round once another member has written there.
"""

from collections.abc import Iterable
from datetime import timedelta

import msgspec

from postoffice.core.clock import micros

WINDOW = timedelta(hours=1)
GO_ON, STOP = "go on", "stop"
_FIRST_LETTER = 3
"""The letter by which it is known that two have answered each other."""
_AGENTS_REMEMBERED = 64
MEMBERS_THAT_HEAR = 64
"""Members of a list that hear at once of what is written there. Of a larger one they hear as they write there themselves."""


class Spell(msgspec.Struct, omit_defaults=True):
    """The letters to and fro in one session since nobody else had a part in it."""

    begun_at: int
    letters: int = 0
    held: bool = False


class Memory(msgspec.Struct, omit_defaults=True):
    """What one agent remembers of an hour, in microseconds since 1970."""

    sent: dict[str, int] = {}
    """When it last wrote to whom."""
    heard: dict[str, int] = {}
    """When each letter was written that came round to it, by who wrote to whom."""
    spells: dict[str, Spell] = {}
    """By session: of those in which it is the first of the two by name."""


def spell_of(talk: Memory, session: str, now: int, refreshed_at: int) -> Spell | None:
    """How far a session has come, if nothing has ended that since. One that is held stays so."""
    spell = talk.spells.get(session)
    if spell is None or spell.begun_at < refreshed_at or (not spell.held and now - spell.begun_at >= micros(WINDOW)):
        return None
    return spell


def write(sender: str, recipient: str, mine: Memory, theirs: Memory, now: int) -> bool:
    """Remember a letter on both sides; gives whether the sender's last one to this recipient has come round."""
    way = f"{sender}>{recipient}"
    round_about = recipient in mine.sent and mine.heard.get(way, 0) >= mine.sent[recipient]
    mine.sent[recipient] = now
    _hear(theirs, mine.heard)
    theirs.heard[way] = now
    for talk in (mine, theirs):
        talk.sent, talk.heard = _recent(talk.sent, now), _recent(talk.heard, now)
    return round_about


def write_to_list(sender: str, to_list: str, mine: Memory, kept: Memory, members: Iterable[Memory], now: int) -> bool:
    """The same of a letter to a list, which its members hear of; gives whether the sender's last one there has come round."""
    before = mine.sent.get(to_list)
    if before is not None and any(at >= before for other, at in kept.sent.items() if other != sender):
        _hear(mine, kept.heard)
    round_about = write(sender, to_list, mine, kept, now)
    kept.sent = _recent(kept.sent | {sender: now}, now)
    for theirs in members:
        _hear(theirs, mine.heard | {f"{sender}>{to_list}": now})
        theirs.heard = _recent(theirs.heard, now)
    return round_about


def _hear(talk: Memory, heard: dict[str, int]) -> None:
    talk.heard |= {way: at for way, at in heard.items() if at > talk.heard.get(way, 0)}


def one_letter_more(spell: Spell | None, now: int) -> Spell:
    """One letter more that went to and fro."""
    return Spell(begun_at=now, letters=_FIRST_LETTER) if spell is None else Spell(spell.begun_at, spell.letters + 1, spell.held)


def _recent(times: dict[str, int], now: int) -> dict[str, int]:
    newest = sorted(times.items(), key=lambda item: item[1])[-_AGENTS_REMEMBERED:]
    return {name: at for name, at in newest if now - at < micros(WINDOW)}
