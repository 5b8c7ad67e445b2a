"""Verbs about invitations: a code instead of a key, for an agent on another machine."""

import secrets
from datetime import datetime, timedelta

import msgspec

from postoffice.acts.people.invites import INVITE, AcceptInvite, Invite
from postoffice.core.agent import Caller, Card, check_card, code_hash, key_hash, key_prefix, new_key
from postoffice.core.clock import Clock, moment
from postoffice.core.errors import BadInvite
from postoffice.core.names import check_free
from postoffice.office.checks import Checks
from postoffice.store.store import Store

_INVITATION_LASTS = timedelta(hours=1)


class Invitation(msgspec.Struct, frozen=True, kw_only=True):
    """A code that gives an agent its key, once."""

    name: str
    code: str
    expires_at: datetime


class Invites:
    """Invitations. Only the hash of a code is kept, and the key is made when the code is used."""

    def __init__(self, store: Store, checks: Checks, clock: Clock) -> None:
        self._store = store
        self._checks = checks
        self._clock = clock

    async def make(self, caller: Caller, name: str, card: Card | None = None) -> Invitation:
        """Make a code for an agent, which need not be there yet. The owner's to do."""
        self._checks.owner_only(caller, "invite an agent")
        code = secrets.token_urlsafe(16)
        name = await self._store.do(Invite(check_free(name), check_card(card or Card()), code_hash(code), _INVITATION_LASTS))
        return Invitation(name=name, code=code, expires_at=moment(self._clock.now()) + _INVITATION_LASTS)

    async def accept(self, code: str) -> tuple[str, str]:
        """Use a code. Gives the agent's name and its new key, which is never shown again."""
        name = await self._store.agents.by_login(code_hash(code), INVITE) if code else None
        if name is None:
            raise BadInvite
        key = new_key()
        hash = key_hash(key)
        assert hash is not None
        await self._store.do(AcceptInvite(name, code_hash(code), hash, key_prefix(key)))
        return name, key
