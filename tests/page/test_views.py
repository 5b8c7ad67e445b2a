"""Every view, in both themes: it says what it is, nobody is shut out of it, and a picture of it is kept to be looked at."""

import json
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, expect

from tests.page.conftest import looking
from tests.page.house import House, opened
from tests.page.lookout import Lookout

SCREENS = Path(__file__).parent.parent.parent / "build" / "screens"
_AXE = Axe()
VIEWS = {
    "foryou": ("/", "For you"),
    "overview": ("/page/overview", "Overview"),
    "mail": ("/page/mail", "Conversations"),
    "between": ("/page/between/coder/atlas", "coder and atlas"),
    "mailbox": ("/page/mail?of=coder", "coder's mail"),
    "thread": ("thread", "Review of the retry patch"),
    "letter": ("letter", "Build 4211"),
    "compose": ("/page/compose?to=coder", "Write"),
    "search": ("/page/search?q=build", "Search"),
    "tasks": ("/page/tasks", "Tasks"),
    "connections": ("/page/connections", "Connections"),
    "dead": ("/page/dead", "Dead letters"),
    "recurring": ("/page/recurring", "Recurring letters"),
    "reservations": ("/page/reservations", "Reservations"),
    "lists": ("/page/lists", "Lists"),
    "traffic": ("/page/traffic", "Traffic"),
    "connect": ("/page/connect?name=newcomer", "Connect an agent"),
    "settings": ("/page/settings", "Settings"),
    "fault": ("/page/nowhere", "There is nothing here"),
}
DESKTOP: dict[str, Any] = {"width": 1360, "height": 880}
SIZES = ((1440, 900), (1024, 768), (390, 844))
PHONE: dict[str, Any] = {"width": 360, "height": 740}


def address(house: House, name: str) -> str:
    path = VIEWS[name][0]
    if path == "thread":
        sessions = house.town.call("coder", "GET", "/inbox")["sessions"]
        return next(f"/page/thread/{item['session_id']}?of=coder" for item in sessions if item["subject"].startswith("Review"))
    if path == "letter":
        found = house.town.call("nightly", "GET", "/search?q=green")["results"]
        return f"/page/letter/{next(hit['message']['id'] for hit in found if hit['message']['to'] == 'ALL')}"
    return path


def found_by_axe(lookout: Lookout, *impacts: str) -> list[str]:
    """What axe-core finds wrong, of these impacts or of any."""
    page = lookout.page
    if not page.evaluate("'axe' in window"):  # it is half a megabyte, and stays with the page that it was given to
        page.evaluate(_AXE.axe_script)
    found = page.evaluate("async () => (await axe.run({resultTypes: ['violations']})).violations")
    return [
        f"{item['id']}: {node['target']} {node['failureSummary']}"
        for item in found
        if not impacts or item["impact"] in impacts
        for node in item["nodes"]
    ]


def shut_out(lookout: Lookout) -> list[str]:
    """What of it is serious."""
    return found_by_axe(lookout, "serious", "critical")


def clean(lookout: Lookout, name: str) -> None:
    """In each size and theme: nothing is wider than the window, and axe-core finds nothing at all."""
    page = lookout.page
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        for theme in ("light", "dark"):
            page.emulate_media(color_scheme=theme)
            page.screenshot(path=SCREENS / f"{name}-{width}-{theme}.png")
            assert found_by_axe(lookout) == [], (width, theme)


@pytest.mark.parametrize("name", VIEWS)
def test_a_view_is_clean_in_every_size_and_theme(browser: Browser, house: House, name: str) -> None:
    SCREENS.mkdir(parents=True, exist_ok=True)
    with looking(browser, house.url) as lookout:
        page = lookout.go(address(house, name))
        expect(page.get_by_role("heading", level=1)).to_have_text(VIEWS[name][1])
        expect(page.locator("#line")).to_have_text("Live")
        clean(lookout, name)
        page.set_viewport_size({"width": PHONE["width"], "height": PHONE["height"]})
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]


def test_light_is_light_and_dark_is_dark(lookout: Lookout) -> None:
    page, shades = lookout.go("/"), {}
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme)
        shades[theme] = page.evaluate("getComputedStyle(document.body.parentElement).backgroundColor")
    light, dark = (sum(map(int, shades[theme][4:-1].split(", "))) for theme in ("light", "dark"))
    assert dark < 200 < light


_BURST = """() => [...document.querySelectorAll("main, main *")]
  .filter((box) => !["auto", "scroll", "hidden"].includes(getComputedStyle(box).overflowX) && getComputedStyle(box).display !== "inline")
  .filter((box) => box.checkVisibility() && box.clientWidth && box.scrollWidth > box.clientWidth + 1)
  .map((box) => `${box.tagName} ${box.className} by ${box.scrollWidth - box.clientWidth}`)"""
"""What does not hold its content."""


def test_the_longest_name_bursts_nothing(browser: Browser, tmp_path: Path) -> None:
    name = "An-agent-with-a-very-long-name." + "x" * 69
    with opened(tmp_path) as house:
        town = house.town
        town.populate()
        town.call(name, "PATCH", "/agents/me", {"description": "d" * 300, "capabilities": ["c" * 60]})
        sent = town.send(name, "owner", "Hello", subject="S" * 200)
        town.ask(name, "owner", "T" * 200, hours=-50)
        town.move(name, town.ask("coder", name, "Work"), "completed")
        town.call(name, "POST", "/connections/request", {"target_agent_name": "docs", "message": "n" * 300})
        made = town.call(name, "POST", "/connections/request", {"target_agent_name": "coder"})
        town.call("coder", "POST", "/connections/approve", {"verification_code": made["verification_code"]})
        town.kill("docs", name, "Dead", "r" * 300)
        paths = [path for path, _ in VIEWS.values() if path.startswith("/")]
        paths += [
            f"/page/thread/{sent['session_id']}",
            f"/page/letter/{sent['message_id']}",
            f"/page/mail?of={name}",
            f"/page/dead?of={name}",
        ]
        for viewport in (DESKTOP, PHONE):
            with looking(browser, house.url, viewport=viewport) as lookout:
                burst = {path: found for path in paths if (found := lookout.go(path).evaluate(_BURST))}
                assert burst == {}, viewport


@pytest.mark.parametrize("name", VIEWS)
def test_a_view_can_be_read_without_scripts(browser: Browser, house: House, name: str) -> None:
    with looking(browser, house.url, java_script_enabled=False) as lookout:
        page = lookout.go(address(house, name))
        expect(page.get_by_role("heading", level=1)).to_have_text(VIEWS[name][1])
        assert len(page.locator("main").inner_text()) > 40
        expect(page.locator("#nav").get_by_role("link", name="Settings")).to_be_visible()


def test_a_new_office_says_how_to_begin(browser: Browser, tmp_path: Path) -> None:
    with opened(tmp_path) as new, looking(browser, new.url) as lookout:
        page = lookout.go("/")
        expect(page.get_by_role("heading", level=1)).to_have_text("Welcome")
        expect(page.locator("#light")).to_contain_text("Waiting for the first call of coder")
        expect(page.locator(".snippet")).to_contain_text(f"{new.url}/mail/coder")
        SCREENS.mkdir(parents=True, exist_ok=True)
        clean(lookout, "welcome")
        hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "a client", "version": "1"}}
        headers = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
        opening = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello})
        assert page.request.post(f"{new.url}/mail/coder", data=opening, headers=headers).ok
        expect(page.locator("#light.lit")).to_contain_text("coder has called")
        page.get_by_role("button", name="Send it a test letter").click()
        expect(page.locator(".letter")).to_contain_text("This is a test letter.")
        assert [letter["subject"] for letter in new.town.call("coder", "POST", "/messages/receive", {})["messages"]] == ["Hello"]


def test_bridges_that_are_in_use_are_shown(browser: Browser, tmp_path: Path) -> None:
    with opened(tmp_path, "--files", "mailboxes") as bridged, looking(browser, bridged.url) as lookout:
        bridged.town.appear("alice")
        page = lookout.go("/page/overview")
        expect(page.locator("#bridges")).to_contain_text("files")
        expect(page.locator("#bridges")).to_contain_text("mailboxes")
        assert shut_out(lookout) == []


def test_the_tab_says_how_much_waits(lookout: Lookout) -> None:
    page = lookout.go("/page/overview")
    expect(page).to_have_title("(5) Overview · Postoffice")  # two requests, a task, a letter, and one that died
    icon = page.locator("#favicon").get_attribute("href")
    assert icon == "/page/icon/5.svg"
    assert ">5</text>" in page.request.get(icon).text()
    lookout.go("/")
    expect(page.locator(".need")).to_have_count(5)


def test_looking_settles_nothing(lookout: Lookout, house: House) -> None:
    before = house.town.call("coder", "GET", "/mailbox")
    sessions = house.town.call("coder", "GET", "/inbox")["sessions"]
    for item in sessions:
        lookout.go(f"/page/thread/{item['session_id']}?of=coder")
    after = house.town.call("coder", "GET", "/mailbox")
    counted = ("held", "pending", "leased", "dead")
    assert {name: before[name] for name in counted} == {name: after[name] for name in counted}
    assert [item["unread_count"] for item in house.town.call("coder", "GET", "/inbox")["sessions"]] == [
        item["unread_count"] for item in sessions
    ]


def test_what_is_written_from_right_to_left_is_read_so(lookout: Lookout, house: House) -> None:
    text = "שלום עולם (42).\n\nEnglish.\n\n```\ncode(1);\n```"
    sent = house.town.send("scout", "owner", text, subject="שלום (1) עולם!")
    page = lookout.go(f"/page/thread/{sent['session_id']}")
    page.get_by_label("Answer").fill("שלום")
    found = page.evaluate("""() => [".words", ".words pre", ".answer textarea", ".letter .proof"].map((place) =>
        getComputedStyle(document.querySelector(place)).direction)""")
    assert found == ["rtl", "ltr", "rtl", "ltr"]
    beginnings = page.evaluate("""() => [...document.querySelectorAll(".words p")].map((paragraph) => {
        const range = document.createRange();
        range.selectNodeContents(paragraph);
        return range.getBoundingClientRect().left - paragraph.getBoundingClientRect().left;
    })""")
    assert beginnings[0] > 100, "it stands at the right"
    assert beginnings[1] == 0, "and what is English at the left"
