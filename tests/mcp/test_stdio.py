"""`python -m mailbox_mcp` and `postoffice mcp`: seed 000's five tools for an agent that starts its tools as a process."""

import asyncio
import json
import os
import re
import signal
import subprocess
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp.client.client import Client
from mcp.shared.exceptions import MCPError

from postoffice.bridges import stdio
from postoffice.core.tools import TOOLSETS
from postoffice.doors.mcp import call as calls
from tests.doors.served import Served
from tests.mail import people, write
from tests.mcp.calling import ERAS, PATIENCE, as_agent, call, join, refusal, standing_of, told, waiting
from tests.mcp.processes import COMMAND, MODULE, started
from tests.serve import running

FIVE = ["mailbox_check", "mailbox_connect", "mailbox_approve", "mailbox_send", "mailbox_read"]
OPENCLAW = {"OPENCLAW_GATEWAY_URL": "http://127.0.0.1:18789", "OPENCLAW_GATEWAY_TOKEN": "t"}


async def names(caller: Client) -> list[str]:
    return [tool.name for tool in (await caller.list_tools()).tools]


def run_to_the_end(command: Sequence[str], here: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        cwd=here,
        env=running.environment(environment),
        capture_output=True,
        text=True,
        timeout=running.PATIENCE,
        check=False,
        input="",
    )


class TestTheConversation:
    async def test_of_seed_000_from_connect_to_read(self, vault: Served) -> None:
        """Two registered agents: connect, approve by the code that people pass on, send, check, read."""
        alice_key, bob_key = await join(vault, "alice-agent"), await join(vault, "bob-agent")
        async with started(vault, key=alice_key, extra=OPENCLAW) as alice, started(vault, command=COMMAND, key=bob_key, era=ERAS[1]) as bob:
            assert await names(alice) == FIVE
            assert await names(bob) == list(TOOLSETS["mail"])
            assert "ask for a connection" in await refusal(alice, "mailbox_send", to="bob-agent", subject="Hi", content="too early")
            asked = await call(alice, "mailbox_connect", target_agent_name="bob-agent", message="Shall we?")
            assert "alice-agent asks to connect" in await told(bob, "mailbox_check")
            approved = await call(bob, "mailbox_approve", code=asked["verification_code"].lower())
            assert (approved["status"], approved["connected_agent_name"], approved["assurance"]) == ("ACTIVE", "alice-agent", "human")
            sent = await call(alice, "mailbox_send", to="bob-agent", subject="Project", content="Hello Bob, shall we start?")
            (session,) = (await call(bob, "mailbox_check"))["sessions"]
            assert (session["session_id"], session["unread_count"]) == (sent["session_id"], 1)
            said = await told(bob, "mailbox_read", session_id=sent["session_id"])
            assert "Hello Bob, shall we start?" in said
            assert "from alice-agent (verified)" in said
            assert (await call(bob, "mailbox_check"))["sessions"][0]["unread_count"] == 0
            await call(bob, "mailbox_send", to="alice-agent", subject="Project", content="Let's.", session_id=sent["session_id"])
            lines = (await call(alice, "mailbox_read", session_id=sent["session_id"]))["messages"]
            assert [line["content"] for line in lines] == ["Let's.", "Hello Bob, shall we start?"]

    async def test_a_key_may_bring_the_end_of_its_line(self, vault: Served) -> None:
        """As one that was read from a file does; no office was said to answer."""
        async with started(vault, key=f"{await join(vault, 'alice-agent')}\n") as alice:
            assert (await call(alice, "mailbox_check"))["sessions"] == []

    async def test_a_wrong_key_is_told(self, vault: Served) -> None:
        async with started(vault, key="amb_" + "0" * 64) as stranger:
            assert await names(stranger) == FIVE
            assert "use a current key" in await refusal(stranger, "mailbox_check")

    async def test_on_an_open_server_a_name_is_enough(self, desk: Served) -> None:
        address = desk.url.removeprefix("http://")
        async with started(address, "--as", "carol", "--tools", "fifo,queue") as carol, as_agent(desk, "dave") as dave:
            assert (await names(carol))[:2] == ["send_to_agent", "check_mail"]
            await call(carol, "send_to_agent", name="dave", msg="hello")
            assert (await call(dave, "check_mail"))["result"]["from"] == "carol"
            waiting = asyncio.create_task(call(carol, "mailbox_wait", timeout_ms=20_000))
            await call(dave, "send_to_agent", name="carol", msg="hello yourself")
            async with asyncio.timeout(PATIENCE):
                assert [mail["content"] for mail in (await waiting)["messages"]] == ["hello yourself"]
            assert [resource.uri for resource in (await carol.list_resources()).resources] == ["mailbox://carol/inbox"]
            assert (await carol.get_prompt("mailbox_loop")).messages

    async def test_a_proxy_is_not_between_an_agent_and_an_office_on_its_own_machine(self, desk: Served) -> None:
        """It would be shown the key."""
        away = dict.fromkeys(("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"), f"http://127.0.0.1:{running.free_port()}")
        async with started(desk, "--as", "carol", extra=away | {"no_proxy": "", "NO_PROXY": ""}) as carol:
            assert "empty" in await told(carol, "mailbox_check")

    async def test_the_office_may_be_named_as_for_every_other_command(self, desk: Served) -> None:
        async with started("", "--as", "carol", extra={"POSTOFFICE_SERVER": desk.url}) as carol:
            assert "empty" in await told(carol, "mailbox_check")

    async def test_a_process_that_ends_in_the_middle_of_a_wait_takes_no_mail_with_it(self, desk: Served) -> None:
        (alice,) = await people(desk.office, "alice")
        async with started(desk, "--as", "bob", "--tools", "queue") as bob:
            lost = asyncio.create_task(call(bob, "mailbox_wait", timeout_ms=60_000))
            await waiting(desk, "bob")
        with pytest.raises(MCPError):
            await lost
        await waiting(desk, "bob", 0)
        sent = await write(desk.office, alice, "bob")
        assert await standing_of(desk, "alice", sent.message_id) == ("pending", 0)


def test_an_interrupt_ends_it_though_its_input_stays_open(tmp_path: Path) -> None:
    """As of a person who looks what it does: it took note of Ctrl-C, and waited for the next line all the same."""
    about = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "person", "version": "1"}}
    hello = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": about})
    command, pipe = [*COMMAND, "--as", "carol"], subprocess.PIPE
    with subprocess.Popen(command, cwd=tmp_path, env=running.environment(), text=True, stdin=pipe, stdout=pipe, stderr=pipe) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        print(hello, file=process.stdin, flush=True)
        assert "result" in json.loads(process.stdout.readline())
        process.send_signal(signal.SIGINT)
        assert process.wait(running.PATIENCE) == -signal.SIGINT
        assert (process.stdout.read(), process.stderr and process.stderr.read()) == ("", "")


class TestAServerThatComesAndGoes:
    async def test_its_absence_is_a_tool_error_and_its_return_needs_no_restart(self, tmp_path: Path) -> None:
        port = running.free_port()
        async with started(f"127.0.0.1:{port}", extra={"POSTOFFICE_AGENT": "alice"}) as alice:
            assert await names(alice) == FIVE
            said = await refusal(alice, "mailbox_check")
            assert f"127.0.0.1:{port}" in said
            assert "postoffice serve" in said
            serve = (*running.COMMAND, "serve", "--port", str(port), "--data", str(tmp_path / "data"))
            with running.serving(*serve, port=port, here=tmp_path):
                assert await call(alice, "mailbox_check") == {"sessions": [], "pending_connections": [], "cursor": None, "notes": []}
            assert "postoffice serve" in await refusal(alice, "mailbox_check")

    async def test_the_tools_are_listed_though_it_does_not_answer_yet(self) -> None:
        silent = asyncio.Event()

        async def say_nothing(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await silent.wait()
            writer.close()

        async with await asyncio.start_server(say_nothing, "127.0.0.1", 0) as listener:
            address = "http://{}:{}".format(*listener.sockets[0].getsockname())
            async with started(address, extra={"POSTOFFICE_AGENT": "alice"}) as alice:
                by_heart = (await alice.list_tools()).tools
                assert [tool.name for tool in by_heart] == FIVE
                assert all(tool.annotations and tool.annotations.open_world_hint is False for tool in by_heart), "else Codex asks for each"
            silent.set()


@asynccontextmanager
async def one_answer(served: Served, last_words: bytes) -> AsyncIterator[str]:
    """An address where the office answers one request, and is gone with these words."""
    host, port = served.url.removeprefix("http://").split(":")

    async def pass_on(caller: asyncio.StreamReader, answer: asyncio.StreamWriter) -> None:
        listener.close()
        there, office = await asyncio.open_connection(host, int(port))
        asked = await caller.readuntil(b"\r\n\r\n")
        office.write(asked + await caller.readexactly(int(re.findall(rb"(?i)content-length: (\d+)", asked)[0])))
        answer.write(await there.readuntil(last_words))
        await answer.drain()
        answer.close()
        office.transport.abort()

    listener = await asyncio.start_server(pass_on, "127.0.0.1", 0)
    yield "http://{}:{}".format(*listener.sockets[0].getsockname())


@asynccontextmanager
async def always(answer: bytes) -> AsyncIterator[str]:
    """An address where something else answers."""

    async def say(caller: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked = await caller.readuntil(b"\r\n\r\n")
        await caller.readexactly(int(re.findall(rb"(?i)content-length: (\d+)", asked)[0]))  # or the connection would seem to break
        writer.write(b"HTTP/1.1 " + answer)
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(say, "127.0.0.1", 0) as listener:
        yield "http://{}:{}".format(*listener.sockets[0].getsockname())


class TestWhatComesOfACall:
    async def test_it_is_told_though_the_office_is_gone_right_after_its_answer(self, desk: Served) -> None:
        """Another question had to be answered before, and a message that was sent was told to have met nobody: so it was sent again."""
        async with one_answer(desk, b'"isError":false}}') as address, started(address, "--as", "alice", "--tools", "fifo") as alice:
            assert (await told(alice, "send_to_agent", name="bob", msg="hello")).startswith("Sent")

    async def test_mail_that_was_waited_for_comes_however_large(self, desk: Served, monkeypatch: pytest.MonkeyPatch) -> None:
        """Once the office has told progress its answer is an event of a stream, and mail that is too large for one waits for another call."""
        monkeypatch.setattr(calls, "_PROGRESS_SECONDS", 0.2)
        (alice,) = await people(desk.office, "alice")
        async with started(desk, "--as", "bob", "--tools", "queue") as bob:
            taking = asyncio.create_task(call(bob, "mailbox_wait", timeout_ms=20_000))
            await waiting(desk, "bob")
            await asyncio.sleep(0.5)
            await write(desk.office, alice, "bob", content="x" * 1_000_000)
            async with asyncio.timeout(PATIENCE):
                assert [len(mail["content"]) for mail in (await taking)["messages"]] == [1_000_000]

    async def test_that_waits_is_told_of_now_and_then(self, desk: Served, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(stdio, "_PROGRESS_SECONDS", 0.05)
        heard: list[float] = []
        enough = asyncio.Event()

        async def progress(*said: Any, **_: Any) -> None:
            heard.append(said[0])
            if len(heard) == 3:
                enough.set()

        (alice,) = await people(desk.office, "alice")
        mailbox = stdio.Mailbox(server=desk.url, agent="bob", tools="queue", structured=True)
        async with httpx2.AsyncClient(headers=mailbox.headers(), timeout=PATIENCE) as http, asyncio.timeout(PATIENCE):
            taking = asyncio.create_task(stdio._Office(mailbox, http).call("mailbox_wait", {"timeout_ms": 60_000}, progress))
            await enough.wait()
            await write(desk.office, alice, "bob", "at last")
            answer = await taking
        assert [mail["content"] for mail in (answer.structured_content or {})["messages"]] == ["at last"]
        assert heard[:3] == pytest.approx([0.05, 0.1, 0.15])

    async def test_an_office_that_ends_in_the_middle_of_a_wait_is_told_with_what_to_do(
        self, desk: Served, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(calls, "_PROGRESS_SECONDS", 0.2)
        async with one_answer(desk, b"\r\n\r\n") as address, started(address, "--as", "bob", "--tools", "queue") as bob:
            assert "postoffice serve" in await refusal(bob, "mailbox_wait", timeout_ms=20_000)

    async def test_that_may_be_done_though_nobody_answered_is_not_told_to_have_met_nobody(self, desk: Served) -> None:
        """It was to be tried again, and the message was sent twice."""
        async with one_answer(desk, b"HTTP/1.1 200") as address, started(address, "--as", "alice", "--tools", "all") as alice:
            said = await refusal(alice, "mailbox_send", to="bob", content="hello")
            assert "may be done or not" in said
            assert "same id" in said
            # Now nobody is there, and nothing can have been done.
            assert "postoffice serve" in await refusal(alice, "mailbox_send", to="bob", content="hello")
        async with as_agent(desk, "bob") as bob:
            assert [mail["content"] for mail in (await call(bob, "mailbox_receive"))["messages"]] == ["hello"]

    @pytest.mark.parametrize(
        ("answer", "words"),
        [
            (b"502 Bad Gateway", "may be done or not"),
            (b"503 Service Unavailable", "may be done or not"),
            (b"404 Not Found", "postoffice serve"),
            (b"200 OK", "postoffice serve"),
        ],
    )
    async def test_what_a_proxy_says_is_told_by_whether_an_office_may_have_heard_of_it(self, answer: bytes, words: str) -> None:
        away = b'\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n{"detail":"No office answers; try again.","code":"unavailable"}'
        page = b"\r\nContent-Type: text/html\r\nConnection: close\r\n\r\n<h1>nginx</h1>"
        async with always(answer + (away if b"503" in answer else page)) as address, started(address, "--as", "bob") as bob:
            assert words in await refusal(bob, "mailbox_send", to="alice", content="hello")

    async def test_what_the_office_refuses_at_its_edge_is_told_in_its_own_words(self, desk: Served) -> None:
        """They are no words of the protocol, and an office that was there was said to be away."""
        address = desk.url.replace("127.0.0.1", "localhost.localdomain")
        hosts = {"http_proxy": desk.url, "no_proxy": ""}
        async with started(address, "--as", "bob", extra=hosts) as bob:
            assert "allowed_hosts" in await refusal(bob, "mailbox_check")

    @pytest.mark.parametrize("answer", [b"404 Not Found", b"502 Bad Gateway", b"503 Service Unavailable", b"200 OK"])
    async def test_what_is_no_office_is_told_with_what_to_do(self, answer: bytes) -> None:
        page = b"\r\nContent-Type: text/html\r\nConnection: close\r\n\r\n<h1>nginx</h1>"
        async with always(answer + page) as address, started(address, "--as", "bob") as bob:
            assert "postoffice serve" in await refusal(bob, "mailbox_check")


class TestTheStreams:
    async def test_nothing_but_the_protocol_is_on_standard_output(self, desk: Served) -> None:
        """Whatever comes in, every line that goes out is a message of JSON-RPC."""
        process = await asyncio.create_subprocess_exec(
            *MODULE,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=os.environ | {"MAILBOX_SERVER_URL": desk.url, "POSTOFFICE_AGENT": "alice"},
        )
        hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}}
        said = [
            json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}),
            json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}),
            "this is not JSON",
            json.dumps({"jsonrpc": "2.0", "id": 2, "method": "tools/list"}),
            json.dumps({"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": "mailbox_check", "arguments": {}}}),
            json.dumps({"jsonrpc": "2.0", "id": 4, "method": "no/such/method"}),
        ]
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write("\n".join([*said, ""]).encode())
        await process.stdin.drain()
        heard: list[dict[str, Any]] = []
        async with asyncio.timeout(PATIENCE):
            while {item.get("id") for item in heard} < {1, 2, 3, 4}:
                heard.append(json.loads(await process.stdout.readline()))
            process.stdin.close()
            rest = await process.stdout.read()
            assert await process.wait() == 0
        assert rest == b""
        assert {item["jsonrpc"] for item in heard} == {"2.0"}
        by_id = {item.get("id"): item for item in heard}
        assert "data" in by_id[1]["result"]["instructions"]
        assert [tool["name"] for tool in by_id[2]["result"]["tools"]] == FIVE
        assert "empty" in by_id[3]["result"]["content"][0]["text"]
        assert "structuredContent" not in by_id[3]["result"]
        assert "error" in by_id[4]

    @pytest.mark.parametrize(
        ("command", "environment"),
        [
            (MODULE, {"MAILBOX_SERVER_URL": "ftp://mail.example"}),
            (COMMAND, {"MAILBOX_SERVER_URL": "127.0.0.1:notaport"}),
            (COMMAND, {"POSTOFFICE_SERVER": "127.0.0.1:notaport"}),
            ((*MODULE, "--tools", "bogus"), {}),
        ],
        ids=["scheme", "port", "port by our name", "tools"],
    )
    async def test_a_wrong_setting_is_one_line_and_a_code(
        self, tmp_path: Path, command: Sequence[str], environment: dict[str, str]
    ) -> None:
        ended = await asyncio.to_thread(run_to_the_end, command, tmp_path, **environment)
        assert ended.returncode == 65
        assert ended.stdout == ""
        assert len(ended.stderr.strip().split("\n")) == 1
        assert "Traceback" not in ended.stderr
