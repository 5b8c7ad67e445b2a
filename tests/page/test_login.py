"""The way in where keys are required: a link that works once, for the owner or for one agent's view."""

import json
import os
import pty
import re
import sqlite3
import subprocess
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser, Route, expect

from tests.page.conftest import looking
from tests.page.house import House, opened
from tests.page.lookout import Lookout, click_twice
from tests.page.test_views import SCREENS, shut_out
from tests.serve.running import COMMAND, PATIENCE, environment, free_port


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """An office that requires keys, with three agents that have written to each other."""
    with opened(tmp_path_factory.mktemp("guarded"), "--auth", "keys", "--log-level", "debug") as house:
        for name in ("alice", "bob", "carol"):
            house.run("register", name, "--allow", "*")
        for sender, to, subject in (
            ("alice", "bob", "For bob"),
            ("bob", "carol", "Secret of bob and carol"),
            ("carol", "alice", "For alice"),
        ):
            house.run("send", "--to", to, "--subject", subject, f"{subject}, from {sender}", "--as", sender)
        yield house


def link(house: House, who: str) -> str:
    return str(json.loads(house.run("login", "--as", who))["page"])


@pytest.fixture
def out(browser: Browser, guarded: House) -> Iterator[Lookout]:
    with looking(browser, guarded.url) as lookout:
        yield lookout


def visit(lookout: Lookout, house: House, who: str) -> None:
    lookout.page.goto(link(house, who))
    expect(lookout.page.get_by_role("heading", level=1)).to_have_text("For you")


def test_strangers_are_shown_the_way_in(out: Lookout, guarded: House) -> None:
    for path in ("/", "/page/mail", "/page/thread/x", "/page/connect"):
        answer = out.page.goto(path)
        assert answer is not None
        assert answer.status == 401
        expect(out.page.get_by_role("heading", level=1)).to_have_text("Come in")
        assert "alice" not in out.page.content()
    assert shut_out(out) == []
    out.page.screenshot(path=SCREENS / "login-light.png")
    assert httpx.get(f"{guarded.url}/page/news", timeout=PATIENCE).status_code == 401


def test_the_owners_link_opens_everything_once(out: Lookout, guarded: House, browser: Browser) -> None:
    address = link(guarded, "owner")
    assert address.startswith(f"{guarded.url}/page/login#")
    out.page.goto(address)
    expect(out.page.locator(".who")).to_contain_text("You are the owner")
    assert "#" not in out.page.url
    expect(out.go("/page/overview").locator("tr").filter(has_text="carol")).to_be_visible()
    (cookie,) = out.context.cookies()
    assert (cookie["httpOnly"], cookie["sameSite"], cookie["path"], cookie["secure"]) == (True, "Strict", "/", False)
    assert out.page.evaluate("document.cookie") == ""
    with looking(browser, guarded.url) as other:
        other.page.goto(address)
        expect(other.page.get_by_role("alert")).to_contain_text("used already")
        assert other.context.cookies() == []


def test_a_link_that_is_too_old_opens_nothing(out: Lookout, guarded: House) -> None:
    address = link(guarded, "owner")
    kept = sqlite3.connect(guarded.folder / "kept" / "mailbox.db")
    with kept:
        kept.execute("UPDATE visits SET expires_at = 1 WHERE kind = 'link'")
    kept.close()
    out.page.goto(address)
    expect(out.page.get_by_role("alert")).to_contain_text("older than ten minutes")


def test_nobody_elses_link_signs_somebody_in_unasked(out: Lookout, guarded: House) -> None:
    visit(out, guarded, "owner")
    address = link(guarded, "alice")
    out.page.goto(address)
    expect(out.page.get_by_role("heading", level=1)).to_have_text("Go on as alice?")
    assert shut_out(out) == []
    out.page.get_by_role("link", name="Stay owner").click()
    expect(out.page.locator(".who")).to_contain_text("You are the owner")
    out.page.goto(address)  # it was not used up
    out.page.get_by_role("button", name="Go on as alice").click()
    expect(out.page.locator(".who")).to_contain_text("alice's view")


def test_a_new_link_of_ones_own_is_followed_without_a_question(out: Lookout, guarded: House) -> None:
    visit(out, guarded, "bob")
    visit(out, guarded, "bob")
    expect(out.page.locator(".who")).to_contain_text("bob's view")


def test_an_agents_view_is_its_own_mail_and_nobody_elses(out: Lookout, guarded: House, browser: Browser) -> None:
    with looking(browser, guarded.url) as owners:
        visit(owners, guarded, "owner")
        owners.go("/page/mail?of=bob")
        owners.page.locator(".row").filter(has_text="Secret").click()
        expect(owners.page.locator(".pane-head h1")).to_contain_text("Secret")
        secret = owners.page.url
        letter = owners.page.locator(".letter-when").first.get_attribute("href")
    visit(out, guarded, "alice")
    page = out.page
    expect(page.locator(".who")).to_contain_text("alice's view")
    expect(page.locator("#needs")).to_contain_text("For alice")
    assert "Secret" not in page.content()
    page.goto("/page/overview")
    expect(page.locator("#latest-letters")).to_contain_text("For alice")
    assert "Secret" not in page.content()
    page.screenshot(path=SCREENS / "agents-view-light.png")
    assert shut_out(out) == []
    refusals = {
        secret: 403,
        f"{guarded.url}{letter}": 404,
        "/page/mail?of=bob": 403,
        "/page/dead?of=bob": 403,
    }
    for path, status in refusals.items():
        answer = page.goto(path)
        assert answer is not None
        assert answer.status == status, path
        assert "from bob" not in page.content()
    for path in (
        "/page/mail",
        "/page/search?q=Secret",
        "/page/tasks",
        "/page/connections",
        "/page/dead",
        "/page/traffic",
        "/page/compose",
        "/page/connect",
    ):
        answer = page.goto(path)
        assert answer is not None
        assert answer.status == 200, path
        assert "Secret" not in page.locator("main").inner_text()
    page.goto("/page/palette?q=bob")
    page.get_by_role("link", name="bob").click()
    expect(page.locator(".to-chip")).to_contain_text("bob")
    page.goto("/page/mail")
    page.locator(".row").filter(has_text="For alice").click()
    page.get_by_label("Answer").fill("thank you, carol")
    page.get_by_role("button", name="Send").click()
    expect(page.locator(".letter").last).to_contain_text("thank you, carol")
    expect(page.locator(".letter").last.locator(".mark.ok")).to_be_visible()


def test_an_agents_view_is_live_and_hears_of_itself_only(out: Lookout, guarded: House) -> None:
    out.page.clock.install()
    visit(out, guarded, "alice")
    out.go("/page/mail")
    expect(out.page.locator("#line")).to_have_text("Live")
    guarded.run("send", "--to", "alice", "--subject", "News for alice", "quick", "--as", "bob")
    expect(out.page.locator(".row").filter(has_text="News for alice")).to_be_visible()
    out.page.clock.run_for(1_000)  # and it has looked at all that this was news to
    guarded.run("send", "--to", "bob", "--subject", "By alice's program", "no news to alice", "--as", "alice")
    out.page.clock.run_for(25_000)
    expect(out.page.locator(".row").filter(has_text="By alice's program")).to_be_visible()


def test_a_visit_ends_when_asked_and_when_the_key_is_revoked(out: Lookout, guarded: House) -> None:
    guarded.run("register", "dave")
    visit(out, guarded, "dave")
    (cookie,) = out.context.cookies()
    out.page.get_by_role("button", name="Leave").click()
    expect(out.page.get_by_role("heading", level=1)).to_have_text("Come in")
    out.context.add_cookies([{"name": cookie["name"], "value": cookie["value"], "url": guarded.url}])
    answer = out.page.goto("/")
    assert answer is not None
    assert answer.status == 401, "what proved the login proves nothing any more"
    visit(out, guarded, "dave")
    expect(out.page.locator("#line")).to_have_text("Live")
    guarded.run("key", "revoke", "--as", "dave")
    out.page.reload()
    expect(out.page.get_by_role("heading", level=1)).to_have_text("Come in")


def test_the_owner_takes_an_agents_key_back_after_a_question(browser: Browser, guarded: House) -> None:
    guarded.run("register", "dora", "--allow", "*")
    guarded.run("send", "--to", "alice", "--subject", "Once", "once", "--as", "dora")
    for scripts in (True, False):
        with looking(browser, guarded.url, java_script_enabled=scripts) as lookout:
            page = lookout.page
            if scripts:
                visit(lookout, guarded, "owner")
            else:
                page.goto("/page/login")
                page.get_by_label("Or paste the code").fill(link(guarded, "owner").partition("#")[2])
                page.get_by_role("button", name="Come in").click()
            page.goto("/page/mail?of=dora")
            if scripts:
                keys = page.locator(".keys-of li")
                expect(keys).to_have_count(1)
                assert shut_out(lookout) == []
                keys.locator("summary").click()
                expect(keys).to_contain_text("is shut out at once")
                keys.get_by_role("button", name="Take back").click()
            expect(page.locator(".card-of")).to_be_visible()
            expect(page.locator(".keys-of")).to_have_count(0)
    with pytest.raises(AssertionError):
        guarded.run("send", "--to", "alice", "--subject", "Again", "again", "--as", "dora")


def test_a_person_who_looks_with_an_agents_key_is_no_sign_of_life(guarded: House) -> None:
    guarded.run("register", "quiet-one", "--allow", "*")
    link(guarded, "quiet-one")
    (agent,) = (
        one
        for one in httpx.get(f"{guarded.url}/agents", headers={"Authorization": f"Bearer {guarded.owner_key}"}).json()["agents"]
        if one["name"] == "quiet-one"
    )
    assert (agent["presence"], agent["last_seen"]) == ("offline", None)


def test_a_code_can_be_pasted_without_scripts_and_leads_on(browser: Browser, guarded: House) -> None:
    with looking(browser, guarded.url, java_script_enabled=False) as lookout:
        lookout.go("/page/tasks")
        lookout.page.get_by_label("Or paste the code").fill(link(guarded, "alice").partition("#")[2])
        lookout.page.get_by_role("button", name="Come in").click()
        expect(lookout.page.get_by_role("heading", level=1)).to_have_text("Tasks")


def test_a_wrong_code_is_told_and_the_way_on_remembered(browser: Browser, guarded: House) -> None:
    for scripts in (True, False):
        with looking(browser, guarded.url, java_script_enabled=scripts) as lookout:
            page = lookout.go("/page/search?q=alice")
            for code in ("wrong", "wrong again"):
                page.get_by_label("Or paste the code").fill(code)
                page.get_by_role("button", name="Come in").click()
                expect(page.get_by_role("alert")).to_contain_text("used already")
            page.get_by_label("Or paste the code").fill(link(guarded, "alice").partition("#")[2])
            page.get_by_role("button", name="Come in").click()
            expect(page.get_by_label("Words")).to_have_value("alice")


def test_a_link_works_in_a_tab_that_is_at_the_login_page_already(out: Lookout, guarded: House) -> None:
    out.go("/page/login")
    visit(out, guarded, "alice")
    assert "#" not in out.page.url


def test_a_link_on_another_site_opens_for_whoever_is_in(browser: Browser, guarded: House) -> None:
    context = browser.new_context(base_url=guarded.url)
    letters = f'<a href="{guarded.url}/page/search?q=alice&amp;sender=carol#found">see what I found</a>'
    context.route("http://elsewhere.example/", lambda route: route.fulfill(content_type="text/html", body=letters))
    page = context.new_page()
    page.goto("http://elsewhere.example/")
    page.get_by_role("link").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Come in")
    expect(page.get_by_role("alert")).to_have_count(0)
    page.get_by_label("Or paste the code").fill(link(guarded, "alice").partition("#")[2])
    page.get_by_role("button", name="Come in").click()
    expect(page.get_by_label("Words")).to_have_value("alice")
    page.goto("http://elsewhere.example/")
    page.get_by_role("link").click()
    expect(page.get_by_label("Words")).to_have_value("alice")
    expect(page.locator("#found")).to_contain_text("For alice")
    context.close()


def test_a_place_in_a_page_is_not_taken_for_a_links_code(out: Lookout) -> None:
    page = out.go("/page/thread/x#latest")
    page.wait_for_load_state("networkidle")
    expect(page.get_by_role("heading", level=1)).to_have_text("Come in")
    expect(page.get_by_role("alert")).to_have_count(0)
    assert page.url.endswith("/page/thread/x#latest")


def end_the_visit(lookout: Lookout, house: House) -> None:
    """From elsewhere."""
    (cookie,) = lookout.context.cookies()
    said = {"Origin": house.url, "Cookie": f"{cookie['name']}={cookie['value']}"}
    assert httpx.post(f"{house.url}/page/logout", headers=said, timeout=PATIENCE).status_code == 303


def test_what_was_written_outlives_the_visit(out: Lookout, guarded: House) -> None:
    visit(out, guarded, "alice")
    page = out.go("/page/mail")
    page.locator(".row").first.click()
    page.get_by_label("Answer").fill("written for twenty minutes")
    expect(page.locator("#line")).to_have_text("Live")
    end_the_visit(out, guarded)
    page.get_by_role("button", name="Send").click()
    expect(page.get_by_role("alert")).to_contain_text("Your login is over")
    guarded.run("send", "--to", "alice", "--subject", "News for alice", "quick", "--as", "bob")
    expect(page.locator("#line")).to_have_text("Your login is over")
    other = out.context.new_page()
    other.goto(link(guarded, "alice"))
    expect(other.get_by_role("heading", level=1)).to_have_text("For you")
    page.get_by_role("button", name="Send").click()
    expect(page.locator(".letter").last).to_contain_text("written for twenty minutes")


def test_a_window_never_shows_ones_mail_under_anothers_name(out: Lookout, guarded: House) -> None:
    visit(out, guarded, "alice")
    mail, other = out.go("/page/mail"), out.context.new_page()
    expect(mail.locator("#line")).to_have_text("Live")
    other.goto("/page/tasks")
    writing = out.context.new_page()
    writing.goto("/page/compose?to=bob")
    writing.get_by_label("Message").fill("as alice")
    expect(writing.locator("#line")).to_have_text("Live")
    beside = out.context.new_page()
    beside.goto(link(guarded, "carol"))
    beside.get_by_role("button", name="Go on as carol").click()
    expect(beside.locator(".who")).to_contain_text("carol's view")
    guarded.run("send", "--to", "alice", "--subject", "To alice alone", "quick", "--as", "bob")
    expect(mail.locator(".who")).to_contain_text("carol's view")
    expect(mail.get_by_role("heading", level=1)).to_have_text("carol's mail")
    other.locator("#nav").get_by_role("link", name="Conversations").click()
    expect(other.get_by_role("heading", level=1)).to_have_text("carol's mail")
    expect(other.locator(".who")).to_contain_text("carol's view")
    expect(writing.locator("#line")).to_have_text("Your login is over")
    expect(writing.get_by_label("Message")).to_have_value("as alice")


def test_a_change_after_the_visit_leads_back_to_its_page(browser: Browser, guarded: House) -> None:
    with looking(browser, guarded.url, java_script_enabled=False) as lookout:
        page = lookout.go("/page/compose?to=bob")
        for _ in range(2):
            page.get_by_label("Or paste the code").fill(link(guarded, "alice").partition("#")[2])
            page.get_by_role("button", name="Come in").click()
            expect(page.get_by_label("To", exact=True)).to_have_value("bob")
            end_the_visit(lookout, guarded)
            page.get_by_label("Message").fill("too late")
            page.get_by_role("button", name="Send").click()
            expect(page.get_by_role("heading", level=1)).to_have_text("Come in")


def test_an_agent_is_registered_and_its_key_shown_once(out: Lookout, guarded: House) -> None:
    visit(out, guarded, "owner")
    page = out.go("/page/connect?name=erin&client=curl")
    page.get_by_label("What erin does").fill("paints")
    page.get_by_role("button", name="Register and show its key").click()
    key = page.locator(".secret code").inner_text()
    assert re.fullmatch(r"amb_[0-9a-f]{64}", key)
    expect(page.locator(".snippet")).to_contain_text("Bearer amb_")
    expect(page.locator("#light")).to_contain_text("Waiting for the first call of erin")
    with page.expect_request(lambda request: request.headers.get("x-fragment") == "light") as asked:
        pass
    assert "name=erin" in asked.value.url
    with out.context.expect_page() as opened_beside:
        page.get_by_role("link", name="Python").click()
    expect(opened_beside.value.locator(".snippet")).to_contain_text("erin")
    expect(page.locator(".secret code")).to_have_text(key)
    assert httpx.get(f"{guarded.url}/agents/me", headers={"X-API-Key": key}, timeout=PATIENCE).json()["description"] == "paints"
    page.goto("/page/connect?name=erin")
    assert key not in page.content()
    expect(page.locator("#light.lit")).to_contain_text("erin has called")


def test_a_key_whose_first_answer_was_lost_is_shown_all_the_same(out: Lookout, guarded: House) -> None:
    visit(out, guarded, "owner")
    page = out.go("/page/connect?name=greta")
    lost: list[Route] = []

    def hear_and_lose(route: Route) -> None:
        if route.request.method != "POST" or lost:
            return route.fallback()
        lost.append(route)
        route.fetch()
        return route.abort("connectionrefused")

    page.route(re.compile("/page/connect"), hear_and_lose)
    page.get_by_role("button", name="Register and show its key").click()
    expect(page.get_by_role("alert")).to_contain_text("it may have heard you or not")
    page.get_by_role("button", name="Register and show its key").click()
    key = page.locator(".secret code").inner_text()
    assert httpx.get(f"{guarded.url}/agents/me", headers={"X-API-Key": key}, timeout=PATIENCE).json()["name"] == "greta"
    page.goto("/page/connect?name=greta")
    assert key not in page.content()


def test_a_double_click_without_scripts_shows_the_key_that_was_made(browser: Browser, guarded: House) -> None:
    with looking(browser, guarded.url, java_script_enabled=False) as lookout:
        page = lookout.go("/page/connect?name=heidi")
        page.get_by_label("Or paste the code").fill(link(guarded, "owner").partition("#")[2])
        page.get_by_role("button", name="Come in").click()
        click_twice(page.get_by_role("button", name="Register and show its key"))
        key = page.locator(".secret code").inner_text()
        assert httpx.get(f"{guarded.url}/agents/me", headers={"X-API-Key": key}, timeout=PATIENCE).json()["name"] == "heidi"


def test_whoever_used_a_name_without_a_key_can_be_given_one(browser: Browser, tmp_path: Path) -> None:
    with opened(tmp_path) as house:
        house.town.call("frank", "GET", "/agents/me")
    with opened(tmp_path, "--auth", "keys") as house, looking(browser, house.url) as lookout:
        visit(lookout, house, "owner")
        page = lookout.go("/page/connect?name=frank")
        page.get_by_role("button", name="Register and show its key").click()
        key = page.locator(".secret code").inner_text()
        assert httpx.get(f"{house.url}/agents/me", headers={"X-API-Key": key}, timeout=PATIENCE).json()["name"] == "frank"
        page.goto("/page/connect?name=frank")
        expect(page.locator("main")).to_contain_text("frank is registered")


def test_only_a_proven_caller_gets_a_link(guarded: House) -> None:
    assert httpx.post(f"{guarded.url}/page/links", timeout=PATIENCE).status_code == 401
    assert httpx.post(f"{guarded.url}/page/links", headers={"X-API-Key": "amb_" + "0" * 64}, timeout=PATIENCE).status_code == 401


def test_no_code_ever_reaches_the_log(guarded: House, out: Lookout) -> None:
    address = link(guarded, "owner")
    out.page.goto(address)
    expect(out.page.get_by_role("heading", level=1)).to_have_text("For you")
    guarded.close()
    guarded.open()
    assert "/page/login" in guarded.log
    assert address.partition("#")[2] not in guarded.log
    (cookie,) = out.context.cookies()
    assert cookie["value"] not in guarded.log
    # A login outlives the process: it is the store's.
    expect(out.go("/").get_by_role("heading", level=1)).to_have_text("For you")


def test_serving_on_a_terminal_prints_a_link_that_works(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> None:
    port, folder = free_port(), tmp_path_factory.mktemp("terminal")
    ours, theirs = pty.openpty()
    words = [*COMMAND, "serve", "--port", str(port), "--data", "kept", "--auth", "keys"]
    process = subprocess.Popen(words, cwd=folder, env=environment(), stderr=theirs, stdout=subprocess.DEVNULL)
    os.close(theirs)
    try:
        said = ""
        while (found := re.search(r"http://127\.0\.0\.1:\d+/page/login#[\w-]+", said)) is None or "/docs" not in said:
            said += os.read(ours, 4096).decode()
        with looking(browser, f"http://127.0.0.1:{port}") as lookout:
            lookout.page.goto(found[0])
            expect(lookout.page.get_by_role("heading", level=1)).to_have_text("Welcome")
    finally:
        process.terminate()
        process.wait(PATIENCE)
        os.close(ours)
