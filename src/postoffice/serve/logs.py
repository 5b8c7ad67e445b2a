"""The log: one line for each entry, as JSON for machines or plain for people, and never with a secret."""

import json
import logging
import re
import sys
import traceback
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

_KEY = re.compile(r"amb_[0-9a-f]{8,}")
_SECRET_PATH = re.compile(r"(/(?:hooks|page/answer)/)[\w-]{20,}")
"""Addresses that are secrets themselves."""
_SERVERS = ("uvicorn.access", "uvicorn.error", "uvicorn.asgi", "websockets.server")
_COLOURS = {"DEBUG": "2", "INFO": "36", "WARNING": "33", "ERROR": "31", "CRITICAL": "31"}


def set_up_logs(level: str, style: str) -> None:
    """Send all logs of this process to standard error, in one style."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_JSON() if style == "json" else _Console(colour=sys.stderr.isatty()))
    logging.basicConfig(handlers=[handler], level=logging.WARNING, force=True)
    logging.getLogger("postoffice").setLevel(level.upper())
    for name in _SERVERS:
        logging.getLogger(name).addFilter(_discreet)


def tell_of_slips(slips: Iterable[str]) -> None:
    """Warn of mistyped settings before anything is done without them."""
    for slip in slips:
        logging.getLogger("postoffice").warning(slip)


def _discreet(record: logging.LogRecord) -> bool:
    """Filter what the web server logs: no keys, and nothing below `info`, where it logs whole requests and frames."""
    record.msg = clean(str(record.msg))
    if isinstance(record.args, tuple):
        record.args = tuple(clean(value) if isinstance(value, str) else value for value in record.args)
    return record.levelno >= logging.INFO


def _facts(record: logging.LogRecord) -> dict[str, Any]:
    """An entry's facts. Of an exception only its place, as its text may quote people's mail."""
    facts = {name: value for name, value in getattr(record, "facts", {}).items() if value is not None}
    if record.exc_info and record.exc_info[0] is not None:
        frames = traceback.extract_tb(record.exc_info[2])[-12:]
        where = [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames]
        facts |= {"error": record.exc_info[0].__name__, "where": where}
    return facts


def clean(text: str) -> str:
    """Text in one line and without colours, with every key and secret address cut short."""
    shown = "".join(char if char.isprintable() else f"\\u{ord(char):04x}" for char in text)
    return _masked(shown)


def _masked(text: str) -> str:
    return _SECRET_PATH.sub(r"\1…", _KEY.sub(lambda key: f"{key[0][:8]}…", text))


class _JSON(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        entry = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "event": record.getMessage(),
            **_facts(record),
        }
        return _masked(json.dumps(entry, default=str))


class _Console(logging.Formatter):
    def __init__(self, *, colour: bool) -> None:
        super().__init__()
        self._colour = colour

    def format(self, record: logging.LogRecord) -> str:
        at = datetime.fromtimestamp(record.created).astimezone().strftime("%H:%M:%S")
        level = f"{record.levelname.lower():<7}"
        if self._colour:
            level = f"\x1b[{_COLOURS[record.levelname]}m{level}\x1b[0m"
        facts = " ".join(f"{name}={value}" for name, value in _facts(record).items())
        return f"{at} {level} " + clean(f"{record.getMessage()} {facts}".rstrip())
