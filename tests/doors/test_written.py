"""The inbox as it is written down: what was kept of an earlier look is what it would be now."""

import msgspec

from postoffice.core.draft import Draft
from postoffice.doors.thread import inbox_view
from postoffice.doors.written import Writer
from postoffice.office import PostOffice
from tests.mail import people, take, write


async def test_an_inbox_is_written_as_it_is_shown_at_every_look(office: PostOffice) -> None:
    alice, bob, carol = await people(office, "alice", "bob", "carol")
    writer = Writer()

    async def same() -> bytes:
        page = await office.inbox(bob)
        text = writer.inbox(page, (), bob)
        assert text == msgspec.json.encode(inbox_view(page, (), bob))
        return text

    empty = await same()
    assert empty == await same()
    for n in range(4):
        await write(office, alice, "bob", str(n), payload={"n": n})
    unread = await same()
    assert unread == await same() != empty
    await take(office, bob)
    taken = await same()
    assert taken != unread
    await write(office, carol, "bob", "long " * 2_000)
    await office.send(carol, Draft(to="bob", content="later", hold=True))
    assert await same() == await same() != taken
