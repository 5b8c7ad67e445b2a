"""A ring by hand over REST and from the page: done, or refused with the reason."""

from collections.abc import AsyncIterator

import pytest

from tests.doors.callers import Callers, done, refused
from tests.doors.served import Served, serving
from tests.engines import Engine
from tests.mail import people, write

OURS = {"Sec-Fetch-Site": "same-origin"}


@pytest.fixture
async def served(engine: Engine) -> AsyncIterator[Served]:
    async with serving(engine) as running:
        yield running


async def test_whoever_may_not_ring_is_refused_and_the_others_hear_why_nothing_wakes_it(served: Served) -> None:
    async with Callers(served) as callers:
        alice, bob = await callers.named("alice", "bob")
        await people(served.office, "alice", "bob", "shop")
        caller = await served.office.identify(name="alice")
        await write(served.office, caller, "shop")
        refused(await bob.post("/agents/shop/ring"), 403, "forbidden")
        refused(await alice.post("/agents/nobody/ring"), 404, "no_such_agent")
        rung = done(await alice.post("/agents/shop/ring"))
        assert (rung["agent"], rung["rung"]) == ("shop", False)
        assert rung["text"].startswith("it has no window that can be rung; ")


async def test_the_page_offers_it_where_mail_waits_and_says_why_not(served: Served) -> None:
    alice, _ = await people(served.office, "alice", "shop")
    async with served.client() as browser:
        assert "/page/agents/shop/ring" not in (await browser.get("/page/mail", params={"of": "shop"})).text
        await write(served.office, alice, "shop")
        assert "/page/agents/shop/ring" in (await browser.get("/page/mail", params={"of": "shop"})).text
        answer = await browser.post("/page/agents/shop/ring", headers=OURS)
        assert answer.status_code == 409
        assert "shop was not rung: it has no window that can be rung" in answer.text
