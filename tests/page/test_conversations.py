"""Conversations: a row for each, letters of one sender under one head, and all that two said to each other at one address."""

import json
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from tests.page.conftest import looking
from tests.page.house import House
from tests.page.lookout import Lookout

TWO_LINES = "The tests on the old branch take four minutes each,\nso I would rather not run them twice."


def test_everyones_list_shows_threads_with_direction_and_state(lookout: Lookout, house: House) -> None:
    for number in range(3):
        house.town.send("docs", "Wren", f"part {number}", subject="In three parts")
    house.town.kill("docs", "Wren", "A digest", "cannot be read")
    page = lookout.go("/page/mail")
    row = page.locator(".row").filter(has_text="In three parts")
    expect(row).to_have_count(1)
    expect(row.locator(".row-top")).to_have_text("docs → to Wren")
    expect(row).to_contain_text("part 2")
    expect(row.locator(".row-count")).to_contain_text("3")
    expect(row.locator(".state")).to_have_text("waiting")
    expect(page.locator(".row").filter(has_text="A digest").filter(has_text="docs").locator(".state.dead")).to_have_text("dead")
    page.goto("/page/mail?of=docs")
    row = page.locator(".row").filter(has_text="A digest is attached")
    expect(row.locator(".row-top")).to_have_text("docs → to Wren")
    expect(row.locator(".state.dead")).to_have_text("dead")


def test_a_row_is_two_lines_and_a_letter_of_two_lines_is_no_higher_than_ninety(lookout: Lookout, house: House) -> None:
    sent = house.town.send("scout", "atlas", TWO_LINES, subject="Heights")
    for _ in range(3):
        house.town.send("scout", "atlas", TWO_LINES, subject="Heights")
    house.town.send("atlas", "scout", TWO_LINES, subject="Heights")
    page = lookout.go(f"/page/thread/{sent['session_id']}")
    heights = page.evaluate("[...document.querySelectorAll('.letter')].map((letter) => letter.getBoundingClientRect().height)")
    assert len(heights) == 5
    assert max(heights) <= 90
    assert page.locator(".letter-who:visible").count() == 2, "letters of one sender stand under one head"
    rows = page.evaluate("[...document.querySelectorAll('.row')].map((row) => row.getBoundingClientRect().height)")
    assert max(rows) <= 60


def test_what_the_owner_says_aside_is_read_in_the_thread_it_is_about(lookout: Lookout, house: House) -> None:
    sent = house.town.send("coder", "docs", "shall we?", subject="An aside")
    page = lookout.go(f"/page/thread/{sent['session_id']}")
    page.get_by_label("From whom to whom").select_option(label="owner → coder (aside)")
    page.get_by_label("Answer").fill("wait for me")
    page.get_by_role("button", name="Send").click()
    expect(page.locator(".letter.aside")).to_contain_text("wait for me")
    expect(page.locator(".pane-head")).to_contain_text("coder and docs")
    house.town.send("coder", "owner", "gladly", subject="An aside")
    expect(page.locator(".letter.aside").last).to_contain_text("gladly")
    history = house.town.call("docs", "GET", f"/sessions/{sent['session_id']}/history?peek=true")["messages"]
    assert [line["sender_name"] for line in history] == ["coder"], "the other of the two does not hear it"


def test_all_that_two_said_to_each_other_is_at_one_address(lookout: Lookout, house: House) -> None:
    house.town.send("Wren", "atlas", "about bread", subject="Bread")
    house.town.send("atlas", "Wren", "about salt", subject="Salt")
    house.town.send("atlas", "docs", "about nothing", subject="Bread")
    page = lookout.go("/page/between/wren/ATLAS")
    expect(page.locator(".turn")).to_have_text(["Bread", "Salt"])
    expect(page.locator(".letter")).to_have_count(2)
    house.town.send("Wren", "atlas", "more about salt", subject="Salt")
    expect(page.locator(".letter").last).to_contain_text("more about salt")
    page.locator(".turn a").first.click()
    expect(page.locator(".pane-head h1")).to_have_text("Bread")
    page.get_by_role("link", name="Wren and atlas").or_(page.get_by_role("link", name="atlas and Wren")).click()
    expect(page.locator(".turn")).to_have_count(2)


def test_a_thread_is_taken_away_as_markdown_and_as_json(lookout: Lookout, house: House) -> None:
    for number in range(205):
        sent = house.town.send("nightly", "docs", f"line {number}.", subject="To take away")
    page = lookout.go(f"/page/thread/{sent['session_id']}")
    found: dict[str, Any] = {}
    for name in ("Markdown", "JSON"):
        with page.expect_download() as downloading:
            page.get_by_role("link", name=name).click()
        found[name] = downloading.value.path().read_text()
    assert found["Markdown"].startswith("# To take away\n")
    assert found["Markdown"].index("line 0.") < found["Markdown"].index("line 204.")
    letters = json.loads(found["JSON"])["letters"]
    assert [letter["message"]["content"] for letter in letters] == [f"line {number}." for number in range(205)]
    (standing,) = house.town.call("nightly", "GET", f"/messages/{sent['message_id']}/status")["standings"]
    assert standing["state"] == "pending"


@pytest.mark.parametrize("width", [1024, 1440])
def test_a_letter_has_more_room_than_the_list(browser: Browser, house: House, width: int) -> None:
    with looking(browser, house.url, viewport={"width": width, "height": 800}) as lookout:
        page = lookout.go("/page/between/coder/atlas")
        box, pane = (page.evaluate(f"document.querySelector('{name}').getBoundingClientRect().width") for name in (".list", ".pane"))
        assert pane > 1.5 * box
