"""Agents of other software are found by what stands on public topics, where anybody may have written anything."""

from base64 import b64encode
from typing import Any

import pytest

from postoffice.bridges.ledger.directory import find_inbound
from postoffice.bridges.ledger.mirror import Mirror
from postoffice.core.errors import NoInbound
from tests.ledger.emulator import Emulator

PROFILE = b'{"inboundTopicId": "0.0.9"}'


class Told(Mirror):
    """A mirror that knows one account, its inbound topic, and a topic with these messages as its profile."""

    def __init__(self, *bodies: bytes) -> None:
        self._bodies = bodies

    async def account(self, _: str) -> dict[str, Any] | None:
        return {"memo": "hcs-11:hcs://1/0.0.8"}

    async def topic(self, topic_id: str) -> dict[str, Any] | None:
        return {"memo": "hcs-10:0:60:0:0.0.7"} if topic_id == "0.0.9" else None

    async def all_messages(self, _: str, __: int = 0) -> list[dict[str, Any]]:
        return [
            {"sequence_number": number, "payer_account_id": "0.0.7", "consensus_timestamp": "1.0", "message": b64encode(body).decode()}
            for number, body in enumerate(self._bodies, 1)
        ]


async def test_what_is_no_json_is_passed_over() -> None:
    for other in (b"words", b'"\xff"', b"[" * 100_000):
        assert await find_inbound(Told(PROFILE, other), "0.0.7") == ("0.0.7", "0.0.9")


@pytest.mark.parametrize("memo", ["hcs-11:ipfs://QmYwAPJzv5CZsnA", "hcs-11:https://example.org/profile.json", "hcs-11:a\x01b", "hcs-11:{}"])
async def test_a_memo_or_a_profile_that_leads_elsewhere_is_no_profile_we_can_read(ledger: Emulator, memo: str) -> None:
    topic = ledger.new_topic()
    ledger.plant(topic.id, '{"inboundTopicId": "a\\u0001b"}')
    account = ledger.new_account(memo=memo.format(topic.id))
    mirror = Mirror(ledger.mirror_url, 200)
    with pytest.raises(NoInbound, match="give the agent's inbound topic itself"):
        await find_inbound(mirror, account.id)
    await mirror.close()
