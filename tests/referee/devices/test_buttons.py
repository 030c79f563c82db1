"""What buttons and readings mean: pure functions of a press and the session."""

from __future__ import annotations

from dataclasses import dataclass, replace

from engines import GAMES
from hardware.interfaces import Press
from referee.devices.answer_picker import AnswerSelection
from referee.devices.buttons import commands_of, roller
from referee.sessions.caliper_answers import Measuring, contested_pieces
from referee.sessions.commands import Answer, Hear, NextGame, Pause, Resume, Roll, Undo
from referee.sessions.events import Choice, QuestionAsked, Record
from referee.sessions.state import CountedRuling

PLAYERS = ("red", "blue")
DECIDED_BY = "a button"


CLOSE = {
    "gaps": [{"colour": colour} for colour in ("blue", "yellow", "blue", "yellow", "blue")],
    "call": {"pairs": [[2, 3], [1, 2]]},
}


def asked(evidence):
    return QuestionAsked(code="boule.too_close", message="", choices=(), evidence=evidence)


def test_pieces_in_question_are_named_as_the_game_names_them():
    assert contested_pieces(asked(CLOSE)) == ("yellow", "blue 2", "yellow 2")
    assert contested_pieces(asked({})) == ()


def test_readings_are_of_one_piece_after_the_other():
    measuring = Measuring.begin(Record(seq=9, session=1, at_ms=0, event=asked(CLOSE)))
    for piece, mm in (("yellow", 20.1), ("blue 2", 20.2), ("yellow 2", 20.3)):
        assert measuring.next == piece
        measuring = measuring.take(mm)
    assert measuring.next is None
    assert measuring.answer() == Answer(
        question=9, how="calliper", readings_mm={"yellow": 20.1, "blue 2": 20.2, "yellow 2": 20.3}
    )
    assert Measuring.begin(None) is None
    assert Measuring.begin(Record(seq=9, session=1, at_ms=0, event=asked({}))) is None


@dataclass
class Still:
    """The parts of a ledger that a button's meaning hangs on."""

    state: object
    engine: object
    paused: bool = False
    question: object = None
    players: tuple[str, ...] = ("blue", "yellow")
    standing: tuple[CountedRuling, ...] = ()

    @property
    def outcome(self):
        ended = self.engine.outcome(self.state)
        return None if ended is None else str(ended)


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
    assert commands_of(press("next"), alone, 2) == (
        Hear(heard={"player": "blue", "stop": True}, decided_by=DECIDED_BY),
    )


AIMED = (
    "players yellow blue; zambonis a6 E 3, c6 S 3; to_move yellow; phase {}; dice -; "
    "board yellow=SE red=SW green=NE blue=NW; rulings warp=off cover=off fire={}."
)


def zamboni(phase, fire="may"):
    engine = GAMES["zamboni_wars"]
    return Still(engine.State.parse(AIMED.format(phase, fire)), engine)


def test_next_holds_fire_where_that_is_allowed():
    hold = Hear(heard={"player": "yellow", "hold": True}, decided_by=DECIDED_BY)
    assert commands_of(press("next"), zamboni("fire blue"), 2) == (hold,)
    assert commands_of(press("next"), zamboni("fire blue", "must"), 2) == ()
    assert commands_of(press("next"), zamboni("roll"), 2) == ()


def test_the_die_rolls_only_where_the_game_waits_for_it():
    """A die that may be told early is not rolled by a button pressed too soon."""
    for phase, rolls in (
        ("roll", "yellow"),
        ("shot blue", "yellow"),
        ("move 4", None),
        ("hit blue", None),
    ):
        assert roller(zamboni(phase)) == rolls, phase
    sayings = GAMES["zamboni_wars"].state_document(zamboni("move 4").state)["may_say"]
    assert any("die" in one["said"] and one["aside"] for one in sayings)


def offered(*labels):
    asked = QuestionAsked(
        code="boule.too_close", message="", choices=tuple(Choice(label=label) for label in labels)
    )
    return AnswerSelection.begin(Record(seq=9, session=1, at_ms=0, event=asked))


def test_answers_are_pointed_at_one_after_the_other_and_then_none():
    choosing, seen = offered("red is nearer", "Blue is nearer", "red before blue", "reddish"), []
    for _ in range(6):
        seen.append((choosing.count, choosing.label, choosing.player(PLAYERS)))
        choosing = choosing.step()
    assert seen == [
        (0, "", None),
        (1, "red is nearer", "red"),
        (2, "Blue is nearer", "blue"),
        (3, "red before blue", None),
        (4, "reddish", None),
        (0, "", None),
    ]
    assert choosing.answer("a button") == Answer(
        question=9, label="red is nearer", decided_by="a button"
    )


def test_there_is_nothing_to_point_at_without_a_question():
    assert AnswerSelection.begin(None) is None
    assert offered() is None


def test_a_vote_that_is_not_revealed_is_taken_back_by_no_button():
    game = GAMES["icefloe"]
    state = game.start(("red", "blue", "yellow"), {})
    while not state.last_to_move:
        state = game.play(state, next(iter(game.legal_moves(state))))
    undo = (Undo(decided_by=DECIDED_BY),)
    assert commands_of(press("appeal"), Still(state, game, players=state.players), 2) == undo
    voted = CountedRuling(7, 7, ("vote red 4",), secret=True)
    state = game.play(state, game.parse_move("vote red 4"))
    assert (
        commands_of(
            press("appeal"), Still(state, game, players=state.players, standing=(voted,)), 2
        )
        == ()
    )
