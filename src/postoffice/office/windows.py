"""Verbs about windows: open, show that one is still open, close, and see which there are."""

from collections.abc import Sequence

import msgspec

from postoffice.acts.people.ringing import BeginTurn, Rung, RungInVain
from postoffice.acts.people.windows import CloseWindow, OpenWindow, RenewWindow
from postoffice.core.agent import Caller, Card
from postoffice.core.errors import Invalid, MailError, NoSuchWindow, Unidentified
from postoffice.core.names import OWNER, check_free, check_name, folded
from postoffice.core.policy import ANYONE, Auth
from postoffice.core.text import check_text
from postoffice.core.window import TRIED_AT_ONCE, Ended, Opened, Opening, Renewed, Ring, Window, WindowState, name_of_folder, names_in_turn
from postoffice.office.checks import Checks
from postoffice.office.presences import Presences
from postoffice.office.rota import Rota
from postoffice.store.store import Store

_MOST_IN_ONE_FOLDER = 16 * TRIED_AT_ONCE
_WORD_CHARACTERS, _PATH_CHARACTERS = 100, 4096


class Renewal(msgspec.Struct, frozen=True, kw_only=True):
    """That a window is still open, and what of it has changed."""

    id: str
    state: WindowState | None = None
    ring: Ring | None = None


class Windows:
    """On an open office these calls need no name: a bell speaks for many agents."""

    def __init__(self, store: Store, checks: Checks, presences: Presences, rota: Rota, auth: Auth) -> None:
        self._store = store
        self._checks = checks
        self._presences = presences
        self._rota = rota
        self._auth = auth

    async def open_window(self, caller: Caller | None, opening: Opening) -> Opened:
        """Open a window, or say anew what it is. Which name it gets is decided in one act."""
        self._check_window(opening)
        by, opening = self._opener(caller, opening)
        card = Card(allow_from=self._writers(by))
        for names in self._names(by, opening):
            opened = await self._store.do(OpenWindow(opening, names, by, card))
            if opened is not None:
                self._presences.touch(opened.agent)
                return opened
        raise Invalid(what="folder", why=f"{_MOST_IN_ONE_FOLDER} windows of that name are open")

    def _opener(self, caller: Caller | None, opening: Opening) -> tuple[Caller | None, Opening]:
        """Who opens it. A bare name counts the same, whether a person chose it or the call carries it."""
        if caller is None:
            if self._auth is Auth.KEYS:
                raise Unidentified
            return None, opening
        if not caller.verified and opening.agent is None:
            return caller, msgspec.structs.replace(opening, agent=caller.name)
        return caller, opening

    def _writers(self, by: Caller | None) -> tuple[str, ...]:
        """Who may write to a new name without a connection. Other windows of its machine may as well."""
        if self._auth is Auth.OPEN:
            return (ANYONE,)
        return () if by is None or by.machine is None else (OWNER,)

    def _names(self, by: Caller | None, opening: Opening) -> list[tuple[str, ...]]:
        """The names it may have, some at a time. A caller with a key of its own has that one name."""
        wished = opening.agent if opening.agent is None else check_free(opening.agent)
        if by is not None and by.verified and not by.owner and by.machine is None:
            if wished is not None and folded(wished) != folded(by.name):
                raise Invalid(what="agent", why=f"the call's key belongs to {by.name}")
            return [(folded(by.name),)]
        base = wished or name_of_folder(opening.folder)
        if by is not None and by.machine is not None and not folded(base).startswith(f"{folded(by.machine)}-"):
            base = check_free(f"{by.machine}-{base}")
        return [names_in_turn(base, begin) for begin in range(0, _MOST_IN_ONE_FOLDER, TRIED_AT_ONCE)]

    def _check_window(self, opening: Opening) -> None:
        place = opening.place
        texts = {"client": opening.client, "session": opening.session or "", "started": place.started, "machine": place.machine}
        for what, text in texts.items():
            self._checks.ref(text, what, _WORD_CHARACTERS)
        check_text(opening.folder, "folder")
        self._checks.ref(opening.folder, "folder", _PATH_CHARACTERS)
        if not (opening.client and place.machine and place.started and opening.folder):
            raise Invalid(what="window", why="client, folder, machine and started are not empty")

    async def renew_windows(self, caller: Caller | None, renewals: Sequence[Renewal]) -> list[Renewed | MailError]:
        """Windows are still open; each is answered by itself."""
        self._checks.batch(renewals)
        self._somebody(caller)
        acts = [RenewWindow(one.id, caller, one.state, one.ring) for one in renewals]
        answers: list[Renewed | MailError] = []
        for outcome in await self._store.do_each(acts):
            if isinstance(outcome, Renewed):
                self._presences.touch(outcome.agent)
            elif not isinstance(outcome, MailError):
                raise outcome
            answers.append(outcome)
        return await self._with_roles(answers)

    async def _with_roles(self, answers: list[Renewed | MailError]) -> list[Renewed | MailError]:
        """Those whose agents are in roles hear how much waits there."""
        await self._rota.look()
        roles = {one.agent: names for one in answers if isinstance(one, Renewed) and (names := self._rota.of(one.agent))}
        if not roles:
            return answers
        waiting = await self._store.mail.look({role for names in roles.values() for role in names})
        told = {agent: {role: waiting.get(role, (0, 0))[0] for role in names} for agent, names in roles.items()}
        return [
            msgspec.structs.replace(one, roles=told[one.agent]) if isinstance(one, Renewed) and one.agent in told else one
            for one in answers
        ]

    async def renew_window(self, caller: Caller | None, renewal: Renewal) -> Renewed:
        """A window is still open."""
        (outcome,) = await self.renew_windows(caller, (renewal,))
        if isinstance(outcome, MailError):
            raise outcome
        return outcome

    async def close_window(self, caller: Caller | None, id: str) -> Ended:
        """A window is closed."""
        self._somebody(caller)
        return await self._store.do(CloseWindow(id, caller))

    async def rung(self, caller: Caller | None, id: str, messages: Sequence[str]) -> int:
        """A window was rung for letters. Gives for how many that still wait."""
        return await self._store.do(Rung(id, await self._mailboxes(caller, id, messages), tuple(messages), caller))

    async def rung_in_vain(self, caller: Caller | None, id: str, messages: Sequence[str]) -> int:
        """It was rung for often enough, and has not taken them. Gives how many senders are told of it, each once for a letter."""
        return await self._store.do(RungInVain(id, await self._mailboxes(caller, id, messages), tuple(messages), caller))

    async def begin_turn(self, caller: Caller | None, id: str, messages: Sequence[str] = ()) -> Renewed:
        """A turn has begun in a window. Of a role's letters it has to say which it was rung for, as others are rung for them too."""
        self._somebody(caller)
        mailboxes = await self._mailboxes(caller, id, messages) if messages else ()
        begun = await self._store.do(BeginTurn(id, mailboxes, tuple(messages), caller))
        self._presences.touch(begun.agent)
        return begun

    async def _mailboxes(self, caller: Caller | None, id: str, messages: Sequence[str]) -> tuple[str, ...]:
        """Where a window's letters may wait: with its agent, and in the roles that it is in."""
        self._checks.batch(messages)
        self._somebody(caller)
        window = await self._store.windows.named(id)
        if window is None:
            raise NoSuchWindow(id=id)
        await self._rota.look()
        return window.agent, *self._rota.of(window.agent)

    async def windows(self, agent: str | None = None) -> tuple[Window, ...]:
        """Every window that is open, or those of one agent. The door leaves out what the caller may not see."""
        named = None if agent is None else folded(check_name(agent))
        return tuple(one for one in await self._store.windows.open_now() if named in (None, folded(one.agent)))

    def _somebody(self, caller: Caller | None) -> None:
        if caller is None and self._auth is Auth.KEYS:
            raise Unidentified
