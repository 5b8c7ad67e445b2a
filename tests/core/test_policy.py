"""Who may write to whom."""

from collections.abc import Collection

import pytest

from postoffice.core.policy import ANYONE, admitted

TABLE: list[tuple[str, str, tuple[str, ...], bool, bool]] = [
    # sender, recipient, allow_from, connected, admitted
    ("ann", "ben", (), False, False),
    ("ann", "ben", (), True, True),
    ("ann", "ben", ("ann",), False, True),
    ("ann", "ben", ("cid",), False, False),
    ("ann", "ben", ("cid",), True, True),
    ("ann", "ben", ("cid", "ann"), False, True),
    ("ann", "ben", (ANYONE,), False, True),
    ("ann", "ben", ("cid", ANYONE), False, True),
    ("Ann", "ben", ("aNN",), False, True),
    ("ann", "ben", ("an",), False, False),
    ("ann", "ben", ("ann2",), False, False),
    ("ann", "ben", ("*ann",), False, False),
    ("ann", "ben", ("ben",), False, False),
    ("system", "ben", (), False, True),
    ("SYSTEM", "ben", ("cid",), False, True),
    ("owner", "ben", (), False, False),
    ("owner", "ben", ("owner",), False, True),
    ("ann", "ann", (), False, True),
    ("ann", "Ann", (), False, True),
]


@pytest.mark.parametrize(("sender", "recipient", "allow_from", "connected", "expected"), TABLE)
def test_admission_is_by_list_by_connection_by_the_office_or_by_oneself(
    sender: str,
    recipient: str,
    allow_from: Collection[str],
    connected: bool,  # noqa: FBT001
    expected: bool,  # noqa: FBT001
) -> None:
    assert admitted(sender, recipient, allow_from, connected=connected) is expected
