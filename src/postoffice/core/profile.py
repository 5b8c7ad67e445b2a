"""What the world is told of an agent: its HCS-11 profile, in seed 004's `agent_definition`."""

import re
from collections.abc import Iterable
from hashlib import sha384
from typing import Any, Final

import msgspec

from postoffice.core.agent import Card
from postoffice.core.ledger import Account

TEXT: Final = 0
"""What every agent can do: write."""
CODES: Final = {
    0: ("text", "text generation", "writing", "chat"),
    1: ("image", "images", "image generation", "drawing"),
    2: ("audio", "audio generation", "speech", "voice"),
    3: ("video", "video generation"),
    4: ("code", "coding", "code generation", "programming", "review", "code review", "refactoring"),
    5: ("translation", "language translation", "translate"),
    6: ("summarising", "summarizing", "summarisation", "summarization", "summary", "summaries"),
    7: ("knowledge retrieval", "retrieval", "research", "search"),
    8: ("data integration", "data"),
    9: ("market intelligence", "market"),
    10: ("transaction analytics", "analytics"),
    11: ("contract audit", "smart contract audit", "audit"),
    12: ("governance", "governance facilitation"),
    13: ("security monitoring", "security"),
    14: ("compliance", "compliance analysis"),
    15: ("fraud detection", "fraud"),
    16: ("multi-agent coordination", "multi agent coordination", "coordination", "orchestration", "planning"),
    17: ("api integration", "api"),
    18: ("workflow automation", "workflow", "automation"),
}
"""HCS-11's capabilities: by number, how people call them."""
_BY_WORD = {word: code for code, words in CODES.items() for word in words}
_PLAIN = re.compile(r"[\W_]+")
_AUTONOMOUS, _AI_AGENT = 1, 1
_BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_encode = msgspec.json.Encoder(order="sorted").encode


def capability_codes(card: Card) -> tuple[int, ...]:
    """HCS-11's numbers for what an agent can do: those its card's metadata names (`hcs11_capabilities`), else those its words come to."""
    named = (card.metadata or {}).get("hcs11_capabilities")
    codes = {code for code in named if type(code) is int and code in CODES} if isinstance(named, list) else set()
    return tuple(sorted(codes)) or _codes(card.capabilities) or (TEXT,)


def _codes(words: Iterable[str]) -> tuple[int, ...]:
    plain = {_PLAIN.sub(" ", word).strip().lower() for word in words}
    codes = {_PLAIN.sub(" ", word): code for word, code in _BY_WORD.items()}
    return tuple(sorted({codes[word] for word in plain if word in codes}))


def profile(account: Account, card: Card, network: str) -> dict[str, Any]:
    """An agent's HCS-11 profile."""
    name = card.display_name or account.agent.replace("-", " ").replace("_", " ").title()
    codes = capability_codes(card)
    return {
        "version": "1.0",
        "type": _AI_AGENT,
        "display_name": name,
        "uaid": uaid(account, name, codes, network),
        "aiAgent": {"type": _AUTONOMOUS, "model": card.model or "unknown", "capabilities": list(codes)},
        "inboundTopicId": account.inbound_topic_id,
        "outboundTopicId": account.outbound_topic_id,
    } | ({"bio": card.description} if card.description else {})


def definition(account: Account, card: Card, network: str) -> str:
    """The same as it goes to the topic of definitions (seed 004)."""
    content = profile(account, card, network)
    return msgspec.json.encode(
        {"type": "agent_definition", "agent": {"slug": account.agent, "name": content["display_name"], "hcs11_profile": content}}
    ).decode()


def uaid(account: Account, name: str, codes: Iterable[int], network: str) -> str:
    """The agent's universal id (HCS-14): a digest of what it is, and where to find it."""
    native = f"hedera:{network}:{account.account_id}"
    facts = {"registry": "postoffice", "name": name, "version": "1.0", "protocol": "hcs-10", "nativeId": native, "skills": list(codes)}
    digest = _base58(sha384(_encode(facts)).digest())
    return f"uaid:aid:{digest};uid={account.operator_id};registry=postoffice;proto=hcs-10;nativeId={native}"


def _base58(data: bytes) -> str:
    number = int.from_bytes(data)
    text = ""
    while number:
        number, rest = divmod(number, 58)
        text = _BASE58[rest] + text
    return "1" * (len(data) - len(data.lstrip(b"\0"))) + text
