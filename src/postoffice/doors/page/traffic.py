"""Who talks to whom, how much, and how long mail waits."""

from starlette.responses import Response

from postoffice.core.traffic import Span
from postoffice.doors.page.graph import draw
from postoffice.doors.page.look import Look
from postoffice.doors.page.plot import bars, lines

_TOP = 12


async def traffic(look: Look) -> Response:
    """The flow of mail over an hour, a day or a week."""
    asked = look.asked("span")
    span = Span(asked) if asked in list(Span) else Span.HOUR
    found = await look.office.traffic(look.caller, span)
    slots = found.slots
    plots = (
        bars("Letters", "deliveries begun", found, [slot.letters for slot in slots]),
        lines("Wait", "from accepted to first taken", found, [(slot.wait_p50, slot.wait_p95) for slot in slots]),
        lines("Latency", "from accepted to acked", found, [(slot.latency_p50, slot.latency_p95) for slot in slots]),
    )
    top = found.exchanges[:_TOP]
    return await look.show("traffic.html", span=span, spans=list(Span), traffic=found, plots=plots, graph=draw(found.exchanges), top=top)
