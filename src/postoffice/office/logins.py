"""Verbs about the page's visitors: links that let them in, and the logins they have from then on."""

import secrets
from datetime import timedelta

from postoffice.acts.people.logins import LINK, LOGIN, EndLogin, MakeLink, UseLink
from postoffice.core.agent import Caller, code_hash
from postoffice.core.errors import BadLink, NoLogin, OwnerOnly
from postoffice.core.names import OWNER, folded
from postoffice.store.store import Store

_LINK_LASTS = timedelta(minutes=10)
_LOGIN_LASTS = timedelta(days=30)


class Logins:
    """Only the hash of what proves one is kept."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def make_link(self, caller: Caller) -> str:
        """A code that opens the page once, within ten minutes, for whoever proved to be this agent."""
        if not (caller.verified or caller.owner):
            raise OwnerOnly(what="make a link for a name that no key proves")
        code = secrets.token_urlsafe(32)
        await self._store.do(MakeLink(caller.name, caller.key, code_hash(code), _LINK_LASTS))
        return code

    async def enter(self, code: str) -> tuple[str, timedelta]:
        """Begin a login by a link's code. Gives what proves the login from here on, and how long it lasts."""
        proof = secrets.token_urlsafe(32)
        await self._store.do(UseLink(code_hash(code), code_hash(proof), _LOGIN_LASTS))
        return proof, _LOGIN_LASTS

    async def whose_link(self, code: str) -> str:
        """Whom a link's code lets in. The link is not used by that."""
        name = await self._store.agents.by_login(code_hash(code), LINK) if code else None
        if name is None:
            raise BadLink
        return name

    async def visitor(self, proof: str | None) -> Caller:
        """Who is looking, by what proves the login."""
        name = None if not proof else await self._store.agents.by_login(code_hash(proof), LOGIN)
        if name is None:
            raise NoLogin
        return Caller(name, verified=True, owner=folded(name) == OWNER)

    async def end_login(self, proof: str) -> None:
        """End a login."""
        await self._store.do(EndLogin(code_hash(proof)))
