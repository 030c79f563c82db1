"""`rinkside hardware` and `rinkside dice`: what is connected, whether it works, and whether the dice are fair."""

from __future__ import annotations

import queue
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TypeVar

import click
import msgspec
import numpy as np
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from hardware.dice import draw, picture, tumble
from hardware.fairness import FEWEST, judge_rolls
from hardware.ports import Buttons, Lamps, Press, Reading
from hardware.rig import Rig, open_rig
from hardware.scenes import SIGNALS, Scene
from hardware.settings import (
    BoardLampsSettings,
    GpioButtonsSettings,
    GpioLampsSettings,
    HardwareSettings,
    WledPresetsSettings,
    WledSettings,
    button_pins,
    load_settings,
    used_pins,
)
from table.errors import InputError

PARTS = ("lamps", "dice", "buttons", "buzzer", "calliper")
SQUARE_MM = np.array([[0.0, 0.0], [400.0, 0.0], [400.0, 400.0], [0.0, 400.0]])
"""A board to light a strip round where no table is known."""
WAIT_S = 20.0
"""So long a button or a calliper is waited for."""
TRIED = ("red", "blue", "green", "yellow", "black", "white")
"""Players' colours while lamps are tried."""

T = TypeVar("T")
_settings = click.option("--settings", "path", type=click.Path(path_type=Path), required=True, help="TOML file with the table [hardware].")


@click.group()
def hardware() -> None:
    """Lamps, dice, buttons, buzzer and calliper: what is connected, and whether it works."""


@hardware.command("list")
@_settings
def list_hardware(path: Path) -> None:
    """List what the settings name, where it is, and what is wrong with it; and all serial ports.

    Exit code 1 where something does not work.
    """
    settings = load_settings(path)
    table = Table(box=SIMPLE_HEAD)
    for heading in ("part", "kind", "where", "state"):
        table.add_column(heading)
    works = True
    for part in PARTS:
        if (held := getattr(settings, part)) is None:
            table.add_row(part, "-", "", "not in the settings")
            continue
        wrong = _wrong(settings, part)
        works &= not wrong
        table.add_row(part, held.__struct_config__.tag, escape(_where(settings, part)), escape(wrong or _works(settings, part)))
    Console().print(table)
    click.echo(f"serial ports: {', '.join(_ports()) or 'none'}")
    if not works:
        raise SystemExit(1)


def _ports() -> list[str]:
    from hardware.serial_port import found_ports

    return found_ports()


def _only(settings: HardwareSettings, part: str) -> HardwareSettings:
    """Settings of one part alone; dice on a strip keep their strip."""
    kept = {part, "lamps"} if part == "dice" and getattr(settings, part).__struct_config__.tag == "wled" else {part}
    return msgspec.structs.replace(settings, **dict.fromkeys(set(PARTS) - kept))


def _wrong(settings: HardwareSettings, part: str) -> str:
    """Why a part cannot be opened; empty where it can."""
    try:
        open_rig(_only(settings, part), SQUARE_MM, lambda _text: None).close()
    except InputError as error:
        return str(error)
    return ""


def _works(settings: HardwareSettings, part: str) -> str:
    """What a part that could be opened says of itself."""
    lamps = settings.lamps
    if part != "lamps" or not isinstance(lamps, WledSettings | WledPresetsSettings):
        return "opened"
    from hardware.serial_port import open_port
    from hardware.wled import identify

    with closing(open_port(lamps.device, lamps.baud, "hardware.lamps.device")) as port:
        answer = identify(port, time.sleep)
    return answer or f"opened, but nothing answers at {lamps.baud} baud: is it the speed in WLED's sync settings, and are GPIO 1 and 3 free?"


def _where(settings: HardwareSettings, part: str) -> str:
    held = getattr(settings, part)
    if held.__struct_config__.tag == "board":
        return settings.board or ""
    pins = [str(pin) for setting, pin in used_pins(settings) if setting.startswith(f"hardware.{part}")]
    return getattr(held, "device", "") or (f"GPIO {', '.join(pins)}" if pins else "")


@hardware.command()
@_settings
def check(path: Path) -> None:
    """Walk through every lamp, die, button and the rest, and ask whether each does what it should.

    Exit code 1 where something does not.
    """
    settings = load_settings(path)
    with closing(open_rig(settings, SQUARE_MM, lambda text: click.echo(text, nl=False))) as rig:
        failed = [what for what, works in _walk(rig, settings) if not works]
        failed += [f"{part}: {why}" for part, why in rig.troubles.items()]
    click.echo(f"Not working: {'; '.join(failed)}" if failed else "Everything works.")
    if failed:
        raise SystemExit(1)


def _walk(rig: Rig, settings: HardwareSettings) -> Iterator[tuple[str, bool]]:
    """Every thing that was tried, and whether people say that it works."""
    if rig.lamps:
        yield from _try_lamps(rig.lamps, _seats(settings))
    if rig.dice:
        for value in range(1, 7):
            rig.dice.show((value,) * rig.dice.count)
            yield f"a {value} on the dice", click.confirm(f"Does every die show a {value}?", True)
    if rig.buzzer:
        rig.buzzer.play(Scene("refused"))
        yield "the buzzer", click.confirm("Were there three beeps?", True)
    if rig.buttons:
        named = button_pins(settings.buttons) if isinstance(settings.buttons, GpioButtonsSettings) else {}
        yield from _try_buttons(rig.buttons, tuple(named))
    if rig.calliper:
        readings: queue.Queue[Reading] = queue.Queue()
        rig.calliper.listen(readings.put)
        yield "the calliper", _hear(readings, "Send a reading from the calliper.", lambda reading: f"{reading.mm:g} mm", lambda _reading: True)


def _seats(settings: HardwareSettings) -> int:
    """How many players have a lamp; a strip has room for all."""
    match settings.lamps:
        case GpioLampsSettings(players=players):
            return len(players)
        case BoardLampsSettings(players=count):
            return count
        case _:
            return len(TRIED)


def _try_lamps(lamps: Lamps, seats: int) -> Iterator[tuple[str, bool]]:
    for seat, colour in enumerate(TRIED[:seats], 1):
        lamps.show(Scene("turn", TRIED, of=(colour,)))
        yield f"the lamp of player {seat}", click.confirm(f"Does player {seat} ({colour}) breathe?", True)
    for signal in SIGNALS:
        lamps.show(Scene(signal, TRIED[:seats], of=TRIED[:2]))
        yield f"the signal {signal!r}", click.confirm(f"Is this what {signal!r} should look like?", True)


def _try_buttons(buttons: Buttons, names: tuple[str, ...]) -> Iterator[tuple[str, bool]]:
    """Each by its name; on a board, which names its own, any until one is held."""
    presses: queue.Queue[Press] = queue.Queue()
    buttons.listen(presses.put)
    for name in names:
        yield f"the button {name!r}", _hear(presses, f"Press {name}.", _pressed, partial(_is_down, name))
    if not names:
        yield "the buttons", _hear(presses, "Press every button, and hold the last one.", _pressed, lambda press: press.kind == "long")


def _is_down(name: str, press: Press) -> bool:
    return (press.button, press.kind) == (name, "down")


def _pressed(press: Press) -> str:
    return f"{press.button}: {press.kind}"


def _hear(told: queue.Queue[T], ask: str, shown: Callable[[T], str], is_last: Callable[[T], bool]) -> bool:
    """Print what comes until the last one; False where nothing comes for WAIT_S."""
    click.echo(ask)
    try:
        while True:
            item = told.get(timeout=WAIT_S)
            click.echo(f"  {shown(item)}")
            if is_last(item):
                return True
    except queue.Empty:
        return False


@click.group()
def dice() -> None:
    """Electronic dice in the terminal, by the operating system's randomness."""


@dice.command()
@click.option("-n", "count", type=click.IntRange(1, 6), default=1, show_default=True, help="How many dice.")
def roll(count: int) -> None:
    """Roll dice and print them."""
    values = tuple(draw() for _ in range(count))
    console = Console()
    if console.is_terminal:
        with console.status("") as status:
            for faces, hold_ms in tumble(values):
                status.update(" ".join(map(str, faces)))
                time.sleep(hold_ms / 1000)
    click.echo(picture(values))
    click.echo(" + ".join(map(str, values)) + (f" = {sum(values)}" if count > 1 else ""))


@dice.command("test")
@click.option("-n", "rolls", type=click.IntRange(FEWEST), default=60000, show_default=True, help="How many rolls.")
def test_dice(rolls: int) -> None:
    """Roll many times and test whether all values are as likely (chi-square).

    Exit code 1 for a result that a fair die gives less than once in a thousand tests.
    """
    fairness = judge_rolls(draw() for _ in range(rolls))
    table = Table(box=SIMPLE_HEAD)
    for heading in ("value", "came", "expected"):
        table.add_column(heading, justify="right")
    for value, count in enumerate(fairness.counts, 1):
        table.add_row(str(value), str(count), f"{rolls / 6:.0f}")
    Console().print(table)
    click.echo(
        f"chi-square {fairness.chi_square:.2f}, 5 degrees of freedom: a fair die gives as much or more in {fairness.probability:.1%} of such tests"
    )
    click.echo("Nothing speaks against a fair die." if fairness else "This die is not fair, or chance was most unkind: test again.")
    if not fairness:
        raise SystemExit(1)
