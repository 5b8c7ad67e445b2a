"""What an address was told: by the code of a real service, at a stand-in that listens on this machine."""

import asyncio
import re
import time

from tests.serve.running import PATIENCE
from tests.webhooks.receiver import Receiver

LINK = re.compile(r"/page/answer/([\w-]+)")


def json_at(receiver: Receiver) -> str:
    return receiver.url.replace("http://", "json://")


async def told(receiver: Receiver, count: int = 1) -> list[dict[str, str]]:
    """The title and the text of each word, once there are so many."""
    await asyncio.to_thread(wait, receiver, count)
    return [{"title": got.told["title"], "text": got.told["message"]} for got in receiver.taken]


def wait(receiver: Receiver, count: int) -> None:
    until = time.monotonic() + PATIENCE
    while len(receiver.taken) < count:
        assert time.monotonic() < until, f"{len(receiver.taken)} of {count} were taken"
        time.sleep(0.02)


def token_in(receiver: Receiver) -> str:
    """Of the link that it was told last."""
    found = LINK.findall("\n".join(got.told["message"] for got in receiver.taken))
    assert found
    return str(found[-1])
