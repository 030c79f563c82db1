"""Report of connected hardware.

For every configured part: its place, its report, and its fault.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from typing import TYPE_CHECKING, NamedTuple

import msgspec
import numpy as np

from hardware.backends.led_power import full_ma
from hardware.factory import open_devices
from hardware.interfaces import DeviceLost
from hardware.mqtt_settings import MqttSettings
from hardware.settings import (
    PARTS,
    BluetoothButtonsSettings,
    BoardLampsSettings,
    BoardPartSettings,
    CountedDiceSettings,
    GpioButtonsSettings,
    GpioBuzzerSettings,
    GpioDiceSettings,
    GpioLampsSettings,
    HardwareSettings,
    PluginSettings,
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
from table.messages import msg

if TYPE_CHECKING:
    from hardware.backends.microcontroller import Hello
    from hardware.backends.wled import StripInfo

REACHED_S, LOOK_S = 6.0, 0.1
"""Timeout for a broker's answer, and the interval for polling it."""
SQUARE_MM = np.array([[0.0, 0.0], [400.0, 0.0], [400.0, 400.0], [0.0, 400.0]])
"""Outline of the board for testing a strip without a known table."""


class PartState(NamedTuple):
    """State of one part.

    `says` is its report, "not in the settings" for an unconfigured part; `wrong` is its fault,
    empty if it works.
    """

    part: str
    kind: str = "-"
    where: str = ""
    says: str = msg("not in the settings")
    wrong: str = ""


def connected(settings: HardwareSettings, pause: Callable[[float], object]) -> Iterator[PartState]:
    """Report every part; configured ones are opened, queried and closed, one at a time.

    `pause(seconds)` waits for answers.
    """
    for part in PARTS:
        if (held := getattr(settings, part)) is None:
            yield PartState(part)
            continue
        kind, where = held.__struct_config__.tag, _part_location(settings, part)
        if isinstance(held, PluginSettings):
            kind = held.name
        try:
            if isinstance(held, MqttSettings):  # a running game may hold its connection
                yield PartState(part, kind, where, *reach_broker(held, pause))
                continue
            open_devices(_part_settings(settings, part), SQUARE_MM, lambda _text: None).close()
            yield PartState(part, kind, where, *_answer(settings, part, pause))
        except InputError as error:
            yield PartState(part, kind, where, "", error.message)


def _part_settings(settings: HardwareSettings, part: str) -> HardwareSettings:
    """Settings reduced to one part; dice on a strip keep their strip."""
    kept = (
        {part, "lamps"}
        if part == "dice" and isinstance(settings.dice, WledDiceSettings)
        else {part}
    )
    return msgspec.structs.replace(settings, **dict.fromkeys(set(PARTS) - kept))


def _part_location(settings: HardwareSettings, part: str) -> str:
    """GPIO numbers by function, or the port."""
    match held := getattr(settings, part):
        case GpioLampsSettings(players=players, verdict=verdict):
            named = {f"player {seat}": pins for seat, pins in enumerate(players, 1)} | {
                "verdict": verdict
            }
            return "; ".join(
                f"{name}: {', '.join(map(str, as_pins(pins)))}" for name, pins in named.items()
            )
        case GpioDiceSettings(pips=dice):
            return "; ".join(", ".join(map(str, pips)) for pips in dice)
        case GpioButtonsSettings():
            return "; ".join(f"{name}: {pin}" for name, pin in button_pins(held).items())
        case BluetoothButtonsSettings():
            return "; ".join(f"{name}: {getattr(held, name)}" for name in bluetooth_buttons(held))
        case GpioBuzzerSettings(pin=pin):
            return str(pin)
        case WledDiceSettings():
            return getattr(settings.lamps, "device", "")
        case MqttSettings(url=url):
            return url
    if held.__struct_config__.tag == "board":
        return settings.board or ""
    if isinstance(held, WledNetworkSettings | WledNetworkPresetsSettings):
        return held.host or msg("found by mDNS")
    return getattr(held, "device", "")


def _answer(
    settings: HardwareSettings, part: str, pause: Callable[[float], object]
) -> tuple[str, str]:
    """Report and fault of an opened part."""
    held = getattr(settings, part)
    if held.__struct_config__.tag == "board":
        return _board(settings, part, pause)
    if isinstance(held, WledSettings | WledPresetsSettings):
        return _strip(settings, held, pause)
    if isinstance(held, WledNetworkSettings | WledNetworkPresetsSettings):
        return _network_strip(settings, held)
    return msg("opened"), ""


def reach_broker(settings: MqttSettings, pause: Callable[[float], object]) -> tuple[str, str]:
    """Report and fault of a broker (empty if it accepts the log-in).

    The test uses a separate connection, which publishes nothing about the table.
    """
    from hardware.backends.mqtt import MqttBroker

    with closing(MqttBroker(settings, try_only=True)) as broker:
        for _ in range(round(REACHED_S / LOOK_S)):
            if broker.connected or broker.error:
                break
            pause(LOOK_S)
        return (msg("connected"), "") if broker.connected else ("", broker.error)


def _strip(
    settings: HardwareSettings,
    lamps: WledSettings | WledPresetsSettings,
    pause: Callable[[float], object],
) -> tuple[str, str]:
    from hardware.backends.serial_port import open_port
    from hardware.backends.wled import identify

    with closing(open_port(lamps.device, lamps.baud, "hardware.lamps.device")) as port:
        found = identify(port, pause)
    if found is None:
        return (
            msg(
                "opened, but nothing answers: is hardware.lamps.baud, {n}, what WLED's sync"
                " settings say, and are GPIO 1 and 3 free?",
                n=lamps.baud,
            ),
            "",
        )
    return _strip_report(settings, lamps, found)


def _network_strip(
    settings: HardwareSettings, lamps: WledNetworkSettings | WledNetworkPresetsSettings
) -> tuple[str, str]:
    from hardware.backends.wled_network import Address, address_of, identify

    try:
        found = identify(Address(address_of(lamps.host), lamps.port))
    except DeviceLost as lost:
        return "", lost.message
    return _strip_report(settings, lamps, found)


def _strip_report(
    settings: HardwareSettings,
    lamps: WledSettings | WledPresetsSettings | WledNetworkSettings | WledNetworkPresetsSettings,
    found: StripInfo,
) -> tuple[str, str]:
    """Report and fault of a strip that answered."""
    found_text = msg("WLED {raw} with {n} lamps", raw=found.version, n=found.lamps)
    if isinstance(lamps, WledPresetsSettings | WledNetworkPresetsSettings):
        return found_text, ""
    wanted = lamps.leds + 7 * (
        settings.dice.count if isinstance(settings.dice, WledDiceSettings) else 0
    )
    if found.lamps < wanted:
        return (
            "",
            msg(
                "hardware.lamps.leds: expected at most {n} lamps (WLED has that many, dice"
                " included), got {n2}",
                n=found.lamps,
                n2=wanted,
            ),
        )
    most_a = min(lamps.supply_ma, full_ma(wanted, lamps.brightness)) / 1000
    return (
        msg(
            "{text}; draws {raw} A at most, {raw2} A without brightness and supply_ma",
            text=found_text,
            raw=f"{most_a:.1f}",
            raw2=f"{full_ma(wanted) / 1000:.1f}",
        ),
        "",
    )


def ask_board(settings: HardwareSettings, pause: Callable[[float], object]) -> Hello:
    """Query the microcontroller for its parts; raises InputError if none answers."""
    from hardware.backends.microcontroller import BAUD, identify
    from hardware.backends.serial_port import open_port

    with closing(open_port(settings.board or "", BAUD, "hardware.board")) as port:
        found = identify(port, pause)
    if found is None:
        raise InputError(
            msg(
                "hardware.board: expected an answer from the board at {raw}, got none; is"
                " its program installed (docs/HARDWARE.md)?",
                raw=repr(settings.board),
            )
        )
    return found


def _board(
    settings: HardwareSettings, part: str, pause: Callable[[float], object]
) -> tuple[str, str]:
    found = ask_board(settings, pause)
    match getattr(settings, part):
        case BoardLampsSettings(players=players) if players >= found.lamps:
            return (
                "",
                msg(
                    "hardware.lamps.players: expected at most {n}, because the board has"
                    " {n2} lamps, got {n3}",
                    n=found.lamps - 1,
                    n2=found.lamps,
                    n3=players,
                ),
            )
        case CountedDiceSettings(count=count) if count > found.dice:
            return (
                "",
                msg(
                    "hardware.dice.count: expected at most {n}, the number that the board"
                    " has, got {n2}",
                    n=found.dice,
                    n2=count,
                ),
            )
        case BoardPartSettings() if part == "buzzer" and not found.buzzer:
            return "", msg("hardware.buzzer.kind: expected another kind: the board has no buzzer")
    match part:
        case "lamps":
            return msg("a board with {n} lamps", n=found.lamps), ""
        case "dice":
            if found.dice == 1:
                return msg("a board with 1 die"), ""
            return msg("a board with {n} dice", n=found.dice), ""
        case "buttons":
            return msg("a board with {raw}", raw=", ".join(found.buttons)), ""
        case _:
            return msg("a board with a buzzer"), ""
