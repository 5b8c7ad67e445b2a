"""Who is calling: decided here, once, for every door."""

from collections.abc import Awaitable, Callable

from postoffice.acts.people.agents import Appear
from postoffice.core.agent import KEYS_OF, Caller, key_hash
from postoffice.core.clock import steady
from postoffice.core.errors import BadKey, KeyRequired, MachineOnly, NotYou, Unidentified
from postoffice.core.names import OWNER, check_free, folded
from postoffice.core.policy import Auth
from postoffice.store.store import Store
from postoffice.wake.protocol import EVERYBODY

Again = Callable[[], Awaitable[object]]
"""Identifies a caller again after it has waited: its key may have ended meanwhile, or its bare name may have got one."""
REMEMBERED_SECONDS = 1.0  # seconds; a key revoked in another process is refused here within them
_CALLERS_REMEMBERED = 10_000


class Identities:
    """Tells callers apart, remembering for a second what the store said."""

    def __init__(self, store: Store, auth: Auth) -> None:
        self._store = store
        self._auth = auth
        self._known: dict[str, tuple[Caller, int]] = {}  # by key hash, or by name for the keyless

    async def identify(self, key: str | None, name: str | None, *, looking: bool = False) -> Caller:
        """The caller that a key or, on an open server, a bare name stands for. Looking into a mailbox makes no agent."""
        if key is None:
            if name is None:
                raise Unidentified
            return await self._by_name(name, looking=looking)
        caller = await self._by_key(key)
        if caller.machine is not None and name is not None:
            return await self._by_machine(caller, caller.machine, name)
        if name is None or folded(name) == folded(caller.name):
            return caller
        if not caller.owner:
            raise NotYou(claimed=name, name=caller.name)
        # The owner may lend its voice to people and agents that have no key of their own.
        if looking and await self._is_new(name):
            return Caller(name, verified=True, owner=True, key=caller.key, new=True)
        lent = await self._store.do(Appear(check_free(name)))
        return Caller(lent, verified=True, owner=True, key=caller.key)

    def last_known(self, key: str | None) -> Caller | None:
        """Whose key it was when the store last said so, however long ago."""
        caller, _ = self._known.get(key_hash(key or "") or "", (None, 0))
        return caller

    def forget(self, hints: frozenset[str]) -> None:
        """Forget those whose keys changed. Most hints tell of mail, and change nothing here."""
        if EVERYBODY in hints:
            self._known.clear()
        agents = {hint.removeprefix(KEYS_OF) for hint in hints if hint.startswith(KEYS_OF)}
        if agents:
            self._known = {key: entry for key, entry in self._known.items() if folded(entry[0].name) not in agents}

    async def _by_key(self, key: str) -> Caller:
        hash = key_hash(key)
        if hash is None:
            raise BadKey
        caller = self._recall(hash)
        if caller is None:
            name = await self._store.agents.by_key(hash)
            if name is None:
                machine = await self._store.windows.machine(hash)
                if machine is None:
                    raise BadKey
                return self._remember(hash, Caller(machine, verified=True, key=hash, machine=machine))
            caller = self._remember(hash, Caller(name, verified=True, owner=folded(name) == OWNER, key=hash))
        return caller

    async def _by_machine(self, caller: Caller, machine: str, name: str) -> Caller:
        """A machine speaks for its own windows' agents."""
        spoken_for = self._recall(place := f"{caller.key}:{folded(name)}")
        if spoken_for is None:
            agent = await self._store.windows.agent_of_machine(machine, name)
            if agent is None:
                raise MachineOnly(prefix=machine)
            spoken_for = self._remember(place, Caller(agent, verified=True, key=caller.key))
        return spoken_for

    async def _by_name(self, name: str, *, looking: bool) -> Caller:
        if self._auth is Auth.KEYS:
            raise KeyRequired(name=name)
        caller = self._recall(place := f"name:{name}")
        if caller is None:
            if looking and await self._is_new(name):
                return Caller(name, verified=False, new=True)
            caller = self._remember(place, Caller(await self._store.do(Appear(check_free(name))), verified=False))
        return caller

    async def _is_new(self, name: str) -> bool:
        return await self._store.agents.named(check_free(name)) is None

    def _recall(self, key: str) -> Caller | None:
        caller, until = self._known.get(key, (None, 0))
        return caller if steady() < until else None

    def _remember(self, key: str, caller: Caller) -> Caller:
        if len(self._known) >= _CALLERS_REMEMBERED:
            self._known.clear()
        self._known[key] = (caller, steady() + int(REMEMBERED_SECONDS * 1e9))
        return caller
