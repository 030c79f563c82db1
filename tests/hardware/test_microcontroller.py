"""A microcontroller: the example sketch itself, on pins that remember, behind a pseudo-terminal."""

from __future__ import annotations

import json
import queue

import pytest

from hardware.backends import microcontroller
from hardware.backends.microcontroller import BoardButtons, BoardBuzzer, BoardDice, BoardLamps, Link
from hardware.backends.serial_port import open_port
from hardware.cues import LAMP_RGB, Cue
from hardware.interfaces import DeviceLost
from tests.support.threads import running

SCENE = Cue("over", ("red", "yellow"), of=("yellow",))


class Sketch:
    """The sketch as a firmware: it starts anew with power, and what it says goes out with the next
    byte.
    """

    def __init__(self, pico):
        self.pico, self.message = pico, []
        self.restart()

    def restart(self):
        self.pico.pins.clear()
        self.message.clear()
        self.line = b""
        self.board = self.pico.Board(self.message.append)
        self.message.clear()  # nobody listens yet

    def feed(self, byte):
        if byte == ord("\n"):
            self.board.hear(self.line)
            self.line = b""
        else:
            self.line += bytes([byte])
        return self.answers()

    def answers(self):
        message, self.message[:] = "".join(self.message).encode(), []
        return message


@pytest.fixture
def linked(pico, plugged, pump_until, monkeypatch):
    monkeypatch.setattr(microcontroller, "POLL_S", 0.001)
    monkeypatch.setattr(microcontroller, "RETRY_S", 0.001)
    monkeypatch.setattr(microcontroller, "ASK_S", 0.01)
    double = plugged(Sketch(pico))
    link = Link(lambda: open_port(str(double.path), microcontroller.BAUD, "hardware.board"))
    pump_until(double, lambda: link.has_answered)
    yield double, link
    link.close()


def test_a_board_may_take_its_time_to_start_but_not_for_ever(plugged, monkeypatch):
    class Empty:
        def feed(self, _byte):
            return b""

        def restart(self):
            pass

    double = plugged(Empty())
    monkeypatch.setattr(microcontroller, "POLL_S", 0.001)
    monkeypatch.setattr(microcontroller, "STARTS_S", 3600.0)
    link = Link(lambda: open_port(str(double.path), microcontroller.BAUD, "hardware.board"))
    while b"hello" not in double.sent:
        assert double.pump(20.0)
    assert link.error == ""
    link.close()
    monkeypatch.setattr(microcontroller, "STARTS_S", 0.001)
    link = Link(lambda: open_port(str(double.path), microcontroller.BAUD, "hardware.board"))
    while not link.error:
        assert running("board")
    assert link.error == f"{double.path}: the board does not answer; is its program installed?"
    with pytest.raises(DeviceLost, match="the board does not answer"):
        BoardLamps(link, 2).step(SCENE, 0)
    link.close()


def test_the_sketch_says_what_it_has(pico):
    message = []
    pico.Board(message.append).hear(b'{"hello": 1}')
    assert [json.loads(line) for line in message] == [
        {
            "hello": microcontroller.HELLO,
            "lamps": 3,
            "dice": 1,
            "buttons": ["appeal", "die", "next", "rule"],
            "buzzer": True,
        }
    ] * 2
    assert all(line.endswith("\n") for line in message)


def test_the_sketch_does_nothing_for_what_it_does_not_know(pico):
    message = []
    sketch = pico.Board(message.append)
    broken = (
        "",
        "{",
        "[1]",
        "null",
        "3",
        '{"lamps": 3}',
        '{"lamps": [3]}',
        '{"lamps": [["a"]]}',
        '{"dice": [7]}',
        '{"dice": ["a"]}',
        '{"beeps": 1}',
        '{"beeps": [[1]]}',
        '{"beeps": [[1, 1e400]]}',
        '{"dice": [-9]}',
        "[" * 900,
    )
    for line in (*broken, '{"unknown": 1}', '{"lamps": []}', '{"dice": []}', '{"beeps": []}'):
        sketch.hear(line.encode())
    assert len(message) == 1
    assert not any(pin.duty for pin in pico.pins.values())


def test_lamps_are_lit_and_lit_again_by_a_board_that_began_anew(linked, pico, pump_until):
    double, link = linked
    lamps = BoardLamps(link, 2)
    lamps.step(SCENE, 0)

    def yellow():
        return [pico.pins[number].duty for number in (5, 6, 7)] == [
            part * 257 for part in LAMP_RGB["yellow"]
        ]

    pump_until(double, yellow)
    assert [pico.pins[number].duty for number in (2, 3, 4)] == [0, 0, 0]
    double.unplug()
    while not link.error:
        assert running("board")
    with pytest.raises(DeviceLost):
        lamps.step(SCENE, 0)
    double.plug()
    assert not yellow()
    pump_until(double, yellow)
    assert link.error == ""


def test_a_line_that_was_broken_on_the_way_is_made_good(linked, pico, pump_until, monkeypatch):
    double, link = linked
    monkeypatch.setattr(microcontroller, "AGAIN_S", 0.02)
    dice, lamps = BoardDice(link, 1), BoardLamps(link, 2)
    dice.show((3,))
    lamps.step(SCENE, 0)
    pump_until(double, lambda: pico.pins[14].level and pico.pins[5].duty)
    for pin in pico.pins.values():
        pin.level = pin.duty = 0
    pump_until(double, lambda: pico.pins[14].level and pico.pins[5].duty)
    BoardBuzzer(link).play(SCENE)
    pump_until(double, lambda: b"beeps" in double.sent)
    double.sent.clear()
    pump_until(double, lambda: double.sent.count(b"lamps") >= 3)
    assert b"beeps" not in double.sent, "nobody hears a beep again"


def test_only_what_changed_is_sent(linked, pump_until):
    double, link = linked
    lamps = BoardLamps(link, 2)
    for at_ms in range(200):
        lamps.step(SCENE, at_ms)
    BoardDice(link, 1).show((3,))
    pump_until(double, lambda: b"dice" in double.sent)
    assert double.sent.count(b"lamps") == 1


def test_dice_show_their_pips(linked, pico, pump_until):
    double, link = linked
    dice = BoardDice(link, 1)
    dice.show((5,))
    pump_until(
        double,
        lambda: [pico.pins[number].level for number in range(11, 18)] == [1, 0, 1, 1, 1, 0, 1],
    )
    dice.close()
    pump_until(double, lambda: not any(pico.pins[number].level for number in range(11, 18)))
    with pytest.raises(ValueError, match="expected 1 values"):
        dice.show((5, 5))


def test_buttons_are_heard(linked, pico):
    double, link = linked
    buttons, received = BoardButtons(link), queue.Queue()
    buttons.listen(received.put)
    for level in (0, 1, 0):
        pico.pins[21].level = level
        double.firmware.board.step()
        double.say(double.firmware.answers())
    double.say(b'{"button": 3}\n{"button": "next"}\n[]\n{"but')
    press = received.get(timeout=20)
    assert (press.button, press.kind) == ("next", "down")
    assert received.get(timeout=20).kind == "long"
    buttons.close()


def test_no_beep_is_endless(linked, pico):
    """MicroPython's clock knows no times beyond six days."""
    double, link = linked
    pico.time.now_ms = 0
    double.firmware.board.hear(b'{"beeps": [[1, 99999999999999], [0, 5]]}')
    sounds = []
    for pico.time.now_ms in (0, 9_999, 10_000, 10_005):
        double.firmware.board.step()
        sounds.append(pico.pins[22].level)
    assert sounds == [1, 1, 0, 0]
    assert not link.error


@pytest.mark.parametrize(
    "begun_ms",
    [0, 2**29 + 5, 2**30 - 700],
    ids=["at the start", "after six days", "as its clock begins again"],
)
def test_the_buzzer_beeps_once(linked, pico, pump_until, begun_ms):
    double, link = linked
    pico.time.now_ms = begun_ms
    BoardBuzzer(link).play(Cue("refused"))
    pump_until(double, lambda: double.firmware.board.beeps)
    sounds = []
    for after_ms in range(0, 3000, 10):
        pico.time.now_ms = begun_ms + after_ms
        double.firmware.board.step()
        sounds.append(pico.pins[22].level)
    assert sum(later > earlier for earlier, later in zip([0, *sounds], sounds, strict=False)) == 3
    assert sounds[-1] == 0
    double.unplug()
    double.plug()
    pump_until(double, lambda: link.has_answered)
    assert double.firmware.board.beeps == [], "an old beep is not played again"
