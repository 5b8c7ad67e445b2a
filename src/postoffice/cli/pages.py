"""A list of the office's as a command shows it: page after page, and whether there is more."""

from typing import TYPE_CHECKING, Any

from postoffice.cli.command import argument
from postoffice.cli.show import say
from postoffice.core.limits import bounded

if TYPE_CHECKING:
    from rich.console import Console

    from postoffice.client.wire import Wire

_DEFAULT_ITEMS, _MOST_ITEMS = 1_000, 1_000_000
_PAGE_ITEMS = 200  # which every office gives
LIMIT = argument("--limit", type=int, default=_DEFAULT_ITEMS, help=f"at most so many ({_DEFAULT_ITEMS})")


async def gathered(wire: "Wire", path: str, items: str, limit: int, **query: object) -> Any:
    """The office's answer with what stands on its further pages too. The cursor is where the limit cut it off, if it did."""
    most = bounded("--limit", limit, _DEFAULT_ITEMS, 1, _MOST_ITEMS)
    answer = await wire.get(path, limit=min(most, _PAGE_ITEMS), **query)
    while answer["cursor"] is not None and (left := most - len(answer[items])) > 0:
        page = await wire.get(path, limit=min(left, _PAGE_ITEMS), cursor=answer["cursor"], **query)
        answer |= {items: answer[items] + page[items], "cursor": page["cursor"]}
    return answer


def tell_of_more(console: "Console", answer: Any) -> None:
    """What is not shown is at least told of."""
    if answer["cursor"] is not None:
        say(console, "There are more; see them with a larger --limit.")
