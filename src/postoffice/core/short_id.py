"""A message's id as people and models write it: its last or first characters, as many as tell it from the others in the mailbox."""

import re
from collections.abc import Iterable, Mapping

from postoffice.core.clock import is_id
from postoffice.core.errors import AmbiguousId, TooShortId

LEAST_CHARACTERS = 4
LONGER_CHARACTERS = 8
"""Where so much waits that nobody looks which ids end alike."""
_HEX = re.compile(r"[0-9a-f-]+", re.ASCII)


def part_of(ref: str, name: str) -> str | None:
    """What an id has to end or begin with to be meant; None for what is no part of an id. Less than four characters may be anybody's."""
    part = ref.lower()
    if is_id(part) or not _HEX.fullmatch(part) or len(part) >= len("00000000-0000-7000-8000-000000000000"):
        return None
    if len(part) < LEAST_CHARACTERS:
        raise TooShortId(ref=ref, name=name, least=LEAST_CHARACTERS)
    return part


def meant(ref: str, fitting: Iterable[str], name: str, ambiguous: type[AmbiguousId]) -> str | None:
    """The one id that fits; never a guess."""
    matches = sorted(fitting)
    if len(matches) > 1:
        raise ambiguous(ref=ref, name=name, ids=", ".join(matches[:5]))
    return matches[0] if matches else None


def shortened(ids: Iterable[str], others: Iterable[str], least: int = LEAST_CHARACTERS) -> Mapping[str, str]:
    """For each id its shortest ending that none of the known others has; one that is not known itself stays whole."""
    endings: dict[str, list[str]] = {}
    for id in set(others):
        endings.setdefault(id[-LEAST_CHARACTERS:], []).append(id)
    return {id: _shortest(id, endings.get(id[-LEAST_CHARACTERS:], []), least) for id in ids}


def _shortest(id: str, alike: list[str], least: int) -> str:
    if alike == [id]:
        return id[-least:]
    if id not in alike:
        return id
    others = [other for other in alike if other != id]
    return next((id[-length:] for length in range(least, len(id)) if not any(o.endswith(id[-length:]) for o in others)), id)
