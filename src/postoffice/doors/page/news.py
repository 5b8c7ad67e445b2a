"""What happens, pushed: server-sent events that carry ids and kinds only. The page then asks for what changed."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress

import msgspec
from starlette.responses import Response, StreamingResponse

from postoffice.core.agent import Caller
from postoffice.core.errors import MailError
from postoffice.core.names import folded
from postoffice.doors.page.look import Look
from postoffice.doors.page.visitor import visitor
from postoffice.office.news import Pulse

_GATHER_SECONDS = 0.15
"""Seconds: what happens within them is told at once."""
_KEEPALIVE_SECONDS = 15.0
"""Seconds of silence after which we say that we are still here."""
_encode = msgspec.json.Encoder().encode


async def news(look: Look) -> Response:
    """Everything after the last thing this browser heard of, and then whatever comes."""
    after = look.request.headers.get("last-event-id") or look.asked("after")
    watched = look.office.watch(look.caller, after)
    # A browser that is answered says that it is live: by then we have looked once, and whatever changes after that is told.
    first = await anext(watched, None)
    return StreamingResponse(_stream(look, first, watched), media_type="text/event-stream", headers={"X-Accel-Buffering": "no"})


async def _stream(look: Look, pulse: Pulse | None, watched: AsyncIterator[Pulse]) -> AsyncIterator[bytes]:
    yield b"retry: 1000\n\n"
    loop = asyncio.get_running_loop()
    spoke = loop.time()
    # The login may end meanwhile, or the database go away: then there is nothing more to tell, and the browser asks again by itself.
    with suppress(MailError):
        while pulse is not None:
            if not pulse.quiet or loop.time() - spoke >= _KEEPALIVE_SECONDS:
                if await visitor(look.request, look.office) != look.caller:
                    return
                yield b": here\n\n" if pulse.quiet else _told(pulse, look.caller)
                spoke = loop.time()
                if not pulse.quiet:
                    await asyncio.sleep(_GATHER_SECONDS)
            pulse = await anext(watched, None)


def _told(pulse: Pulse, caller: Caller) -> bytes:
    kinds = {event.kind.value for event in pulse.events}
    if pulse.moved:
        kinds.add("moved")
    data = {
        "kinds": ["everything"] if pulse.missed else sorted(kinds),
        "refs": sorted({event.ref for event in pulse.events}),
        "agents": sorted({event.agent for event in pulse.events} or ({folded(caller.name)} if not caller.owner else set())),
    }
    return b"id: %b\nevent: news\ndata: %b\n\n" % (pulse.cursor.encode(), _encode(data))
