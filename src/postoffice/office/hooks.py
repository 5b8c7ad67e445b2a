"""Verbs about hooks: the owner adds and revokes them, and whoever knows one leaves letters there."""

import base64
import binascii
import hashlib
import secrets
from collections.abc import Mapping

from postoffice.acts.people.hooks import AddHook, RevokeHook
from postoffice.core.agent import Caller, key_hash, key_prefix, new_key
from postoffice.core.clock import Clock
from postoffice.core.errors import IdConflict, Invalid, NoSuchHook, OwnerOnly
from postoffice.core.hook import Hook, HookProof, check_proof, letter_from
from postoffice.core.message import Accepted
from postoffice.core.names import check_free, check_name
from postoffice.core.webhook import new_secret
from postoffice.office.sending import Sending
from postoffice.store.store import Store

_BYTES = 32
_SECRET_CHARACTERS = 200
_MICROS = 1_000_000


class Hooks:
    """Of an address only the hash is kept."""

    def __init__(self, store: Store, clock: Clock, sending: Sending) -> None:
        self._store = store
        self._clock = clock
        self._sending = sending

    async def all(self, caller: Caller) -> tuple[Hook, ...]:
        """Every hook there is or was."""
        _owner(caller)
        return await self._store.hooks.page()

    async def add(
        self, caller: Caller, name: str, to: str, *, proof: HookProof = HookProof.ADDRESS, secret: str | None = None
    ) -> tuple[str, str, str | None]:
        """Open an address that leaves letters for an agent. Gives the hook's name, the token in its address, and the secret; neither is shown again."""
        _owner(caller)
        made = _secret(proof, secret)
        token, key = secrets.token_urlsafe(_BYTES), new_key()  # nobody ever has this key: the name is the hook's alone
        hash = key_hash(key)
        assert hash is not None
        act = AddHook(check_free(name), check_name(to), (_hash(token), proof, made), hash, key_prefix(key))
        _, kept_name = await self._store.do(act)
        return kept_name, token, made

    async def revoke(self, caller: Caller, name: str) -> None:
        """Close an address for good."""
        _owner(caller)
        await self._store.do(RevokeHook(check_name(name)))

    async def leave(self, token: str, headers: Mapping[str, str], body: bytes) -> Accepted | None:
        """Leave a letter at a hook. Gives nothing if one was left under the same delivery id before, whatever it says."""
        row = await self._store.hooks.by_hash(_hash(token))
        if row is None:
            raise NoSuchHook
        hook, secret = row
        check_proof(hook.proof, secret, headers, body, self._clock.now() // _MICROS)
        try:
            return await self._sending.send(Caller(hook.name, verified=True), letter_from(hook.to, headers, body))
        except IdConflict:
            return None


def _secret(proof: HookProof, given: str | None) -> str | None:
    if proof is HookProof.ADDRESS:
        if given is not None:
            raise Invalid(what="secret", why="an address alone proves nothing by a secret; say standard or github")
        return None
    if given is None:
        return new_secret(secrets.token_bytes(_BYTES)) if proof is HookProof.STANDARD else secrets.token_hex(_BYTES)
    if not 0 < len(given) <= _SECRET_CHARACTERS or not given.isascii() or not given.isprintable():
        raise Invalid(what="secret", why=f"it has at most {_SECRET_CHARACTERS} characters of ASCII")
    if proof is HookProof.STANDARD:
        try:
            base64.b64decode(given.removeprefix("whsec_"), validate=True)
        except binascii.Error:
            raise Invalid(what="secret", why="it has to be like whsec_ and base64") from None
    return given


def _owner(caller: Caller) -> None:
    if not caller.owner:
        raise OwnerOnly(what="keep hooks")


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode(errors="surrogatepass")).hexdigest()
