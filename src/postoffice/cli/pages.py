"""Reads the office's lists page by page, and says whether there is more."""

from typing import TYPE_CHECKING, Any

from postoffice.cli.command import argument
from postoffice.cli.show import say
from postoffice.core.limits import bounded

if TYPE_CHECKING:
    from rich.console import Console

    from postoffice.client.wire import Wire

_DEFAULT_ITEMS, _MOST_ITEMS = 1_000, 1_000_000
_PAGE_ITEMS = 200  # every office allows so many
LIMIT = argument("--limit", type=int, default=_DEFAULT_ITEMS, help=f"at most so many ({_DEFAULT_ITEMS})")


async def gathered(wire: "Wire", path: str, items: str, limit: int, **query: object) -> Any:
    """The office's answer with its further pages added. Its cursor is set if the limit cut the list off."""
    most = bounded("--limit", limit, _DEFAULT_ITEMS, 1, _MOST_ITEMS)
    answer = await wire.get(path, limit=min(most, _PAGE_ITEMS), **query)
    while answer["cursor"] is not None and (left := most - len(answer[items])) > 0:
        page = await wire.get(path, limit=min(left, _PAGE_ITEMS), cursor=answer["cursor"], **query)
        answer |= {items: answer[items] + page[items], "cursor": page["cursor"]}
    return answer


def tell_of_more(console: "Console", answer: Any) -> None:
    """Say that there is more."""
    if answer["cursor"] is not None:
        say(console, "There are more; see them with a larger --limit.")
