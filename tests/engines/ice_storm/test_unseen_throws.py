"""Throws that are off the board and out of sight: what they moved can be told, whatever was said
first.
"""

from __future__ import annotations

import dataclasses
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engines import ice_storm as game
from engines.ice_storm.moves import Moved
from engines.verdict import Accepted, Ambiguous, OutOfSync, Refused, Waiting
from referee.sessions.commands import Answer
from tests.support.ice_storm import PLAYERS, thrown
from tests.support.ice_storm_boards import knocking

THREE = "green1 d2, black1 g7, red1 b7"


@pytest.fixture
def three(table, lie):
    table.pieces = {
        "green1": lie("green", 175, 60),
        "black1": lie("black", 320, 320),
        "red1": lie("red", 75, 320),
    }
    return table


def after(state, *moves):
    for move in moves:
        state = game.play(state, game.parse_move(move))
    return state


STATE = game.State.parse(thrown(THREE, 3))


def moves_of(question):
    return [choice.moves for choice in question.choices]


def test_a_board_that_a_throw_out_of_sight_changed_is_asked_about(three, lie, play):
    before = three.seen()
    three.pieces["red1"] = lie("red", 120, 220)
    verdict = play(STATE, before)
    assert isinstance(verdict, OutOfSync)
    assert moves_of(verdict.asks) == [("throw green off: red1 c5",), ("void green: red1 c5",), ()]
    assert verdict.asks.message == "Did a throw do this?"


@pytest.mark.parametrize(("x_mm", "y_mm", "cell"), [(175, 270, "d6"), (125, 320, "c7")])
def test_a_throw_that_hides_an_own_piece_is_among_the_answers(table, lie, play, x_mm, y_mm, cell):
    """What is seen may be the throw, or the piece on record, which it moved a little."""
    table.pieces = {
        "green1": lie("green", 175, 320),
        "black1": lie("black", 320, 320),
        "red1": lie("red", 75, 60),
    }
    before = table.seen()
    table.pieces["green1"] = lie("green", x_mm, y_mm)
    verdict = play(game.State.parse(thrown("green1 d7, black1 g7, red1 b2", 3)), before)
    assert isinstance(verdict, OutOfSync)
    moves = moves_of(verdict.asks)
    assert (f"throw green off: green1 {cell}",) in moves
    assert (f"throw green {cell}: green1 off",) in moves
    assert (f"throw green {cell}",) in moves


def test_said_to_be_off_first_and_seen_to_have_moved_pieces_then(three, lie, play):
    before = three.seen()
    three.pieces["red1"] = lie("red", 120, 220)
    state = after(STATE, "throw green off")
    verdict = play(state, before)
    assert isinstance(verdict, OutOfSync)
    assert moves_of(verdict.asks) == [
        ("throw black off: red1 c5",),
        ("void black: red1 c5",),
        ("moved green: red1 c5",),
        (),
    ]
    assert verdict.asks.choices[2].label == "Green's previous throw did it and is off the board"
    state = after(state, "moved green: red1 c5")
    assert state.next == "black", "nobody's turn is lost"
    assert isinstance(play(state, three.seen()), Waiting)


def test_a_piece_of_the_next_player_that_it_carried_far_is_no_throw_for_sure(three, lie, play):
    before = three.seen()
    three.pieces["black1"] = lie("black", 120, 220)
    asked = play(after(STATE, "throw green off"), before)
    assert isinstance(asked, Ambiguous)
    assert ("moved green: black1 c5",) in moves_of(asked)
    assert ("throw black c5: black1 off",) in moves_of(asked)


def test_what_it_knocked_off_is_the_throwers(three, lie, play):
    before = three.seen()
    del three.pieces["red1"]
    three.beside = [lie("red", 175, -60)]
    asked = play(after(STATE, "throw green off"), before)
    assert ("moved green: red1 off",) in moves_of(asked)
    state = after(STATE, "throw green off", "moved green: red1 off")
    assert dict(zip(PLAYERS, state.stacks, strict=True)) == {"green": 1, "black": 0, "red": 0}
    assert isinstance(play(state, three.seen()), Waiting)


def test_the_last_throw_of_a_round_too(table, lie, play):
    table.pieces = {
        "green1": lie("green", 175, 60),
        "black1": lie("black", 175, 320),
        "red1": lie("red", 75, 320),
    }
    state = after(game.State.parse(thrown("green1 d2, black1 d7, red1 b7", 14)), "throw red off")
    assert state.attacker == "green"
    before = table.seen()
    table.pieces["red1"] = lie("red", 120, 220)
    verdict = play(state, before)
    assert isinstance(verdict, OutOfSync)
    assert moves_of(verdict.asks) == [("moved red: red1 c5",), ()]


def test_once_the_next_throw_is_ruled_nobody_is_asked_about_the_one_before(three, lie, play):
    state = after(STATE, "throw green off", "throw black g2")
    three.pieces["black2"] = lie("black", 320, 60)
    before = three.seen()
    three.pieces["green1"] = lie("green", 120, 220)
    assert all(
        "moved" not in move for moves in moves_of(play(state, before).asks) for move in moves
    )
    assert game.violation(state, game.parse_move("moved green: red1 c5")).code == "storm.moved.time"


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32), st.integers(0, 14))
def test_told_at_once_or_after_it_comes_to_the_same(seed, count):
    chance = Random(seed)
    state = game.start(PLAYERS, {"low": chance.choice(["again", "undone"])})
    for _ in range(count):
        state = game.play(state, knocking(state, chance))
    throw = dataclasses.replace(knocking(state, chance), place=None)
    at_once = game.play(state, throw)
    if throw.changes and not at_once.round_over:
        later = game.play(state, dataclasses.replace(throw, changes=()))
        if later.round_over:
            return
        later = game.play(later, Moved(throw.player, throw.changes))
        low = game.parse_move(f"low {throw.player}")
        assert later == at_once
        assert game.play(later, low) == game.play(at_once, low)
        assert game.parse_move(str(Moved(throw.player, throw.changes))) == Moved(
            throw.player, throw.changes
        )


def leave_alone(film, seen, ms=8000):
    """A table that nobody touches."""
    for _ in range(0, ms, 250):
        film.left.append(dataclasses.replace(seen, at_ms=film.at_ms))
        film.at_ms += 250


@pytest.mark.parametrize("colour", ["red", "black"])
def test_the_whole_referee_asks_and_goes_on(film, tables, colour):
    table = tables.Table(np.random.default_rng(8))
    film = film("ice_storm", PLAYERS, table.board)
    film.show(table.seen())
    for name, x_mm, y_mm in (("green1", 175, 60), ("black1", 320, 320), ("red1", 75, 320)):
        table.pieces[name] = tables.Thrown(name[:-1], x_mm, y_mm, 90.0, "lying")
        film.show(table.seen())
    film.referee()
    film.say(player="green", off=True)
    table.pieces[f"{colour}1"] = tables.Thrown(colour, 120, 220, 90.0, "lying")
    leave_alone(film, table.seen())
    film.referee()
    question = film.session.ledger.question
    assert question is not None
    label = next(
        choice.label
        for choice in question.event.choices
        if choice.moves and choice.moves[0].startswith("moved")
    )
    film.session.command(Answer(question=question.seq, label=label, decided_by="the players"))
    assert film.session.view().state["pieces"][f"{colour}1"] == "c5"
    table.pieces["black2"] = tables.Thrown("black", 320, 60, 90.0, "lying")
    film.show(table.seen())
    assert [verdict[:2] for verdict in film.referee()] == [("accepted", "storm.throw")]


def test_a_hand_that_was_too_low_before_the_first_throw_of_a_round_stays_in_the_record(
    play, table, lie
):
    """The state with it prints and reads back: the session goes on after a power cut."""
    over = game.State.parse(thrown("green1 d2", 15))
    assert over.round_over
    low = after(over, "low black")
    assert game.State.parse(str(low)) == low
    assert (low.next, game.outcome(low)) == ("black", None)
    table.pieces["black1"] = lie("black", 320, 320)
    refused = play(low)
    assert isinstance(refused, Refused)
    again = after(low, *refused.stands)
    assert (again.next, again.void) == ("black", False)
    accepted = play(again)
    assert isinstance(accepted, Accepted)
    assert after(again, *accepted.moves).round == 2


def test_a_piece_of_another_size_that_was_left_lying_is_named_beside_the_right_one(
    three, lie, play
):
    odd = dataclasses.replace(lie("green", 225, 220).piece(), size="medium")
    before = three.seen()
    three.pieces["green2"] = lie("green", 320, 60)
    refused = play(STATE, before, odd)
    assert (refused.code, refused.stands) == ("storm.throw.size", ())
    assert (
        refused.message
        == "A green piece on e5 is medium, but the others are small. Take away any piece of"
        " another size."
    )
    assert play(STATE, before).moves == ("throw green g2",)


def test_a_throw_that_leaned_or_did_not_can_be_put_right_by_people(three, play):
    offered = game.alternatives(STATE, ("throw green c5: red1 off",))
    assert ("void green: red1 off",) in [choice.moves for choice in offered[:5]]
    assert all(
        "void" not in choice.moves[0]
        for choice in game.alternatives(game.start(PLAYERS, {}), ("throw green c5",))
    ), "nothing to lean on"
    on_green = three.leaning("green")
    refused = play(STATE, three.seen(), dataclasses.replace(on_green, pose_probability=1.0))
    assert (refused.code, refused.stands) == ("storm.throw.leaning", ())
    ((message, move),) = refused.evidence["may_be"].items()
    assert message.startswith("Green's piece lies on the board")
    assert game.violation(STATE, game.parse_move(move)) is None


def test_answers_that_lead_elsewhere_are_worded_otherwise(three, lie, play):
    """Which of two pieces of one colour was thrown, and leans, decides where the other one lies."""
    before = three.seen()
    three.pieces["green1"] = lie("green", 275, 310, 0.0, "upright")
    leaning = dataclasses.replace(three.leaning("green"), pose_probability=1.0)
    near_green = dataclasses.replace(lie("green", 175, 66, 70.0).piece(), pose="leaning", on=0)
    for thrown_piece in (leaning, near_green):
        asked = play(STATE, before, thrown_piece)
        if isinstance(asked, Ambiguous):
            labels = [choice.label for choice in asked.choices]
            assert len(set(labels)) == len(labels), labels
            assert len({choice.moves for choice in asked.choices if choice.moves}) == sum(
                bool(choice.moves) for choice in asked.choices
            )


def test_a_leaning_throw_that_lies_where_an_own_piece_lay_which_is_out_of_sight(three, lie, play):
    """The truth is among the answers, though the leaning piece looks like the own one that was
    moved.
    """
    before = three.seen()
    del three.pieces["green1"], three.pieces["red1"]
    leaning = dataclasses.replace(lie("green", 178, 85, 120.0).piece(), pose="leaning")
    three.pieces["black1"] = lie("black", 185, 118)
    verdict = play(STATE, before, leaning)
    asked = verdict if isinstance(verdict, Ambiguous) else verdict.asks
    voids = [
        choice.moves[0]
        for choice in asked.choices
        if choice.moves and choice.moves[0].startswith("void green")
    ]
    assert any("green1 off" in move and "red1 off" in move for move in voids)


def test_a_piece_that_lies_just_where_the_unseen_one_should_is_asked_about(table, lie, play):
    """The next player's throw may lie beside it; or it was taken away."""
    state = after(game.start(PLAYERS, {}), "throw green c6-c7>c7")
    table.pieces = {"black1": lie("black", 125, 290, 90)}
    asked = play(state)
    assert isinstance(asked, Ambiguous)
    assert ("throw black c6-c7>c7",) in moves_of(asked)
    assert ("throw black c6-c7>c7: green1 off",) in moves_of(asked)
    assert moves_of(asked)[-1] == ()
