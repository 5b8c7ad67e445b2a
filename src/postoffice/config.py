"""The settings, read once from flags, the environment, `.env` and a TOML file into one frozen object."""

import difflib
import os
import tomllib
from collections.abc import Iterable, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from dotenv import dotenv_values
from platformdirs import user_data_path

from postoffice.core.connection import Handshake
from postoffice.core.errors import BadSetting
from postoffice.core.limits import LONGEST, MAY_BE_NONE, Limits, agreeing
from postoffice.core.policy import Auth
from postoffice.core.routing import Route
from postoffice.core.secret import Secret

PREFIX = "POSTOFFICE_"
# What seed 000's users have in their environment already.
_OTHER_NAMES = {"DATABASE_URL": "database", "WS_PING_INTERVAL": "ws_ping_interval", "WS_PING_TIMEOUT": "ws_ping_timeout"}
# What the command line and the SDK go by, and where the settings themselves may stand: no settings, but known to whoever types them.
_CALLERS = frozenset({"AGENT", "CONFIG", "CREDENTIALS", "KEY", "SERVER"})
# What the commands of `run` and `recv --exec` are told, which may well start an office, and what our own tests go by.
_COMMAND_VARIABLES = frozenset({"FROM", "MESSAGE", "SESSION", "SUBJECT"})
_TESTS = frozenset({"EXAMPLES", "SEED"})
_LISTS = ("allowed_hosts", "cors_origins", "trusted_proxies", "file_agents", "webhook_networks")
_WIDENING = ("host", "auth", "allowed_hosts", "cors_origins", "trusted_proxies")
"""Settings that say who may call."""
_PATHS = ("data", "files", "ledger_key_file")
_DAY = 86_400
_LEAST_WAIT_SECONDS = 0.001  # seconds
_LIMITS = {field.name: field.type for field in msgspec.structs.fields(Limits)}


class Settings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How this server runs. Each is a flag, `POSTOFFICE_…` in the environment or `.env`, or a key in TOML."""

    host: str = "127.0.0.1"
    port: Annotated[int, msgspec.Meta(ge=0, le=65535)] = 8787
    data: Path = user_data_path("postoffice")
    database: str | None = None
    """A PostgreSQL address; without one, mail lives in an SQLite file in the data directory."""
    attachments: str | None = None
    """Where attachments are kept: a folder, or an object store (`s3://…`, `gs://…`, `az://…`). Without it: beside the SQLite file, or in PostgreSQL."""
    wake: str | None = None
    """A NATS address (`nats://…`) that carries hints between replicas; without one, PostgreSQL's own LISTEN does."""
    schema: Annotated[str, msgspec.Meta(pattern="^[a-z_][a-z0-9_]{0,62}$")] = "postoffice"
    inbox_schema: Annotated[str, msgspec.Meta(pattern="^[a-z_][a-z0-9_]{0,62}$")] | None = None
    """Where the view `inbox` goes; without it, beside the tables."""
    autostart: bool | None = None
    """Whether programs of this machine may open the office by themselves; nothing that a server goes by."""
    auth: Auth | None = None
    """Without it: open on loopback, keys beyond."""
    handshake: Handshake | None = None
    """Without it: visible on an open server, human where keys are required."""
    allowed_hosts: tuple[str, ...] = ()
    """Names this server answers to besides its addresses and loopback's own."""
    cors_origins: tuple[str, ...] = ()
    """Pages of other origins that may call this server."""
    open_to_others: bool = False
    """Whether an open office goes by `allowed_hosts` and `cors_origins`: whoever they let in is the owner. Never from a file that lies here."""
    trusted_proxies: tuple[str, ...] = ()
    """Addresses whose word on who is calling (X-Forwarded-For) is taken."""
    body_bytes: Annotated[int, msgspec.Meta(ge=1024)] = 8 << 20
    body_seconds: Annotated[float, msgspec.Meta(gt=0)] = 30.0
    traces: str | None = None
    """An OTLP collector (`http://host:4318`) that is told of every message's way."""
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    log_format: Literal["console", "json"] = "console"
    statement_cache: Annotated[int, msgspec.Meta(ge=0)] = 256
    """0 behind a transaction pooler, which keeps nothing with a connection."""
    files: Path | None = None
    """A tree of file mailboxes to be served."""
    file_agents: tuple[str, ...] = ()
    """Where keys are required: the agents that may be at home in those files."""
    ledger: str | None = None
    """A public ledger that mail goes by: mainnet, testnet, previewnet, or nodes as `host:port=0.0.3,…`."""
    ledger_mirror: str | None = None
    """The address of its mirror's REST API; without one, what the SDK knows of the network."""
    ledger_account: str | None = None
    """The account that pays."""
    ledger_key: Secret | None = None
    ledger_key_file: Path | None = None
    """The key of that account, in hexadecimal; more accounts as further lines `0.0.123 key`."""
    ledger_privacy: Literal["full", "hash"] = "full"
    ledger_log: bool = False
    """Whether agents' outbound topics tell publicly that they sent something."""
    ledger_definitions: str | None = None
    """The topic where agents' profiles are published."""
    ledger_rate: Annotated[float, msgspec.Meta(gt=0, le=1000)] = 30.0
    """Requests a second to the mirror, at most."""
    ledger_poll: Annotated[float, msgspec.Meta(gt=0)] = 2.0
    """Seconds between two looks at a topic where something comes; idle ones wait up to fifteen times as long."""
    webhook_networks: tuple[str, ...] = ()
    """Addresses and networks that webhooks may be posted to besides public ones by https, such as 127.0.0.1 or 10.0.0.0/8."""
    public_url: str | None = None
    """Where people reach this office from elsewhere, such as https://mail.example.com; links in notifications lead there."""
    routes: tuple[Route, ...] = ()
    """Who is told of what happens to entities; in TOML as `[[routes]]`."""
    ws_ping_interval: Annotated[float, msgspec.Meta(gt=0, le=_DAY)] = 30.0
    ws_ping_timeout: Annotated[float, msgspec.Meta(gt=0, le=_DAY)] = 60.0
    limits: Limits = Limits()
    slips: tuple[str, ...] = ()
    """No setting: what there is to tell of variables that look like settings and are none."""
    widened: tuple[str, ...] = ()
    """No setting: which files say who may call."""

    @property
    def sqlite_path(self) -> Path:
        """The file that mail lives in without a PostgreSQL address."""
        return self.data / "mailbox.db"


def read_settings(
    flags: Mapping[str, object] | None = None, environ: Mapping[str, str] | None = None, here: Path | None = None
) -> Settings:
    """Read every source once; the more particular wins: flag, environment, `.env`, TOML, default."""
    environ = os.environ if environ is None else environ
    here = here or Path.cwd()
    given = {name: value for name, value in (flags or {}).items() if value is not None}
    dotenv = _from_dotenv(here / ".env")
    toml = given.pop("config", None) or environ.get(f"{PREFIX}CONFIG") or dotenv.get(f"{PREFIX}CONFIG")
    merged: dict[str, Any] = _from_toml(here, _at_home(str(toml)) if toml else None)
    named = bool((flags or {}).get("config") or environ.get(f"{PREFIX}CONFIG"))
    chosen = _from_environment(environ) | given
    files = {str(toml or here / "postoffice.toml"): merged, str(here / ".env"): _from_environment(dotenv)}
    lying = list(files.values()) if not named else list(files.values())[1:]
    if "open_to_others" not in chosen and any("open_to_others" in values for values in lying):
        raise BadSetting(
            name="open_to_others", why="it counts from a flag or the environment only, not from a file in the working directory"
        )
    widened = [
        f"{name} is set in {file}: {values[name]}"
        for file, values in files.items()
        for name in _WIDENING
        if name in values and name not in chosen
    ]
    if "limits" in merged:
        raise BadSetting(name="limits", why="limits stand beside the other settings, not in a table of their own")
    merged |= _from_environment(dotenv) | chosen
    limits = {name: _span(name, merged.pop(name)) for name in list(merged) if name in _LIMITS}
    for name in _LISTS:
        if isinstance(merged.get(name), str):
            merged[name] = [item.strip() for item in merged[name].split(",") if item.strip()]
    for name in _PATHS:
        if isinstance(merged.get(name), str | Path):
            merged[name] = _at_home(merged[name])
    if unknown := sorted(merged.keys() - known_settings()):
        near = _nearest(unknown[0], known_settings())
        hint = f"the nearest is {near}" if near else "docs/settings.md has them all"
        raise BadSetting(name=unknown[0], why=f"there is none of that name; {hint}")
    try:
        settings = msgspec.convert(
            merged | {"limits": limits, "slips": _slips_told(environ, dotenv), "widened": widened}, Settings, strict=False, dec_hook=_made
        )
    except msgspec.ValidationError as error:
        why, _, path = str(error).partition(" - at `$.")
        raise BadSetting(name=path.rstrip("`").removeprefix("limits."), why=why) from None
    return msgspec.structs.replace(settings, limits=agreeing(settings.limits, limits))


def known_settings() -> set[str]:
    """The name of every setting."""
    return {field.name for field in msgspec.structs.fields(Settings)} - {"limits", "slips", "widened"} | _LIMITS.keys()


def slips(variables: Iterable[str]) -> dict[str, str | None]:
    """Variables that look like ours and are not, each with the name that is nearest to it, if any: most are slips of the pen."""
    settings = known_settings()
    wanted = {name.upper() for name in settings} | _CALLERS
    near_names: dict[str, str | None] = {}
    for variable in sorted(variables):
        name = variable.removeprefix(PREFIX)
        if variable.startswith(PREFIX) and name.lower() not in settings and name not in _CALLERS | _COMMAND_VARIABLES | _TESTS:
            near = _nearest(name.upper(), wanted)
            near_names[variable] = PREFIX + near if near else None
    return near_names


def _nearest(name: str, names: Iterable[str]) -> str | None:
    return next(iter(difflib.get_close_matches(name, sorted(names), 1)), None)


def _slips_told(environ: Mapping[str, str], dotenv: Mapping[str, str]) -> list[str]:
    """A line for each. None keeps a server from starting: programs of others may have such variables too."""
    near_names = slips(environ) | {f"{name} in .env": near for name, near in slips(dotenv).items() if name not in environ}
    return [
        f"{name} is not a setting of postoffice; " + (f"did you mean {near}?" if near else "docs/settings.md has them all")
        for name, near in near_names.items()
    ]


def _from_environment(environ: Mapping[str, str]) -> dict[str, Any]:
    """Other variables of ours, such as the command line's, pass by; an empty one says nothing."""
    names = known_settings()
    settings = {ours: environ[theirs] for theirs, ours in _OTHER_NAMES.items() if environ.get(theirs)}
    for name, value in environ.items():
        setting = name.removeprefix(PREFIX).lower()
        if name.startswith(PREFIX) and setting in names and value:
            settings[setting] = value
    return settings


def _from_dotenv(file: Path) -> dict[str, str]:
    try:
        return {name: value for name, value in dotenv_values(file).items() if value is not None}
    except UnicodeDecodeError as error:
        raise BadSetting(name=str(file), why=f"it is not text in UTF-8 ({error.reason})") from None


def _from_toml(here: Path, path: Path | None) -> dict[str, Any]:
    file = here / "postoffice.toml" if path is None else path
    if path is None and not file.exists():
        return {}
    try:
        return tomllib.loads(file.read_text(encoding="utf-8-sig"))  # which TOML is in, whatever the locale, and editors put a mark before
    except OSError as error:
        raise BadSetting(name=f"config ({file})", why=error.strerror or str(error)) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadSetting(name=f"config ({file})", why=str(error)) from None


def _made(kind: Any, value: Any) -> Any:
    """What is made of a setting's text: TOML would also have numbers and lists."""
    if not isinstance(value, str | Path):
        raise TypeError(f"Expected `str`, got `{type(value).__name__}`")  # noqa: EM102, TRY003 - as the library says it of other settings
    return kind(value)


def _at_home(path: str | Path) -> Path:
    """A path with its `~` filled in: a shell does that for whoever types it, and nobody for a file, a unit or `--data=~/mail`."""
    return Path(os.path.expanduser(path))  # noqa: PTH111 - leaves a home of nobody's as it is


def _span(name: str, value: Any) -> Any:
    """Durations are written in seconds."""
    if _LIMITS[name] not in (timedelta, timedelta | None):
        return value
    try:
        seconds = float(value)
    except (TypeError, ValueError):
        raise BadSetting(name=name, why=f"{value!r} is not a number of seconds") from None
    least = 0 if name in MAY_BE_NONE else _LEAST_WAIT_SECONDS
    if not least <= seconds <= LONGEST.total_seconds():
        raise BadSetting(name=name, why=f"it is {value}, and may be from {least} to {LONGEST.total_seconds():.0f} seconds")
    return seconds
