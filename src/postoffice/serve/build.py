"""Put an office together from its settings."""

from importlib.util import find_spec
from pathlib import Path

from postoffice.config import Settings
from postoffice.core.agent import key_hash, key_prefix, new_key
from postoffice.core.clock import Clock
from postoffice.core.errors import ExtraMissing
from postoffice.core.names import OWNER
from postoffice.office import House, PostOffice
from postoffice.store.protocol import Store
from postoffice.store.sqlite import SQLiteStore
from postoffice.wake.local import LocalWake
from postoffice.wake.protocol import Wake

OWNER_KEY = "owner.key"


def build_office(settings: Settings) -> PostOffice:
    """The office these settings describe, not yet open."""
    house = House(limits=settings.limits)
    store: Store
    wake: Wake
    if settings.database is None:
        store, wake = SQLiteStore(settings.sqlite_path, Clock(), settings.limits), LocalWake()
    else:
        check_driver()
        # Imported here: an install without the extra has no driver for it.
        from postoffice.store.postgres import PostgresStore  # noqa: PLC0415
        from postoffice.wake.postgres import PostgresWake  # noqa: PLC0415

        store = PostgresStore(settings.database, limits=settings.limits, schema=settings.schema, statement_cache=settings.statement_cache)
        # Through a transaction pooler LISTEN never hears anything: look once a tick instead.
        wake = LocalWake() if store.pooled else PostgresWake(settings.database, settings.schema)
    return PostOffice(store, wake, house)


def check_driver() -> None:
    """Refuse a PostgreSQL address in words of ours where the extra is not installed."""
    if find_spec("asyncpg") is None:
        raise ExtraMissing(extra="postgres")


async def ensure_owner_key(office: PostOffice, data: Path) -> Path:
    """Make the owner's key at the first start. Only its hash is in the store; the file is the owner's alone."""
    path = data / OWNER_KEY
    if not path.exists():
        data.mkdir(mode=0o700, parents=True, exist_ok=True)  # noqa: ASYNC240 - once, before anybody waits
        raw = new_key()
        hash = key_hash(raw)
        assert hash is not None
        # The file first: a key in the store that nobody has would be of no use.
        path.touch(mode=0o600)
        path.write_text(raw + "\n")
        await office.store.add_key(OWNER, hash, key_prefix(raw), None)
    return path
