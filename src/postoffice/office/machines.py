"""Verbs about machines' keys, for the owner."""

from postoffice.acts.people.machines import MakeMachineKey, RevokeMachine
from postoffice.core.agent import Caller, key_hash, key_prefix, new_key
from postoffice.core.names import check_free, check_name, folded
from postoffice.core.views import Machine
from postoffice.office.checks import Checks
from postoffice.store.store import Store

_WHAT = "give keys to machines"


class Machines:
    """A machine's key may open windows whose names begin with its prefix, and speak for their agents only."""

    def __init__(self, store: Store, checks: Checks) -> None:
        self._store = store
        self._checks = checks

    async def make_key(self, caller: Caller, prefix: str) -> tuple[str, Machine]:
        """A key for a machine, which is never shown again."""
        self._checks.owner_only(caller, _WHAT)
        checked = folded(check_free(prefix))
        raw = new_key()
        hash = key_hash(raw)
        assert hash is not None
        await self._store.do(MakeMachineKey(checked, hash, key_prefix(raw)))
        (made,) = [one for one in await self._store.windows.machines() if one.prefix == checked and one.shown == key_prefix(raw)][-1:]
        return raw, made

    async def all(self, caller: Caller) -> tuple[Machine, ...]:
        """Machines' keys, each by its beginning."""
        self._checks.owner_only(caller, _WHAT)
        return await self._store.windows.machines()

    async def revoke(self, caller: Caller, prefix: str) -> int:
        """Take a machine's keys back. Its windows' names and mail stay."""
        self._checks.owner_only(caller, _WHAT)
        hashes = await self._store.windows.machine_hashes(folded(check_name(prefix)))
        return await self._store.do(RevokeMachine(prefix, hashes))
