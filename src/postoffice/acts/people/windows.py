"""Windows open, show that they are still open, and close; each gets a name of its own."""

from typing import Final

from postoffice.acts.act import Act
from postoffice.acts.desk import Desk
from postoffice.acts.mail.expiry import take_back
from postoffice.acts.needs import Needs
from postoffice.acts.rows import Box, WindowRow
from postoffice.acts.rules.naming import ask_lookalikes, check_new_name, is_new
from postoffice.core.agent import Caller, Card
from postoffice.core.clock import is_id, micros, moment
from postoffice.core.delivery import State
from postoffice.core.errors import KeyRequired, NoSuchWindow, WindowTaken
from postoffice.core.names import folded
from postoffice.core.window import LEASE, WINDOWS, Ended, Opened, Opening, Renewed, Ring, Window, WindowState

_LEASE_MICROS: Final = micros(LEASE)


class OpenWindow(Act[Opened | None]):
    """A window opens, or says anew what it is. It gets its own name back, or else the first of these that is free; None if none is."""

    def __init__(self, opening: Opening, names: tuple[str, ...], by: Caller | None, card: Card) -> None:
        self.opening = opening
        self.names = names
        self.by = by
        self.card = card
        self.only = names[0] if len(names) == 1 else None
        """The name that the caller proves with its own key; it gets no other."""
        place = opening.place
        self.place = (place.machine, place.process, place.started)
        self.memories = [place.key] if opening.session is None else [(opening.client, opening.session), place.key]

    def ask(self, needs: Needs) -> None:
        needs.agents = True
        needs.places.add(self.place)
        needs.window_sessions.update(self.memories)
        needs.window_agents.update(self.names)

    def ask_more(self, needs: Needs, desk: Desk) -> None:
        if self.opening.agent is not None:  # a folder's name is nobody's choice
            ask_lookalikes(needs, desk, self.names[0])

    def run(self, desk: Desk) -> Opened | None:
        row = next((one for one in desk.windows.values() if (one.machine, one.process, one.started) == self.place), None)
        own = next((desk.window_sessions[key] for key in self.memories if key in desk.window_sessions), None)
        name = self._choose(desk, row, own)
        if name is None:
            if self.only is not None:
                raise WindowTaken(name=desk.boxes[self.only].name)
            return None
        box = desk.boxes.get(name)
        if is_new(box):
            check_new_name(desk, name)
        desk.room.take()
        # From here on nothing is refused.
        _end_lost(desk, name)
        if row is not None and row.agent != name:
            _give_back(desk, row)
        opened = Opened(
            id=desk.clock.new_id() if row is None else row.id,
            agent=self._agent(desk, name).name,
            new=is_new(box),
            resumed=own == name and (row is None or row.agent != name),
            was=own if own is not None and own != name and self._may_resume(own) else None,
            known=row is not None,
            waiting=0 if box is None else box.pending,
        )
        self._keep(desk, opened, name, row)
        return opened

    def _choose(self, desk: Desk, row: WindowRow | None, own: str | None) -> str | None:
        """Its own name, or the lowest that it may have and no other open window has."""
        if own is not None and self._may_resume(own) and self._is_free(desk, own, row) and self._may_have(desk, own, again=True):
            return own
        return next((name for name in self.names if self._is_free(desk, name, row) and self._may_have(desk, name)), None)

    def _may_resume(self, own: str) -> bool:
        """Whether it may have its old name back: not if a person chose another, or its machine has another prefix."""
        if self.only is not None or self.opening.agent is not None:
            return own in self.names
        return self.by is None or self.by.machine is None or own.startswith(f"{folded(self.by.machine)}-")

    def _is_free(self, desk: Desk, name: str, mine: WindowRow | None) -> bool:
        others = [one for one in desk.windows.values() if one.agent == name and one is not mine and one.until > desk.now]
        return not others or (self.opening.shared and all(one.shared for one in others))

    def _may_have(self, desk: Desk, name: str, *, again: bool = False) -> bool:
        """Whether the name is free: nobody's with a key, and not chosen by a person for something else. `again`: the window had it before."""
        if name == self.only:
            return True
        said = self.opening.agent is not None and name == self.names[0]
        if said and self.by is not None and self.by.owner:
            return True
        if _is_locked(desk, name):
            if said:
                raise KeyRequired(name=desk.boxes[name].name)
            return False
        box = desk.boxes.get(name)
        chosen, prefix = desk.window_names.get(name, (True, None))
        if self.by is not None and self.by.machine is not None and name in desk.window_names and prefix != folded(self.by.machine):
            return False
        return said or again or box is None or not box.acted or not chosen

    def _agent(self, desk: Desk, name: str) -> Box:
        box = desk.boxes.get(name)
        if box is None:
            box = desk.new_box(name, self.card, acted=True)
            desk.boxes[name] = box
            desk.new_agents.append(box)
        elif not box.acted:
            box.acted = True
            desk.remember(box)
        return box

    def _keep(self, desk: Desk, opened: Opened, name: str, row: WindowRow | None) -> None:
        given = self.opening
        chosen, prefix = desk.window_names.get(name, (False, None))
        said = self.only is not None or (given.agent is not None and name == self.names[0])
        machine = None if self.by is None or self.by.machine is None else folded(self.by.machine)
        desk.window_names[name] = (chosen or said, prefix or machine)
        desk.write("put_window_name", (name, *desk.window_names[name]), name)
        for client, session in self.memories:
            desk.window_sessions[client, session] = name
            desk.write("put_window_session", (client, session, name, desk.now), (client, session))
        machine_name, process, started = self.place
        desk.write_window(
            WindowRow(
                id=opened.id,
                agent=name,
                client=given.client,
                session=given.session if row is None else given.session or row.session,
                process=process,
                started=started,
                folder=given.folder,
                machine=machine_name,
                ring=str(given.ring if row is None or given.ring is not Ring.NONE else row.ring),
                state=str(WindowState.IDLE) if row is None else row.state,
                state_at=desk.now if row is None else row.state_at,
                shared=given.shared,
                opened_at=desk.now if row is None else row.opened_at,
                seen_at=desk.now,
                until=desk.now + _LEASE_MICROS,
            )
        )
        desk.hints.add(WINDOWS)


class OfWindow:
    """What is done to one open window, by whoever may."""

    def __init__(self, id: str, by: Caller | None) -> None:
        self.id = id
        self.by = by

    def ask(self, needs: Needs) -> None:
        if is_id(self.id):
            needs.windows.add(self.id)

    def find(self, desk: Desk) -> WindowRow:
        """The window, if it is open and the caller may speak for it. A caller that may not does not learn that it exists."""
        row = desk.windows.get(self.id)
        if row is None or not may_speak(desk, row.agent, self.by):
            raise NoSuchWindow(id=self.id)
        return row


class RenewWindow(OfWindow, Act[Renewed]):
    """A window is still open, and perhaps busy or idle now, or can be rung in another way."""

    def __init__(self, id: str, by: Caller | None, state: WindowState | None = None, ring: Ring | None = None) -> None:
        super().__init__(id, by)
        self.state = state
        self.ring = ring

    def run(self, desk: Desk) -> Renewed:
        row = self.find(desk)
        before = (row.state, row.ring)
        if self.state is not None and self.state != row.state:
            row.state, row.state_at = str(self.state), desk.now
        row.ring = str(self.ring or row.ring)
        if before != (row.state, row.ring):
            desk.hints.add(WINDOWS)
        return renewed(desk, row)


class CloseWindow(OfWindow, Act[Ended]):
    """A window is closed; what it had in hand waits again, and that was an attempt."""

    def run(self, desk: Desk) -> Ended:
        row = self.find(desk)
        return _end(desk, row)


class EndLost(Act[int]):
    """Windows that were not renewed are closed."""

    def __init__(self, ids: tuple[str, ...]) -> None:
        self.ids = ids

    def ask(self, needs: Needs) -> None:
        needs.windows.update(self.ids)

    def run(self, desk: Desk) -> int:
        lost = [desk.windows[id] for id in self.ids if id in desk.windows and desk.windows[id].until <= desk.now]
        for row in lost:
            _end(desk, row)
        return len(lost)


def renewed(desk: Desk, row: WindowRow) -> Renewed:
    """A window that shows a sign of life stays open for another lease."""
    row.seen_at, row.until = desk.now, desk.now + _LEASE_MICROS
    desk.write_window(row)
    box = desk.boxes[row.agent]
    return Renewed(id=row.id, agent=box.name, ring=Ring(row.ring), state=WindowState(row.state), waiting=box.pending)


def may_speak(desk: Desk, agent: str, by: Caller | None) -> bool:
    """Whether a caller may speak for an agent's windows: the agent, the owner, its machine; and anybody for a name that no key locks."""
    if by is not None and (by.owner or folded(by.name) == agent):
        return True
    if by is not None and by.machine is not None:
        return desk.window_names.get(agent, (False, None))[1] == folded(by.machine)
    return (by is None or not by.verified) and not _is_locked(desk, agent)


def _is_locked(desk: Desk, agent: str) -> bool:
    box = desk.boxes.get(agent)
    return box is not None and box.has_key


def _end_lost(desk: Desk, agent: str) -> None:
    """Whoever takes over a name finds nothing in the hands of a window that is gone."""
    for row in [one for one in desk.windows.values() if one.agent == agent and one.until <= desk.now]:
        _end(desk, row)


def _end(desk: Desk, row: WindowRow) -> Ended:
    returned = _give_back(desk, row)
    desk.delete_window(row)
    desk.hints.add(WINDOWS)
    return Ended(id=row.id, agent=desk.boxes[row.agent].name, returned=returned)


def _give_back(desk: Desk, row: WindowRow) -> int:
    """What the window has in hand waits again; what was taken elsewhere under its agent's name stays with its taker."""
    held = [d for d in desk.mail.values() if d.state == State.LEASED and d.holder == row.id]
    for delivery in held:
        take_back(desk, delivery)
    return len(held)


def as_window(row: WindowRow, name: str) -> Window:
    """A window as a value."""
    return Window(
        id=row.id,
        agent=name,
        client=row.client,
        ring=Ring(row.ring),
        state=WindowState(row.state),
        state_since=moment(row.state_at),
        since=moment(row.opened_at),
        last_sign=moment(row.seen_at),
        shared=row.shared,
        session=row.session,
        process=row.process,
        started=row.started,
        folder=row.folder,
        machine=row.machine,
    )
