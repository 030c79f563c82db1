"""`rinkside hardware` and `rinkside dice`, as people call them."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from hardware.fakes import FakeButtons, FakeCalliper
from hardware.gpio import GpioButtons
from hardware.ports import Press
from referee import commands_hardware
from referee.cli import main


@pytest.fixture
def rinkside(tmp_path, monkeypatch):
    """rinkside(words, settings, input): exit code and output of a command with these settings."""
    monkeypatch.setenv("COLUMNS", "200")

    def run(*words, settings=None, keys=""):
        if settings is not None:
            (tmp_path / "rinkside.toml").write_text(f"[hardware]\n{settings}")
            words = (*words, "--settings", str(tmp_path / "rinkside.toml"))
        done = CliRunner().invoke(main, words, input=keys)
        assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
        return done.exit_code, done.output

    return run


FAKES = "\n".join(f'{part} = {{ kind = "fake" }}' for part in commands_hardware.PARTS)


def test_the_list_says_what_is_there(rinkside):
    code, said = rinkside("hardware", "list", settings='pins = "mock"\nlamps = { kind = "gpio", players = [5, [6, 7, 8]], verdict = 9 }')
    assert code == 0
    rows = [line.split() for line in said.splitlines()]
    assert ["lamps", "gpio", "GPIO", "5,", "6,", "7,", "8,", "9", "opened"] in rows
    assert ["calliper", "-", "not", "in", "the", "settings"] in rows
    assert "serial ports: " in said


def test_the_list_says_what_is_wrong_with_each_part(rinkside):
    settings = (
        'pins = "mock"\nlamps = { kind = "wled", device = "/dev/not-there", leds = 60 }\n'
        'dice = { kind = "wled" }\nbuttons = { kind = "gpio", die = 5 }'
    )
    code, said = rinkside("hardware", "list", settings=settings)
    assert code == 1
    assert said.count("expected a serial port of this machine, got '/dev/not-there', which is not there") == 2
    assert "GPIO 5" in said


def test_the_list_asks_a_strip_who_it_is(rinkside, wled, monkeypatch):
    settings = f'lamps = {{ kind = "wled", device = "{wled.path}", leds = 100 }}'
    monkeypatch.setattr(commands_hardware.time, "sleep", lambda _: wled.pump())
    assert "WLED 0.15.0 with 100 lamps" in rinkside("hardware", "list", settings=settings)[1]
    monkeypatch.setattr(commands_hardware.time, "sleep", lambda _: None)
    code, said = rinkside("hardware", "list", settings=settings)
    assert "opened, but nothing answers at 115200 baud" in said
    assert code == 0


def test_bad_settings_are_one_line(rinkside):
    code, said = rinkside("hardware", "list", settings='pins = "mock"\nbuzzer = { kind = "gpio", pin = 99 }')
    assert (code, said.count("\n")) == (2, 1)
    assert said.startswith("rinkside: rinkside.toml: hardware.buzzer.pin: expected a GPIO of the header, 2 to 27")


def test_everything_is_tried_and_asked_for(rinkside, monkeypatch):
    monkeypatch.setattr(FakeButtons, "listen", _press)
    monkeypatch.setattr(FakeCalliper, "listen", _measure)
    code, said = rinkside("hardware", "check", settings=FAKES, keys="y\n" * 40)
    assert code == 0, said
    for what in (
        "player 6 (white) breathe",
        "'camera lost' should look",
        "show a 6",
        "three beeps",
        "die: short",
        "rule: long",
        "12.34 mm",
        "Everything works.",
    ):
        assert what in said, what


def _press(buttons, tell):
    buttons._tell = tell
    buttons.press("die")
    buttons.press("rule", held_ms=900)


def _measure(calliper, tell):
    calliper._tell = tell
    calliper.send("12.34")


def test_what_does_not_work_is_listed(rinkside, monkeypatch):
    monkeypatch.setattr(commands_hardware, "WAIT_S", 0.0)
    settings = 'lamps = { kind = "fake" }\nbuttons = { kind = "fake" }'
    code, said = rinkside("hardware", "check", settings=settings, keys="n\n" + "y\n" * 30)
    assert code == 1
    assert said.splitlines()[-1] == "Not working: the lamp of player 1; the buttons"


def test_buttons_and_lamps_on_pins_are_tried_one_by_one(rinkside, monkeypatch):
    def press(_self, tell):
        for name in ("rule", "next", "die"):
            tell(Press(name, "down", 0.0))

    monkeypatch.setattr(GpioButtons, "listen", press)
    monkeypatch.setattr(commands_hardware, "WAIT_S", 0.0)
    settings = (
        'pins = "mock"\nlamps = { kind = "gpio", players = [5, 6, 7], verdict = 8 }\nbuttons = { kind = "gpio", next = 12, die = 13, appeal = 16 }'
    )
    code, said = rinkside("hardware", "check", settings=settings, keys="y\n" * 30)
    assert code == 1
    assert said.count("breathe?") == 3
    assert [line for line in said.splitlines() if line.startswith(("Press", "  "))] == [
        "Press appeal.",
        "  rule: down",
        "  next: down",
        "  die: down",
        "Press next.",
        "Press die.",
    ]
    assert said.splitlines()[-1] == "Not working: the button 'appeal'; the button 'next'; the button 'die'"


def test_nothing_connected_works(rinkside):
    assert rinkside("hardware", "check", settings="") == (0, "Everything works.\n")


def test_dice_are_rolled_and_drawn(rinkside, monkeypatch):
    monkeypatch.setattr(commands_hardware, "draw", lambda: 4)
    code, said = rinkside("dice", "roll", "-n", "2")
    assert code == 0
    assert said.splitlines()[1:] == [
        "| o   o |   | o   o |",
        "|       |   |       |",
        "| o   o |   | o   o |",
        "+-------+   +-------+",
        "4 + 4 = 8",
    ]


def test_fair_dice_pass_their_test(rinkside, monkeypatch):
    values = iter(list(range(1, 7)) * 10)
    monkeypatch.setattr(commands_hardware, "draw", lambda: next(values))
    code, said = rinkside("dice", "test", "-n", "60")
    assert code == 0
    assert "chi-square 0.00, 5 degrees of freedom: a fair die gives as much or more in 100.0% of such tests" in said


def test_a_loaded_die_fails_its_test(rinkside, monkeypatch):
    monkeypatch.setattr(commands_hardware, "draw", lambda: 6)
    code, said = rinkside("dice", "test", "-n", "60")
    assert code == 1
    assert "This die is not fair" in said


def test_too_few_rolls_are_no_test(rinkside):
    code, said = rinkside("dice", "test", "-n", "29")
    assert code == 2
    assert "29 is not in the range x>=30" in said


def test_the_demo_refuses_bad_settings_before_it_begins(rinkside, tmp_path):
    data = tmp_path / "data"
    code, said = rinkside("demo", "--port", "0", "--data", str(data), settings='lamps = { kind = "lava" }')
    assert (code, said.count("\n")) == (2, 1)
    assert "hardware.lamps.kind: expected gpio, board, wled, wled-presets, fake, got" in said
    assert not data.exists()
