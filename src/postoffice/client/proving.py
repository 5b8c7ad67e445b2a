"""Asks the server at an address to prove that it is this machine's own office."""

import msgspec

from postoffice.client.own_office import canonical
from postoffice.core.proof import OfficeProof, is_proven, new_secret

PATH = "/prove"
_PROOF_SECONDS = 5.0
_GOOD = 200


def question() -> tuple[str, bytes]:
    """A nonce, and the body of the call that asks for a proof over it."""
    nonce = new_secret()
    return nonce, msgspec.json.encode({"nonce": nonce})


def judged(status: int, content: bytes, secret: str | None, address: str, nonce: str) -> OfficeProof | None:
    """The proof, if the answer holds a valid one."""
    if status != _GOOD or secret is None:
        return None
    try:
        proof = msgspec.json.decode(content, type=OfficeProof)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    return proof if is_proven(proof, secret, canonical(address), nonce) else None


async def ask_for_proof(address: str, secret: str | None) -> OfficeProof | bool | None:
    """The office's proof; True if something answers without one; None if nothing answers."""
    from postoffice.client.plain_http import PlainHttp  # noqa: PLC0415 - that module imports this one

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
