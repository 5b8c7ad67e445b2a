"""On paper: what was said, whole and in black on white, and none of what only a screen can do."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.page.conftest import looking
from tests.page.house import House

SCREEN_ONLY = ".side, .answer, .list, .pane-own, .pane-acts, .many, .pick, .need-acts, .answering, .need-later, .acts"


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_thread_is_printed_whole_in_black_on_white(browser: Browser, house: House, theme: str) -> None:
    sent = [house.town.send("scout", "owner", f"Letter {number}. " + "It goes on. " * 120, subject=f"Long, {theme}") for number in range(8)]
    with looking(browser, house.url, viewport={"width": 1024, "height": 768}) as lookout:
        page = lookout.go("/page/settings")
        page.get_by_role("button", name=theme.capitalize()).click()
        expect(page.locator("html")).to_have_attribute("data-theme", theme)
        lookout.go(f"/page/thread/{sent[0]['session_id']}")
        expect(page.locator(".letter")).to_have_count(8)
        page.emulate_media(media="print")
        assert [found for found in page.locator(SCREEN_ONLY).all() if found.is_visible()] == []
        style = page.evaluate("""() => [document.documentElement, document.querySelector(".words")].map((box) => {
            const { color, backgroundColor, colorScheme } = getComputedStyle(box);
            return [color, backgroundColor, colorScheme];
        })""")
        assert style[0] == ["rgb(0, 0, 0)", "rgb(255, 255, 255)", "light"]
        assert style[1][0] == "rgb(0, 0, 0)"
        cut = page.evaluate("""() => [...document.querySelectorAll("main, main *")].filter((box) =>
            box.checkVisibility() && getComputedStyle(box).overflowY !== "visible" && box.scrollHeight > box.clientHeight + 1)
            .filter((box) => getComputedStyle(box).position !== "absolute")  // words for those who listen
            .map((box) => `${box.tagName} ${box.className}`)""")
        assert cut == []
        pages = len(re.findall(rb"/Type /Page\b", page.pdf()))
        assert pages >= 2


def test_what_waits_is_printed_without_its_buttons(browser: Browser, house: House, tmp_path: Path) -> None:
    with looking(browser, house.url) as lookout:
        page = lookout.go("/")
        expect(page.locator(".need").first).to_be_visible()
        page.emulate_media(media="print")
        assert [found for found in page.locator(SCREEN_ONLY).all() if found.is_visible()] == []
        expect(page.locator(".need").first).to_be_visible()
        assert page.pdf(path=tmp_path / "needs.pdf").startswith(b"%PDF")
