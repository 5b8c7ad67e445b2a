"""An OpenTelemetry trace for every message, from send to ack, across replicas.

A trace's id is its message's id, and the sending span's id is made from it. So any replica that leases or acks the
message adds to the same trace, and nothing has to be stored or passed on for tracing.
"""

import logging
import secrets
import time
from collections.abc import Sequence
from contextvars import ContextVar
from datetime import timedelta
from uuid import UUID

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.id_generator import IdGenerator
from opentelemetry.trace import NonRecordingSpan, SpanContext, SpanKind, TraceFlags, set_span_in_context
from opentelemetry.util.types import Attributes

from postoffice import __version__
from postoffice.core.delivery import Leased, Settled, State
from postoffice.core.message import Accepted

_log = logging.getLogger("postoffice.traces")
_EXPORTERS = ("opentelemetry.exporter.otlp.common.http", "opentelemetry.exporter.otlp.proto.http.trace_exporter")
_COLLECTOR_SECONDS = 3.0  # for a collector to answer
_SENDING: ContextVar[UUID | None] = ContextVar("sending", default=None)


class MessageTraces:
    """Sends spans to an OTLP collector, in batches from a thread of its own. If the collector is away, only spans are lost."""

    def __init__(self, endpoint: str) -> None:
        self._provider = TracerProvider(
            resource=Resource.create({"service.name": "postoffice", "service.version": __version__}),
            id_generator=_MessageIds(),
            shutdown_on_exit=False,
        )
        self._provider.add_span_processor(BatchSpanProcessor(_ToldOnce(f"{endpoint.rstrip('/')}/v1/traces")))
        self._tracer = self._provider.get_tracer("postoffice", __version__)

    def sent(self, sender: str, accepted: Accepted, took: timedelta) -> None:
        token = _SENDING.set(UUID(accepted.message_id))
        try:
            recipients = tuple(posted.recipient for posted in accepted.posted)
            self._tell("send", accepted.message_id, SpanKind.PRODUCER, took, {"mail.from": sender, "mail.to": recipients}, root=True)
        finally:
            _SENDING.reset(token)

    def taken(self, mailbox: str, leased: Leased, took: timedelta) -> None:
        about: dict[str, str | int] = {
            "mail.mailbox": mailbox,
            "mail.attempt": leased.attempt,
            "mail.number": leased.number,
            "mail.type": leased.message.type,
        }
        self._tell("take", leased.message.id, SpanKind.CONSUMER, took, about)

    def settled(self, mailbox: str, settled: Settled, took: timedelta) -> None:
        name = "ack" if settled.state is State.ACKED else f"settle {settled.state}"
        self._tell(name, settled.message_id, SpanKind.CONSUMER, took, {"mail.mailbox": mailbox, "mail.state": settled.state.value})

    def close(self) -> None:
        """Send what is left, and stop."""
        self._provider.shutdown()

    def _tell(self, name: str, message_id: str, kind: SpanKind, took: timedelta, about: Attributes, *, root: bool = False) -> None:
        ended = time.time_ns()
        begun = ended - int(took.total_seconds() * 1e9)
        context = None if root else set_span_in_context(NonRecordingSpan(_sending_span(UUID(message_id))))
        span = self._tracer.start_span(name, context, kind, {"mail.id": message_id, **(about or {})}, start_time=begun)
        span.end(ended)


class _ToldOnce(SpanExporter):
    """An exporter that logs a missing collector once with the reason, instead of with every batch."""

    def __init__(self, address: str) -> None:
        self._exporter = OTLPSpanExporter(address, timeout=_COLLECTOR_SECONDS)
        self._away = False
        for name in _EXPORTERS:
            logging.getLogger(name).addFilter(self._is_new)

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Send a batch of spans."""
        result = self._exporter.export(spans)
        away = result is not SpanExportResult.SUCCESS
        if away and not self._away:
            _log.warning("the trace collector accepts nothing; spans are dropped until it does")
        if self._away and not away:
            _log.info("the trace collector accepts spans again")
        self._away = away
        return result

    def shutdown(self) -> None:
        """Close the exporter."""
        self._exporter.shutdown()  # type: ignore[no-untyped-call]  # the library's own is not annotated
        for name in _EXPORTERS:
            logging.getLogger(name).removeFilter(self._is_new)

    def _is_new(self, _: logging.LogRecord) -> bool:
        return not self._away


class _MessageIds(IdGenerator):
    """Makes span ids: from the message's id for the sending span, random for others."""

    def generate_trace_id(self) -> int:
        message = _SENDING.get()
        return secrets.randbits(128) if message is None else message.int

    def generate_span_id(self) -> int:
        message = _SENDING.get()
        return secrets.randbits(64) | 1 if message is None else _span_id(message)


def _sending_span(message: UUID) -> SpanContext:
    return SpanContext(message.int, _span_id(message), is_remote=True, trace_flags=TraceFlags(TraceFlags.SAMPLED))


def _span_id(message: UUID) -> int:
    """A span id: the random half of the message's id."""
    return message.int & 0xFFFF_FFFF_FFFF_FFFF
