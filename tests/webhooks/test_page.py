"""The page: a webhook that is told nothing more stands in *For you*, and is tried again from there."""

from collections.abc import AsyncIterator

import pytest

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
        assert 'action="/page/webhooks/ci/resume"' in shown
        headers = {"Origin": served.url, "Sec-Fetch-Site": "same-origin"}
        assert (await browser.post("/page/webhooks/ci/resume", headers=headers)).status_code == 303
    found = await office.webhooks.get(owner, "ci")
    assert (found.state, found.waiting) == (WebhookState.ACTIVE, 1)
