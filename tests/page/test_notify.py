"""The settings say where the owner is told away from the browser, and a link opens one question on the phone."""

import json
import re
from collections.abc import Iterator

import httpx
import pytest
from playwright.sync_api import Browser, expect

from tests.notify.told import json_at, token_in, wait
from tests.page.conftest import looking
from tests.page.house import House, opened
from tests.page.test_views import SCREENS, clean
from tests.webhooks.receiver import Receiver, receiving

PUBLIC = "https://mail.example.com"
ZONE = "Asia/Tokyo"


@pytest.fixture(scope="module")
def receiver() -> Iterator[Receiver]:
    with receiving() as found:
        yield found


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """An office that requires keys, and reaches addresses on this machine."""
    folder = tmp_path_factory.mktemp("told")
    (folder / "postoffice.toml").write_text(f'webhook_networks = ["127.0.0.0/8"]\npublic_url = "{PUBLIC}"\nnotify_pause = 0\n')
    with opened(folder, "--auth", "keys") as house:
        house.run("register", "coder", "--allow", "*")
        yield house


def as_coder(house: House, **body: object) -> str:
    answer = httpx.post(
        f"{house.url}/messages/send", json={"to": "owner", **body}, headers={"X-API-Key": key_of(house)}, timeout=30, trust_env=False
    )
    assert answer.is_success, answer.text
    return str(answer.json()["message_id"])


def key_of(house: House) -> str:
    (found,) = re.findall(r"amb_[0-9a-f]{64}", "".join(path.read_text() for path in (house.folder / "keys").rglob("*") if path.is_file()))
    return str(found)


def test_an_address_is_added_tried_and_removed_and_a_link_answers_and_is_taken_back(
    browser: Browser, told: House, receiver: Receiver
) -> None:
    SCREENS.mkdir(parents=True, exist_ok=True)
    with looking(browser, told.url, timezone_id=ZONE) as out:
        page = out.page
        page.goto(str(json.loads(told.run("login", "--as", "owner"))["page"]))
        page.goto("/page/settings")
        page.get_by_label("What you call it").fill("phone")
        page.get_by_label("Address").fill(json_at(receiver) + "?token=SECRET")
        page.get_by_label("questions to me").last.check()
        page.get_by_label("from", exact=True).fill("03:00")
        page.get_by_label("until", exact=True).fill("03:01")
        page.get_by_label("Trust it").check()
        page.get_by_role("button", name="Add").click()
        row = page.locator(".told > li", has_text="phone")
        expect(row).to_contain_text(f"JSON · questions to me · quiet 03:00-03:01 {ZONE} · its links need no login")
        assert "SECRET" not in page.content()
        row.get_by_role("button", name="Try it").click()
        expect(page.locator(".said")).to_have_text("Told. Look there.")
        assert receiver.taken[0].told["title"] == "Postoffice"
        as_coder(
            told,
            subject="Release",
            content="Ship **1.4** today?\n\n- [x] tests\n- [ ] notes",
            ask={"choices": ["ship it", "wait until Monday"]},
        )
        wait(receiver, 2)
        page.reload()
        clean(out, "notify")
        path = f"/page/answer/{token_in(receiver)}"
        with looking(browser, told.url) as phone:
            phone.go(path)
            clean(phone, "answer-link")
            expect(phone.page.get_by_role("heading", level=1)).to_have_text("Release")
            assert phone.page.locator("nav").count() == 0, "it opens nothing else"
            phone.page.get_by_role("button", name="ship it").click()
            expect(phone.page.locator(".outcome")).to_contain_text("Answered by owner")
            clean(phone, "answer-link-answered")
            page.get_by_role("button", name="Take back").click()
            expect(page.locator(".told-link")).to_have_count(0)
            answer = phone.page.goto(path)
            assert answer is not None
            assert answer.status == 404
        page.get_by_role("button", name="Remove phone").click()
        expect(page.locator(".told")).to_have_count(0)


@pytest.mark.parametrize("scripts", [True, False])
def test_without_trust_a_link_asks_for_a_login_first(browser: Browser, told: House, receiver: Receiver, *, scripts: bool) -> None:
    name = f"desk{int(scripts)}"
    told.run("notify", "add", name, json_at(receiver), "--as", "owner", "--kind", "question")
    before = len(receiver.taken)
    as_coder(told, subject="Which?", content="This or that?", ask={"choices": ["this", "that"]})
    wait(receiver, before + 1)
    with looking(browser, told.url, java_script_enabled=scripts) as out:
        out.go(f"/page/answer/{token_in(receiver)}")
        expect(out.page.get_by_role("heading", level=1)).to_have_text("Come in")
        assert "This or that" not in out.page.content()
        code = json.loads(told.run("login", "--as", "owner"))["page"].partition("#")[2]
        out.page.get_by_label("Or paste the code").fill(code)
        out.page.get_by_role("button", name="Come in").click()
        expect(out.page.get_by_role("heading", level=1)).to_have_text("Which?")
        out.page.get_by_role("button", name="that").click()
        expect(out.page.locator(".outcome")).to_contain_text("Answered by owner")
    told.run("notify", "remove", name, "--as", "owner")


def test_an_agents_own_visit_says_nothing_of_addresses(browser: Browser, told: House) -> None:
    with looking(browser, told.url) as out:
        out.page.goto(str(json.loads(told.run("login", "--as", "coder"))["page"]))
        out.page.goto("/page/settings")
        expect(out.page.get_by_role("heading", name="Tell me away from the browser")).to_have_count(0)
        refused = out.page.request.post(
            "/page/settings/notify", form={"name": "x", "address": "json://x"}, headers={"Sec-Fetch-Site": "same-origin"}
        )
        assert refused.status == 403
