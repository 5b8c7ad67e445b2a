"""The office in numbers, for Prometheus."""

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from postoffice.core.views import Totals

_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 30, 240)


class Metrics:
    """What one process counts, and what it shows of the whole office when asked."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._requests = Counter("postoffice_requests", "Requests answered.", ["method", "route", "status"], registry=self._registry)
        self._seconds = Histogram(
            "postoffice_request_seconds", "How long answers took.", ["method", "route"], registry=self._registry, buckets=_SECONDS
        )
        self._known: dict[tuple[str, str, int], tuple[Counter, Histogram]] = {}  # looking labels up costs more than counting
        self.sockets = Gauge("postoffice_sockets", "WebSockets open in this process.", registry=self._registry)
        self.pushed = Counter("postoffice_events_pushed", "Events pushed to WebSockets.", registry=self._registry)
        self._agents = Gauge("postoffice_agents", "Agents known.", registry=self._registry)
        self._mail = Gauge("postoffice_mail", "Messages that are not settled, by where they stand.", ["state"], registry=self._registry)

    def answered(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count one request."""
        key = (method, route, status)
        if key not in self._known:
            self._known[key] = (self._requests.labels(*key), self._seconds.labels(method, route))
        count, spent = self._known[key]
        count.inc()
        spent.observe(seconds)

    def show(self, totals: Totals) -> bytes:
        """All of it, as Prometheus reads it."""
        self._agents.set(totals.agents)
        for state in ("held", "pending", "leased", "dead"):
            self._mail.labels(state).set(getattr(totals, state))
        return generate_latest(self._registry)
