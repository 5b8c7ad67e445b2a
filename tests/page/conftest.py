"""What the page's tests share: a real browser, a real server, and a look-out for what must never happen."""

import functools
import inspect
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import pytest
from playwright.sync_api import Browser, BrowserContext, Playwright, expect, sync_playwright
from tools.browser import ABSENT, FLAGS, find

from tests.page.house import House, opened
from tests.page.lookout import Lookout

PATIENCE = 30_000
"""Milliseconds: far above what the page takes for anything, and far below forever."""
expect.set_options(timeout=PATIENCE)


_started = ExitStack()


@functools.cache
def _playwright() -> Playwright:
    return _started.enter_context(sync_playwright())


@functools.cache
def _browser() -> Browser:
    path = find()
    if path is None:
        (pytest.fail if os.environ.get("CI") else pytest.skip)(ABSENT)
    launched = _playwright().chromium.launch(executable_path=path, args=FLAGS)
    _started.callback(launched.close)
    return launched


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> Iterator[None]:
    """While Playwright runs, its event loop is this thread's: it ends before a test that needs one of its own, and is else started once."""
    yield
    if not isinstance(nextitem, pytest.Function) or nextitem.path.parent != item.path.parent or inspect.iscoroutinefunction(nextitem.obj):
        _started.close()
        _playwright.cache_clear()
        _browser.cache_clear()


@pytest.fixture(scope="module")
def playwright() -> Playwright:
    return _playwright()


@pytest.fixture(scope="module")
def browser() -> Browser:
    return _browser()


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
