"""Addresses of clients, as far as limits are concerned."""

from __future__ import annotations

import ipaddress


def client_of(address: str) -> str:
    """The client that an address is counted as.

    An IPv4 address counts for itself, also when written as IPv6. An IPv6 address counts as its /64
    network, whose addresses one machine can all have.
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
    """True for a loopback address, so a program of this machine, such as a reverse proxy."""
    try:
        return ipaddress.ip_address(client_of(address)).is_loopback
    except ValueError:
        return False
