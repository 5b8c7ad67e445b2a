"""Live without reload: news comes within a second, the line says how it is, and nothing that a person is doing is disturbed."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from tests.page.conftest import looking
from tests.page.house import House, opened
from tests.page.lookout import Lookout, hold

SOON = 12_000
"""Milliseconds: it takes a fraction of one second, unless the machine has other work; pages that look by themselves do so after 15 seconds."""


def wait_for_the_line(page: Page) -> None:
    expect(page.locator("#line")).to_have_text("Live")


def send_and_hear_nothing(page: Page) -> None:
    """Send, and lose the line before the answer is there."""

    def heard_and_lost(route: Route) -> None:
        route.fetch(max_redirects=0)
        route.abort("connectionrefused")

    page.route(re.compile("/reply|/compose$"), heard_and_lost, times=1)
    page.get_by_role("button", name="Send").click()
    expect(page.get_by_role("alert")).to_contain_text("a letter sent twice is one letter")


class TestWithinASecond:
    @pytest.mark.parametrize("path", ["/page/overview", "/page/mail", "/page/mail?of=docs"])
    def test_a_letter_by_another_process_shows_in_lists(self, lookout: Lookout, house: House, path: str) -> None:
        page = lookout.go(path)
        wait_for_the_line(page)
        subject = f"Just now {abs(hash(path))}"
        house.send_from_elsewhere("scout", json.dumps({"to": "docs", "subject": subject, "content": "quick"}))
        expect(page.locator(".row").filter(has_text=subject)).to_be_visible(timeout=SOON)

    def test_a_letter_shows_in_its_conversation(self, lookout: Lookout, house: House) -> None:
        sent = house.town.send("scout", "docs", "one", subject="A talk")
        page = lookout.go(f"/page/thread/{sent['session_id']}")
        wait_for_the_line(page)
        house.send_from_elsewhere("docs", json.dumps({"to": "scout", "subject": "A talk", "content": "two"}))
        expect(page.locator(".letter").last).to_contain_text("two", timeout=SOON)

    def test_an_answer_is_to_what_was_said_last_when_it_was_begun(self, lookout: Lookout, house: House) -> None:
        said = house.town.send("scout", "owner", "first", subject="Which one")
        page = lookout.go(f"/page/thread/{said['session_id']}")
        wait_for_the_line(page)
        question = house.town.send("scout", "owner", "second", subject="Which one")
        expect(page.locator(".letter")).to_have_count(2)
        page.get_by_label("Answer").fill("yes, the second")
        house.town.send("scout", "owner", "third", subject="Which one")
        expect(page.locator(".letter")).to_have_count(3)
        page.get_by_role("button", name="Send").click()
        expect(page.locator(".letter").last).to_contain_text("yes, the second")
        lines = house.town.call("scout", "GET", f"/sessions/{said['session_id']}/history?peek=true")["messages"]
        assert lines[0]["message"]["reply_to"] == question["message_id"]

    def test_an_answer_carries_the_mark_of_its_question_however_much_is_said_meanwhile(self, lookout: Lookout, house: House) -> None:
        question = house.town.send("scout", "owner", "may I?", subject="A slow answer", correlation_id="slow")
        page = lookout.go(f"/page/thread/{question['session_id']}")
        wait_for_the_line(page)
        page.get_by_label("Answer").fill("you may")
        for number in range(21):
            house.town.send("scout", "owner", f"by the way {number}.", subject="A slow answer")
        expect(page.locator(".letter").last).to_contain_text("by the way 20.")
        page.get_by_role("button", name="Send").click()
        expect(page.locator(".letter").last).to_contain_text("you may")
        (answer,) = house.town.call("scout", "POST", "/messages/receive", {"correlation_id": "slow"})["messages"]
        assert (answer["content"], answer["reply_to"]) == ("you may", question["message_id"])
        house.town.call("scout", "POST", f"/messages/{answer['id']}/ack", {"token": answer["token"]})

    def test_a_conversation_opened_by_its_newest_letter_is_followed(self, lookout: Lookout, house: House) -> None:
        sent = house.town.send("scout", "docs", "the first word", subject="A talk to follow")
        page = lookout.go("/page/mail")
        page.locator(".row").filter(has_text="the first word").click()
        expect(page).to_have_url(re.compile(f"/page/thread/{sent['session_id']}#latest$"))
        wait_for_the_line(page)
        for number in range(25):
            house.town.send("docs", "scout", f"word {number}.", subject="A talk to follow")
        expect(page.locator(".letter").last).to_contain_text("word 24.")

    def test_what_is_told_on_the_way_to_a_view_shows_there(self, lookout: Lookout, house: House) -> None:
        page = lookout.go("/page/overview")
        wait_for_the_line(page)

        def write_meanwhile(route: Route) -> None:
            brought = route.fetch()
            house.town.send("scout", "docs", "quick", subject="Overtaken")
            expect(page.locator("#latest-letters")).to_contain_text("Overtaken")
            route.fulfill(response=brought)

        page.route(re.compile("/page/mail$"), write_meanwhile, times=1)
        page.locator("#nav").get_by_role("link", name="Conversations").click()
        expect(page.locator("#list .row").first).to_contain_text("Overtaken", timeout=SOON)

    def test_what_the_log_does_not_tell_shows_too(self, lookout: Lookout, house: House) -> None:
        house.town.send("scout", "atlas", "take me", subject="Hands", priority=1)
        page = lookout.go("/page/overview")
        wait_for_the_line(page)
        row = page.locator("tr").filter(has_text="atlas").locator("[data-label='In hand']")
        expect(row).to_have_text("0")
        message = house.town.take("atlas")
        expect(row).to_have_text("1")
        house.town.call("atlas", "POST", f"/messages/{message['id']}/ack", {"token": message["token"]})
        expect(row).to_have_text("0")

    def test_a_mailboxes_numbers_follow(self, lookout: Lookout, house: House) -> None:
        page = lookout.go("/page/mail?of=Wren")
        wait_for_the_line(page)
        house.town.send("scout", "Wren", "count me", subject="Counting")
        unread = house.town.call("Wren", "GET", "/agents/me")["unread"]
        expect(page.locator(".tabs .badge")).to_contain_text(f"{unread} unread", timeout=SOON)
        expect(page.locator(".card-of")).to_contain_text(f"{unread} waiting")
        expect(page.locator("#of option[value=Wren]")).to_have_text(f"Wren · {unread}")
        expect(page.get_by_label("Mailbox")).to_have_value("Wren")

    def test_requests_and_badges_follow(self, lookout: Lookout, house: House) -> None:
        page = lookout.go("/page/connections")
        wait_for_the_line(page)
        house.town.call("late-comer", "POST", "/connections/request", {"target_agent_name": "atlas", "message": "hello?"})
        expect(page.locator(".request").filter(has_text="late-comer")).to_be_visible(timeout=SOON)
        waiting = page.locator(".request").count()
        expect(page.locator("#nav [href='/page/connections'] .badge")).to_contain_text(str(waiting))


class TestNothingIsDisturbed:
    def test_what_is_written_opened_and_scrolled_stays(self, lookout: Lookout, house: House) -> None:
        for number in range(6):
            sent = house.town.send("scout", "docs", f"part {number} " + "long " * 300, subject="A long talk")
        page = lookout.go(f"/page/thread/{sent['session_id']}")
        wait_for_the_line(page)
        page.locator(".proof summary").first.click()
        page.get_by_label("Answer").fill("half a sent")
        page.get_by_label("Answer").press("ArrowLeft")
        page.evaluate("document.getElementById('pane').scrollTo(0, 120)")
        house.town.send("docs", "scout", "and one more", subject="A long talk")
        expect(page.locator(".letter")).to_have_count(7)
        expect(page.locator(".proof").first).to_have_attribute("open", "")
        assert page.get_by_label("Answer").input_value() == "half a sent"
        assert page.evaluate("document.activeElement.id") == "answer"
        assert page.evaluate("document.activeElement.selectionStart") == len("half a sent") - 1
        assert page.evaluate("document.getElementById('pane').scrollTop") == 120

    def test_a_selection_stays(self, lookout: Lookout, house: House) -> None:
        sent = house.town.send("scout", "docs", "select these words", subject="Selecting")
        page = lookout.go(f"/page/thread/{sent['session_id']}")
        wait_for_the_line(page)
        page.locator(".words p").first.select_text()
        house.town.send("docs", "scout", "more", subject="Selecting")
        expect(page.locator(".letter")).to_have_count(2)
        assert page.evaluate("getSelection().toString()") == "select these words"

    def test_a_dialog_stays_open(self, lookout: Lookout, house: House) -> None:
        house.town.kill("nightly", "docs", "Stays open", "why not")
        page = lookout.go("/page/dead")
        wait_for_the_line(page)
        page.locator(".dead-letter").filter(has_text="Stays open").get_by_role("link", name="Discard").click()
        another = house.town.kill("nightly", "docs", "Another", "why not")
        expect(page.locator(".dead-letter").filter(has_text="Another")).to_have_count(1)
        house.town.call("docs", "POST", f"/dead-letters/{another}/discard")
        expect(page.locator(".dead-letter").filter(has_text="Another")).to_have_count(0)
        expect(page.get_by_role("dialog")).to_contain_text("Discard this letter?")
        expect(page.locator("dialog:modal")).to_have_count(1)
        expect(page.locator("dialog :focus")).to_have_count(1)

    def test_focus_stays_with_a_conversation_that_moves_up(self, lookout: Lookout, house: House) -> None:
        for number in range(3):
            house.town.send("nightly", "scout", "x", subject=f"Up {number}")
        page = lookout.go("/page/mail?of=scout")
        wait_for_the_line(page)
        page.locator(".row").filter(has_text="Up 0").focus()
        house.town.send("nightly", "scout", "y", subject="Up 0")
        expect(page.locator(".row").first).to_contain_text("Up 0")
        expect(page.locator(".row").first).to_be_focused()

    def test_a_list_keeps_its_place_when_a_letter_is_opened(self, lookout: Lookout, house: House) -> None:
        for number in range(25):
            house.town.send("nightly", "Wren", "x", subject=f"Row {number}")
        page = lookout.go("/page/mail?of=Wren")
        row = page.locator(".row", has=page.get_by_text("Row 3", exact=True))
        row.scroll_into_view_if_needed()
        top = page.evaluate("document.querySelector('.list').scrollTop")
        assert top > 0
        row.click()
        expect(page.locator(".pane h1").first).to_have_text("Row 3")
        assert abs(page.evaluate("document.querySelector('.list').scrollTop") - top) < 2
        page.go_back()
        expect(page.locator(".card-of h2")).to_contain_text("Wren")

    @pytest.mark.parametrize(("path", "width"), [("/page/search?q=place", 1280), ("/page/mail", 360)])
    def test_going_back_comes_to_where_one_was(self, browser: Browser, house: House, path: str, width: int) -> None:
        for number in range(30):
            house.town.send("nightly", "Wren", "a place to come back to", subject=f"Place {number}")
        with looking(browser, house.url, viewport={"width": width, "height": 640}) as lookout:
            page = lookout.go(path)
            row = page.locator(".row", has=page.get_by_text("Place 5", exact=True)).first
            row.click()
            expect(page.locator(".pane-head h1")).to_have_text("Place 5")
            page.go_back()
            expect(row).to_be_in_viewport()
            page.locator("#nav").get_by_role("link", name="Overview").click()
            expect(page.get_by_role("heading", level=1)).to_have_text("Overview")
            assert page.evaluate("scrollY") == 0


@pytest.fixture
def restarting(tmp_path: Path) -> Iterator[House]:
    with opened(tmp_path) as house:
        house.town.send("scout", "docs", "before", subject="Before")
        yield house


class TestTheLine:
    def test_it_says_that_it_is_lost_and_catches_up_when_it_is_back(self, browser: Browser, restarting: House) -> None:
        with looking(browser, restarting.url) as lookout:
            page = lookout.go("/page/mail")
            wait_for_the_line(page)
            restarting.close()  # within its patience, although somebody looks
            expect(page.locator("#line")).to_contain_text("Connection lost")
            restarting.open()
            restarting.town.send("scout", "docs", "after", subject="After the night")
            expect(page.locator("#line")).to_have_text("Live")
            expect(page.locator(".row").filter(has_text="After the night")).to_be_visible()
            restarting.town.send("scout", "docs", "and on", subject="And it goes on")
            expect(page.locator(".row").filter(has_text="And it goes on")).to_be_visible()

    def test_what_is_sent_while_the_office_is_away_is_not_lost(self, browser: Browser, restarting: House) -> None:
        with looking(browser, restarting.url) as lookout:
            page = lookout.go("/page/compose?to=docs")
            page.get_by_label("Message").fill("do not lose me")
            restarting.close()
            page.get_by_role("button", name="Send").click()
            expect(page.get_by_role("alert")).to_contain_text("it may have heard you or not")
            restarting.open()
            page.get_by_role("button", name="Send").click()
            expect(page.locator(".letter").last).to_contain_text("do not lose me")

    def test_an_answer_that_was_heard_without_a_word_and_is_sent_again_is_one(self, lookout: Lookout, house: House) -> None:
        sent = house.town.send("scout", "owner", "well?", subject="Only once")
        page = lookout.go(f"/page/thread/{sent['session_id']}")
        page.get_by_label("Answer").fill("just one answer")
        send_and_hear_nothing(page)
        page.locator(".row").filter(has_text="Only once").first.click()  # somebody looks around first
        expect(page.locator(".letter").last).to_contain_text("just one answer")
        page.get_by_role("button", name="Send").click()
        expect(page.get_by_label("Answer")).to_have_value("")
        expect(page.locator(".letter")).to_have_count(2)

    def test_a_letter_that_was_heard_without_a_word_and_is_sent_again_is_one(self, lookout: Lookout) -> None:
        page = lookout.go("/page/compose?to=scout&subject=Once")
        page.get_by_label("Message").fill("just one letter")
        send_and_hear_nothing(page)
        page.locator("#nav .write").click()
        expect(page).to_have_url(re.compile("/page/compose$"))
        expect(page.get_by_label("To", exact=True)).to_have_value("")
        page.get_by_label("To", exact=True).fill("scout")
        page.get_by_label("Subject").fill("Once")
        page.get_by_role("button", name="Send").click()
        expect(page.locator(".letter")).to_have_count(1)

    def test_what_was_changed_after_nobody_answered_is_another_letter(self, lookout: Lookout, house: House) -> None:
        sent = house.town.send("scout", "owner", "well?", subject="Second thoughts")
        page = lookout.go(f"/page/thread/{sent['session_id']}")
        page.get_by_label("Answer").fill("yes")
        send_and_hear_nothing(page)
        page.get_by_label("Answer").fill("yes, but")
        page.get_by_role("button", name="Send").click()
        expect(page.locator(".letter").last).to_contain_text("yes, but")
        expect(page.get_by_label("Answer")).to_have_value("")

    def test_a_task_that_is_due_and_was_heard_without_a_word_is_one(self, lookout: Lookout, house: House) -> None:
        page = lookout.go("/page/compose?to=scout&subject=Due&kind=task")
        page.get_by_label("Message").fill("just one task")
        page.get_by_label("A task is due").select_option("1h")
        send_and_hear_nothing(page)
        page.get_by_role("button", name="Send").click()
        expect(page.locator(".letter")).to_contain_text("just one task")
        tasks = house.town.call("scout", "GET", "/tasks")["tasks"]
        assert [task["subject"] for task in tasks].count("Due") == 1

    def test_whoever_begins_another_letter_before_the_answer_can_send_it(self, lookout: Lookout, house: House) -> None:
        house.town.appear("newsroom")
        page = lookout.go("/page/compose?to=newsroom&subject=Twice")
        page.get_by_label("Message").fill("the same words")
        with hold(page, "/compose$") as held:
            page.get_by_role("button", name="Send").click()
        page.locator("#nav .write").click()
        expect(page.get_by_label("To", exact=True)).to_have_value("")
        held[0].continue_()
        expect(page.get_by_label("Message")).to_have_value("")
        page.get_by_label("To", exact=True).fill("newsroom")
        page.get_by_label("Subject").fill("Twice")
        page.get_by_label("Message").fill("the same words")
        page.get_by_role("button", name="Send").click()
        expect(page.locator(".letter")).to_have_count(2)

    def test_what_is_written_on_while_it_is_sent_stays(self, lookout: Lookout, house: House) -> None:
        sent = house.town.send("scout", "owner", "well?", subject="Fast fingers")
        page = lookout.go(f"/page/thread/{sent['session_id']}")
        page.get_by_label("Answer").fill("one thing")
        with hold(page, "/reply") as held:
            page.get_by_label("Answer").press("Control+Enter")
        page.get_by_label("Answer").fill("one thing and another")
        held[0].continue_()
        expect(page.locator(".letter").last).to_contain_text("one thing")
        expect(page.get_by_label("Answer")).to_have_value("one thing and another")
        page.get_by_label("Answer").fill("another")
        page.get_by_role("button", name="Send").click()
        expect(page.locator(".letter")).to_have_count(3)

    def test_what_changed_hands_before_it_was_back_shows(self, lookout: Lookout, house: House) -> None:
        house.town.send("scout", "sleeper", "take me", subject="Meanwhile")
        page = lookout.go("/page/mail?of=sleeper")
        wait_for_the_line(page)
        with hold(page, "/page/news") as held:
            page.evaluate("dispatchEvent(new Event('online'))")  # as when a laptop wakes: it gives its line up for another
        house.town.take("sleeper")
        held[0].continue_()
        expect(page.locator(".card-of")).to_contain_text("0 waiting, 1 in hand")

    @pytest.mark.parametrize("fault", ["no answer", "no room"])
    def test_news_that_could_not_be_looked_at_is_looked_at_again(self, lookout: Lookout, house: House, fault: str) -> None:
        page = lookout.go("/page/mail?of=docs")
        wait_for_the_line(page)

        def fail(route: Route) -> None:
            if fault == "no answer":
                route.abort("connectionrefused")
            else:
                route.fulfill(status=503, content_type="text/html", body="not now")

        page.route(re.compile("/page/mail"), fail, times=1)
        house.town.send("scout", "docs", "quick", subject=f"After {fault}")
        expect(page.locator(".row").filter(has_text=f"After {fault}")).to_be_visible()
        expect(page.locator("#line")).to_have_text("Live")

    def test_a_tab_that_comes_back_catches_up(self, lookout: Lookout, house: House) -> None:
        page = lookout.go("/page/mail?of=scout")
        wait_for_the_line(page)
        # As a browser does when nobody looks, and when somebody looks again.
        hide = "Object.defineProperty(document, 'hidden', {value: %s, configurable: true}); document.dispatchEvent(new Event('visibilitychange'))"
        page.evaluate(hide % "true")
        house.town.send("docs", "scout", "while you slept", subject="Good morning")
        page.evaluate(hide % "false")
        expect(page.locator(".row").filter(has_text="Good morning")).to_be_visible()
