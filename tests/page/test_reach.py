"""A person is reached where the page is not before them: by title, picture, badge, and by the browser's own word of chosen kinds."""

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Playwright, expect
from tools.browser import ABSENT, FLAGS, ensure

from tests.page.conftest import looking
from tests.page.house import House, opened
from tests.page.lookout import Lookout

_HIDE = "Object.defineProperty(document, 'hidden', {value: %s, configurable: true}); document.dispatchEvent(new Event('visibilitychange'))"
_HEAR = """
globalThis.told = [];
globalThis.asked = [];
globalThis.Notification = class {
  static permission = "default";
  static async requestPermission() {
    asked.push(navigator.userActivation.isActive);
    return (this.permission = "granted");
  }
  constructor(title, options) { told.push([title, options.body ?? "", options.tag]); }
  close() {}
};
"""

_LISTEN = """
globalThis.shown = [];
globalThis.Notification = new Proxy(Notification, {
  construct(real, given) {
    const made = new real(...given);
    made.addEventListener("show", () => shown.push([made.title, made.body, made.tag !== "", made.icon.includes("/page/")]));
    made.addEventListener("error", () => shown.push(["error"]));
    return made;
  },
});
"""


@pytest.fixture
def quiet(tmp_path: Path) -> Iterator[House]:
    with opened(tmp_path) as house:
        house.town.appear("coder")
        yield house


@pytest.fixture
def out(browser: Browser, quiet: House) -> Iterator[Lookout]:
    with looking(browser, quiet.url) as lookout:
        lookout.context.add_init_script(_HEAR)
        yield lookout


def live(page: Page) -> None:
    expect(page.locator("#line")).to_have_text("Live")


def wait_until_told(page: Page, times: int) -> None:
    while page.evaluate("told.length") < times:
        page.wait_for_timeout(50)


def test_a_hidden_tab_counts_on(out: Lookout, quiet: House) -> None:
    page = out.go("/page/tasks")
    live(page)
    page.evaluate(_HIDE % "true")
    sent = quiet.town.send("coder", "owner", "hello?", subject="While you are away")
    expect(page).to_have_title("(1) Tasks · Postoffice")
    expect(page.locator("#favicon")).to_have_attribute("href", "/page/icon/1.svg")
    quiet.town.call("coder", "GET", f"/messages/{sent['message_id']}/status")
    page.request.post(f"/page/mine/{sent['session_id']}/done", headers={"Sec-Fetch-Site": "same-origin"})
    expect(page).to_have_title("Tasks · Postoffice")


def test_a_thread_in_a_hidden_tab_is_not_seen_by_anybody(out: Lookout, quiet: House) -> None:
    sent = quiet.town.send("coder", "owner", "one", subject="Open but hidden")
    page = out.go(f"/page/thread/{sent['session_id']}")
    live(page)
    page.evaluate(_HIDE % "true")
    quiet.town.send("coder", "owner", "two", subject="Open but hidden")
    expect(page).to_have_title(re.compile(r"^\(2\) "))
    page.evaluate(_HIDE % "false")
    expect(page.locator(".letter")).to_have_count(2)
    expect(page.locator(".letter .state").last).to_have_text("seen")


def test_the_browser_tells_of_chosen_kinds_once_and_never_what_is_said(out: Lookout, quiet: House) -> None:
    quiet.town.send("coder", "owner", "known already", subject="Before")
    page = out.go("/page/settings")
    live(page)
    page.get_by_label("letters to me").first.check()
    expect(page.get_by_label("letters to me").first).to_be_checked()
    page.evaluate(_HIDE % "true")
    quiet.town.ask("coder", "owner", "Not chosen")
    expect(page).to_have_title(re.compile(r"^\(2\) "))
    quiet.town.send("coder", "owner", "a secret", subject="Behind your back")
    wait_until_told(page, 1)
    quiet.town.send("docs", "owner", "another secret", subject="And again")
    wait_until_told(page, 2)
    told = page.evaluate("told")
    assert [title for title, _, _ in told] == ["coder wrote to you", "docs wrote to you"]
    assert "secret" not in str(told)
    assert "Behind" not in str(told)


@pytest.fixture
def whole(playwright: Playwright) -> Iterator[Browser]:
    """A browser with windows, as people have it: the one without them refuses every notification."""
    path = ensure(windows=True)
    if path is None:
        (pytest.fail if os.environ.get("CI") else pytest.skip)(ABSENT)
    launched = playwright.chromium.launch(executable_path=path, args=FLAGS)
    yield launched
    launched.close()


def test_a_whole_browser_shows_a_notification_while_the_page_is_hidden(whole: Browser, quiet: House) -> None:
    with looking(whole, quiet.url) as out:
        out.context.grant_permissions(["notifications"], origin=quiet.url)
        out.context.add_init_script(_LISTEN)
        page = out.go("/page/settings")
        live(page)
        page.get_by_label("questions to me").first.check()
        quiet.town.send("coder", "owner", "Now?", ask={"choices": ["yes", "no"]}, subject="Before my eyes")
        expect(page).to_have_title(re.compile(r"^\(1\) "))
        page.evaluate(_HIDE % "true")
        quiet.town.send("coder", "owner", "The launch code is 1234.", ask={"choices": ["yes", "no"]}, subject="Keep the serif logo?")
        while not page.evaluate("shown.length"):
            page.wait_for_timeout(50)
        assert page.evaluate("shown") == [["coder asks you", "", True, True]]


def test_the_browser_asks_whether_it_may_only_upon_a_click(out: Lookout, quiet: House) -> None:
    page = out.go("/page/settings")
    live(page)
    quiet.town.ask("coder", "owner", "Any question")
    expect(page).to_have_title(re.compile(r"^\(1\) "))
    assert page.evaluate("asked") == []
    page.get_by_label("questions to me").first.check()
    expect(page.get_by_label("questions to me").first).to_be_checked()
    page.get_by_label("letters to me").first.check()
    assert page.evaluate("asked") == [True]


def test_nobody_is_told_unasked(out: Lookout, quiet: House) -> None:
    page = out.go("/")
    live(page)
    page.evaluate(_HIDE % "true")
    quiet.town.send("coder", "owner", "hello", subject="Quiet")
    expect(page).to_have_title(re.compile(r"^\(1\) "))
    assert page.evaluate("[told.length, Notification.permission]") == [0, "default"]


class TestTheLook:
    @pytest.mark.parametrize("scripts", [True, False])
    def test_light_or_dark_is_chosen_and_kept(self, browser: Browser, quiet: House, *, scripts: bool) -> None:
        with looking(browser, quiet.url, java_script_enabled=scripts, color_scheme="light") as lookout:
            page = lookout.go("/page/settings")
            page.get_by_role("button", name="Dark").click()
            expect(page.locator("html")).to_have_attribute("data-theme", "dark")
            expect(page.locator(".said")).to_be_visible()
            page.goto("/")
            expect(page.locator("html")).to_have_attribute("data-theme", "dark")
            colour = page.evaluate("getComputedStyle(document.documentElement).backgroundColor") if scripts else "rgb(19, 20, 22)"
            assert colour == "rgb(19, 20, 22)"
            page.goto("/page/settings")
            page.get_by_role("button", name="As the system").click()
            expect(page.locator("html")).not_to_have_attribute("data-theme", "dark")

    def test_it_can_be_installed(self, out: Lookout) -> None:
        page = out.go("/")
        manifest = page.request.get(page.locator("link[rel=manifest]").get_attribute("href") or "").json()
        assert (manifest["display"], manifest["start_url"]) == ("standalone", "/")
        for icon in manifest["icons"]:
            answer = page.request.get(icon["src"])
            assert answer.headers["content-type"] == icon.get("type")

    def test_what_is_reached_for_on_a_phone_is_at_the_thumb_and_large_enough(self, browser: Browser, quiet: House) -> None:
        quiet.town.send("coder", "owner", "hello", subject="On the way")
        with looking(browser, quiet.url, viewport={"width": 390, "height": 844}, has_touch=True) as lookout:
            page = lookout.go("/")
            bar = page.locator("#nav").bounding_box()
            assert bar is not None
            assert bar["y"] + bar["height"] == 844
            small = page.evaluate("""() => [...document.querySelectorAll("a, button, input, select, textarea, summary")]
                .filter((target) => target.checkVisibility() && !target.closest("p, .skip"))
                .map((target) => [target.outerHTML.slice(0, 80), target.getBoundingClientRect()])
                .filter(([, box]) => box.width && (box.height < 43.5 || box.width < 43.5)).map(([text]) => text)""")
            assert small == []
