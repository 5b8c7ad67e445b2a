"""A mirror of the ledger, read over REST and never more often than it allows."""

import asyncio
from typing import Any, Final

import httpx2

from postoffice.core.errors import BadSetting, LedgerBusy, MirrorAway

PAGE: Final = 100
"""Messages on a page at most."""
_TOO_MANY_STATUS = 429
_LONGEST_PAUSE_SECONDS = 30.0
_LONGEST_QUIET_SECONDS = 600.0  # the longest pause a mirror may ask for; without a bound, one could stop all mail for years
_ANSWER_SECONDS = 60.0  # for a whole answer; the client's own timeout counts only the time between two bytes
_TOO_OFTEN = "it asks for fewer requests"


class Mirror:
    """Reads topics. All callers share one pace, and one pause when the mirror does not answer."""

    def __init__(self, url: str, per_second: float) -> None:
        self._http = httpx2.AsyncClient(base_url=_checked(url), timeout=20)
        self._gap = 1 / per_second
        self._next = 0.0
        self._failures = 0
        self._quiet_until = 0.0
        self.asked = 0

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def messages(self, topic_id: str, after: int) -> list[dict[str, Any]]:
        """The next messages of a topic, with pieces not yet joined. An unknown topic has none yet."""
        # Not `gt:`: mirrors refuse `gt:0`.
        query = f"sequencenumber=gte:{after + 1}&limit={PAGE}&order=asc"
        answer = await self._get(f"/api/v1/topics/{topic_id}/messages?{query}")
        return list(answer.get("messages") or ()) if answer is not None else []

    async def all_messages(self, topic_id: str, after: int = 0) -> list[dict[str, Any]]:
        """Every message of a topic, once and in order."""
        rows: dict[int, dict[str, Any]] = {}
        while page := await self.messages(topic_id, after):
            rows |= {int(row["sequence_number"]): row for row in page}
            last = max(rows)
            if last <= after:
                break  # the mirror repeats a page
            after = last
        return [rows[sequence] for sequence in sorted(rows)]

    async def account(self, account_id: str) -> dict[str, Any] | None:
        """What is known of an account."""
        return await self._get(f"/api/v1/accounts/{account_id}?transactions=false", made_up=True)

    async def topic(self, topic_id: str) -> dict[str, Any] | None:
        """What is known of a topic."""
        return await self._get(f"/api/v1/topics/{topic_id}", made_up=True)

    async def transaction(self, name: str) -> dict[str, Any] | None:
        """What became of a transaction; None if the mirror does not know it."""
        answer = await self._get(f"/api/v1/transactions/{name}")
        transactions = (answer or {}).get("transactions") or ()
        return next((one for one in transactions if isinstance(one, dict)), None)

    async def _get(self, path: str, *, made_up: bool = False) -> dict[str, Any] | None:
        """The object at an address; None if there is none. If others gave us the id it may be `made_up`, and mirrors answer an impossible id with 400."""
        await self._pace()
        self.asked += 1
        try:
            async with asyncio.timeout(_ANSWER_SECONDS):
                answer = await self._http.get(path)
            if answer.status_code == _TOO_MANY_STATUS:
                raise self._away(why=_TOO_OFTEN, retry_after=answer.headers.get("retry-after", ""))
            self._failures = 0
            if answer.status_code == httpx2.codes.NOT_FOUND or (made_up and answer.status_code == httpx2.codes.BAD_REQUEST):
                return None
            if not answer.is_success:
                raise LedgerBusy(why=f"the mirror says {answer.status_code}")
            page = answer.json()
        except (httpx2.HTTPError, TimeoutError) as error:
            raise self._away(str(error) or type(error).__name__) from None
        except ValueError:
            raise LedgerBusy(why="the mirror's answer is not JSON") from None
        if not isinstance(page, dict):
            raise LedgerBusy(why="the mirror's answer is not a JSON object")
        return page

    def _away(self, why: str, retry_after: str = "") -> MirrorAway:
        """Ask nothing for a while, longer each time."""
        now = asyncio.get_running_loop().time()
        if now >= self._quiet_until:  # calls that were already under way fail for the same reason
            self._failures += 1
            wished = min(float(retry_after), _LONGEST_QUIET_SECONDS) if retry_after.isdecimal() else None
            pause = min(0.5 * 2**self._failures, _LONGEST_PAUSE_SECONDS) if wished is None else wished
            self._quiet_until = now + pause
        return MirrorAway(why=why)

    async def _pace(self) -> None:
        """Wait for this call's turn."""
        loop = asyncio.get_running_loop()
        at = max(loop.time(), self._next)
        self._next = at + self._gap
        while (pause := max(at, self._quiet_until) - loop.time()) > 0:  # noqa: ASYNC110 - we wait for time to pass, and no event says so
            await asyncio.sleep(pause)


def _checked(url: str) -> httpx2.URL:
    """Refuse what is not a mirror's address."""
    try:
        address = httpx2.URL(url.rstrip("/"))
    except httpx2.InvalidURL:
        address = None
    if address is None or address.scheme not in ("http", "https") or not address.host:
        raise BadSetting(name="ledger_mirror", why=f"{url!r} is not an address such as https://testnet.mirrornode.hedera.com")
    return address
