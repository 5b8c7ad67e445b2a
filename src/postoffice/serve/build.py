"""Put an office together from its settings."""

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from postoffice.config import Settings
from postoffice.core.agent import key_hash, key_prefix, new_key
from postoffice.core.clock import Clock
from postoffice.core.connection import Handshake
from postoffice.core.errors import ExtraMissing, NotSafe
from postoffice.core.hosts import is_loopback
from postoffice.core.names import OWNER
from postoffice.office import Auth, House, PostOffice
from postoffice.store.protocol import Store
from postoffice.store.sqlite import SQLiteStore
from postoffice.wake.local import LocalWake
from postoffice.wake.protocol import Wake

if TYPE_CHECKING:
    from postoffice.bridges.files import FileBridge

OWNER_KEY = "owner.key"
_SENDS = 600  # a minute, for each agent
_REGISTRATIONS = 30  # an hour, for each address


def build_house(settings: Settings) -> House:
    """The rules these settings ask for. What would be open to the world is refused."""
    local = is_loopback(settings.host)
    auth = settings.auth or (Auth.OPEN if local else Auth.KEYS)
    if auth is Auth.OPEN and not local:
        raise NotSafe(why=f"an open server on {settings.host} would let anybody in as anybody; use --auth keys, or --host 127.0.0.1")
    limits = settings.limits
    if auth is Auth.KEYS:
        limits = msgspec.structs.replace(
            limits,
            sends_per_minute=_SENDS if limits.sends_per_minute is None else limits.sends_per_minute,
            registrations_per_hour=_REGISTRATIONS if limits.registrations_per_hour is None else limits.registrations_per_hour,
        )
    # A rate of 0 is no rate.
    limits = msgspec.structs.replace(
        limits, sends_per_minute=limits.sends_per_minute or None, registrations_per_hour=limits.registrations_per_hour or None
    )
    handshake = settings.handshake or (Handshake.VISIBLE if auth is Auth.OPEN else Handshake.HUMAN)
    return House(auth=auth, handshake=handshake, limits=limits)


def build_office(settings: Settings) -> PostOffice:
    """The office these settings describe, not yet open."""
    house = build_house(settings)
    store: Store
    wake: Wake
    if settings.database is None:
        store, wake = SQLiteStore(settings.sqlite_path, Clock(), house.limits), LocalWake()
    else:
        check_driver()
        # Imported here: an install without the extra has no driver for it.
        from postoffice.store.postgres import PostgresStore  # noqa: PLC0415
        from postoffice.wake.postgres import PostgresWake  # noqa: PLC0415

        store = PostgresStore(settings.database, limits=house.limits, schema=settings.schema, statement_cache=settings.statement_cache)
        # Through a transaction pooler LISTEN never hears anything: look once a tick instead.
        wake = LocalWake() if store.pooled else PostgresWake(settings.database, settings.schema)
    return PostOffice(store, wake, house)


def build_bridges(settings: Settings, office: PostOffice) -> list["FileBridge"]:
    """The bridges these settings ask for, not yet open."""
    if settings.files is None:
        return []
    if find_spec("postoffice_files") is None or find_spec("watchfiles") is None:
        raise ExtraMissing(extra="files")
    from postoffice.bridges.files import FileBridge  # noqa: PLC0415 - as above

    allowed = None if office.house.auth is Auth.OPEN else frozenset(settings.file_agents)
    return [FileBridge(office, settings.files, allowed)]


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
