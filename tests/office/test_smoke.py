"""A letter goes from one agent to another and is settled."""

from postoffice.core.delivery import State
from postoffice.core.draft import Draft
from postoffice.office import PostOffice


async def test_a_letter_is_sent_taken_and_settled(office: PostOffice) -> None:
    alice, bob = await office.identify(name="alice"), await office.identify(name="Bob")
    accepted = await office.send(alice, Draft(to="bob", subject="Hello", content="How are you?"))
    (leased,) = (await office.receive(bob)).leased
    assert leased.message.content == "How are you?"
    await office.ack(bob, leased.message.id, leased.token)
    proof = await office.status(alice, accepted.message_id)
    assert [standing.state for standing in proof.standings] == [State.ACKED]
