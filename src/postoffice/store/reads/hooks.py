"""What a store can be asked about hooks."""

from postoffice.acts.rows import Row
from postoffice.core.clock import moment
from postoffice.core.hook import Hook, HookProof
from postoffice.store.engine import Engine


class HookReads:
    """Addresses at which letters are left."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    async def page(self) -> tuple[Hook, ...]:
        """All of them, also those that are revoked."""
        return tuple(map(_hook, await self._engine.fetch("hooks")))

    async def by_hash(self, hash: str) -> tuple[Hook, str | None] | None:
        """The hook with that token, and its secret."""
        for row in await self._engine.fetch("hook_by_hash", hash=hash):
            return _hook(row), row[4]
        return None


def _hook(row: Row) -> Hook:
    _, name, to, proof, _, created_at, revoked = row
    return Hook(name=name, to=to, proof=HookProof(proof), created_at=moment(created_at), revoked=bool(revoked))
