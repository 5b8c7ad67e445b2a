"""Who signed: real checks of ed25519 and ECDSA (secp256k1) signatures, for single keys, lists and thresholds."""

from typing import Any

from Crypto.Hash import keccak
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ec import ECDSA, SECP256K1, EllipticCurvePublicKey
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.utils import Prehashed, encode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256

_KINDS = {"ed25519": "ED25519", "ECDSA_secp256k1": "ECDSA_SECP256K1"}


def signed(key: Any, signatures: Any, body: bytes) -> bool:
    """Whether these signatures over the body are enough for the key."""
    match key.WhichOneof("key"):
        case "keyList":
            return _enough(key.keyList.keys, len(key.keyList.keys), signatures, body)
        case "thresholdKey":
            return _enough(key.thresholdKey.keys.keys, key.thresholdKey.threshold, signatures, body)
        case ("ed25519" | "ECDSA_secp256k1") as kind:
            public = bytes(getattr(key, kind))
            pairs = [pair for pair in signatures.sigPair if pair.WhichOneof("signature") == kind and public.startswith(pair.pubKeyPrefix)]
            return any(_verified(kind, public, bytes(getattr(pair, kind)), body) for pair in pairs)
        case _:
            return False


def present(key: Any) -> Any | None:
    """The key, or nothing where a field holds none or the empty list that takes a key away."""
    kind = key.WhichOneof("key")
    return None if kind is None or (kind == "keyList" and not key.keyList.keys) else key


def as_json(key: Any | None) -> dict[str, str] | None:
    """A key as the mirror shows it."""
    if key is None:
        return None
    kind = key.WhichOneof("key")
    if kind in _KINDS:
        return {"_type": _KINDS[kind], "key": bytes(getattr(key, kind)).hex()}
    return {"_type": "ProtobufEncoded", "key": key.SerializeToString().hex()}


def _enough(keys: Any, needed: int, signatures: Any, body: bytes) -> bool:
    return 0 < needed <= sum(signed(key, signatures, body) for key in keys)


def _verified(kind: str, public: bytes, signature: bytes, body: bytes) -> bool:
    try:
        if kind == "ed25519":
            Ed25519PublicKey.from_public_bytes(public).verify(signature, body)
        else:
            digest = keccak.new(digest_bits=256, data=body).digest()
            pair = encode_dss_signature(int.from_bytes(signature[:32]), int.from_bytes(signature[32:]))
            EllipticCurvePublicKey.from_encoded_point(SECP256K1(), public).verify(pair, digest, ECDSA(Prehashed(SHA256())))
    except InvalidSignature:
        return False
    return True
