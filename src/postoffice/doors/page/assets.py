"""The page's own files: styles, scripts and pictures, each at an address that changes when any of them does."""

import hashlib
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response

from postoffice.core.errors import NoSuchPath
from postoffice.doors.page.highlight import stylesheet
from postoffice.doors.page.packing import pack, unpacks

STATIC = "/page/static/"
_FOLDER = Path(__file__).parent / "static"
_KINDS = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml", ".png": "image/png"}
_FOR_GOOD = "public, max-age=31536000, immutable"
# Nothing is painted before every style is there, so they come as one: what holds everywhere, each view's own, and last what a small
# window and paper change.
_STYLES = ("page.css", "foryou.css", "mail.css", "views.css", "small.css")
_BEST_LEVEL = 9


def _load() -> dict[str, bytes]:
    files = {path.name: path.read_bytes() for path in sorted(_FOLDER.iterdir()) if path.suffix in _KINDS}
    styles = [files.pop(name) for name in _STYLES]
    return files | {"page.css": b"\n".join([*styles, stylesheet().encode()])}


_FILES = _load()
_PACKED = {name: packed for name, text in _FILES.items() if not name.endswith(".png") and (packed := pack(text, level=_BEST_LEVEL))}
# One version for all: modules import each other by name, from the folder they came from.
_VERSION = hashlib.sha256(b"\0".join(name.encode() + b"\0" + text for name, text in _FILES.items())).hexdigest()[:16]


def address(name: str) -> str:
    """Where a file is served."""
    if name not in _FILES:
        raise NoSuchPath(path=name)
    return f"{STATIC}{_VERSION}/{name}"


def asset(request: Request, version: str, name: str) -> Response:
    """A file. One asked for by an older page's address is the present one, and not to be kept."""
    if name not in _FILES:
        raise NoSuchPath(path=f"{STATIC}{version}/{name}")
    headers = {"Cache-Control": _FOR_GOOD if version == _VERSION else "no-store", "Vary": "Accept-Encoding"}
    body = _FILES[name]
    if name in _PACKED and unpacks(request):
        headers["Content-Encoding"] = "gzip"
        body = _PACKED[name]
    return Response(body, headers=headers, media_type=_KINDS[Path(name).suffix])
