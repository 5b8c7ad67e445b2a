"""Bad input at every verb has its own error code; nothing a caller says is the office's fault."""

import inspect
from collections.abc import AsyncIterator, Awaitable
from typing import Any

import pytest

from postoffice.core.draft import Draft
from postoffice.core.errors import Invalid, LeaseLost, MailError, NotFound, NotParticipant, Unidentified
from postoffice.core.task import TaskState
from tests.engines import Engine
from tests.mail import ask, office_with, people, take, write
from tests.office.bad_calls import BAD_CALLS, CANNOT_BE_WRONG, NAMES_OF_THINGS, NUMBERS, Scene

CALLERS_FAULT = (Invalid, NotFound, NotParticipant, LeaseLost, Unidentified)


@pytest.fixture
async def scene(engine: Engine) -> AsyncIterator[Scene]:
    async with office_with(engine) as office:
        alice, bob, eve = await people(office, "alice", "bob", "eve")
        sent = await write(office, alice, "bob", "leased")
        leased = await take(office, bob)
        waiting = await write(office, alice, "bob", "waiting")
        asked = await ask(office, alice, "bob")
        await office.update_task(bob, asked.message_id, TaskState.COMPLETED)
        assert sent.session_id is not None
        yield Scene(office, alice, bob, eve, office.owner(), leased, waiting.message_id, sent.session_id, asked.message_id)


async def refusal(call: Awaitable[Any]) -> MailError | None:
    """The error that a call was refused with."""
    try:
        await call
    except MailError as error:
        return error
    return None


async def code_of(call: Awaitable[Any]) -> str:
    refused = await refusal(call)
    return "accepted" if refused is None else refused.code


class TestEveryVerb:
    def test_every_verb_is_in_the_table(self, scene: Scene) -> None:
        parts = {f"{name}.": getattr(scene.office, name) for name in ("ledger", "foreign", "lending", "invites", "machines")}
        kinds = {"": scene.office, **parts}
        verbs = {of + name for of, kind in kinds.items() for name, _ in inspect.getmembers(kind, inspect.ismethod) if name[0] != "_"}
        assert {verb for verb, calls in BAD_CALLS.items() if calls} | CANNOT_BE_WRONG == verbs

    async def test_a_bad_call_is_refused_with_its_own_code(self, scene: Scene) -> None:
        for verb, calls in BAD_CALLS.items():
            expected = [(verb, code) for code, _ in calls]
            assert [(verb, await code_of(call(scene))) for _, call in calls] == expected

    @pytest.mark.parametrize("bad", ["a\x00b", "a\ud800b"], ids=["U+0000", "lone surrogate"])
    async def test_text_that_cannot_name_anything_is_the_callers_fault(self, scene: Scene, bad: str) -> None:
        told = {verb: await refusal(call(scene, bad)) for verb, call in NAMES_OF_THINGS.items()}
        assert {verb: error for verb, error in told.items() if error is not None and not isinstance(error, CALLERS_FAULT)} == {}

    @pytest.mark.parametrize("number", [2**63, -(2**200)], ids=["just too large", "far too small"])
    async def test_a_number_out_of_range_is_the_callers_fault(self, scene: Scene, number: int) -> None:
        told = {verb: await refusal(call(scene, number)) for verb, call in NUMBERS.items()}
        assert {verb: error for verb, error in told.items() if error is not None and not isinstance(error, CALLERS_FAULT)} == {}

    async def test_each_of_many_messages_is_accepted_or_refused_by_itself(self, scene: Scene) -> None:
        drafts = [Draft(to="bob", content="x"), Draft(to="a b", content="x"), Draft(to="bob", content="y")]
        first, second, third = await scene.office.send_many(scene.alice, drafts)
        assert isinstance(second, MailError)
        assert (second.code, isinstance(first, Exception), isinstance(third, Exception)) == ("bad_name", False, False)

    async def test_a_bad_call_changes_nothing(self, scene: Scene) -> None:
        before = await scene.office.totals()
        for calls in BAD_CALLS.values():
            for _, call in calls:
                await code_of(call(scene))
        after = await scene.office.totals()
        assert (after.agents, after.counted, after.pending, after.leased, after.dead) == (
            before.agents,
            before.counted,
            before.pending,
            before.leased,
            before.dead,
        )
