"""Whatever anybody writes into a mailbox's files: it is a message or set aside with a reason, and nobody else is kept waiting."""

import asyncio
import json
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from postoffice.bridges.files.letters import another_id, to_draft, to_file, to_update
from postoffice.core.clock import moment
from postoffice.core.draft import check_draft
from postoffice.core.errors import MailError
from postoffice.core.limits import Limits
from postoffice.core.message import TASK_UPDATE, Message
from postoffice_files import MailboxManager
from tests.chaos.form import either
from tests.chaos.hostile import VALUES
from tests.doors.callers import Callers
from tests.doors.served import serving
from tests.engines import SQLiteEngine
from tests.files.agent import FileAgent, drop
from tests.files.waiting import arrived
from tests.proof.patience import until

EXAMPLES, CROWDS = either(60, 5_000), either(3, 200)
PARTS = st.lists(
    st.fixed_dictionaries({"type": st.sampled_from(["text", "data", "file", "odd"])}, optional={"text": VALUES, "data": VALUES})
)
TASKS = st.fixed_dictionaries(
    {},
    optional={
        "id": st.one_of(VALUES, st.just("t1")),
        "state": st.one_of(VALUES, st.sampled_from(["pending", "working", "completed", "failed"])),
        "deadline": st.one_of(
            VALUES, st.sampled_from(["0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59-23:59", "2026-01-01", "20260101T10"])
        ),
    },
)
TYPES = st.one_of(st.sampled_from(["message", "task", "task_update", "x.note"]), VALUES)
LETTERS = st.fixed_dictionaries(
    {"from": st.one_of(st.just("coder"), VALUES)},
    optional={
        "content": st.one_of(VALUES, st.fixed_dictionaries({"parts": st.one_of(PARTS, VALUES)})),
        "type": TYPES,
        "task": st.one_of(TASKS, VALUES),
        **dict.fromkeys(("id", "to", "timestamp", "ttl", "trace", "callback", "reply_to", "metadata", "payload", "automatic"), VALUES),
        **dict.fromkeys(("subject", "session_id", "correlation_id", "priority", "context", "ref_id", "ref_type", "message_id"), VALUES),
    },
)
RAW = st.one_of(LETTERS.map(lambda letter: json.dumps(letter).encode()), VALUES.map(lambda value: json.dumps(value).encode()), st.binary())
PLAIN = settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)


@PLAIN
@given(RAW)
def test_what_lies_in_an_inbox_is_read_or_set_aside(raw: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        mail = MailboxManager(root)
        mail.register("y")
        drop(root, "y", raw, "1745659200_x.msg.json")
        drop(root, "y", {"from": "x", "content": "whole"}, "1745659201_x.msg.json")
        (root / "y" / "inbox" / "1745659200_x.msg.json").touch()
        taken = mail.poll("y")
        assert "1745659201_x.msg.json" in {message["filename"] for message in taken}
        for message in taken:
            mail.mark_processed("y", message["filename"])
        left = list((root / "y" / "inbox").glob("*.msg.json"))
        aside = list((root / "y" / "bad").glob("*.reason.json"))
        assert len(taken) + len(left) + len(aside) == 2


@PLAIN
@given(LETTERS)
def test_what_a_file_says_is_a_draft_or_refused_and_comes_back_as_it_was(letter: dict[str, Any]) -> None:
    """Never a bug of ours: a file that met one would wait for ever."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        mail = MailboxManager(root)
        mail.register("y")
        drop(root, "y", json.dumps(letter).encode(), "1745659200_x.msg.json")
        for found in mail.poll("y"):
            try:
                draft = to_update(found)[2] if found["type"] == TASK_UPDATE else to_draft(found, "y")
                draft = check_draft(another_id(draft), Limits())
            except MailError:
                continue
            fields = {
                name: getattr(draft, name) for name in ("type", "content", "parts", "payload", "context", "metadata", "callback", "task")
            }
            message = Message(id="m", sender="x", to="y", created_at=moment(0), from_verified=False, **fields)
            mail.send("x", "y", to_file(message, None, None))


@settings(max_examples=CROWDS, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(st.lists(RAW, min_size=10, max_size=40))
@example([json.dumps({"from": "coder", "content": "x", "task": {"deadline": 5}, "type": "task"}).encode()])
def test_a_crowd_of_them_keeps_nobody_else_s_mail_from_the_office(crowd: list[bytes]) -> None:
    asyncio.run(_through(crowd))


async def _through(crowd: list[bytes]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder)
        root = here / "mailboxes"
        coder = FileAgent(root, "coder").join()
        async with serving(SQLiteEngine(here), files=root) as served, Callers(served) as callers:
            (alice, bob) = await callers.named("alice", "bob")
            for number, raw in enumerate(crowd):
                drop(root, "bob", raw, f"{1_745_659_200 + number}_x.msg.json")
            coder.send("alice", "whole")
            assert [letter["content"] for letter in await arrived(alice)] == ["whole"]
            # All of it is sent or set aside: what stays would be tried for ever.
            await until(lambda: not list((root / "bob" / "inbox").glob("*.msg.json")))
            assert bob is not None
