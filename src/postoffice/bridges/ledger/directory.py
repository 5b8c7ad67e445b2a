"""Finds an agent of other software, by its inbound topic or by its account, which leads to its profile."""

from typing import Any

import msgspec

from postoffice.bridges.ledger.mirror import Mirror
from postoffice.core.chunks import all_whole
from postoffice.core.errors import NoInbound
from postoffice.core.ledger import check_ledger_id, inbound_owner, is_ledger_id

_REFERENCE = "hcs-11:"


async def find_inbound(mirror: Mirror, whom: str) -> tuple[str, str]:
    """The account and the inbound topic of the agent that this names."""
    check_ledger_id(whom, "agent")
    topic = await mirror.topic(whom)
    if topic is not None:
        account = inbound_owner(str(topic.get("memo") or ""))
        if account is None:
            raise NoInbound(whom=whom, why="its memo does not say that it is one (hcs-10:0:…:0:ACCOUNT)")
        return account, whom
    record = await mirror.account(whom)
    if record is None:
        raise NoInbound(whom=whom, why="the mirror knows neither a topic nor an account of that name")
    inbound = await _by_profile(mirror, whom, str(record.get("memo") or ""))
    inbound_topic = None if inbound is None else await mirror.topic(inbound)
    if inbound is None or inbound_topic is None or inbound_owner(str(inbound_topic.get("memo") or "")) != whom:
        raise NoInbound(whom=whom, why="its account memo leads to no profile we can read")
    return whom, inbound


async def _by_profile(mirror: Mirror, account: str, memo: str) -> str | None:
    """The inbound topic in the profile that an account's memo leads to. The profile is plain JSON on a topic, and the newest counts."""
    reference = memo.removeprefix(_REFERENCE).rpartition("/")[2]
    if not memo.startswith(_REFERENCE) or not is_ledger_id(reference):
        return None  # or its profile is a file somewhere else
    inbound = None
    for whole in all_whole(await mirror.all_messages(reference)):
        try:
            profile = msgspec.json.decode(whole.data)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            continue
        candidate = _inbound(profile)
        topic = None if candidate is None else await mirror.topic(candidate)
        if topic is not None and inbound_owner(str(topic.get("memo") or "")) == account:
            inbound = candidate
    return inbound


def _inbound(profile: Any) -> str | None:
    if isinstance(profile, dict) and isinstance(profile.get("agent"), dict):
        profile = profile["agent"].get("hcs11_profile")
    topic_id = profile.get("inboundTopicId") if isinstance(profile, dict) else None
    return topic_id if isinstance(topic_id, str) and is_ledger_id(topic_id) else None
