"""Seed 001: a mailbox for every agent, two tools, and its checklist."""

import asyncio
import json
import os
import shutil
import time
from collections import defaultdict
from contextlib import AsyncExitStack
from itertools import count, pairwise
from typing import Any

import httpx
import pytest
from mcp.client.client import Client
from mcp_types import TextContent

from tests.doors.served import Served
from tests.engines import Engine
from tests.mcp.calling import ERAS, LEGACY, MODERN, call, client, refusal, result_of
from tests.serve.running import PATIENCE

SECONDS = 30
FEWER_SECONDS = SECONDS if "POSTOFFICE_EXAMPLES" in os.environ else 8
SENDERS = CONSUMERS = 8
SEND = '{"tool": "send_to_agent", "args": {"name":"bob","msg":"ping"}}'
CHECK = '{"tool": "check_mail", "args": {}}'


async def curl(url: str, body: str) -> Any:
    """The seed's command, or its bytes where there is no curl."""
    json_type = "Content-Type: application/json"
    if (found := shutil.which("curl")) is None:
        async with httpx.AsyncClient(timeout=PATIENCE) as http:
            return (await http.post(url, content=body, headers=dict([json_type.split(": ")]))).json()
    process = await asyncio.create_subprocess_exec(
        *(found, "-X", "POST", url, "-H", json_type, "-d", body),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env=os.environ | {"NO_PROXY": "localhost"},
    )
    said, _ = await process.communicate()
    assert process.returncode == 0
    return json.loads(said)


class TestTheSmokeTest:
    @pytest.mark.parametrize("slash", ["/", ""])
    async def test_it_returns_the_ping_as_printed(self, served: Served, slash: str) -> None:
        here = served.url.replace("127.0.0.1", "localhost")
        sent = await curl(f"{here}/agents/alice/mcp{slash}", SEND)
        assert isinstance(sent, str)
        assert await curl(f"{here}/agents/bob/mcp{slash}", CHECK) == {"id": sent, "from": "alice", "content": "ping"}
        assert await curl(f"{here}/agents/bob/mcp{slash}", CHECK) is None


class TestTwoLoops:
    async def test_twenty_messages_without_loss(self, served: Served) -> None:
        """Each side checks, works, and answers; one reuses the id it got, as the seed's loop does."""
        heard: dict[str, list[int]] = {"claude": [], "gemini": []}

        async def loop(me: str, other: str, era: str) -> None:
            async with client(served, f"/agents/{me}/mcp/", era=era) as mailbox:
                while not (heard[me] and heard[me][-1] >= 19):
                    mail = (await call(mailbox, "check_mail"))["result"]
                    if mail is None:
                        await asyncio.sleep(0.005)
                        continue
                    assert mail["from"] == other
                    heard[me].append(int(mail["content"]))
                    answer = {"msg_id": mail["id"]} if me == "gemini" else {}
                    await call(mailbox, "send_to_agent", name=other, msg=str(heard[me][-1] + 1), **answer)

        async with client(served, "/agents/claude/mcp/") as first:
            await call(first, "send_to_agent", name="gemini", msg="1")
        async with asyncio.timeout(30):
            await asyncio.gather(loop("claude", "gemini", MODERN), loop("gemini", "claude", LEGACY))
        assert heard["gemini"] == list(range(1, 21, 2))
        assert heard["claude"] == list(range(2, 21, 2))


class TestUnderLoad:
    async def test_many_consumers_of_one_mailbox_lose_nothing_and_get_nothing_twice(self, served: Served, engine: Engine) -> None:
        """Sixteen clients at once; each consumer sees what any one sender wrote in the order it was written."""
        seconds = SECONDS if engine.name == "sqlite" else FEWER_SECONDS
        loop = asyncio.get_running_loop()
        sent: dict[str, int] = {}
        got: list[list[tuple[str, int]]] = [[] for _ in range(CONSUMERS)]
        calls = [0]
        writing = [SENDERS]

        async def send(name: str, mailbox: Client, until: float) -> None:
            for number in count():
                if loop.time() >= until:
                    break
                await call(mailbox, "send_to_agent", name="sink", msg=f"{name} {number}", msg_id=f"{name}-{number}")
                sent[name] = number + 1
                calls[0] += 1
            writing[0] -= 1

        async def consume(mine: list[tuple[str, int]], mailbox: Client) -> None:
            while True:
                last_look = not writing[0]
                mail = (await call(mailbox, "check_mail"))["result"]
                calls[0] += 1
                if mail is not None:
                    name, number = mail["content"].split()
                    assert (mail["from"], mail["id"]) == (name, f"{name}-{number}")
                    mine.append((name, int(number)))
                elif last_look:
                    return

        async with AsyncExitStack() as stack:
            senders = {f"sender-{n}": ERAS[n % 2] for n in range(SENDERS)}
            open_senders = {
                name: await stack.enter_async_context(client(served, f"/agents/{name}/mcp", era=era)) for name, era in senders.items()
            }
            sinks = [await stack.enter_async_context(client(served, "/agents/sink/mcp", era=ERAS[n % 2])) for n in range(CONSUMERS)]
            until, begun = loop.time() + seconds, time.process_time()
            writers = [send(name, mailbox, until) for name, mailbox in open_senders.items()]
            await asyncio.gather(*writers, *(consume(mine, sink) for mine, sink in zip(got, sinks, strict=True)))
        worked = time.process_time() - begun
        everything = [item for mine in got for item in mine]
        assert len(everything) == len(set(everything)), "something came twice"
        assert set(everything) == {(name, number) for name, total in sent.items() for number in range(total)}
        for mine in got:
            by_sender = defaultdict(list)
            for name, number in mine:
                by_sender[name].append(number)
            assert all(one < other for numbers in by_sender.values() for one, other in pairwise(numbers))
        assert calls[0] >= 50 * worked  # of the seconds that a machine with other work gave us


class TestSendersIds:
    async def test_a_retry_is_one_message(self, served: Served) -> None:
        async with client(served, "/agents/alice/mcp") as alice, client(served, "/agents/bob/mcp") as bob:
            for _ in range(3):
                assert await call(alice, "send_to_agent", name="bob", msg="once", msg_id="m-1") == {"result": "m-1"}
            mail = (await call(bob, "check_mail"))["result"]
            assert (mail["id"], mail["content"]) == ("m-1", "once")
            assert await call(bob, "check_mail") == {"result": None}
            # Even when it was taken already.
            assert await call(alice, "send_to_agent", name="bob", msg="once", msg_id="m-1") == {"result": "m-1"}
            assert await call(bob, "check_mail") == {"result": None}

    async def test_another_body_under_the_same_id_is_refused(self, served: Served) -> None:
        async with client(served, "/agents/alice/mcp") as alice, client(served, "/agents/bob/mcp") as bob:
            await call(alice, "send_to_agent", name="bob", msg="one", msg_id="m-1")
            said = await refusal(alice, "send_to_agent", name="bob", msg="two", msg_id="m-1")
            assert "new id" in said
            assert said.endswith("[id_conflict]")
            assert (await call(bob, "check_mail"))["result"]["content"] == "one"
            assert await call(bob, "check_mail") == {"result": None}

    async def test_a_reply_under_the_other_sides_id_is_a_new_message(self, served: Served) -> None:
        async with client(served, "/agents/alice/mcp") as alice, client(served, "/agents/bob/mcp") as bob:
            await call(alice, "send_to_agent", name="bob", msg="ping", msg_id="m-1")
            mail = (await call(bob, "check_mail"))["result"]
            assert await call(bob, "send_to_agent", name="alice", msg="pong", msg_id=mail["id"]) == {"result": "m-1"}
            answer = (await call(alice, "check_mail"))["result"]
            assert (answer["id"], answer["from"], answer["content"]) == ("m-1", "bob", "pong")

    async def test_two_loops_may_both_reuse_one_id(self, served: Served) -> None:
        async with client(served, "/agents/alice/mcp") as alice, client(served, "/agents/bob/mcp") as bob:
            await call(alice, "send_to_agent", name="bob", msg="0", msg_id="m-1")
            for number in range(6):
                me, other = (bob, "alice") if number % 2 == 0 else (alice, "bob")
                mail = (await call(me, "check_mail"))["result"]
                assert (mail["id"], mail["content"]) == ("m-1", str(number))
                await call(me, "send_to_agent", name=other, msg=str(number + 1), msg_id=mail["id"])

    async def test_mail_comes_oldest_first(self, served: Served) -> None:
        async with client(served, "/agents/alice/mcp") as alice, client(served, "/agents/bob/mcp") as bob:
            for number in range(5):
                await call(alice, "send_to_agent", name="bob", msg=str(number))
            assert [(await call(bob, "check_mail"))["result"]["content"] for _ in range(5)] == list("01234")


async def test_the_text_says_whether_the_other_can_take_it_and_a_program_gets_the_id_alone(desk: Served) -> None:
    async with client(desk, "/agents/bob/mcp") as bob:
        await call(bob, "send_to_agent", name="alice", msg="hello")
    ping = {"name": "bob", "msg": "ping", "msg_id": "m-1"}
    async with client(desk, "/agents/alice/mcp", model=True) as alice:
        text = (await result_of(alice, "send_to_agent", **ping)).content[0]
        assert isinstance(text, TextContent)
        assert text.text.startswith("Sent: id m-1.\nbob: ")
    async with client(desk, "/agents/alice/mcp") as program, desk.client() as shell:
        assert await call(program, "send_to_agent", **ping) == {"result": "m-1"}
        assert (await shell.post("/agents/alice/mcp", json={"tool": "send_to_agent", "args": ping})).json() == "m-1"
