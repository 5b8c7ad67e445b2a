"""Bad input at every verb has its own error code; nothing a caller says is the office's fault."""

import inspect
import string
from collections.abc import AsyncIterator, Awaitable
from typing import Any

import pytest

from postoffice.core.errors import Invalid, LeaseLost, MailError, NotFound, error_tree
from postoffice.core.message import Draft
from postoffice.core.task import TaskState
from postoffice.office import PostOffice
from tests.engines import Engine
from tests.mail import ask, office_with, people, take, write
from tests.office.bad_calls import BAD_CALLS, CANNOT_BE_WRONG, NAMES_OF_THINGS, NUMBERS, Scene

CALLERS_FAULT = (Invalid, NotFound, LeaseLost)


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
    def test_every_verb_is_in_the_table(self) -> None:
        verbs = {name for name, member in inspect.getmembers(PostOffice, inspect.isfunction) if not name.startswith("_")}
        assert {verb for verb, calls in BAD_CALLS.items() if calls} | CANNOT_BE_WRONG == verbs

    @pytest.mark.parametrize("verb", [verb for verb, calls in BAD_CALLS.items() if calls])
    async def test_a_bad_call_is_refused_with_its_own_code(self, scene: Scene, verb: str) -> None:
        expected = [code for code, _ in BAD_CALLS[verb]]
        assert [await code_of(call(scene)) for _, call in BAD_CALLS[verb]] == expected

    @pytest.mark.parametrize("bad", ["a\x00b", "a\ud800b"], ids=["U+0000", "lone surrogate"])
    @pytest.mark.parametrize("verb", list(NAMES_OF_THINGS))
    async def test_text_that_cannot_name_anything_is_the_callers_fault(self, scene: Scene, verb: str, bad: str) -> None:
        refused = await refusal(NAMES_OF_THINGS[verb](scene, bad))
        assert refused is None or isinstance(refused, CALLERS_FAULT)

    @pytest.mark.parametrize("number", [2**63, -(2**200)], ids=["just too large", "far too small"])
    @pytest.mark.parametrize("verb", list(NUMBERS))
    async def test_a_number_out_of_range_is_the_callers_fault(self, scene: Scene, verb: str, number: int) -> None:
        refused = await refusal(NUMBERS[verb](scene, number))
        assert refused is None or isinstance(refused, CALLERS_FAULT)

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


def subclasses(cls: type[MailError]) -> list[type[MailError]]:
    return [cls, *(found for child in cls.__subclasses__() for found in subclasses(child))]


class TestErrorTree:
    def test_every_error_has_a_code_of_its_own(self) -> None:
        classes = set(subclasses(MailError))
        assert set(error_tree().values()) == classes
        assert len({cls.code for cls in classes}) == len(classes)

    @pytest.mark.parametrize("cls", list(error_tree().values()), ids=lambda cls: cls.code)
    def test_every_errors_docstring_is_its_message(self, cls: type[MailError]) -> None:
        assert "__doc__" in vars(cls)
        fields = {name for _, name, _, _ in string.Formatter().parse(cls.__doc__ or "") if name}
        message = str(cls(**dict.fromkeys(fields, "<fact>")))
        assert message
        assert "{" not in message
        assert message.count("<fact>") >= len(fields)

    @pytest.mark.parametrize("cls", list(error_tree().values()), ids=lambda cls: cls.code)
    def test_every_code_is_the_classs_name_in_small_letters(self, cls: type[MailError]) -> None:
        assert cls.code.replace("_", "") == cls.__name__.lower()
