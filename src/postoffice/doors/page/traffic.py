"""Who talks to whom, how much, who did what when, and how long mail waits."""

from starlette.responses import Response

from postoffice.core.traffic import Span
from postoffice.doors.page import timeline
from postoffice.doors.page.graph import draw
from postoffice.doors.page.look import Look
from postoffice.doors.page.matrix import MANY, lay
from postoffice.doors.page.plot import bars, lines

_EXCHANGES_SHOWN = 12


async def traffic(look: Look) -> Response:
    """The flow of mail over an hour, a day or a week."""
    period = look.asked("span")
    span = Span(period) if period in list(Span) else Span.HOUR
    traffic = await look.office.traffic(look.caller, span)
    deeds = await look.office.deeds(look.caller, traffic.begun_at)
    slots = traffic.slots
    plots = (
        bars("Letters", "deliveries begun", traffic, [slot.letters for slot in slots]),
        lines("Wait", "from accepted to first taken", traffic, [(slot.wait_p50, slot.wait_p95) for slot in slots]),
        lines("Latency", "from accepted to acked", traffic, [(slot.latency_p50, slot.latency_p95) for slot in slots]),
    )
    agents = {name for item in traffic.exchanges for name in (item.sender, item.recipient)}
    drawing = (
        {"graph": draw(traffic.exchanges), "matrix": None} if len(agents) <= MANY else {"graph": None, "matrix": lay(traffic.exchanges)}
    )
    work = timeline.draw(deeds, traffic.begun_at, traffic.width * len(slots))
    top = traffic.exchanges[:_EXCHANGES_SHOWN]
    return await look.show("traffic.html", span=span, spans=list(Span), traffic=traffic, plots=plots, top=top, work=work, **drawing)
