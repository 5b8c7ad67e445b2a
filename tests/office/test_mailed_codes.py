"""A code that stood in a letter to the one who approves proves no person's consent."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postoffice.core.agent import Caller
from postoffice.core.connection import Assurance, Connection, Handshake, Status, may_say_code, new_code, says_code
from postoffice.core.delivery import Refuse
from postoffice.core.draft import Draft
from postoffice.core.errors import CodeWasMailed, NoSuchCode
from postoffice.core.task import TaskState
from postoffice.office import PostOffice
from tests.engines import Engine
from tests.mail import member, office_with, people, take, write

FULL_WIDTH = str.maketrans({chr(code): chr(code + 0xFEE0) for code in range(0x21, 0x7F)})
ARABIC = str.maketrans("0123456789", "٠١٢٣٤٥٦٧٨٩")


def spellings(code: str) -> list[str]:
    letters, digits = code.split("-")
    return [
        code,
        code.lower(),
        f"the code is{letters}{digits}.",
        f"{letters} \u2013 {digits}",
        " ".join(code.replace("-", "")),
        f"{letters[0]}\u200b{letters[1]}\n{digits[0]}_{digits[1:]}",
        code.translate(FULL_WIDTH),
        code.translate(ARABIC),
        f"{letters[0]}\u0301{letters[1]}{digits}",
    ]


def letters_with(code: str) -> list[dict[str, Any]]:
    """Every place of a letter where somebody may write."""
    first, second = code.split("-")
    return [
        *({"content": said} for said in spellings(code)),
        {"subject": f"Re: {code}", "content": "see above"},
        {"payload": {"deep": [{"code": code}]}},
        {"payload": {"letters": first, "digits": int(f"1{second}") - 1000} if second[0] != "0" else {"both": [first, second]}},
        {"payload": {code: True}},
        {"parts": ({"type": "text", "text": first}, {"type": "text", "text": second})},
        {"parts": ({"type": "data", "data": {"x": code}},)},
        {"parts": ({"type": "file", "path": f"/tmp/{code}.txt"},)},
        {"content": "x", "context": {"why": code}},
        {"content": "x", "metadata": {"why": code}},
        {"content": "x", "correlation_id": code},
        {"content": "x", "client_id": code},
        {"content": "x", "type": f"{code}.note", "ref_id": "t", "ref_type": "task"},
    ]


@pytest.fixture
async def human(engine: Engine) -> AsyncIterator[PostOffice]:
    async with office_with(engine, handshake=Handshake.HUMAN) as office:
        yield office


async def three(office: PostOffice) -> tuple[Caller, Caller, Caller]:
    """Alice asks, bob approves, and eve may write to bob."""
    return await member(office, "alice", "*"), await member(office, "bob", "eve"), await member(office, "eve", "*")


async def asked(office: PostOffice, alice: Caller) -> Connection:
    (request,) = (await office.connections(alice, Status.PENDING)).items
    return request


class TestWherePeopleConsent:
    async def test_a_code_that_stood_anywhere_in_a_letter_is_refused(self, human: PostOffice) -> None:
        alice, bob, eve = await three(human)
        code = (await human.request_connection(alice, "bob")).code
        for number in range(len(letters_with(code))):
            await human.send(eve, Draft(to="bob", **letters_with(code)[number]))
            with pytest.raises(CodeWasMailed):
                await human.approve_connection(bob, code)
            code = (await asked(human, alice)).code

    async def test_the_request_goes_on_with_a_new_code_of_which_its_requester_is_told(self, human: PostOffice) -> None:
        alice, bob, eve = await three(human)
        first = await human.request_connection(alice, "bob")
        await write(human, eve, "bob", first.code)
        with pytest.raises(CodeWasMailed, match="alice has a new one"):
            await human.approve_connection(bob, first.code)
        notice = (await take(human, alice)).message
        second = await asked(human, alice)
        assert (notice.sender, notice.payload) == ("system", {"kind": "code_was_mailed", "connection_id": first.id, "to": "bob"})
        assert second.code != first.code
        assert second.code not in str(notice.content)
        with pytest.raises(NoSuchCode):
            await human.approve_connection(bob, first.code)
        assert (await human.approve_connection(bob, second.code)).assurance is Assurance.HUMAN

    async def test_letters_full_of_codes_block_nobody(self, human: PostOffice) -> None:
        alice, bob, eve = await three(human)
        flood = " ".join(f"{chr(65 + n // 26_000)}{chr(65 + n // 1000 % 26)}-{n % 1000:03d}" for n in range(100_000))
        await write(human, eve, "bob", flood)  # whatever was said before a request cannot know its code
        code = (await human.request_connection(alice, "bob")).code
        await write(human, eve, "bob", f"{flood} {code}")
        with pytest.raises(CodeWasMailed):
            await human.approve_connection(bob, code)
        assert (await human.approve_connection(bob, (await asked(human, alice)).code)).status is Status.ACTIVE

    async def test_a_broadcast_a_forward_a_task_update_and_the_words_of_a_refusal_are_letters_too(self, human: PostOffice) -> None:
        alice, bob, eve = await three(human)
        code = (await human.request_connection(alice, "bob")).code

        async def refused() -> str:
            with pytest.raises(CodeWasMailed):
                await human.approve_connection(bob, code)
            return (await asked(human, alice)).code

        await write(human, eve, "ALL", code)
        code = await refused()
        to_eve = await write(human, alice, "eve", code)
        await human.send(eve, Draft(to="bob", forward_of=to_eve.message_id))
        code = await refused()
        job = await human.send(bob, Draft(to="eve", type="task", content="do it"))
        await human.update_task(eve, job.message_id, TaskState.ACCEPTED, Draft(to="bob", content=code))
        code = await refused()
        await write(human, bob, "eve", "read this")
        while (leased := await take(human, eve)).message.content != "read this":
            pass
        await human.settle(eve, (Refuse(leased.message.id, leased.token, f"no: {code}"),))
        await refused()

    async def test_a_letter_to_others_or_with_another_code_changes_nothing(self, human: PostOffice) -> None:
        alice, bob, eve = await three(human)
        code = (await human.request_connection(alice, "bob")).code
        other = "AA-000" if code != "AA-000" else "BB-111"
        await write(human, eve, "alice", code)
        await write(human, eve, "bob", f"is it {other}?")
        assert (await human.approve_connection(bob, code)).assurance is Assurance.HUMAN

    async def test_the_owner_may_vouch_all_the_same(self, human: PostOffice) -> None:
        alice, _, eve = await three(human)
        request = await human.request_connection(alice, "bob")
        await write(human, eve, "bob", request.code)
        assert (await human.approve_for(human.owner(), request.id)).assurance is Assurance.OWNER


async def test_elsewhere_a_mailed_code_is_consent_in_band(office: PostOffice) -> None:
    alice, bob = await people(office, "alice", "bob")
    code = (await office.request_connection(alice, "bob")).code
    await write(office, alice, "bob", code)
    assert (await office.approve_connection(bob, code)).assurance is Assurance.IN_BAND


@given(st.text(), st.text(), st.sampled_from(range(9)))
def test_a_code_is_found_in_whatever_text_however_it_is_spelled(before: str, after: str, spelling: int) -> None:
    code = new_code()
    said = before + spellings(code)[spelling] + after
    assert says_code(said, code)
    assert may_say_code(said)
