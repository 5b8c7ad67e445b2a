"""News of one agent's mail: hints to look. After a gap they go on where they stopped."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from postoffice.client.wire import Wire, pauses
from postoffice.core.errors import BadCursor, BadLimit, MailError
from postoffice.core.event import Kind

_WAIT_SECONDS = 50.0
_LOOK_SECONDS = 1.0
_FIRST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS = 0.2, 5.0


async def listen(wire: Wire, heard: Callable[[], None], asked: Callable[[], None]) -> None:
    """Call `heard` whenever something may have come, after `asked` if somebody asked for a ring. A gap may cost a needless call."""
    after: Any = None
    wait = _WAIT_SECONDS
    pausing = pauses(_FIRST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS)
    while True:
        try:
            if after is None:
                after = (await wire.get("/mailbox"))["counted"]
                heard()
            news = await wire.get("/events", after=after, wait=wait, limit=100)
            after = news["cursor"]
            if any(one["type"] == Kind.RING for one in news["events"]):
                asked()
            if news["events"]:
                heard()
            pausing = pauses(_FIRST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS)
            if not wait and not news["events"]:
                await asyncio.sleep(_LOOK_SECONDS)
        except BadCursor:
            after = None  # this office has another log
        except BadLimit:
            wait = 0.0  # that office does not allow so long a wait
        except (MailError, LookupError, TypeError):
            await asyncio.sleep(await anext(pausing))
            with suppress(MailError, LookupError, TypeError):
                await wire.get("/mailbox")
                heard()  # the office is back
