"""What a letter carries besides its words: bytes kept beside the mail, named by their digest."""

import base64
import binascii
import re
from collections.abc import Sequence
from datetime import datetime

import msgspec

from postoffice.core.errors import BadDigest, BadMessage, BadRange, Invalid
from postoffice.core.invisible import is_hidden
from postoffice.core.names import is_device

ANY_TYPE = "application/octet-stream"
"""The media type of bytes of which nobody said what they are."""
PREFIX = "sha256:"
PICTURES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
"""Media types of pictures that browsers show and that run nothing."""
LOOKED_AT_BYTES = 10 << 20
"""What is larger people save and do not look at in a page."""
_DIGEST = re.compile(r"(?:sha256:)?([0-9a-f]{64})", re.IGNORECASE | re.ASCII)
_TYPE = re.compile(r"[a-z0-9][a-z0-9!#$&^_.+-]{0,62}/[a-z0-9][a-z0-9!#$&^_.+-]{0,62}", re.ASCII)
_RANGE = re.compile(r"bytes=(\d{0,18})-(\d{0,18})", re.ASCII)
_NAME_BYTES = 255  # that file systems take
_APART = frozenset('/\\:*?"<>|')
"""What separates folders or means something to a system that files are saved on."""


class Attachment(msgspec.Struct, frozen=True):
    """What a letter says of bytes it carries. Who sends it names the digest; the office knows the size."""

    digest: str
    name: str = ""
    type: str = ""
    size: int = 0


class Upload(msgspec.Struct, frozen=True, kw_only=True):
    """Bytes on their way here."""

    id: str
    size: int | None
    """How many there will be, where that was said."""
    offset: int
    """How many are kept: from here it goes on."""
    digest: str | None
    """What they have to have, where that was said."""
    name: str
    type: str
    expires_at: datetime
    """From when on it is dropped, if nothing more comes."""


class Kept(msgspec.Struct, frozen=True, kw_only=True):
    """Bytes that are here, as one who may fetch them knows them."""

    digest: str
    upload: str
    """The upload that brought them."""
    size: int
    name: str
    type: str

    def attachment(self) -> Attachment:
        """The same as a letter says it."""
        return Attachment(digest=self.digest, name=self.name, type=self.type, size=self.size)


def digest_of(text: object) -> str:
    """A digest as the office writes it, from `sha256:…` or the bare 64 hexadecimal digits."""
    match = _DIGEST.fullmatch(text) if isinstance(text, str) else None
    if match is None:
        raise BadDigest(digest=text)
    return PREFIX + match[1].lower()


def digest_of_header(text: str) -> str | None:
    """The SHA-256 of a Content-Digest header (RFC 9530); None where it has only others."""
    for item in text.split(","):
        name, _, value = item.strip().partition("=")
        if name.lower() == "sha-256":
            try:
                raw = base64.b64decode(value.strip().removeprefix(":").removesuffix(":"), validate=True)
            except (binascii.Error, ValueError):
                raw = b""
            return digest_of(raw.hex())
    return None


def check_filename(name: object) -> str:
    """The name, if it is one that nobody can be misled or harmed by: no path, no device, nothing that is not seen."""
    if not isinstance(name, str):
        raise Invalid(what="an attachment's name", why="it must be text")
    why = _fault_of(name)
    if why is not None:
        raise Invalid(what=f"an attachment's name {name[:_NAME_BYTES]!a}", why=why)
    return name


def check_media_type(type: object) -> str:
    """The media type, such as image/png; empty for one that was not said."""
    if type == "":
        return ANY_TYPE
    if not isinstance(type, str) or not _TYPE.fullmatch(type.lower()):
        raise Invalid(what="an attachment's type", why="it is a media type without parameters, such as image/png")
    return type.lower()


def check_attachments(given: Sequence[Attachment], most: int) -> tuple[Attachment, ...]:
    """What a draft carries, as it is looked up: sizes are the office's to say."""
    if len(given) > most:
        raise BadMessage(field="attachments", why=f"there are {len(given)}, more than {most}")
    return tuple(
        Attachment(digest_of(one.digest), check_filename(one.name) if one.name else "", check_media_type(one.type) if one.type else "")
        for one in given
    )


def fallback_name(digest: str) -> str:
    """What bytes are called that nobody gave a name."""
    return digest.removeprefix(PREFIX)[:16]


def part_wanted(header: str | None, size: int) -> tuple[int, int] | None:
    """Which bytes a Range header asks for, the end not among them; None for all. Several ranges at once are answered with all."""
    match = _RANGE.fullmatch(header.strip()) if header else None
    if match is None or match.groups() == ("", ""):
        return None
    first, last = match.groups()
    begin = int(first) if first else max(size - int(last), 0)
    end = min(int(last) + 1, size) if first and last else size
    if first and last and int(last) < begin:
        return None
    if begin >= end:
        raise BadRange(range=header, size=size)
    return begin, end


def _fault_of(name: str) -> str | None:
    if not name or len(name.encode("utf-8", "surrogatepass")) > _NAME_BYTES:
        return f"it has to be 1 to {_NAME_BYTES} bytes long"
    if any(is_hidden(char) or not char.isprintable() or "\ud800" <= char <= "\udfff" for char in name):
        return "it holds a character that nobody sees"
    if not _APART.isdisjoint(name) or set(name) == {"."}:
        return "it is a path, or may be taken for one; give the file's name alone"
    if name != name.strip() or name.endswith("."):
        return "it begins or ends with a space, or ends with a dot"
    if is_device(name):
        return "some systems take it for a device"
    return None
