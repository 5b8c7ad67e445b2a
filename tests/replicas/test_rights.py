"""What is counted and what is allowed is so on every replica: rates, wrong codes, keys, and what a link lets in."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack
from itertools import count, cycle

import httpx
import pytest

from tests.doors.callers import approve, ask, done, refused
from tests.doors.sockets import closing, heard, plugged
from tests.replicas.replica import PATIENCE, Replica, opened, send, until

Pair = tuple[Replica, Replica]


@pytest.fixture(scope="module")
def pair(database: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    settings = {
        "POSTOFFICE_SENDS_PER_MINUTE": "6",
        "POSTOFFICE_REGISTRATIONS_PER_HOUR": "4",
        "POSTOFFICE_WRONG_CODES_IN_A_ROW": "4",
        "POSTOFFICE_TRUSTED_PROXIES": "127.0.0.1",
    }
    folder = tmp_path_factory.mktemp("pair")
    flags = ("--database", database, "--auth", "keys")
    with opened(*(Replica(folder / str(number), *flags, settings=settings) for number in range(2))) as (one, two):
        yield one, two


class Agent:
    """One agent with a line to each replica."""

    def __init__(self, key: str, lines: list[httpx.AsyncClient]) -> None:
        self.key = key
        self.here, self.there = lines
        self.lines = lines


class Town:
    """Agents that register at one replica, each from an address of its own, and are known at both."""

    _addresses = count(1)

    def __init__(self, pair: Pair, open: AsyncExitStack) -> None:
        self._pair = pair
        self._open = open

    async def join(self, name: str) -> Agent:
        async with self._pair[0].client() as anyone:
            body, address = {"name": name, "allow_from": ["*"]}, {"X-Forwarded-For": f"198.51.100.{next(self._addresses)}"}
            key = str(done(await anyone.post("/agents/register", json=body, headers=address), 201)["api_key"])
        return Agent(key, [await self._open.enter_async_context(replica.client(key=key)) for replica in self._pair])


@pytest.fixture
async def town(pair: Pair) -> AsyncIterator[Town]:
    async with AsyncExitStack() as open:
        yield Town(pair, open)


async def test_sends_are_counted_together(town: Town) -> None:
    alice, _ = await town.join("alice"), await town.join("bob")
    for _, line in zip(range(6), cycle(alice.lines), strict=False):
        await send(line, "bob")
    for line in alice.lines:
        answer = await line.post("/messages/send", json={"to": "bob", "subject": "work", "content": "one more"})
        refused(answer, 429, "rate_limited")
        assert 0 < int(answer.headers["retry-after"]) <= 60


async def test_registrations_of_an_address_are_counted_together(pair: Pair) -> None:
    async def register(replica: Replica, name: str, address: str) -> httpx.Response:
        async with replica.client() as anyone:
            return await anyone.post("/agents/register", json={"name": name}, headers={"X-Forwarded-For": address})

    for number in range(4):
        done(await register(pair[number % 2], f"new-{number}", "203.0.113.7"), 201)
    for replica in pair:
        refused(await register(replica, "one-too-many", "203.0.113.7"), 429, "rate_limited")
    done(await register(pair[1], "from-elsewhere", "203.0.113.8"), 201)


async def test_wrong_codes_are_counted_together(town: Town) -> None:
    carol, dave = await town.join("carol"), await town.join("dave")
    asked = await ask(carol.here, "dave")
    wrong = [code for code in ("AA-000", "AB-001", "AC-002", "AD-003", "AE-004") if code != asked["verification_code"]]
    for code, line in zip(wrong[:4], cycle(dave.lines), strict=False):
        refused(await approve(line, code), 404, "no_such_code")
    # Two tries at each were too many together: the request is burnt.
    for line in dave.lines:
        refused(await approve(line, asked["verification_code"]), 404, "no_such_code")


async def test_a_key_revoked_at_one_is_refused_at_the_other_and_its_socket_closed(pair: Pair, town: Town) -> None:
    erin, frank = await town.join("erin"), await town.join("frank")
    async with plugged(pair[1].ws_url, api_key=erin.key) as socket:
        await send(frank.there, "erin")
        assert (await heard(socket, PATIENCE))["type"] == "new_message"
        done(await erin.there.get("/agents/me"))  # remembered there by now
        done(await erin.here.post("/agents/me/keys/revoke", json={}))
        assert await closing(socket, PATIENCE) == 4001

    async def is_refused() -> bool:
        return (await erin.there.get("/agents/me")).status_code == 401

    await until(is_refused)


async def test_a_new_key_works_at_the_other_at_once(pair: Pair, town: Town) -> None:
    grace = await town.join("grace")
    key = done(await grace.here.post("/agents/me/keys/rotate", json={}), 201)["api_key"]
    async with pair[1].client(key=key) as renewed:
        assert done(await renewed.get("/agents/me"))["name"] == "grace"


async def test_the_owners_keys_of_both_are_good_at_both(pair: Pair) -> None:
    for replica, other in (pair, pair[::-1]):
        async with replica.client(key=other.owner_key) as owner:
            assert (await owner.get("/metrics")).is_success


async def test_a_link_of_one_opens_the_page_of_the_other_once(pair: Pair) -> None:
    here, there = pair
    async with here.client(key=here.owner_key) as owner:
        code = done(await owner.post("/page/links"), 201)["address"].partition("#")[2]
    async with there.client() as browser, here.client() as another:
        entered = await browser.post("/page/login", data={"code": code}, headers={"Sec-Fetch-Site": "same-origin"})
        assert entered.status_code == 303
        again = await another.post("/page/login", data={"code": code}, headers={"Sec-Fetch-Site": "same-origin"})
        assert again.status_code >= 400


async def test_what_is_asked_at_one_is_answered_at_the_other(town: Town) -> None:
    henry, iris = await town.join("henry"), await town.join("iris")
    asked = await ask(henry.here, "iris")
    assert done(await approve(iris.there, asked["verification_code"]))["connection_id"] == asked["connection_id"]
    await asyncio.gather(*(send(line, "iris") for line in henry.lines))
