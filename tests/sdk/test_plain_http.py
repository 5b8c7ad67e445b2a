"""The plain line under the SDK: what goes over it, and what becomes of it when the other side misbehaves."""

import asyncio
import gc
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest

from postoffice import Mailbox
from postoffice.client import wire as wires
from postoffice.client.plain_http import Answer, PlainHttp, is_plain
from postoffice.client.wire import Wire
from postoffice.core.errors import NoAnswer
from tests.sdk.conftest import Town

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"
Script = Callable[["Server", bytes, asyncio.StreamWriter], None]


class Server:
    """Answers each request as it was told to, and counts."""

    def __init__(self, script: Script) -> None:
        self._script = script
        self.connections = 0
        self.heard: list[bytes] = []
        self.gone = asyncio.Event()
        self.tasks: set[asyncio.Task[None]] = set()
        self.asked = asyncio.Event()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        task = asyncio.current_task()
        assert task is not None
        self.tasks.add(task)
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                length = next((int(line[15:]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")), 0)
                self.heard.append(head + await reader.readexactly(length))
                self.asked.set()
                self._script(self, self.heard[-1], writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            self.gone.set()
        finally:
            writer.close()


def always(answer: bytes, *, hang_up: bool = False) -> Script:
    def script(_: Server, __: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(answer)
        if hang_up:
            writer.close()

    return script


@asynccontextmanager
async def line_to(script: Script, path: str = "") -> AsyncIterator[tuple[PlainHttp, Server]]:
    serving = Server(script)
    listening = await asyncio.start_server(serving.serve, "127.0.0.1", 0)
    port = listening.sockets[0].getsockname()[1]
    line = PlainHttp(f"http://127.0.0.1:{port}{path}", {"X-Agent": "ann"})
    try:
        yield line, serving
    finally:
        line.close()
        listening.close()
        async with asyncio.timeout(30):
            await asyncio.gather(*serving.tasks)


async def test_calls_one_after_the_other_share_a_connection_and_calls_at_once_do_not() -> None:
    async with line_to(always(OK)) as (line, server):
        for _ in range(3):
            assert await line.call("GET", "/health", None, {}) == Answer(200, b"{}", "")
        assert server.connections == 1
        await asyncio.gather(*(line.call("GET", "/health", None, {}) for _ in range(3)))
        assert server.connections == 3


async def test_a_call_is_written_as_http_wants_it() -> None:
    async with line_to(always(OK), "/below") as (line, server):
        await line.call("POST", "/messages/a b\r\nX: y/ack", b'{"a":1}', {"q": "ü&=", "limit": "3"})
    head, _, body = server.heard[0].partition(b"\r\n\r\n")
    first, *headers = head.split(b"\r\n")
    assert first == b"POST /below/messages/a%20b%0D%0AX:%20y/ack?q=%C3%BC%26%3D&limit=3 HTTP/1.1"
    assert {b"X-Agent: ann", b"Content-Type: application/json", b"Content-Length: 7"} <= set(headers)
    assert [header.split(b":")[0] for header in headers].count(b"Host") == 1
    assert body == b'{"a":1}'


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n3\r\ntwo\r\n0\r\n\r\n",
        b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nonetwo",
    ],
)
async def test_an_answer_is_read_however_it_is_written(answer: bytes) -> None:
    async with line_to(always(answer)) as (line, server):
        assert (await line.call("GET", "/", None, {})).content == b"onetwo"
        assert (await line.call("GET", "/", None, {})).content == b"onetwo"
        assert server.connections == 1


async def test_an_answer_without_a_length_ends_with_the_connection() -> None:
    async with line_to(always(b"HTTP/1.1 200 OK\r\n\r\nonetwo", hang_up=True)) as (line, _):
        assert (await line.call("GET", "/", None, {})).content == b"onetwo"


async def test_a_refusal_says_when_to_come_again() -> None:
    answer = b"HTTP/1.1 503 Away\r\nRetry-After: 7\r\nContent-Length: 0\r\n\r\n"
    async with line_to(always(answer)) as (line, _):
        assert await line.call("GET", "/", None, {}) == Answer(503, b"", "7")


@pytest.mark.parametrize(
    "close", [b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}", b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\n{}"]
)
async def test_a_connection_that_the_server_will_close_is_not_used_again(close: bytes) -> None:
    async with line_to(always(close)) as (line, server):
        await line.call("GET", "/", None, {})
        await line.call("GET", "/", None, {})
        assert server.connections == 2


async def test_a_server_that_hung_up_meanwhile_is_called_anew() -> None:
    async with line_to(always(OK, hang_up=True)) as (line, server):
        await line.call("GET", "/", None, {})
        await asyncio.sleep(0.05)
        assert (await line.call("GET", "/", None, {})).status == 200
        assert server.connections == 2


@pytest.mark.parametrize(
    "half", [b"", b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{}", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\non"]
)
async def test_half_an_answer_is_none(half: bytes) -> None:
    async with line_to(always(half, hang_up=True)) as (line, _):
        with pytest.raises(OSError, match="hung up"):
            await line.call("GET", "/", None, {})


async def test_what_is_no_http_is_no_answer() -> None:
    async with line_to(always(b"220 mail ready\r\n")) as (line, _):
        with pytest.raises(OSError, match="no HTTP"):
            await line.call("GET", "/", None, {})


async def test_an_answer_that_is_no_text_is_none() -> None:
    odd = b'HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n"\xff"'
    async with line_to(always(odd)) as (line, _), Wire(f"http://127.0.0.1:{line._port}") as wire:
        with pytest.raises(NoAnswer):
            await wire.get("/agents/me")


async def test_nobody_there_is_no_answer() -> None:
    async with line_to(always(OK)) as (line, _):
        pass
    with pytest.raises(OSError):  # noqa: PT011 - each system has its own words
        await line.call("GET", "/", None, {})


async def test_giving_up_on_a_call_hangs_up() -> None:
    async with line_to(always(b"")) as (line, server):
        waiting = asyncio.create_task(line.call("GET", "/", None, {}))
        await server.asked.wait()
        waiting.cancel()
        async with asyncio.timeout(30):
            await server.gone.wait()
        assert waiting.cancelled()


async def test_a_connection_that_died_without_a_word_is_given_up_for_another(monkeypatch: pytest.MonkeyPatch) -> None:
    """As after a machine slept, or an address was translated no longer."""

    def silent_at_first(server: Server, _: bytes, writer: asyncio.StreamWriter) -> None:
        if server.connections > 1:
            writer.write(b'HTTP/1.1 200 OK\r\nContent-Length: 18\r\n\r\n{"message_id":"1"}')

    monkeypatch.setattr(wires, "ANSWER_SECONDS", 0.2)
    async with line_to(silent_at_first) as (line, _), Mailbox("ann", server=f"http://127.0.0.1:{line._port}") as box:
        async with asyncio.timeout(30):
            assert await box.send("bob", "hello") == "1"


@pytest.mark.parametrize("asked", [{"wait": 30}, {}])
async def test_a_long_poll_may_be_silent_for_as_long_as_it_waits(monkeypatch: pytest.MonkeyPatch, asked: dict[str, float]) -> None:
    def late(_: Server, __: bytes, writer: asyncio.StreamWriter) -> None:
        asyncio.get_running_loop().call_later(0.4, writer.write, OK)

    monkeypatch.setattr(wires, "ANSWER_SECONDS", 0.2)
    async with line_to(late) as (line, _), Wire(f"http://127.0.0.1:{line._port}") as wire:
        assert await wire.post("/messages/wait", asked) == {}
        with pytest.raises(NoAnswer):
            await wire.post("/messages/receive", asked | {"wait": 0})


@pytest.mark.parametrize("more", [OK, b"<html>"])
async def test_words_that_nobody_asked_for_end_a_connection(more: bytes, caplog: pytest.LogCaptureFixture) -> None:
    async with line_to(always(OK + more)) as (line, server):
        await line.call("GET", "/", None, {})
        await asyncio.sleep(0.05)
        assert (await line.call("GET", "/", None, {})).content == b"{}"
        assert server.connections == 2
    assert not caplog.records


def test_a_line_goes_from_one_loop_to_the_next() -> None:
    async def twice(line: PlainHttp | None) -> PlainHttp:
        async with line_to(always(OK)) as (own, _):
            used = line or own
            await own.call("GET", "/", None, {})
            return used

    first = asyncio.run(twice(None))

    async def again() -> None:
        with pytest.raises(OSError):  # noqa: PT011 - its server is gone, but it asks
            await first.call("GET", "/", None, {})

    asyncio.run(again())


@pytest.fixture(params=["plain", "general"])
def either(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the plain line, and by the client that is used with TLS and through a proxy."""
    monkeypatch.setattr(wires, "is_plain", lambda _: request.param == "plain")


def silent_to_waiters(_: Server, heard: bytes, writer: asyncio.StreamWriter) -> None:
    if b"/messages/wait" not in heard:
        writer.write(OK)


@pytest.mark.usefixtures("either")
class TestEitherWire:
    async def test_has_room_for_calls_however_many_wait(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """A hundred readers at one mailbox kept the extension of a lease waiting until it had run out."""
        monkeypatch.setattr(wires, "_CALLS_AT_ONCE", 2)
        async with line_to(silent_to_waiters) as (line, server), Wire(f"http://127.0.0.1:{line._port}") as wire:
            waiting = [asyncio.create_task(wire.post("/messages/wait", {"wait": 60})) for _ in range(3)]
            await asyncio.sleep(0)  # they go first
            async with asyncio.timeout(30):
                assert await asyncio.gather(*(wire.get("/health") for _ in range(5))) == [{}] * 5
            assert server.connections <= 3 + 2
            for task in waiting:
                task.cancel()
            await asyncio.gather(*waiting, return_exceptions=True)

    async def test_asks_for_a_path_with_all_that_is_in_it(self) -> None:
        async with line_to(always(OK)) as (line, server), Wire(f"http://127.0.0.1:{line._port}/below") as wire:
            await wire.get("/tasks?state=working")
            await wire.get("/tasks", state="working")
        assert [heard.split(b" ")[1] for heard in server.heard] == [b"/below/tasks?state=working"] * 2

    @pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # of what a loop has left open, collected here
    def test_goes_from_one_loop_to_the_next(self, town: Town) -> None:
        def ask_thrice(wire: Wire) -> list[str]:
            return [asyncio.run(wire.get("/agents/me"))["name"] for _ in range(3)]

        assert ask_thrice(Wire(town.office.url, agent=town.ann)) == [town.ann] * 3
        gc.collect()


def test_tls_and_proxies_are_left_to_the_general_client(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    assert is_plain("http://127.0.0.1:8787")
    assert not is_plain("https://mail.example.com")
    monkeypatch.setenv("http_proxy", "http://proxy.example.com:3128")
    assert not is_plain("http://mail.example.com")
    for here in ("127.0.0.1", "localhost", "[::1]"):
        assert is_plain(f"http://{here}:8787")  # a proxy is for the world outside, and would be shown the key
        assert not is_plain(f"https://{here}:8787")
    monkeypatch.setenv("no_proxy", "127.0.0.1,mail.example.com")
    assert is_plain("http://mail.example.com:8787")
