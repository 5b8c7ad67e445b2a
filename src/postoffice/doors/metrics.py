"""The office in numbers, for Prometheus."""

from collections.abc import Iterable, Mapping

from prometheus_client import CollectorRegistry, Counter, Gauge, Metric, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.registry import Collector

from postoffice.core.tally import Tally
from postoffice.core.views import Numbers
from postoffice.office import PostOffice

_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 30, 240)


class Metrics:
    """The numbers of one process, and those of the whole office."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._answers: dict[tuple[str, str, int], Tally] = {}
        self.sockets = Gauge("postoffice_sockets", "WebSockets open in this process.", registry=self._registry)
        self.pushed = Counter("postoffice_events_pushed", "Events pushed to WebSockets.", registry=self._registry)

    def answered(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count one request."""
        key = (method, route, status)
        if key not in self._answers:
            self._answers[key] = Tally(_SECONDS)
        self._answers[key].add(seconds)

    def show(self, numbers: Numbers | None, office: PostOffice) -> bytes:
        """All numbers in Prometheus' format; without those of the whole office if the store does not answer."""
        return generate_latest(self._registry) + generate_latest(_Tallies(self._answers, office, numbers))


class _Tallies(Collector):
    """The office's own tallies. The library's counters would cost more than some of what they count."""

    def __init__(self, answers: Mapping[tuple[str, str, int], Tally], office: PostOffice, numbers: Numbers | None) -> None:
        self._answers = answers
        self._office = office
        self._numbers = numbers

    def collect(self) -> Iterable[Metric]:
        office, tallies = self._office, self._office.tallies
        requests = CounterMetricFamily("postoffice_requests", "Requests answered.", labels=["method", "route", "status"])
        seconds = HistogramMetricFamily("postoffice_request_seconds", "How long answers took.", labels=["method", "route", "status"])
        for (method, route, status), tally in self._answers.items():
            labels = [method, route, str(status)]
            requests.add_metric(labels, sum(tally.counts))
            seconds.add_metric(labels, tally.up_to(), tally.sum)
        yield from (requests, seconds)
        for name, text, tally in (
            ("postoffice_wait_seconds", "How long mail waited before it was taken.", tallies.waits),
            ("postoffice_wake_seconds", "How long mail took to reach a caller who was waiting for it.", tallies.wakes),
            ("postoffice_commit_seconds", "How long a group of acts took to reach the disk.", office.store.engine.commits),
        ):
            yield HistogramMetricFamily(name, text, buckets=tally.up_to(), sum_value=tally.sum)
        for name, text, count in (
            ("postoffice_sent", "Messages accepted by this process.", tallies.sent),
            ("postoffice_redelivered", "Messages taken more than once.", tallies.redelivered),
        ):
            yield CounterMetricFamily(name, text, count)
        for name, text, now in (
            ("postoffice_waiters", "Calls that wait for mail in this process: long polls and MCP waits.", tallies.waiters.now),
            ("postoffice_watchers", "Pages that get news from this process by server-sent events.", tallies.watchers.now),
            ("postoffice_hints_carried", "1 if hints come from other replicas, 0 if this one polls.", int(office.hints_carried)),
            ("postoffice_upkeep_held", "1 if this process does the sweeps now, 0 if another does.", int(office.upkeep.held)),
            ("postoffice_database_answers", "1 if the database answers this process, 0 if not.", int(self._numbers is not None)),
        ):
            yield GaugeMetricFamily(name, text, now)
        if self._numbers is not None:
            yield from _of_office(self._numbers)


def _of_office(numbers: Numbers) -> Iterable[Metric]:
    totals = numbers.totals
    yield GaugeMetricFamily("postoffice_agents", "Agents known.", totals.agents)
    yield GaugeMetricFamily("postoffice_oldest_seconds", "How long the oldest waiting message has waited.", numbers.oldest.total_seconds())
    mail = {"held": totals.held, "pending": totals.pending, "leased": totals.leased, "dead": totals.dead}
    for name, text, counts in (
        ("postoffice_mail", "Messages that are not settled, by state.", mail),
        ("postoffice_ledger_posts", "Posts to the ledger, by state.", numbers.posts),
    ):
        if counts:
            family = GaugeMetricFamily(name, text, labels=["state"])
            for state, count in counts.items():
                family.add_metric([state], count)
            yield family
