"""`rinkside hardware` and `rinkside dice`: list and try out hardware, and test dice."""

from __future__ import annotations

import queue
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from importlib import resources
from pathlib import Path
from typing import TypeVar

import click
import msgspec
from rich.markup import escape

from cli.device_report import SQUARE_MM, ask_board, connected, reach_broker
from cli.dice import FEWEST, judge_rolls
from cli.terminal import confirmed, console, in_language, new_table, ring, say, say_written
from hardware.cues import SIGNALS, TUNES, Cue, Mark, Signal
from hardware.dice_display import picture, tumble
from hardware.factory import Devices, open_devices
from hardware.interfaces import Buttons, Lamps, Press, Reading
from hardware.mqtt_settings import MqttSettings
from hardware.settings import (
    BluetoothButtonsSettings,
    BoardLampsSettings,
    BoardPartSettings,
    GpioButtonsSettings,
    GpioLampsSettings,
    HardwareSettings,
    WledNetworkSettings,
    WledSettings,
    bluetooth_buttons,
    button_pins,
    load_settings,
)
from referee.sessions.drawn_dice import draw
from table.errors import InputError
from table.files import write_whole
from table.languages import translation
from table.messages import Word, in_a_row, msg
from table.solids import Array
from table.table_config import load_table

WAIT_S = 20.0
"""Longest wait for a button or a calliper."""
HEARD_S = 10
"""Duration of a Bluetooth scan; devices that are awake broadcast every few seconds.
"""
TRIED = ("red", "blue", "green", "yellow", "black", "white")
"""Player colours for the lamp test."""

PRIMARIES = ("red", "green", "blue")
"""Colours that test every wire of a lamp."""
VERDICT_COLOURS: dict[Signal, str] = {"refused": "red", "accepted": "green", "paused": "blue"}
"""Signals dominated by one wire of the verdict lamp, with its colour."""

SETTLING_FRAMES, PICTURE_QUALITY = 10, 80
"""Number of frames until exposure has settled, and JPEG quality of the stored picture.
"""

FIRMWARE = {
    "pico": ("pico.py", "main.py"),
    "uno": ("rinkside_board/rinkside_board.ino", "rinkside_board/rinkside_board.ino"),
}
"""Firmware of microcontrollers: path in hardware/firmware, and the file name that MicroPython or
the Arduino IDE expects.
"""

T = TypeVar("T")
_settings = click.option(
    "--settings",
    "path",
    type=click.Path(path_type=Path),
    required=True,
    help="TOML file with the table [hardware].",
)


@click.group()
def hardware() -> None:
    """Lamps, dice, buttons, buzzer and calliper: what is connected, and whether it works."""


@hardware.command("list")
@click.option(
    "--settings",
    "path",
    type=click.Path(path_type=Path),
    help="TOML file with the table [hardware].",
)
@click.option(
    "--bluetooth",
    is_flag=True,
    help="Also list Bluetooth devices that are heard within 10 s; press your buttons meanwhile.",
)
def list_hardware(path: Path | None, bluetooth: bool) -> None:
    """List the serial ports and, with settings, the parts that they name.

    Of each part: where it is, and what is wrong with it.

    Exit code 1 where something does not work.
    """
    wrong: dict[str, list[str]] = {}
    if path is not None:
        table = new_table(msg("part"), msg("kind"), msg("GPIO or port"), msg("state"))
        for part in connected(load_settings(path), time.sleep):
            table.add_row(
                part.part,
                part.kind,
                escape(in_language(part.where)),
                escape(in_language(msg("wrong: see below") if part.wrong else part.says)),
            )
            if part.wrong:
                wrong.setdefault(part.wrong, []).append(part.part)
        console().print(table)
    for why, parts in wrong.items():
        say(msg("{text}: {text2}", text=in_a_row(map(Word, parts)), text2=why))
    _list_ports()
    if bluetooth:
        _list_bluetooth()
    if wrong:
        raise SystemExit(1)


@hardware.command("picture")
@click.argument("camera")
@click.option(
    "--out", type=click.Path(path_type=Path), required=True, help="The file to write: OUT.jpg."
)
def take_picture(camera: str, out: Path) -> None:
    """Take one picture with CAMERA, such as rpicam:0 or v4l2:0, to see what it sees."""
    from vision.cameras.base import CameraLost, open_camera
    from vision.cameras.image_files import encode_jpeg

    with closing(open_camera(camera, None)) as port:
        try:
            frames = [frame for _ in range(SETTLING_FRAMES) if (frame := port.read()) is not None]
        except CameraLost as lost:
            raise InputError(msg("{raw}: {text}", raw=camera, text=lost.message)) from lost
    if not frames:
        raise InputError(msg("expected a picture from {raw}, got none", raw=camera))
    write_whole(out, encode_jpeg(frames[-1].image, PICTURE_QUALITY))
    say_written(out)


def _list_ports() -> None:
    from hardware.backends.serial_port import found_ports

    if not (ports := found_ports()):
        say(msg("There are no serial ports. Is everything plugged in?"))
        return
    table = new_table(msg("serial port"), msg("description"))
    for port in ports:
        table.add_row(escape(port.device), escape(port.description))
    console().print(table)
    # Not in the table, which breaks names at the width of the terminal: people copy them into their
    # settings.
    for port in (port for port in ports if port.lasting):
        say(msg("{raw} is always {raw2}", raw=port.device, raw2=port.lasting))


def _list_bluetooth() -> None:
    from hardware.backends.bluetooth import check_bleak, hear

    check_bleak("--bluetooth")
    say(msg("Listening for {n} s. Press every Bluetooth button once.", n=HEARD_S))
    if not (heard := hear(HEARD_S)):
        say(msg("No Bluetooth device broadcast anything."))
        return
    table = new_table(msg("Bluetooth address"), msg("name"), msg("buttons"))
    for device in heard:
        table.add_row(device.address, escape(device.name), str(device.buttons or ""))
    console().print(table)


@hardware.command()
@click.argument("board", type=click.Choice(tuple(FIRMWARE)))
@click.argument("folder", type=click.Path(path_type=Path), default=Path())
def firmware(board: str, folder: Path) -> None:
    """Write the program of a microcontroller into FOLDER [default: this one].

    For a Pico this is main.py, for an Arduino Uno a sketch.
    """
    source, name = FIRMWARE[board]
    path = folder / name
    if path.exists():
        raise InputError(
            msg(
                "{path}: a file with this name already exists; give another folder, or move"
                " the file away",
                path=path,
            )
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, resources.files("hardware").joinpath("firmware", source).read_bytes())
    say_written(path)
    say(
        msg(
            "docs/HARDWARE.md says how it gets on to the board, and what is connected to which pin."
        )
    )


@hardware.command()
@_settings
@click.option(
    "--table",
    "table_path",
    type=click.Path(path_type=Path),
    help="table.json of the board that a strip is round [default: a square].",
)
def check(path: Path, table_path: Path | None) -> None:
    """Test every lamp, die and button, and ask whether it works.

    Exit code 1 if something does not.
    """
    settings = load_settings(path)
    outline_mm = load_table(table_path).outline_mm() if table_path else SQUARE_MM
    names = _button_names(settings)
    others = msgspec.structs.replace(settings, mqtt=None)  # a game may hold its connection
    with closing(open_devices(others, outline_mm, ring)) as devices:
        tried = list(_walk(devices, settings, names, outline_mm))
        failed = [in_language(what) for what, works in tried if not works]
        failed += [
            in_language(msg("{text}: {text2}", text=Word(part), text2=why))
            for part, why in devices.errors.items()
        ]
    if not tried:
        raise InputError(
            msg("{path}: hardware: expected at least one part to test, got none", path=path)
        )
    say(msg("Not working: {raw}", raw="; ".join(failed)) if failed else msg("Everything works."))
    if failed:
        raise SystemExit(1)


def _button_names(settings: HardwareSettings) -> tuple[str, ...]:
    """Names of all buttons; a microcontroller board is queried for its own.

    Raises InputError if no board answers.
    """
    match settings.buttons:
        case GpioButtonsSettings():
            return tuple(button_pins(settings.buttons))
        case BluetoothButtonsSettings():
            return tuple(bluetooth_buttons(settings.buttons))
        case BoardPartSettings():
            return ask_board(settings, time.sleep).buttons
        case _:
            return GpioButtonsSettings.__struct_fields__


def _walk(
    devices: Devices, settings: HardwareSettings, names: tuple[str, ...], outline_mm: Array
) -> Iterator[tuple[str, bool]]:
    """Try every part; yields its name, and True if the user confirms that it works.

    `names` are those of buttons.
    """
    if devices.lamps:
        yield from _try_lamps(devices.lamps, settings)
        if isinstance(settings.lamps, WledSettings | WledNetworkSettings):
            yield from _try_corners(devices.lamps, outline_mm)
    if devices.dice:
        for value in range(1, 7):
            devices.dice.show((value,) * devices.dice.count)
            shows = confirmed(msg("Does every die show a {n}?", n=value))
            yield msg("a {n} on the dice", n=value), shows
    if devices.buzzer:
        devices.buzzer.play(Cue("refused"))
        yield msg("the buzzer"), confirmed(msg("Were there three beeps?"))
    if devices.voice:
        words = msg("This is Rinkside.")
        devices.voice.say(translation(words, devices.voice.language))
        yield msg("the voice"), confirmed(msg("Did a voice say: {text}", text=words))
    if isinstance(settings.mqtt, MqttSettings):
        _, wrong = reach_broker(settings.mqtt, time.sleep)
        say(wrong or msg("The broker at {raw} lets Rinkside in.", raw=settings.mqtt.url))
        yield "mqtt", not wrong
    if devices.buttons:
        yield from _try_buttons(devices.buttons, names)
    if devices.calliper:
        readings: queue.Queue[Reading] = queue.Queue()
        devices.calliper.listen(readings.put)
        yield (
            msg("the calliper"),
            _hear(
                readings,
                msg("Send a reading from the calliper."),
                lambda reading: f"{reading.mm:g} mm",
                lambda _reading: True,
            ),
        )


def _seats(settings: HardwareSettings) -> int:
    """Number of players with a lamp; a strip serves all."""
    match settings.lamps:
        case GpioLampsSettings(players=players):
            return len(players)
        case BoardLampsSettings(players=count):
            return count
        case _:
            return len(TRIED)


def _try_lamps(lamps: Lamps, settings: HardwareSettings) -> Iterator[tuple[str, bool]]:
    seats = _seats(settings)
    for seat, colour in enumerate(TRIED[:seats], 1):
        lamps.show(Cue("turn", TRIED, of=(colour,)))
        yield (
            msg("the lamp of player {n}", n=seat),
            confirmed(
                msg(
                    "Does the lamp of player {n} ({colour}) slowly go bright and dim?",
                    n=seat,
                    colour=colour,
                )
            ),
        )
    if isinstance(settings.lamps, GpioLampsSettings):
        yield from _try_wires(lamps, settings.lamps)
    for signal in SIGNALS:
        lamps.show(Cue(signal, TRIED[:seats], of=TRIED[:2]))
        colour = VERDICT_COLOURS.get(signal, "") if _has_colours(settings) else ""
        looks: dict[str, object] = {"raw": repr(signal), "text": TUNES[signal].words}
        yield (
            msg("the signal {raw}", raw=repr(signal)),
            confirmed(
                msg(
                    "Is this {raw}: {text}, and the lamp of the ruling {colour}?",
                    **looks,
                    colour=colour,
                )
                if colour
                else msg("Is this {raw}: {text}?", **looks)
            ),
        )


def _try_wires(lamps: Lamps, settings: GpioLampsSettings) -> Iterator[tuple[str, bool]]:
    """Try red, green and blue separately on every player's lamp with three pins."""
    for seat, pins in enumerate(settings.players, 1):
        for colour in PRIMARIES if not isinstance(pins, int) else ():
            lamps.show(Cue("turn", ("",) * (seat - 1) + (colour,), of=(colour,)))
            yield (
                msg("{colour} of the lamp of player {n}", colour=colour, n=seat),
                confirmed(msg("Is the lamp of player {n} {colour}?", n=seat, colour=colour)),
            )


def _has_colours(settings: HardwareSettings) -> bool:
    """True if the verdict lamp has known colours."""
    match settings.lamps:
        case GpioLampsSettings(verdict=verdict):
            return not isinstance(verdict, int)
        case _:
            return isinstance(settings.lamps, WledSettings | WledNetworkSettings)


def _try_corners(lamps: Lamps, outline_mm: Array) -> Iterator[tuple[str, bool]]:
    """Point the strip at the board's corners, one by one, and ask whether each is right.

    This detects a strip with a different start or direction.
    """
    (left, near), (right, far) = outline_mm.min(axis=0), outline_mm.max(axis=0)
    for corner, setting, point in (
        (msg("near left"), "starts", (left, near)),
        (msg("near right"), "clockwise", (right, near)),
        (msg("far right"), "leds", (right, far)),
    ):
        lamps.show(Cue("turn", TRIED, marks=(Mark("line", (point, point)),)))
        question = msg(
            "Do lamps blink at the {text} corner, as seen by the players, and nowhere else?",
            text=corner,
        )
        yield f"hardware.lamps.{setting}", confirmed(question)


def _try_buttons(buttons: Buttons, names: tuple[str, ...]) -> Iterator[tuple[str, bool]]:
    """Ask the user to press every button by its name."""
    presses: queue.Queue[Press] = queue.Queue()
    buttons.listen(presses.put)
    for name in names:
        yield (
            msg("the button {raw}", raw=repr(name)),
            _hear(presses, msg("Press {raw}.", raw=name), _press_text, partial(_is_down, name)),
        )


def _is_down(name: str, press: Press) -> bool:
    return (press.button, press.kind) == (name, "down")


def _press_text(press: Press) -> str:
    return f"{press.button}: {press.kind}"


def _hear(
    inputs: queue.Queue[T], ask: str, shown: Callable[[T], str], is_last: Callable[[T], bool]
) -> bool:
    """Print inputs until the last one; False if none arrives for WAIT_S."""
    say(ask)
    try:
        while True:
            item = inputs.get(timeout=WAIT_S)
            say(f"  {shown(item)}")
            if is_last(item):
                return True
    except queue.Empty:
        return False


@click.group()
def dice() -> None:
    """Roll electronic dice in the terminal, with random numbers of the operating system."""


@dice.command()
@click.option(
    "-n", "count", type=click.IntRange(1, 6), default=1, show_default=True, help="How many dice."
)
def roll(count: int) -> None:
    """Roll dice and print them."""
    values = tuple(draw() for _ in range(count))
    output = console()
    if output.is_terminal:
        with output.status("") as status:
            for faces, hold_ms in tumble(values):
                status.update(" ".join(map(str, faces)))
                time.sleep(hold_ms / 1000)
    say(*picture(values).splitlines())
    say(" + ".join(map(str, values)) + (f" = {sum(values)}" if count > 1 else ""))


@dice.command("test")
@click.option(
    "-n",
    "rolls",
    type=click.IntRange(FEWEST),
    default=60000,
    show_default=True,
    help="How many rolls.",
)
def test_dice(rolls: int) -> None:
    """Roll many times and test whether all values are equally likely (chi-square).

    Exit code 1 for a result that a fair die gives less than once in a thousand tests.
    """
    fairness = judge_rolls(draw() for _ in range(rolls))
    table = new_table(msg("value"), msg("came"), msg("expected"), right=range(3))
    for value, count in enumerate(fairness.counts, 1):
        table.add_row(str(value), str(count), f"{rolls / 6:.0f}")
    console().print(table)
    say(
        msg(
            "chi-square {raw}, 5 degrees of freedom: a fair die gives as much or more in {raw2} of"
            " such tests",
            raw=f"{fairness.chi_square:.2f}",
            raw2=f"{fairness.probability:.1%}",
        )
    )
    say(
        msg("Nothing speaks against a fair die.")
        if fairness
        else msg("This die is not fair, or chance was most unkind: test again.")
    )
    if not fairness:
        raise SystemExit(1)
