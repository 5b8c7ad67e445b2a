"""A window that notices what must never happen: dialogs, scripts that fail, policy violations, calls to elsewhere."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import BrowserContext, ConsoleMessage, Dialog, Locator, Page, Request, Route

_HARMLESS = (
    "the server responded with a status of",
    "net::ERR_CONNECTION_REFUSED",
    "net::ERR_INCOMPLETE_CHUNKED",
    "net::ERR_EMPTY_RESPONSE",
)
_VIOLATIONS = """
addEventListener("securitypolicyviolation", (e) => console.error(`VIOLATION ${e.violatedDirective} ${e.blockedURI} ${e.sample}`));
"""


class Lookout:
    """One window, and what went wrong in it."""

    def __init__(self, context: BrowserContext, url: str) -> None:
        self.problems: list[str] = []
        self.context = context
        self._url = url
        context.add_init_script(_VIOLATIONS)
        context.on("request", self._left)
        context.on("dialog", self._asked)
        context.on("console", self._said)
        context.on("weberror", lambda error: self.problems.append(f"script: {error.error}"))
        self.page: Page = context.new_page()

    def go(self, path: str) -> Page:
        """Look at an address of the office."""
        self.page.goto(path)
        return self.page

    def _left(self, request: Request) -> None:
        if not request.url.startswith((f"{self._url}/", "data:", "blob:")):
            self.problems.append(f"left: {request.url}")

    def _asked(self, dialog: Dialog) -> None:
        self.problems.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def _said(self, message: ConsoleMessage) -> None:
        if message.type == "error" and not any(word in message.text for word in _HARMLESS):
            self.problems.append(f"console: {message.text}")


@contextmanager
def hold(page: Page, path: str) -> Iterator[list[Route]]:
    """Keep the next request for such an address, which is made meanwhile, until somebody lets it go on or lose its way."""
    held: list[Route] = []

    def keep(route: Route) -> None:
        held.append(route)

    page.route(re.compile(path), keep, times=1)
    yield held
    while not held:
        page.wait_for_timeout(5)


def click_twice(button: Locator) -> None:
    """As an impatient hand does without scripts: the office hears the first click, and the browser shows what the second is answered."""
    form = button.locator("xpath=ancestor::form")
    fields: dict[str, str | float | bool] = {
        str(field.get_attribute("name")): field.input_value() for field in form.locator("input[type=hidden]").all()
    }
    if (name := button.get_attribute("name")) is not None:
        fields[name] = button.get_attribute("value") or ""
    address = form.get_attribute("action") or ""
    answer = button.page.request.post(address, form=fields, headers={"Sec-Fetch-Site": "same-origin"}, max_redirects=0)
    assert answer.status in (200, 303)
    button.click()
