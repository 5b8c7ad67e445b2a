"""A ledger with its doors open: consensus nodes and a mirror on real ports of this machine."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import uvicorn

from tests.ledger.emulator.control import control
from tests.ledger.emulator.gate import HOST, Gate
from tests.ledger.emulator.ledger import FIRST_NODE, Ledger
from tests.ledger.emulator.mirror import Mirror
from tests.ledger.emulator.node import Node


class Emulator(Ledger):
    """A ledger that clients can reach, and whose doors can be shut."""

    def __init__(self, *, nodes: int = 1, **settings: Any) -> None:
        super().__init__(**settings)
        self._nodes = [Node(self, f"0.0.{FIRST_NODE + number}") for number in range(nodes)]
        for node in self._nodes:
            self.add_account(self.operator.key, 0, "", node.account)
        self.mirror = Mirror(self)
        self.mirror.app.router.routes.append(control(self))
        self._listener = socket.socket(proto=socket.IPPROTO_TCP)
        self._listener.bind((HOST, 0))
        self._web = uvicorn.Server(uvicorn.Config(self.mirror.app, lifespan="off", log_config=None, access_log=False))
        self._gate = self.mirror.gate = Gate(self._listener.getsockname()[1])
        self._serving: asyncio.Task[None] | None = None

    @property
    def grpc_address(self) -> str:
        """Of the first node, `host:port`."""
        return self._nodes[0].gate.address

    @property
    def nodes(self) -> dict[str, str]:
        """Every node's address and its account."""
        return {node.gate.address: node.account for node in self._nodes}

    @property
    def mirror_url(self) -> str:
        return f"http://{self._gate.address}"

    @property
    def control_url(self) -> str:
        """Where another process may do to the ledger what a test does here; it passes by the mirror's gate."""
        return f"http://{HOST}:{self._listener.getsockname()[1]}/control"

    async def node_down(self, number: int = 0) -> None:
        """Refuse connections, cut the ones there are."""
        await self._nodes[number].gate.shut()

    async def node_up(self, number: int = 0) -> None:
        """Be there again, on the same port."""
        await self._nodes[number].gate.open()

    async def mirror_down(self) -> None:
        await self._gate.shut()

    async def mirror_up(self) -> None:
        await self._gate.open()

    async def open(self) -> None:
        for node in self._nodes:
            await node.open()
        self._listener.listen()
        self._serving = asyncio.create_task(self._web._serve([self._listener]))
        while not self._web.started and not self._serving.done():  # noqa: ASYNC110 - uvicorn has no event for it
            await asyncio.sleep(0.005)
        await self._gate.open()

    async def close(self) -> None:
        await self._gate.shut()
        for node in self._nodes:
            await node.close()
        if self._serving is not None:
            self._serving.cancel()
            await asyncio.gather(self._serving, return_exceptions=True)
        for listening in self._web.servers:
            listening.close()
        for connection in list(self._web.server_state.connections):
            connection.transport.abort()
        self._listener.close()


@asynccontextmanager
async def running_emulator(**settings: Any) -> AsyncIterator[Emulator]:
    """Run one until the block ends; the settings are those of `Ledger`, and `nodes`."""
    emulator = Emulator(**settings)
    try:
        await emulator.open()
        yield emulator
    finally:
        await emulator.close()
