"""Lamps, dice, buttons and callipers beside a session: they hear the records, and change nothing
but by commands.
"""

from __future__ import annotations

import queue
import threading
from dataclasses import replace

import pytest

from engines.verdict import Ambiguous, Choice
from hardware.cues import Cue
from referee.devices import controller
from referee.devices.controller import NOT_NOW, Companion
from referee.sessions.commands import Answer, Correct, Pause
from referee.sessions.events import VerdictReached
from referee.sessions.verdict_events import event_from_verdict
from table.messages import msg
from tests.support.beside_a_session import BOARD, PATIENCE_S, PLAYERS, put, turn
from tests.support.threads import running


@pytest.fixture
def beside(devices, session, eyes, monkeypatch):
    monkeypatch.setattr(controller, "POLL_S", 0.005)
    beside = Companion(devices, session, eyes, BOARD)
    beside.start()
    devices.lamps.wait_for(turn("red"))
    yield beside
    beside.stop()


@pytest.mark.usefixtures("beside")
def test_a_game_is_followed_to_its_end(devices, session):
    for step in range(9):
        player, following = PLAYERS[step % 2], PLAYERS[(step + 1) % 2]
        seq = put(session, player).seq
        after = turn(following) if step < 8 else Cue("over", PLAYERS)
        devices.lamps.wait_for(Cue("accepted", PLAYERS, of=(player,), then=after, news=seq))
    signals = [cue.signal for cue in devices.lamps.cues[1:]]
    assert signals == ["turn"] + ["accepted"] * 9
    assert [devices.buzzer.next().signal for _ in range(9)] == ["accepted"] * 9


def test_an_output_shows_the_score_whose_turn_it_is_and_what_is_wrong(
    with_output, session, eyes, monkeypatch
):
    monkeypatch.setattr(controller, "POLL_S", 0.005)
    beside, output = Companion(with_output, session, eyes, BOARD), with_output.output
    beside.start()
    first = output.wait_for(lambda board: board.player == "red")
    assert [(one.player, one.points) for one in first.scores] == [("red", 0), ("blue", 0)]
    put(session, "red")
    after = output.wait_for(lambda board: board.player == "blue")
    assert [(one.player, one.points) for one in after.scores] == [("red", 1), ("blue", 0)]
    eyes.latest = replace(eyes.latest, status="camera lost", message="The camera is gone.")
    output.wait_for(lambda board: board.trouble == "The camera is gone.")
    with_output.lamps.wait_for(Cue("camera lost", PLAYERS))
    beside.stop()
    assert len(output.shown) == len(set(output.shown)), "the same is shown once"


@pytest.mark.usefixtures("beside")
def test_what_the_referee_does_is_shown_while_it_lasts(devices, session, eyes):
    put(session, "blue", "refused")
    devices.lamps.wait_for(Cue("refused", PLAYERS, of=("blue",), then=turn("red"), news=2))
    for status, signal in (
        ("hand over the board", "hand"),
        ("settling", "settling"),
        ("camera lost", "camera lost"),
        ("cannot see", "cannot see"),
    ):
        eyes.latest = replace(eyes.latest, status=status)
        devices.lamps.wait_for(Cue(signal, PLAYERS))
    seen = len(devices.lamps.cues)
    eyes.latest = replace(eyes.latest, status="waiting")
    devices.lamps.wait_for(turn("red"), after=seen)
    assert devices.lamps.cues[-1] == turn("red"), "the refusal is not shown a second time"


def test_a_record_that_comes_as_a_wait_ends_is_shown_with_its_own_news(
    devices, session, eyes, monkeypatch
):
    monkeypatch.setattr(controller, "POLL_S", 0.005)
    wait, players = session.wait, list(PLAYERS)

    def wait_and_then_more(after, timeout_s=None):
        records = wait(after, timeout_s)
        if not records and timeout_s and players:
            put(session, players.pop(0))
        return records

    monkeypatch.setattr(session, "wait", wait_and_then_more)
    beside = Companion(devices, session, eyes, BOARD)
    beside.start()
    second = Cue("accepted", PLAYERS, of=(PLAYERS[1],), then=turn(PLAYERS[0]), news=3)
    devices.lamps.wait_for(second)
    beside.stop()
    first = Cue("accepted", PLAYERS, of=(PLAYERS[0],), then=turn(PLAYERS[1]), news=2)
    shown = [cue for cue in devices.lamps.cues if cue.signal == "accepted"]
    assert shown == [first, second]


@pytest.mark.usefixtures("beside")
def test_lamps_that_fail_change_nothing_in_the_game(devices, session):
    devices.lamps.error = "tty0: connection lost"
    put(session, "red")
    assert session.view().scores == {"red": 1, "blue": 0}


def test_what_does_not_work_is_said_once_and_when_it_works_again(
    devices, session, eyes, monkeypatch
):
    monkeypatch.setattr(controller, "POLL_S", 0.005)
    message = queue.Queue()
    devices.lamps.error = devices.buttons.error = "tty0: connection lost"
    beside = Companion(devices, session, eyes, BOARD, message.put)
    beside.start()
    assert message.get(timeout=PATIENCE_S) == "lamps, buttons: tty0: connection lost"
    devices.buttons.error = ""
    assert message.get(timeout=PATIENCE_S) == "lamps: tty0: connection lost"
    devices.lamps.error = ""
    assert message.get(timeout=PATIENCE_S) == "lamps: working again"
    beside.stop()
    assert message.empty()


@pytest.mark.usefixtures("beside")
def test_buttons_send_commands(devices, session):
    put(session, "red")
    devices.buttons.press("appeal")
    records = session.wait(2, PATIENCE_S)
    assert (records[0].event.undoes, records[0].event.decided_by) == (2, "a button")
    devices.buttons.press("rule", held_ms=900)
    assert type(session.wait(3, PATIENCE_S)[0].event).__name__ == "Paused"
    devices.lamps.wait_for(Cue("paused", PLAYERS))
    devices.buttons.press("rule")
    assert type(session.wait(4, PATIENCE_S)[0].event).__name__ == "Resumed"


@pytest.mark.usefixtures("beside")
def test_a_press_that_means_nothing_now_is_told_by_the_buzzer(devices, session):
    devices.buttons.press("next")
    assert devices.buzzer.next() == NOT_NOW
    devices.buttons.press("appeal")
    assert devices.buzzer.next() == NOT_NOW, "nothing has been ruled yet"
    assert len(session.records()) == 1


@pytest.fixture
def asking(session):
    """A question with three answers, asked."""
    choices = (
        Choice("red is nearer", ("red",)),
        Choice("blue is nearer", ()),
        Choice("both count", ()),
    )
    session.append(
        event_from_verdict(Ambiguous(code="pegs.too_close", message="Which?", choices=choices))
    )


def choice(count, *of):
    return Cue("choice", PLAYERS, of=of, count=count)


@pytest.mark.usefixtures("beside", "asking")
def test_a_question_is_answered_with_two_buttons(devices, session, eyes):
    devices.lamps.wait_for(Cue("too close", PLAYERS, of=PLAYERS))
    devices.buttons.press("next")
    devices.lamps.wait_for(choice(1, "red"))
    devices.buttons.press("next")
    devices.lamps.wait_for(choice(2, "blue"))
    devices.buttons.press("next")
    devices.lamps.wait_for(choice(3))
    devices.buttons.press("next")
    devices.lamps.wait_for(
        Cue("too close", PLAYERS, of=PLAYERS), after=devices.lamps.cues.index(choice(3))
    )
    seen = len(devices.lamps.cues)
    devices.buttons.press("next")
    devices.lamps.wait_for(choice(1, "red"), after=seen)
    devices.buttons.press("rule")
    (record,) = session.wait(2, PATIENCE_S)
    assert (record.event.label, record.event.moves, record.event.how, record.event.decided_by) == (
        "red is nearer",
        ("red",),
        "order",
        "a button",
    )
    devices.lamps.wait_for(Cue("accepted", PLAYERS, then=turn("blue"), news=3))
    assert eyes.pointed == [
        (2, label)
        for label in ("red is nearer", "blue is nearer", "both count", "", "red is nearer")
    ]
    heard = [devices.buzzer.next().signal for _ in range(7)]
    assert heard == ["too close", "choice", "choice", "choice", "too close", "choice", "accepted"]


@pytest.mark.usefixtures("beside", "asking")
def test_two_quick_presses_are_two_steps(devices, eyes):
    for _ in range(2):
        devices.buttons.press("next", held_ms=50, after_ms=100)
    devices.lamps.wait_for(choice(2, "blue"))
    devices.buttons.press("next", held_ms=900)
    devices.lamps.wait_for(choice(3))
    assert [label for _, label in eyes.pointed] == ["red is nearer", "blue is nearer", "both count"]


@pytest.mark.usefixtures("beside")
def test_a_press_that_stepped_is_nothing_else_when_the_question_is_gone(devices, session):
    """The panel answers while the button is still down."""
    choices = (Choice("nothing happened", ()),)
    asked = session.append(
        event_from_verdict(Ambiguous(code="pegs.too_close", message="Which?", choices=choices))
    )
    devices.buttons.hold("next", 100)
    devices.lamps.wait_for(choice(1))
    session.command(Answer(question=asked.seq, label="nothing happened"))
    devices.lamps.wait_for(Cue("accepted", PLAYERS, then=turn("red"), news=3))
    devices.buttons.release("next")
    devices.buttons.press("rule", held_ms=900)
    assert [type(record.event).__name__ for record in session.wait(3, PATIENCE_S)] == ["Paused"]
    assert NOT_NOW not in devices.buzzer.played


@pytest.mark.usefixtures("beside", "asking")
def test_what_is_pointed_at_is_shown_with_a_hand_over_the_board(devices, session, eyes):
    eyes.latest = replace(eyes.latest, status="hand over the board")
    devices.lamps.wait_for(Cue("hand", PLAYERS))
    devices.buttons.press("next")
    devices.lamps.wait_for(choice(1, "red"))
    session.command(Pause())
    devices.lamps.wait_for(Cue("paused", PLAYERS))


@pytest.mark.usefixtures("beside", "asking")
def test_nothing_is_taken_that_was_not_pointed_at(devices, session):
    assert devices.buzzer.next().signal == "too close"
    devices.buttons.press("rule")
    assert devices.buzzer.next() == NOT_NOW
    devices.buttons.press("next")
    devices.lamps.wait_for(choice(1, "red"))
    devices.buttons.press("appeal")
    session.wait(2, PATIENCE_S)
    again = session.append(
        event_from_verdict(
            Ambiguous(code="pegs.too_close", message="Which?", choices=(Choice("either", ()),))
        )
    )
    devices.buttons.press("rule")
    devices.buttons.press("rule", held_ms=900)
    assert [type(record.event).__name__ for record in session.wait(again.seq, PATIENCE_S)] == [
        "Paused"
    ], "an answer to another question is none"


@pytest.mark.usefixtures("beside")
def test_a_calliper_answers_what_is_too_close(devices, session, games, monkeypatch):
    from engines.verdict import Accepted

    def judge_answer(question, answer, decided_by):
        assert answer == {"red": 20.1, "blue": 19.9}
        return Accepted(code="pegs.too_close", message=decided_by, moves=question.choices[1].moves)

    monkeypatch.setattr(games["pegs"], "judge_answer", judge_answer)
    evidence = {"gaps": [{"colour": "red"}, {"colour": "blue"}], "call": {"pairs": [[0, 1]]}}
    choices = (Choice("red is nearer", ()), Choice("blue is nearer", ("red",)))
    session.append(
        event_from_verdict(
            Ambiguous(code="pegs.too_close", message="", choices=choices, evidence=evidence)
        )
    )
    devices.lamps.wait_for(Cue("too close", PLAYERS, of=PLAYERS))
    devices.calliper.send("01A+0020.100")
    devices.lamps.wait_for(Cue("measure", PLAYERS, of=("blue",)))
    devices.calliper.send("19.9")
    (record,) = session.wait(2, PATIENCE_S)
    assert (record.event.label, record.event.how) == ("blue is nearer", "calliper")
    devices.lamps.wait_for(Cue("accepted", PLAYERS, then=turn("blue"), news=3))


@pytest.mark.usefixtures("beside")
def test_a_question_that_was_taken_back_takes_its_readings_with_it(devices, session):
    evidence = {"gaps": [{"colour": "red"}, {"colour": "blue"}], "call": {"pairs": [[0, 1]]}}
    question = event_from_verdict(
        Ambiguous(
            code="pegs.too_close", message="", choices=(Choice("either", ()),), evidence=evidence
        )
    )
    session.append(question)
    devices.calliper.send("20.1")
    devices.lamps.wait_for(Cue("measure", PLAYERS, of=("blue",)))
    devices.buttons.press("appeal")
    session.wait(2, PATIENCE_S)
    seen = len(devices.lamps.cues)
    session.append(question)
    devices.lamps.wait_for(Cue("too close", PLAYERS, of=PLAYERS), after=seen)
    assert Cue("measure", PLAYERS, of=("blue",)) not in devices.lamps.cues[seen:]
    devices.calliper.send("20.2")
    devices.lamps.wait_for(Cue("measure", PLAYERS, of=("blue",)), after=seen)


@pytest.mark.usefixtures("beside")
def test_a_reading_that_nobody_asked_for_is_told_by_the_buzzer(devices, session):
    devices.calliper.send("12.34")
    assert devices.buzzer.next() == NOT_NOW
    assert len(session.records()) == 1


def test_it_ends_when_the_session_is_closed(devices, session, eyes):
    beside = Companion(devices, session, eyes, BOARD)
    beside.start()
    session.close()
    beside.stop()
    assert not running("tell devices")
    assert not running("listen to devices")


def test_verdicts_are_called_each_once_and_not_again_when_they_are_corrected(
    devices, session, request
):
    message = queue.Queue()
    devices.voice.say = message.put
    request.getfixturevalue("beside")
    ruled = session.append(
        VerdictReached(
            verdict="accepted",
            code="pegs.put",
            message="Red leads by 2.5 ± 0.3 mm. Blue is next.",
            moves=("red",),
            player="red",
        )
    )
    assert message.get(timeout=PATIENCE_S) == "Red leads by 2.5 millimetres. Blue is next."
    session.command(Pause())
    session.command(Correct(record=ruled.seq, moves=()))
    assert message.get(timeout=PATIENCE_S) == "The ruling was corrected."
    assert message.empty()


def test_a_voice_speaks_its_own_language(devices, session, request):
    message = queue.Queue()
    devices.voice.say, devices.voice.language = message.put, "de"
    request.getfixturevalue("beside")
    throws = msg("{player} throws next.", player="blue")
    session.append(
        VerdictReached(verdict="accepted", code="pegs.put", message=throws, moves=("red",))
    )
    assert message.get(timeout=PATIENCE_S) == "Blau wirft als Nächstes."
    session.append(
        VerdictReached(verdict="accepted", code="pegs.put", message="Never said.", moves=("blue",))
    )
    assert message.get(timeout=PATIENCE_S) == "Never said.", "better in English than not at all"


def test_what_the_referee_has_made_already_is_not_made_again_for_the_lamps(
    devices, session, eyes, games, monkeypatch
):
    """The state's document takes long in some games, and only one thread computes at a time."""
    made, usual = [], games["pegs"].state_document

    def slowly(state):
        made.append(threading.current_thread().name)
        return usual(state)

    monkeypatch.setattr(games["pegs"], "state_document", slowly)
    monkeypatch.setattr(controller, "POLL_S", 0.005)
    beside = Companion(devices, session, eyes, BOARD)
    beside.start()
    devices.lamps.wait_for(turn("red"))
    for player, following in (("red", "blue"), ("blue", "red")):
        record = put(session, player)
        devices.lamps.wait_for(
            Cue("accepted", PLAYERS, of=(player,), then=turn(following), news=record.seq)
        )
        for status, signal in (("settling", "settling"), ("hand over the board", "hand")):
            seen = len(devices.lamps.cues)
            eyes.latest = replace(eyes.latest, status=status)
            devices.lamps.wait_for(Cue(signal, PLAYERS), after=seen)
        eyes.latest = replace(eyes.latest, status="waiting")
    session.command(Pause())
    devices.lamps.wait_for(Cue("paused", PLAYERS))
    beside.stop()
    assert made.count("tell devices") == 1, "at the start"
