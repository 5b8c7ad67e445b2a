"""The process for one word: it reads the word from standard input, sends it through Apprise, and prints the outcome."""

import logging
import os
import re
import sys
from collections.abc import Sequence
from contextlib import suppress
from ipaddress import ip_network
from typing import Any

import msgspec

from postoffice.bridges.notify.messenger import Order
from postoffice.core.notify import Outcome, Word
from postoffice.core.webhook import Network, is_allowed

_CALLS_OUT = ("socket.connect", "socket.sendto", "socket.sendmsg")
_ACTS_HERE = ("subprocess.", "os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.fork", "syslog.", "ctypes.dlopen")
_HERE_ONLY = frozenset({"dbus", "glib", "gnome", "kde", "macosx", "qt", "syslog", "windows"})
"""Services that would show or write the word on the office's own machine, where perhaps nobody sits."""
_STATUS = re.compile(r"error=(\d{3})\b")
_MISTAKEN = "no known service has such an address; docs/notify.md has examples"


class _NotAllowedError(OSError):
    """The address may not be called."""


class _Guard:
    """Checks the address that is called in the end, whatever its name was and wherever a redirect leads."""

    def __init__(self, networks: Sequence[Network]) -> None:
        self._networks = networks
        self.refused: str | None = None

    def __call__(self, event: str, args: tuple[Any, ...]) -> None:
        if event in _CALLS_OUT:
            self._check(args[-1])
        elif event.startswith(_ACTS_HERE):
            raise _NotAllowedError(event)

    def _check(self, target: Any) -> None:
        if target is None:
            return  # its connection was checked when it was made
        host = target[0] if isinstance(target, tuple) else None
        with suppress(ValueError):
            if isinstance(host, str) and is_allowed(host, self._networks, encrypted=True):
                return
        self.refused = host if isinstance(host, str) else "a place on this machine"
        raise _NotAllowedError(self.refused)


class _Heard(logging.Handler):
    """Keeps only the status from the library's log: the rest may hold secrets."""

    def __init__(self) -> None:
        super().__init__()
        self.status: str | None = None

    def emit(self, record: logging.LogRecord) -> None:
        if found := _STATUS.search(record.getMessage()):
            self.status = found[1]


def main() -> None:
    """Send the word. Only the outcome is printed."""
    order = msgspec.json.decode(sys.stdin.buffer.read(), type=Order)
    out = os.dup(1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what a service's code prints must not mix with the outcome
    os.write(out, msgspec.json.encode(_done(order.word, [ip_network(network) for network in order.networks])))


def _done(word: Word, networks: Sequence[Network]) -> Outcome:
    import apprise  # noqa: PLC0415 - missing without the extra
    from apprise.logger import logger  # noqa: PLC0415 - as above

    asset = apprise.AppriseAsset(
        app_id="Postoffice", app_desc="Postoffice", app_url="", secure_logging=True, http_redirects=0, pem_autogen=False, pgp_autogen=False
    )
    guard, heard = _Guard(networks), _Heard()
    logger.addHandler(heard)
    try:
        service = None if _scheme(word.address) in _HERE_ONLY else apprise.Apprise.instantiate(word.address, asset=asset)
    except Exception:  # noqa: BLE001 - a service's code may raise anything for a wrong address
        service = None
    if service is None:
        return Outcome(error=_MISTAKEN)
    if not word.text:
        return Outcome(service=str(service.service_name))
    sys.addaudithook(guard)
    library = apprise.Apprise(asset=asset)
    library.add(service)
    sent = bool(library.notify(body=word.text, title=word.title, body_format=apprise.NotifyFormat.TEXT, interpret_escapes=False))
    return Outcome(service=str(service.service_name), error=None if sent else _why(guard, heard))


def _scheme(address: str) -> str:
    return address.partition(":")[0].lower()


def _why(guard: _Guard, heard: _Heard) -> str:
    if guard.refused is not None:
        return f"{guard.refused} may not be called: only public addresses may, and what the setting webhook_networks names"
    return f"it answered {heard.status}" if heard.status else "it cannot be reached, or did not take it"


if __name__ == "__main__":
    main()
