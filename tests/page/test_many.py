"""Several rows at once, and which row is chosen after each act: in what waits, in one's own mail, and among the dead."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.page.conftest import looking
from tests.page.house import House, opened
from tests.page.lookout import Lookout
from tests.page.test_foryou import stands


@pytest.fixture
def quiet(tmp_path: Path) -> Iterator[House]:
    with opened(tmp_path) as house:
        for name in ("coder", "docs"):
            house.town.appear(name)
        yield house


@pytest.fixture
def out(browser: Browser, quiet: House) -> Iterator[Lookout]:
    with looking(browser, quiet.url) as lookout:
        yield lookout


def test_dead_letters_are_requeued_or_discarded_together_after_a_question(out: Lookout, quiet: House) -> None:
    quiet.town.kill_all("coder", "docs", [f"Number {number}" for number in range(4)], "cannot be read")
    page = out.go("/page/dead")
    rows = page.locator(".dead-letter")
    expect(rows).to_have_count(4)
    first, third = rows.nth(0).get_attribute("data-key"), rows.nth(2).get_attribute("data-key")
    for key in "jsjjs":
        page.keyboard.press(key)
    page.locator("#many").get_by_role("button", name="Discard").click()
    expect(page.get_by_role("dialog")).to_contain_text("Discard all that are picked?")
    expect(rows).to_have_count(4)
    page.get_by_role("button", name="Discard them").click()
    expect(rows).to_have_count(2)
    assert {first, third}.isdisjoint(row.get_attribute("data-key") for row in rows.all())
    expect(rows.nth(0).locator("a").first).to_be_focused()
    for key in "sjs":
        page.keyboard.press(key)
    page.locator("#many").get_by_role("button", name="Requeue").click()
    expect(page.locator("#dead")).to_contain_text("No dead letters")
    assert quiet.town.call("docs", "GET", "/mailbox")["pending"] == 2


def test_without_scripts_the_address_asks(browser: Browser, quiet: House) -> None:
    quiet.town.kill_all("coder", "docs", ["One", "Two"], "cannot be read")
    with looking(browser, quiet.url, java_script_enabled=False) as lookout:
        page = lookout.go("/page/dead")
        for row in page.locator(".pick").all():
            row.check(force=True)
        page.locator("#many").get_by_role("button", name="Discard").click()
        expect(page.locator("dialog[open]")).to_contain_text("Discard all that are picked?")
        page.get_by_role("button", name="Discard them").click()
        expect(page.locator("#dead")).to_contain_text("No dead letters")


def test_threads_of_ones_own_are_done_together_and_the_next_is_chosen(out: Lookout, quiet: House) -> None:
    sent = [quiet.town.send("coder", "owner", "x", subject=f"Thread {number}") for number in range(4)]
    page = out.go("/page/mail?of=owner")
    for key in "jsjs":
        page.keyboard.press(key)
    page.locator("#many").get_by_role("button", name="Done").click()
    expect(page.locator(".tabs .badge")).to_contain_text("2 unread")
    assert [stands(quiet.town, "coder", one["message_id"])["state"] for one in sent] == ["pending", "pending", "acked", "acked"]
    out.go("/page/mail")
    expect(page.locator(".row").first).to_be_visible()
    expect(page.locator(".pick")).to_have_count(0)  # others' mail is not ours to be done with


def test_after_an_act_in_a_thread_its_row_is_chosen_in_the_list(out: Lookout, quiet: House) -> None:
    sent = [quiet.town.send("coder", "owner", "x", subject=f"Thread {number}") for number in range(2)]
    page = out.go(f"/page/thread/{sent[1]['session_id']}?of=owner")
    page.keyboard.press("d")
    expect(page.locator("[data-item][data-current]")).to_contain_text("Thread 1")
    page.keyboard.press("j")
    expect(page.locator("[data-item][data-current]")).to_contain_text("Thread 0")


def test_discarding_asks_first_in_what_waits_too(out: Lookout, quiet: House) -> None:
    quiet.town.kill_all("coder", "docs", ["One", "Two"], "cannot be read")
    page = out.go("/")
    page.keyboard.press("j")
    page.keyboard.press("d")
    expect(page.get_by_role("dialog")).to_contain_text("docs will never get it")
    expect(page.locator(".need")).to_have_count(2)
    page.get_by_role("dialog").get_by_role("button", name="Discard").click()
    expect(page.locator(".need")).to_have_count(1)
    expect(page.locator(".need")).to_be_focused()


@pytest.mark.parametrize("path", ["/", "/page/dead", "/page/mail?of=owner"])
def test_rows_are_picked_by_a_thumb(browser: Browser, quiet: House, path: str) -> None:
    quiet.town.kill_all("coder", "docs", ["One", "Two"], "cannot be read")
    quiet.town.send("coder", "owner", "x", subject="Three")
    with looking(browser, quiet.url, viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True) as lookout:
        page = lookout.go(path)
        box = page.locator(".pick").first
        size = box.bounding_box()
        assert size is not None
        assert min(size["width"], size["height"]) >= 44
        box.tap()
        expect(page.locator("#many")).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
