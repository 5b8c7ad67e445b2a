"""Nothing written is lost, and nothing goes to somebody by a slip."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from tests.page.conftest import looking
from tests.page.house import House
from tests.page.lookout import Lookout


@pytest.fixture(params=[True, False], ids=["scripts", "no scripts"])
def out(request: pytest.FixtureRequest, browser: Browser, house: House) -> Iterator[Lookout]:
    with looking(browser, house.url, java_script_enabled=request.param) as lookout:
        yield lookout


class TestDrafts:
    def test_an_answer_that_was_begun_waits_in_its_thread(self, lookout: Lookout, house: House) -> None:
        one = house.town.send("scout", "docs", "one", subject="Draft one")
        two = house.town.send("scout", "docs", "two", subject="Draft two")
        page = lookout.go(f"/page/thread/{one['session_id']}")
        page.get_by_label("Answer").fill("half an answer")
        page.locator(".row").filter(has_text="Draft two").click()
        expect(page.locator(".pane-head h1")).to_have_text("Draft two")
        expect(page.get_by_label("Answer")).to_have_value("")
        expect(page.locator(f"[data-thread='{one['session_id']}'][data-drafted]")).to_have_count(1)
        page.locator(".row").filter(has_text="Draft one").click()
        expect(page.get_by_label("Answer")).to_have_value("half an answer")
        page.reload()
        expect(page.get_by_label("Answer")).to_have_value("half an answer")
        page.get_by_role("button", name="Send").click()
        expect(page.get_by_label("Answer")).to_have_value("")
        page.goto(f"/page/thread/{two['session_id']}")
        page.goto(f"/page/thread/{one['session_id']}")
        expect(page.get_by_label("Answer")).to_have_value("")
        expect(page.locator("[data-drafted]")).to_have_count(0)

    def test_a_letter_that_was_begun_waits_on_the_sheet(self, lookout: Lookout) -> None:
        page = lookout.go("/page/compose")
        page.get_by_label("To", exact=True).fill("docs,")
        page.get_by_label("Subject").fill("Half a letter")
        page.get_by_label("Message").fill("to be continued")
        page.locator("#nav").get_by_role("link", name="Tasks").click()
        expect(page.get_by_role("heading", level=1)).to_have_text("Tasks")
        page.goto("/page/compose")
        expect(page.get_by_label("Message")).to_have_value("to be continued")
        expect(page.get_by_label("Subject")).to_have_value("Half a letter")
        expect(page.locator(".to-chip")).to_have_text(re.compile("docs"))
        page.get_by_role("button", name="Send").click()
        expect(page.locator(".letter").last).to_contain_text("to be continued")
        page.goto("/page/compose")
        expect(page.get_by_label("Message")).to_have_value("")
        expect(page.locator(".to-chip")).to_have_count(0)


class TestNames:
    def test_a_slip_is_offered_its_cure_while_it_is_written(self, lookout: Lookout, house: House) -> None:
        page = lookout.go("/page/compose")
        page.get_by_label("To", exact=True).fill("codr, docs,")
        expect(page.locator(".to-chip")).to_have_count(2)
        page.get_by_role("button", name="did you mean coder?").click()
        expect(page.locator(".to-chip")).to_have_text([re.compile("docs"), re.compile("coder")])
        page.get_by_label("Message").fill("to the right one")
        page.get_by_role("button", name="Send").click()
        expect(page.locator(".letter").last).to_contain_text("to the right one")
        assert "codr" not in [agent["name"] for agent in house.town.call("coder", "GET", "/agents?limit=200")["agents"]]

    def test_a_name_that_nobody_has_is_asked_about_before_it_is_sent(self, out: Lookout, house: House) -> None:
        name = f"dosc{id(out)}"
        page = out.go(f"/page/compose?to={name}")
        page.get_by_label("Message").fill("to whoever comes")
        page.get_by_role("button", name="Send").click()
        expect(page.get_by_role("alert")).to_contain_text(f"Nobody is called {name}")
        assert name not in [agent["name"] for agent in house.town.call("coder", "GET", "/agents?limit=200")["agents"]]
        expect(page.get_by_label("Message")).to_have_value("to whoever comes")
        page.get_by_label("Send it all the same").check()
        page.get_by_role("button", name="Send").click()
        expect(page.locator(".letter").last).to_contain_text("to whoever comes")

    def test_chips_go_by_key_and_by_hand(self, lookout: Lookout) -> None:
        page = lookout.go("/page/compose?to=docs,scout")
        expect(page.locator(".to-chip")).to_have_count(2)
        page.get_by_role("button", name="Leave out docs").click()
        expect(page.locator(".to-chip")).to_have_text(re.compile("scout"))
        page.get_by_label("To", exact=True).press("Backspace")
        expect(page.locator(".to-chip")).to_have_count(0)
        page.keyboard.type("atlas")
        page.keyboard.press("Enter")
        expect(page.locator(".to-chip")).to_have_text(re.compile("atlas"))
        assert page.locator("#to").input_value() == "atlas"
