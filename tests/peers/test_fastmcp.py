"""The fastmcp client, the most used one in Python beside the official."""

from pathlib import Path

import pytest

from postoffice.core.tools import PER_AGENT, toolset
from tests.peers.outside import FASTMCP, answer_of

_CLIENT = Path(__file__).with_name("fastmcp_client.py")


@pytest.mark.parametrize(("mode", "protocol"), [("legacy", "2025-11-25"), ("2026-07-28", "2026-07-28")])
def test_the_fastmcp_client_lists_sends_waits_and_acks(served: str, mode: str, protocol: str) -> None:
    saw = answer_of(FASTMCP, str(_CLIENT), served, mode)
    assert saw["protocol"] == protocol
    assert saw["tools"] == list(toolset(PER_AGENT))
    letter = saw["letter"]
    assert (letter["id"], letter["from"], letter["payload"]) == (saw["sent"]["id"], "alice", {"n": [1, None, "[2]"]})
    assert letter["id"] in saw["words"]
    assert saw["acked"] == {"message_id": letter["id"], "status": "acked"}
    assert saw["after"]["messages"] == []
    id, mail, none = saw["popped"]
    assert isinstance(id, str)
    assert (mail, none) == ({"id": id, "from": "alice", "content": "to myself"}, None)
    is_error, words = saw["refused"]
    assert is_error
    assert "content" in words
