"""`rinkside hardware` and `rinkside dice`, as people call them."""

from __future__ import annotations

import json
import sys
import threading
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from cli import hardware, terminal
from cli.main import main
from hardware.backends import serial_port
from hardware.backends.gpio import GpioButtons
from hardware.backends.microcontroller import BoardButtons
from hardware.cues import LAMP_RGB
from hardware.interfaces import Press
from hardware.lamp_levels import lanterns
from hardware.lamp_thread import LampThread
from hardware.settings import PARTS
from hardware.testing.fakes import FakeButtons, FakeCalliper
from tests.support.bluez import bluez, bus, pressed
from vision.cameras.jpeg import decode_jpeg

__all__ = ["bluez", "bus"]


@pytest.fixture
def rinkside(tmp_path, monkeypatch):
    """rinkside(words, settings, input): exit code and output of a command with these settings."""
    monkeypatch.setenv("COLUMNS", "300")

    def run(*words, settings=None, keys=""):
        if settings is not None:
            (tmp_path / "rinkside.toml").write_text(f"[hardware]\n{settings}")
            words = (*words, "--settings", str(tmp_path / "rinkside.toml"))
        done = CliRunner().invoke(main, words, input=keys)
        assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
        return done.exit_code, done.output

    return run


FAKES = "\n".join(f'{part} = {{ kind = "fake" }}' for part in PARTS)


def test_the_list_says_what_is_there(rinkside):
    settings = (
        'pins = "mock"\nlamps = { kind = "gpio", players = [5, [6, 7, 8]], verdict = 9 }\ndice = {'
        ' kind = "gpio", pips = [[2, 3, 4, 10, 11, 12, 13], [14, 15, 16, 17, 18, 19, 20]]'
        ' }\nbuttons = { kind = "gpio", next = 21, rule = 22 }\nbuzzer = { kind = "gpio", pin ='
        " 23 }"
    )
    code, message = rinkside("hardware", "list", settings=settings)
    assert code == 0
    rows = [" ".join(line.split()) for line in message.splitlines()]
    for row in (
        "lamps gpio player 1: 5; player 2: 6, 7, 8; verdict: 9 opened",
        "dice gpio 2, 3, 4, 10, 11, 12, 13; 14, 15, 16, 17, 18, 19, 20 opened",
        "buttons gpio rule: 22; next: 21 opened",
        "buzzer gpio 23 opened",
        "calliper - not in the settings",
    ):
        assert row in rows


BUTTON = "3C:2E:F5:00:12:34"
BLUETOOTH = (
    f'buttons = {{ kind = "bluetooth", rule = "{BUTTON}", next = "{BUTTON}/2" }}\n'
    'calliper = { kind = "bluetooth", device = "c4:be:84:00:00:09" }'
)


def test_the_list_says_which_bluetooth_devices_are_used(rinkside):
    _, output = rinkside("hardware", "list", settings=BLUETOOTH)
    words = output.split()
    assert f"buttons bluetooth rule: {BUTTON}; next: {BUTTON}/2 opened" in " ".join(words)
    assert "calliper bluetooth c4:be:84:00:00:09 opened" in " ".join(words)


def test_bluetooth_devices_are_listed_with_their_buttons(rinkside, bluez, monkeypatch):
    monkeypatch.setattr(hardware, "HEARD_S", 0.5)
    presses = threading.Thread(target=bluez.broadcast, args=(BUTTON, pressed(1, 1, 0), "BLU two"))
    presses.start()
    code, output = rinkside("hardware", "list", "--bluetooth")
    presses.join()
    assert code == 0
    assert f"{BUTTON} BLU two 2" in " ".join(output.split())


@pytest.mark.usefixtures("bus")
def test_a_computer_without_bluetooth_lists_none(rinkside):
    code, output = rinkside("hardware", "list", "--bluetooth")
    assert code == 2
    assert "has no Bluetooth, or its service bluetoothd does not run" in output


def test_a_search_without_bleak_says_what_to_install_and_does_not_begin(rinkside, monkeypatch):
    monkeypatch.setitem(sys.modules, "bleak", None)
    code, output = rinkside("hardware", "list", "--bluetooth")
    assert code == 2
    assert "run: pip install 'rinkside[bluetooth]'" in output
    assert "Listening" not in output


@pytest.mark.parametrize("part", ["buttons", "calliper"])
def test_bluetooth_without_bleak_says_what_to_install(rinkside, monkeypatch, part):
    monkeypatch.setitem(sys.modules, "bleak", None)
    settings = next(line for line in BLUETOOTH.splitlines() if line.startswith(part))
    code, output = rinkside("hardware", "list", settings=settings)
    assert code == 1
    assert (
        f"hardware.{part}.kind: expected bleak in this environment, but it is not installed; run:"
        " pip install 'rinkside[bluetooth]'"
    ) in output


def test_the_list_says_what_is_wrong_with_each_part_once(rinkside):
    settings = (
        'pins = "mock"\nlamps = { kind = "wled", device = "/dev/not-there", leds = 60 }\n'
        'dice = { kind = "wled" }\nbuttons = { kind = "gpio", die = 5 }'
    )
    code, message = rinkside("hardware", "list", settings=settings)
    assert code == 1
    (line,) = [line for line in message.splitlines() if "not-there'" in line]
    assert line.startswith(
        "lamps, dice: hardware.lamps.device: expected a serial port of this machine, got"
        " '/dev/not-there', which does not exist"
    )
    assert "die: 5" in message


def test_ports_are_listed_with_names_that_last(rinkside, monkeypatch, tmp_path):
    device = tmp_path / "ttyUSB0"
    device.touch()
    (tmp_path / "usb-Silicon_Labs_CP2102").symlink_to(device)
    monkeypatch.setattr(serial_port, "BY_ID", tmp_path)
    monkeypatch.setattr(
        serial_port.list_ports,
        "comports",
        lambda: [SimpleNamespace(device=str(device), description="CP2102 USB to UART")],
    )
    code, message = rinkside("hardware", "list")
    assert code == 0
    assert any(
        " ".join(line.split()) == f"{device} CP2102 USB to UART" for line in message.splitlines()
    )
    monkeypatch.setenv("COLUMNS", "40")
    assert (
        f"{device} is always {tmp_path / 'usb-Silicon_Labs_CP2102'}"
        in rinkside("hardware", "list")[1].splitlines()
    ), "to be copied"
    monkeypatch.setattr(serial_port.list_ports, "comports", list)
    assert rinkside("hardware", "list") == (
        0,
        "There are no serial ports. Is everything plugged in?\n",
    )


def test_the_list_asks_a_strip_who_it_is(rinkside, wled, monkeypatch):
    settings = (
        f'lamps = {{ kind = "wled", device = "{wled.path}", leds = 93, brightness = 1.0 }}\ndice ='
        ' { kind = "wled" }'
    )
    monkeypatch.setattr(hardware.time, "sleep", wled.pump)
    assert (
        "WLED 0.15.0 with 100 lamps; draws 2.0 A at most, 6.1 A without brightness and supply_ma"
        in rinkside("hardware", "list", settings=settings)[1]
    )
    code, message = rinkside("hardware", "list", settings=settings.replace("93", "94"))
    assert code == 1
    assert (
        "lamps: hardware.lamps.leds: expected at most 100 lamps (WLED has that many, dice"
        " included), got 101" in message
    )
    monkeypatch.setattr(hardware.time, "sleep", lambda _: None)
    code, message = rinkside("hardware", "list", settings=settings)
    assert (
        "opened, but nothing answers: is hardware.lamps.baud, 115200, what WLED's sync settings say"
        in message
    )
    assert code == 0


class Board:
    """A board that says what it has."""

    def __init__(self, hello):
        self.hello = hello

    def feed(self, byte):
        return (json.dumps(self.hello).encode() + b"\n") if byte == ord("}") else b""

    def restart(self):
        pass


HELLO = {
    "hello": "rinkside-board/1",
    "lamps": 3,
    "dice": 1,
    "buttons": ["die", "next"],
    "buzzer": True,
}


@pytest.mark.parametrize(
    ("part", "hello", "says"),
    [
        ('lamps = { kind = "board", players = 2 }', {}, "a board with 3 lamps"),
        (
            'lamps = { kind = "board", players = 3 }',
            {},
            (
                "lamps: hardware.lamps.players: expected at most 2, because the board has 3 lamps,"
                " got 3"
            ),
        ),
        ('dice = { kind = "board" }', {}, "a board with 1 die"),
        (
            'dice = { kind = "board", count = 2 }',
            {},
            "dice: hardware.dice.count: expected at most 1, the number that the board has, got 2",
        ),
        ('buttons = { kind = "board" }', {}, "a board with die, next"),
        ('buzzer = { kind = "board" }', {}, "a board with a buzzer"),
        (
            'buzzer = { kind = "board" }',
            {"buzzer": False},
            "buzzer: hardware.buzzer.kind: expected another kind: the board has no buzzer",
        ),
        (
            'buzzer = { kind = "board" }',
            {"hello": "other/1"},
            "buzzer: hardware.board: expected an answer from the board at '",
        ),
    ],
)
def test_the_list_asks_a_board_what_it_has(rinkside, plugged, monkeypatch, part, hello, says):
    double = plugged(Board(HELLO | hello))
    monkeypatch.setattr(hardware.time, "sleep", double.pump)
    code, message = rinkside("hardware", "list", settings=f'board = "{double.path}"\n{part}')
    assert says in message
    assert code == (": expected" in says)


def test_bad_settings_are_one_line(rinkside):
    code, message = rinkside(
        "hardware", "list", settings='pins = "mock"\nbuzzer = { kind = "gpio", pin = 99 }'
    )
    assert (code, message.count("\n")) == (2, 1)
    assert message.startswith(
        "rinkside: rinkside.toml: hardware.buzzer.pin: expected a GPIO number from 2 to 27"
    )


def test_everything_is_tried_and_asked_for(rinkside, monkeypatch):
    monkeypatch.setattr(FakeButtons, "listen", _pressed_at_once(FakeButtons.listen))
    monkeypatch.setattr(FakeCalliper, "listen", _sent_at_once(FakeCalliper.listen))
    code, message = rinkside("hardware", "check", settings=FAKES, keys="y\n" * 40)
    assert code == 0, message
    for what in (
        "player 6 (white) slowly go bright",
        "'camera lost': three short, two long?",
        "show a 6",
        "three beeps",
        "Press appeal.",
        "die: down",
        "rule: long",
        "12.34 mm",
        "Everything works.",
    ):
        assert what in message, what


def _pressed_at_once(listen):
    def press(buttons, tell):
        listen(buttons, tell)
        buttons.press("rule", held_ms=900)
        for name in ("appeal", "next", "die"):
            buttons.press(name)

    return press


def _sent_at_once(listen):
    def send(calliper, tell):
        listen(calliper, tell)
        calliper.send("12.34")

    return send


def test_what_does_not_work_is_listed(rinkside, monkeypatch):
    monkeypatch.setattr(hardware, "WAIT_S", 0.0)
    settings = 'lamps = { kind = "fake" }\nbuttons = { kind = "fake" }'
    code, message = rinkside("hardware", "check", settings=settings, keys="n\n" + "y\n" * 30)
    assert code == 1
    buttons = "the button 'rule'; the button 'appeal'; the button 'next'; the button 'die'"
    assert message.splitlines()[-1] == f"Not working: the lamp of player 1; {buttons}"


def test_every_button_that_a_board_says_it_has_is_tried(rinkside, plugged, monkeypatch):
    double = plugged(Board(HELLO))
    monkeypatch.setattr(hardware.time, "sleep", double.pump)
    monkeypatch.setattr(BoardButtons, "listen", lambda _self, tell: tell(Press("die", "down", 0.0)))
    monkeypatch.setattr(hardware, "WAIT_S", 0.0)
    settings = f'board = "{double.path}"\nbuttons = {{ kind = "board" }}'
    code, message = rinkside("hardware", "check", settings=settings)
    assert [line for line in message.splitlines() if line.startswith(("Press", "  "))] == [
        "Press die.",
        "  die: down",
        "Press next.",
    ]
    assert code == 1
    monkeypatch.setattr(hardware.time, "sleep", lambda _: None)
    code, message = rinkside("hardware", "check", settings=settings)
    assert (code, message.count("\n")) == (2, 1)
    assert message.startswith("rinkside: hardware.board: expected an answer from the board at ")


def test_buttons_and_lamps_on_pins_are_tried_one_by_one(rinkside, monkeypatch):
    def press(_self, tell):
        for name in ("rule", "next", "die"):
            tell(Press(name, "down", 0.0))

    monkeypatch.setattr(GpioButtons, "listen", press)
    monkeypatch.setattr(hardware, "WAIT_S", 0.0)
    settings = (
        'pins = "mock"\nlamps = { kind = "gpio", players = [5, 6, 7], verdict = 8 }\nbuttons = {'
        ' kind = "gpio", next = 12, die = 13, appeal = 16 }'
    )
    code, message = rinkside("hardware", "check", settings=settings, keys="y\n" * 30)
    assert code == 1
    assert message.count("slowly go bright and dim?") == 3
    assert [line for line in message.splitlines() if line.startswith(("Press", "  "))] == [
        "Press appeal.",
        "  rule: down",
        "  next: down",
        "  die: down",
        "Press next.",
        "Press die.",
    ]
    assert (
        message.splitlines()[-1]
        == "Not working: the button 'appeal'; the button 'next'; the button 'die'"
    )


def test_every_wire_of_every_lamp_on_pins_is_tried(rinkside, monkeypatch):
    """Each colour alone on its own lamp, so that swapped and missing wires are found."""
    lit, asked = [], []
    monkeypatch.setattr(LampThread, "show", lambda _self, scene: lit.append(scene))
    monkeypatch.setattr(
        terminal.click,
        "confirm",
        lambda text, _default: asked.append((text, lit[-1])) or "player 3 green" not in text,
    )
    settings = (
        'pins = "mock"\nlamps = { kind = "gpio", players = [[5, 6, 7], 8, [9, 10, 11]], verdict ='
        " [12, 13, 16] }"
    )
    code, message = rinkside("hardware", "check", settings=settings)
    assert (code, message.splitlines()[-1]) == (1, "Not working: Green of the lamp of player 3")
    for seat in (1, 3):
        for colour in ("red", "green", "blue"):
            (scene,) = [
                scene for text, scene in asked if text == f"Is the lamp of player {seat} {colour}?"
            ]
            shown = [lantern.lit for lantern in lanterns(scene, 1799, 3)]
            assert shown[seat - 1] == pytest.approx(LAMP_RGB[colour], abs=1)
            assert {rgb for at, rgb in enumerate(shown) if at != seat - 1} == {(0, 0, 0)}
    assert not any("player 2 red" in text for text, _ in asked)
    assert "Is this 'refused': three short flashes, and the lamp of the ruling red?" in [
        text for text, _ in asked
    ]


def test_there_must_be_something_to_try(rinkside):
    code, message = rinkside("hardware", "check", settings="")
    assert code == 2
    assert message.endswith(
        "rinkside.toml: hardware: expected at least one part to test, got none\n"
    )


def test_a_strip_that_goes_the_other_way_round_is_found_out(rinkside, wled, monkeypatch):
    """The lamps that the question is about are lit."""
    lit, asked = [], []
    monkeypatch.setattr(LampThread, "show", lambda _self, scene: lit.append(scene))
    monkeypatch.setattr(
        terminal.click,
        "confirm",
        lambda text, _default: asked.append((text, lit[-1])) or "near right" not in text,
    )
    code, message = rinkside(
        "hardware",
        "check",
        settings=(
            f'lamps = {{ kind = "wled", device = "{wled.path}", leds = 100, clockwise = true }}'
        ),
    )
    assert code == 1
    assert message.splitlines()[-1] == "Not working: hardware.lamps.clockwise"
    corners = {
        text.split(" corner")[0].removeprefix("Do lamps blink at the "): scene.marks
        for text, scene in asked
        if "corner" in text
    }
    assert {corner: marks[0].points_mm[0] for corner, marks in corners.items()} == {
        "near left": (0, 0),
        "near right": (400, 0),
        "far right": (400, 400),
    }


def test_dice_are_rolled_and_drawn(rinkside, monkeypatch):
    monkeypatch.setattr(hardware, "draw", lambda: 4)
    code, message = rinkside("dice", "roll", "-n", "2")
    assert code == 0
    assert message.splitlines()[1:] == [
        "| o   o |   | o   o |",
        "|       |   |       |",
        "| o   o |   | o   o |",
        "+-------+   +-------+",
        "4 + 4 = 8",
    ]


def test_fair_dice_pass_their_test(rinkside, monkeypatch):
    values = iter(list(range(1, 7)) * 10)
    monkeypatch.setattr(hardware, "draw", lambda: next(values))
    code, message = rinkside("dice", "test", "-n", "60")
    assert code == 0
    assert (
        "chi-square 0.00, 5 degrees of freedom: a fair die gives as much or more in 100.0% of such"
        " tests" in message
    )


def test_a_loaded_die_fails_its_test(rinkside, monkeypatch):
    monkeypatch.setattr(hardware, "draw", lambda: 6)
    code, message = rinkside("dice", "test", "-n", "60")
    assert code == 1
    assert "This die is not fair" in message


def test_too_few_rolls_are_no_test(rinkside):
    code, message = rinkside("dice", "test", "-n", "29")
    assert code == 2
    assert "29 is not in the range x>=30" in message


def test_the_demo_refuses_bad_settings_before_it_begins(rinkside, tmp_path):
    data = tmp_path / "data"
    code, message = rinkside(
        "demo", "--port", "0", "--data", str(data), settings='lamps = { kind = "lava" }'
    )
    assert (code, message.count("\n")) == (2, 1)
    assert "hardware.lamps.kind: expected gpio, board, wled, wled-presets, " in message
    assert not data.exists()


def test_the_program_of_a_board_is_written_under_the_name_that_its_tools_ask_for(
    rinkside, tmp_path
):
    for board, name, known in (
        ("pico", "main.py", "MicroPython"),
        ("uno", "rinkside_board/rinkside_board.ino", "void setup()"),
    ):
        code, message = rinkside("hardware", "firmware", board, str(tmp_path / board))
        assert (code, name in message) == (0, True)
        assert known in (tmp_path / board / name).read_text()
    code, message = rinkside("hardware", "firmware", "pico", str(tmp_path / "pico"))
    assert (code, "main.py" in message, "already exists" in message) == (2, True, True)


def test_one_picture_shows_what_a_camera_sees(tmp_path):
    out = tmp_path / "look.jpg"
    done = CliRunner().invoke(main, ["hardware", "picture", "simulated:mat:7", "--out", str(out)])
    assert done.exit_code == 0, done.output
    assert decode_jpeg(out.read_bytes(), "the picture").shape[2] == 3


def test_a_camera_without_a_picture_is_one_line(tmp_path):
    (tmp_path / "empty").mkdir()
    out = tmp_path / "look.jpg"
    for camera in (f"folder:{tmp_path / 'empty'}", f"v4l2:{tmp_path / 'none'}", "lens:0"):
        done = CliRunner().invoke(main, ["hardware", "picture", camera, "--out", str(out)])
        assert done.exit_code != 0
        assert len(done.output.strip().splitlines()) == 1, done.output
    assert not out.exists()
