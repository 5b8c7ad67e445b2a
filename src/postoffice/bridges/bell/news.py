"""News of one agent's mail, or a role's: hints to look. After a gap they go on where they stopped."""

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


async def listen(wire: Wire, heard: Callable[[], None], asked: Callable[[], None], role: str | None = None) -> None:
    """Call `heard` whenever something may have come, after `asked` if somebody asked for a ring. A gap may cost a needless call.

    With a role it is that one's mail instead of the agent's own.
    """
    whose = {} if role is None else {"of": role}
    after: Any = None
    wait = _WAIT_SECONDS
    pausing = pauses(_FIRST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS)
    while True:
        try:
            if after is None:
                after = (await wire.get("/mailbox", **whose))["counted"]
                heard()
            news = await wire.get("/events", after=after, wait=wait, limit=100, **whose)
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
                await wire.get("/mailbox", **whose)
                heard()  # the office is back
