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
from referee.devices.buttons import DECIDED_BY
from referee.devices.controller import NOT_NOW, Companion
from referee.sessions.commands import Answer, Correct, Pause
from referee.sessions.events import VerdictReached
from referee.sessions.verdict_events import event_from_verdict
from table.messages import msg
from tests.support.beside_a_session import BOARD, PATIENCE_S, PLAYERS, put, turn
from tests.support.threads import running


@pytest.fixture
def beside(rig, session, eyes, monkeypatch):
    monkeypatch.setattr(controller, "POLL_S", 0.005)
    beside = Companion(rig, session, eyes, BOARD)
    beside.start()
    rig.lamps.wait_for(turn("red"))
    yield beside
    beside.stop()


@pytest.mark.usefixtures("beside")
def test_a_game_is_followed_to_its_end(rig, session):
    for step in range(9):
        player, following = PLAYERS[step % 2], PLAYERS[(step + 1) % 2]
        seq = put(session, player).seq
        after = turn(following) if step < 8 else Cue("over", PLAYERS)
        rig.lamps.wait_for(Cue("accepted", PLAYERS, of=(player,), then=after, news=seq))
    signals = [scene.signal for scene in rig.lamps.scenes[1:]]
    assert signals == ["turn"] + ["accepted"] * 9
    assert [rig.buzzer.next().signal for _ in range(9)] == ["accepted"] * 9


@pytest.mark.usefixtures("beside")
def test_what_the_referee_does_is_shown_while_it_lasts(rig, session, eyes):
    put(session, "blue", "refused")
    rig.lamps.wait_for(Cue("refused", PLAYERS, of=("blue",), then=turn("red"), news=2))
    for status, signal in (
        ("hand over the board", "hand"),
        ("settling", "settling"),
        ("camera lost", "camera lost"),
        ("cannot see", "cannot see"),
    ):
        eyes.latest = replace(eyes.latest, status=status)
        rig.lamps.wait_for(Cue(signal, PLAYERS))
    seen = len(rig.lamps.scenes)
    eyes.latest = replace(eyes.latest, status="waiting")
    rig.lamps.wait_for(turn("red"), after=seen)
    assert rig.lamps.scenes[-1] == turn("red"), "the refusal is not shown a second time"


@pytest.mark.usefixtures("beside")
def test_lamps_that_fail_change_nothing_in_the_game(rig, session):
    rig.lamps.trouble = "tty0: connection lost"
    put(session, "red")
    assert session.view().scores == {"red": 1, "blue": 0}


def test_what_does_not_work_is_said_once_and_when_it_works_again(rig, session, eyes, monkeypatch):
    monkeypatch.setattr(controller, "POLL_S", 0.005)
    message = queue.Queue()
    rig.lamps.trouble = rig.buttons.trouble = "tty0: connection lost"
    beside = Companion(rig, session, eyes, BOARD, message.put)
    beside.start()
    assert message.get(timeout=PATIENCE_S) == "lamps, buttons: tty0: connection lost"
    rig.buttons.trouble = ""
    assert message.get(timeout=PATIENCE_S) == "lamps: tty0: connection lost"
    rig.lamps.trouble = ""
    assert message.get(timeout=PATIENCE_S) == "lamps: working again"
    beside.stop()
    assert message.empty()


@pytest.mark.usefixtures("beside")
def test_buttons_send_commands(rig, session):
    put(session, "red")
    rig.buttons.press("appeal")
    records = session.wait(2, PATIENCE_S)
    assert (records[0].event.undoes, records[0].event.decided_by) == (2, DECIDED_BY)
    rig.buttons.press("rule", held_ms=900)
    assert type(session.wait(3, PATIENCE_S)[0].event).__name__ == "Paused"
    rig.lamps.wait_for(Cue("paused", PLAYERS))
    rig.buttons.press("rule")
    assert type(session.wait(4, PATIENCE_S)[0].event).__name__ == "Resumed"


@pytest.mark.usefixtures("beside")
def test_a_press_that_means_nothing_now_is_told_by_the_buzzer(rig, session):
    rig.buttons.press("next")
    assert rig.buzzer.next() == NOT_NOW
    rig.buttons.press("appeal")
    assert rig.buzzer.next() == NOT_NOW, "nothing has been ruled yet"
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
def test_a_question_is_answered_with_two_buttons(rig, session, eyes):
    rig.lamps.wait_for(Cue("too close", PLAYERS, of=PLAYERS))
    rig.buttons.press("next")
    rig.lamps.wait_for(choice(1, "red"))
    rig.buttons.press("next")
    rig.lamps.wait_for(choice(2, "blue"))
    rig.buttons.press("next")
    rig.lamps.wait_for(choice(3))
    rig.buttons.press("next")
    rig.lamps.wait_for(
        Cue("too close", PLAYERS, of=PLAYERS), after=rig.lamps.scenes.index(choice(3))
    )
    seen = len(rig.lamps.scenes)
    rig.buttons.press("next")
    rig.lamps.wait_for(choice(1, "red"), after=seen)
    rig.buttons.press("rule")
    (record,) = session.wait(2, PATIENCE_S)
    assert (record.event.label, record.event.moves, record.event.how, record.event.decided_by) == (
        "red is nearer",
        ("red",),
        "order",
        DECIDED_BY,
    )
    rig.lamps.wait_for(Cue("accepted", PLAYERS, then=turn("blue"), news=3))
    assert eyes.pointed == [
        (2, label)
        for label in ("red is nearer", "blue is nearer", "both count", "", "red is nearer")
    ]
    heard = [rig.buzzer.next().signal for _ in range(7)]
    assert heard == ["too close", "choice", "choice", "choice", "too close", "choice", "accepted"]


@pytest.mark.usefixtures("beside", "asking")
def test_two_quick_presses_are_two_steps(rig, eyes):
    for _ in range(2):
        rig.buttons.press("next", held_ms=50, after_ms=100)
    rig.lamps.wait_for(choice(2, "blue"))
    rig.buttons.press("next", held_ms=900)
    rig.lamps.wait_for(choice(3))
    assert [label for _, label in eyes.pointed] == ["red is nearer", "blue is nearer", "both count"]


@pytest.mark.usefixtures("beside")
def test_a_press_that_stepped_is_nothing_else_when_the_question_is_gone(rig, session):
    """The panel answers while the button is still down."""
    choices = (Choice("nothing happened", ()),)
    asked = session.append(
        event_from_verdict(Ambiguous(code="pegs.too_close", message="Which?", choices=choices))
    )
    rig.buttons.hold("next", 100)
    rig.lamps.wait_for(choice(1))
    session.command(Answer(question=asked.seq, label="nothing happened"))
    rig.lamps.wait_for(Cue("accepted", PLAYERS, then=turn("red"), news=3))
    rig.buttons.release("next")
    rig.buttons.press("rule", held_ms=900)
    assert [type(record.event).__name__ for record in session.wait(3, PATIENCE_S)] == ["Paused"]
    assert NOT_NOW not in rig.buzzer.played


@pytest.mark.usefixtures("beside", "asking")
def test_what_is_pointed_at_is_shown_with_a_hand_over_the_board(rig, session, eyes):
    eyes.latest = replace(eyes.latest, status="hand over the board")
    rig.lamps.wait_for(Cue("hand", PLAYERS))
    rig.buttons.press("next")
    rig.lamps.wait_for(choice(1, "red"))
    session.command(Pause())
    rig.lamps.wait_for(Cue("paused", PLAYERS))


@pytest.mark.usefixtures("beside", "asking")
def test_nothing_is_taken_that_was_not_pointed_at(rig, session):
    assert rig.buzzer.next().signal == "too close"
    rig.buttons.press("rule")
    assert rig.buzzer.next() == NOT_NOW
    rig.buttons.press("next")
    rig.lamps.wait_for(choice(1, "red"))
    rig.buttons.press("appeal")
    session.wait(2, PATIENCE_S)
    again = session.append(
        event_from_verdict(
            Ambiguous(code="pegs.too_close", message="Which?", choices=(Choice("either", ()),))
        )
    )
    rig.buttons.press("rule")
    rig.buttons.press("rule", held_ms=900)
    assert [type(record.event).__name__ for record in session.wait(again.seq, PATIENCE_S)] == [
        "Paused"
    ], "an answer to another question is none"


@pytest.mark.usefixtures("beside")
def test_a_calliper_answers_what_is_too_close(rig, session, games, monkeypatch):
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
    rig.lamps.wait_for(Cue("too close", PLAYERS, of=PLAYERS))
    rig.calliper.send("01A+0020.100")
    rig.lamps.wait_for(Cue("measure", PLAYERS, of=("blue",)))
    rig.calliper.send("19.9")
    (record,) = session.wait(2, PATIENCE_S)
    assert (record.event.label, record.event.how) == ("blue is nearer", "calliper")
    rig.lamps.wait_for(Cue("accepted", PLAYERS, then=turn("blue"), news=3))


@pytest.mark.usefixtures("beside")
def test_a_question_that_was_taken_back_takes_its_readings_with_it(rig, session):
    evidence = {"gaps": [{"colour": "red"}, {"colour": "blue"}], "call": {"pairs": [[0, 1]]}}
    question = event_from_verdict(
        Ambiguous(
            code="pegs.too_close", message="", choices=(Choice("either", ()),), evidence=evidence
        )
    )
    session.append(question)
    rig.calliper.send("20.1")
    rig.lamps.wait_for(Cue("measure", PLAYERS, of=("blue",)))
    rig.buttons.press("appeal")
    session.wait(2, PATIENCE_S)
    seen = len(rig.lamps.scenes)
    session.append(question)
    rig.lamps.wait_for(Cue("too close", PLAYERS, of=PLAYERS), after=seen)
    assert Cue("measure", PLAYERS, of=("blue",)) not in rig.lamps.scenes[seen:]
    rig.calliper.send("20.2")
    rig.lamps.wait_for(Cue("measure", PLAYERS, of=("blue",)), after=seen)


@pytest.mark.usefixtures("beside")
def test_a_reading_that_nobody_asked_for_is_told_by_the_buzzer(rig, session):
    rig.calliper.send("12.34")
    assert rig.buzzer.next() == NOT_NOW
    assert len(session.records()) == 1


def test_it_ends_when_the_session_is_closed(rig, session, eyes):
    beside = Companion(rig, session, eyes, BOARD)
    beside.start()
    session.close()
    beside.stop()
    assert not running("tell devices")
    assert not running("listen to devices")


def test_verdicts_are_called_each_once_and_not_again_when_they_are_corrected(rig, session, request):
    message = queue.Queue()
    rig.voice.say = message.put
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


def test_a_voice_speaks_its_own_language(rig, session, request):
    message = queue.Queue()
    rig.voice.say, rig.voice.language = message.put, "de"
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
    rig, session, eyes, games, monkeypatch
):
    """The state's document takes long in some games, and only one thread computes at a time."""
    made, usual = [], games["pegs"].state_document

    def slowly(state):
        made.append(threading.current_thread().name)
        return usual(state)

    monkeypatch.setattr(games["pegs"], "state_document", slowly)
    monkeypatch.setattr(controller, "POLL_S", 0.005)
    beside = Companion(rig, session, eyes, BOARD)
    beside.start()
    rig.lamps.wait_for(turn("red"))
    for player, following in (("red", "blue"), ("blue", "red")):
        record = put(session, player)
        rig.lamps.wait_for(
            Cue("accepted", PLAYERS, of=(player,), then=turn(following), news=record.seq)
        )
        for status, signal in (("settling", "settling"), ("hand over the board", "hand")):
            seen = len(rig.lamps.scenes)
            eyes.latest = replace(eyes.latest, status=status)
            rig.lamps.wait_for(Cue(signal, PLAYERS), after=seen)
        eyes.latest = replace(eyes.latest, status="waiting")
    session.command(Pause())
    rig.lamps.wait_for(Cue("paused", PLAYERS))
    beside.stop()
    assert made.count("tell devices") == 1, "at the start"
