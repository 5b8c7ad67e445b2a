"""Verbs about machines' keys, for the owner."""

from postoffice.acts.people.machines import MakeMachineKey, RevokeMachine
from postoffice.core.agent import Caller, key_hash, key_prefix, new_key
from postoffice.core.errors import OwnerOnly
from postoffice.core.names import check_free, check_name, folded
from postoffice.core.views import Machine
from postoffice.office.counter import Counter


class MachineVerbs(Counter):
    """A machine's key may open windows whose names begin with its prefix, and speak for their agents only."""

    async def make_machine_key(self, caller: Caller, prefix: str) -> tuple[str, Machine]:
        """A key for a machine, which is never shown again."""
        self._only_owner(caller)
        checked = folded(check_free(prefix))
        raw = new_key()
        hash = key_hash(raw)
        assert hash is not None
        await self.store.do(MakeMachineKey(checked, hash, key_prefix(raw)))
        (made,) = [one for one in await self.store.windows.machines() if one.prefix == checked and one.shown == key_prefix(raw)][-1:]
        return raw, made

    async def machines(self, caller: Caller) -> tuple[Machine, ...]:
        """Machines' keys, each by its beginning."""
        self._only_owner(caller)
        return await self.store.windows.machines()

    async def revoke_machine(self, caller: Caller, prefix: str) -> int:
        """Take a machine's keys back. Its windows' names and mail stay."""
        self._only_owner(caller)
        hashes = await self.store.windows.machine_hashes(folded(check_name(prefix)))
        return await self.store.do(RevokeMachine(prefix, hashes))

    def _only_owner(self, caller: Caller) -> None:
        if not caller.owner:
            raise OwnerOnly(what="give keys to machines")
