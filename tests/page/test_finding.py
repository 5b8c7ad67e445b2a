"""Finding: filters without words, what was found is marked, searches are kept, and the palette finds by any part of a name."""

import re

import pytest
from markupsafe import Markup
from playwright.sync_api import expect

from postoffice.core.query import read_query
from postoffice.doors.page.search import marked
from tests.page.house import House
from tests.page.lookout import Lookout


@pytest.mark.parametrize(
    ("query", "text", "shown"),
    [
        ("green", "The Green build", "The <mark>Green</mark> build"),
        ("gre*", "greener grass", "<mark>greener</mark> grass"),
        ('"a b"', "a <b> c", "<mark>a</mark> <mark>&lt;b&gt;</mark> c"),
        ("x", "<script>", "&lt;script&gt;"),
    ],
)
def test_what_was_looked_for_is_marked_and_nothing_else_is_html(query: str, text: str, shown: str) -> None:
    found = marked(text, read_query(query).terms)
    assert isinstance(found, Markup)
    assert str(found) == shown


def test_filters_need_no_words(lookout: Lookout, house: House) -> None:
    house.town.kill("scout", "Wren", "Never arrived", "no such door")
    page = lookout.go("/page/search?q=is:dead")
    expect(page.locator(".row").filter(has_text="Never arrived")).to_have_count(1)
    expect(page.locator(".row .state.dead")).to_have_count(page.locator(".row").count())
    page.get_by_label("Words").fill("from:scout to:Wren type:message")
    page.keyboard.press("Enter")
    expect(page.locator(".row").first).to_contain_text("scout")
    answer = page.goto("/page/search?q=is:nonsense")
    assert answer is not None
    assert answer.status == 422


def test_what_was_found_is_marked_and_its_subject_is_told_once(lookout: Lookout, house: House) -> None:
    house.town.send("scout", "docs", "the zebra crosses", subject="Zebra crossing")
    page = lookout.go("/page/search?q=zebra")
    row = page.locator(".row").first
    expect(row.locator("mark")).to_have_text(["Zebra", "zebra"])
    assert row.inner_text().count("Zebra crossing") == 1


def test_a_search_is_kept_with_the_views_and_forgotten(lookout: Lookout) -> None:
    page = lookout.go("/page/search?q=build")
    page.get_by_role("button", name="Keep this search").click()
    page.goto("/page/tasks")
    page.locator("#saved").get_by_role("link", name="build").click()
    expect(page).to_have_url(re.compile(r"/page/search\?q=build$"))
    expect(page.locator("#saved a")).to_have_attribute("aria-current", "page")
    page.get_by_role("button", name="Forget this search").click()
    expect(page.locator("#saved a")).to_have_count(0)


def test_the_palette_finds_any_part_of_a_name_and_knows_commands(lookout: Lookout, house: House) -> None:
    house.town.appear("backend-coder")
    page = lookout.go("/")
    page.keyboard.press("Control+k")
    page.keyboard.type("oder")
    expect(page.get_by_role("option", name="backend-coder")).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("Control+k")
    page.keyboard.type("stuck")
    page.get_by_role("option", name="Tasks that are stuck").click()
    expect(page).to_have_url(re.compile("only=stuck"))
