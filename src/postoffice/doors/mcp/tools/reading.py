"""Letters as a model reads them: fenced, dated, and cut to what one answer may cost."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from functools import lru_cache
from itertools import islice

from postoffice.core.agent import Caller
from postoffice.core.clock import is_id
from postoffice.core.fence import Fence, said_in
from postoffice.core.invisible import visible
from postoffice.core.letter import Letter
from postoffice.core.tokens import PIECE_CHARACTERS, about_tokens, parts
from postoffice.core.tools.mail import LEASE_MINUTES
from postoffice.doors.mcp.request import McpRequest
from postoffice.doors.mcp.tools.result import Result
from postoffice.doors.moments import now

ANSWER_TOKENS = 8_000
"""About the most tokens one answer may cost."""
_LETTER_TOKENS = 7_000
"""The most tokens shown of one letter at once. The rest of the answer needs room too."""
_HEADING_TOKENS = 60
_BEGINNINGS_REMEMBERED = 1024


class ForMind(Result, frozen=True, kw_only=True):
    """An answer that names messages by short ids."""

    short: Mapping[str, str] = {}

    def id(self, id: str) -> str:
        """A message's id in this answer."""
        return self.short.get(id, id)

    def fence(self) -> Fence:
        """The fence of this answer."""
        return Fence(now(), self.id, brief=True)


class Readable(ForMind, frozen=True, kw_only=True):
    """An answer that programs read too. Its text is whole for them, with whole ids."""

    in_text: bool = False
    """Whether a model reads the text."""

    def fence(self) -> Fence:
        return Fence(now(), self.id)

    def letters(self, letters: Sequence[Letter]) -> list[str]:
        """Letters as text; each is cut for a model."""
        marks = self.fence()
        if not self.in_text:
            return [marks.around(letters)]
        return [whole(marks, item, self.id(item.id), listed=False) for item in letters]


def ids_in(letters: Iterable[Letter]) -> list[object]:
    """The ids that letters mention."""
    return [id for letter in letters for id in (letter.id, letter.reply_to)]


async def shorten(request: McpRequest, me: Caller, ids: Iterable[object]) -> Mapping[str, str]:
    """The short ids of these messages. Other ids than the office's stay as they are."""
    return await request.office.short_ids.shorten(me, [id for id in ids if isinstance(id, str) and is_id(id)])


def cost(letter: Letter) -> int:
    """About how many tokens one letter costs, whole or its first part."""
    return _HEADING_TOKENS + about_tokens(next(parts(visible(said_in(letter)), _LETTER_TOKENS)))


def fitting(letters: Sequence[Letter], tokens: int) -> int:
    """How many of these letters, from the first on, fit into one answer. The first one always does."""
    if len(letters) <= 1 or sum(_HEADING_TOKENS + len(visible(said_in(letter))) for letter in letters) <= tokens:
        return len(letters)  # no character costs more than one
    for count, letter in enumerate(letters):
        tokens -= cost(letter)
        if tokens < 0:
            return max(1, count)
    return len(letters)


def whole(marks: Fence, letter: Letter, id: str, *facts: str, part: int = 1, listed: bool = True) -> str:
    """A letter, or a part of one that is too long, with how to read on, even if the tool for that is not `listed`."""
    this, *more = islice(parts(visible(said_in(letter)), _LETTER_TOKENS), part - 1, part + 1)
    if part == 1 and not more:
        return marks.letter(letter, this, *facts)
    shown = marks.letter(letter, this, f"part {part}", *facts)
    if not more:
        return shown
    following = f"{id}#{part + 1}"
    unlisted = "" if listed else f'; where it is not listed, POST {{"tool": "mail_find", "args": {{"id": "{following}"}}}} to this address'
    return f'{shown}\nThis was part {part}. mail_find(id="{following}") shows the next{unlisted}.'


def fits(letter: Letter, tokens: int) -> bool:
    """Whether the beginning shows the whole letter."""
    return not _begin(letter, tokens)[1]


def beginning(marks: Fence, letter: Letter, tokens: int, *facts: str) -> str:
    """The beginning of a letter."""
    this, more = _begin(letter, tokens)
    return marks.letter(letter, f"{this} …" if more else this, *(("only its beginning",) if more else ()), *facts)


def _begin(letter: Letter, tokens: int) -> tuple[str, bool]:
    """What it says first, as it may be shown, and whether there is more. Of a long letter nothing else is looked at."""
    said = said_in(letter)
    characters = tokens * PIECE_CHARACTERS
    begin, more = _cut(said[:characters], tokens)
    return begin, more or len(said) > characters


@lru_cache(_BEGINNINGS_REMEMBERED)
def _cut(said: str, tokens: int) -> tuple[str, bool]:
    """Remembered, because an inbox is looked at often, and counting costs more than the rest of a look."""
    this, *more = islice(parts(visible(said), tokens), 2)
    return this, bool(more)


def lease(request: McpRequest) -> timedelta:
    """For how long a mind leases what it takes here."""
    return min(timedelta(minutes=LEASE_MINUTES), request.office.rules.limits.visibility_most)


async def keep(request: McpRequest, me: Caller, *refs: str) -> None:
    """Extend the lease of a message: a call about it shows that somebody works on it."""
    await request.office.keep(me, refs, lease(request))
