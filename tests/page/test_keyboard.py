"""The keyboard: everything can be reached by keys, and the keys can be found out."""

import pytest
from playwright.sync_api import expect

from tests.page.house import House
from tests.page.lookout import Lookout


def test_j_and_k_walk_and_enter_opens(lookout: Lookout) -> None:
    page = lookout.go("/page/mail?of=coder")
    subjects = page.locator(".row-subject").all_inner_texts()
    assert len(subjects) > 3
    for key in "jjjk":
        page.keyboard.press(key)
    expect(page.locator("[data-current] .row-subject")).to_have_text(subjects[1])
    page.keyboard.press("Enter")
    expect(page.locator(".pane-head h1")).to_have_text(subjects[1])
    page.keyboard.press("r")
    assert page.evaluate("document.activeElement.id") == "answer"
    page.keyboard.type("jk are letters here")
    assert page.get_by_label("Answer").input_value() == "jk are letters here"
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    expect(page.locator("[data-current] .row-subject")).to_have_text(subjects[2])


def test_a_letter_is_written_and_sent_by_keys_alone(lookout: Lookout, house: House) -> None:
    sent = house.town.send("scout", "owner", "by hand or by key?", subject="Keys")
    page = lookout.go(f"/page/thread/{sent['session_id']}")
    page.keyboard.press("r")
    page.keyboard.type("by key")
    page.keyboard.press("Control+Enter")
    expect(page.locator(".letter").last).to_contain_text("by key")
    expect(page.get_by_label("Answer")).to_have_value("")
    page.get_by_label("Answer").fill("and again")
    page.keyboard.press("Control+Enter")
    expect(page.locator(".letter").last).to_contain_text("and again")
    expect(page.locator(".letter")).to_have_count(3)


@pytest.mark.parametrize(
    ("letter", "heading"),
    [
        ("f", "For you"),
        ("o", "Overview"),
        ("m", "Conversations"),
        ("s", "Search"),
        ("t", "Tasks"),
        ("n", "Connections"),
        ("d", "Dead letters"),
        ("w", "Traffic"),
        ("r", "Reservations"),
        ("l", "Lists"),
        ("e", "Recurring letters"),
        ("a", "Connect an agent"),
    ],
)
def test_g_and_a_letter_goes(lookout: Lookout, letter: str, heading: str) -> None:
    page = lookout.go("/page/compose")
    page.keyboard.type(f"g{letter}")  # in one breath: the second has to come soon after the first
    expect(page.get_by_role("heading", level=1)).to_have_text(heading)


def test_slash_searches_and_c_writes(lookout: Lookout) -> None:
    page = lookout.go("/")
    page.keyboard.press("/")
    expect(page.get_by_label("Words")).to_be_focused()
    page.keyboard.type("build")
    page.keyboard.press("Enter")
    expect(page.locator(".row").first).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("c")
    expect(page.get_by_role("heading", level=1)).to_have_text("Write")


def test_j_walks_to_a_request_and_tab_into_it(lookout: Lookout) -> None:
    page = lookout.go("/page/connections")
    page.keyboard.press("j")
    page.keyboard.press("j")
    expect(page.locator(".request").nth(1)).to_be_focused()
    page.keyboard.press("Tab")
    expect(page.locator(".request").nth(1).get_by_role("button", name="Approve")).to_be_focused()


def test_a_key_of_an_input_method_goes_nowhere(lookout: Lookout) -> None:
    page = lookout.go("/")
    page.keyboard.press("Control+k")
    palette = page.get_by_role("combobox", name="Go to")
    expect(palette).to_be_focused()
    for key in ("Enter", "ArrowDown", "Escape"):
        palette.dispatch_event("keydown", {"key": key, "isComposing": True, "bubbles": True, "cancelable": True})
    expect(palette).to_be_focused()
    expect(page.locator("#palette-list [aria-selected=true]")).to_have_attribute("id", "place-0")


def test_a_question_mark_tells_the_keys(lookout: Lookout) -> None:
    page = lookout.go("/page/tasks")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_contain_text("next, previous")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog", name="Keys")).to_be_hidden()


def test_the_palette_goes_to_views_agents_and_searches(lookout: Lookout) -> None:
    page = lookout.go("/")
    page.keyboard.press("Control+k")
    palette = page.get_by_role("combobox", name="Go to")
    expect(palette).to_be_focused()
    page.keyboard.type("dead")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Dead letters")
    page.get_by_role("button", name="Go to").click()
    page.keyboard.type("nigh")
    expect(page.get_by_role("option", name="nightly")).to_be_visible()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("nightly's mail")
    page.keyboard.press("Control+k")
    page.keyboard.type("green build")
    page.get_by_role("option", name="Search for").click()
    expect(page.get_by_label("Words")).to_have_value("green build")


def test_focus_can_be_seen_and_the_content_reached(lookout: Lookout) -> None:
    page = lookout.go("/page/dead")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_be_focused()
    page.keyboard.press("Tab")
    outline = page.evaluate("getComputedStyle(document.activeElement).outlineWidth")
    assert outline == "2px"
