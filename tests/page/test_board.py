"""The board of tasks: calm where nothing is wrong, and in words where something came of a task."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.page.conftest import looking
from tests.page.house import House, opened
from tests.page.lookout import Lookout


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    with opened(tmp_path) as running:
        for name in ("atlas", "coder", "docs"):
            running.town.appear(name)
        yield running


@pytest.fixture
def out(browser: Browser, house: House) -> Iterator[Lookout]:
    with looking(browser, house.url) as lookout:
        yield lookout


def test_only_what_is_past_its_deadline_is_red(out: Lookout, house: House) -> None:
    house.town.ask("atlas", "coder", "Due in two days", hours=45)
    house.town.ask("atlas", "coder", "Without an end")
    house.town.ask("atlas", "docs", "Too late", hours=-1)
    page = out.go("/page/tasks")
    expect(page.locator(".card")).to_have_count(3)
    expect(page.locator(".card.stuck")).to_have_count(1)
    expect(page.locator(".card.past")).to_contain_text("Too late")
    red = page.locator(".card.past .card-who").evaluate("(who) => getComputedStyle(who).color")
    assert red == page.locator(".card:not(.past) .card-who").first.evaluate("(who) => getComputedStyle(who).color")
    page.get_by_role("link", name="Stuck").click()
    expect(page.locator(".card")).to_have_count(1)


def test_the_board_is_chosen_by_who_was_asked(out: Lookout, house: House) -> None:
    house.town.ask("atlas", "coder", "For coder")
    house.town.ask("atlas", "owner", "For me")
    page = out.go("/page/tasks")
    page.get_by_label("Asked of", exact=True).select_option("coder")
    expect(page.locator(".card")).to_have_count(1)
    expect(page.locator(".card")).to_contain_text("For coder")
    page.get_by_role("link", name="Asked of me").click()
    expect(page.locator(".card")).to_have_count(1)
    expect(page.locator(".card")).to_contain_text("For me")


def test_who_waits_for_whom_is_shown(out: Lookout, house: House) -> None:
    town = house.town
    whole = town.ask("atlas", "coder", "Release")
    code = town.ask("atlas", "coder", "Code", parent=whole)
    town.ask("atlas", "docs", "Guide", parent=whole, blocked_by=[code])
    town.call("coder", "POST", f"/tasks/{code}/update", {"state": "working", "content": "At it", "percent": 40})
    page = out.go("/page/tasks")
    expect(page.locator(".card").filter(has_text="Guide")).to_contain_text("waits for coder")
    expect(page.locator(f'.card[data-key="{code}"]')).to_contain_text("40 %")
    expect(page.locator(f'.card[data-key="{whole}"]')).to_contain_text("2 of its parts are not over")
    town.call("coder", "POST", f"/tasks/{code}/update", {"state": "completed", "content": "Done"})
    expect(page.locator(".card").filter(has_text="Guide")).not_to_contain_text("waits for")


def test_whoever_was_asked_is_reminded_once(out: Lookout, house: House) -> None:
    house.town.ask("atlas", "coder", "Write the notes")
    page = out.go("/page/tasks")
    page.get_by_role("button", name="Ask how it stands").click()
    expect(page.locator(".said")).to_have_text("Reminded.")
    letters = house.town.call("coder", "POST", "/messages/receive", {"limit": 10})["messages"]
    assert [letter["content"] for letter in letters if letter["from"] == "owner"] == ["How does this task stand: Write the notes?"]


def test_a_task_is_rejected_with_the_reason(out: Lookout, house: House) -> None:
    task = house.town.ask("coder", "owner", "Sign the contract")
    page = out.go("/page/tasks")
    page.get_by_role("textbox").fill("Ask legal first.")
    page.get_by_role("button", name="Reject").click()
    expect(page.locator(".column.finished .card")).to_contain_text("Ask legal first.")
    assert house.town.call("coder", "GET", f"/tasks/{task}")["steps"][-1]["text"] == "Ask legal first."


@pytest.mark.parametrize("width", [1024, 1440])
def test_all_its_columns_are_in_sight(browser: Browser, house: House, width: int) -> None:
    with looking(browser, house.url, viewport={"width": width, "height": 768}) as lookout:
        page = lookout.go("/page/tasks")
        box = page.locator(".column.finished").bounding_box()
        assert box is not None
        assert box["x"] + box["width"] <= width
        assert page.evaluate("document.querySelector('.board').scrollWidth <= document.querySelector('.board').clientWidth")


def test_what_is_at_work_is_cancelled_and_its_assignee_told(out: Lookout, house: House) -> None:
    task = house.town.ask("atlas", "coder", "Begun and not needed")
    house.town.move("coder", task, "working")
    page = out.go("/page/tasks")
    card = page.locator(".column.working .card").filter(has_text="Begun and not needed")
    card.get_by_text("Cancel or reassign").click()
    card.get_by_role("button", name="Cancel it").click()
    expect(page.locator(".column.finished .card").filter(has_text="Begun and not needed")).to_contain_text("canceled")
    (told,) = [one for one in house.town.call("coder", "GET", "/messages/waiting")["messages"] if one["type"] == "task_update"]
    assert told["task"]["state"] == "canceled"


def test_what_nobody_has_begun_is_cancelled_or_asked_of_another(out: Lookout, house: House) -> None:
    house.town.ask("atlas", "coder", "Not needed any more")
    house.town.ask("atlas", "coder", "For somebody else", hours=5)
    page = out.go("/page/tasks")
    first = page.locator(".card").filter(has_text="Not needed")
    first.get_by_text("Cancel or reassign").click()
    first.get_by_role("button", name="Cancel it").click()
    expect(page.locator(".column.finished .card").filter(has_text="Not needed")).to_have_count(1)
    other = page.locator(".column.pending .card").filter(has_text="For somebody else")
    other.get_by_text("Cancel or reassign").click()
    other.get_by_label("Who shall do it instead").fill("dcos")
    other.get_by_role("button", name="Reassign").click()
    expect(other.get_by_role("alert")).to_contain_text("did you mean docs?")
    other.get_by_label("Who shall do it instead").fill("docs")
    other.get_by_role("button", name="Reassign").click()
    expect(page.locator(".column.pending .card").filter(has_text="For somebody else")).to_contain_text("atlas asks docs")
    (task,) = house.town.call("docs", "GET", "/tasks")["tasks"]
    assert (task["requester"], task["subject"], task["deadline"] is not None) == ("atlas", "For somebody else", True)
    page.goto("/")
    expect(page.locator("#needs")).to_contain_text("Nobody waits for you.")


def test_a_letter_that_nobody_has_taken_is_taken_back(out: Lookout, house: House) -> None:
    sent = house.town.send("atlas", "coder", "by mistake", subject="Oops")
    page = out.go(f"/page/letter/{sent['message_id']}")
    page.get_by_role("button", name="Take it back").click()
    expect(page.locator(".said")).to_contain_text("Taken back")
    assert house.town.call("coder", "POST", "/messages/receive", {"limit": 10})["messages"] == []
