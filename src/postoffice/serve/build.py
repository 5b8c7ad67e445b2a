"""Builds an office from its settings."""

import os
import re
import tempfile
from importlib.util import find_spec
from ipaddress import ip_network
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import msgspec

from postoffice.acts.people.agents import AddKey
from postoffice.bridges.notify import Messenger
from postoffice.bridges.webhooks import WebhookBridge
from postoffice.config import Settings
from postoffice.core.agent import key_hash, key_prefix, new_key
from postoffice.core.clock import Clock
from postoffice.core.connection import Handshake
from postoffice.core.errors import BadSetting, ExtraMissing, NotSafe
from postoffice.core.hosts import is_loopback
from postoffice.core.ledger import is_ledger_id
from postoffice.core.names import OWNER
from postoffice.core.routing import check_route
from postoffice.core.seal import Seal
from postoffice.office import Auth, OfficeRules, PostOffice
from postoffice.office.rules import LedgerRules
from postoffice.store.depot.depot import Depot
from postoffice.store.depot.objects import FolderDepot, object_depot
from postoffice.store.engine import Engine
from postoffice.store.sqlite.engine import SQLite
from postoffice.store.store import Store
from postoffice.wake.local import LocalWake
from postoffice.wake.protocol import Wake

if TYPE_CHECKING:
    from postoffice.bridges.files import FileBridge
    from postoffice.bridges.ledger import LedgerBridge
    from postoffice.bridges.ledger.network import LedgerNetwork
    from postoffice.serve.traces import MessageTraces

OWNER_KEY = "owner.key"
CODES_KEY = "codes.key"
_SENDS_A_MINUTE = 600  # a minute, for each agent
_SENT_BYTES_A_MINUTE = 64 << 20
_REGISTRATIONS_AN_HOUR = 30  # an hour, for each address
_IDLE_FACTOR = 15  # an idle topic is polled so many times less often
_HOST = r"(\[[^\]@]*\]|[^:,\[\]/?#@]*)(:\d*)?"
_POSTGRESQL = re.compile(rf"postgres(ql)?(\+\w+)?://([^/?#]*@)?{_HOST}(,{_HOST})*([/?#].*)?", re.DOTALL)


def build_rules(settings: Settings) -> OfficeRules:
    """The office's rules from these settings. An office that would be open to the world is refused."""
    local = is_loopback(settings.host)
    auth = settings.auth or (Auth.OPEN if local else Auth.KEYS)
    if auth is Auth.OPEN and not local:
        raise NotSafe(why=f"an open server on {settings.host} would let anybody act as anybody; use --auth keys, or --host 127.0.0.1")
    limits = settings.limits
    if auth is Auth.KEYS:
        limits = msgspec.structs.replace(
            limits,
            sends_per_minute=_SENDS_A_MINUTE if limits.sends_per_minute is None else limits.sends_per_minute,
            sent_bytes_per_minute=_SENT_BYTES_A_MINUTE if limits.sent_bytes_per_minute is None else limits.sent_bytes_per_minute,
            registrations_per_hour=_REGISTRATIONS_AN_HOUR if limits.registrations_per_hour is None else limits.registrations_per_hour,
        )
    # A rate of 0 means no limit.
    limits = msgspec.structs.replace(
        limits,
        sends_per_minute=limits.sends_per_minute or None,
        sent_bytes_per_minute=limits.sent_bytes_per_minute or None,
        registrations_per_hour=limits.registrations_per_hour or None,
    )
    handshake = settings.handshake or (Handshake.VISIBLE if auth is Auth.OPEN else Handshake.HUMAN)
    ledger = None if settings.ledger is None else LedgerRules(private=settings.ledger_privacy == "hash", log=settings.ledger_log)
    routes = tuple(check_route(route) for route in settings.routes)
    public = None if settings.public_url is None else _public(settings.public_url)
    return OfficeRules(auth=auth, handshake=handshake, limits=limits, ledger=ledger, routes=routes, public_url=public)


def _public(address: str) -> str:
    """The origin for links, as the page's paths begin at the root."""
    origin = address.rstrip("/")
    if not _can_be_reached(origin) or "@" in origin or urlsplit(origin).netloc != origin.partition("://")[2]:
        raise BadSetting(name="public_url", why="it has to be like https://mail.example.com, without a path")
    return origin


def build_office(settings: Settings) -> PostOffice:
    """The office for these settings, not yet open."""
    rules = build_rules(settings)
    # Only with that handshake do codes pass from person to person; otherwise the target sees them anyway.
    seal = Seal(_kept_key(settings.data / CODES_KEY).encode() if rules.handshake is Handshake.HUMAN else None)
    engine: Engine
    wake: Wake
    if settings.database is None:
        if settings.wake is not None:
            raise BadSetting(name="wake", why="it carries hints between replicas on one PostgreSQL; set `database` to that too")
        engine, wake = SQLite(settings.sqlite_path, Clock(), rules.limits, seal=seal), LocalWake()
    else:
        check_database(settings.database)
        # Imported here, as without the extra there is no driver.
        from postoffice.store.postgres.engine import PostgreSQL  # noqa: PLC0415
        from postoffice.wake.postgres import PostgresWake  # noqa: PLC0415

        engine = PostgreSQL(
            settings.database, limits=rules.limits, seal=seal, schema=settings.schema, statement_cache=settings.statement_cache
        )
        if settings.wake is not None:
            wake = _build_nats(settings.wake, settings.schema)
        else:
            # LISTEN gets nothing through a transaction pooler: look once a tick instead.
            wake = LocalWake(alone=False) if engine.pooled else PostgresWake(settings.database, settings.schema)
    depot = None if settings.attachments is None else build_depot(settings.attachments)
    return PostOffice(Store(engine, depot), wake, rules, None if settings.traces is None else _build_traces(settings.traces))


def build_depot(where: str) -> Depot:
    """Where attachments are kept, if a setting says so."""
    return object_depot(where) if "://" in where else FolderDepot(Path(os.path.expanduser(where)))  # noqa: PTH111 - leaves a home of nobody's as it is


def _build_traces(endpoint: str) -> "MessageTraces":
    if not _can_be_reached(endpoint):
        raise BadSetting(name="traces", why="it has to be like http://host:4318")
    if find_spec("opentelemetry.sdk") is None or find_spec("opentelemetry.exporter") is None:
        raise ExtraMissing(extra="traces")
    from postoffice.serve.traces import MessageTraces  # noqa: PLC0415 - as above

    return MessageTraces(endpoint)


def _can_be_reached(address: str) -> bool:
    """Whether an address names a host and, if it has one, a possible port."""
    try:
        place = urlsplit(address)
        return place.scheme in ("http", "https") and bool(place.hostname) and place.port != 0 and not re.search(r"\s", address)
    except ValueError:
        return False


def _build_nats(url: str, schema: str) -> Wake:
    if not url.startswith(("nats://", "tls://")):
        raise BadSetting(name="wake", why=f"{url.partition(':')[0]!r} is not nats:// or tls://")
    if find_spec("nats") is None:
        raise ExtraMissing(extra="nats")
    from postoffice.wake.nats import NatsWake  # noqa: PLC0415 - as above

    return NatsWake(url, f"postoffice.{schema}")


def build_bridges(settings: Settings, office: PostOffice) -> list["FileBridge | LedgerBridge | WebhookBridge"]:
    """The bridges for these settings, not yet open."""
    bridges: list[FileBridge | LedgerBridge | WebhookBridge] = [_build_webhooks(settings, office)]
    if settings.files is not None:
        bridges.append(_build_files(settings, settings.files, office))
    if settings.ledger is not None:
        bridges.append(_build_ledger(settings, office))
    return bridges


def _build_webhooks(settings: Settings, office: PostOffice) -> WebhookBridge:
    try:
        networks = [ip_network(network) for network in settings.webhook_networks]
    except ValueError as error:
        raise BadSetting(name="webhook_networks", why=f"{error}; give an address like 127.0.0.1, or a network like 10.0.0.0/8") from None
    office.notify.carried_by(Messenger(networks).carry)
    return WebhookBridge(office, networks)


def _build_files(settings: Settings, root: Path, office: PostOffice) -> "FileBridge":
    if find_spec("postoffice_files") is None or find_spec("watchfiles") is None:
        raise ExtraMissing(extra="files")
    from postoffice.bridges.files import FileBridge  # noqa: PLC0415 - as above

    return FileBridge(office, root, None if office.rules.auth is Auth.OPEN else frozenset(settings.file_agents))


def _build_ledger(settings: Settings, office: PostOffice) -> "LedgerBridge":
    network = build_network(settings)
    from postoffice.bridges.ledger import LedgerBridge  # noqa: PLC0415 - as above

    if (mirror := settings.ledger_mirror or network.mirror_url()) is None:
        raise BadSetting(name="ledger_mirror", why="it is needed for a private network")
    return LedgerBridge(
        office, network, mirror, per_second=settings.ledger_rate, least=settings.ledger_poll, most=settings.ledger_poll * _IDLE_FACTOR
    )


def build_network(settings: Settings) -> "LedgerNetwork":
    """The ledger that these settings name, with its keys."""
    if find_spec("hiero_sdk_python") is None:
        raise ExtraMissing(extra="ledger")
    from postoffice.bridges.ledger.network import LedgerNetwork  # noqa: PLC0415 - as above

    if settings.ledger is None or settings.ledger_account is None:
        raise BadSetting(name="ledger_account", why="a ledger needs an account that pays")
    keys = {} if settings.ledger_key is None else {settings.ledger_account: settings.ledger_key.reveal()}
    if settings.ledger_key_file is not None:
        keys = read_keys(settings.ledger_key_file, settings.ledger_account) | keys
    if settings.ledger_account not in keys:
        raise BadSetting(name="ledger_key_file", why="the key of ledger_account is neither in ledger_key_file nor in POSTOFFICE_LEDGER_KEY")
    return LedgerNetwork(settings.ledger, settings.ledger_account, keys)


def read_keys(path: Path, operator: str) -> dict[str, str]:
    """Keys by account. A line with only a key is the operator's. Errors never quote the file, as any word in it may be a key."""
    try:
        lines = path.expanduser().read_text(encoding="utf-8-sig").splitlines()
    except OSError as error:
        raise BadSetting(name="ledger_key_file", why=f"it cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise BadSetting(name="ledger_key_file", why="it is not text; give the key as the wallet exports it (DER in hex)") from None
    keys = {}
    for number, words in enumerate(map(str.split, lines), 1):
        if words and not words[0].startswith("#"):
            *account, key = words
            if account and not (len(account) == 1 and is_ledger_id(account[0])):
                raise BadSetting(
                    name="ledger_key_file", why=f"line {number} is neither a key nor an account and its key, such as 0.0.777 302e…"
                )
            keys[account[0] if account else operator] = key
    return keys


def check_database(address: str) -> None:
    """Refuse a wrong PostgreSQL address, or any without the extra. The error does not quote it, as it may contain a password."""
    if not _POSTGRESQL.fullmatch(address):
        raise BadSetting(
            name="database",
            why="it has to be like postgresql://user:password@host:5432/name, with % codes for all but letters and digits in the password "
            "(it comes from --database, POSTOFFICE_DATABASE or DATABASE_URL; without any of them mail is kept in an SQLite file)",
        )
    if find_spec("asyncpg") is None:
        raise ExtraMissing(extra="postgres")


async def ensure_owner_key(office: PostOffice, data: Path) -> Path:
    """Make the owner's key at the first start. The store has only its hash, and only the owner can read the file."""
    path = data / OWNER_KEY
    raw = _kept_key(path)  # the file first: a key in the store that is in no file could not be used
    hash = key_hash(raw)
    assert hash is not None
    # Add it if the store has never seen it, because a start was interrupted or the mail was replaced. A revoked key stays revoked.
    if key_prefix(raw) not in {key.prefix for key in await office.store.agents.keys(OWNER)}:
        await office.store.do(AddKey(OWNER, hash, key_prefix(raw), None))
    return path


def _kept_key(path: Path) -> str:
    """The key in the owner's file, made if it is missing."""
    try:
        if not path.exists():
            _make_key(path)
        raw = path.read_text().strip()
    except OSError as error:
        raise BadSetting(name=str(path), why=f"it cannot be read or made: {error.strerror}") from None
    if key_hash(raw) is None:
        raise BadSetting(name=str(path), why="it does not contain a key; delete it, and the next start makes another")
    return raw


def _make_key(path: Path) -> None:
    """Write the key's file whole or not at all, readable by its owner only. Replicas that share the folder and start together get one key."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor, begun = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "w") as file:
            file.write(new_key() + "\n")
        try:
            os.link(begun, path)
        except FileExistsError:
            return  # another process was faster, and its key counts
        except OSError:  # a file system without links
            Path(begun).replace(path)
    finally:
        Path(begun).unlink(missing_ok=True)
