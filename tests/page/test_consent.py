"""Consent where keys are required: the code that a person passed on is typed in, and a wrong one harms nothing that was written."""

import json
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from tests.page.conftest import looking
from tests.page.house import House, opened
from tests.page.lookout import Lookout
from tests.page.test_login import visit


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """An office that requires keys, with three agents who may not write to each other."""
    with opened(tmp_path_factory.mktemp("guarded"), "--auth", "keys") as house:
        for name in ("alice", "bob", "carol"):
            house.run("register", name)
        yield house


@pytest.fixture
def out(browser: Browser, guarded: House) -> Iterator[Lookout]:
    with looking(browser, guarded.url) as lookout:
        yield lookout


def code_of(house: House, who: str, target: str) -> str:
    """What alice's person tells bob's."""
    return str(json.loads(house.run("connect", target, "--as", who))["verification_code"])


def test_a_wrong_code_says_what_is_wrong_and_keeps_what_was_typed(out: Lookout, guarded: House) -> None:
    code = code_of(guarded, "alice", "bob")
    visit(out, guarded, "bob")
    page = out.page
    page.get_by_role("link", name="Enter the code").click()
    field = page.get_by_label("The code that alice's person gave you")
    field.fill("ZZ-000")
    field.press("Enter")
    told = page.locator(".request .problem")
    expect(told).to_contain_text("code")
    expect(field).to_have_value("ZZ-000")
    code_of(guarded, "carol", "bob")  # what comes meanwhile takes neither away
    expect(page.locator(".request")).to_have_count(2)
    expect(field).to_have_value("ZZ-000")
    expect(told).to_be_visible()
    field.fill(code.lower())
    field.press("Enter")
    expect(page.locator(".said")).to_contain_text("Approved")
    expect(page.locator("#active")).to_contain_text("alice")
