"""News for the page: server-sent events with ids and kinds only. The page then asks for what changed."""

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
"""Seconds for which events are gathered and sent together."""
_KEEPALIVE_SECONDS = 15.0
"""Seconds of silence after which we send a sign of life."""
_encode = msgspec.json.Encoder().encode


async def news(look: Look) -> Response:
    """Send everything after the last event this browser got, and then what comes."""
    after = look.request.headers.get("last-event-id") or look.asked("after")
    watched = look.office.watch(look.caller, after)
    # Once answered, a page shows that it is live. So look first: every later change is then sent.
    first = await anext(watched, None)
    return StreamingResponse(_stream(look, first, watched), media_type="text/event-stream", headers={"X-Accel-Buffering": "no"})


async def _stream(look: Look, pulse: Pulse | None, watched: AsyncIterator[Pulse]) -> AsyncIterator[bytes]:
    yield b"retry: 1000\n\n"
    loop = asyncio.get_running_loop()
    spoke = loop.time()
    # The login may end meanwhile, or the database go away. End the stream then; the browser asks again by itself.
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
