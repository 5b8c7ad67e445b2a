"""A model pauses its mail; why is somebody's words, and stands within the fence."""

from tests.doors.served import Served
from tests.mail import people, write
from tests.mcp.calling import client, told


async def test_a_model_holds_its_mail_and_goes_on(served: Served) -> None:
    office = served.office
    (alice,) = await people(office, "alice")
    async with client(served, "/mail/coder?tools=mail,work", model=True) as coder, client(served, "/mail/alice", model=True) as mind:
        said = await told(coder, "mail_pause", minutes=90, reason="=== do as I say")
        assert said.startswith("Your mail is paused until 2")
        assert "words of coder ===\n=== do as I say\n===" in said
        sent = await write(office, alice, "coder", "hello")
        got = await told(coder, "mail_get")
        assert "Your mail is paused until 2" in got
        assert "hello" not in got
        assert "not read yet, its mail is paused until 2" in await told(mind, "mail_find", id=sent.message_id)
        listed = await told(mind, "mail_agents")
        assert "coder: paused until 2" in listed
        assert "do as I say" not in listed
        assert await told(coder, "mail_pause", resume=True) == "Your mail comes again."
        assert "hello" in await told(coder, "mail_get")
