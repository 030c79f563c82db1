"""Lamps, dice, buttons and callipers beside a session: they hear the records, and change nothing but by commands."""

from __future__ import annotations

import queue
import threading
from dataclasses import dataclass, field, replace

import pytest

from engines import GAMES
from engines.verdict import Ambiguous, Choice
from engines.verdict import Noted as HeardSaid
from hardware import dice
from hardware.fakes import FakeButtons, FakeBuzzer, FakeCalliper, FakeDice, FakeLamps
from hardware.ports import Press
from hardware.rig import Rig
from hardware.scenes import Scene
from referee import companion
from referee.command import Answer, Declare, Hear, NextGame, Pause, Resume, Roll, Undo
from referee.companion import NOT_NOW, Companion
from referee.events import Asked, Record, Ruled, SessionStarted
from referee.facts import fact_of
from referee.lamps import standing
from referee.loop import Live
from referee.measuring import Measuring, in_question
from referee.pressing import DECIDED_BY, commands_of, roller
from referee.session import Session
from table.boards import Coasters, Open

BOARD = Open(outline_mm=((0, 0), (600, 0), (600, 400), (0, 400)))
PATIENCE_S = 20.0
PLAYERS = ("red", "blue")


def turn(player):
    return Scene("turn", PLAYERS, of=(player,))


class Watched(FakeLamps):
    """Fake lamps that can be waited for."""

    def __init__(self):
        super().__init__()
        self.changed = threading.Condition()

    def show(self, scene):
        with self.changed:
            super().show(scene)
            self.changed.notify_all()

    def wait_for(self, scene, after=0):
        with self.changed:
            assert self.changed.wait_for(lambda: scene in self.scenes[after:], PATIENCE_S), self.scenes


class Heard(FakeBuzzer):
    def __init__(self):
        super().__init__()
        self.queue = queue.Queue()

    def play(self, scene):
        super().play(scene)
        self.queue.put(scene)

    def next(self):
        return self.queue.get(timeout=PATIENCE_S)


@dataclass
class Eyes:
    """What the referee does, as it is told."""

    latest: Live = field(default_factory=lambda: Live("waiting", ""))
    pointed: list = field(default_factory=list)

    def point_at(self, question, label):
        self.pointed.append((question, label))


@pytest.fixture
def rig():
    return Rig(Watched(), FakeDice(1), FakeButtons(), Heard(), FakeCalliper())


@pytest.fixture
def eyes():
    return Eyes()


@pytest.fixture
def beside(rig, session, eyes, monkeypatch):
    monkeypatch.setattr(companion, "POLL_S", 0.005)
    beside = Companion(rig, session, eyes, BOARD)
    beside.start()
    rig.lamps.wait_for(turn("red"))
    yield beside
    beside.stop()


def put(session, colour, verdict="accepted"):
    moves = (colour,) if verdict == "accepted" else ()
    return session.append(Ruled(verdict=verdict, code="pegs.put", said="", moves=moves, player=colour))


@pytest.mark.usefixtures("beside")
def test_a_game_is_followed_to_its_end(rig, session):
    for step in range(9):
        player, following = PLAYERS[step % 2], PLAYERS[(step + 1) % 2]
        seq = put(session, player).seq
        after = turn(following) if step < 8 else Scene("over", PLAYERS)
        rig.lamps.wait_for(Scene("accepted", PLAYERS, of=(player,), then=after, news=seq))
    signals = [scene.signal for scene in rig.lamps.scenes[1:]]
    assert signals == ["turn"] + ["accepted"] * 9
    assert [rig.buzzer.next().signal for _ in range(9)] == ["accepted"] * 9


@pytest.mark.usefixtures("beside")
def test_what_the_referee_does_is_shown_while_it_lasts(rig, session, eyes):
    put(session, "blue", "refused")
    rig.lamps.wait_for(Scene("refused", PLAYERS, of=("blue",), then=turn("red"), news=2))
    for status, signal in (("hand over the board", "hand"), ("settling", "settling"), ("camera lost", "camera lost"), ("cannot see", "cannot see")):
        eyes.latest = replace(eyes.latest, status=status)
        rig.lamps.wait_for(Scene(signal, PLAYERS))
    seen = len(rig.lamps.scenes)
    eyes.latest = replace(eyes.latest, status="waiting")
    rig.lamps.wait_for(turn("red"), after=seen)
    assert rig.lamps.scenes[-1] == turn("red"), "the refusal is not shown a second time"


@pytest.mark.usefixtures("beside")
def test_lamps_that_fail_change_nothing_in_the_game(rig, session):
    rig.lamps.trouble = "tty0: it is gone"
    put(session, "red")
    assert session.view()["scores"] == {"red": 1, "blue": 0}


@pytest.mark.usefixtures("beside")
def test_buttons_send_commands(rig, session):
    put(session, "red")
    rig.buttons.press("appeal")
    records = session.wait(2, PATIENCE_S)
    assert (records[0].event.undoes, records[0].event.decided_by) == (2, DECIDED_BY)
    rig.buttons.press("rule", held_ms=900)
    assert type(session.wait(3, PATIENCE_S)[0].event).__name__ == "Paused"
    rig.lamps.wait_for(Scene("paused", PLAYERS))
    rig.buttons.press("rule")
    assert type(session.wait(4, PATIENCE_S)[0].event).__name__ == "Resumed"


@pytest.mark.usefixtures("beside")
def test_a_press_that_means_nothing_now_is_told_by_the_buzzer(rig, session):
    rig.buttons.press("next")
    assert rig.buzzer.next() == NOT_NOW
    rig.buttons.press("appeal")
    assert rig.buzzer.next() == NOT_NOW, "nothing was ruled yet"
    assert len(session.records()) == 1


class Dice(FakeDice):
    """Dice that say, with every face, how many records there were when it was shown."""

    def __init__(self, count, session):
        super().__init__(count)
        self.session, self.queue = session, queue.Queue()

    def show(self, faces):
        super().show(faces)
        self.queue.put((faces, len(self.session.records())))


@pytest.fixture
def rolling(session, eyes, games, monkeypatch):
    """rolling(count): dice and buttons beside a game that waits for red's die."""
    monkeypatch.setattr(companion, "POLL_S", 0.005)
    monkeypatch.setattr(dice, "tumble", lambda values: [(tuple(value % 6 + 1 for value in values), 0), (values, 0)])
    heard = {"may_say": [{"label": "die 1", "said": {"player": "red", "die": 1}}]}
    document = games["pegs"].state_document
    monkeypatch.setattr(games["pegs"], "state_document", lambda state: document(state) | heard)
    monkeypatch.setattr(games["pegs"], "hear", lambda _state, said: HeardSaid(code="pegs.die", said=f"{said['player']}: {said['die']}", moves=()))
    running = []

    def make(count):
        rig = Rig(dice=Dice(count, session), buttons=FakeButtons(), buzzer=Heard())
        running.append(Companion(rig, session, eyes, BOARD))
        running[-1].start()
        return rig, heard

    yield make
    for one in running:
        one.stop()


def seen(dice):
    """Faces from now on until they lie still, and how many records there were at the first of them."""
    first, records = dice.queue.get(timeout=PATIENCE_S)
    still, _ = dice.queue.get(timeout=PATIENCE_S)
    assert first != still
    return still, records


def test_a_die_is_in_the_log_before_it_is_seen(rolling, session):
    rig, _ = rolling(1)
    rig.buttons.press("die", held_ms=900)
    (record,) = session.wait(1, PATIENCE_S)
    (value,) = record.event.evidence["dice"]
    assert (record.event.code, record.event.said) == ("pegs.die", f"red: {value}")
    assert value in range(1, 7)
    assert seen(rig.dice) == ((value,), 2)
    assert len(session.records()) == 2, "what becomes of the press rolls no other die"


def test_one_die_of_two_is_the_game_s(rolling, session):
    rig, _ = rolling(2)
    rig.buttons.press("die")
    (record,) = session.wait(1, PATIENCE_S)
    (value,) = record.event.evidence["dice"]
    assert seen(rig.dice) == ((value, None), 2)


def test_two_dice_are_drawn_at_once_and_are_in_the_log_before_they_are_seen(rolling, session):
    rig, heard = rolling(2)
    heard["may_say"] = []
    rig.buttons.press("die", held_ms=900)
    (record,) = session.wait(1, PATIENCE_S)
    values = tuple(record.event.evidence["dice"])
    assert (record.event.code, len(values)) == ("dice.rolled", 2)
    assert seen(rig.dice) == (values, 2)


def test_a_die_that_nobody_waits_for_is_not_rolled(rolling, session):
    rig, _ = rolling(1)
    session.command(Pause())
    assert rig.buzzer.next().signal == "paused"
    rig.buttons.press("die")
    assert rig.buzzer.next() == NOT_NOW
    assert rig.dice.shown == []
    assert len(session.records()) == 2


def test_who_presses_while_dice_tumble_is_not_heard(rolling, session, monkeypatch):
    monkeypatch.setattr(dice, "tumble", lambda values: [(values, 3_600_000)])
    rig, _ = rolling(1)
    rig.buttons.press("die")
    rig.dice.queue.get(timeout=PATIENCE_S)
    rig.buttons.press("die")
    while rig.buzzer.next() != NOT_NOW:
        pass
    assert len(session.records()) == 2


def test_a_roll_from_the_panel_is_seen_too(rolling, session):
    rig, _ = rolling(2)
    record = session.command(Roll(dice=2))
    assert seen(rig.dice) == (tuple(record.event.evidence["dice"]), 2)


@pytest.fixture
def asking(session):
    """A question with three answers, asked."""
    choices = (Choice("red is nearer", ("red",)), Choice("blue is nearer", ()), Choice("both count", ()))
    session.append(fact_of(Ambiguous(code="pegs.too_close", said="Which?", choices=choices)))


def choice(count, *of):
    return Scene("choice", PLAYERS, of=of, count=count)


@pytest.mark.usefixtures("beside", "asking")
def test_a_question_is_answered_with_two_buttons(rig, session, eyes):
    rig.lamps.wait_for(Scene("too close", PLAYERS, of=PLAYERS))
    rig.buttons.press("next")
    rig.lamps.wait_for(choice(1, "red"))
    rig.buttons.press("next")
    rig.lamps.wait_for(choice(2, "blue"))
    rig.buttons.press("next")
    rig.lamps.wait_for(choice(3))
    rig.buttons.press("next")
    rig.lamps.wait_for(Scene("too close", PLAYERS, of=PLAYERS), after=rig.lamps.scenes.index(choice(3)))
    seen = len(rig.lamps.scenes)
    rig.buttons.press("next")
    rig.lamps.wait_for(choice(1, "red"), after=seen)
    rig.buttons.press("rule")
    (record,) = session.wait(2, PATIENCE_S)
    assert (record.event.label, record.event.moves, record.event.how, record.event.decided_by) == ("red is nearer", ("red",), "order", DECIDED_BY)
    rig.lamps.wait_for(Scene("accepted", PLAYERS, then=turn("blue"), news=3))
    assert eyes.pointed == [(2, label) for label in ("red is nearer", "blue is nearer", "both count", "", "red is nearer")]
    heard = [rig.buzzer.next().signal for _ in range(7)]
    assert heard == ["too close", "choice", "choice", "choice", "too close", "choice", "accepted"]


@pytest.mark.usefixtures("beside", "asking")
def test_nothing_is_taken_that_was_not_pointed_at(rig, session):
    assert rig.buzzer.next().signal == "too close"
    rig.buttons.press("rule")
    assert rig.buzzer.next() == NOT_NOW
    rig.buttons.press("next")
    rig.lamps.wait_for(choice(1, "red"))
    rig.buttons.press("appeal")
    session.wait(2, PATIENCE_S)
    again = session.append(fact_of(Ambiguous(code="pegs.too_close", said="Which?", choices=(Choice("either", ()),))))
    rig.buttons.press("rule")
    rig.buttons.press("rule", held_ms=900)
    assert [type(record.event).__name__ for record in session.wait(again.seq, PATIENCE_S)] == ["Paused"], "an answer to another question is none"


CLOSE = {
    "gaps": [{"colour": colour} for colour in ("blue", "yellow", "blue", "yellow", "blue")],
    "call": {"pairs": [[2, 3], [1, 2]]},
}


def asked(evidence):
    return Asked(code="boule.too_close", said="", choices=(), evidence=evidence)


def test_pieces_in_question_are_named_as_the_game_names_them():
    assert in_question(asked(CLOSE)) == ("yellow", "blue 2", "yellow 2")
    assert in_question(asked({})) == ()


def test_readings_are_of_one_piece_after_the_other():
    measuring = Measuring.begin(Record(seq=9, session=1, at_ms=0, event=asked(CLOSE)))
    for piece, mm in (("yellow", 20.1), ("blue 2", 20.2), ("yellow 2", 20.3)):
        assert measuring.next == piece
        measuring = measuring.take(mm)
    assert measuring.next is None
    assert measuring.answer() == Answer(question=9, how="calliper", readings_mm={"yellow": 20.1, "blue 2": 20.2, "yellow 2": 20.3})
    assert Measuring.begin(None) is None
    assert Measuring.begin(Record(seq=9, session=1, at_ms=0, event=asked({}))) is None


@pytest.mark.usefixtures("beside")
def test_a_calliper_answers_what_is_too_close(rig, session, games, monkeypatch):
    from engines.verdict import Accepted

    def judge_answer(question, answer, decided_by):
        assert answer == {"red": 20.1, "blue": 19.9}
        return Accepted(code="pegs.too_close", said=decided_by, moves=question.choices[1].moves)

    monkeypatch.setattr(games["pegs"], "judge_answer", judge_answer)
    evidence = {"gaps": [{"colour": "red"}, {"colour": "blue"}], "call": {"pairs": [[0, 1]]}}
    choices = (Choice("red is nearer", ()), Choice("blue is nearer", ("red",)))
    session.append(fact_of(Ambiguous(code="pegs.too_close", said="", choices=choices, evidence=evidence)))
    rig.lamps.wait_for(Scene("too close", PLAYERS, of=PLAYERS))
    rig.calliper.send("01A+0020.100")
    rig.lamps.wait_for(Scene("measure", PLAYERS, of=("blue",)))
    rig.calliper.send("19.9")
    (record,) = session.wait(2, PATIENCE_S)
    assert (record.event.label, record.event.how) == ("blue is nearer", "calliper")
    rig.lamps.wait_for(Scene("accepted", PLAYERS, then=turn("blue"), news=3))


@pytest.mark.usefixtures("beside")
def test_a_question_that_was_taken_back_takes_its_readings_with_it(rig, session):
    evidence = {"gaps": [{"colour": "red"}, {"colour": "blue"}], "call": {"pairs": [[0, 1]]}}
    question = fact_of(Ambiguous(code="pegs.too_close", said="", choices=(Choice("either", ()),), evidence=evidence))
    session.append(question)
    rig.calliper.send("20.1")
    rig.lamps.wait_for(Scene("measure", PLAYERS, of=("blue",)))
    rig.buttons.press("appeal")
    session.wait(2, PATIENCE_S)
    seen = len(rig.lamps.scenes)
    session.append(question)
    rig.lamps.wait_for(Scene("too close", PLAYERS, of=PLAYERS), after=seen)
    assert Scene("measure", PLAYERS, of=("blue",)) not in rig.lamps.scenes[seen:]
    rig.calliper.send("20.2")
    rig.lamps.wait_for(Scene("measure", PLAYERS, of=("blue",)), after=seen)


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
    assert not any(thread.is_alive() for thread in beside._threads)


@dataclass
class Still:
    """The parts of a ledger that a button's meaning hangs on."""

    state: object
    engine: object
    paused: bool = False
    question: object = None
    players: tuple[str, ...] = ("blue", "yellow")


def press(button, kind="short"):
    return Press(button, kind, 0.0)


def boule(*moves):
    engine = GAMES["ice_boule"]
    state = engine.start(("blue", "yellow"), {})
    for move in moves:
        state = engine.play(state, engine.parse_move(move))
    return Still(state, engine)


def test_what_buttons_mean():
    still = boule()
    by = {"decided_by": DECIDED_BY}
    assert commands_of(press("rule"), still, 2) == (Pause(**by), Resume(**by))
    assert commands_of(press("rule"), replace(still, paused=True), 2) == (Resume(**by),)
    assert commands_of(press("rule", "long"), still, 2) == (Pause(**by),)
    assert commands_of(press("rule", "long"), replace(still, paused=True), 2) == ()
    assert commands_of(press("appeal"), still, 2) == (Undo(**by),)
    for button in ("rule", "appeal", "next"):
        assert commands_of(press(button, "down"), still, 2) == ()
        assert commands_of(press(button, "double"), still, 2) == ()
    assert commands_of(press("next"), still, 2) == ()
    assert commands_of(press("light"), still, 2) == ()
    assert commands_of(press("die", "down"), still, 2) == (), "nobody rolls in Ice Boule"
    assert commands_of(press("die", "long"), still, 2) == (Roll(dice=2, **by),)


def test_next_begins_the_next_game_or_stops_the_leader(games):
    pegs = games["pegs"]
    over = Still(pegs.State(PLAYERS, ("red", "blue") * 4 + ("red",)), pegs)
    assert commands_of(press("next"), over, 2) == (NextGame(decided_by=DECIDED_BY),)
    assert roller(over) is None
    alone = boule(
        "target green",
        "throw blue medium 20: blue 20",
        "throw yellow medium 30: blue 20 < yellow 30",
        "throw yellow medium 31: blue 20 < yellow 30 < yellow 31",
        "throw yellow medium 32: blue 20 < yellow 30 < yellow 31 < yellow 32",
        "throw yellow medium 33: blue 20 < yellow 30 < yellow 31 < yellow 32 < yellow 33",
    )
    assert commands_of(press("next"), alone, 2) == (Declare(moves=("stop blue",), decided_by=DECIDED_BY),)


def test_a_game_of_zamboni_wars_is_rolled_by_the_button(log, eyes, rig, monkeypatch):
    """Every value is drawn by the electronic die, in the log at once, and what the game makes of it is lit, whatever chance brings."""
    monkeypatch.setattr(dice, "tumble", lambda values: [(tuple(value % 6 + 1 for value in values), 0), (values, 0)])
    monkeypatch.setattr(companion, "POLL_S", 0.005)
    session = Session.begin(log, SessionStarted(game="zamboni_wars", players=("yellow", "blue")))
    board = Coasters(cell_mm=33)
    rig.dice = Dice(1, session)
    beside = Companion(rig, session, eyes, board)
    beside.start()
    engine, turns = GAMES["zamboni_wars"], []
    while len(turns) < 6:
        ledger = session.ledger
        if engine.state_document(ledger.state)["may_shoot"]:
            rig.buttons.press("next")
            (record,) = session.wait(ledger.seq, PATIENCE_S)
            assert record.event.code == "zamboni.hold"
            continue
        rig.buttons.press("die")
        (record,) = session.wait(ledger.seq, PATIENCE_S)
        assert record.event.code == "zamboni.roll"
        turns.append(record.event.player)
        (roll,) = record.event.moves
        assert seen(rig.dice) == ((int(roll.removeprefix("roll ")),), len(session.records()))
        rig.lamps.wait_for(standing(session.ledger, board))
        drive = next(iter(engine.legal_moves(session.ledger.state)))
        seq = session.append(Ruled(verdict="accepted", code="zamboni.move", said="", moves=(str(drive),), player=record.event.player)).seq
        rig.lamps.wait_for(Scene("accepted", session.ledger.players, (record.event.player,), then=standing(session.ledger, board), news=seq))
    beside.stop()
    session.close()
    assert turns == ["yellow", "blue"] * 3
    assert any(scene.marks for scene in rig.lamps.scenes), "the space that a Zamboni is to leave"


def test_next_holds_fire():
    class Firing:
        NAME = "zamboni_wars"

        @staticmethod
        def outcome(_state):
            return None

        @staticmethod
        def state_document(_state):
            return {"to_move": "red", "may_shoot": ["blue"], "next": "red"}

    assert commands_of(press("next"), Still(None, Firing), 2) == (Hear(said={"player": "red", "hold": True}, decided_by=DECIDED_BY),)
