"""Devices and their pins or ports: the table `[hardware]` of a TOML file.

It is checked before any device is opened. Each error is one line that names the setting.
docs/HARDWARE.md has an example of each kind.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Literal, get_args

import msgspec

from hardware.backends.led_strip import Corner
from hardware.cues import SIGNALS
from hardware.mqtt_settings import MqttSettings, check_mqtt, check_secret
from hardware.plugins import GROUPS, device_plugins
from table.errors import InputError
from table.files import convert, quoted, read_toml, shown
from table.json_data import JsonObject
from table.languages import Language
from table.messages import NONE, msg

Pins = int | tuple[int, int, int]
"""One pin, or red, green and blue; BCM numbers, as gpiozero counts."""
Library = Literal["lgpio", "rpigpio", "mock"]
Part = Annotated[float, msgspec.Meta(gt=0, le=1)]
Milliamps = Annotated[float, msgspec.Meta(ge=50, le=100_000)]
HEADER = range(2, 28)
"""Usable GPIO numbers. GPIO 0 and 1 belong to the memory of add-on boards (raspberrypi/hats, "ID_SD
and ID_SC PINs").
"""
WLED_BAUDS = (115200, 230400, 460800, 500000, 576000, 921600, 1000000, 1500000)
"""Speeds of WLED's serial port in baud (`wled_serial.cpp`)."""
PLUGIN = "plugin"
"""Tag of plugin settings made by `_with_plugins`; not a `kind` in a file."""
MOST_DEVICE = 200
"""Most characters of a port's name in a message; names under /dev/serial/by-id are long."""
_ADDRESS = re.compile(r"(?:[0-9A-F]{2}:){5}[0-9A-F]{2}", re.IGNORECASE)
_UUID = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}", re.IGNORECASE)
CALLIPER_BAUDS = (1200, 2400, 4800, 9600, 19200, 38400, 57600, 115200)
PARTS = ("lamps", "dice", "buttons", "buzzer", "output", "calliper", "voice", "mqtt")
"""Parts that may be connected: fields of `HardwareSettings` and of `Devices`."""


class _Kind(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="kind"
):
    """Base of all parts."""


class GpioLampsSettings(_Kind, frozen=True, kw_only=True, tag="gpio"):
    """One lamp a player in turn order, and one for the verdict."""

    players: Annotated[tuple[Pins, ...], msgspec.Meta(max_length=6)]
    verdict: Pins
    active_high: bool = True


class BoardLampsSettings(_Kind, frozen=True, kw_only=True, tag="board"):
    """Lamps on the microcontroller."""

    players: Annotated[int, msgspec.Meta(ge=1, le=6)]


class WledSettings(_Kind, frozen=True, kw_only=True, tag="wled"):
    """A strip round the board, frame by frame."""

    device: str
    leds: Annotated[int, msgspec.Meta(ge=8, le=1500)]
    baud: int = 115200
    starts: Corner = "near left"
    clockwise: bool = False
    brightness: Part = 0.5
    supply_ma: Milliamps = 2000


class WledPresetsSettings(_Kind, frozen=True, kw_only=True, tag="wled-presets"):
    """A strip that plays presets of its own, by signal."""

    device: str
    presets: dict[str, Annotated[int, msgspec.Meta(ge=1, le=250)]]
    baud: int = 115200
    brightness: Part = 0.5


Port = Annotated[int, msgspec.Meta(ge=1, le=65535)]


class WledNetworkSettings(_Kind, frozen=True, kw_only=True, tag="wled-network"):
    """A strip round the board, frame by frame, over the network.

    `host` is its address, or its name in the network; empty: the only strip that there is. `port`
    is that of its pages, `ddp_port` that of its frames.
    """

    leds: Annotated[int, msgspec.Meta(ge=8, le=1500)]
    host: Annotated[str, msgspec.Meta(max_length=253)] = ""
    port: Port = 80
    ddp_port: Port = 4048
    starts: Corner = "near left"
    clockwise: bool = False
    brightness: Part = 0.5
    supply_ma: Milliamps = 2000


class WledNetworkPresetsSettings(_Kind, frozen=True, kw_only=True, tag="wled-network-presets"):
    """A strip in the network that plays presets of its own, by signal."""

    presets: dict[str, Annotated[int, msgspec.Meta(ge=1, le=250)]]
    host: Annotated[str, msgspec.Meta(max_length=253)] = ""
    port: Port = 80
    brightness: Part = 0.5


class FakeSettings(_Kind, frozen=True, kw_only=True, tag="fake"):
    """No device; a fake that records what it is told."""


class PluginSettings(_Kind, frozen=True, kw_only=True, tag=PLUGIN):
    """Settings of a plugin: its name, which is `kind` in the file, and its own options.

    See `hardware.plugins`.
    """

    name: str
    options: JsonObject


class GpioDiceSettings(_Kind, frozen=True, kw_only=True, tag="gpio"):
    """Seven pins per die.

    In order: top left, middle left, bottom left, centre, top right, middle right, bottom right.
    """

    pips: Annotated[
        tuple[tuple[int, int, int, int, int, int, int], ...],
        msgspec.Meta(min_length=1, max_length=2),
    ]
    active_high: bool = True


class CountedDiceSettings(_Kind, frozen=True, kw_only=True, tag="board"):
    """Dice on the microcontroller."""

    count: Annotated[int, msgspec.Meta(ge=1, le=2)] = 1


class WledDiceSettings(_Kind, frozen=True, kw_only=True, tag="wled"):
    """Dice as seven lamps each, after those of the board on the same strip."""

    count: Annotated[int, msgspec.Meta(ge=1, le=2)] = 1


class GpioButtonsSettings(_Kind, frozen=True, kw_only=True, tag="gpio"):
    """Buttons between a pin and ground."""

    rule: int | None = None
    appeal: int | None = None
    next: int | None = None
    die: int | None = None


class BluetoothButtonsSettings(_Kind, frozen=True, kw_only=True, tag="bluetooth"):
    """Buttons that broadcast each press in the format BTHome.

    Each is the device's address, such as `3C:2E:F5:00:12:34`. For a device with several buttons,
    the button's number follows: `3C:2E:F5:00:12:34/2`.
    """

    rule: str | None = None
    appeal: str | None = None
    next: str | None = None
    die: str | None = None


class BoardPartSettings(_Kind, frozen=True, kw_only=True, tag="board"):
    """A part of the microcontroller without further settings."""


class GpioBuzzerSettings(_Kind, frozen=True, kw_only=True, tag="gpio"):
    """An active buzzer."""

    pin: int
    active_high: bool = True


class TerminalSettings(_Kind, frozen=True, kw_only=True, tag="terminal"):
    """The terminal's bell."""


class CalliperSettings(_Kind, frozen=True, kw_only=True, tag="serial"):
    """A calliper on a serial port."""

    device: str
    baud: int = 9600


class BluetoothCalliperSettings(_Kind, frozen=True, kw_only=True, tag="bluetooth"):
    """A calliper that sends text over Bluetooth; `device` is its address.

    `characteristic` is the UUID of its text characteristic; empty: a known one.
    """

    device: str
    characteristic: str = ""


class EspeakSettings(_Kind, frozen=True, kw_only=True, tag="espeak-ng"):
    """Verdicts spoken by espeak-ng through the machine's loudspeaker.

    Without a `language`, that of the program is used.
    """

    words_a_minute: Annotated[int, msgspec.Meta(ge=80, le=400)] = 160
    language: Language | None = None


class HardwareSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All connected devices; parts without settings are not connected.

    `board` is the serial port of the microcontroller.
    """

    pins: Library = "lgpio"
    board: str | None = None
    lamps: (
        GpioLampsSettings
        | BoardLampsSettings
        | WledSettings
        | WledPresetsSettings
        | WledNetworkSettings
        | WledNetworkPresetsSettings
        | FakeSettings
        | PluginSettings
        | None
    ) = None
    dice: (
        GpioDiceSettings
        | CountedDiceSettings
        | WledDiceSettings
        | FakeSettings
        | PluginSettings
        | None
    ) = None
    buttons: (
        GpioButtonsSettings
        | BluetoothButtonsSettings
        | BoardPartSettings
        | FakeSettings
        | PluginSettings
        | None
    ) = None
    buzzer: (
        GpioBuzzerSettings
        | BoardPartSettings
        | TerminalSettings
        | FakeSettings
        | PluginSettings
        | None
    ) = None
    output: FakeSettings | PluginSettings | None = None
    calliper: CalliperSettings | BluetoothCalliperSettings | FakeSettings | None = None
    voice: EspeakSettings | FakeSettings | None = None
    mqtt: MqttSettings | FakeSettings | None = None


def load_settings(path: Path) -> HardwareSettings:
    """Load the settings in a TOML file; raises InputError that names the first wrong setting.

    A file with a password must not be readable for other users.
    """
    settings = parse_settings(read_toml(path), path.name)
    if isinstance(settings.mqtt, MqttSettings):
        check_secret(settings.mqtt, path)
    return settings


def parse_settings(raw: JsonObject, where: str) -> HardwareSettings:
    """Check the table `hardware` of a document.

    Raises InputError that begins with `where` and names the setting.
    """
    table = raw.get("hardware")
    if not isinstance(table, dict):
        raise InputError(
            msg(
                "{where}: hardware: expected a table [hardware], got {text}",
                where=where,
                text=shown(table) if "hardware" in raw else NONE,
            )
        )
    _check_plugins(table, where)
    _check_words(table, where)
    _check_password(table, where)
    settings = convert(_with_plugins(table), HardwareSettings, where, "hardware")
    if isinstance(settings.mqtt, MqttSettings):
        check_mqtt(settings.mqtt, where)
    _check_pins(settings, where)
    _check_ports(settings, where)
    _check_signals(settings, where)
    _check_bluetooth(settings, where)
    return settings


def _check_plugins(table: JsonObject, where: str) -> None:
    """Raise InputError for a plugin that is installed but cannot be used."""
    for part in GROUPS:
        kind = _kind(table, part)
        if kind and (broken := device_plugins(part).unusable(kind)):
            raise InputError(
                msg(
                    "{where}: hardware.{setting}: {raw}",
                    where=where,
                    setting=part,
                    raw=broken.line(part),
                )
            )


def _with_plugins(table: JsonObject) -> JsonObject:
    """Convert plugins' settings to the form of `PluginSettings`."""
    found = dict(table)
    for part in GROUPS:
        if kind := _kind(table, part):
            options = {name: value for name, value in table[part].items() if name != "kind"}
            found[part] = {"kind": PLUGIN, "name": kind, "options": options}
    return found


def _kind(table: JsonObject, part: str) -> str:
    """Kind of a part if only a plugin can have it; else empty."""
    held = table.get(part)
    kind = held.get("kind") if isinstance(held, dict) else None
    return kind if isinstance(kind, str) and kind not in _WORDS[f"{part}.kind"] else ""


def _kinds(part: str) -> tuple[str, ...]:
    declared = next(
        field for field in msgspec.structs.fields(HardwareSettings) if field.name == part
    ).type
    tags = (kind.__struct_config__.tag for kind in get_args(declared) if kind is not type(None))
    return tuple(tag for tag in tags if tag != PLUGIN)


_WORDS: dict[str, tuple[str, ...]] = {
    "pins": get_args(Library),
    **{f"{part}.kind": _kinds(part) for part in PARTS},
    "lamps.starts": get_args(Corner),
}
"""Allowed values of settings that are words; checked first, so that the error lists them."""


def _check_words(table: JsonObject, where: str) -> None:
    for setting, words in _WORDS.items():
        part, _, field = setting.rpartition(".")
        holder = table.get(part, {}) if part else table
        if not isinstance(holder, dict):
            continue
        needed = field == "kind" and part in table
        if field == "kind" and part in GROUPS:
            words = (*words, *(device_plugins(part).parts if _kind(table, part) else ()))
        if (field in holder and holder[field] not in words) or (needed and field not in holder):
            raise InputError(
                msg(
                    "{where}: hardware.{setting}: expected {raw}, got {text}",
                    where=where,
                    setting=setting,
                    raw=", ".join(words),
                    text=shown(holder[field]) if field in holder else NONE,
                )
            )


def _check_password(table: JsonObject, where: str) -> None:
    """Check the password before all else, as later errors may quote the settings."""
    held = table.get("mqtt")
    if isinstance(held, dict) and not isinstance(held.get("password", ""), str):
        raise InputError(
            msg(
                "{where}: hardware.mqtt.password: expected text in quotation marks, got"
                " something else",
                where=where,
            )
        )


def used_pins(settings: HardwareSettings) -> Iterator[tuple[str, int]]:
    """Yield every pin with the setting that names it."""
    match settings.lamps:
        case GpioLampsSettings(players=players, verdict=verdict):
            named = {f"lamps.players[{seat}]": pins for seat, pins in enumerate(players)} | {
                "lamps.verdict": verdict
            }
            for setting, pins in named.items():
                yield from ((f"hardware.{setting}", pin) for pin in as_pins(pins))
    match settings.dice:
        case GpioDiceSettings(pips=dice):
            yield from (
                (f"hardware.dice.pips[{die}]", pin) for die, pins in enumerate(dice) for pin in pins
            )
    match settings.buttons:
        case GpioButtonsSettings():
            yield from (
                (f"hardware.buttons.{name}", pin)
                for name, pin in button_pins(settings.buttons).items()
            )
    match settings.buzzer:
        case GpioBuzzerSettings(pin=pin):
            yield "hardware.buzzer.pin", pin


def as_pins(pins: Pins) -> tuple[int, ...]:
    """Pins of one lamp."""
    return (pins,) if isinstance(pins, int) else pins


def bluetooth_buttons(buttons: BluetoothButtonsSettings) -> dict[str, tuple[str, int]]:
    """(address in capitals, button number from 1) of the configured buttons, by name."""
    found = {}
    for name in buttons.__struct_fields__:
        if (text := getattr(buttons, name)) is not None:
            address, _, number = text.partition("/")
            found[name] = address.upper(), int(number or 1)
    return found


def button_pins(buttons: GpioButtonsSettings) -> dict[str, int]:
    """Pins of the configured buttons, by name."""
    return {
        name: pin
        for name in buttons.__struct_fields__
        if (pin := getattr(buttons, name)) is not None
    }


def _check_pins(settings: HardwareSettings, where: str) -> None:
    first: dict[int, str] = {}
    for setting, pin in used_pins(settings):
        if pin not in HEADER:
            raise InputError(
                msg(
                    "{where}: {setting}: expected a GPIO number from 2 to 27 (not the pin"
                    " position on the header), got {raw}",
                    where=where,
                    setting=setting,
                    raw=pin,
                )
            )
        if first.get(pin) == setting:
            raise InputError(
                msg(
                    "{where}: {setting}: expected a different pin for each part, got GPIO"
                    " {raw} twice",
                    where=where,
                    setting=setting,
                    raw=pin,
                )
            )
        if pin in first:
            raise InputError(
                msg(
                    "{where}: {setting}: expected a pin of its own, got GPIO {raw}, which"
                    " {raw2} already uses",
                    where=where,
                    setting=setting,
                    raw=pin,
                    raw2=first[pin],
                )
            )
        first[pin] = setting


def _check_ports(settings: HardwareSettings, where: str) -> None:
    ports: dict[str, str] = {}
    for part, bauds in (("lamps", WLED_BAUDS), ("calliper", CALLIPER_BAUDS)):
        held = getattr(settings, part)
        if isinstance(held, WledSettings | WledPresetsSettings | CalliperSettings):
            if held.baud not in bauds:
                raise InputError(
                    msg(
                        "{where}: hardware.{raw}.baud: expected one of {raw2} baud, got {raw3}",
                        where=where,
                        raw=part,
                        raw2=", ".join(map(str, bauds)),
                        raw3=held.baud,
                    )
                )
            _claim(ports, f"hardware.{part}.device", held.device, where)
    if settings.board is not None:
        _claim(ports, "hardware.board", settings.board, where)
    for part in ("lamps", "dice", "buttons", "buzzer"):
        held = getattr(settings, part)
        if held is not None and held.__struct_config__.tag == "board" and settings.board is None:
            raise InputError(
                msg(
                    "{where}: hardware.board: expected the serial port of the board that"
                    " hardware.{raw} uses, got none",
                    where=where,
                    raw=part,
                )
            )
    if isinstance(settings.dice, WledDiceSettings) and not isinstance(
        settings.lamps, WledSettings | WledNetworkSettings
    ):
        raise InputError(
            msg(
                "{where}: hardware.dice.kind: expected another kind: 'wled' dice are the"
                " end of the strip of hardware.lamps, but there is no strip",
                where=where,
            )
        )


def _claim(ports: dict[str, str], setting: str, device: str, where: str) -> None:
    real = os.path.realpath(device)  # one port may have several names
    if real in ports:
        raise InputError(
            msg(
                "{where}: {setting}: expected a port of its own, got {raw}, which {raw2}"
                " already uses",
                where=where,
                setting=setting,
                raw=quoted(device, MOST_DEVICE),
                raw2=ports[real],
            )
        )
    ports[real] = setting


def _check_signals(settings: HardwareSettings, where: str) -> None:
    if isinstance(settings.lamps, WledPresetsSettings | WledNetworkPresetsSettings):
        if not settings.lamps.presets:
            raise InputError(
                msg(
                    "{where}: hardware.lamps.presets: expected a preset for at least one"
                    " signal ({raw}), got none",
                    where=where,
                    raw=", ".join(SIGNALS),
                )
            )
        for name in settings.lamps.presets:
            if name not in SIGNALS:
                raise InputError(
                    msg(
                        "{where}: hardware.lamps.presets: expected signals ({raw}), got {raw2}",
                        where=where,
                        raw=", ".join(SIGNALS),
                        raw2=quoted(name),
                    )
                )


def _check_bluetooth(settings: HardwareSettings, where: str) -> None:
    if isinstance(settings.calliper, BluetoothCalliperSettings):
        _check_address(settings.calliper.device, _ADDRESS, f"{where}: hardware.calliper.device")
        if settings.calliper.characteristic and not _UUID.fullmatch(
            settings.calliper.characteristic
        ):
            raise InputError(
                msg(
                    "{where}: hardware.calliper.characteristic: expected a UUID such as {raw}, got"
                    " {raw2}",
                    where=where,
                    raw="6e400003-b5a3-f393-e0a9-e50e24dcca9e",
                    raw2=quoted(settings.calliper.characteristic),
                )
            )
    if not isinstance(settings.buttons, BluetoothButtonsSettings):
        return
    numbered = re.compile(rf"{_ADDRESS.pattern}(?:/[1-9])?", re.IGNORECASE)
    first: dict[tuple[str, int], str] = {}
    for name in settings.buttons.__struct_fields__:
        if (text := getattr(settings.buttons, name)) is not None:
            _check_address(text, numbered, f"{where}: hardware.buttons.{name}")
    for name, button in bluetooth_buttons(settings.buttons).items():
        if button in first:
            raise InputError(
                msg(
                    "{where}: hardware.buttons.{raw}: expected a button of its own, got {raw2},"
                    " which hardware.buttons.{raw3} already uses",
                    where=where,
                    raw=name,
                    raw2="/".join(map(str, button)),
                    raw3=first[button],
                )
            )
        first[button] = name
    if not first:
        raise InputError(
            msg(
                "{where}: hardware.buttons: expected the address of at least one button, got none",
                where=where,
            )
        )


def _check_address(text: str, pattern: re.Pattern[str], where: str) -> None:
    if not pattern.fullmatch(text):
        raise InputError(
            msg(
                "{where}: expected a Bluetooth address such as {raw}, got {raw2}",
                where=where,
                raw="3C:2E:F5:00:12:34",
                raw2=quoted(text),
            )
        )
