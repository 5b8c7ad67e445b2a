"""Our own SDK over HTTP: for each client a mailbox that writes and one that it writes to."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

from bench.clients import Sample, run, with_coroutines
from bench.errands import new_names
from bench.house import House
from bench.plan import BODY, Plan
from postoffice import Mailbox
from postoffice.client.message import Message


class OurSDK:
    """Used as the documents say: `send` or `send_many`, and `receive`, which acks by going on."""

    name = "ours, SDK over HTTP"
    durability = "SQLite WAL, FULL: send, lease and ack synced before the answer"

    def __init__(self, house: House) -> None:
        self._rules = house

    def measure(self, concurrency: int, batch: int, plan: Plan) -> Sample:
        """Measure with mailboxes that nobody has used."""
        return run(self._measure(concurrency, batch, plan))

    async def _measure(self, concurrency: int, batch: int, plan: Plan) -> Sample:
        async with AsyncExitStack() as stack:
            server = f"http://127.0.0.1:{self._rules.port}"
            boxes = [await stack.enter_async_context(Mailbox(name, server=server)) for name in new_names(2 * concurrency)]
            writers, readers = boxes[:concurrency], boxes[concurrency:]
            mail = [reader.receive(batch) for reader in readers]

            async def cycle(client: int) -> int:
                await _send(writers[client], readers[client].agent, batch)
                return await _take(mail[client], batch)

            return await with_coroutines(cycle, concurrency, plan, self._rules.cpu)


async def _send(writer: Mailbox, to: str, count: int) -> None:
    if count == 1:
        await writer.send(to, BODY)
        return
    results = await writer.send_many([{"to": to, "content": BODY}] * count)
    if not all("sent" in result for result in results):
        raise RuntimeError(results)


async def _take(mail: AsyncIterator[Message], count: int) -> int:
    for _ in range(count):
        await anext(mail)
    return count
