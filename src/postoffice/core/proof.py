"""How an office proves to programs of its own user that it is theirs: by a secret that only they can read."""

import hashlib
import hmac
import secrets
from typing import Final

import msgspec

SECRET_BYTES: Final = 32
NONCE_LETTERS: Final = 128
"""No nonce is longer."""


class OfficeProof(msgspec.Struct, frozen=True, kw_only=True):
    """What an office says of itself, sealed."""

    version: str
    itself: bool
    """Whether a program started it, and no person."""
    seal: str


def new_secret() -> str:
    """A secret for a data directory, or for one question."""
    return secrets.token_hex(SECRET_BYTES)


def prove(secret: str, address: str, nonce: str, version: str, *, itself: bool) -> OfficeProof:
    """An office's answer to a question. It seals its own address into it, so that another server cannot pass the answer off as its own."""
    return OfficeProof(version=version, itself=itself, seal=_seal(secret, address, nonce, version, itself=itself))


def is_proven(proof: OfficeProof, secret: str, address: str, nonce: str) -> bool:
    """Whether whoever answered has the secret, and listens there."""
    wanted = _seal(secret, address, nonce, proof.version, itself=proof.itself)
    return hmac.compare_digest(wanted.encode(), proof.seal.encode())


def is_older(version: str, than: str) -> bool:
    """Whether a release comes before another, by the numbers in it."""
    return _numbers(version) < _numbers(than)


def _numbers(version: str) -> list[int]:
    return [int(part) for part in version.split("+", maxsplit=1)[0].split(".") if part.isdecimal()]


def _seal(secret: str, address: str, nonce: str, version: str, *, itself: bool) -> str:
    claim = msgspec.json.encode(["postoffice", address, nonce, version, itself])
    return hmac.new(secret.encode(), claim, hashlib.sha256).hexdigest()
