"""Search: words and filters, all of it in the address."""

from datetime import UTC, datetime, timedelta

from starlette.responses import Response

from postoffice.core.errors import Invalid
from postoffice.core.query import WHAT_TO_ASK
from postoffice.core.views import Found, Page
from postoffice.doors.page.look import Look

FILTERS = ("q", "sender", "recipient", "type", "since", "until")
_SHOWN = 30


async def search(look: Look) -> Response:
    """What was found; without words and filters, the form alone."""
    given = {name: look.asked(name) for name in FILTERS}
    found: Page[Found] = Page(())
    asked = any(value is not None for value in given.values())
    if asked:
        found = await look.office.search(
            look.caller,
            given["q"] or "",
            sender=given["sender"],
            recipient=given["recipient"],
            type=given["type"],
            since=_day("since", given["since"]),
            until=_day("until", given["until"], after=timedelta(days=1)),
            cursor=look.asked("cursor"),
            limit=_SHOWN,
            everyone=look.caller.owner,
        )
    filtered = any(given[name] for name in FILTERS[1:])
    return await look.show("search.html", given=given, found=found, filtered=filtered, asked=asked, what_to_ask=WHAT_TO_ASK)


def _day(what: str, text: str | None, after: timedelta = timedelta(0)) -> datetime | None:
    if text is None:
        return None
    try:
        return datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=UTC) + after
    except (ValueError, OverflowError):
        raise Invalid(what=what, why=f"{text!r} is not a day; write 2026-02-28") from None
