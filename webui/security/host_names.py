"""Host names of this machine: parse Host and Origin headers, and recognise own names."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Collection
from typing import NamedTuple

HOME_SUFFIXES = (".local", ".localhost", ".lan", ".home.arpa", ".internal", ".fritz.box")
DEFAULT_PORTS = {"http": 80, "https": 443}

_LABEL = r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?"
_NAME = rf"{_LABEL}(?:\.{_LABEL})*"
_AUTHORITY = re.compile(
    rf"(?P<name>{_NAME}|\[[0-9a-f:.]+\])(?::(?P<port>[0-9]{{1,5}}))?", re.ASCII | re.IGNORECASE
)


class Authority(NamedTuple):
    """A name in lower case or an address without brackets, and a port.

    The port is None if it is the scheme's default.
    """

    name: str
    port: int | None


def read_authority(text: str, scheme: str) -> Authority | None:
    """Parse a Host header or the end of an Origin; None if it is neither name nor address.

    Names with a trailing dot are rejected: no page uses one, and it may resolve elsewhere.
    """
    found = _AUTHORITY.fullmatch(text)
    if found is None:
        return None
    name = found["name"].lower()
    if name.startswith("["):
        try:
            name = str(ipaddress.IPv6Address(name[1:-1]))
        except ValueError:
            return None
    port = int(found["port"]) if found["port"] else None
    if port is not None and not 1 <= port <= 65535:
        return None
    return Authority(name, None if port == DEFAULT_PORTS.get(scheme) else port)


def read_origin(text: str) -> Authority | None:
    """Parse an Origin header; None for `null` and all that is no web origin."""
    scheme, _, rest = text.partition("://")
    return read_authority(rest, scheme) if scheme in DEFAULT_PORTS else None


def is_name(text: str) -> bool:
    """True for a syntactically valid host name, such as `rinkside.example.org`."""
    return re.fullmatch(_NAME, text, re.ASCII | re.IGNORECASE) is not None


def is_local_name(name: str, hosts: Collection[str]) -> bool:
    """True for an address, one of `hosts`, or a name that only the local network can assign.

    This blocks DNS rebinding, where a site on the internet points its own name at this machine.
    """
    if name in hosts:
        return True
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return "." not in name or name.endswith(HOME_SUFFIXES)
    return True
