"""The chain of running hashes: three messages of testnet topic 0.0.4603900 as its mirror tells them, and what breaks it."""

from base64 import b64encode
from typing import Any

import pytest

from postoffice.core.chain import broken_links

TOLD = [
    ("1683553059.977315003", b"Message 1", "vKnW8bYSjhYtHtMNOJWrkfyv77kKc4EREDycKE2L37aU0SYlx+g6HB9ah7CTFSxl"),
    ("1683553060.092158003", b"Message 2", "JM8LpmRwUVc+wiwzRHBgcCv8uJkbfan8BV2QPC0hBMgXA9KIvy8TwOoXsukgmeC+"),
    ("1683553060.328178003", b"Message 3", "OL6EUxAayPsRiuhwflX5heRgIGEWmHcJU7bS2qBPeJNoOiMQmaY0H6G/pXJ7wGQz"),
]


def rows() -> list[dict[str, Any]]:
    return [
        {
            "sequence_number": sequence,
            "consensus_timestamp": at,
            "message": b64encode(body).decode(),
            "running_hash": hash,
            "running_hash_version": 3,
            "payer_account_id": "0.0.2617920",
            "topic_id": "0.0.4603900",
        }
        for sequence, (at, body, hash) in enumerate(TOLD, 1)
    ]


def test_what_the_real_network_says_fits() -> None:
    assert broken_links(rows()) == []


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("message", b64encode(b"Message 9").decode()),
        ("payer_account_id", "0.0.666"),
        ("consensus_timestamp", "1683553060.092158004"),
        ("topic_id", "0.0.4603901"),
    ],
)
def test_whatever_is_changed_breaks_it_there(field: str, value: str) -> None:
    told = rows()
    told[1][field] = value
    assert broken_links(told) == [2]


def test_what_comes_after_a_gap_is_not_judged() -> None:
    told = rows()
    del told[1]
    assert broken_links(told) == []
