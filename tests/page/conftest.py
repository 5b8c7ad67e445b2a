"""What the page's tests share: a real browser, a real server, and a look-out for what must never happen."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, BrowserContext, Playwright, expect, sync_playwright
from tools.browser import ABSENT, FLAGS, find

from tests.page.house import House, opened
from tests.page.lookout import Lookout

PATIENCE = 30_000
"""Milliseconds: far above what the page takes for anything, and far below forever."""
expect.set_options(timeout=PATIENCE)


# For each file anew: while it runs, Playwright's event loop is this thread's, and no other test could have one.
@pytest.fixture(scope="module")
def playwright() -> Iterator[Playwright]:
    with sync_playwright() as started:
        yield started


@pytest.fixture(scope="module")
def browser(playwright: Playwright) -> Iterator[Browser]:
    path = find()
    if path is None:
        (pytest.fail if os.environ.get("CI") else pytest.skip)(ABSENT)
    launched = playwright.chromium.launch(executable_path=path, args=FLAGS)
    yield launched
    launched.close()


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """An open office with a small town in it."""
    with opened(tmp_path_factory.mktemp("house")) as running:
        running.town.populate()
        yield running


@pytest.fixture
def lookout(browser: Browser, house: House) -> Iterator[Lookout]:
    """A window on the office that fails the test if anything escapes: a dialog, a refusal by policy, a call to elsewhere."""
    with looking(browser, house.url) as out:
        yield out


@contextmanager
def looking(browser: Browser, url: str, **options: object) -> Iterator[Lookout]:
    """The same, on any office and in any kind of window."""
    context: BrowserContext = browser.new_context(base_url=url, **options)  # type: ignore[arg-type]  # Playwright's own names
    context.set_default_timeout(PATIENCE)
    out = Lookout(context, url)
    try:
        yield out
        assert out.problems == []
    finally:
        context.close()
