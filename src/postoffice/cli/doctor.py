"""Finds what may be wrong between here and the office, and says what to do."""

import os
import shutil
import time
from collections.abc import AsyncIterator
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx2

from postoffice import __version__
from postoffice.cli.caller import OWNER_KEY, agent_of, data_folder, found_here, open_wire, server_of
from postoffice.cli.show import table
from postoffice.client import credentials
from postoffice.client.plain_http import is_plain
from postoffice.core.errors import BadKey, MailError
from postoffice.core.hosts import is_loopback
from postoffice.core.limits import Limits

if TYPE_CHECKING:
    from rich.console import Console

    from postoffice.client.wire import Wire

Finding = dict[str, str]
_LITTLE_DISK_BYTES = 512 << 20
_SKEW_SECONDS = 30
_PRIVATE = 0o077
_FULL_SHARE = 0.8


async def examine(options: dict[str, Any]) -> list[Finding]:
    """Run every check, in the order in which a person would look."""
    findings = [*_environment(), *_folders(options), *_clients(), *_windows()]
    try:
        server = server_of(options)
    except MailError as error:
        return [*findings, _wrong("address", str(error), "write POSTOFFICE_SERVER or --server like http://127.0.0.1:8787")]
    return findings + [finding async for finding in _office(server, options)]


def render(console: "Console", answer: Any) -> None:
    """Show findings to a person."""
    rows = [(finding["is"], finding["what"], finding["found"], finding.get("fix", "")) for finding in answer["findings"]]
    table(console, ("is", "what", "found", "what to do"), rows, "Nothing was looked at.")


def _environment() -> list[Finding]:
    """Find variables that look like ours but are not."""
    from postoffice.config import slips  # noqa: PLC0415

    return [
        _wrong(
            "environment",
            f"{name} is no setting",
            f"did you mean {near}? Otherwise unset it" if near else "see docs/settings.md for the name you meant, or unset it",
        )
        for name, near in slips(os.environ).items()
    ]


def _clients() -> list[Finding]:
    """Find entries of an earlier setup in clients' files."""
    from postoffice.setup.home import my_home  # noqa: PLC0415
    from postoffice.setup.outdated import outdated  # noqa: PLC0415

    return [
        _wrong(
            "setup",
            f"{one.file} points {one.title} at an older address, whose check_mail takes mail for good as it is read",
            one.remedy,
        )
        for home in (my_home(), my_home(project=True))
        for one in outdated(home)
    ]


def _windows() -> list[Finding]:
    """Find open windows that nothing wakes, or not in the best way."""
    from postoffice.cli.ways import unreached  # noqa: PLC0415

    fix = "run `postoffice setup` for it again, with --hook (and --let-in where it holds rings); docs/bell.md lists the ways"
    return [_wrong("window", f"{name}: {what}", fix) for name, what in unreached()]


def _folders(options: dict[str, Any]) -> list[Finding]:
    data = data_folder(options)
    findings = [_credential_modes()]
    if not data.exists():
        return [*findings, _fine("data", f"{data} does not exist; no server has run here")]
    if not data.is_dir():
        return [*findings, _wrong("data", f"{data} is no directory", "name one with --data, or in POSTOFFICE_DATA")]
    if not os.access(data, os.W_OK | os.X_OK):
        return [*findings, _wrong("data", f"{data} cannot be written", f"chown it to the user that runs the server: chown -R $USER {data}")]
    findings.append(_mode("data", data, f"chmod 700 {data}"))
    key = data / OWNER_KEY
    if not key.exists():
        findings.append(_wrong("owner's key", f"{key} is missing", "start the server once; it makes a new one"))
    else:
        findings.append(_mode("owner's key", key, f"chmod 600 {key}"))
    free = shutil.disk_usage(data).free
    if free < _LITTLE_DISK_BYTES:
        findings.append(
            _wrong("disk", f"{free >> 20} MiB are free on the disk of {data}", "free some space; sends are refused when it is full")
        )
    else:
        findings.append(_fine("disk", f"{free >> 30} GiB are free"))
    findings.append(_database(data / "mailbox.db"))
    return findings


def _credential_modes() -> Finding:
    loose = [path for path in credentials.folder().rglob("*.json") if path.stat().st_mode & _PRIVATE]
    if loose:
        return _wrong("keys", f"{loose[0]} can be read by others", f"chmod 600 {loose[0]}, and rotate the key: postoffice key rotate")
    return _fine("keys", f"kept in {credentials.folder()}")


def _mode(what: str, path: Path, fix: str) -> Finding:
    if os.name == "posix" and path.stat().st_mode & _PRIVATE:
        return _wrong(what, f"{path} is open to others", fix)
    return _fine(what, str(path))


def _database(path: Path) -> Finding:
    """Check that the database file is whole. Reading it does not disturb a server."""
    import sqlite3  # noqa: PLC0415

    if not path.exists():
        return _fine("database", "no SQLite file here; mail is in PostgreSQL, or there is none yet")
    try:
        database = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
        try:
            (why,) = database.execute("PRAGMA quick_check(1)").fetchone()
        finally:
            database.close()
    except sqlite3.Error as error:
        why = str(error)
    if why != "ok":
        return _wrong(
            "database", f"{path} is damaged: {why}", "stop the server and bring a backup back: postoffice restore FILE --data NEW"
        )
    return _fine("database", str(path))


async def _office(server: str, options: dict[str, Any]) -> AsyncIterator[Finding]:
    host = httpx2.URL(server).host
    if server.startswith("http://") and not is_loopback(host):
        yield _wrong(
            "transport", f"{server} is plain http: keys and mail can be read on the way", f"use https://{host}, behind a proxy with TLS"
        )
    try:
        async with httpx2.AsyncClient(base_url=server, timeout=10, trust_env=not is_plain(server)) as http:
            answer = await http.get("/version")
    except httpx2.HTTPError as error:
        yield _no_answer(server, str(error) or type(error).__name__)
        return
    body = _said(answer)
    if body.get("name") != "postoffice" or "version" not in body:
        yield _no_office(server, answer.status_code, body)
        return
    version = body["version"]
    yield _fine("server", f"{server}, {body['auth']} ({version})")
    if version != __version__:
        yield _wrong("version", f"the server is {version}, this command {__version__}", "install the newer one in both places")
    if (skew := _skew(answer.headers.get("date"))) > _SKEW_SECONDS:
        yield _wrong(
            "clock", f"this machine and the server differ by {skew} seconds", "set both by NTP; deadlines and expiries are the server's"
        )
    try:
        wire = open_wire(options)
    except MailError as error:
        yield _wrong("you", str(error), "keep a good key: postoffice login, or unset POSTOFFICE_KEY")
        return
    async with wire:
        async for finding in _agent(wire, options):
            yield finding


def _no_answer(server: str, why: str) -> Finding:
    """The finding if there is no answer. If only TLS failed, something does answer there."""
    if "WRONG_VERSION_NUMBER" in why:
        plain = server.replace("https://", "http://", 1)
        return _wrong("server", f"no TLS is spoken at {server} ({why})", f"write {plain}, or the address of the proxy with TLS before it")
    if "CERTIFICATE_VERIFY_FAILED" in why:
        fix = "give it a certificate for that name, from an authority this machine trusts"
        return _wrong("server", f"the certificate of {server} cannot be trusted ({why})", fix)
    return _wrong("server", f"nothing answers at {server} ({why})", "start it: postoffice serve; or say where it is with --server")


def _said(answer: httpx2.Response) -> dict[str, Any]:
    try:
        value = answer.json()
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _no_office(server: str, status: int, said: dict[str, Any]) -> Finding:
    """The finding for an answer that is not the office's."""
    if status == 421:  # noqa: PLR2004 - a misdirected request
        host = httpx2.URL(server).host
        return _wrong("server", f"{server} does not accept this name", f"set POSTOFFICE_ALLOWED_HOSTS={host} for the server")
    if said.keys() == {"detail", "code"}:
        return _wrong("server", f"{server} says: {said['detail']}", "if this is a proxy, start the office behind it: postoffice serve")
    trouble = f"another program answers at {server}"
    return _wrong("server", trouble, "another program has the port; stop it, or choose another port with --port")


async def _agent(wire: "Wire", options: dict[str, Any]) -> AsyncIterator[Finding]:
    try:
        await wire.get("/ready")
        yield _fine("store", "takes mail")
    except MailError as error:
        yield _wrong("store", str(error), "see the server's log; the disk, the database and its schema are the usual causes")
    if wire.key is None and wire.agent is None:
        yield _fine("you", "no agent named; look closer with --as AGENT")
        return
    try:
        me = await wire.get("/agents/me")
    except MailError as error:
        yield _stranger(wire, options, error)
        return
    yield _fine("you", f"{me['name']}, {me['presence']}, {me['unread']} unread")
    if me["unread"] + me["leased"] > _FULL_SHARE * Limits().depth:
        waiting = me["unread"] + me["leased"]
        yield _wrong(
            "mailbox",
            f"{waiting} messages wait, and the limit is {Limits().depth}",
            f"run something that reads them: postoffice run {me['name']} -- CMD",
        )
    if me["dead"]:
        yield _wrong("dead letters", f"{me['dead']} could not be delivered", f"look and requeue: postoffice dead list --as {me['name']}")


def _stranger(wire: "Wire", options: dict[str, Any], error: MailError) -> Finding:
    """The finding if the office does not know the caller."""
    if isinstance(error, BadKey) and found_here(wire, options):
        trouble = f"the owner's key in {data_folder(options) / OWNER_KEY} is another office's"
        return _wrong("you", trouble, "set POSTOFFICE_DATA to where this office keeps its data, or speak as an agent with --as")
    name = agent_of(options) or "NAME"
    return _wrong("you", str(error), f"get a new key for {name}: postoffice login, or postoffice key rotate --of {name} as the owner")


def _skew(date: str | None) -> int:
    try:
        return 0 if date is None else abs(int(time.time() - parsedate_to_datetime(date).timestamp()))
    except (TypeError, ValueError):
        return 0  # without a valid date there is nothing to compare


def _fine(what: str, fact: str) -> Finding:
    return {"is": "fine", "what": what, "found": fact}


def _wrong(what: str, fact: str, fix: str) -> Finding:
    return {"is": "wrong", "what": what, "found": fact, "fix": fix}
