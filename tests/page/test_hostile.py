"""Nothing an agent writes can run, style, cover, lead astray, or make the page call out."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.page import hostile
from tests.page.conftest import looking
from tests.page.house import House, opened

LETTERS = hostile.letters()
LAWFUL = {"http:", "https:", "mailto:"}
WRITTEN = """
() => [...document.querySelectorAll(".words, .tree")].flatMap((root) => [...root.querySelectorAll("*")].flatMap((e) => [...e.attributes].map((a) => `${e.localName} ${a.name}`)))
"""
ALLOWED = {
    "a href", "a rel", "a target", "span class", "pre class", "pre tabindex", "table tabindex", "details open", "ol start",
}  # fmt: skip
LINKS = "() => [...document.querySelectorAll('.words a')].map((a) => ({protocol: a.protocol, host: a.host, rel: a.rel, target: a.target, beside: a.nextElementSibling?.textContent}))"
HIDDEN = r"[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\u{e0000}-\u{e007f}]"


@pytest.fixture(scope="module")
def post(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[House, list[str]]]:
    """An office that has got every one of these letters, and the ids under which they stand."""
    with opened(tmp_path_factory.mktemp("hostile")) as house:
        town = house.town
        town.call("mallory", "PATCH", "/agents/me", hostile.CARD)
        ids = [
            town.call("mallory", "POST", "/messages/send", {"to": f"victim-{number % 3}", **letter})["message_id"]
            for number, letter in enumerate(LETTERS)
        ]
        for number in range(3):
            town.send("mallory", "owner", "[see](javascript:window.hit=1)", subject=f"{hostile.SUBJECT[:100]}{number}")
        town.send("mallory", "victim-dead", "x", subject=hostile.SUBJECT[:200])
        for _ in range(10):
            town.settle("victim-dead", "nack", reason=hostile.REASON)
        task = town.call(
            "mallory",
            "POST",
            "/messages/send",
            {
                "to": "victim-0",
                "subject": hostile.SUBJECT[:200],
                "content": "x",
                "type": "task",
                "task": {"id": "<b onclick=window.hit=1>"},
            },
        )
        town.move("victim-0", task["message_id"], "working", hostile.NOTE)
        town.call(
            "mallory",
            "POST",
            "/reservations",
            {"project": hostile.NOTE, "paths": [hostile.SUBJECT[:200].replace("/", " ")], "why": hostile.NOTE},
        )
        town.call("mallory", "POST", "/connections/request", {"target_agent_name": "victim-1", "message": hostile.NOTE})
        yield house, ids


STATE = f"""
() => ({{
  hit: window.hit ?? null,
  foreign: document.querySelectorAll("main script, main style, main iframe, main img, main form form, main object, main link").length,
  hidden: new RegExp({HIDDEN!r}, "u").test(document.documentElement.outerHTML),
  ours: document.getElementById("main").localName + document.getElementById("line").localName,
  lookup: typeof document.getElementById,
  nav: document.querySelector("#nav").checkVisibility(),
}})
"""
UNHARMED = {"hit": None, "foreign": 0, "hidden": False, "ours": "mainp", "lookup": "function", "nav": True}


def check(page: Page) -> None:
    """Nothing ran, nothing is hidden in the text, fields or titles, and our own elements are still ours."""
    assert page.evaluate(STATE) == UNHARMED


def test_the_corpus_is_large_enough() -> None:
    assert len(LETTERS) >= 90
    assert len({str(letter) for letter in LETTERS}) == len(LETTERS)


def test_no_letter_does_anything_when_it_is_read(browser: Browser, post: tuple[House, list[str]]) -> None:
    house, ids = post
    with looking(browser, house.url) as lookout:
        for letter, id in zip(LETTERS, ids, strict=True):
            lookout.go(f"/page/letter/{id}")
            expect(lookout.page.locator(".letter")).to_be_visible()
            check(lookout.page)
            assert lookout.problems == [], letter["subject"]
            assert set(lookout.page.evaluate(WRITTEN)) <= ALLOWED, letter["subject"]
            for link in lookout.page.evaluate(LINKS):
                assert link["protocol"] in LAWFUL, letter["subject"]
                assert set(link["rel"].split()) == {"noopener", "noreferrer", "nofollow"}
                assert link["target"] == "_blank"
                assert link["host"] in link["beside"], "where it leads stands beside it"


@pytest.mark.parametrize("path", [f"/page/mail?of=victim-{n}" for n in range(3)] + [
    "/", "/page/mail", "/page/mail?of=mallory", "/page/tasks", "/page/connections", "/page/dead", "/page/reservations", "/page/lists", "/page/recurring", "/page/bulk?act=requeue", "/page/traffic", "/page/compose",
    "/page/search?q=script", "/page/search?q=%3Cscript%3Ewindow.hit%3D1%3C%2Fscript%3E&sender=mallory", "/page/connect?name=mallory",
])  # fmt: skip
def test_no_view_is_harmed(browser: Browser, post: tuple[House, list[str]], path: str) -> None:
    with looking(browser, post[0].url) as lookout:
        lookout.go(path)
        expect(lookout.page.locator("#line")).to_have_text("Live")
        check(lookout.page)


def test_conversations_are_read_live_and_by_travelling(browser: Browser, post: tuple[House, list[str]]) -> None:
    """What scripts put into the page goes the same safe way as what the server renders."""
    house, _ = post
    with looking(browser, house.url) as lookout:
        page = lookout.go("/page/mail?of=victim-1")
        expect(page.locator("#line")).to_have_text("Live")
        for number in range(0, page.locator(".row").count(), 5):
            page.locator(".row").nth(number).click()
            expect(page.locator(".letter").first).to_be_visible()
            check(page)
        for letter in LETTERS[::9]:
            house.town.call("mallory", "POST", "/messages/send", {"to": "victim-1", **letter, "subject": "Now live"})
        page.locator(".row").filter(has_text="Now live").click()
        expect(page.locator(".letter")).to_have_count(min(20, len(LETTERS[::9])))
        house.town.call(
            "mallory", "POST", "/messages/send", {"to": "victim-1", "subject": "Now live", "content": hostile.TEXTS["svg onload"]}
        )
        expect(page.locator(".letter").last).to_contain_text("<svg onload")
        check(page)


def test_a_click_on_an_unlawful_link_is_no_link_at_all(browser: Browser, post: tuple[House, list[str]]) -> None:
    house, ids = post
    with looking(browser, house.url) as lookout:
        for letter, id in zip(LETTERS, ids, strict=True):
            if str(letter["subject"]).startswith("link javascript"):
                page = lookout.go(f"/page/letter/{id}")
                for word in page.locator(".words").get_by_text("click").all():
                    word.click()
                check(page)
                assert page.url.endswith(id)


def test_a_huge_letter_is_cut_and_can_be_read_whole(browser: Browser, post: tuple[House, list[str]]) -> None:
    house, ids = post
    huge = ids[[letter["subject"] for letter in LETTERS].index("huge")]
    with looking(browser, house.url) as lookout:
        page = lookout.go(f"/page/letter/{huge}")
        expect(page.locator(".cut")).to_contain_text("more characters")
        assert len(page.content()) < 200_000
        answer = page.goto(f"/page/letter/{huge}/text")
        assert answer is not None
        assert answer.headers["content-type"] == "text/plain; charset=utf-8"
        assert len(answer.text()) == len(hostile.TEXTS["huge"])
