"""Names of this machine: what a Host or Origin header says, and whether a name can be ours."""

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

    The port is None where it is the scheme's default.
    """

    name: str
    port: int | None


def read_authority(text: str, scheme: str) -> Authority | None:
    """What a Host header or the end of an Origin names; None where it is neither name nor address.

    Names with a dot at the end are none: no page of ours is reached by one, and they may be
    resolved elsewhere.
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
    """What an Origin header names; None for `null` and all that is no origin of the web."""
    scheme, _, rest = text.partition("://")
    return read_authority(rest, scheme) if scheme in DEFAULT_PORTS else None


def is_name(text: str) -> bool:
    """True if this can be the name of a machine, such as `rinkside.example.org`."""
    return re.fullmatch(_NAME, text, re.ASCII | re.IGNORECASE) is not None


def is_local_name(name: str, hosts: Collection[str]) -> bool:
    """True for an address, one of `hosts`, or a name that only this network can have given.

    A page elsewhere on the internet can point a name of its own at this machine (DNS rebinding);
    such names are not ours.
    """
    if name in hosts:
        return True
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return "." not in name or name.endswith(HOME_SUFFIXES)
    return True
