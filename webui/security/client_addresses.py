"""Client addresses for rate limits."""

from __future__ import annotations

import ipaddress


def client_of(address: str) -> str:
    """The key under which an address is counted.

    An IPv4 address is its own key, also when mapped to IPv6. The key of an IPv6 address is its /64
    network, since one machine can hold all of its addresses.
    """
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(found, ipaddress.IPv6Address):
        if found.ipv4_mapped is None:
            return (
                str(ipaddress.ip_network((found, 64), strict=False))
                if not found.is_loopback
                else str(found)
            )
        found = found.ipv4_mapped
    return str(found)


def is_this_machine(address: str) -> bool:
    """True for a loopback address: a program on this machine, such as a reverse proxy."""
    try:
        return ipaddress.ip_address(client_of(address)).is_loopback
    except ValueError:
        return False
