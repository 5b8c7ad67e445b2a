"""Connections, from the asking to the end."""

from tests.cli.home import Home


def asked(home: Home) -> tuple[str, str, dict[str, str]]:
    """Two agents, and what the first heard when it asked for a connection."""
    alice, bob = home.names("alice", "bob")
    for name in (alice, bob):
        home.ask("register", name)
    return alice, bob, home.ask("connect", bob, "--message", "Shall we?", "--as", alice)


def test_a_code_makes_a_connection_and_mail_may_go(home: Home) -> None:
    alice, bob, request = asked(home)
    (pending,) = home.ask("inbox", "--as", bob)["pending_connections"]
    assert (pending["message"], pending["verification_code"]) == ("Shall we?", request["verification_code"])
    made = home.ask("approve", request["verification_code"], "--as", bob)
    assert (made["status"], made["connected_agent_name"]) == ("ACTIVE", alice)
    assert home.ask("send", "--to", bob, "hello", "--as", alice)["recipients"][0]["recipient"] == bob
    (listed,) = home.ask("connections", "--status", "ACTIVE", "--as", bob)["connections"]
    ended = home.ask("reject", listed["connection_id"], "--end", "--as", bob)
    assert ended["status"] == "ENDED"


def test_the_owner_approves_by_id_and_sees_everyone_s(home: Home) -> None:
    _, bob, request = asked(home)
    listed = home.ask("connections", "--everyone", "--status", "PENDING")["connections"]
    assert request["connection_id"] in {found["connection_id"] for found in listed}
    home.refused(77, "approve", request["connection_id"], "--as", bob)
    assert home.ask("approve", request["connection_id"])["assurance"] == "owner"


def test_a_request_can_be_refused(home: Home) -> None:
    alice, bob, request = asked(home)
    assert home.ask("reject", request["connection_id"], "--as", bob)["status"] == "REJECTED"
    home.refused(66, "approve", request["verification_code"], "--as", bob)
    home.refused(66, "reject", request["connection_id"], "--end", "--as", alice)


def test_somebody_has_to_be_there_to_be_asked(home: Home) -> None:
    alice, nobody = home.names("alice", "nobody")
    home.refused(66, "connect", nobody, "--as", alice)
    home.refused(65, "connect", alice, "--as", alice)
