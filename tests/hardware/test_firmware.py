"""Both example sketches as they run: their own loops at the other end of a pseudo-terminal, through
power cuts.

The Pico's runs in a thread, with MicroPython's modules stood in for.  The Arduino's runs twice:
compiled for this computer against a core that is stood in for, and compiled for an Uno against
Arduino's own, on a simulated ATmega328P.
"""

from __future__ import annotations

import mmap
import os
import queue
import re
import select
import shutil
import subprocess
import threading
import tty
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import ClassVar

import pytest

from hardware.backends import microcontroller
from hardware.backends.microcontroller import BoardButtons, BoardBuzzer, BoardDice, BoardLamps, Link
from hardware.backends.serial_port import open_port
from hardware.cues import LAMP_RGB, Cue
from hardware.dice_display import PIPS
from hardware.factory import Devices
from referee.devices.controller import Companion
from referee.sessions.event_store import Log
from referee.sessions.events import SessionStarted
from referee.sessions.session import Session
from table.boards import Open

pytestmark = pytest.mark.slow

HERE = Path(__file__).parent
SKETCH = HERE.parents[1] / "hardware" / "firmware" / "rinkside_board"
PAGE = HERE.parents[1] / "docs" / "HARDWARE.md"
CORE = Path("/usr/share/arduino/hardware/arduino/avr")
"""Where Debian keeps Arduino's core."""
UNO = (
    "-mmcu=atmega328p",
    "-DF_CPU=16000000L",
    "-DARDUINO=10819",
    "-DARDUINO_AVR_UNO",
    "-DARDUINO_ARCH_AVR",
    "-Os",
    "-flto",
)
"""As the core's own platform.txt and boards.txt have it."""
FLASH_BYTES, RAM_BYTES = 32256, 2048
"""Of an Uno, less the loader of programs."""
SPARE_BYTES = 512
"""Of its memory, never used whatever the sketch is told."""
PATIENCE_S = 20.0
PLAYERS = ("red", "yellow")
SCENE = Cue("over", PLAYERS, of=("yellow",))


class Running:
    """A board under a name of its own; `plug` gives it power, `unplug` takes it away."""

    def __init__(self, path):
        self.path = path
        self.plug()

    def plug(self):
        self.master, self.slave = os.openpty()
        tty.setraw(self.slave)
        self.path.unlink(missing_ok=True)
        self.path.symlink_to(os.ttyname(self.slave))
        self.start()

    def unplug(self):
        self.path.unlink(missing_ok=True)
        self.stop()
        os.close(self.master)
        os.close(self.slave)


class PowerCut(Exception):  # noqa: N818 - what happened
    """The sketch's loop has no end of its own."""


class Pico(Running):
    """MicroPython's sketch in a thread, which ends when the power does."""

    BUTTONS: ClassVar = {"die": 18, "rule": 19, "appeal": 20, "next": 21}

    def __init__(self, path, sketch):
        self.sketch = sketch
        super().__init__(path)

    def start(self):
        self.powered = True
        self.sketch.pins.clear()
        buffer = SimpleNamespace(read=lambda count: os.read(self.master, count))
        stdin = SimpleNamespace(fileno=lambda: self.master, buffer=buffer)
        self.sketch.sys = SimpleNamespace(
            stdin=stdin,
            stdout=SimpleNamespace(write=lambda text: os.write(self.master, text.encode())),
        )
        self.sketch.select = SimpleNamespace(POLLIN=select.POLLIN, poll=self.poll)
        self.thread = threading.Thread(target=self.serve)
        self.thread.start()

    def serve(self):
        with suppress(PowerCut):
            self.sketch.main()

    def poll(self):
        waiting = select.poll()

        def poll(timeout_ms):
            if not self.powered:
                raise PowerCut
            return waiting.poll(timeout_ms)

        return SimpleNamespace(register=waiting.register, poll=poll)

    def stop(self):
        self.powered = False
        self.thread.join()

    def pin(self, number):
        return (
            self.sketch.pins[number]
            if number in self.sketch.pins
            else SimpleNamespace(level=0, duty=0)
        )

    def yellow(self):
        """What player 2's lamp shows."""
        return tuple(self.pin(number).duty // 257 for number in (5, 6, 7))

    def pips(self):
        return tuple(self.pin(number).level for number in range(11, 18))

    def sounds(self):
        return bool(self.pin(22).level)

    def press(self, button, down):
        self.pin(self.BUTTONS[button]).level = int(not down)


class Uno(Running):
    """Arduino's sketch, compiled, in a process; the pins are bytes of a file."""

    BUTTONS: ClassVar = {"die": 14, "rule": 15, "appeal": 16, "next": 17}

    def __init__(self, path, program, pins):
        """`program` and its words; the file of pins is its last one."""
        self.command = [*program, pins]
        pins.write_bytes(bytes(40))
        with pins.open("r+b") as file:
            self.pins = mmap.mmap(file.fileno(), 40)
        super().__init__(path)

    def start(self):
        self.process = subprocess.Popen(
            self.command, stdin=self.master, stdout=self.master, stderr=subprocess.PIPE
        )

    def stop(self):
        early = self.process.poll()
        self.process.kill()
        message = self.process.communicate()[1]
        assert early is None, message
        self.pins[:] = bytes(40)

    def yellow(self):
        level = self.pins[5]
        return tuple(part * level // 255 for part in LAMP_RGB["yellow"])

    def pips(self):
        centre, first, second, third = (self.pins[number] // 255 for number in (2, 4, 7, 8))
        return first, second, third, centre, third, second, first

    def sounds(self):
        return bool(self.pins[12])

    def press(self, button, down):
        self.pins[self.BUTTONS[button]] = 0 if down else 255


def run(compiler, *words):
    """What a compiler says, which finds nothing wrong."""
    done = subprocess.run([compiler, *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


STRICT = ("-Wall", "-Wextra", "-Werror")


@pytest.fixture(scope="session")
def here_program(tmp_path_factory):
    """The sketch, for this computer."""
    compiler = shutil.which("g++") or pytest.skip("no g++ to compile the Arduino's sketch with")
    program = tmp_path_factory.mktemp("here") / "uno"
    run(
        compiler,
        "-std=c++17",
        *STRICT,
        "-I",
        SKETCH,
        "-I",
        HERE / "arduino",
        HERE / "arduino" / "main.cpp",
        "-o",
        program,
    )
    return [program]


@pytest.fixture(scope="session")
def uno_program(tmp_path_factory):
    """The sketch, for an Uno, with Arduino's own core."""
    if not (shutil.which("avr-g++") and CORE.is_dir()):
        pytest.skip("no compiler for an Uno (sudo apt install gcc-avr avr-libc arduino-core-avr)")
    folder = tmp_path_factory.mktemp("uno")
    core = sorted((CORE / "cores" / "arduino").glob("*.c*")) + sorted(
        (CORE / "cores" / "arduino").glob("*.S")
    )
    include = ("-I", CORE / "cores" / "arduino", "-I", CORE / "variants" / "standard")
    cpp = (
        "-std=gnu++11",
        "-fno-exceptions",
        "-fno-threadsafe-statics",
        "-ffunction-sections",
        "-fdata-sections",
    )
    objects = [folder / f"{path.name}.o" for path in core]
    for path, out in zip(core, objects, strict=True):
        # The core's own warnings are its own; this compiler's <float.h> knows DECIMAL_DIG in C
        # only.
        words = (
            (*cpp, "-fpermissive", "-DDECIMAL_DIG=__DECIMAL_DIG__") if path.suffix == ".cpp" else ()
        )
        run(
            "avr-g++" if path.suffix == ".cpp" else "avr-gcc",
            *UNO,
            *include,
            *words,
            "-w",
            "-c",
            path,
            "-o",
            out,
        )
    sketch = folder / "sketch.o"
    run(
        "avr-g++",
        *UNO,
        *include,
        *cpp,
        *STRICT,
        "-include",
        "Arduino.h",
        "-x",
        "c++",
        "-c",
        SKETCH / "rinkside_board.ino",
        "-o",
        sketch,
    )
    run("avr-gcc", *UNO, "-Wl,--gc-sections", sketch, *objects, "-lm", "-o", folder / "uno.elf")
    return folder / "uno.elf"


@pytest.fixture(scope="session")
def atmega_program(uno_program, tmp_path_factory):
    """A simulated ATmega328P with the sketch on it."""
    compiler = shutil.which("gcc")
    if not (compiler and Path("/usr/include/simavr").is_dir()):
        pytest.skip("no simulator of an ATmega328P (sudo apt install gcc libsimavr-dev)")
    program = tmp_path_factory.mktemp("atmega") / "atmega"
    run(compiler, "-O2", *STRICT, HERE / "arduino" / "atmega.c", "-lsimavr", "-o", program)
    return [program, uno_program]


@pytest.fixture(params=["pico", "here", "atmega"])
def powered(request, tmp_path, monkeypatch):
    for name in ("POLL_S", "RETRY_S"):
        monkeypatch.setattr(microcontroller, name, 0.002)
    monkeypatch.setattr(microcontroller, "ASK_S", 0.02)
    path = tmp_path / "tty"
    if request.param == "pico":
        running = Pico(path, request.getfixturevalue("pico"))
    else:
        running = Uno(path, request.getfixturevalue(f"{request.param}_program"), tmp_path / "pins")
    link = Link(lambda: open_port(str(path), microcontroller.BAUD, "hardware.board"))
    yield running, link
    link.close()
    running.unplug()


def until(condition):
    """Wait until another thread, or a process, has come so far."""
    for _ in range(round(PATIENCE_S / 0.002)):
        if condition():
            return
        select.select([], [], [], 0.002)
    raise AssertionError("it never came so far")


def test_a_board_shows_what_it_is_told_and_shows_it_again_after_a_power_cut(powered):
    running, link = powered
    lamps, dice = BoardLamps(link, 2), BoardDice(link, 1)
    until(lambda: link.has_answered)
    lamps.step(SCENE, 0)
    until(lambda: running.yellow() == LAMP_RGB["yellow"])
    for face in range(1, 7):
        dice.show((face,))
        until(lambda face=face: running.pips() == PIPS[face])
    running.unplug()
    until(lambda: link.error)
    running.plug()
    until(lambda: running.yellow() == LAMP_RGB["yellow"] and running.pips() == PIPS[6])
    assert link.error == ""
    dice.close()
    until(lambda: running.pips() == PIPS[0])


def test_a_pico_has_its_pins_where_the_page_says(pico):
    """Whoever solders goes by the table."""
    rows = {
        row.split("|")[1].strip(): [*map(int, re.findall(r"\d+", row.split("|")[2]))]
        for row in PAGE.read_text(encoding="utf-8").splitlines()
        if row.count("|") == 6 and "GPIO" in row.split("|")[2]
    }
    lamps = [rows.pop(name) for name in ("player 1", "player 2", "verdict")]
    assert [list(lamp) for lamp in pico.LAMPS] == lamps
    first, last = rows.pop("die, top left to bottom right, as on a Pi")
    assert [list(die) for die in pico.DICE] == [list(range(first, last + 1))]
    assert list(pico.BUTTONS.values()) == rows.pop("buttons die, rule, appeal, next")
    assert rows.pop("active buzzer") == [pico.BUZZER]
    assert not rows


def test_every_button_of_a_board_is_heard(powered):
    running, link = powered
    until(lambda: link.has_answered)
    buttons, received = BoardButtons(link), queue.Queue()
    buttons.listen(received.put)
    for button in running.BUTTONS:
        running.press(button, True)
        assert (press := received.get(timeout=PATIENCE_S)).button == button
        assert press.kind == "down"
        running.press(button, False)
        assert received.get(timeout=PATIENCE_S).kind in ("short", "long")
    buttons.close()


def test_a_board_beeps_as_often_as_it_is_told(powered):
    running, link = powered
    until(lambda: link.has_answered)
    BoardBuzzer(link).play(Cue("choice", PLAYERS, count=2))
    for sounds in (True, False, True, False):
        until(lambda sounds=sounds: running.sounds() == sounds)


def test_the_sketch_fits_an_uno(uno_program):
    """Without a warning, too: they are errors here."""
    text, data, bss = map(int, run("avr-size", uno_program).splitlines()[1].split()[:3])
    assert text + data < FLASH_BYTES
    assert data + bss < RAM_BYTES - SPARE_BYTES
    page = " ".join(PAGE.read_text(encoding="utf-8").split())
    message = re.search(
        r"takes ([\d,]+) of its 32,256 bytes for programs,? and ([\d,]+) of its 2,048 bytes of"
        r" memory",
        page,
    )
    assert [int(number.replace(",", "")) for number in message.groups()] == pytest.approx(
        [text + data, data + bss], rel=0.1
    )


def test_an_uno_never_runs_out_of_memory(atmega_program, tmp_path):
    """What is left between variables and stack, after the longest lines that it obeys."""
    uno = Uno(tmp_path / "tty", atmega_program, tmp_path / "pins")
    link = Link(lambda: open_port(str(uno.path), microcontroller.BAUD, "hardware.board"))
    try:
        until(lambda: link.has_answered)
        link.send("beeps", [[1, 100]] * 23, lasting=False)
        until(uno.sounds)
        BoardLamps(link, 2).step(SCENE, 0)
        until(lambda: uno.yellow() == LAMP_RGB["yellow"])
        assert uno.pins[20] + 256 * uno.pins[21] > SPARE_BYTES, "bytes that were never touched"
    finally:
        link.close()
        uno.unplug()


def pressed(running, session, seq):
    """The records of a press of the die's button; people press again where a slow board did not
    notice that they had let go.
    """
    for _ in range(round(PATIENCE_S / 2)):
        running.press("die", True)
        if records := session.wait(seq, 2.0):
            return records
        running.press("die", False)
        session.wait(seq, 0.5)
    return ()


def test_who_begins_is_rolled_with_the_button_and_the_die_of_a_board(powered, tmp_path):
    """Each press rolls for the next player; the die shows what is in the log, and those who tie
    roll again.
    """
    running, link = powered
    until(lambda: link.has_answered)
    drawn = iter((4, 1, 4, 2, 3))
    with Log(tmp_path / "log.sqlite") as log:
        session = Session.begin(
            log,
            SessionStarted(game="icefloe", players=("red", "yellow", "blue"), begins="roll"),
            draw=lambda: next(drawn),
        )
        devices, eyes = (
            Devices(dice=BoardDice(link, 1), buttons=BoardButtons(link)),
            SimpleNamespace(latest=SimpleNamespace(status="waiting")),
        )
        beside = Companion(
            devices, session, eyes, Open(outline_mm=((0, 0), (600, 0), (600, 400), (0, 400)))
        )
        beside.start()
        rolled = []
        for pips in (4, 1, 4, 2, 3):
            seq = session.seq
            until(lambda: not beside.rolling)
            (record,) = pressed(running, session, seq)
            until(lambda pips=pips: running.pips() == PIPS[pips])
            running.press("die", False)
            rolled.append((record.event.moves[0], record.event.evidence["dice"]))
        beside.stop()
        devices.buttons.close()
        assert rolled == [
            ("begin-roll 1 red 4", [4]),
            ("begin-roll 1 yellow 1", [1]),
            ("begin-roll 1 blue 4", [4]),
            ("begin-roll 2 red 2", [2]),
            ("begin-roll 2 blue 3", [3]),
        ]
        assert session.ledger.state.players == ("blue", "red", "yellow")
        session.close()


def test_noise_on_the_line_does_nothing(powered):
    running, link = powered
    until(lambda: link.has_answered)
    with open(running.path, "wb", buffering=0) as line:
        line.write(
            b"x" * 5000 + b'\n{"dice": [9]}\n{"lamps": 3}\n{"lamps": [[1,\n{"dice": [2\n\n\xff\n'
        )
    BoardDice(link, 1).show((4,))
    until(lambda: running.pips() == PIPS[4])
    assert running.yellow() == (0, 0, 0)
