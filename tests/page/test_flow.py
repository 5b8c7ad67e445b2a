"""Traffic: a lane for each agent, a drawing for few and a table for many, and each part of it leads to what was said."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

from playwright.sync_api import Browser, expect

from postoffice.core.traffic import Deed, Exchange
from postoffice.doors.page.matrix import lay
from postoffice.doors.page.timeline import draw
from tests.page.conftest import looking
from tests.page.house import opened

NOON = datetime(2026, 2, 22, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)


def deed(recipient: str, state: str, *minutes: int | None, attempts: int = 1) -> Deed:
    created, leased, settled = (None if at is None else NOON + timedelta(minutes=at) for at in minutes)
    assert created is not None
    return Deed(
        message_id="m",
        sender="boss",
        recipient=recipient,
        state=state,
        attempts=attempts,
        created_at=created,
        leased_at=leased,
        settled_at=settled,
    )


def test_a_bar_goes_from_taken_to_settled_and_a_line_from_its_arrival() -> None:
    drawn = draw(
        [deed("a", "acked", 10, 20, 50), deed("b", "leased", 30, 40, None, attempts=2), deed("b", "pending", 55, None, None)], NOON, HOUR
    )
    assert [row.name for row in drawn.rows] == ["a", "b"]
    (done,), (held, waits) = (row.bars for row in drawn.rows)
    whole = drawn.width - drawn.left
    assert abs(done.width - whole / 2) < 1
    assert done.waited < done.x
    assert (held.kind, waits.kind) == ("leased again", "waits")
    assert abs(held.x + held.width - drawn.width) < 1, "what is in hand goes on until now"


def test_a_table_has_those_with_most_mail_and_shades_by_how_much() -> None:
    found = lay([Exchange(f"a{n}", "hub", n + 1, NOON) for n in range(45)])
    assert (found.names[0], len(found.names), found.left_out) == ("hub", 40, 6)
    column = [row[0] for row in found.rows]
    assert max(cell.shade for cell in column) == 5
    assert column[0].letters == 0


def test_few_are_drawn_many_are_laid_out_and_both_lead_on(browser: Browser, tmp_path: Path) -> None:
    with opened(tmp_path) as house, looking(browser, house.url) as lookout:
        for number in range(5):
            house.town.send(f"agent-{number}", "hub", "x", subject="Few")
        house.town.settle("hub")
        page = lookout.go("/page/traffic")
        expect(page.locator(".matrix")).to_have_count(0)
        page.locator(".arcs a").first.focus()
        page.keyboard.press("Enter")
        expect(page.locator(".pane-head")).to_contain_text("hub")
        for number in range(5, 20):
            house.town.send(f"agent-{number}", "hub", "x", subject="Many")
        page.goto("/page/traffic")
        expect(page.locator(".graph svg")).to_have_count(0)
        page.locator(".matrix td a").first.click()
        expect(page.locator(".pane-head")).to_contain_text("hub")
        page.goto("/page/traffic")
        expect(page.locator(".deed.acked")).to_have_count(1)
        page.locator(".work a").first.focus()
        page.keyboard.press("Enter")
        expect(page.locator(".letter")).to_have_count(1)
