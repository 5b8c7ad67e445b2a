"""For you: what waits for a person, with the act in each row; and how a person's mail comes to its end."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from postoffice.doors.page.mine import morning
from tests.page.conftest import looking
from tests.page.house import House, opened
from tests.page.lookout import Lookout
from tests.page.test_views import shut_out
from tests.page.town import Town


@pytest.fixture
def quiet(tmp_path: Path) -> Iterator[House]:
    """An office in which nobody waits for its owner."""
    with opened(tmp_path) as house:
        house.town.appear("coder")
        yield house


@pytest.fixture
def out(browser: Browser, quiet: House) -> Iterator[Lookout]:
    with looking(browser, quiet.url) as lookout:
        yield lookout


def counted(page: Page, count: int) -> None:
    """List, badge, title and picture say the same."""
    expect(page.locator(".need")).to_have_count(count)
    expect(page.locator("#nav")).to_have_attribute("data-count", str(count))
    expect(page).to_have_title(f"({count}) For you · Postoffice" if count else "For you · Postoffice")
    icon = page.locator("#favicon").get_attribute("href") or ""
    assert (f"/page/icon/{count}.svg" in icon) == bool(count)


def stands(town: Town, who: str, message: str) -> dict[str, Any]:
    (standing,) = town.call(who, "GET", f"/messages/{message}/status")["standings"]
    return dict(standing)


def test_an_empty_list_says_so_and_fills_by_itself(out: Lookout, quiet: House) -> None:
    page = out.go("/")
    expect(page.locator("#needs")).to_contain_text("Nobody waits for you.")
    counted(page, 0)
    quiet.town.send("coder", "owner", "are you there?", subject="Hello")
    expect(page.locator(".need.mail")).to_contain_text("are you there?")
    counted(page, 1)


def test_what_is_opened_is_seen_and_what_is_answered_is_over(out: Lookout, quiet: House) -> None:
    sent = quiet.town.send("coder", "owner", "may I?", subject="Leave")
    page = out.go("/")
    page.keyboard.press("j")
    page.keyboard.press("r")
    expect(page.locator(".pane-head h1")).to_have_text("Leave")
    assert stands(quiet.town, "coder", sent["message_id"])["seen_at"] is not None
    assert stands(quiet.town, "coder", sent["message_id"])["state"] == "pending"
    expect(page.locator("#nav")).to_have_attribute("data-count", "1")  # it is listed until it is answered or done
    page.get_by_label("Answer").fill("you may")
    page.get_by_role("button", name="Send").click()
    expect(page.locator(".letter").last).to_contain_text("you may")
    assert stands(quiet.town, "coder", sent["message_id"])["state"] == "acked"
    expect(page.locator(".pane-own")).to_have_count(0)
    expect(page.locator("#nav")).to_have_attribute("data-count", "0")


@pytest.mark.parametrize(("key", "state"), [("d", "acked"), ("h", "held"), ("t", "held")])
def test_one_key_ends_a_row_or_puts_it_off_and_the_next_one_is_chosen(out: Lookout, quiet: House, key: str, state: str) -> None:
    sent = [quiet.town.send("coder", "owner", f"number {number}", subject=f"Letter {number}") for number in range(3)]
    page = out.go("/")
    counted(page, 3)
    page.keyboard.press("j")
    page.keyboard.press("j")
    expect(page.locator(".need[data-current]")).to_contain_text("Letter 1")
    page.keyboard.press(key)
    counted(page, 2)
    expect(page.locator(".need[data-current]")).to_contain_text("Letter 2")
    expect(page.locator(".need").nth(1)).to_be_focused()
    assert stands(quiet.town, "coder", sent[1]["message_id"])["state"] == state


def test_what_was_opened_can_be_kept_unread(out: Lookout, quiet: House) -> None:
    sent = quiet.town.send("coder", "owner", "long text", subject="For later")
    page = out.go(f"/page/thread/{sent['session_id']}?of=owner")
    assert stands(quiet.town, "coder", sent["message_id"])["seen_at"] is not None
    expect(page.locator(".tabs .badge")).to_have_count(0)
    page.keyboard.press("u")
    expect(page.locator(".tabs .badge")).to_contain_text("1 unread")
    assert stands(quiet.town, "coder", sent["message_id"])["seen_at"] is None


def test_looking_into_somebody_elses_mail_still_changes_nothing(out: Lookout, quiet: House) -> None:
    sent = quiet.town.send("coder", "docs", "not for you", subject="Theirs")
    out.go(f"/page/thread/{sent['session_id']}")
    out.go(f"/page/letter/{sent['message_id']}")
    standing = stands(quiet.town, "coder", sent["message_id"])
    assert (standing["state"], standing["seen_at"]) == ("pending", None)


def test_a_task_asked_of_a_person_is_answered_in_words(out: Lookout, quiet: House) -> None:
    task = quiet.town.ask("coder", "owner", "Keep the serif logo?", hours=30)
    page = out.go("/")
    row = page.locator(".need.task")
    row.get_by_role("button", name="Accept").click()
    row.get_by_role("button", name="Begin").click()
    row.get_by_role("textbox").fill("Keep it, but smaller.")
    row.get_by_role("button", name="Complete").click()
    counted(page, 0)
    told = quiet.town.call("coder", "POST", "/messages/receive", {"limit": 10})["messages"]
    assert [letter["content"] for letter in told][-1] == "Keep it, but smaller."
    assert quiet.town.call("coder", "GET", f"/tasks/{task}")["state"] == "completed"


def test_consent_and_dead_letters_are_settled_in_their_rows(out: Lookout, quiet: House) -> None:
    quiet.town.appear("docs")
    made = quiet.town.call("coder", "POST", "/connections/request", {"target_agent_name": "docs", "message": "drafts"})
    dead = quiet.town.kill("coder", "docs", "Digest", "cannot be read")
    page = out.go("/")
    expect(page.locator(".need.consent")).to_contain_text("drafts")
    expect(page.locator(".need.stuck")).to_contain_text("cannot be read")
    page.keyboard.press("j")
    page.keyboard.press("a")
    expect(page.locator(".need.consent")).to_have_count(0)
    assert quiet.town.call("coder", "GET", f"/connections/{made['connection_id']}")["status"] == "ACTIVE"
    page.keyboard.press("q")
    expect(page.locator(".need.stuck")).to_have_count(0)
    assert stands(quiet.town, "coder", dead)["state"] == "pending"


def test_each_row_says_since_when_and_is_reached_without_scripts(browser: Browser, quiet: House) -> None:
    quiet.town.send("coder", "owner", "by hand", subject="By hand")
    with looking(browser, quiet.url, java_script_enabled=False) as lookout:
        page = lookout.go("/")
        expect(page.locator(".need time")).to_have_count(1)
        page.get_by_role("button", name="Done").click()
        expect(page.locator("#needs")).to_contain_text("Nobody waits for you.")


def test_several_rows_at_once(out: Lookout, quiet: House) -> None:
    sent = [quiet.town.send("coder", "owner", "x", subject=f"Bulk {number}") for number in range(3)]
    page = out.go("/")
    expect(page.locator("#many")).to_be_hidden()
    for key in "jsjs":
        page.keyboard.press(key)
    expect(page.locator(".pick:checked")).to_have_count(2)
    page.locator("#many").get_by_role("button", name="Done").click()
    counted(page, 1)
    assert [stands(quiet.town, "coder", one["message_id"])["state"] for one in sent] == ["acked", "acked", "pending"]
    page.keyboard.press("k")
    page.keyboard.press("s")
    page.locator("#many").get_by_role("button", name="Requeue").click()
    expect(page.get_by_role("alert")).to_contain_text("none of the picked rows")


def test_tomorrow_is_the_readers_next_morning() -> None:
    late = datetime(2026, 2, 22, 23, 30, tzinfo=UTC)
    assert morning(late, "0") == datetime(2026, 2, 23, 8, tzinfo=UTC)
    assert morning(late, "120") == datetime(2026, 2, 24, 6, tzinfo=UTC)  # there it is past midnight already
    assert morning(late, "-300") == datetime(2026, 2, 23, 13, tzinfo=UTC)
    for nonsense in ("", "x", "99999", "१"):
        assert timedelta(hours=0) < morning(late, nonsense) - late < timedelta(hours=34)


def put(town: Town, who: str, subject: str, content: str = "Please decide.", **ask: Any) -> str:
    """Ask the owner."""
    return str(town.send(who, "owner", content, subject=subject, ask=ask)["message_id"])


class TestQuestions:
    def test_a_question_is_answered_by_one_key_and_its_asker_hears_it(self, out: Lookout, quiet: House) -> None:
        first = put(quiet.town, "coder", "Keep the serif logo?", choices=["Keep it", "Drop it"])
        put(quiet.town, "docs", "Which heading?", choices=["Short", "Long"])
        page = out.go("/")
        counted(page, 2)
        page.keyboard.press("j")
        expect(page.locator(".need[data-current]")).to_contain_text("Keep the serif logo?")
        page.keyboard.press("2")
        counted(page, 1)
        expect(page.locator(".need[data-current]")).to_contain_text("Which heading?")
        told = quiet.town.call("coder", "GET", f"/questions/{first}")
        assert (told["state"], told["choice"], told["via"], told["by"]) == ("answered", "Drop it", "page", "open")

    @pytest.mark.parametrize("scripts", [True, False])
    def test_a_question_is_answered_in_words(self, browser: Browser, quiet: House, *, scripts: bool) -> None:
        asked = put(quiet.town, "coder", "How far back?")
        with looking(browser, quiet.url, java_script_enabled=scripts) as lookout:
            page = lookout.go("/")
            page.get_by_label("Your answer").fill("One year.")
            page.get_by_role("button", name="Answer").click()
            expect(page.locator("#needs")).to_contain_text("Nobody waits for you.")
        told = quiet.town.call("coder", "GET", f"/questions/{asked}")
        assert (told["state"], told["choice"], told["answer"]) == ("answered", None, "One year.")

    def test_whoever_comes_second_is_told_who_was_first(self, out: Lookout, quiet: House) -> None:
        asked = put(quiet.town, "coder", "Now or later?", choices=["Now", "Later"])
        page = out.go(f"/page/question/{asked}")
        page.route(re.compile("/page/news|/page/question/[^/]*$"), lambda route: route.abort("connectionrefused"))
        headers = {"Sec-Fetch-Site": "same-origin"}
        first = page.request.post(f"/page/question/{asked}/answer", form={"choice": "Later"}, headers=headers, max_redirects=0)
        assert first.status == 303
        page.get_by_role("button", name="Now").click()
        expect(page.get_by_role("alert")).to_contain_text("Later")
        assert quiet.town.call("coder", "GET", f"/questions/{asked}")["choice"] == "Later"

    def test_a_question_that_is_over_says_how_it_ended(self, out: Lookout, quiet: House) -> None:
        asked = put(quiet.town, "coder", "Still needed?", choices=["Yes", "No"])
        page = out.go(f"/page/question/{asked}")
        quiet.town.call("coder", "POST", f"/questions/{asked}/withdraw")
        expect(page.get_by_role("status").filter(has_text="coder took it back")).to_be_visible()
        expect(page.get_by_role("button", name="Yes")).to_have_count(0)

    def test_it_says_by_when_and_what_counts_otherwise(self, out: Lookout, quiet: House) -> None:
        put(quiet.town, "coder", "Later", choices=["Yes", "No"])
        soon = (datetime.now(UTC) + timedelta(minutes=30)).isoformat()
        put(quiet.town, "docs", "Sooner", choices=["Yes", "No"], default="No", deadline=soon)
        page = out.go("/")
        first = page.locator(".need").first
        expect(first).to_contain_text("Sooner")
        expect(first).to_contain_text("If nobody answers, “No” counts.")
        expect(first.locator(".late")).to_contain_text("due in")

    @pytest.mark.parametrize("width", [390, 1024, 1440])
    def test_nobody_is_shut_out_of_a_question(self, browser: Browser, quiet: House, width: int) -> None:
        long = "Migrate the orders table, which is large and old and has " + "many columns " * 20
        asked = put(quiet.town, "coder", "", long, choices=["Now", "Tonight, when nobody is awake and nothing else runs " * 3], text=True)
        quiet.town.ask("docs", "owner", "Read the draft", hours=0.5)
        with looking(browser, quiet.url, viewport={"width": width, "height": 800}) as lookout:
            for path in ("/", f"/page/question/{asked}"):
                page = lookout.go(path)
                expect(page.get_by_role("button", name="Now")).to_be_visible()
                assert page.evaluate("document.documentElement.scrollWidth") <= width
                for theme in ("light", "dark"):
                    page.emulate_media(color_scheme=theme)
                    assert shut_out(lookout) == []

    def test_what_was_begun_stays_while_others_come(self, out: Lookout, quiet: House) -> None:
        put(quiet.town, "coder", "First", choices=["Yes", "No"])
        page = out.go("/")
        words = page.get_by_label("Or in your own words")
        words.fill("It depends on")
        put(quiet.town, "docs", "Second")
        expect(page.locator(".need")).to_have_count(2)
        expect(words).to_have_value("It depends on")
        page.reload()
        expect(words).to_have_value("It depends on")
