"""The shortest way through the REST door."""

from tests.doors.served import Served


class TestTheShortestWay:
    async def test_a_letter_is_sent_received_and_acked(self, served: Served) -> None:
        async with served.client(name="alice") as alice, served.client(name="bob") as bob:
            sent = await alice.post("/messages/send", json={"to": "bob", "subject": "Lunch", "content": "Noon?"})
            assert sent.status_code == 201
            (letter,) = (await bob.post("/messages/receive")).json()["messages"]
            assert (letter["from"], letter["content"], letter["from_verified"]) == ("alice", "Noon?", False)
            acked = await bob.post(f"/messages/{letter['id']}/ack", json={"token": letter["token"]})
            assert acked.json() == {"message_id": letter["id"], "state": "acked"}
            standing = (await alice.get(f"/messages/{letter['id']}/status")).json()["standings"][0]
            assert standing["state"] == "acked"
