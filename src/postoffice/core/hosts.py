"""Which machine a host names: this one, or another."""

import ipaddress
from functools import lru_cache

_OWN_NAMES = {"localhost", "ip6-localhost"}


@lru_cache(1024)
def is_loopback(host: str) -> bool:
    """Whether only this machine can mean this."""
    address = address_of(host)
    return host in _OWN_NAMES if address is None else address.is_loopback


def address_of(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """The address a host is; None for a name."""
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None
