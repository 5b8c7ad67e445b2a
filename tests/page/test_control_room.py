"""The overview: who is at work, who is silent, who waits on whom, and red only beyond an agent's own custom."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

from playwright.sync_api import Browser, expect

from postoffice.core.talk import Waiting
from postoffice.doors.page.waiting import circles, lanes
from tests.page.conftest import looking
from tests.page.house import House, opened
from tests.page.lookout import Lookout
from tests.page.test_views import shut_out

NOON = datetime(2026, 2, 22, 12, tzinfo=UTC)


def waits(*pairs: str) -> list[Waiting]:
    found = [pair.split() for pair in pairs]
    return [
        Waiting(waiter=one, waited_on=other, letters=1, tasks=0, since=NOON + timedelta(minutes=number))
        for number, (one, other) in enumerate(found)
    ]


def test_a_circle_is_told_once_and_is_stuck_where_none_of_it_is_at_work() -> None:
    around = waits("a b", "b c", "c a", "d a", "e f")
    (circle,) = circles(around, working=())
    assert (set(circle.names), circle.stuck) == ({"a", "b", "c"}, True)
    (circle,) = circles(around, working={"b"})
    assert not circle.stuck
    assert circles(waits("a b", "c b"), working=()) == []


def test_a_lane_has_everyone_who_waits_on_one() -> None:
    found = lanes(waits("a b", "c b", "b a"), working={"a"})
    assert [(lane.name, [item.waiter for item in lane.waits], lane.silent) for lane in found] == [
        ("b", ["a", "c"], True),
        ("a", ["b"], False),
    ]


def test_agents_stand_in_groups_one_line_each(lookout: Lookout, house: House) -> None:
    house.town.send("atlas", "somebody-new", "are you there?", subject="New")
    page = lookout.go("/page/overview")
    working, silent = page.locator("tbody.working"), page.locator("tbody.silent")
    expect(working.locator("tr").filter(has_text="coder")).to_have_count(1)  # it has a letter in hand
    expect(silent.locator("tr").filter(has_text="somebody-new")).to_contain_text("never here")
    heights = page.evaluate("[...document.querySelectorAll('.agents tr[data-item]')].map((row) => row.getBoundingClientRect().height)")
    assert max(heights) <= 36
    expect(page.locator("#waits li").filter(has_text="somebody-new")).to_contain_text("atlas")
    expect(page.locator(".late")).to_have_count(0)  # nobody has waited beyond anybody's custom


def test_red_is_what_waits_beyond_its_own_custom(browser: Browser, tmp_path: Path) -> None:
    with opened(tmp_path) as house:
        for name in ("quick", "slow"):
            for number in range(4):
                house.town.send("boss", name, "x", subject=str(number))
                house.town.settle(name)
            house.town.send("boss", name, "lies here", subject="Lies")
        house.age("quick", hours=1)
        with looking(browser, house.url) as lookout:
            page = lookout.go("/page/overview")
            expect(page.locator(".late")).to_have_count(1)
            expect(page.locator("tr").filter(has_text="quick").locator(".late")).to_have_attribute(
                "title", "Its mail waits less than a second as a rule"
            )
            stuck = page.locator("#stuck li")
            expect(stuck).to_have_count(1)
            expect(stuck).to_contain_text("1 letter waits for quick")
            expect(stuck).to_contain_text("longer than its mail usually waits")


def test_what_is_stuck_stands_in_one_list_with_its_cause(lookout: Lookout, house: House) -> None:
    page = lookout.go("/page/overview")
    stuck = page.locator("#stuck li")
    expect(stuck.first).to_contain_text("atlas asks scout: Read the three trackers")
    expect(stuck.first).to_contain_text("past its deadline")
    expect(stuck.filter(has_text="nightly wrote to scout: Weekly digest")).to_contain_text("dead: cannot parse the attachment")
    house.town.kill("coder", "docs", "Lately", "no such folder")
    expect(stuck.filter(has_text="Lately")).to_contain_text("no such folder")
    stuck.filter(has_text="Lately").get_by_role("link").click()
    expect(page.locator("h1")).to_have_text("Lately")


def test_who_wrote_a_moment_ago_does_not_wait_in_a_circle(browser: Browser, tmp_path: Path) -> None:
    with opened(tmp_path) as house, looking(browser, house.url) as lookout:
        for one, other in (("ann", "ben"), ("ben", "ann")):
            house.town.send(one, other, "your turn")
        page = lookout.go("/page/overview")
        expect(page.locator("#waits li")).to_have_count(2)
        expect(page.locator(".circle")).to_have_count(0)
        for name in ("ann", "ben"):
            house.age(name, hours=1)
        expect(lookout.go("/page/overview").locator(".circle")).to_contain_text("none of them is at work")


def test_a_busy_office_does_not_flood_whoever_looks(browser: Browser, tmp_path: Path) -> None:
    with opened(tmp_path) as house:
        for number in range(60):
            house.town.call(f"agent-{number:02}", "PATCH", "/agents/me", {"description": "works " * 12})
        with looking(browser, house.url) as lookout:
            page = lookout.go("/page/overview")
            expect(page.locator("#line")).to_have_text("Live")
            wire = page.context.new_cdp_session(page)
            wire.send("Network.enable")
            sizes: list[int] = []
            wire.on("Network.dataReceived", lambda event: sizes.append(event["encodedDataLength"]))
            wire.on("Network.responseReceived", lambda event: sizes.append(event["response"]["encodedDataLength"]))
            seconds = 5
            for number in range(seconds * 10):
                house.town.send(f"agent-{number % 60:02}", f"agent-{(number + 7) % 60:02}", "on and on", subject="Busy")
                page.wait_for_timeout(90)
            assert sum(sizes) / seconds < 20_000
            expect(page.locator("tr").filter(has_text="agent-07").locator("[data-label=Waiting]")).not_to_have_text("0")


def test_windows_that_are_open_say_by_what_an_agent_is_reached(lookout: Lookout, house: House) -> None:
    opening = {"client": "claude-code", "process": 4242, "started": "boot-1", "folder": "/home/me/shop", "machine": "m1", "ring": "socket"}
    agent = house.town.call("atlas", "POST", "/windows", opening)["agent"]
    page = lookout.go("/page/overview")
    expect(page.locator("tr").filter(has_text=agent).locator(".reach")).to_contain_text("window")


def test_the_owner_pauses_an_agent_and_resumes_it(lookout: Lookout, house: House) -> None:
    page = lookout.go("/page/mail?of=atlas")
    card = page.locator("#card")
    card.get_by_text("Pause…").click()
    card.get_by_label("Why").fill("it repeats itself")
    card.get_by_label("Until").select_option("tomorrow morning")
    assert shut_out(lookout) == []
    card.get_by_role("button", name="Pause").click()
    expect(card.locator(".held")).to_contain_text("by owner: it repeats itself")
    assert house.town.call("atlas", "POST", "/messages/receive", {})["messages"] == []
    expect(lookout.go("/page/overview").locator("tr").filter(has_text="atlas").locator(".reach")).to_contain_text("paused")
    lookout.go("/page/mail?of=atlas").get_by_role("button", name="Resume").click()
    expect(card.get_by_text("Pause…")).to_be_visible()
    expect(card.locator(".held")).to_have_count(0)


def test_the_owner_forgets_a_name_that_nobody_ever_used(lookout: Lookout, house: House) -> None:
    sent = house.town.send("coder", "a-slip", "are you there?", subject="Slip")
    page = lookout.go("/page/mail?of=coder")
    expect(page.locator("#card")).not_to_contain_text("Forget…")
    card = lookout.go("/page/mail?of=a-slip").locator("#card")
    card.get_by_text("Forget…").click()
    card.get_by_role("button", name="Forget a-slip").click()
    expect(page.locator("h1")).to_have_text("Overview")
    expect(page.locator("tr").filter(has_text="a-slip")).to_have_count(0)
    (standing,) = house.town.call("coder", "GET", f"/messages/{sent['message_id']}/status")["standings"]
    assert standing["state"] == "dead"
