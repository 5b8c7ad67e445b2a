"""Verbs about agents' keys."""

from datetime import timedelta

from postoffice.acts.people.agents import AddKey, RevokeKeys
from postoffice.core.agent import Caller, Key, key_hash, key_prefix, new_key
from postoffice.core.errors import OwnerOnly
from postoffice.core.limits import bounded
from postoffice.office.checks import Checks
from postoffice.office.directory import Directory
from postoffice.store.store import Store

_NOW = timedelta(0)
_YEAR = timedelta(days=365)


class Keys:
    """Of a key only its hash is kept, and how it begins."""

    def __init__(self, store: Store, checks: Checks, directory: Directory, overlap: timedelta) -> None:
        self._store = store
        self._checks = checks
        self._directory = directory
        self._overlap = overlap

    async def rotate_key(self, caller: Caller, *, of: str | None = None, overlap: timedelta | None = None) -> tuple[str, Key]:
        """A new key; the older ones end when the overlap is over."""
        name = self._key_holder(caller, of)
        span = bounded("overlap", overlap, self._overlap, _NOW, _YEAR)
        return await self._issue(caller, name, span)

    async def add_key(self, caller: Caller, *, of: str | None = None) -> tuple[str, Key]:
        """One key more; the others stay. Giving a keyless name its first key is the owner's to do."""
        return await self._issue(caller, self._key_holder(caller, of), None)

    def _key_holder(self, caller: Caller, of: str | None) -> str:
        """Whoever merely says a name cannot lock it."""
        name = self._checks.whose(caller, of)
        if not caller.owner and not caller.verified:
            raise OwnerOnly(what=f"give {name} its first key")
        return name

    async def _issue(self, caller: Caller, name: str, overlap: timedelta | None) -> tuple[str, Key]:
        raw = new_key()
        hash = key_hash(raw)
        assert hash is not None
        return raw, await self._store.do(AddKey(name, hash, key_prefix(raw), overlap, caller.key))

    async def revoke_keys(self, caller: Caller, prefix: str | None = None, *, of: str | None = None) -> tuple[Key, ...]:
        """Take back the keys that begin so, or all."""
        return await self._store.do(RevokeKeys(self._checks.whose(caller, of), prefix, caller.key))

    async def keys(self, caller: Caller, *, of: str | None = None) -> tuple[Key, ...]:
        """An agent's keys, each by its beginning only."""
        return await self._store.agents.keys(await self._directory.mailbox(caller, of))
