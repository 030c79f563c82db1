"""docs/HARDWARE.md says what is so: its settings, its pins, its resistors, its signals."""

from __future__ import annotations

import re
import tomllib

import pytest
from gpiozero.pins.mock import MockFactory

from hardware.backends.microcontroller import BAUD, HELLO
from hardware.cues import SIGNALS, TUNES
from hardware.settings import parse_settings, used_pins
from tests.support.paths import ROOT

PAGE = (ROOT / "docs" / "HARDWARE.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```toml\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
REVISIONS = {"Pi 4": "c03111", "Pi 5": "c04170", "Zero 2": "902120"}


@pytest.mark.parametrize("block", range(len(BLOCKS)))
def test_settings_on_the_page_are_good(block):
    parse_settings(tomllib.loads(BLOCKS[block]), "HARDWARE.md")


def places():
    """GPIO by place on the header, from the table."""
    return {
        int(place): int(gpio)
        for place, gpio in re.findall(
            r"\| (\d+) \| (\d+) \| (?:player|die|verdict|button|buzzer)", PAGE
        )
    }


@pytest.mark.parametrize("model", REVISIONS)
def test_pins_are_where_the_page_says(model):
    factory = MockFactory(revision=REVISIONS[model])
    header = factory.board_info.headers["J8"]
    for place, gpio in places().items():
        assert f"GPIO{gpio}" in header.pins[place].names, (model, place)
    factory.close()


def test_the_example_uses_the_pins_of_the_table():
    named = {pin for _, pin in used_pins(parse_settings(tomllib.loads(BLOCKS[0]), ""))}
    assert named == set(places().values())
    drawn = (ROOT / "docs" / "pictures" / "wiring-header.svg").read_text(encoding="utf-8")
    assert all(f">GPIO {pin}</text>" in drawn for pin in named)


def test_currents_are_those_of_the_resistors():
    rows = re.findall(
        r"\| ([\d.]+) V \| (\d+) Ω(?: \((\d+) Ω[^)]*\))? \| ([\d.]+) mA(?: \(([\d.]+) mA\))? \|",
        PAGE,
    )
    assert len(rows) == 3
    for volts, *pairs in rows:
        for ohms, milliamps in zip(pairs[:2], pairs[2:], strict=True):
            if ohms:
                assert 1000 * (3.3 - float(volts)) / float(ohms) == pytest.approx(
                    float(milliamps), abs=0.06
                )


def test_every_signal_is_on_the_page():
    message = dict(re.findall(r"^\| `([a-z ]+)` \| .* \| (.*) \| .* \|$", PAGE, re.MULTILINE))
    assert message == {signal: TUNES[signal].words for signal in SIGNALS}
    assert TUNES.keys() == set(SIGNALS)


def test_rhythms_are_drawn_as_they_are():
    drawn = (ROOT / "docs" / "pictures" / "rhythms.svg").read_text(encoding="utf-8")
    for signal, tune in TUNES.items():
        steps = " ".join(f"{level:g}:{hold_ms}" for level, hold_ms in tune.rhythm.steps)
        assert f'data-signal="{signal}" data-rhythm="{steps} fade {tune.rhythm.fade_ms}"' in drawn


def test_pins_of_boards_are_those_of_their_programs(pico):
    """In the page's table, and in its drawing."""
    drawn = (ROOT / "docs" / "pictures" / "wiring-boards.svg").read_text(encoding="utf-8")
    rows = {
        row[0].partition(",")[0]: [cell.split("(")[0] for cell in row[1:4:2]]
        for row in re.findall(r"^\| (.*?) \| (.*?) \| (.*?) \| (.*?) \| .*\|$", PAGE, re.MULTILINE)
    }
    on = {
        what: [re.findall(r"A?\d+", cell.partition(", and")[0]) for cell in cells]
        for what, cells in rows.items()
    }
    for seat, lamp in zip(("player 1", "player 2", "verdict"), pico.LAMPS, strict=True):
        assert on[seat][0] == [str(pin) for pin in lamp]
    assert on["buttons die"][0] == [str(pin) for pin in pico.BUTTONS.values()]
    assert on["die"][0] == [str(pico.DICE[0][0]), str(pico.DICE[0][-1])]
    assert on["active buzzer"][0] == [str(pico.BUZZER)]
    uno = (ROOT / "hardware" / "firmware" / "rinkside_board" / "rinkside_board.ino").read_text(
        encoding="utf-8"
    )
    lamps = [
        re.findall(r"\d+", pins)
        for pins in re.findall(r"^  \{(.*)\},$", uno.partition("DICE")[0], re.MULTILINE)
    ]
    assert [on[seat][1] for seat in ("player 1", "player 2", "verdict")] == lamps
    names, pins = (
        re.findall(r"\w+", re.search(rf"{what}\[\] = \{{(.*)\}}", uno)[1])
        for what in ("BUTTONS", "BUTTON_PINS")
    )
    assert on["buttons die"][1] == [
        dict(zip(names, pins, strict=True))[name] for name in pico.BUTTONS
    ]
    assert on["die"][1] == re.findall(r"\d+", re.search(r"\{(2, .*)\},", uno)[1])
    assert on["active buzzer"][1] == re.findall(r"BUZZER = (\d+)", uno)
    for number, name in [*enumerate(pico.BUTTONS), *((at, f"player {at + 1}") for at in range(2))]:
        assert f">{name}" in drawn or f">button: {name}" in drawn, number
    for pin in [pin for lamp in pico.LAMPS for pin in lamp] + [
        *pico.DICE[0],
        *pico.BUTTONS.values(),
        pico.BUZZER,
    ]:
        assert f'fill="#222">GP{pin}</text>' in drawn


def test_the_protocol_of_the_page_is_that_of_the_program():
    assert f'"hello": "{HELLO}"' in PAGE
    assert f"{BAUD} baud" in PAGE
    uno = ROOT / "hardware" / "firmware" / "rinkside_board" / "rinkside_board.ino"
    assert f"Serial.begin({BAUD})" in uno.read_text(encoding="utf-8")
