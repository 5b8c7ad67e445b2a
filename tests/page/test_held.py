"""Models that write to each other without end: the owner is asked in what waits, and answers there."""

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from tests.page.conftest import looking
from tests.page.house import House, opened


def says(house: House, who: str, to: str) -> Any:
    """A letter by a model's own tool."""
    return house.town.call(who, "POST", f"/mail/{who}", {"tool": "mail_send", "args": {"to": to, "text": "and you?"}})


def to_and_fro(house: House, letters: int) -> None:
    for number in range(letters):
        says(house, *(("ann", "ben") if number % 2 == 0 else ("ben", "ann")))


def test_the_owner_stops_them_and_lets_them_go_on(browser: Browser, tmp_path: Path) -> None:
    (tmp_path / "postoffice.toml").write_text("talk_asked = 6\ntalk_held = 8\n")
    with opened(tmp_path) as house, looking(browser, house.url) as lookout:
        to_and_fro(house, 4)
        page = lookout.go("/")
        to_and_fro(house, 4)
        row = page.locator(".need")
        expect(row).to_contain_text("Should they go on?")
        with pytest.raises(AssertionError, match="talk_held"):
            says(house, "ann", "ben")
        row.get_by_role("link", name="What they said").click()
        expect(page.locator(".letter").last).to_contain_text("and you?")
        page.go_back()
        row.get_by_role("button", name="stop").click()
        expect(row).to_contain_text("ben are held")
        expect(row).to_contain_text("8 letters to and fro without a person's word")
        expect(page.locator("#nav")).to_have_attribute("data-count", "1")
        with pytest.raises(AssertionError, match="talk_held"):
            says(house, "ann", "ben")
        row.get_by_role("button", name="Go on").click()
        expect(page.locator("#needs")).to_contain_text("Nobody waits for you.")
        says(house, "ann", "ben")
