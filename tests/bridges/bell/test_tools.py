"""A window is rung when its client has our tools: a turn without them could take nothing."""

import asyncio
import json
import socket
import time

from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from tests.bridges.bell.pretend import Ground, until, window
from tests.serve.running import COMMAND


def test_mail_that_waits_as_a_window_opens_is_rung_for_once_its_tools_are_there(ground: Ground) -> None:
    ground.send("shop")
    with window(ground) as shop:
        shop.open(tools=False)
        time.sleep(12)  # longer than the bell waits where no server is started
        assert shop.heard == []
        shop.has_tools.set()
        until(lambda: shop.heard, 5)
        time.sleep(1.5)
        assert len(shop.heard) == 1


def test_what_was_rung_for_before_the_tools_came_is_rung_for_again_at_once(ground: Ground) -> None:
    with window(ground) as shop:
        shop.hold_back = True
        shop.open(tools=False)
        ground.send("shop")
        until(lambda: shop.heard)
        shop.hold_back = False
        shop.has_tools.set()
        until(lambda: len(shop.heard) == 2, 10)


def test_what_a_model_was_not_yet_offered_the_tools_for_is_rung_for_again(ground: Ground) -> None:
    with window(ground) as shop:
        shop.open()
        ground.send("shop")
        until(lambda: shop.heard)
        time.sleep(1.5)
        (card,) = ground.cards()
        at = ground.address
        said = {name: card[name] for name in ("client", "process", "folder", "server")}
        with socket.create_connection(("127.0.0.1", at["port"])) as line:  # as the server beside it, when it is sure of them
            line.sendall(json.dumps({"token": at["token"], "say": "tools", "tools": True, **said}).encode() + b"\n")
            assert json.loads(line.recv(1 << 16)) == {"heard": True}
        until(lambda: len(shop.heard) == 2, 5)


def test_a_window_that_no_server_of_ours_is_started_for_is_rung_all_the_same(ground: Ground) -> None:
    with window(ground) as shop:
        shop.hold_back = True
        shop.open(tools=False)
        ground.send("shop")
        until(lambda: shop.heard, 30)


def test_a_turn_that_begins_late_closes_no_way(ground: Ground) -> None:
    with window(ground) as shop:
        shop.open()
        waiting = shop.wait()
        until(lambda: ground.cards()[0]["reach"] == "socket")
        waiting.kill()  # its inbox is the last way
        shop.minds = False
        ground.send("shop")
        until(lambda: shop.heard)
        time.sleep(4)
        shop.say("busy")
        shop.hook("UserPromptSubmit", prompt=shop.heard[0])
        ground.take("shop")
        shop.say("idle")
        assert ground.windows() == {"shop": "socket"}
        ground.send("shop")
        until(lambda: len(shop.heard) == 2, 10)


async def test_the_server_beside_a_client_says_when_its_tools_were_given(ground: Ground) -> None:
    # This test stands where the client would: it is the process that the server finds above itself.
    words = ["mcp", "--window", "claude"]
    beside = StdioServerParameters(command=COMMAND[0], args=[*COMMAND[1:], *words], env=ground.environment())
    async with Client(stdio_client(beside)) as client:
        await asyncio.to_thread(until, lambda: [card["tools"] for card in ground.cards()] == [False])
        await client.list_tools()
        await asyncio.to_thread(until, lambda: [card["tools"] for card in ground.cards()] == [True])
