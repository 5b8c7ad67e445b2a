"""Ask whoever answers at an address to prove that it is this machine's own office."""

import msgspec

from postoffice.client.own_office import canonical
from postoffice.core.proof import OfficeProof, is_proven, new_secret

PATH = "/prove"
_PROOF_SECONDS = 5.0
_GOOD = 200


def question() -> tuple[str, bytes]:
    """A nonce, and the body that asks for its proof."""
    nonce = new_secret()
    return nonce, msgspec.json.encode({"nonce": nonce})


def judged(status: int, content: bytes, secret: str | None, address: str, nonce: str) -> OfficeProof | None:
    """The proof, if the answer is one."""
    if status != _GOOD or secret is None:
        return None
    try:
        proof = msgspec.json.decode(content, type=OfficeProof)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    return proof if is_proven(proof, secret, canonical(address), nonce) else None


async def ask_for_proof(address: str, secret: str | None) -> OfficeProof | bool | None:
    """Its proof; True where somebody answers who has none; None where nobody does."""
    from postoffice.client.plain_http import PlainHttp  # noqa: PLC0415 - which asks for proofs itself

    nonce, body = question()
    http = PlainHttp(address, {}, proven=True)
    try:
        answer = await http.call("POST", PATH, body, {}, _PROOF_SECONDS)
    except ConnectionRefusedError:
        return None
    except (OSError, TimeoutError):
        return True
    finally:
        http.close()
    return judged(answer.status, answer.content, secret, address, nonce) or True
