"""The rules of webhooks: pauses that grow, and addresses that may be posted to."""

from datetime import timedelta
from ipaddress import ip_network

import pytest

from postoffice.core.webhook import is_allowed, pause_after


def test_pauses_grow_to_hours_and_heed_what_the_address_asks_for() -> None:
    pauses = [pause_after(attempt) for attempt in range(1, 30)]
    assert pauses == sorted(pauses)
    assert (pauses[0], pauses[-1]) == (timedelta(seconds=5), timedelta(hours=6))
    assert pause_after(1, timedelta(minutes=2)) == timedelta(minutes=2)
    assert pause_after(1, timedelta(days=9)) == timedelta(hours=6)


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "10.1.2.3",
        "192.168.0.1",
        "169.254.169.254",
        "100.64.0.1",
        "0.0.0.0",
        "224.0.0.1",
        "::1",
        "::",
        "fe80::1%eth0",
        "fd00::1",
        "::ffff:127.0.0.1",
        "2002:7f00:1::",
        "64:ff9b::7f00:1",
    ],
)
def test_what_is_not_public_is_posted_to_only_where_the_owner_names_it(address: str) -> None:
    assert not is_allowed(address, (), encrypted=True)


def test_public_addresses_are_posted_to_by_https_only() -> None:
    assert is_allowed("93.184.216.34", (), encrypted=True)
    assert is_allowed("2606:2800:220:1::1", (), encrypted=True)
    assert not is_allowed("93.184.216.34", (), encrypted=False)


def test_networks_that_the_owner_names_are_posted_to() -> None:
    networks = (ip_network("10.0.0.0/8"), ip_network("::1"))
    assert is_allowed("10.1.2.3", networks, encrypted=False)
    assert is_allowed("::1", networks, encrypted=False)
    assert is_allowed("::ffff:10.1.2.3", networks, encrypted=False)
    assert not is_allowed("192.168.0.1", networks, encrypted=True)
