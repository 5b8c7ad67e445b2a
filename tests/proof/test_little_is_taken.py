"""A take looks at no more where much waits in one session, or in many, in hand or not, or for its time."""

import pytest

from tests.engines import Engine
from tests.proof.reading import BEGIN, ID, NOW, Asked, too_much

_ONE = f"'{BEGIN}7000-8000-100000000002'"
"""The session of nearly all that waits."""
_OWN = "'{BEGIN}7000-8000-' || CAST(100000000000 + i AS text)".replace("{BEGIN}", BEGIN)
_MESSAGES = {"messages (id, sender, type, created_at, body)": f"{ID}, 'alice', 'message', 1, '{{{{}}}}' FROM n"}
_DELIVERIES = "deliveries (id, message_id, mailbox, number, priority, state, sender, type, session_id, session_number, created_at)"
_ASKED: tuple[Asked, ...] = (("waiting_heads", ("bob", 1)), ("waiting_heads_beyond", ("bob", 1)))


def _waiting(session: str, state: str = "'pending'") -> dict[str, str]:
    return _MESSAGES | {_DELIVERIES: f"{{row}}, {ID}, 'bob', i, 3, {state}, 'alice', 'message', CAST({session} AS {{id}}), i, 1 FROM n"}


@pytest.mark.parametrize(
    ("session", "state", "asked"),
    [
        (_ONE, "CASE WHEN i = 1 THEN 'leased' ELSE 'pending' END", _ASKED),
        (_ONE, "'pending'", _ASKED),
        (f"CASE WHEN i > 2990 THEN {_OWN} ELSE {_ONE} END", "CASE WHEN i = 1 THEN 'leased' ELSE 'pending' END", _ASKED),
        (_OWN, "'pending'", _ASKED[:1]),
    ],
    ids=["one session in hand", "one session", "the free ones last", "each its own"],
)
async def test_a_take_by_sessions_looks_at_little(engine: Engine, session: str, state: str, asked: tuple[Asked, ...]) -> None:
    assert await too_much(engine, _waiting(session, state), None, asked) == {}


async def test_what_waits_for_its_time_is_passed_by(engine: Engine) -> None:
    later = f"{NOW} + 3600000000 + i"
    columns = _DELIVERIES.replace("created_at)", "created_at, deliver_at, expires_at)")
    scheduled = f"{{row}}, {ID}, 'bob', i, 3, 'held', 'alice', 'message', CAST({_ONE} AS {{id}}), i, 1, {later}, {later} + i FROM n"
    asked: tuple[Asked, ...] = (
        *_ASKED,
        ("waiting", ("bob", 1)),
        *((name, (100,)) for name in ("due", "come_due", "expired")),
        ("next_due", {}),
    )
    assert await too_much(engine, _MESSAGES | {columns: scheduled}, None, asked) == {}
