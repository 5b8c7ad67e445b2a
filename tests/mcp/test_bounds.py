"""What one answer costs a model at most, whichever tool it calls: what does not fit waits untried, and no message is lost."""

import re
from typing import Any

import pytest

from postoffice.core.tokens import about_tokens
from tests.doors.served import Served
from tests.mail import people, write
from tests.mcp.calling import call, client, told

MOST_TOKENS = 8_500
PAGE = "five words are said here. " * 500
BOOK = " ".join(f"word-{number}" for number in range(9_000))
HEAD = re.compile(r"^=== [0-9a-f]{12} message (\S+) from ", re.MULTILINE)
ALL = "/agents/bob/mcp?tools=all"


def ids(said: str) -> list[str]:
    return HEAD.findall(said)


@pytest.mark.parametrize("tool", ["mailbox_receive", "mailbox_wait"])
async def test_what_the_queue_gives_is_as_much_as_a_model_can_read(served: Served, tool: str) -> None:
    (alice,) = await people(served.office, "alice")
    for _ in range(5):
        await write(served.office, alice, "bob", PAGE)
    async with client(served, "/agents/bob/mcp?tools=queue", model=True) as bob:
        first = await told(bob, tool, limit=5)
        assert about_tokens(first) <= MOST_TOKENS
        assert re.match(r"2 messages, yours for \d+ s; 3 more wait\. To ack: ", first)
        short = ids(first)
        assert all(4 <= len(id) < 10 for id in short), "messages are called by short ids"
        assert re.search(r"To ack: (.+)", first)[1].split(", ") == short  # type: ignore[index]
        acked = await told(bob, "mailbox_ack", message_id=short)
        assert acked.count("acked") == 2
        rest = await told(bob, tool, limit=5)
        assert len(ids(rest)) == 2
        assert "delivery" not in rest, "what did not fit was not tried"


async def test_programs_get_all_they_asked_for_with_whole_ids(served: Served) -> None:
    (alice,) = await people(served.office, "alice")
    for _ in range(5):
        await write(served.office, alice, "bob", PAGE)
    async with client(served, "/agents/bob/mcp?tools=queue") as bob:
        mail = (await call(bob, "mailbox_receive", limit=5))["messages"]
        assert [(len(one["id"]), len(one["content"])) for one in mail] == [(36, len(PAGE))] * 5


@pytest.mark.parametrize("tool", ["mailbox_receive", "check_mail"])
async def test_a_long_letter_is_read_on_also_where_the_tool_for_it_is_not_listed(served: Served, tool: str) -> None:
    (alice,) = await people(served.office, "alice")
    await write(served.office, alice, "bob", BOOK)
    async with client(served, "/agents/bob/mcp?tools=fifo,queue", model=True) as bob:
        said, part, read = await told(bob, tool), 1, ""
        assert "where it is not listed, POST" in said
        while True:
            assert about_tokens(said) <= MOST_TOKENS
            read += said.split("\n\n", 1)[1].split("\n===", 1)[0]
            part += 1
            following = re.search(rf'mail_find\(id="(\S+#{part})"\)', said)
            if following is None:
                break
            said = await told(bob, "mail_find", id=following[1])
        assert read.split() == BOOK.split()
        assert part > 3


async def test_what_of_a_conversation_does_not_fit_is_not_read(served: Served) -> None:
    alice, bob = await people(served.office, "alice", "bob")
    for number in range(4):
        await write(served.office, alice, "bob", f"{number}: {PAGE}")
    (thread,) = (await served.office.inbox(bob)).items
    async with client(served, ALL, model=True) as reader:
        said = await told(reader, "mailbox_read", session_id=thread.id)
        assert about_tokens(said) <= MOST_TOKENS
        assert [int(said) for said in re.findall(r"^(\d): five", said, re.MULTILINE)] == [3, 2]
        assert (await served.office.counts(bob)).pending == 2
        before = re.search(r'before="(\S+)"\)\.$', said)
        assert before is not None, said
        rest = await told(reader, "mailbox_read", session_id=thread.id, before=before[1])
        assert re.findall(r"^(\d): five", rest, re.MULTILINE) == ["1", "0"]
        assert "There is more" not in rest
        assert (await served.office.counts(bob)).pending == 0


async def test_lists_are_bounded(served: Served) -> None:
    words = "a card of many words. " * 90
    for number in range(60):
        name = f"agent-{number}-{'abcdefghijkl'[number % 12] * 3}"
        caller = await served.office.identify(name=name)
        await served.office.update_card(caller, {"description": words})
        await write(served.office, caller, "bob", PAGE, subject=f"{number} {'topic ' * 40}", type="task" if number % 2 else "message")
    async with client(served, ALL, model=True) as bob:
        calls: dict[str, dict[str, Any]] = {
            "mailbox_check": {},
            "mailbox_search": {"query": "five", "limit": 100},
            "mailbox_tasks": {},
            "mailbox_agents": {},
            "mail_agents": {},
            "mail_find": {"words": "five"},
        }
        for tool, arguments in calls.items():
            said = await told(bob, tool, **arguments)
            assert 500 < about_tokens(said) <= MOST_TOKENS, (tool, about_tokens(said))
    office = served.office
    sent = await write(office, await office.identify(name="alice"), "ALL", "To everyone")
    async with client(served, "/agents/alice/mcp?tools=all", model=True) as alice:
        said = await told(alice, "mailbox_status", message_id=sent.message_id)
        assert about_tokens(said) <= MOST_TOKENS
        assert "more recipients." in said


async def test_what_a_model_has_sent_is_called_by_a_short_id_too(served: Served) -> None:
    async with client(served, "/agents/alice/mcp?tools=all", model=True) as alice:
        sent = re.match(r"Sent: id ([0-9a-f]{4,8}), session ", await told(alice, "mailbox_send", to="bob", content="Hello"))
        assert sent is not None
        assert (await told(alice, "mailbox_status", message_id=sent[1])).startswith(f"{sent[1]}:\nbob: pending")
        task = re.match(r"Sent: id (\S+),", await told(alice, "mailbox_send", to="bob", content="Paint", type="task"))
        assert task is not None
        assert await told(alice, "mailbox_task_update", task_id=task[1], state="canceled") == f"Task {task[1]} is canceled."
