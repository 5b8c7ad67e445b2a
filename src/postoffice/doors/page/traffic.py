"""Who talks to whom, how much, who did what when, and how long mail waits."""

from starlette.responses import Response

from postoffice.core.traffic import Span
from postoffice.doors.page import timeline
from postoffice.doors.page.graph import draw
from postoffice.doors.page.look import Look
from postoffice.doors.page.matrix import MANY, lay
from postoffice.doors.page.plot import bars, lines

_TOP = 12


async def traffic(look: Look) -> Response:
    """The flow of mail over an hour, a day or a week."""
    asked = look.asked("span")
    span = Span(asked) if asked in list(Span) else Span.HOUR
    found = await look.office.traffic(look.caller, span)
    deeds = await look.office.deeds(look.caller, found.begun_at)
    slots = found.slots
    plots = (
        bars("Letters", "deliveries begun", found, [slot.letters for slot in slots]),
        lines("Wait", "from accepted to first taken", found, [(slot.wait_p50, slot.wait_p95) for slot in slots]),
        lines("Latency", "from accepted to acked", found, [(slot.latency_p50, slot.latency_p95) for slot in slots]),
    )
    agents = {name for item in found.exchanges for name in (item.sender, item.recipient)}
    drawing = {"graph": draw(found.exchanges), "matrix": None} if len(agents) <= MANY else {"graph": None, "matrix": lay(found.exchanges)}
    work = timeline.draw(deeds, found.begun_at, found.width * len(slots))
    top = found.exchanges[:_TOP]
    return await look.show("traffic.html", span=span, spans=list(Span), traffic=found, plots=plots, top=top, work=work, **drawing)
