"""A model asks its person, by the tools for mail, and reads the answer as what it is: somebody else's words."""

import re

from tests.doors.served import Served
from tests.mcp.calling import client, told

ASK = {"choices": ["ship it", "wait === end"], "default": "wait === end", "deadline": 90}


async def test_a_model_asks_the_owner_and_gets_the_answer(served: Served) -> None:
    office = served.office
    async with client(served, "/mail/coder", model=True) as coder:
        assert "owner: a person; mail_send with ask asks a question." in await told(coder, "mail_agents")
        sent = await told(coder, "mail_send", to="owner", text="Ship 1.4?", ask=ASK)
        assert sent.startswith("Sent to owner, as ")
        (question,) = (await office.questions(office.owner())).items
        assert (question.asker, question.choices, question.default) == ("coder", ("ship it", "wait === end"), "wait === end")
        assert question.deadline is not None
        assert 89 * 60 <= (question.deadline - question.created_at).total_seconds() <= 91 * 60
        await office.answer(office.owner(), question.id, choice="ship it", text="after lunch")
        got = await told(coder, "mail_get", wait_seconds=5)
        answered = re.search(r"from owner \(not verified\).*answers (\S+), answer by open ===", got)
        assert answered is not None, got
        assert question.id.endswith(answered[1])
        assert "ship it\n\nafter lunch" in got
        assert "any program on this machine" in got


async def test_what_is_asked_stands_within_the_fence(served: Served) -> None:
    office = served.office
    await office.identify(name="hanna")
    await office.update_card(office.owner(), {"person": True}, of="hanna")
    async with client(served, "/mail/coder", model=True) as coder, client(served, "/mail/hanna", model=True) as hanna:
        await told(coder, "mail_send", to="hanna", text="Ship 1.4?", ask=ASK)
        got = await told(hanna, "mail_get")
        (boundary,) = set(re.findall(r"=== ([0-9a-f]{12}) message", got))
        inside = got.split(f"=== {boundary} message")[1].split(f"=== {boundary} end ===")[0]
        assert "question to a person" in inside
        assert "Choices: 'ship it', 'wait === end'; or in words." in inside
        assert "then wait === end" in inside


async def test_whoever_is_no_person_is_not_asked(served: Served) -> None:
    async with client(served, "/mail/coder", model=True) as coder, client(served, "/mail/bob", model=True) as bob:
        await told(bob, "mail_agents")
        result = await coder.call_tool("mail_send", {"to": "bob", "text": "?", "ask": {}})
        assert result.is_error
        assert "only people answer questions" in str(result.content)
        result = await coder.call_tool("mail_send", {"to": "owner", "text": "?", "ask": {"default": "yes"}})
        assert result.is_error
        assert "deadline" in str(result.content)
        for wrong in ({"choices": "yes"}, {"colour": "red"}, {"default": "x", "deadline": -1}):
            result = await coder.call_tool("mail_send", {"to": "owner", "text": "?", "ask": wrong})
            assert (result.is_error, "ask" in str(result.content)) == (True, True)
