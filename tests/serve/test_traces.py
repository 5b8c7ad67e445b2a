"""Every message's way as one trace, whichever replica it passes."""

import logging
import threading
from collections.abc import AsyncIterator, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from postoffice.core.draft import Draft
from postoffice.office import OfficeRules, PostOffice
from postoffice.serve.traces import MessageTraces, _ToldOnce
from postoffice.wake.local import LocalWake
from tests.engines import PostgresEngine, PostgresServer


class Collector(ThreadingHTTPServer):
    """Takes spans as any OTLP collector does."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.spans: list[Span] = []
        self.answer = 200

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def attributes(self, span: Span) -> dict[str, str]:
        return {one.key: one.value.string_value or str(one.value.int_value) for one in span.attributes}


class _Handler(BaseHTTPRequestHandler):
    server: Collector

    def do_POST(self) -> None:
        assert self.path == "/v1/traces"
        told = ExportTraceServiceRequest.FromString(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.spans += [span for resource in told.resource_spans for scope in resource.scope_spans for span in scope.spans]
        self.send_response(self.server.answer)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Be quiet."""


@pytest.fixture
def collector() -> Iterator[Collector]:
    with Collector() as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
async def url(postgres: PostgresServer) -> AsyncIterator[str]:
    address = await postgres.copy()
    yield address
    await postgres.drop(address)


def replica(url: str, collector: Collector) -> PostOffice:
    return PostOffice(PostgresEngine(url).store(), LocalWake(), OfficeRules(tick=3600), MessageTraces(collector.url))


async def test_what_one_replica_sent_and_another_took_and_acked_is_one_trace(url: str, collector: Collector) -> None:
    async with replica(url, collector) as here, replica(url, collector) as there:
        alice, bob = await here.identify(name="alice"), await there.identify(name="bob")
        accepted = await here.send(alice, Draft(to="bob", content="hello", client_id="m1"))
        await here.send(alice, Draft(to="bob", content="hello", client_id="m1"))  # the same again is no new message
        for times in (1, 2):
            (leased,) = (await there.receive(bob)).leased
            await (there.nack if times == 1 else there.ack)(bob, leased.message.id, leased.token)
    spans = sorted(collector.spans, key=lambda span: span.end_time_unix_nano)
    assert {span.trace_id.hex() for span in spans} == {accepted.message_id.replace("-", "")}
    assert [span.name for span in spans] == ["send", "take", "settle pending", "take", "ack"]
    root = spans[0]
    assert root.parent_span_id == b""
    assert {span.parent_span_id for span in spans[1:]} == {root.span_id}
    assert collector.attributes(root)["mail.from"] == "alice"
    assert [collector.attributes(span)["mail.attempt"] for span in spans if span.name == "take"] == ["1", "2"]


async def test_what_is_said_is_never_told(url: str, collector: Collector) -> None:
    async with replica(url, collector) as office:
        alice = await office.identify(name="alice")
        await office.send(alice, Draft(to="bob", content="a secret", subject="a secret", payload={"a": "secret"}))
    assert collector.spans
    assert "secret" not in str(collector.spans)


def test_a_collector_that_takes_nothing_is_told_of_once_with_why_and_so_is_its_return(
    collector: Collector, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "postoffice.traces")
    exporter = _ToldOnce(f"{collector.url}/v1/traces")
    for collector.answer in (200, 403, 403, 403, 200, 200):
        exporter.export([])
    exporter.shutdown()
    why, away, back = (record.getMessage() for record in caplog.records)
    assert "403" in why
    assert "dropped until it does" in away
    assert "again" in back
