"""Two models that write to each other without end: the owner is asked, and they stop until a person says something."""

from collections.abc import Sequence

import msgspec

from postoffice.acts.desk import Desk
from postoffice.acts.lists.rows import ListRow
from postoffice.acts.mail.moves import notify
from postoffice.acts.needs import Needs
from postoffice.acts.rows import Box, MemoryRow, ThreadRow
from postoffice.acts.rules.notices import list_talking_long, talking_long
from postoffice.core.draft import Draft
from postoffice.core.endless import MEMBERS_THAT_HEAR, Memory, one_letter_more, spell_of, write, write_to_list
from postoffice.core.errors import TalkHeld
from postoffice.core.names import SYSTEM, is_role
from postoffice.core.session import pair

_encode = msgspec.json.Encoder(order="deterministic").encode
_talk = msgspec.json.Decoder(Memory).decode


def may_count(draft: Draft, agents: list[str]) -> bool:
    """Whether a letter may be one of many: by a model's own tools for mail, or automatic, and to somebody in particular."""
    return (draft.by_model or draft.automatic) and bool(agents) and not draft.settled


def ask_talk(needs: Needs, sender: str, agents: list[str]) -> None:
    """Have what they remember at hand."""
    needs.memories.update((sender, *agents))
    needs.thread_keys.update((*pair(SYSTEM, one), "") for one in (sender, *agents))


def check_talk(desk: Desk, thread: ThreadRow | None) -> None:
    """Refuse one more letter in a session that is held."""
    if thread is None:
        return
    spell = spell_of(_read(desk, _keeper(thread))[0], thread.id, desk.now, _refreshed(desk, thread))
    if spell is not None and spell.held:
        raise TalkHeld(session=thread.id, letters=spell.letters)


def check_list_talk(desk: Desk, row: ListRow) -> None:
    """Refuse one more letter to a list whose session is held."""
    kept, refreshed_at = _read(desk, row.list)
    spell = spell_of(kept, row.id, desk.now, refreshed_at)
    if spell is not None and spell.held:
        raise TalkHeld(session=row.id, letters=spell.letters)


def count_list_talk(desk: Desk, row: ListRow, sender: Box, members: Sequence[str]) -> None:
    """Count a letter to a list. At a first number the owner is asked, and its sender and whoever keeps the list are told; at a second it is held."""
    hearing = members if len(members) <= MEMBERS_THAT_HEAR else ()
    talks = {agent: _read(desk, agent) for agent in (sender.agent, row.list, *hearing)}
    (mine, _), (kept, refreshed_at) = talks[sender.agent], talks[row.list]
    if write_to_list(sender.agent, row.list, mine, kept, (talks[agent][0] for agent in hearing), desk.now):
        spell = one_letter_more(spell_of(kept, row.id, desk.now, refreshed_at), desk.now)
        asked, held = desk.limits.talk_asked, desk.limits.talk_held
        spell.held = spell.held or bool(held and spell.letters >= held)
        kept.spells = {row.id: spell}
        if asked and spell.letters == asked:
            for agent in dict.fromkeys((sender.agent, row.owner)):
                notify(desk, desk.boxes[agent], list_talking_long(row.id, row.name, spell.letters, held))
        if (asked and spell.letters == asked) or spell.letters == held:
            desk.write("put_long_talk", (row.id, row.list, row.list, spell.letters, desk.now, desk.now if spell.held else None), row.id)
    for agent, (talk, at) in talks.items():
        _keep(desk, agent, talk, at)


def count_talk(desk: Desk, thread: ThreadRow, sender: Box, box: Box) -> None:
    """Count a letter. At a first number the owner is asked and both agents are told, once; at a second the session is held."""
    talks = {agent: _read(desk, agent) for agent in (sender.agent, box.agent)}
    (mine, _), (theirs, _) = talks[sender.agent], talks[box.agent]
    if write(sender.agent, box.agent, mine, theirs, desk.now):
        lower, _ = talks[_keeper(thread)]
        spell = one_letter_more(spell_of(lower, thread.id, desk.now, _refreshed(desk, thread)), desk.now)
        asked, held = desk.limits.talk_asked, desk.limits.talk_held
        spell.held = spell.held or bool(held and spell.letters >= held)
        lower.spells = {id: one for id, one in lower.spells.items() if spell_of(lower, id, desk.now, 0)} | {thread.id: spell}
        if asked and spell.letters == asked:
            for reader, partner in ((sender, box), (box, sender)):
                notify(desk, reader, talking_long(thread.id, partner.name, spell.letters, held))
        if (asked and spell.letters == asked) or spell.letters == held:
            held_at = desk.now if spell.held else None
            desk.write("put_long_talk", (thread.id, thread.low, thread.high, spell.letters, desk.now, held_at), thread.id)
    for agent, (talk, refreshed_at) in talks.items():
        _keep(desk, agent, talk, refreshed_at)


def refresh_talk(desk: Desk, *agents: str) -> None:
    """A person wrote to them, or a task of theirs moved: count their letters from the beginning again."""
    for agent in agents:
        _keep(desk, agent, Memory(), desk.now)
        desk.write("delete_long_talks", (agent,), agent)


def hold_talk(desk: Desk, session: str, low: str) -> None:
    """Hold a session, as its owner said."""
    talk, refreshed_at = _read(desk, low)
    spell = spell_of(talk, session, desk.now, refreshed_at) or one_letter_more(None, desk.now)
    spell.held = True
    talk.spells = talk.spells | {session: spell}
    _keep(desk, low, talk, refreshed_at)


def _read(desk: Desk, agent: str) -> tuple[Memory, int]:
    row = desk.memories.get(agent)
    return (Memory(), 0) if row is None else (_talk(row.body), row.refreshed_at)


def _keeper(thread: ThreadRow) -> str:
    """Who of the two remembers how long they have talked: the lower one, or, where that is a role, the other."""
    return thread.high if is_role(thread.low) else thread.low


def _refreshed(desk: Desk, thread: ThreadRow) -> int:
    return max(_read(desk, thread.low)[1], _read(desk, thread.high)[1])


def _keep(desk: Desk, agent: str, talk: Memory, refreshed_at: int) -> None:
    body = _encode(talk).decode()
    desk.memories[agent] = MemoryRow(agent, body, refreshed_at)
    desk.write("put_memory", (agent, body, refreshed_at), agent)
