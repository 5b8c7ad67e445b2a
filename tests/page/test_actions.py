"""What a person can do on the page, and what is so afterwards."""

import re
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.page.conftest import looking
from tests.page.house import House, opened
from tests.page.lookout import Lookout, click_twice, hold
from tests.page.town import Town
from tests.serve.running import PATIENCE


@pytest.fixture(params=[True, False], ids=["scripts", "no scripts"])
def out(request: pytest.FixtureRequest, browser: Browser, house: House) -> Iterator[Lookout]:
    """A window with scripts, and one without: every form works in both."""
    with looking(browser, house.url, java_script_enabled=request.param) as lookout:
        yield lookout


@pytest.fixture
def town(house: House) -> Town:
    return house.town


class TestWriting:
    def test_a_letter_is_sent_and_shown(self, out: Lookout, town: Town) -> None:
        page = out.go("/page/compose?to=docs")
        page.get_by_label("Subject").fill("From a person")
        page.get_by_label("Message").fill("Is the **guide** ready?")
        page.get_by_role("button", name="Send").click()
        expect(page.locator(".said")).to_have_text("Sent. It is on disk and waits for its reader.")
        expect(page.locator(".letter").last).to_contain_text("Is the guide ready?")
        expect(page.locator(".letter strong").last).to_have_text("guide")
        (sent,) = [item for item in town.call("docs", "GET", "/inbox")["sessions"] if item["subject"] == "From a person"]
        assert sent["other_agent_name"] == "owner"
        assert sent["recent_messages"][0]["message"]["from_verified"]

    def test_a_letter_for_later_is_shown_as_such_and_taken_back(self, out: Lookout, town: Town) -> None:
        page = out.go("/page/compose?to=docs")
        page.get_by_label("Subject").fill("For later")
        page.get_by_label("Message").fill("Not yet.")
        page.get_by_label("Deliver it").fill("2099-01-01T09:00")
        page.get_by_label("It expires").fill("2099-02-01T09:00")
        page.get_by_role("button", name="Send").click()
        letter = page.locator(".letter").last
        expect(letter.locator("summary")).to_have_text("scheduled")
        letter.locator("summary").click()
        expect(letter).to_contain_text("Scheduled, it comes in")
        letter.locator(".letter-when").click()
        page.get_by_role("button", name="Take it back").click()
        expect(page.locator(".timeline")).to_contain_text("canceled")
        assert not [item for item in town.call("docs", "GET", "/inbox")["sessions"] if item["subject"].startswith("For later")]

    def test_it_shows_at_the_end_of_its_conversation(self, out: Lookout, town: Town) -> None:
        for number in range(12):
            sent = town.send("docs", "owner", f"part {number} " + "long " * 150, subject="So far")
        page = out.go("/page/compose?to=docs&subject=So+far")
        page.get_by_label("Message").fill("the last word")
        page.get_by_role("button", name="Send").click()
        for words in ("the last word", "and one more"):
            letter = page.locator(".letter").last
            expect(letter).to_contain_text(words)
            expect(letter.locator("summary")).to_be_in_viewport(ratio=1)
            expect(page.get_by_label("Answer")).to_be_in_viewport()
            said, answer = letter.bounding_box(), page.locator(".answer").bounding_box()
            assert said is not None
            assert answer is not None
            assert said["y"] + said["height"] <= answer["y"]
            page.get_by_label("Answer").fill("and one more")
            page.get_by_role("button", name="Send").click()
        assert sent["session_id"] in page.url

    def test_a_letter_may_begin_with_space(self, out: Lookout) -> None:
        page = out.go("/page/compose?to=docs")
        page.get_by_label("Subject").fill("Indented")
        page.get_by_label("Message").fill("    one\n    two")
        page.get_by_role("button", name="Send").click()
        expect(page.locator(".letter pre").last).to_have_text("one\ntwo\n")

    def test_the_owner_lends_its_voice_to_whoever_has_no_key(self, out: Lookout, town: Town) -> None:
        page = out.go("/page/compose?to=docs&as=Wren")
        page.get_by_label("Message").fill("Wren says hello")
        page.get_by_role("button", name="Send").click()
        expect(page.locator(".letter").last).to_contain_text("Wren says hello")
        assert any(item["other_agent_name"] == "Wren" for item in town.call("docs", "GET", "/inbox")["sessions"])

    def test_a_task_has_a_deadline(self, out: Lookout, town: Town) -> None:
        page = out.go("/page/compose?to=Wren&kind=task")
        page.get_by_label("Subject").fill("Sort the shelf")
        page.get_by_label("Message").fill("by size")
        page.get_by_label("A task is due").select_option("4h")
        page.get_by_role("button", name="Send").click()
        expect(page.locator(".letter .chip").last).to_have_text("task")
        tasks = town.call("Wren", "GET", "/tasks")["tasks"]
        assert any(task["subject"] == "Sort the shelf" and task["deadline"] for task in tasks)

    def test_a_letter_to_many_shows_where_it_stands_with_each(self, out: Lookout) -> None:
        page = out.go("/page/compose")
        page.get_by_label("To", exact=True).fill("docs, scout")
        page.get_by_label("Message").fill("to both of you")
        page.get_by_role("button", name="Send").click()
        expect(page.locator(".standing-who")).to_have_text([re.compile("docs"), re.compile("scout")])

    def test_nobody_is_written_to_by_a_slip(self, lookout: Lookout) -> None:
        page = lookout.go("/page/compose?to=no%20such%20name")
        page.get_by_label("Message").fill("what I wrote stays")
        page.get_by_role("button", name="Send").click()
        expect(page.get_by_role("alert")).to_contain_text("cannot name an agent")
        assert page.get_by_label("Message").input_value() == "what I wrote stays"

    def test_whoever_goes_on_before_the_answer_is_told_of_a_refusal(self, lookout: Lookout) -> None:
        page = lookout.go("/page/compose?to=no%20such%20name")
        page.get_by_label("Message").fill("where did it go?")
        with hold(page, "/compose$") as held:
            page.get_by_role("button", name="Send").click()
        page.locator("#nav").get_by_role("link", name="Tasks").click()
        expect(page.get_by_role("heading", level=1)).to_have_text("Tasks")
        held[0].continue_()
        expect(page.get_by_role("alert")).to_contain_text("cannot name an agent")
        expect(page.get_by_role("heading", level=1)).to_have_text("Tasks")

    def test_whoever_goes_on_is_not_taken_back_when_the_first_way_fails(self, lookout: Lookout) -> None:
        page = lookout.go("/")
        with hold(page, "/page/traffic") as held:
            page.locator("#nav").get_by_role("link", name="Traffic").click()
        page.locator("#nav").get_by_role("link", name="Tasks").click()
        expect(page.get_by_role("heading", level=1)).to_have_text("Tasks")
        held[0].abort("connectionrefused")
        page.evaluate("fetch('/page/palette').then(() => true)")  # by now it would be on its way
        expect(page.get_by_role("heading", level=1)).to_have_text("Tasks")

    def test_an_answer_stays_in_the_conversation(self, out: Lookout, town: Town) -> None:
        sent = town.send("scout", "owner", "shall I go on?", subject=f"Go on {id(out)}")
        page = out.go(f"/page/thread/{sent['session_id']}")
        page.get_by_label("Answer").fill("yes, please")
        page.get_by_role("button", name="Send").click()
        expect(page.locator(".letter").last).to_contain_text("yes, please")
        expect(page.locator(".letter")).to_have_count(2)
        history = town.call("scout", "GET", f"/sessions/{sent['session_id']}/history?peek=true")
        assert [line["sender_name"] for line in history["messages"]] == ["owner", "scout"]

    def test_whoever_waits_for_the_answer_to_a_question_gets_it(self, out: Lookout, town: Town) -> None:
        mark = f"mark-{id(out)}"
        sent = town.send("scout", "owner", "may I?", subject=f"Leave {id(out)}", correlation_id=mark)
        page = out.go(f"/page/thread/{sent['session_id']}")
        page.get_by_label("Answer").fill("you may")
        page.get_by_role("button", name="Send").click()
        expect(page.locator(".letter").last).to_contain_text("you may")
        (answer,) = town.call("scout", "POST", "/messages/receive", {"correlation_id": mark})["messages"]
        assert (answer["content"], answer["reply_to"]) == ("you may", sent["message_id"])
        town.call("scout", "POST", f"/messages/{answer['id']}/ack", {"token": answer["token"]})

    def test_an_answer_may_be_given_for_one_of_the_two(self, out: Lookout, town: Town) -> None:
        sent = town.send("scout", "Wren", "who are you?", subject=f"Names {id(out)}")
        page = out.go(f"/page/thread/{sent['session_id']}")
        page.get_by_label("From whom to whom").select_option(label="Wren → scout")
        page.get_by_label("Answer").fill("a person")
        page.get_by_role("button", name="Send").click()
        expect(page.locator(".letter").last).to_contain_text("a person")
        assert page.url.startswith(out.page.url.partition("?")[0])
        history = town.call("scout", "GET", f"/sessions/{sent['session_id']}/history?peek=true")
        assert history["messages"][0]["sender_name"] == "Wren"


class TestMailboxes:
    def test_a_mailbox_is_chosen_and_its_unread_count_is_true(self, lookout: Lookout, town: Town) -> None:
        page = lookout.go("/page/mail")
        page.get_by_label("Mailbox").select_option("atlas")
        expect(page.get_by_role("heading", level=1)).to_have_text("atlas's mail")
        unread = town.call("atlas", "GET", "/agents/me")["unread"]
        expect(page.locator(".tabs .badge")).to_contain_text(str(unread))
        page.locator(".tabs").get_by_role("link", name="Unread").click()
        sessions = town.call("atlas", "GET", "/inbox?unread_only=true")["sessions"]
        expect(page.locator(".rows .badge")).to_have_count(len(sessions))
        shown = [int(text.split()[0]) for text in page.locator(".rows .badge").all_inner_texts()]
        assert sum(shown) == sum(item["unread_count"] for item in sessions)

    def test_going_back_shows_the_mailbox_and_the_words_of_that_view(self, lookout: Lookout) -> None:
        page = lookout.go("/page/mail")
        page.get_by_label("Mailbox").select_option("atlas")
        expect(page.get_by_role("heading", level=1)).to_have_text("atlas's mail")
        page.go_back()
        expect(page.get_by_role("heading", level=1)).to_have_text("Conversations")
        expect(page.get_by_label("Mailbox")).to_have_value("")
        page.goto("/page/search")
        for word in ("green", "branch"):
            page.get_by_label("Words").fill(word)
            page.keyboard.press("Enter")
            expect(page).to_have_url(re.compile(f"q={word}$"))
        page.go_back()
        expect(page.get_by_label("Words")).to_have_value("green")
        page.goto("/page/compose")
        page.get_by_label("To", exact=True).fill("docs,")
        page.get_by_label("Message").fill("half a letter")
        page.evaluate("document.querySelector('#nav .write').href = '/page/compose?to=atlas'")
        page.locator("#nav .write").click()
        expect(page.locator(".to-chip")).to_contain_text("atlas")
        expect(page.get_by_label("Message")).to_have_value("half a letter")

    def test_the_timeline_tells_of_tries_and_reasons(self, lookout: Lookout, town: Town) -> None:
        sent = town.send("atlas", "Wren", "catch", subject="A ball", priority=1)
        page = lookout.go(f"/page/thread/{sent['session_id']}")
        expect(page.locator(".timeline")).to_contain_text("Waiting")
        town.settle("Wren", "nack", reason="it slipped")
        expect(page.locator(".timeline")).to_contain_text("Waiting again after 1 try: it slipped")
        message = town.take("Wren")
        expect(page.locator(".timeline")).to_contain_text("In hand, try 2")
        town.call("Wren", "POST", f"/messages/{message['id']}/ack", {"token": message["token"]})
        expect(page.locator(".timeline")).to_contain_text("Acked")
        expect(page.locator(".timeline")).to_contain_text("Taken by Wren")

    def test_earlier_letters_are_a_page_away(self, lookout: Lookout, town: Town) -> None:
        for number in range(25):
            sent = town.send("nightly", "Wren", f"run {number}", subject="Many runs")
        page = lookout.go(f"/page/thread/{sent['session_id']}")
        expect(page.locator(".letter")).to_have_count(20)
        expect(page.locator(".letter").last).to_contain_text("run 24")
        page.get_by_role("link", name="Earlier").click()
        expect(page.locator(".letter")).to_have_count(5)
        page.get_by_role("link", name="To the newest").click()
        expect(page.locator(".letter").last).to_contain_text("run 24")

    def test_an_old_letter_opens_the_part_of_its_conversation_that_it_is_in(self, lookout: Lookout, town: Town) -> None:
        old: dict[str, str] = {}
        for number in range(30):
            sent = town.send("nightly", "scout", f"walk number {number}.", subject="Many walks")
            old = sent if number == 5 else old
        page = lookout.go(f"/page/letter/{old['message_id']}")
        page.locator(".standing").get_by_role("link", name="thread").click()
        expect(page.locator(".letter").last).to_contain_text("walk number 5.")
        expect(page.locator(".letter")).to_have_count(6)
        expect(page.locator(".letter .timeline").last).to_contain_text("Waiting")
        page.get_by_role("link", name="To the newest").click()
        expect(page.locator(".letter").last).to_contain_text("walk number 29.")
        answer = page.goto(f"{page.url.partition('#')[0]}?at=nonsense")
        assert answer is not None
        assert answer.status == 422


class TestSearching:
    def test_words_and_filters_stand_in_the_address(self, out: Lookout) -> None:
        page = out.go("/page/search")
        page.get_by_label("Words").fill("green build")
        page.get_by_text("Filters", exact=True).click()
        page.get_by_label("From").fill("nightly")
        page.get_by_label("Since").fill("2024-01-01")
        page.get_by_role("button", name="Search").click()
        expect(page.locator(".rows li")).not_to_have_count(0)
        assert "sender=nightly" in page.url
        page.reload()
        expect(page.get_by_label("From")).to_have_value("nightly")
        expect(page.locator(".row").first).to_contain_text("nightly")
        page.locator(".row").first.click()
        expect(page.locator(".letter")).to_contain_text("green")

    def test_nothing_found_says_so(self, lookout: Lookout) -> None:
        expect(lookout.go("/page/search?q=xylophone").locator("#found")).to_contain_text("Nothing found")
        expect(lookout.go("/page/search?q=build&since=yesterday").get_by_role("alert")).to_contain_text("is not a day")


class TestTasks:
    def test_what_is_stuck_stands_out_and_a_person_moves_its_own(self, out: Lookout, town: Town) -> None:
        subject = f"Choose a colour {id(out)}"
        town.ask("coder", "owner", subject)
        page = out.go("/page/tasks")
        expect(page.locator(".card.stuck").filter(has_text="Read the three trackers")).to_contain_text("past its deadline")
        page.locator(".column.pending .card").filter(has_text=subject).get_by_role("button", name="Accept").click()
        expect(page.locator(".column.accepted .card").filter(has_text=subject)).to_be_visible()
        page.locator(".card").filter(has_text=subject).get_by_role("button", name="Begin").click()
        page.locator(".column.working .card").filter(has_text=subject).get_by_role("button", name="Complete").click()
        expect(page.locator(".column.finished .card").filter(has_text=subject)).to_contain_text("completed")
        tasks = town.call("coder", "GET", "/tasks?requester=coder")["tasks"]
        assert next(task for task in tasks if task["subject"] == subject)["state"] == "completed"

    def test_a_double_click_moves_a_task_once(self, browser: Browser, house: House, town: Town) -> None:
        town.ask("quill", "owner", "Choose a font")
        with looking(browser, house.url, java_script_enabled=False) as lookout:
            page = lookout.go("/page/tasks")
            for column, word in {"accepted": "Accept", "working": "Begin", "finished": "Complete"}.items():
                click_twice(page.locator(".card").filter(has_text="Choose a font").get_by_role("button", name=word))
                expect(page.locator(f".column.{column} .card").filter(has_text="Choose a font")).to_be_visible()
        told = town.call("quill", "POST", "/messages/receive", {"limit": 100})["messages"]
        assert [letter["task"]["state"] for letter in told] == ["accepted", "working", "completed"]


class TestConnections:
    def test_a_request_is_approved(self, out: Lookout, town: Town) -> None:
        name = f"asker-{id(out)}"
        made = town.call(name, "POST", "/connections/request", {"target_agent_name": "atlas", "message": "please"})
        page = out.go("/page/connections")
        request = page.locator(".request").filter(has_text=name)
        expect(request).to_contain_text(made["verification_code"])
        expect(request).to_contain_text("its assurance is owner")
        request.get_by_role("button", name="Approve").click()
        expect(page.locator("#active tr").filter(has_text=name)).to_contain_text("owner")
        assert town.call(name, "GET", f"/connections/{made['connection_id']}")["status"] == "ACTIVE"

    def test_a_request_is_rejected(self, out: Lookout, town: Town) -> None:
        name = f"unwanted-{id(out)}"
        made = town.call(name, "POST", "/connections/request", {"target_agent_name": "atlas"})
        page = out.go("/page/connections")
        page.locator(".request").filter(has_text=name).get_by_role("button", name="Reject").click()
        expect(page.locator(".request").filter(has_text=name)).to_have_count(0)
        assert town.call(name, "GET", f"/connections/{made['connection_id']}")["status"] == "REJECTED"

    def test_a_person_asks_and_ends(self, out: Lookout, town: Town) -> None:
        name = f"new-{id(out)}"
        town.call(name, "GET", "/agents/me")
        page = out.go("/page/connections")
        page.get_by_label("From").select_option("Wren")
        page.get_by_label("To", exact=True).fill(name)
        page.get_by_label("Why").fill("to hear from you")
        page.get_by_role("button", name="Ask", exact=True).click()
        request = page.locator(".request").filter(has_text=name)
        expect(request.locator("blockquote")).to_have_text("to hear from you")
        request.get_by_role("button", name="Approve").click()
        row = page.locator("#active tr").filter(has_text=name)
        row.get_by_role("link", name="End").click()
        page.get_by_role("button", name="End the connection").click()
        expect(page.locator("#active tr").filter(has_text=name)).to_have_count(0)

    def test_one_on_a_later_page_is_ended_there(self, browser: Browser, tmp_path: Path) -> None:
        with opened(tmp_path) as house, looking(browser, house.url, java_script_enabled=False) as lookout:
            house.town.call("hub", "GET", "/agents/me")
            for number in range(52):
                made = house.town.call(f"spoke-{number:02}", "POST", "/connections/request", {"target_agent_name": "hub"})
                house.town.call("hub", "POST", "/connections/approve", {"verification_code": made["verification_code"]})
            page = lookout.go("/page/connections")
            page.get_by_role("link", name="Older").click()
            expect(page.locator("#active tbody tr")).to_have_count(2)
            page.locator("#active tr").filter(has_text="spoke-01").get_by_role("link", name="End").click()
            page.locator("dialog[open]").get_by_role("button", name="End the connection").click()
            expect(page.locator("#active tbody tr")).to_have_count(1)
            expect(page.locator("#active tbody tr")).to_contain_text("spoke-00")


class TestManyAtOnce:
    def test_what_waits_is_counted_and_then_expires(self, out: Lookout, town: Town) -> None:
        for number in range(3):
            town.send("docs", "nobody-here", f"old news {number}", subject="Old")
        page = out.go("/page/bulk")
        page.get_by_label("What to do").select_option("expire")
        page.get_by_label("Mailbox of").fill("nobody-here")
        page.get_by_role("button", name="Count them").click()
        expect(page.locator("form").filter(has_text="letters fit")).to_contain_text("3 letters fit. Their senders are told.")
        page.get_by_role("button", name="Expire them").click()
        expect(page.locator(".said")).to_have_text("Done.")
        expect(page.get_by_text("0 letters fit.")).to_be_visible()


class TestRecurring:
    def test_one_is_stopped_after_a_question(self, out: Lookout, town: Town) -> None:
        one = town.call("docs", "POST", "/recurring", {"every": "0 9 1 * *", "to": "coder", "subject": "Monthly", "content": "Invoices"})
        page = out.go("/page/recurring")
        row = page.locator("tr").filter(has_text="Monthly").first
        expect(row).to_contain_text("0 9 1 * *")
        row.get_by_role("link", name="Stop").click()
        page.locator("dialog[open]").get_by_role("button", name="Stop it").click()
        expect(page.locator(".said")).to_have_text("Stopped: it is not sent any more.")
        assert one["id"] not in [item["id"] for item in town.call("docs", "GET", "/recurring")["recurring"]]


class TestRoles:
    def test_the_overview_shows_who_is_in_a_role_and_has_what_of_it_in_hand(self, out: Lookout, town: Town) -> None:
        words = f"<b>reviews</b> {id(out)}"
        town.call("coder", "POST", "/roles", {"name": "role:mill", "staff": ["docs"], "description": words})
        town.call("coder", "POST", "/messages/send", {"to": "role:mill", "subject": "a", "content": "look"})
        taken = town.call("docs", "POST", "/messages/receive", {"of": "role:mill"})["messages"][0]
        row = out.go("/page/overview").locator("#roles tr").filter(has_text=words)
        expect(row).to_contain_text("docs has 1")
        town.call("docs", "POST", f"/messages/{taken['id']}/ack", {})
        row = out.go("/page/overview").locator("#roles tr").filter(has_text=words)
        expect(row).not_to_contain_text("docs has 1")
        town.call("coder", "DELETE", "/roles/role:mill")


class TestReservations:
    def test_the_owner_ends_one_after_a_question_and_its_holder_is_told(self, out: Lookout, town: Town) -> None:
        why = f"<b>moving</b> {id(out)}"
        town.call("coder", "POST", "/reservations", {"project": "/home/ann/mill", "paths": ["src/**"], "why": why})
        page = out.go("/page/reservations")
        row = page.locator("tr").filter(has_text=why)
        expect(row).to_contain_text("src/**")
        row.get_by_role("link", name="End").click()
        page.get_by_role("dialog").get_by_role("button", name="End the reservation").click()
        expect(page.locator("tr").filter(has_text=why)).to_have_count(0)
        assert town.call("coder", "GET", "/reservations?project=/home/ann/mill")["reservations"] == []
        waiting = town.call("coder", "GET", "/messages/waiting")["messages"]
        assert "reservation_broken" in [letter.get("payload", {}).get("kind") for letter in waiting if letter["from"] == "system"]


class TestLists:
    def test_the_owner_makes_one_writes_to_it_and_answers_all_or_the_author(self, out: Lookout, town: Town) -> None:
        name = f"crew-{id(out)}"
        page = out.go("/page/lists")
        page.get_by_label("Name").fill(name)
        page.get_by_label("Members", exact=True).fill(f"coder, docs, nobody-{name}")
        page.get_by_label("What it is for").fill("<b>all hands</b>")
        page.get_by_role("button", name="Make it").click()
        shown = page.locator(f"#list-{name}")
        expect(shown).to_contain_text("<b>all hands</b>")
        expect(shown).to_contain_text("3 members")
        expect(page.locator(".top")).to_contain_text(f"There is no agent 'nobody-{name}'")
        shown.get_by_role("link", name="Write to all").click()
        expect(page.locator("#to")).to_have_value(f"#{name}")
        page.get_by_label("Message").fill("Deploy at noon?")
        page.get_by_role("button", name="Send", exact=True).click()
        expect(page.get_by_role("heading", level=1)).to_have_text(f"#{name}")
        (letter,) = [one for one in town.call("coder", "GET", "/messages/waiting")["messages"] if one["to"] == f"#{name}"]
        town.call("coder", "POST", "/messages/send", {"to": f"#{name}", "content": "Noon is fine", "reply_to": letter["id"]})
        page.reload()
        expect(page.locator("#thread")).to_contain_text("Noon is fine")
        expect(page.locator("#way option")).to_have_text([f"owner → #{name}", "owner → coder (aside)"])
        page.get_by_label("Answer").fill("Then noon it is")
        page.get_by_role("button", name="Send", exact=True).click()
        expect(page.locator("#thread")).to_contain_text("Then noon it is")
        said = town.call("docs", "GET", f"/lists/{name}/history")["messages"]
        assert [line["content"] for line in said] == ["Then noon it is", "Noon is fine", "Deploy at noon?"]
        expect(out.go("/page/mail").locator("#list")).to_contain_text("Then noon it is")
        page = out.go("/page/lists")
        page.locator(f"#list-{name}").get_by_text("Who is on it").click()
        page.locator(f"#list-{name}").get_by_role("button", name="Delete").click()
        expect(page.locator(f"#list-{name}")).to_have_count(0)
        town.settle("coder")


class TestDeadLetters:
    def test_a_dead_letter_waits_again(self, out: Lookout, town: Town) -> None:
        subject = f"Digest {id(out)}"
        message = town.kill("nightly", "docs", subject, "no such file")
        page = out.go("/page/dead")
        letter = page.locator(".dead-letter").filter(has_text=subject)
        expect(letter).to_contain_text("no such file after 10 tries")
        letter.get_by_role("button", name="Requeue").click()
        expect(page.locator(".dead-letter").filter(has_text=subject)).to_have_count(0)
        (standing,) = town.call("nightly", "GET", f"/messages/{message}/status")["standings"]
        assert (standing["state"], standing["attempts"]) == ("pending", 0)
        town.settle("docs")

    def test_discarding_asks_first(self, out: Lookout, town: Town) -> None:
        subject = f"Leaflet {id(out)}"
        message = town.kill("nightly", "docs", subject, "not for us")
        page = out.go("/page/dead")
        page.locator(".dead-letter").filter(has_text=subject).get_by_role("link", name="Discard").click()
        dialog = page.get_by_role("dialog")
        expect(dialog).to_contain_text("Discard this letter?")
        dialog.get_by_text("Keep it").click()
        expect(page.locator("dialog[open]")).to_have_count(0)
        expect(page.locator(".dead-letter").filter(has_text=subject)).to_be_visible()
        page.locator(".dead-letter").filter(has_text=subject).get_by_role("link", name="Discard").click()
        page.get_by_role("dialog").get_by_role("button", name="Discard").click()
        expect(page.locator(".dead-letter").filter(has_text=subject)).to_have_count(0)
        (standing,) = town.call("nightly", "GET", f"/messages/{message}/status")["standings"]
        assert standing["state"] == "acked"

    def test_a_refusal_is_seen_where_it_was_asked_for(self, lookout: Lookout, town: Town) -> None:
        message = town.kill("nightly", "docs", "Somebody was faster", "not for us")
        page = lookout.go("/page/dead")
        page.route(
            re.compile("/page/dead"), lambda route: route.fallback() if route.request.method == "POST" else route.abort("connectionrefused")
        )
        page.locator(".dead-letter").filter(has_text="Somebody was faster").get_by_role("link", name="Discard").click()
        town.call("docs", "POST", f"/dead-letters/{message}/requeue")
        page.get_by_role("dialog").get_by_role("button", name="Discard").click()
        alert = page.get_by_role("alert")
        expect(alert).to_contain_text("is pending, not dead")
        alert.click(trial=True)  # nothing lies over it
        town.settle("docs")

    def test_what_is_on_a_later_page_is_discarded_there(self, browser: Browser, tmp_path: Path) -> None:
        with opened(tmp_path) as house, looking(browser, house.url, java_script_enabled=False) as lookout:
            town = house.town
            town.kill_all("a", "z", (f"Number {number:02}" for number in range(41)), "no")
            town.call("a", "POST", "/messages/send", {"to": ["y", "z"], "subject": "Both", "content": "both", "priority": 1})
            for name in ("y", "z"):
                for _ in range(10):
                    town.settle(name, "nack", reason="no")
            page = lookout.go("/page/dead?of=z")
            page.get_by_role("link", name="Older").click()
            expect(page.locator(".dead-letter")).to_have_count(2)
            letter = page.locator(".dead-letter").filter(has_text="Number 01")
            letter.get_by_role("link", name="Discard").click()
            page.locator("dialog[open]").get_by_role("button", name="Discard").click()
            expect(page.locator(".dead-letter")).to_have_count(1)
            expect(page.locator("h1")).to_have_text("Dead letters of z")
            page.locator(".dead-letter").get_by_role("button", name="Requeue").click()
            page.get_by_role("link", name="To the newest").click()
            expect(page.locator(".dead-letter")).to_have_count(40)
            page.goto("/page/dead")
            page.locator(".dead-letter").filter(has_text="Both").filter(has_text="to y").get_by_role("link", name="Discard").click()
            expect(page.locator("dialog[open]")).to_have_count(1)
            expect(page.locator("dialog[open]")).to_contain_text("y will never get it")


class TestConnecting:
    @pytest.mark.parametrize("client", ["claude", "codex", "gemini", "opencode", "cursor", "openclaw", "nanobot", "curl", "python"])
    def test_each_snippet_has_the_real_address_and_name(self, lookout: Lookout, house: House, client: str) -> None:
        page = lookout.go(f"/page/connect?name=newcomer&client={client}")
        snippet = page.locator(".snippet")
        expect(snippet).to_contain_text("newcomer")
        expect(snippet).to_contain_text(house.url)
        expect(page.locator(".clients a")).to_have_count(12)

    def test_the_light_turns_green_with_the_first_call(self, lookout: Lookout, town: Town) -> None:
        page = lookout.go("/page/connect?name=fresh-agent")
        expect(page.locator("#light")).to_contain_text("Waiting for the first call of fresh-agent")
        town.appear("fresh-agent")
        expect(page.locator("#light.lit")).to_contain_text("fresh-agent has called")

    def test_a_snippet_is_copied(self, browser: Browser, house: House) -> None:
        with looking(browser, house.url, permissions=["clipboard-read", "clipboard-write"]) as lookout:
            page = lookout.go("/page/connect?name=newcomer&client=claude")
            page.get_by_role("button", name="Copy").first.click()
            expect(page.get_by_text("Copied.")).to_be_visible()
            program, *words = shlex.split(page.evaluate("navigator.clipboard.readText()"))
            assert words == ["setup", "claude", "--agent", "newcomer", "--server", house.url]
            subprocess.run([program, *words[:2], "--help"], capture_output=True, timeout=PATIENCE, check=True)  # as pasted, it is there


class TestTraffic:
    def test_the_graph_and_the_plots_tell_the_same(self, lookout: Lookout) -> None:
        page = lookout.go("/page/traffic")
        expect(page.locator(".graph text").filter(has_text="nightly").first).to_be_visible()
        expect(page.locator(".plot")).to_have_count(3)
        total = int(page.locator(".plot-summary").first.inner_text().split()[0].replace(",", ""))
        listed = page.locator(".plot").first.locator("td.num").all_text_contents()
        assert sum(int(text.replace(",", "")) for text in listed) == total > 20
        page.get_by_role("link", name="Last week").click()
        expect(page).to_have_url(re.compile("span=week$"))
        expect(page.locator(".plot rect").first).to_be_visible()
