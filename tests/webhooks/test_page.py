"""The page: a webhook that is told nothing more stands in *For you*, and all of them in a view of their own."""

from collections.abc import AsyncIterator

import pytest

from postoffice.core.hook import HookProof
from postoffice.core.webhook import Tried, WebhookState
from tests.doors.served import Served, serving
from tests.engines import Engine
from tests.mail import people, write


@pytest.fixture
async def served(engine: Engine) -> AsyncIterator[Served]:
    async with serving(engine) as running:
        yield running


async def test_a_webhook_that_ended_is_tried_again_from_for_you(served: Served) -> None:
    office = served.office
    owner = office.owner()
    (alice, _) = await people(office, "alice", "bob")
    await office.webhooks.add(owner, "ci", "https://ci.example.invalid/s3cret")
    (row,) = await office.webhooks.active()
    await write(office, alice, "bob")
    await office.webhooks.take(row)
    await office.webhooks.settle(row, (Tried(number=1, attempts=1, error="it answered 410", gone=True),))
    async with served.client() as browser:
        shown = (await browser.get("/")).text
        assert "webhook to ci.example.invalid is gone" in shown
        assert "s3cret" not in shown
        assert 'action="/page/webhooks/ci/resume?back=%2F"' in shown
        headers = {"Origin": served.url, "Sec-Fetch-Site": "same-origin"}
        assert (await browser.post("/page/webhooks/ci/resume", headers=headers)).status_code == 303
    found = await office.webhooks.get(owner, "ci")
    assert (found.state, found.waiting) == (WebhookState.ACTIVE, 1)


async def test_the_list_says_how_each_does_and_pauses_removes_and_closes(served: Served) -> None:
    office = served.office
    owner = office.owner()
    (alice, _) = await people(office, "alice", "bob")
    await office.webhooks.add(owner, "ci", "https://ci.example.invalid/s3cret", agents=["bob"])
    await office.hooks.add(owner, "build", "bob", proof=HookProof.GITHUB)
    (row,) = await office.webhooks.active()
    await write(office, alice, "bob")
    await office.webhooks.take(row)
    await office.webhooks.settle(row, (Tried(number=1, attempts=1, error="it answered 503"),))
    headers = {"Origin": served.url, "Sec-Fetch-Site": "same-origin"}
    async with served.client() as browser:
        shown = (await browser.get("/page/webhooks")).text
        for words in ("ci.example.invalid", "every event, of bob", "nothing yet", "<dt>Next try</dt>", "it answered 503", "GitHub"):
            assert words in shown, words
        for path, said in (("webhooks/ci/pause", "paused"), ("webhooks/ci/resume", "open"), ("hooks/build/close", "closed")):
            assert (await browser.post(f"/page/{path}", headers=headers)).status_code == 303
            assert f">{said}</span>" in (await browser.get("/page/webhooks")).text
        assert (await browser.post("/page/webhooks/ci/remove", headers=headers)).headers["location"] == "/page/webhooks?said=removed"
        assert "Nobody else is told." in (await browser.get("/page/webhooks")).text
    assert await office.webhooks.all(owner) == ()
    assert [hook.revoked for hook in await office.hooks.all(owner)] == [True]
