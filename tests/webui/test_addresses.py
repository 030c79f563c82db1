"""The address that phones are shown: on the default route, of a hotspot, never a bare name."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Iterator, Mapping
from contextlib import closing

import pytest

from webui.addresses import (
    InterfaceAddress,
    interface_addresses,
    reachable_urls,
    shown_url,
    url_for_phones,
    way_out,
)
from webui.server import listen

HOME = {"lo": ["127.0.0.1", "::1"], "wlan0": ["192.168.1.7", "fe80::1"]}
HOTSPOT = {"lo": ["127.0.0.1"], "wlan0": ["10.42.0.1", "fe80::1"]}


@pytest.fixture
def everywhere() -> Iterator[socket.socket]:
    """A socket that all networks reach."""
    with closing(listen("0.0.0.0", 0)) as listening:
        yield listening


def shown(
    listening: socket.socket, interfaces: Mapping[str, list[str]], way_out: str = ""
) -> list[str]:
    """The hosts of the addresses that are shown, where the computer has these interfaces."""
    port = listening.getsockname()[1]
    found = [
        InterfaceAddress(name, ipaddress.ip_address(text))
        for name, texts in interfaces.items()
        for text in texts
    ]
    urls = reachable_urls(listening, lambda: found, lambda _version: way_out)
    assert all(url.startswith("http://") and url.endswith(f":{port}") for url in urls)
    return [url.removeprefix("http://").removesuffix(f":{port}") for url in urls]


@pytest.mark.parametrize(
    ("interfaces", "way_out", "expected"),
    [
        (HOME, "192.168.1.7", ["192.168.1.7"]),
        (HOTSPOT, "", ["10.42.0.1"]),
        (HOTSPOT | {"eth0": ["192.168.1.7"]}, "192.168.1.7", ["192.168.1.7", "10.42.0.1"]),
        (HOTSPOT | {"docker0": ["172.17.0.1"], "veth12": ["172.18.0.1"]}, "", ["10.42.0.1"]),
        ({"br-0123456789ab": ["172.19.0.1"], "br-lan": ["192.168.8.1"]}, "", ["192.168.8.1"]),
        ({"tun0": ["10.8.0.2"], "wlan0": ["192.168.1.7"]}, "10.8.0.2", ["192.168.1.7", "10.8.0.2"]),
        ({"eth0": ["169.254.3.4"], "wlan0": ["10.0.0.5"]}, "", ["10.0.0.5", "169.254.3.4"]),
        ({"eth0": ["169.254.3.4"]}, "", ["169.254.3.4"]),
        ({}, "192.168.1.7", ["192.168.1.7"]),
        ({"lo": ["127.0.0.1"]}, "", []),
        ({"wlan0": ["2001:db8::7", "fe80::1"]}, "", []),
        ({"wlan0": ["192.168.1.7", "192.168.1.7"]}, "", ["192.168.1.7"]),
    ],
    ids=[
        "default route",
        "hotspot without a default route",
        "cable and hotspot",
        "containers",
        "bridges",
        "tunnel with the default route",
        "no DHCP beside DHCP",
        "no DHCP",
        "interfaces cannot be listed",
        "no network",
        "only IPv6, which 0.0.0.0 does not answer",
        "twice the same",
    ],
)
def test_phones_are_shown_addresses_that_they_reach(
    everywhere: socket.socket,
    interfaces: Mapping[str, list[str]],
    way_out: str,
    expected: list[str],
) -> None:
    assert shown(everywhere, interfaces, way_out) == expected


def test_on_ipv6_addresses_without_a_zone_are_shown() -> None:
    with closing(listen("::", 0)) as listening:
        both = {"wlan0": ["192.168.1.7", "fe80::1", "fd00::7", "2001:db8::7"]}
        assert shown(listening, both, "2001:db8::7") == ["[2001:db8::7]", "[fd00::7]"]


def test_a_page_for_this_computer_only_has_no_address_for_phones() -> None:
    with closing(listen("127.0.0.1", 0)) as listening:
        assert shown(listening, HOME, "192.168.1.7") == []
        assert shown_url(listening) == f"http://localhost:{listening.getsockname()[1]}"


def test_addresses_of_this_computer_are_listed_and_the_default_route_is_one_of_them() -> None:
    addresses = {str(one.address) for one in interface_addresses()}
    assert "127.0.0.1" in addresses
    assert {way_out(4)} <= {"", *addresses}


@pytest.mark.parametrize(
    ("address", "requested", "name", "expected"),
    [
        ("http://192.168.1.7:8000", "http://localhost:8000", "localhost", "terminal"),
        ("http://192.168.1.7:8000", "http://127.0.0.1:8000", "127.0.0.1", "terminal"),
        ("http://192.168.1.7:8000", "http://[::1]:8000", "::1", "terminal"),
        ("http://192.168.1.7:8000", "http://raspberrypi:8000", "raspberrypi", "terminal"),
        ("http://192.168.1.7:8000", "http://pi.local:8000", "pi.local", "terminal"),
        ("http://192.168.1.7:8000", "http://pi.localhost:8000", "pi.localhost", "terminal"),
        ("http://172.17.0.2:8000", "http://192.168.1.9:80", "192.168.1.9", "browser"),
        ("http://192.168.1.7:8000", "https://rink.example.org", "rink.example.org", "browser"),
        ("", "https://rink.example.org", "rink.example.org", "browser"),
        ("", "http://pi.local:8000", "pi.local", "browser"),
        ("", "http://raspberrypi:8000", "raspberrypi", "terminal"),
        ("", "http://localhost:8000", "localhost", "terminal"),
    ],
)
def test_pages_show_the_terminal_s_address_unless_the_browser_s_is_known_to_work(
    address: str, requested: str, name: str, expected: str
) -> None:
    assert (
        url_for_phones(address, requested, name)
        == {"terminal": address, "browser": requested}[expected]
    )
