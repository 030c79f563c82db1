"""Strips that run WLED, over the network: whole frames (DDP) or preset numbers (JSON over HTTP).

Sources: DDP, http://www.3waylabs.com/ddp; the firmware's reader, wled/WLED `wled00/e131.cpp`; the
JSON API, https://kno.wled.ge/interfaces/json-api.

A DDP packet begins with ten bytes. They are version and push flag, a number from 1 to 15, the type
(RGB, 8 bits each), the device, the offset and the length of the data. DDP has no answer, so
`/json/info` is requested over HTTP to check that the strip is there.
"""

from __future__ import annotations

import http.client
import json
import math
import socket
import struct
import threading
from collections.abc import Callable, Mapping
from contextlib import closing
from typing import TYPE_CHECKING, NamedTuple

from hardware.backends.led_strip import Frame, Strip
from hardware.backends.wled import ASK_S, FRAMES_PER_S, StripInfo, preset_state, strip_frame
from hardware.cues import Cue
from hardware.interfaces import DeviceLost, Faces
from table.errors import InputError
from table.json_data import JsonObject
from table.messages import msg

if TYPE_CHECKING:
    from zeroconf import ServiceStateChange, Zeroconf

HTTP_PORT, DDP_PORT = 80, 4048
PUSH, VERSION_1 = 0x01, 0x40
RGB_8_BIT, DEFAULT_DEVICE = 0x0B, 1
MOST_DATA = 1440
"""Bytes of colours in a packet: 480 lamps. It fits into an Ethernet frame."""
ANSWER_S = 2.0
"""Time limit of an answer; a controller that is busy with a frame takes a tenth of it."""
MOST_ANSWER = 64 << 10
FIND_S = 3.0
"""Duration of the search. A strip that has just announced itself is silent for a second."""
SERVICE = "_wled._tcp.local."


class Address(NamedTuple):
    """Address of a strip, with the ports for HTTP and DDP."""

    host: str
    http_port: int = HTTP_PORT
    ddp_port: int = DDP_PORT


class Controller:
    """A WLED controller, over HTTP."""

    def __init__(self, address: Address) -> None:
        self._address = address

    def info(self) -> JsonObject:
        """Return the strip's `info`; raises DeviceLost if no WLED answers."""
        info = self._ask("GET", "/json/info", None)
        if not isinstance(info, dict) or info.get("brand", "WLED") != "WLED" or "ver" not in info:
            raise self._device_lost("what answers there is no WLED")
        return info

    def tell(self, state: Mapping[str, object]) -> None:
        """Change the strip's state; raises DeviceLost."""
        self._ask("POST", "/json/state", json.dumps(state))

    def _ask(self, method: str, path: str, body: str | None) -> object:
        host, port, _ = self._address
        try:
            with closing(http.client.HTTPConnection(host, port, timeout=ANSWER_S)) as connection:
                headers = {"Content-Type": "application/json"} if body else {}
                connection.request(method, path, body, headers)
                with connection.getresponse() as answer:
                    text = answer.read(MOST_ANSWER + 1)
        except (OSError, ValueError, http.client.HTTPException) as error:
            raise self._device_lost(str(error) or type(error).__name__) from error
        if answer.status != http.HTTPStatus.OK or len(text) > MOST_ANSWER:
            raise self._device_lost(f"HTTP {answer.status}, {len(text)} bytes")
        try:
            return json.loads(text)
        except (ValueError, RecursionError) as error:
            raise self._device_lost("what answers there is no WLED") from error

    def _device_lost(self, why: str) -> DeviceLost:
        host = self._address.host
        return DeviceLost(msg("WLED at {raw} does not answer: {raw2}", raw=host, raw2=why))


def identify(address: Address) -> StripInfo:
    """Ask what is at an address; raises DeviceLost."""
    info = Controller(address).info()
    leds = info.get("leds")
    count = leds.get("count") if isinstance(leds, dict) else None
    return StripInfo(str(info["ver"])[:40], count if isinstance(count, int) else 0)


def packets(frame: Frame, number: int) -> list[bytes]:
    """Encode a frame (n, 3) as DDP packets; the last has the push flag, which displays it.

    `number` counts from 1 to 15; the firmware uses it to drop late packets.
    """
    data = frame.tobytes()
    found = []
    for begin in range(0, len(data), MOST_DATA):
        part = data[begin : begin + MOST_DATA]
        flags = VERSION_1 | (PUSH if begin + MOST_DATA >= len(data) else 0)
        head = struct.pack(">BBBBIH", flags, number, RGB_8_BIT, DEFAULT_DEVICE, begin, len(part))
        found.append(head + part)
    return found


class NetworkStrip:
    """A strip around the board, sent frame by frame, as `hardware.backends.wled.WledStrip`."""

    interval_s = 1 / FRAMES_PER_S

    def __init__(
        self,
        address: Address,
        strip: Strip,
        faces: Callable[[], Faces],
        brightness: float,
        supply_ma: float,
    ) -> None:
        """`faces` returns what the dice show now.

        `brightness`, 0 to 1, and `supply_ma` are upper limits. Raises DeviceLost.
        """
        self._strip, self._faces = strip, faces
        self._brightness, self._supply_ma = brightness, supply_ma
        self._controller, self._number = Controller(address), 0
        self._controller.info()
        self._device_lost: DeviceLost | None = None
        self._closing = threading.Event()
        self._socket = _connected(address)
        self._thread = threading.Thread(target=self._watch, name="WLED", daemon=True)
        self._thread.start()

    def step(self, cue: Cue, since_ms: float) -> None:
        """Send the frame of this moment; raises DeviceLost."""
        if self._device_lost is not None:
            raise self._device_lost
        frame = strip_frame(
            self._strip, self._faces(), cue, since_ms, self._brightness, self._supply_ma
        )
        self._number = self._number % 15 + 1
        try:
            for packet in packets(frame, self._number):
                self._socket.send(packet)
        except OSError as error:
            raise DeviceLost(msg("connection lost ({raw})", raw=error)) from error

    def _watch(self) -> None:
        """Check every ASK_S that the strip answers, until it does not."""
        while self._device_lost is None and not self._closing.wait(ASK_S):
            try:
                self._controller.info()
            except DeviceLost as lost:
                self._device_lost = lost

    def close(self) -> None:
        self._closing.set()
        self._socket.close()


class NetworkPresets:
    """A strip that plays its own presets, as `hardware.backends.wled.WledPresets`."""

    interval_s = 0.1

    def __init__(
        self, address: Address, presets: Mapping[str, int], brightness: float = 1.0
    ) -> None:
        """Raises DeviceLost."""
        self._presets, self._brightness = presets, brightness
        self._controller, self._steps = Controller(address), 0
        self._uptime_s = math.inf
        self._sent: dict[str, object] | None = None
        self._look()

    def step(self, cue: Cue, since_ms: float) -> None:
        """Send a changed preset; raises DeviceLost."""
        self._steps += 1
        if self._steps % round(ASK_S / self.interval_s) == 0:
            self._look()
        wanted = preset_state(self._presets, cue, since_ms, self._brightness)
        if wanted != self._sent:
            self._controller.tell(wanted)
            self._sent = wanted

    def _look(self) -> None:
        """Request the uptime; after a restart the preset is sent again."""
        uptime_s = self._controller.info().get("uptime")
        uptime_s = uptime_s if isinstance(uptime_s, int) else 0
        if uptime_s < self._uptime_s:
            self._sent = None
        self._uptime_s = uptime_s

    def close(self) -> None:
        """Do nothing: no connection is kept open."""


def _connected(address: Address) -> socket.socket:
    """Open a socket for frames; raises DeviceLost for a host without an address."""
    try:
        (family, kind, protocol, _, place), *_ = socket.getaddrinfo(
            address.host, address.ddp_port, type=socket.SOCK_DGRAM
        )
        opened = socket.socket(family, kind, protocol)
        opened.connect(place)
    except OSError as error:
        raise DeviceLost(msg("connection lost ({raw})", raw=error)) from error
    return opened


# ---- found by mDNS


def find_strips(wait_s: float = FIND_S, interfaces: list[str] | None = None) -> dict[str, str]:
    """Find strips by mDNS: addresses by name, empty if none is announced.

    Raises InputError where zeroconf is not installed.
    """
    try:
        from zeroconf import ServiceBrowser, Zeroconf
    except ImportError as error:
        raise InputError(
            msg(
                "hardware.lamps.host: expected the address of the strip: zeroconf, which finds"
                " strips by themselves, is missing (pip install rinkside[service])"
            )
        ) from error
    names: set[str] = set()

    def heard(
        zeroconf: Zeroconf,  # noqa: ARG001 - names as zeroconf calls it
        service_type: str,  # noqa: ARG001
        name: str,
        state_change: ServiceStateChange,  # noqa: ARG001
    ) -> None:
        names.add(name)

    asked = Zeroconf() if interfaces is None else Zeroconf(interfaces=interfaces)
    with closing(asked):
        browser = ServiceBrowser(asked, SERVICE, handlers=[heard])
        threading.Event().wait(wait_s)
        browser.cancel()
        return dict(filter(None, (_place(asked, name) for name in sorted(names))))


def _place(asked: Zeroconf, name: str) -> tuple[str, str] | None:
    found = asked.get_service_info(SERVICE, name, 1000)
    addresses = found.parsed_addresses() if found is not None else []
    return (name.removesuffix(f".{SERVICE}"), addresses[0]) if addresses else None


def address_of(host: str, find: Callable[[], Mapping[str, str]] = find_strips) -> str:
    """Return the address of a strip: the given one, or that of the strip with this name.

    For an empty host, the only strip in the network. Raises InputError that lists the strips found.
    """
    if "." in host or ":" in host or host == "localhost":
        return host
    found = find()
    if host in found:
        return found[host]
    if not host and len(found) == 1:
        return next(iter(found.values()))
    there = ", ".join(f"{name} ({at})" for name, at in found.items())
    raise InputError(
        msg(
            "hardware.lamps.host: expected the address or the name of one WLED in this network"
            " ({raw}), got {raw2}",
            raw=there or "-",
            raw2=repr(host),
        )
    )
