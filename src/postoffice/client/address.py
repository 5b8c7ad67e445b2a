"""An office's address, in any of the forms people write."""

import re
from urllib.parse import urlsplit

from postoffice.core.errors import BadSetting
from postoffice.core.hosts import is_loopback

DEFAULT = "http://127.0.0.1:8787"
_HOST = re.compile(r"[A-Za-z0-9._:%-]+")


def read_address(text: str, setting: str) -> str:
    """The full address for `host:port` or a full address. For another machine, plain http has to be written out."""
    written = text.strip()
    shown = written.rpartition("@")[2].partition("?")[0]  # never show a key in the error
    try:
        if "://" not in written:
            host = urlsplit(f"//{written}").hostname or ""
            written = f"{'http' if is_loopback(host) else 'https'}://{written}"
        parts = urlsplit(written.rstrip("/") if not written.endswith("://") else written)
        port = parts.port
        (parts.hostname or "").encode("idna")  # as the lookup will do
    except ValueError as error:
        raise BadSetting(name=setting, why=f"{shown!r} is not an address: {error}") from None
    if parts.scheme not in ("http", "https") or not _HOST.fullmatch(parts.hostname or "") or port == 0:
        raise BadSetting(name=setting, why=f"{shown!r} is not an address; write host:port, or http://host:port")
    if parts.username or parts.query:
        raise BadSetting(name=setting, why="an address must not contain a key; give the key by itself")
    return f"{parts.scheme}://{parts.netloc}{parts.path}"
