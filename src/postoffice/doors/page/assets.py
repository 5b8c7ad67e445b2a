"""The page's own files: styles, scripts and a picture, each at an address that changes when any of them does."""

import hashlib
from pathlib import Path

from starlette.responses import Response

from postoffice.core.errors import NoSuchPath
from postoffice.doors.page.highlight import stylesheet

STATIC = "/page/static/"
_FOLDER = Path(__file__).parent / "static"
_KINDS = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
_FOR_GOOD = "public, max-age=31536000, immutable"


def _load() -> dict[str, bytes]:
    found = {path.name: path.read_bytes() for path in sorted(_FOLDER.iterdir()) if path.suffix in _KINDS}
    # Nothing is painted before every style is there: so they come as one.
    styles = [found.pop(name) for name in sorted(found, reverse=True) if name.endswith(".css")]
    return found | {"page.css": b"\n".join([*styles, stylesheet().encode()])}


_FILES = _load()
# One version for all: modules import each other by name, from the folder they came from.
_VERSION = hashlib.sha256(b"\0".join(name.encode() + b"\0" + text for name, text in _FILES.items())).hexdigest()[:16]


def address(name: str) -> str:
    """Where a file is served."""
    if name not in _FILES:
        raise NoSuchPath(path=name)
    return f"{STATIC}{_VERSION}/{name}"


def asset(version: str, name: str) -> Response:
    """A file. One asked for by an older page's address is the present one, and not to be kept."""
    if name not in _FILES:
        raise NoSuchPath(path=f"{STATIC}{version}/{name}")
    headers = {"Cache-Control": _FOR_GOOD if version == _VERSION else "no-store"}
    return Response(_FILES[name], headers=headers, media_type=_KINDS[Path(name).suffix])
