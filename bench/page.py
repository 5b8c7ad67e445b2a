"""How soon a person sees something: first paint of the page's views in a real browser, with many agents and much mail."""

import asyncio
import itertools
from pathlib import Path
from statistics import median

import msgspec
from playwright.sync_api import Browser, sync_playwright
from tools.browser import ABSENT, FLAGS, ensure

from bench.clients import run
from bench.house import our_house
from bench.plan import BODY, Plan
from bench.scratch import progress, scratch
from postoffice.acts.upkeep.indexing import IndexSearch
from postoffice.core.agent import Caller
from postoffice.core.draft import Draft
from postoffice.core.message import TASK
from postoffice.office import PostOffice
from postoffice.store.sqlite.engine import SQLite
from postoffice.store.store import Store
from postoffice.wake.local import LocalWake

_AT_ONCE = 1_000
_LEFT = 100
"""Letters left waiting in each mailbox; the rest has been read."""
_SUBJECTS = 7
_LOOK = 20  # milliseconds
_PAINT = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime"


class Paint(msgspec.Struct, frozen=True):
    """One view's first paint over several loads, each with an empty cache."""

    view: str
    agents: int
    messages: int
    p50_millis: float
    worst_millis: float
    kilobytes: float
    """Of the view's own HTML."""


def measure_page(plan: Plan) -> list[Paint]:
    """Fill an office, serve it, and look at it."""
    path = ensure(windows=True)
    if path is None:
        raise RuntimeError(ABSENT)
    with scratch() as folder:
        (folder / "page").mkdir()
        thread = run(_fill(folder / "page" / "mailbox.db", plan))
        views = {
            "a line of text (floor)": "/health",
            "overview": "/",
            "everyone's mail": "/page/mail",
            "one mailbox": "/page/mail?of=agent-7",
            "a thread": f"/page/thread/{thread}",
            "search": "/page/search?q=flaky",
            "tasks": "/page/tasks",
            "traffic": "/page/traffic?span=week",
        }
        with our_house("page", folder) as house, sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
            url = f"http://127.0.0.1:{house.port}"
            _paint(browser, url, "/")  # what only the first look of all costs
            return [_measure(browser, url, view, address, plan) for view, address in views.items()]


def _measure(browser: Browser, url: str, view: str, address: str, plan: Plan) -> Paint:
    progress(f"looking at {view}")
    painted = [_paint(browser, url, address) for _ in range(plan.looks)]
    times = [millis for millis, _ in painted]
    return Paint(view, plan.agents, plan.letters, median(times), max(times), painted[-1][1] / 1000)


def _paint(browser: Browser, url: str, address: str) -> tuple[float, int]:
    context = browser.new_context(viewport={"width": 1360, "height": 880})
    try:
        page = context.new_page()
        answer = page.goto(url + address, wait_until="load")
        if answer is None or not answer.ok:
            message = f"{address} could not be looked at"
            raise RuntimeError(message)
        # Not by waiting for a function: the page's policy forbids to make one out of text.
        while not (painted := page.evaluate(_PAINT)):
            page.wait_for_timeout(_LOOK)
        return float(painted), len(answer.body())
    finally:
        context.close()


async def _fill(path: Path, plan: Plan) -> str:
    """Send for real, but without waiting for the disk: it is thrown away afterwards."""
    progress(f"filling an office with {plan.agents} agents and {plan.letters:,} letters")
    names = [f"agent-{number}" for number in range(plan.agents)]
    async with PostOffice(Store(SQLite(path, synchronous="OFF")), LocalWake()) as office:
        agents = [await office.identify(name=name) for name in names]
        for agent in agents:
            await office.update_card(agent, {"description": f"{agent.name} does its part", "capabilities": ["python", "review"]})
        pairs = itertools.cycle(itertools.product(range(1, plan.agents), range(plan.agents)))
        sent = 0
        accepted = None
        while sent < plan.letters:
            drafts: list[tuple[Caller, Draft]] = []
            for distance, sender in itertools.islice(pairs, _AT_ONCE):
                to = names[(sender + distance) % plan.agents]
                kind = TASK if (sent + len(drafts)) % 1_000 == 0 else "message"
                drafts.append((agents[sender], Draft(to=to, subject=f"Matter {len(drafts) % _SUBJECTS}", content=BODY, type=kind)))
            *_, accepted = await asyncio.gather(*(office.send(sender, draft) for sender, draft in drafts))
            sent += len(drafts)
            await asyncio.gather(*(_read(office, agent) for agent in agents))
        assert accepted is not None
        await office.store.do(IndexSearch(10**6))
        return str(accepted.session_id)


async def _read(office: PostOffice, agent: Caller) -> None:
    waiting = (await office.counts(agent)).pending
    if waiting > _LEFT:
        await office.pop(agent, min(waiting - _LEFT, 100))
