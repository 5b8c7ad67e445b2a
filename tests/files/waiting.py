"""What most tests of the files wait for: mail that crosses takes a moment."""

from typing import Any

import httpx

from tests.doors.callers import done, take
from tests.proof.patience import until


async def standing(sender: httpx.AsyncClient, ref: str) -> dict[str, Any]:
    """Where a message to one agent stands."""
    (only,) = done(await sender.get(f"/messages/{ref}/status"))["standings"]
    return dict(only)


async def stands(sender: httpx.AsyncClient, ref: str, state: str) -> dict[str, Any]:
    """Where a message stands, once it stands there."""

    async def there() -> bool:
        return bool((await standing(sender, ref))["state"] == state)

    await until(there)
    return await standing(sender, ref)


async def waiting(taker: httpx.AsyncClient, count: int = 1) -> None:
    """Return when so much waits for an agent at home in the office."""

    async def enough() -> bool:
        return len(done(await taker.get("/messages/waiting", params={"limit": 200}))["messages"]) >= count

    await until(enough)


async def arrived(taker: httpx.AsyncClient, count: int = 1) -> list[dict[str, Any]]:
    """What an agent at home in the office gets, once it is so much."""
    await waiting(taker, count)
    return await take(taker, limit=100)


async def known(anyone: httpx.AsyncClient, *names: str) -> None:
    """Wait until the directory lists them."""

    async def listed() -> bool:
        return set(names) <= {agent["name"] for agent in done(await anyone.get("/agents", params={"limit": 200}))["agents"]}

    await until(listed)
