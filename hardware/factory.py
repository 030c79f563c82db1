"""Open the devices that the settings name.

Device modules are imported only when chosen. No device is replaced by another one.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar, assert_never

from hardware.interfaces import (
    Broker,
    Buttons,
    Buzzer,
    Calliper,
    DeviceLost,
    Dice,
    Faces,
    Lamps,
    Output,
    Voice,
    check_faces,
)
from hardware.plugins import GuardedDevice, Place, open_plugin
from hardware.settings import (
    PARTS,
    BluetoothButtonsSettings,
    BluetoothCalliperSettings,
    BoardLampsSettings,
    BoardPartSettings,
    CountedDiceSettings,
    FakeSettings,
    GpioButtonsSettings,
    GpioBuzzerSettings,
    GpioDiceSettings,
    GpioLampsSettings,
    HardwareSettings,
    PluginSettings,
    TerminalSettings,
    WledDiceSettings,
    WledNetworkPresetsSettings,
    WledNetworkSettings,
    WledPresetsSettings,
    WledSettings,
    as_pins,
    bluetooth_buttons,
    button_pins,
)
from table.errors import InputError
from table.languages import Language
from table.messages import msg
from table.solids import Array

if TYPE_CHECKING:
    from gpiozero.pins import Factory

    from hardware.backends.bluetooth import Radio
    from hardware.backends.microcontroller import Link
    from hardware.lamp_thread import Device

P = TypeVar(
    "P",
    Lamps | None,
    Dice | None,
    Buttons | None,
    Buzzer | None,
    Output | None,
    Calliper | None,
    Voice | None,
    Broker | None,
)


@dataclass(slots=True)
class Devices:
    """The connected devices; None for the others."""

    lamps: Lamps | None = None
    dice: Dice | None = None
    buttons: Buttons | None = None
    buzzer: Buzzer | None = None
    calliper: Calliper | None = None
    voice: Voice | None = None
    mqtt: Broker | None = None
    output: Output | None = None
    language: Language = "en"
    """Language of texts for an output."""
    _open: ExitStack = field(default_factory=ExitStack)

    @property
    def errors(self) -> dict[str, str]:
        """Reasons of failing devices, by part."""
        parts = {name: getattr(self, name) for name in PARTS}
        return {name: part.error for name, part in parts.items() if part is not None and part.error}

    def close(self) -> None:
        """Turn off and close all devices."""
        self._open.close()


class StripDice:
    """Dice at the end of a strip, drawn with its next frame."""

    error = ""

    def __init__(self, count: int) -> None:
        self.count = count
        self.faces: Faces = (None,) * count

    def show(self, faces: Faces) -> None:
        check_faces(faces, self.count)
        self.faces = faces

    def close(self) -> None:
        self.faces = (None,) * self.count


def open_devices(
    settings: HardwareSettings,
    outline_mm: Array,
    write: Callable[[str], object],
    language: Language = "en",
) -> Devices:
    """Open all devices of the settings.

    `outline_mm` (n, 2) is the board's outline, for a strip around it. `write` prints to the
    terminal, for its bell. `language` is for an output, and the default for a voice or a broker.

    Raises InputError that names the setting; then nothing stays open.
    """
    return _DeviceOpener(settings, outline_mm, write, language).devices()


class _DeviceOpener:
    """State shared while devices are opened.

    The pins, the link to the board and the radio are opened once, when first needed.
    """

    def __init__(
        self,
        settings: HardwareSettings,
        outline_mm: Array,
        write: Callable[[str], object],
        language: Language,
    ) -> None:
        self._settings, self._outline_mm, self._write = settings, outline_mm, write
        self._language = language
        self._stack = ExitStack()

    def devices(self) -> Devices:
        devices = Devices(language=self._language)
        with self._stack:
            dice = self._dice()
            # Closed in reverse order: dice on a strip go dark with its last frame.
            devices.lamps = self._close_later(self._lamps(dice))
            devices.dice = self._close_later(dice)
            devices.buttons = self._close_later(self._buttons())
            devices.buzzer = self._close_later(self._buzzer())
            devices.output = self._close_later(self._output())
            devices.calliper = self._close_later(self._calliper())
            devices.voice = self._close_later(self._voice())
            devices.mqtt = self._close_later(self._mqtt())
            devices._open = self._stack.pop_all()
        return devices

    def _close_later(self, part: P) -> P:
        """Register a part for closing: with the others, or at once if another cannot be opened."""
        if part is not None:
            self._stack.callback(part.close)
        return part

    @cached_property
    def _pins(self) -> Factory:
        from hardware.backends.gpio import open_pins

        pins = open_pins(self._settings.pins)
        self._stack.callback(pins.close)
        return pins

    @cached_property
    def _link(self) -> Link:
        from hardware.backends.microcontroller import BAUD, Link
        from hardware.backends.serial_port import open_port

        device = self._settings.board or ""
        link = Link(lambda: open_port(device, BAUD, "hardware.board"))
        self._stack.callback(link.close)
        return link

    @cached_property
    def _radio(self) -> Radio:
        from hardware.backends.bluetooth import Radio

        radio = Radio()
        self._stack.callback(radio.close)
        return radio

    def _plugin(self, part: str, settings: PluginSettings) -> GuardedDevice:
        place = Place(self._outline_mm, self._language)
        return open_plugin(part, settings.name, settings.options, place)

    def _lamps(self, dice: Dice | None) -> Lamps | None:
        from hardware.lamp_thread import LampThread

        match settings := self._settings.lamps:
            case None:
                return None
            case PluginSettings():
                return self._plugin("lamps", settings)
            case FakeSettings():
                from hardware.testing.fakes import FakeLamps

                return FakeLamps()
            case GpioLampsSettings():
                from hardware.backends.gpio import GpioLamps

                players = [as_pins(pins) for pins in settings.players]
                return LampThread(
                    lambda: GpioLamps(
                        self._pins, players, as_pins(settings.verdict), settings.active_high
                    )
                )
            case BoardLampsSettings():
                from hardware.backends.microcontroller import BoardLamps

                return LampThread(lambda: BoardLamps(self._link, settings.players))
            case WledSettings():
                return LampThread(self._serial_strip(settings, dice))
            case WledPresetsSettings():
                from hardware.backends.serial_port import open_port
                from hardware.backends.wled import WledPresets

                return LampThread(
                    lambda: WledPresets(
                        open_port(settings.device, settings.baud, "hardware.lamps.device"),
                        settings.presets,
                        settings.brightness,
                    )
                )
            case WledNetworkSettings() | WledNetworkPresetsSettings():
                return LampThread(self._network_strip(settings, dice))
            case _:
                assert_never(settings)

    def _serial_strip(self, settings: WledSettings, dice: Dice | None) -> Callable[[], Device]:
        """Return a function that opens a strip on a serial port."""
        from hardware.backends.led_strip import Strip
        from hardware.backends.serial_port import open_port
        from hardware.backends.wled import WledStrip

        strip = Strip(settings.leds, self._outline_mm, settings.starts, settings.clockwise)
        tail = dice if isinstance(dice, StripDice) else StripDice(0)

        def opened() -> WledStrip:
            port = open_port(settings.device, settings.baud, "hardware.lamps.device")
            return WledStrip(
                port,
                settings.baud,
                strip,
                lambda: tail.faces,
                settings.brightness,
                settings.supply_ma,
            )

        return opened

    def _network_strip(
        self, settings: WledNetworkSettings | WledNetworkPresetsSettings, dice: Dice | None
    ) -> Callable[[], Device]:
        """Return a function that opens a strip in the network.

        After a loss the strip is looked up again, as its address may have changed.
        """
        from hardware.backends.led_strip import Strip
        from hardware.backends.wled_network import Address, NetworkPresets, NetworkStrip, address_of

        def opened() -> Device:
            host = address_of(settings.host)
            match settings:
                case WledNetworkPresetsSettings():
                    address = Address(host, settings.port)
                    return NetworkPresets(address, settings.presets, settings.brightness)
                case _:
                    return NetworkStrip(
                        Address(host, settings.port, settings.ddp_port),
                        Strip(settings.leds, self._outline_mm, settings.starts, settings.clockwise),
                        lambda: tail.faces,
                        settings.brightness,
                        settings.supply_ma,
                    )

        def or_refused() -> Device:
            """Raise InputError for a strip that is missing at the start: a wrong setting."""
            try:
                return opened()
            except DeviceLost as lost:
                raise InputError(msg("hardware.lamps: {text}", text=lost.message)) from lost

        tail = dice if isinstance(dice, StripDice) else StripDice(0)
        return or_refused

    def _dice(self) -> Dice | None:
        match settings := self._settings.dice:
            case None:
                return None
            case PluginSettings():
                return self._plugin("dice", settings)
            case FakeSettings():
                from hardware.testing.fakes import FakeDice

                return FakeDice()
            case GpioDiceSettings():
                from hardware.backends.gpio import GpioDice

                return GpioDice(self._pins, settings.pips, settings.active_high)
            case CountedDiceSettings():
                from hardware.backends.microcontroller import BoardDice

                return BoardDice(self._link, settings.count)
            case WledDiceSettings():
                return StripDice(settings.count)
            case _:
                assert_never(settings)

    def _buttons(self) -> Buttons | None:
        match settings := self._settings.buttons:
            case None:
                return None
            case PluginSettings():
                return self._plugin("buttons", settings)
            case FakeSettings():
                from hardware.testing.fakes import FakeButtons

                return FakeButtons()
            case GpioButtonsSettings():
                from hardware.backends.gpio import GpioButtons

                return GpioButtons(self._pins, button_pins(settings))
            case BluetoothButtonsSettings():
                from hardware.backends.bluetooth import BluetoothButtons, check_bleak

                check_bleak("hardware.buttons.kind")
                return BluetoothButtons(self._radio, bluetooth_buttons(settings))
            case BoardPartSettings():
                from hardware.backends.microcontroller import BoardButtons

                return BoardButtons(self._link)
            case _:
                assert_never(settings)

    def _buzzer(self) -> Buzzer | None:
        match settings := self._settings.buzzer:
            case None:
                return None
            case PluginSettings():
                return self._plugin("buzzer", settings)
            case FakeSettings():
                from hardware.testing.fakes import FakeBuzzer

                return FakeBuzzer()
            case GpioBuzzerSettings():
                from hardware.backends.gpio import GpioBuzzer

                return GpioBuzzer(self._pins, settings.pin, settings.active_high)
            case BoardPartSettings():
                from hardware.backends.microcontroller import BoardBuzzer

                return BoardBuzzer(self._link)
            case TerminalSettings():
                from hardware.buzzer import TerminalBell

                return TerminalBell(self._write)
            case _:
                assert_never(settings)

    def _output(self) -> Output | None:
        match settings := self._settings.output:
            case None:
                return None
            case PluginSettings():
                return self._plugin("output", settings)
            case _:
                from hardware.testing.fakes import FakeOutput

                return FakeOutput()

    def _calliper(self) -> Calliper | None:
        match settings := self._settings.calliper:
            case None:
                return None
            case FakeSettings():
                from hardware.testing.fakes import FakeCalliper

                return FakeCalliper()
            case BluetoothCalliperSettings():
                from hardware.backends.bluetooth import BluetoothCalliper, check_bleak

                check_bleak("hardware.calliper.kind")
                return BluetoothCalliper(
                    self._radio, settings.device.upper(), settings.characteristic
                )
            case _:
                from hardware.backends.caliper import SerialCalliper
                from hardware.backends.serial_port import open_port

                return SerialCalliper(
                    lambda: open_port(settings.device, settings.baud, "hardware.calliper.device")
                )

    def _voice(self) -> Voice | None:
        match settings := self._settings.voice:
            case None:
                return None
            case FakeSettings():
                from hardware.testing.fakes import FakeVoice

                return FakeVoice(self._language)
            case _:
                from hardware.backends.speech import Espeak

                return Espeak(settings.words_a_minute, settings.language or self._language)

    def _mqtt(self) -> Broker | None:
        match settings := self._settings.mqtt:
            case None:
                return None
            case FakeSettings():
                from hardware.testing.fakes import FakeBroker

                return FakeBroker(language=self._language)
            case _:
                from hardware.backends.mqtt import MqttBroker

                return MqttBroker(settings, self._language)
