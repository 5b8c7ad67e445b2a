"""Letters as a mind reads them: fenced, dated, and no more of them than one answer may cost."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from itertools import islice

from postoffice.core.agent import Caller
from postoffice.core.clock import is_id
from postoffice.core.fence import Fence, said_in
from postoffice.core.invisible import visible
from postoffice.core.letter import Letter
from postoffice.core.tokens import about_tokens, parts
from postoffice.core.tools.mail import LEASE_MINUTES
from postoffice.doors.mcp.request import McpRequest
from postoffice.doors.mcp.tools.result import Result
from postoffice.doors.moments import now

ANSWER_TOKENS = 8_000
"""About so much one answer costs at most."""
_LETTER_TOKENS = 7_000
"""So much of one letter is shown at once, so that its heading and the rest of the answer have room."""
_HEADING_TOKENS = 60


class ForMind(Result, frozen=True, kw_only=True):
    """An answer in which messages are called by the shortest ends of their ids that tell them from the reader's others."""

    short: Mapping[str, str] = {}

    def id(self, id: str) -> str:
        """How a message is called in this answer."""
        return self.short.get(id, id)

    def fence(self) -> Fence:
        """The fence of this answer."""
        return Fence(now(), self.id, brief=True)


async def shorten(request: McpRequest, me: Caller, ids: Iterable[object]) -> Mapping[str, str]:
    """The short ids of these messages; what is no id of the office's stays as it is."""
    return await request.office.short_ids.shorten(me, [id for id in ids if isinstance(id, str) and is_id(id)])


def cost(letter: Letter) -> int:
    """About what it costs to show one letter, whole or its first part."""
    return _HEADING_TOKENS + about_tokens(next(parts(visible(said_in(letter)), _LETTER_TOKENS)))


def fitting(letters: Sequence[Letter], tokens: int) -> int:
    """How many of these, in their order, one answer can show."""
    for count, letter in enumerate(letters):
        tokens -= cost(letter)
        if tokens < 0:
            return count
    return len(letters)


def whole(marks: Fence, letter: Letter, id: str, *facts: str, part: int = 1) -> str:
    """A letter, or a part of one that is too long for one answer, and how to read on."""
    this, *more = islice(parts(visible(said_in(letter)), _LETTER_TOKENS), part - 1, part + 1)
    if part == 1 and not more:
        return marks.letter(letter, this, *facts)
    shown = marks.letter(letter, this, f"part {part}", *facts)
    return f'{shown}\nThis was part {part}. mail_find(id="{id}#{part + 1}") shows the next.' if more else shown


def fits(letter: Letter, tokens: int) -> bool:
    """Whether its beginning is all of it."""
    return len(list(islice(parts(visible(said_in(letter)), tokens), 2))) == 1


def beginning(marks: Fence, letter: Letter, tokens: int, *facts: str) -> str:
    """A letter whose beginning will do."""
    this, *more = islice(parts(visible(said_in(letter)), tokens), 2)
    return marks.letter(letter, f"{this} …" if more else this, *(("only its beginning",) if more else ()), *facts)


def lease(request: McpRequest) -> timedelta:
    """How long a mind keeps what it takes here."""
    return min(timedelta(minutes=LEASE_MINUTES), request.office.rules.limits.visibility_most)


async def keep(request: McpRequest, me: Caller, *refs: str) -> None:
    """A call about a message is a sign that somebody works on it."""
    await request.office.keep(me, refs, lease(request))
