"""An upload that is cut again and again, by its connection and by servers that are killed: what was answered is never lost."""

import asyncio
import hashlib
import random
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any

import httpx
import pytest

from tests.chaos.conftest import EACH
from tests.chaos.form import chance, either
from tests.chaos.ground import Ground
from tests.chaos.office import Replica, opened
from tests.serve.running import PATIENCE

CUTS = either(12, 100)
_KILLED_EACH = 6
_CHUNK_BYTES = 65_536


class Uploader:
    """Somebody who brings bytes to whichever server is there."""

    def __init__(self, http: httpx.AsyncClient, replicas: list[Replica], luck: random.Random) -> None:
        self._http = http
        self._replicas = replicas
        self._luck = luck
        self.path = ""

    async def call(self, method: str, path: str, agent: str = "alice", **options: Any) -> httpx.Response:
        """The first answer of a server that is not being killed."""
        while True:
            for replica in self._luck.sample(self._replicas, len(self._replicas)):
                try:
                    answer = await self._http.request(method, replica.url + path, headers={"X-Agent": agent}, **options)
                except httpx.TransportError:
                    continue
                if answer.status_code < httpx.codes.INTERNAL_SERVER_ERROR:
                    return answer
            await asyncio.sleep(0.05)

    async def offset(self) -> int:
        return int((await self.call("GET", self.path)).json()["offset"])

    async def bring(self, replica: Replica, offset: int, chunks: AsyncIterator[bytes]) -> int | None:
        """How far it is, if anybody says so."""
        headers = {"X-Agent": "alice", "Upload-Offset": str(offset)}
        with suppress(httpx.TransportError, ConnectionResetError):
            answer = await self._http.patch(replica.url + self.path, content=chunks, headers=headers)
            if answer.is_success:
                return int(answer.json()["upload"]["offset"])
        return None


async def stream(data: bytes, *, cut: bool) -> AsyncIterator[bytes]:
    for begin in range(0, len(data), _CHUNK_BYTES):
        yield data[begin : begin + _CHUNK_BYTES]
        await asyncio.sleep(0)
    if cut:
        raise ConnectionResetError


@EACH
@pytest.mark.timeout(60 * CUTS)
async def test_what_was_answered_is_kept_however_often_it_is_cut(ground: Ground) -> None:
    luck = chance("uploads", ground.engine)
    data = luck.randbytes(either(4_000_000, 40_000_000))
    digest = f"sha256:{hashlib.sha256(data).hexdigest()}"
    async with opened(*ground.replicas()) as opened_replicas, httpx.AsyncClient(timeout=PATIENCE, trust_env=False) as http:
        replicas = list(opened_replicas)
        uploader = Uploader(http, replicas, luck)
        begun = await uploader.call("POST", "/attachments/uploads", json={"size": len(data), "name": "big.bin", "digest": digest})
        uploader.path = f"/attachments/uploads/{begun.json()['id']}"
        answered, least = 0, len(data) // CUTS
        for number in range(CUTS):
            at = await uploader.offset()
            assert at >= answered
            answered = at
            some = data[at : at + luck.randint(1, least)]
            replica = replicas[number % len(replicas)]
            if number % _KILLED_EACH == _KILLED_EACH - 1:
                bringing = asyncio.create_task(uploader.bring(replica, at, stream(some, cut=False)))
                await asyncio.sleep(luck.uniform(0, 0.05))
                replica.kill()
                told = await bringing
                await asyncio.to_thread(replica.start)
            else:
                told = await uploader.bring(replica, at, stream(some, cut=luck.random() < 0.7))
            answered = max(answered, told or 0)
        at = await uploader.offset()
        assert at >= answered
        answer = await http.patch(
            replicas[0].url + uploader.path, content=stream(data[at:], cut=False), headers={"X-Agent": "alice", "Upload-Offset": str(at)}
        )
        assert answer.json()["attachment"] == {
            "digest": digest,
            "name": "big.bin",
            "type": "application/octet-stream",
            "size": len(data),
        }
        letter = {"to": "bob", "subject": "", "content": "big", "attachments": [{"digest": digest}]}
        (await uploader.call("POST", "/messages/send", json=letter)).raise_for_status()
        for replica in replicas:  # every one of them has all of it
            fetched = await http.get(f"{replica.url}/attachments/{digest}", headers={"X-Agent": "bob"})
            assert hashlib.sha256(fetched.content).hexdigest() == digest[7:]
        assert (await uploader.call("GET", "/attachments")).json()["kept"] == len(data)
