"""Addresses of a page for phones, as shown in the terminal and on every page."""

from __future__ import annotations

import ipaddress
import re
import socket
from collections.abc import Callable, Iterable
from ipaddress import IPv4Address, IPv6Address
from typing import NamedTuple

import ifaddr

from webui.security.host_names import HOME_SUFFIXES

LOCAL, ANY = ("127.0.0.1", "::1", "localhost"), ("0.0.0.0", "::")
SOMEWHERE = {4: ("192.0.2.1", 9), 6: ("2001:db8::1", 9)}
"""Addresses outside this network, by IP version: reserved for documentation by RFC 5737 and 3849.
"""
FAMILIES = {4: socket.AF_INET, 6: socket.AF_INET6}
INSIDE = re.compile(r"docker\d|br-[0-9a-f]{12}$|veth|virbr|podman|cni|lxc|lxd|vboxnet|vmnet")
"""Interfaces of containers and virtual machines; phones cannot reach them."""
TUNNEL = re.compile(r"tun|tap|wg|ppp|tailscale|zt|nordlynx|ipsec")
"""Tunnel interfaces; phones at the table rarely reach them."""


class InterfaceAddress(NamedTuple):
    """An address of this computer, and its network interface (`wlan0`)."""

    interface: str
    address: IPv4Address | IPv6Address


def interface_addresses() -> tuple[InterfaceAddress, ...]:
    """All addresses of this computer; empty if the system does not list them."""
    try:
        adapters = tuple(ifaddr.get_adapters())
    except OSError:
        return ()
    return tuple(
        InterfaceAddress(adapter.name, ipaddress.ip_address(text))
        for adapter in adapters
        for ip in adapter.ips
        if isinstance(text := ip.ip if isinstance(ip.ip, str) else ip.ip[0], str)
    )


def way_out(version: int) -> str:
    """This computer's address on the default route; empty without such a route.

    `version` is 4 or 6. Nothing is sent.
    """
    with socket.socket(FAMILIES[version], socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(SOMEWHERE[version])
        except OSError:
            return ""
        return str(probe.getsockname()[0])


def reachable_urls(
    listening: socket.socket,
    found: Callable[[], Iterable[InterfaceAddress]] = interface_addresses,
    out: Callable[[int], str] = way_out,
) -> tuple[str, ...]:
    """URLs for phones of the page that `listening` serves, best first.

    They are numeric, as many phones cannot resolve a bare computer name. A hotspot's address counts
    even without a default route. Empty if only local connections are accepted, or without a
    network.
    """
    host, port = listening.getsockname()[:2]
    return urls_on(host, port, found, out)


def urls_on(
    host: str,
    port: int,
    found: Callable[[], Iterable[InterfaceAddress]] = interface_addresses,
    out: Callable[[int], str] = way_out,
) -> tuple[str, ...]:
    """As `reachable_urls`, for an address and a port."""
    return tuple(_url(address, port) for address in addresses_on(host, found, out))


def addresses_on(
    host: str,
    found: Callable[[], Iterable[InterfaceAddress]] = interface_addresses,
    out: Callable[[int], str] = way_out,
) -> tuple[str, ...]:
    """As `reachable_urls`, but addresses only."""
    if host in LOCAL:
        return ()
    if host not in ANY:
        return (host,)
    version = 6 if ":" in host else 4
    own = out(version)
    addresses = [one for one in found() if one.address.version == version]
    if not addresses and own:  # the interfaces cannot be listed
        addresses = [InterfaceAddress("", ipaddress.ip_address(own))]
    usable = (one for one in addresses if _usable(one))
    best = sorted(usable, key=lambda one: _distance(one, own))
    return tuple(dict.fromkeys(str(one.address) for one in best))


def _usable(one: InterfaceAddress) -> bool:
    """True if a phone's browser accepts it; browsers reject link-local IPv6, which needs a zone."""
    address = one.address
    return not (
        address.is_loopback
        or address.is_unspecified
        or address.is_multicast
        or (address.version == 6 and address.is_link_local)
        or INSIDE.match(one.interface)
    )


def _distance(one: InterfaceAddress, own: str) -> tuple[bool, bool, bool]:
    """Sort key, distance from phones: tunnel, no router's address, not on the default route."""
    return (
        TUNNEL.match(one.interface) is not None,
        one.address.is_link_local,
        str(one.address) != own,
    )


def shown_url(listening: socket.socket) -> str:
    """The URL shown for a served page: the best one for phones, or this computer's own."""
    reachable = reachable_urls(listening)
    return reachable[0] if reachable else f"http://localhost:{listening.getsockname()[1]}"


def url_for_phones(address: str, requested: str, name: str) -> str:
    """The URL that a page shows for phones; empty if there is none.

    `address` is the best of `reachable_urls`, or empty. `requested` is the URL that the browser
    used, `name` its host. A numeric host that works for one browser also works for phones nearby,
    even if it is a router's or a container host's. So does a public name. Other names may not
    resolve on a phone; one such as `rinkside.local` is better than no address.
    """
    try:
        number = ipaddress.ip_address(name)
    except ValueError:
        pass
    else:
        return address if number.is_loopback else requested
    if "." not in name or name.endswith(".localhost"):
        return address
    return (address or requested) if name.endswith(HOME_SUFFIXES) else requested


def _url(host: str, port: int) -> str:
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
