"""Mail for minds: what a model does that sees nothing but the seven tools, and what it is told."""

import asyncio
import re
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from postoffice.core.limits import Limits
from postoffice.core.tokens import about_tokens
from postoffice.store.reads import search
from tests.doors.served import Served, serving
from tests.engines import Engine, SQLiteEngine
from tests.mcp.calling import MODERN, PATIENCE, join

HEAD = re.compile(r"^=== [0-9a-f]{12} message (\S+) from ([^\s,]+)(?: \((not verified|verified)\))?(.*) ===$", re.MULTILINE)
DONE = "is done; its sender sees that it was read, and gets no letter."
SENT = re.compile(r"^Sent to (.+), as (\S+)\.$", re.MULTILINE)


class Mind:
    """One model at its address: it sees texts alone."""

    def __init__(self, http: httpx.AsyncClient, agent: str) -> None:
        self.http = http
        self._path = f"/mail/{agent}"

    async def _call(self, tool: str, arguments: dict[str, Any]) -> tuple[str, bool]:
        asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}
        result = (await self.http.post(self._path, json=asked, headers={"Accept": "application/json"})).json()["result"]
        assert result.keys() == {"content", "isError"}
        return result["content"][0]["text"], result["isError"]

    async def say(self, tool: str, **arguments: Any) -> str:
        said, is_error = await self._call(tool, arguments)
        assert not is_error, said
        return said

    async def refused(self, tool: str, **arguments: Any) -> str:
        said, is_error = await self._call(tool, arguments)
        assert is_error, said
        return said

    async def send(self, to: str, text: str, **fields: Any) -> str:
        """Send, and the id it was told."""
        match = SENT.search(said := await self.say("mail_send", to=to, text=text, **fields))
        assert match is not None, said
        return match[2]


def ids(said: str) -> list[str]:
    return [match[1] for match in HEAD.finditer(said)]


@pytest.fixture
async def http(served: Served) -> AsyncIterator[httpx.AsyncClient]:
    async with served.client() as opened:
        yield opened


@pytest.fixture
def alice(http: httpx.AsyncClient) -> Mind:
    return Mind(http, "alice")


@pytest.fixture
def bob(http: httpx.AsyncClient) -> Mind:
    return Mind(http, "bob")


@pytest.fixture
def carol(http: httpx.AsyncClient) -> Mind:
    return Mind(http, "carol")


class TestGetting:
    async def test_what_is_new_comes_urgent_and_oldest_first(self, alice: Mind, bob: Mind) -> None:
        assert await bob.say("mail_get") == "No new mail."
        sent = [await alice.send("bob", text) for text in "ab"]
        urgent = await alice.send("bob", "c", urgent=True)
        said = await bob.say("mail_get", limit=2)
        assert said.startswith("New: 2 messages, yours for 30 min; 1 more waits.\n")
        assert ids(said) == [urgent, sent[0]]
        assert ids(await bob.say("mail_get"))[-1] == sent[1]

    async def test_what_is_still_held_is_shown_first_and_what_was_forgotten_is_not_lost(
        self, alice: Mind, bob: Mind, engine: Engine
    ) -> None:
        letter = await alice.send("bob", "Do not forget me", subject="Lunch")
        await bob.say("mail_get")
        said = await bob.say("mail_get")
        assert said.startswith("You still hold 1 message:\n")
        assert "yours for 30 min" in said
        assert "Do not forget me" in said
        assert "\nNo new mail.\n" in said
        await engine.advance(timedelta(minutes=31))
        said = await bob.say("mail_get")
        assert said.startswith("New: 1 message")
        assert "delivery 2" in HEAD.findall(said)[0][3]
        assert ids(said) == [letter]

    async def test_a_late_done_counts_while_nobody_else_has_it(self, alice: Mind, bob: Mind, engine: Engine) -> None:
        letter = await alice.send("bob", "Slowly")
        await bob.say("mail_get")
        await engine.advance(timedelta(hours=3))
        assert await bob.say("mail_done", ids=[letter]) == f"{letter} {DONE}"
        assert await bob.say("mail_get") == "No new mail."

    async def test_any_call_about_a_message_keeps_it_longer(self, alice: Mind, bob: Mind, engine: Engine) -> None:
        letter = await alice.send("bob", "Slowly")
        await bob.say("mail_get")
        for _ in range(3):
            await engine.advance(timedelta(minutes=20))
            await bob.say("mail_find", id=letter)
        assert (await bob.say("mail_get")).startswith("You still hold 1 message")

    async def test_waiting_in_vain_says_so(self, bob: Mind) -> None:
        assert await bob.say("mail_get", wait_seconds=1) == "No new mail came in 1 s."
        assert "240" in await bob.refused("mail_get", wait_seconds=241)

    async def test_the_text_says_who_when_to_whom_and_by_when(self, alice: Mind, bob: Mind, carol: Mind, served: Served) -> None:
        await alice.send("bob, carol", "Both of you", urgent=True)
        (head,) = HEAD.findall(await bob.say("mail_get"))
        assert head[1:3] == ("alice", "not verified")
        assert head[3] == ", just now, to bob, carol, urgent"
        async with served.client(name="alice") as http:
            task = {"to": "carol", "type": "task", "content": "Paint", "task": {"deadline": "2999-01-01T00:00:00Z"}}
            assert (await http.post("/messages/send", json=task)).status_code == 201
        assert re.search(r"task pending, due in \d+ d", HEAD.findall(await carol.say("mail_get"))[-1][3])


class TestSizes:
    async def test_one_answer_is_as_much_as_a_model_can_read_and_the_rest_waits_untried(self, alice: Mind, bob: Mind) -> None:
        for number in range(4):
            await alice.send("bob", f"{number}: " + "five words are said here. " * 500)
        first = await bob.say("mail_get", limit=10)
        assert about_tokens(first) <= 8_500
        assert first.startswith("New: 2 messages, yours for 30 min; 2 more wait.")
        await bob.say("mail_done", ids=ids(first))
        rest = await bob.say("mail_get", limit=10)
        assert [head[3] for head in HEAD.findall(rest)] == [", just now"] * 2, "no delivery was counted for what did not fit"

    async def test_a_letter_that_is_too_long_is_read_in_parts(self, alice: Mind, bob: Mind) -> None:
        words = [f"word-{number}" for number in range(9_000)]
        letter = await alice.send("bob", " ".join(words))
        said, part, read = await bob.say("mail_get"), 1, ""
        while True:
            assert about_tokens(said) <= 8_500
            read += said.split("\n\n", 1)[1].split("\n===", 1)[0]
            part += 1
            if f'mail_find(id="{letter}#{part}")' not in said:
                break
            said = await bob.say("mail_find", id=f"{letter}#{part}")
        assert read.split() == words
        assert part > 3

    async def test_a_hidden_character_costs_what_it_is_shown_as(self, alice: Mind, bob: Mind) -> None:
        await alice.send("bob", "\u202e" * 9_000)
        assert len(await bob.say("mail_get")) < 60_000


class TestAnswering:
    async def test_a_reply_needs_no_address_and_is_done_with_what_it_answers(self, alice: Mind, bob: Mind) -> None:
        question = await alice.send("bob", "Noon?", subject="Lunch")
        await bob.say("mail_get")
        said = await bob.say("mail_send", reply_to=question, text="Yes")
        assert said.startswith("Sent to alice, as ")
        assert f"\n{question}, which it answers, is done." in said
        assert await bob.say("mail_get") == "No new mail."
        answer = await alice.say("mail_get")
        assert f"answers {question}" in HEAD.findall(answer)[0][3]
        assert "\nsubject: Lunch\n" in answer
        assert "bob: read and answered just now" in await alice.say("mail_find", id=question)

    async def test_can_be_waited_for_alone(self, alice: Mind, bob: Mind, carol: Mind) -> None:
        question, other = await alice.send("bob", "Noon?", subject="Lunch"), await alice.send("bob", "One?", subject="Lunch")
        await carol.send("alice", "Something else")
        said = await alice.say("mail_get", wait_seconds=1, answer_to=question)
        assert said == (
            f'No answer to {question} came in 1 s. bob: not read yet, nobody has been here under that name yet.\nNext: go on with other work; mail_get(answer_to="{question}") later.\n'
            "Other mail: 1 waits; mail_get() shows it."
        )
        waits = asyncio.create_task(alice.say("mail_get", wait_seconds=60, answer_to=question))
        await bob.say("mail_send", reply_to=other, text="Two")
        await bob.say("mail_send", reply_to=question, text="Yes")
        said = await asyncio.wait_for(waits, PATIENCE)
        assert [(head[1], f"answers {question}" in head[3]) for head in HEAD.findall(said)] == [("bob", True)]
        answer = ids(said)[0]
        assert said.splitlines()[-2:] == [
            f'Next: mail_done(ids=["{answer}"]) if that settles it.',
            "Other mail: 2 wait; mail_get() shows it.",
        ]
        await alice.say("mail_get")
        said = await alice.say("mail_get", wait_seconds=60, answer_to=question)
        assert said.startswith(f"Answer to {question}:\n")
        assert ids(said) == [answer], "what else is held is none of its business"
        assert "Other mail: you hold 2 others; mail_get() shows it." in said
        assert "not a message you sent" in await bob.refused("mail_get", answer_to=question)

    async def test_two_that_wait_for_each_other_are_told_at_once_whose_question_is_open(self, alice: Mind, bob: Mind) -> None:
        one, other = await alice.send("bob", "Your plan?"), await bob.send("alice", "Your plan?")
        async with asyncio.timeout(PATIENCE):
            hers, his = await asyncio.gather(
                alice.refused("mail_get", wait_seconds=200, answer_to=one), bob.refused("mail_get", wait_seconds=200, answer_to=other)
            )
        for said, question, asker in ((hers, other, "bob"), (his, one, "alice")):
            assert all(name in said for name in ("alice", "bob"))
            assert f"{asker} waits for your answer to {question}: mail_get() takes it." in said
            assert said.endswith("[deadlock]")
        answered = await alice.say("mail_send", reply_to=other, text="Paint")
        assert "Next:" not in answered, "a reply needs no answer"
        assert ids(await bob.say("mail_get", answer_to=other)) != []

    async def test_whoever_waits_for_one_answer_waits_for_no_other_mail(self, alice: Mind, bob: Mind, carol: Mind) -> None:
        question = await alice.send("bob", "Noon?")
        waits = asyncio.create_task(alice.say("mail_get", wait_seconds=60, answer_to=question))
        await asyncio.sleep(0.5)
        assert "alice: waits for one answer, and takes other mail after that." in await carol.say("mail_send", to="alice", text="Hi")
        await bob.say("mail_send", reply_to=question, text="Yes")
        await asyncio.wait_for(waits, PATIENCE)

    async def test_to_what_nobody_knows_is_refused_and_says_how_to_find_it(self, alice: Mind) -> None:
        assert "mail_find" in await alice.refused("mail_send", reply_to="nope", text="Yes")
        assert "'to'" in await alice.refused("mail_send", text="Yes") or "to is" in await alice.refused("mail_send", text="Yes")


class TestWhatToDoNext:
    async def test_waits_only_where_somebody_can_take_it(self, alice: Mind, bob: Mind) -> None:
        said = await alice.say("mail_send", to="bob", text="Noon?")
        assert re.search(
            r'^Next: go on with other work, nobody can take it now; mail_get\(answer_to="\S+"\) later shows the answer\.$',
            said,
            re.MULTILINE,
        )
        waits = asyncio.create_task(bob.say("mail_get", wait_seconds=60, answer_to=await bob.send("alice", "And you?")))
        await asyncio.sleep(0.3)
        said = await alice.say("mail_send", to="bob", text="Noon!", task=True)
        assert re.search(r'^Next: mail_get\(wait_seconds=…, answer_to="\S+"\) waits for the result\.$', said, re.MULTILINE)
        waits.cancel()
        said = await alice.say("mail_send", to="owner", text="Ship?", ask={})
        assert re.search(
            r'^Next: go on with other work, it stays open; mail_get\(answer_to="\S+"\) later shows the answer\.$', said, re.MULTILINE
        )

    async def test_after_a_report_that_a_task_goes_on_is_to_wait_for_its_end(self, alice: Mind, bob: Mind) -> None:
        task = await alice.send("bob", "Paint", task=True)
        await bob.say("mail_get")
        await bob.say("task_update", id=task, state="working", text="Begun")
        said = await alice.say("mail_get", answer_to=task)
        assert "Begun" in said
        assert f'mail_get(answer_to="{task}") waits for the result' in said
        waits = asyncio.create_task(alice.say("mail_get", wait_seconds=60, answer_to=task))
        await asyncio.sleep(0.3)
        assert not waits.done(), "what it holds is no answer"
        await bob.say("task_update", id=task, state="done", text="Green")
        assert "Green" in await asyncio.wait_for(waits, PATIENCE)
        assert len(ids(await alice.say("mail_get"))) == 2


class TestPassingOn:
    async def test_a_forward_says_whose_words_it_carries_and_keeps_them_beside_a_comment(self, alice: Mind, bob: Mind, carol: Mind) -> None:
        letter = await alice.send("bob", "The key is under the mat", subject="Keys")
        await bob.say("mail_get")
        await bob.say("mail_send", to="carol", forward=letter)
        await bob.say("mail_done", ids=[letter])
        said = await carol.say("mail_get")
        assert HEAD.findall(said)[0][1] == "bob"
        assert "forwards what alice (not verified) wrote" in HEAD.findall(said)[0][3]
        assert "\nsubject: Keys\n\nThe key is under the mat\n" in said
        await bob.say("mail_send", to="dora", text="Mind this", forward=letter)
        dora = Mind(bob.http, "dora")
        said = await dora.say("mail_get")
        assert said.index("Mind this") < said.index("alice wrote:") < said.index("The key is under the mat")
        assert "dora" in await bob.refused("mail_send", to="dora", forward=letter)


class TestBeingDone:
    async def test_for_now(self, alice: Mind, bob: Mind, engine: Engine) -> None:
        letter = await alice.send("bob", "Later, please")
        await bob.say("mail_get")
        assert (
            await bob.say("mail_done", ids=[letter], later_minutes=10)
            == f"{letter} comes again in 10 min, unless mail_done ends it before."
        )
        assert await bob.say("mail_get") == "No new mail."
        await engine.advance(timedelta(minutes=11))
        assert HEAD.findall(await bob.say("mail_get"))[0][3].startswith(", ")
        await bob.say("mail_done", ids=[letter], later_minutes=10)
        assert await bob.say("mail_done", ids=[letter]) == f"{letter} {DONE}", "also before it comes again"
        await engine.advance(timedelta(minutes=11))
        assert await bob.say("mail_get") == "No new mail."

    async def test_by_refusing_tells_the_sender_why_behind_a_fence(self, alice: Mind, bob: Mind) -> None:
        letter = await alice.send("bob", "Rob the bank", subject="Job")
        await bob.say("mail_get")
        assert await bob.say("mail_done", ids=letter, reason="I will not.") == f"{letter} is refused; its sender is told."
        notice = await alice.say("mail_get")
        assert HEAD.findall(notice)[0][1] == "system"
        assert "I will not." in notice
        assert f"answers {letter}" in HEAD.findall(notice)[0][3]

    async def test_with_nothing_named_is_refused(self, bob: Mind) -> None:
        assert "mail_get" in await bob.refused("mail_done", ids=[])

    async def test_says_of_each_what_became_of_it(self, alice: Mind, bob: Mind) -> None:
        letter = await alice.send("bob", "One")
        await bob.say("mail_get")
        second, first = (await bob.say("mail_done", ids=["none", letter])).split("\n")
        assert first.startswith("none: ")
        assert second == f"{letter} {DONE}"

    async def test_with_many_is_told_in_one_line(self, alice: Mind, bob: Mind) -> None:
        letters = [await alice.send("bob", f"{n} {'painted ' * 30}") for n in range(8)]
        await bob.say("mail_get")
        said = await bob.say("mail_get")
        assert len(HEAD.findall(said)) == 8
        assert said.count("painted") < 8 * 14, "of much that is held only what it is about is shown again"
        assert (
            await bob.say("mail_done", ids=letters[:4], later_minutes=5)
            == "4 messages come again in 5 min, unless mail_done ends them before."
        )
        assert "you put it off, it comes again in" in await bob.say("mail_find", id=letters[0])
        said = await bob.say("mail_done", ids=[*letters[4:], "none"])
        assert said.startswith("4 messages are done; their senders see that, and get no letter.\nnone: ")


class TestTasks:
    async def test_from_asking_to_the_end(self, alice: Mind, bob: Mind) -> None:
        task = await alice.send("bob", "Paint the shed", task=True)
        assert f'task_update(id="{task}"' in await bob.say("mail_get")
        assert await bob.say("task_update", id=task, state="in_progress", text="At it") == f"Task {task} is working; alice is told."
        assert "still working, which is all that its sender hears: task_update" in await bob.say("mail_done", ids=[task])
        said = await bob.say("mail_get")
        assert f"Tasks you have not finished: {task} from alice (working)." in said, "what is forgotten is found again"
        assert await bob.say("task_update", id=task, state="done", text="Green.") == f"Task {task} is completed; alice is told."
        assert await bob.say("mail_get") == "No new mail."
        said = await alice.say("mail_find", id=task)
        assert "task completed, you sent it" in said
        assert "words of bob ===\nGreen.\n" in said, "the result is found with the task"

    async def test_work_that_belongs_to_other_work_says_so_and_its_end_is_told(self, alice: Mind, bob: Mind, carol: Mind) -> None:
        shed = await alice.send("bob", "The shed", task={})
        paint = await alice.send("bob", "Paint it", task={"parent": shed, "blocked_by": []})
        photo = await alice.send("carol", "Take a photo", task={"parent": shed, "blocked_by": [paint]})
        (facts,) = [head[3] for head in HEAD.findall(await carol.say("mail_get")) if head[0] == photo]
        assert ", task pending, part of " in facts
        assert ", to be done after " in facts
        said = await carol.say("task_update", id=photo, state="working", text="Soon", percent=10)
        assert said == f"Task {photo} is working; alice is told. It still waits for bob."
        assert "task working, 10 %" in await alice.say("mail_get")
        assert (await bob.say("task_update", id=shed, state="completed")).endswith("is told. 2 of its parts are not over.")
        assert "2 of its parts not over" in await alice.say("mail_get")
        await bob.say("task_update", id=paint, state="failed", text="No paint")
        assert "waited for is over. Not completed: " in await carol.say("mail_get")
        said = await alice.refused("mail_send", to="bob", text="More", task={"parent": "0000-none"})
        assert said.endswith("[no_such_task]")

    async def test_whoever_gave_one_takes_it_back_and_whoever_has_it_is_told(self, alice: Mind, bob: Mind, carol: Mind) -> None:
        task, begun = await alice.send("bob", "Paint the shed", task=True), await alice.send("carol", "Sing", task=True)
        assert await alice.say("task_update", id=task, state="canceled") == f"{task} is canceled; bob had not taken it."
        assert await bob.say("mail_get") == "No new mail."
        assert "canceled, nobody had taken it" in await alice.say("mail_find", id=task)
        await carol.say("mail_get")
        said = await alice.say("task_update", id=begun, state="cancelled", text="Dave sings already")
        assert said == f"{begun} is canceled; carol, who had taken it, is told."
        said = await carol.say("mail_get")
        assert "task canceled" in HEAD.findall(said)[1][3]
        assert "Dave sings already" in said
        assert "canceled already" in await carol.refused("task_update", id=begun, state="completed", text="La")
        letter = await alice.send("bob", "Never mind")
        assert await alice.say("task_update", id=letter, state="canceled") == f"{letter} is canceled; bob had not taken it."

    async def test_only_whoever_gave_one_cancels_it(self, alice: Mind, bob: Mind) -> None:
        task = await alice.send("bob", "Paint the shed", task=True)
        await bob.say("mail_get")
        assert "was asked for by alice, who alone cancels it" in await bob.refused("task_update", id=task, state="canceled")

    async def test_one_that_is_refused_ends_as_a_task(self, alice: Mind, bob: Mind) -> None:
        task = await alice.send("bob", "Paint the shed", task=True)
        await bob.say("mail_get")
        assert await bob.say("mail_done", ids=[task], reason="No paint") == f"{task} is rejected; its sender is told."
        said = await alice.say("mail_get")
        assert "task rejected" in HEAD.findall(said)[0][3]
        assert "No paint" in said


class TestFinding:
    async def test_by_words_by_agent_by_both_and_by_nothing(self, alice: Mind, bob: Mind, carol: Mind) -> None:
        lunch = await alice.send("bob", "Shall we have soup at noon?", subject="Lunch")
        tea = await carol.send("alice", "Tea at four")
        assert ids(await alice.say("mail_find", words="when was lunch with the soup?")) == [lunch]
        assert ids(await alice.say("mail_find", **{"with": "carol"})) == [tea]
        assert ids(await alice.say("mail_find", **{"with": "bob", "words": "tea"})) == []
        assert ids(await alice.say("mail_find")) == [tea, lunch]
        assert "Nothing found" in await bob.say("mail_find", words="tea")

    async def test_what_fits_best_comes_first_also_of_one_agent(self, alice: Mind, bob: Mind) -> None:
        best = await alice.send("bob", "The deploy of Tuesday")
        rest = [await (alice if n % 2 else bob).send("bob" if n % 2 else "alice", f"deploy {n}") for n in range(12)]
        said = await alice.say("mail_find", words="deploy tuesday", **{"with": "bob"})
        assert ids(said) == [best, *reversed(rest[3:])]
        assert "There is more" in said

    async def test_an_agent_is_found_however_much_others_write(
        self, alice: Mind, bob: Mind, carol: Mind, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(search, "_MESSAGES_READ", 1)
        tea = await carol.send("alice", "Tea at four")
        for n in range(8):
            await bob.send("dave", str(n))
        assert ids(await alice.say("mail_find", **{"with": "carol"})) == [tea]
        assert "look further back" in await alice.say("mail_find", words="from:carol")
        assert ids(await alice.say("mail_find", words="tea from:carol")) == [tea]

    async def test_tells_whether_what_was_sent_was_read(self, alice: Mind, bob: Mind, carol: Mind) -> None:
        letter = await alice.send("bob, carol", "Read me")
        assert "read by 0 of 2" in await alice.say("mail_find")
        await bob.say("mail_get")
        await carol.say("mail_get")
        await carol.say("mail_done", ids=[letter])
        said = await alice.say("mail_find", id=letter)
        assert "\nbob: taken just now, not done yet.\ncarol: read and done just now." in said
        assert "bob" not in await carol.say("mail_find", id=letter) or "bob: " not in await carol.say("mail_find", id=letter)


class TestPeople:
    async def test_a_slip_in_a_name_is_told_with_the_name_that_may_be_meant_and_can_be_taken_back(self, alice: Mind, carol: Mind) -> None:
        await carol.send("alice", "I am here")
        said = await alice.say("mail_send", to="carrol", text="Hello")
        assert "Nobody called carrol has been here yet; the message waits for its first call. Did you mean carol?" in said
        undo = re.search(r'task_update\(id="(\S+)", state="canceled"\)', said)
        assert undo is not None
        assert "is canceled" in await alice.say("task_update", id=undo[1], state="canceled")

    async def test_who_is_here(self, alice: Mind, bob: Mind, served: Served) -> None:
        await join(served, "keyed", "*")
        await bob.send("alice", "Hello")
        said = await alice.say("mail_agents")
        assert "alice: you." in said.splitlines()
        assert re.search(r"^bob: \S", said, re.MULTILINE)
        assert re.search(r"^keyed: \S", said, re.MULTILINE)

    async def test_consent_by_a_code(self, vault: Served) -> None:
        keys = {name: await join(vault, name) for name in ("alice", "bob")}
        async with vault.client(key=keys["alice"]) as one, vault.client(key=keys["bob"]) as other:
            alice, bob = Mind(one, "alice"), Mind(other, "bob")
            said = await alice.refused("mail_send", to="bob", text="Hello")
            assert said.startswith('Not sent and not kept: bob takes mail only after consent. Next: mail_connect(agent="bob")')
            assert said.endswith("[not_admitted]")
            code = re.search(r"[A-Z]{2}-\d{3}", await alice.say("mail_connect", agent="bob"))
            assert code is not None
            assert "alice asks to connect" in await bob.say("mail_connect")
            assert "Connected with alice" in await bob.say("mail_connect", code=code[0])
            assert await bob.say("mail_connect") == "Connected with alice."
            await alice.send("bob", "Hello")


async def test_a_mind_is_told_the_loop_when_it_comes(desk: Served) -> None:
    meta = {"io.modelcontextprotocol/protocolVersion": MODERN, "io.modelcontextprotocol/clientCapabilities": {}}
    hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "somebody", "version": "1"}}
    greetings: dict[str, tuple[dict[str, str], dict[str, Any]]] = {
        "initialize": ({}, hello),
        "server/discover": ({"mcp-protocol-version": MODERN, "mcp-method": "server/discover"}, {"_meta": meta}),
    }
    async with desk.client() as http:
        for method, (headers, params) in greetings.items():
            told = {}
            for path in ("/mail/bob", "/agents/bob/mcp", "/mcp", "/mcp?tools=inbox"):
                asked = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
                answer = await http.post(path, json=asked, headers={"accept": "application/json, text/event-stream"} | headers)
                told[path] = answer.json()["result"]["instructions"]
                assert "It is data" in told[path]
            tools = ("mail_get", "check_mail", "mailbox_receive", "mailbox_check")
            assert [[tool in said for tool in tools] for said in told.values()] == [[n == m for n in range(4)] for m in range(4)]


async def test_a_lease_is_no_longer_than_the_settings_allow(tmp_path: Path) -> None:
    limits = Limits(visibility_most=timedelta(minutes=10))
    async with serving(SQLiteEngine(tmp_path), limits=limits) as served, served.client() as http:
        await Mind(http, "alice").send("bob", "Quick")
        assert "yours for 10 min" in await Mind(http, "bob").say("mail_get")
