"""A mirror of the ledger, asked by REST and never more often than it likes."""

import asyncio
from typing import Any

import httpx2

from postoffice.bridges.ledger.outcome import LedgerBusy

_LIMIT = 100  # messages a page
_SLOW_DOWN = 429


class Mirror:
    """Reads topics. All who ask share one pace."""

    def __init__(self, url: str, per_second: float) -> None:
        self._http = httpx2.AsyncClient(base_url=url.rstrip("/"), timeout=20)
        self._gap = 1 / per_second
        self._next = 0.0
        self.asked = 0

    async def close(self) -> None:
        """Hang up."""
        await self._http.aclose()

    async def messages(self, topic_id: str, after: int) -> list[dict[str, Any]]:
        """The next messages of a topic, pieces as they are; an unknown topic has none yet."""
        # Not `gt:`: mirrors refuse `gt:0`.
        query = f"sequencenumber=gte:{after + 1}&limit={_LIMIT}&order=asc"
        answer = await self._get(f"/api/v1/topics/{topic_id}/messages?{query}")
        return list(answer.get("messages") or ()) if answer is not None else []

    async def all_messages(self, topic_id: str, after: int = 0) -> list[dict[str, Any]]:
        """Every message of a topic."""
        found: list[dict[str, Any]] = []
        while page := await self.messages(topic_id, after):
            found += page
            after = max(int(row["sequence_number"]) for row in page)
        return found

    async def account(self, account_id: str) -> dict[str, Any] | None:
        """What is known of an account."""
        return await self._get(f"/api/v1/accounts/{account_id}")

    async def topic(self, topic_id: str) -> dict[str, Any] | None:
        """What is known of a topic."""
        return await self._get(f"/api/v1/topics/{topic_id}")

    async def _get(self, path: str) -> dict[str, Any] | None:
        await self._pace()
        self.asked += 1
        try:
            answer = await self._http.get(path)
            if answer.status_code == httpx2.codes.NOT_FOUND:
                return None
            if answer.status_code == _SLOW_DOWN:
                wait = answer.headers.get("retry-after", "")
                self._next = asyncio.get_running_loop().time() + (int(wait) if wait.isdecimal() else 1)
            if not answer.is_success:
                raise LedgerBusy(why=f"the mirror says {answer.status_code}")
            found = answer.json()
        except (httpx2.HTTPError, ValueError) as error:
            raise LedgerBusy(why=f"the mirror cannot be read: {error}") from None
        if not isinstance(found, dict):
            raise LedgerBusy(why="the mirror answers with no object")
        return found

    async def _pace(self) -> None:
        now = asyncio.get_running_loop().time()
        at = max(now, self._next)
        self._next = at + self._gap
        if at > now:
            await asyncio.sleep(at - now)
