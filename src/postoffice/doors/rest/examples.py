"""What the documentation's examples share."""

from typing import Any

WHEN = "2026-02-22T10:00:00Z"
AGENT_ID = "0199d2a0-0000-7000-8000-000000000001"
CONNECTION_ID = "0199d2a0-0000-7000-8000-000000000002"
SESSION_ID = "0199d2a0-0000-7000-8000-000000000003"
MESSAGE_ID = "0199d2a0-0000-7000-8000-000000000004"

LETTER: dict[str, Any] = {
    "id": MESSAGE_ID,
    "from": "bob-agent",
    "to": "alice-agent",
    "type": "message",
    "subject": "Project collaboration",
    "content": "Sure, let's do it.",
    "priority": 3,
    "created_at": WHEN,
    "from_verified": True,
}
STANDING: dict[str, Any] = {
    "recipient": "bob-agent",
    "state": "acked",
    "attempts": 1,
    "number": 7,
    "session_id": SESSION_ID,
    "due_at": None,
    "settled_at": WHEN,
    "reason": None,
    "leased_at": WHEN,
    "seen_at": None,
}
