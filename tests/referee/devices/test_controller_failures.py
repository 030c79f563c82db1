"""Lamps, dice, buttons and callipers that fail in a way that nobody foresaw: it is said, and the
next event is shown and heard.
"""

from __future__ import annotations

import queue

import pytest

from cli import terminal
from cli.options import complain
from hardware.cues import Cue
from hardware.interfaces import DeviceLost
from referee.devices import controller
from referee.devices.controller import NOT_NOW, Companion
from referee.sessions.events import InputRecorded, Paused, VerdictReached
from table.messages import msg
from tests.support.beside_a_session import BOARD, PATIENCE_S, PLAYERS, put, turn

LEFT_OUT = "this step was skipped, the devices keep running"


@pytest.fixture
def message(monkeypatch):
    monkeypatch.setattr(controller, "POLL_S", 0.005)
    return queue.Queue()


@pytest.fixture
def beside(devices, session, eyes, message):
    beside = Companion(devices, session, eyes, BOARD, message.put)
    beside.start()
    devices.lamps.wait_for(turn("red"))
    yield beside
    beside.stop()


def failing(works, *errors):
    """A function that raises each of these once, then works."""
    left = list(errors)

    def call(*words, **named):
        if left:
            raise left.pop(0)
        return works(*words, **named)

    return call


@pytest.mark.usefixtures("beside")
@pytest.mark.parametrize(
    ("part", "method"), [("voice", "say"), ("buzzer", "play"), ("lamps", "show")]
)
def test_a_record_that_cannot_be_told_is_left_out_and_the_next_is_told(
    devices, session, message, monkeypatch, part, method
):
    device = getattr(devices, part)
    monkeypatch.setattr(
        device, method, failing(getattr(device, method), ValueError("no such sign\nhere"))
    )
    session.append(
        VerdictReached(
            verdict="accepted",
            code="pegs.put",
            message="Red put one down.",
            moves=("red",),
            player="red",
        )
    )
    assert (
        message.get(timeout=PATIENCE_S)
        == f"lamps, dice, buttons: ValueError: no such sign here; {LEFT_OUT}"
    )
    put(session, "blue")
    devices.lamps.wait_for(
        Cue("accepted", PLAYERS, of=("blue",), then=turn("red"), news=session.seq)
    )
    assert message.empty()


def test_dice_that_fail_are_told_of_and_show_the_next_roll(
    devices, session, message, monkeypatch, request
):
    shown = queue.Queue()
    monkeypatch.setattr(devices.dice, "show", failing(shown.put, OSError("no such pin")))
    request.getfixturevalue("beside")
    session.append(InputRecorded(code="dice.rolled", message="", evidence={"dice": [4]}))
    assert message.get(timeout=PATIENCE_S) == "dice: OSError: no such pin"
    session.append(InputRecorded(code="dice.rolled", message="", evidence={"dice": [6]}))
    while shown.get(timeout=PATIENCE_S) != (6,):
        pass
    assert message.get(timeout=PATIENCE_S) == "dice: working again"


def test_a_failure_that_lasts_is_said_once(devices, session, eyes, message, monkeypatch):
    calls = queue.Queue()

    def fail(_):
        calls.put(None)
        raise KeyError("always")

    monkeypatch.setattr(type(devices), "errors", property(fail))
    beside = Companion(devices, session, eyes, BOARD, message.put)
    beside.start()
    for _ in range(20):
        calls.get(timeout=PATIENCE_S)
    beside.stop()
    assert (
        message.get(timeout=PATIENCE_S) == f"lamps, dice, buttons: KeyError: 'always'; {LEFT_OUT}"
    )
    assert message.empty()


@pytest.mark.usefixtures("beside")
def test_a_press_that_fails_does_not_deafen(devices, session, message, monkeypatch):
    errors = RuntimeError("lost on the way"), ZeroDivisionError("odd")
    monkeypatch.setattr(session, "command", failing(session.command, *errors))
    for error in errors:
        devices.buttons.press("rule", held_ms=1000.0)
        assert f"{error}; {LEFT_OUT}" in message.get(timeout=PATIENCE_S)
        assert devices.buzzer.next() == NOT_NOW
    devices.buttons.press("rule", held_ms=1000.0)
    (paused,) = session.wait(session.id, PATIENCE_S)
    assert isinstance(paused.event, Paused)


def test_what_does_not_work_is_told_in_the_language_of_the_terminal(
    devices, session, eyes, message, monkeypatch, capfd
):
    monkeypatch.setattr(terminal, "_language", "es")
    lost = DeviceLost(msg("{name}: connection lost", name="/dev/ttyACM0"))
    errors = {"lamps": lost.message, "dice": lost.message}
    monkeypatch.setattr(type(devices), "errors", property(lambda _: errors))

    def tell(text):
        complain(text)
        message.put(text)

    beside = Companion(devices, session, eyes, BOARD, tell)
    beside.start()
    assert message.get(timeout=PATIENCE_S) == "lamps, dice: /dev/ttyACM0: connection lost"
    errors.clear()
    assert message.get(timeout=PATIENCE_S) == "dice, lamps: working again"
    beside.stop()
    assert capfd.readouterr().err.splitlines() == [
        "rinkside: lámparas, dados: /dev/ttyACM0: conexión perdida",
        "rinkside: dados, lámparas: funciona de nuevo",
    ]
