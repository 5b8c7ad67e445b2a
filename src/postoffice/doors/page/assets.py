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
# A browser paints nothing before all styles have come, so they are one file: common styles, then each view's, then those for a small
# window and for paper.
_STYLES = ("page.css", "foryou.css", "mail.css", "views.css", "small.css")
_BEST_LEVEL = 9


def _load() -> dict[str, bytes]:
    files = {path.name: path.read_bytes() for path in sorted(_FOLDER.iterdir()) if path.suffix in _KINDS}
    styles = [files.pop(name) for name in _STYLES]
    return files | {"page.css": b"\n".join([*styles, stylesheet().encode()])}


_FILES = _load()
_PACKED = {name: packed for name, text in _FILES.items() if not name.endswith(".png") and (packed := pack(text, level=_BEST_LEVEL))}
# One version for all files, as modules import each other by name from their own folder.
_VERSION = hashlib.sha256(b"\0".join(name.encode() + b"\0" + text for name, text in _FILES.items())).hexdigest()[:16]


def address(name: str) -> str:
    """A file's address."""
    if name not in _FILES:
        raise NoSuchPath(path=name)
    return f"{STATIC}{_VERSION}/{name}"


def asset(request: Request, version: str, name: str) -> Response:
    """A file. An older page's address gets the present file, which must not be cached under it."""
    if name not in _FILES:
        raise NoSuchPath(path=f"{STATIC}{version}/{name}")
    headers = {"Cache-Control": _FOR_GOOD if version == _VERSION else "no-store", "Vary": "Accept-Encoding"}
    body = _FILES[name]
    if name in _PACKED and unpacks(request):
        headers["Content-Encoding"] = "gzip"
        body = _PACKED[name]
    return Response(body, headers=headers, media_type=_KINDS[Path(name).suffix])
