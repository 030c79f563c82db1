"""Bluetooth buttons and callipers, by bleak (`rinkside[bluetooth]`).

Buttons are not connected: they broadcast each press several times, in the format BTHome, version 2
(bthome.io/format). Callipers are connected and send text.

Sources: BTHome's table of object ids; Nordic's UART service (nRF Connect SDK, "Nordic UART
Service"). Sylvac's service is known from sample code that users of its callipers have published.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Coroutine, Mapping
from contextlib import suppress
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING

from hardware.backends.caliper import ReadingFilter
from hardware.interfaces import DeviceLost, Press, PressKind, Reading
from hardware.lamp_thread import LEAVE_S, RETRY_S, loss_reason
from table.errors import InputError
from table.messages import Message, msg

if TYPE_CHECKING:
    from bleak import BleakClient
    from bleak.backends.device import BLEDevice
    from bleak.backends.scanner import AdvertisementData

logger = logging.getLogger(__name__)

Work = Callable[[], Coroutine[None, None, None]]

BTHOME = "0000fcd2-0000-1000-8000-00805f9b34fb"
"""UUID of the BTHome service."""
_ENCRYPTED, _VERSION = 0x01, 2
_PACKET, _BUTTON = 0x00, 0x3A
_KINDS: dict[int, tuple[PressKind, ...]] = {
    1: ("down", "short"),
    2: ("down", "double"),
    4: ("down", "long"),
}
"""Presses reported for a BTHome button event. Triple presses and other events are ignored."""
_BYTES = (
    (1, 1, 2, 2, 3, 3, 2, 2, 2, 1, 3, 3, 2, 2, 2, 1, 1, 1, 2, 2, 2)  # object ids 0x00 to 0x14
    + (1,) * 0x1B  # 0x15 to 0x2F: states that are on or off, and percentages
)
"""Length in bytes of each object with an id below the button's. Objects are sent in ascending order
of their ids.
"""

STARTED_S = 2.0
"""Broadcasts within this time of the first scan's start are ignored: BlueZ may repeat old ones."""
REPEATED_S = 1.0
"""Without packet ids, an identical broadcast within this time is a repetition."""
SILENT_S = 30.0
"""A scan that receives nothing for this long is restarted, as BlueZ may be gone."""
FOUND_S = 20.0
"""Time limit of the search for a calliper, and of the wait for its connection."""

SYLVAC = "c1b25010-caaf-6d0e-4c33-7dae30052840"
NORDIC_UART = "6e400003-b5a3-f393-e0a9-e50e24dcca9e"
TEXTS = (SYLVAC, NORDIC_UART)
"""Characteristics in which callipers send text, in order of preference."""


@dataclass(frozen=True, slots=True)
class Broadcast:
    """Content of one BTHome broadcast.

    `packet` is its number, None where the device sends none. `events` has one number a button, in
    order; 0 is a button that was not pressed.
    """

    packet: int | None
    events: tuple[int, ...]
    encrypted: bool = False


def parse_bthome(data: bytes) -> Broadcast | None:
    """Parse the service data of one broadcast; None where it is not complete BTHome version 2."""
    if not data or data[0] >> 5 != _VERSION:
        return None
    if data[0] & _ENCRYPTED:
        return Broadcast(None, (), encrypted=True)
    packet, events, at = None, [], 1
    while at < len(data) and (kind := data[at]) <= _BUTTON:
        length = 1 if kind == _BUTTON else _BYTES[kind] if kind < len(_BYTES) else 0
        value = data[at + 1 : at + 1 + length]
        if not length or len(value) < length:
            return None
        if kind == _PACKET:
            packet = value[0]
        elif kind == _BUTTON:
            events.append(value[0])
        at += 1 + length
    return Broadcast(packet, tuple(events))


class Radio:
    """The computer's Bluetooth: one event loop for all parts, in a thread of its own."""

    def __init__(self) -> None:
        """Needs bleak: see `check_bleak`."""
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="bluetooth", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        with asyncio.Runner(loop_factory=lambda: self._loop):
            self._loop.run_forever()  # then cancels all tasks and closes the loop

    def begin(self, work: Work) -> Callable[[], None]:
        """Start a coroutine; the returned function cancels it and waits up to LEAVE_S."""
        ended = threading.Event()

        async def begun() -> None:
            try:
                await work()
            finally:
                ended.set()

        future = asyncio.run_coroutine_threadsafe(begun(), self._loop)

        def end() -> None:
            future.cancel()
            ended.wait(LEAVE_S)

        return end

    def close(self) -> None:
        """Cancel all work and end the thread."""
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(LEAVE_S)


class _Part:
    """Base of Bluetooth parts: repeats failed work until it is closed."""

    def __init__(self, radio: Radio) -> None:
        self.error: str = ""
        self._radio = radio
        self._end: Callable[[], None] = lambda: None

    def _begin(self, work: Work) -> None:
        self._end = self._radio.begin(lambda: self._again(work))

    def close(self) -> None:
        self._end()

    async def _again(self, work: Work) -> None:
        while True:
            try:
                await work()
            except Exception as error:  # bleak and drivers raise anything
                task = asyncio.current_task()
                if task is not None and task.cancelling():
                    return  # raised by the cancellation
                why = _reason(error)
                if why != self.error:
                    logger.info("bluetooth: %s", why)
                self.error = why
                await asyncio.sleep(RETRY_S)


class BroadcastPresses:
    """Convert broadcasts to presses, each reported once."""

    def __init__(
        self, buttons: Mapping[str, tuple[str, int]], clock: Callable[[], float] = monotonic
    ) -> None:
        """`buttons`: (address, button number from 1) by name; `clock` in seconds."""
        self._buttons, self._clock = buttons, clock
        self._addresses = {address for address, _ in buttons.values()}
        self._last: dict[str, tuple[Broadcast, float]] = {}
        self.begin()

    def begin(self) -> None:
        """Note the time at which scanning starts."""
        self._begun_s = self._clock()

    def take(self, address: str, data: bytes) -> list[Press]:
        """Return the new presses of a broadcast.

        Raises DeviceLost for a button that encrypts its broadcasts.
        """
        if address not in self._addresses or (broadcast := parse_bthome(data)) is None:
            return []
        if broadcast.encrypted:
            raise DeviceLost(
                msg(
                    "{name}: it encrypts what it sends; switch encryption off in its maker's app",
                    name=address,
                )
            )
        now_s = self._clock()
        last, last_s = self._last.get(address, (None, 0.0))
        self._last[address] = broadcast, now_s
        again = broadcast == last and (broadcast.packet is not None or now_s - last_s < REPEATED_S)
        if again or now_s - self._begun_s < STARTED_S:
            return []
        return [
            Press(name, kind, 1000 * now_s)
            for name, (of, number) in self._buttons.items()
            if of == address and number <= len(broadcast.events)
            for kind in _KINDS.get(broadcast.events[number - 1], ())
        ]


class BluetoothButtons(_Part):
    """The interface `Buttons` for devices that broadcast BTHome."""

    def __init__(self, radio: Radio, buttons: Mapping[str, tuple[str, int]]) -> None:
        """`buttons`: (address, button number from 1) by name."""
        super().__init__(radio)
        self._presses, self._has_scanned = BroadcastPresses(buttons), False
        self._tell: Callable[[Press], None] = lambda _press: None

    def listen(self, tell: Callable[[Press], None]) -> None:
        self._tell = tell
        self._begin(self._scan)

    async def _scan(self) -> None:
        """Scan until nothing is received for SILENT_S; raises what bleak raises."""
        from bleak import BleakScanner

        heard = asyncio.Event()

        def found(device: BLEDevice, advertised: AdvertisementData) -> None:
            heard.set()
            self._take(device.address.upper(), advertised.service_data.get(BTHOME, b""))

        if not self._has_scanned:
            self._presses.begin()
        async with BleakScanner(found):
            self._has_scanned = True
            self.error = ""
            with suppress(TimeoutError):
                while True:
                    heard.clear()
                    async with asyncio.timeout(SILENT_S):
                        await heard.wait()

    def _take(self, address: str, data: bytes) -> None:
        try:
            presses = self._presses.take(address, data)
        except DeviceLost as lost:
            self.error = lost.message
        else:
            for press in presses:
                self._tell(press)


class BluetoothCalliper(_Part):
    """The interface `Calliper` for a device that sends text; it may sleep and reconnect."""

    def __init__(self, radio: Radio, address: str, characteristic: str = "") -> None:
        """`characteristic` is the UUID of the text characteristic; empty: one of TEXTS."""
        super().__init__(radio)
        self._address, self._characteristic = address, characteristic
        self._filter = ReadingFilter()
        self._tell: Callable[[Reading], None] = lambda _reading: None

    def listen(self, tell: Callable[[Reading], None]) -> None:
        self._tell = tell
        self._begin(self._connected)

    async def _connected(self) -> None:
        """Connect and take readings until the connection ends; raises what bleak raises."""
        from bleak import BleakClient, BleakScanner

        device = await BleakScanner.find_device_by_address(self._address, timeout=FOUND_S)
        if device is None:
            raise DeviceLost(msg("{name}: not in reach; is it switched on?", name=self._address))
        ended = asyncio.Event()
        async with BleakClient(device, lambda _client: ended.set(), timeout=FOUND_S) as client:
            sends = self._sends(client)
            self.error = ""  # before the first reading, which may set another error
            await client.start_notify(sends, self._take)
            await ended.wait()
        raise DeviceLost(msg("{name}: connection lost", name=self._address))

    def _sends(self, client: BleakClient) -> str:
        """The characteristic that it sends text in; raises DeviceLost without one."""
        wanted = (self._characteristic,) if self._characteristic else TEXTS
        found = next((one for one in wanted if client.services.get_characteristic(one)), None)
        if found is None:
            raise DeviceLost(
                msg(
                    "{name}: expected a calliper with the characteristic {raw}, got a device"
                    " without",
                    name=self._address,
                    raw=" or ".join(wanted),
                )
            )
        return found

    def _take(self, _characteristic: object, data: bytearray) -> None:
        text = data.decode("latin-1").replace("\0", "")
        readings, unread = self._filter.take([line for line in text.splitlines() if line.strip()])
        self.error = (
            msg(
                "{name}: it sends something that is not a length, such as {raw}",
                name=self._address,
                raw=repr(unread[:20]),
            )
            if unread
            else ""
        )
        for reading in readings:
            self._tell(reading)


@dataclass(frozen=True, slots=True)
class Heard:
    """A device found by a scan."""

    address: str
    name: str
    buttons: int
    """Number of buttons; 0 if it broadcasts none."""


async def _listen(seconds: float) -> list[Heard]:
    from bleak import BleakScanner

    heard: dict[str, Heard] = {}

    def found(device: BLEDevice, advertised: AdvertisementData) -> None:
        broadcast = parse_bthome(advertised.service_data.get(BTHOME, b""))
        known = heard.get(device.address)
        buttons = max(len(broadcast.events) if broadcast else 0, known.buttons if known else 0)
        name = advertised.local_name or device.name or (known.name if known else "")
        heard[device.address] = Heard(device.address.upper(), name, buttons)

    async with BleakScanner(found):
        await asyncio.sleep(seconds)
    return sorted(heard.values(), key=lambda one: (-one.buttons, not one.name, one.address))


def hear(seconds: float) -> list[Heard]:
    """Scan for this many seconds; devices with most buttons first. Raises InputError."""
    try:
        return asyncio.run(_listen(seconds))
    except Exception as error:
        raise InputError(_reason(error)) from error


def check_bleak(setting: str) -> None:
    """Raise InputError, naming the setting, where bleak is not installed."""
    try:
        import bleak  # noqa: F401 - asked for before anything begins
    except ImportError as error:
        raise InputError(
            msg(
                "{setting}: expected bleak in this environment, but it is not installed; run:"
                " pip install '{program}'",
                setting=setting,
                program="rinkside[bluetooth]",
            )
        ) from error


def _reason(error: Exception) -> Message:
    """Reason why Bluetooth does not work, in one line."""
    from bleak import exc

    match error:
        case exc.BleakBluetoothNotAvailableError(
            reason=exc.BleakBluetoothNotAvailableReason.POWERED_OFF
        ):
            return msg("Bluetooth is switched off; run: bluetoothctl power on")
        case exc.BleakBluetoothNotAvailableError(
            reason=exc.BleakBluetoothNotAvailableReason.DENIED_BY_SYSTEM
        ):
            return msg(
                "Rinkside may not use Bluetooth; add its user to the group bluetooth and log in"
                " again"
            )
        case (
            exc.BleakBluetoothNotAvailableError()
            | exc.BleakDBusError(dbus_error="org.freedesktop.DBus.Error.ServiceUnknown")
            | FileNotFoundError()
            | ConnectionRefusedError()
        ):
            return msg("this computer has no Bluetooth, or its service bluetoothd does not run")
        case _:
            return loss_reason(error)
