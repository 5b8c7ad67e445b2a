"""Webhooks: how each does, from open to paused, and what the owner does about them."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Browser, expect

from tests.page.conftest import looking
from tests.page.house import House, opened
from tests.page.lookout import Lookout
from tests.page.test_login import link
from tests.page.test_views import SCREENS, clean
from tests.serve.running import PATIENCE
from tests.webhooks.receiver import Receiver, receiving


@pytest.fixture(scope="module")
def receiver() -> Iterator[Receiver]:
    with receiving() as found:
        yield found


@pytest.fixture(scope="module")
def office(tmp_path_factory: pytest.TempPathFactory, receiver: Receiver) -> Iterator[House]:
    """An office that tells an address which refuses at first, and has two where letters are left."""
    folder = tmp_path_factory.mktemp("told")
    (folder / "postoffice.toml").write_text('webhook_networks = ["127.0.0.0/8"]\n')
    receiver.status = 503
    with opened(folder) as house:
        house.town.appear("coder")
        for hook in ({"name": "ci", "events": ["new_message"]}, {"name": "team", "agents": ["coder"], "shape": "slack"}):
            keep(house, "/webhooks", {"url": f"{receiver.url}/s3cret", **hook})
        keep(house, "/webhooks/team/pause")
        keep(house, "/hooks", {"name": "github", "to": "coder", "proof": "github"})
        keep(house, "/hooks", {"name": "grafana", "to": "coder"})
        house.town.send("nightly", "coder", "The build is red.", subject="Build 4212")
        yield house


def keep(house: House, path: str, body: Any = None) -> None:
    """Do something as the owner."""
    headers = {"X-API-Key": house.owner_key}
    httpx.post(f"{house.url}{path}", json=body, headers=headers, timeout=PATIENCE, trust_env=False).raise_for_status()


@pytest.fixture
def out(browser: Browser, office: House) -> Iterator[Lookout]:
    with looking(browser, office.url) as lookout:
        yield lookout


def test_each_says_how_it_does_in_every_size_and_theme(out: Lookout) -> None:
    page = out.go("/page/webhooks")
    ci, team = page.locator(".hook").filter(has_text="ci"), page.locator(".hook").filter(has_text="team")
    expect(ci).to_contain_text("it answered 503")
    expect(ci).to_contain_text("nothing yet")
    expect(ci.locator("time")).to_have_count(1)  # the next try
    expect(team.locator(".hook-head .state")).to_have_text("paused")
    assert "s3cret" not in page.locator("main").inner_text(), "the rest of an address shows only when it is asked for"
    SCREENS.mkdir(parents=True, exist_ok=True)
    clean(out, "webhooks")


def test_the_owner_tells_it_again_pauses_and_removes_it(out: Lookout, office: House, receiver: Receiver) -> None:
    page = out.go("/page/webhooks")
    ci = page.locator(".hook").filter(has_text="127.0.0.1").filter(has_text="new message")
    receiver.status = 200
    ci.get_by_role("button", name="Try again").click()
    expect(ci).not_to_contain_text("it answered 503")
    expect(ci.locator("time")).to_have_count(1)  # when it took something
    ci.get_by_role("button", name="Pause").click()
    expect(ci.locator(".hook-head .state")).to_have_text("paused")
    taken = len(receiver.taken)
    office.town.send("nightly", "coder", "Green again.", subject="Build 4213")
    ci.get_by_role("button", name="Go on").click()
    receiver.wait(taken + 1)
    ci.get_by_text("Remove…").click()
    page.get_by_role("button", name="Keep it").or_(page.get_by_role("link", name="Keep it")).first.click()
    expect(ci).to_have_count(1)
    ci.get_by_text("Remove…").click()
    page.get_by_role("button", name="Remove it").click()
    expect(page.locator(".hook")).to_have_count(1)


def test_an_address_is_closed_for_good(out: Lookout) -> None:
    page = out.go("/page/webhooks")
    row = page.locator(".left-list li").filter(has_text="github")
    row.get_by_text("Close…").click()
    page.get_by_role("button", name="Close the address").click()
    expect(row.locator(".state")).to_have_text("closed")
    expect(page.locator(".left-list li").filter(has_text="grafana").get_by_text("Close…")).to_be_visible()


def test_an_agent_sees_none_of_it(browser: Browser, tmp_path: Path) -> None:
    with opened(tmp_path, "--auth", "keys") as house:
        house.run("register", "alice")
        with looking(browser, house.url) as lookout:
            lookout.page.goto(link(house, "alice"))
            expect(lookout.page.locator("#nav")).to_contain_text("Traffic")
            expect(lookout.page.locator("#nav")).not_to_contain_text("Webhooks")
            answer = lookout.page.goto("/page/webhooks")
            assert answer is not None
            assert answer.status == 403
