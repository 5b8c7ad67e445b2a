"""A hook: an address at which another program leaves letters for one agent, and how it proves who it is."""

import hashlib
import hmac
import re
from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Any, Final
from urllib.parse import parse_qs

import msgspec

from postoffice.core.draft import Draft
from postoffice.core.errors import BadSignature, Invalid
from postoffice.core.webhook import signature

_TOLERANCE_SECONDS: Final = 300
_ID = re.compile(r"[\x21-\x7e]{1,200}")
_SUBJECT_CHARACTERS = 200
_FORM = "application/x-www-form-urlencoded"
_DELIVERY = ("webhook-id", "x-github-delivery", "idempotency-key")
"""Where a delivery has its id, whoever sends it."""


class HookProof(StrEnum):
    """How whoever calls a hook proves that it may, besides knowing its address."""

    STANDARD = "standard"
    GITHUB = "github"
    ADDRESS = "address"
    """By nothing else."""


class Hook(msgspec.Struct, frozen=True, kw_only=True):
    """One, as its owner sees it."""

    name: str
    """Of the agent that writes its letters."""
    to: str
    proof: HookProof
    created_at: datetime
    revoked: bool


def check_proof(proof: HookProof, secret: str | None, headers: Mapping[str, str], body: bytes, now: int) -> None:
    """Refuse what is not signed as it has to be. `now` is in seconds."""
    match proof:
        case HookProof.STANDARD:
            id, at = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
            if not at.isdecimal() or len(at) > len(str(now)) or abs(now - int(at)) > _TOLERANCE_SECONDS:
                raise BadSignature(why="webhook-timestamp is missing, or more than five minutes off")
            wanted = signature(secret or "", f"{id}.{at}.".encode() + body)
            signatures = headers.get("webhook-signature", "").split()
        case HookProof.GITHUB:
            wanted = "sha256=" + hmac.digest((secret or "").encode(), body, hashlib.sha256).hex()
            signatures = [headers.get("x-hub-signature-256", "")]
        case HookProof.ADDRESS:
            return
    if not any(hmac.compare_digest(wanted.encode(), one.encode()) for one in signatures):
        raise BadSignature(why="it does not fit the body and the secret")


def letter_from(to: str, headers: Mapping[str, str], body: bytes) -> Draft:
    """What was left, as a letter: JSON as its payload, everything else as text."""
    try:
        text = body.decode()
    except UnicodeDecodeError:
        raise Invalid(what="body", why="it is no text in UTF-8") from None
    if headers.get("content-type", "").startswith(_FORM) and len(form := parse_qs(text).get("payload", [])) == 1:
        (text,) = form
    try:
        payload = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        payload = None
    delivery = next((headers[name] for name in _DELIVERY if headers.get(name)), None)
    id = delivery if delivery is None or _ID.fullmatch(delivery) else hashlib.sha256(delivery.encode()).hexdigest()
    structured = isinstance(payload, dict | list)
    return Draft(
        to=to,
        subject=_subject(headers, payload),
        content=None if structured else text,
        payload=payload if structured else None,
        client_id=id,
    )


def _subject(headers: Mapping[str, str], payload: Any) -> str:
    """What it is about, in the sender's words."""
    fields = payload if isinstance(payload, dict) else {}
    repository = fields.get("repository")
    words = [
        headers.get("x-github-event"),
        fields.get("type"),
        fields.get("action"),
        repository.get("full_name") if isinstance(repository, dict) else None,
    ]
    return " ".join(word for word in words if isinstance(word, str) and word)[:_SUBJECT_CHARACTERS]
