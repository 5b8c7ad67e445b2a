"""Whatever anybody writes in Markdown or puts on the ledger: it does nothing on the page, and stops nobody's topic."""

import asyncio
import json
import tempfile
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from postoffice.doors.page.markdown import markdown
from tests.chaos.form import either
from tests.chaos.hostile import VALUES, WORDS
from tests.engines import SQLiteEngine
from tests.ledger.emulator import running_emulator
from tests.ledger.house import town

TEXTS, ROUNDS = either(300, 50_000), either(3, 200)
FRAGMENTS = st.sampled_from(
    [
        *("<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "<svg/onload=x>", "<a href='x' style='y'>", "<!--", "]]>"),
        *("[a](javascript:alert(1))", "[a](JaVaScRiPt&colon;alert(1))", "[a](data:text/html,x)", "[a][b]\n\n[b]: vbscript:x"),
        *("![a](http://h/p)", "<http://h>", "&lt;script&gt;", "&#x3c;", "\\<", "\t", "\u202e", "\0"),
        *("`", "```html\n", "| a | b |\n|--|--|\n", "> ", "- [ ] x\n", "\n\n", "***", "[", "](", "!["),
    ]
)
TEXT = st.lists(st.one_of(FRAGMENTS, st.text(max_size=12)), max_size=12).map("".join)
ALLOWED = {
    "a": {"href", "target", "rel"},
    "pre": {"class", "tabindex"},
    "span": {"class"},
    "table": {"tabindex"},
    "input": {"type", "disabled", "checked"},
}
LEADS = ("http:", "https:", "mailto:")


class Seen(HTMLParser):
    """What a browser would make of it."""

    def __init__(self) -> None:
        super().__init__()
        self.wrong: list[object] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in (
            "script",
            "style",
            "img",
            "iframe",
            "form",
            "svg",
            "object",
            "link",
            "meta",
            "base",
            "math",
            "video",
            "audio",
            "template",
        ):
            self.wrong.append(tag)
        for name, value in attrs:
            if name not in ALLOWED.get(tag, set()) or (name == "href" and not (value or "").lower().startswith(LEADS)):
                self.wrong.append((tag, name, value))

    def handle_comment(self, data: str) -> None:
        self.wrong.append(data)


@settings(max_examples=TEXTS, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(TEXT)
def test_markdown_makes_nothing_that_runs_loads_or_leads_astray(text: str) -> None:
    seen = Seen()
    seen.feed(str(markdown(text)))
    seen.close()
    assert seen.wrong == []


BODIES = st.fixed_dictionaries(
    {},
    optional={
        "message_type": st.one_of(st.sampled_from(["message", "task", "task_update", "notice", "x.note", "fyi"]), VALUES),
        **dict.fromkeys(("id", "hash", "subject", "content", "parts", "payload", "context", "priority", "ref_id", "ref_type"), VALUES),
    },
)
OPERATIONS = st.fixed_dictionaries(
    {"p": st.one_of(st.just("hcs-10"), WORDS)},
    optional={
        "op": st.one_of(st.sampled_from(["message", "connection_request", "connection_created", "close_connection"]), VALUES),
        "operator_id": st.one_of(st.just("OWN"), VALUES),
        "data": st.one_of(BODIES, BODIES.map(json.dumps), VALUES),
        **dict.fromkeys(("ts", "m", "connection_id", "connection_topic_id", "connected_account_id", "reason"), VALUES),
    },
)
PLANTED = st.one_of(
    OPERATIONS.map(lambda value: json.dumps(value).encode()), VALUES.map(lambda value: json.dumps(value).encode()), st.binary()
)


@settings(max_examples=ROUNDS, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(st.lists(PLANTED, min_size=10, max_size=40))
@example(
    [json.dumps({"p": "hcs-10", "op": "message", "operator_id": "OWN", "data": {"message_type": "fyi", "priority": 10**400}}).encode()]
)
def test_whatever_is_put_on_a_topic_is_recorded_and_stops_nothing(bodies: list[bytes]) -> None:
    asyncio.run(_through(bodies))


async def _through(bodies: list[bytes]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        async with running_emulator() as ledger, town(SQLiteEngine(Path(folder)), ledger) as at:
            await at.settle("quinn", "mindy")
            topic = at.accounts["mindy"].inbound_topic_id
            own: Any = at.accounts["quinn"].operator_id
            for body in bodies:
                ledger.plant(topic, body.replace(b'"OWN"', json.dumps(own).encode()))
            at.plant("mindy", "quinn", "whole")
            await at.records(topic, len(bodies) + 1)
            assert "whole" in [found.content for found in await at.waiting("mindy")]
