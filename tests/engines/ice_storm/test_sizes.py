"""Ruling ice_storm.13: all pieces of a game are of one size; one of another is named and taken away
before play goes on.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from engines import ice_storm as game
from engines.ice_storm.touches import touches
from engines.verdict import Accepted, Ambiguous, OutOfSync, Refused, Waiting
from tests.support.ice_storm import BOARD, PLAYERS, read_piece

LINE = (
    "players green black red; round 1; totals 0 0 0; stacks 0 0 0; thrown {thrown}; turn {turn};"
    " pieces {pieces}; rulings touching=contact fire=over knocked=thrower leaning=again low=again"
    " starter=left attack=must tie=shared{size}."
)


def state(pieces="green1 d2, black1 g7", thrown=2, turn="-", size=""):
    return game.State.parse(
        LINE.format(pieces=pieces, thrown=thrown, turn=turn, size=f" size={size}" if size else "")
    )


def another(colour, x_mm, y_mm, size="medium", probability=1.0, heading_deg=90.0):
    """A piece of another size than those of the table; unsure, it may be a small one that lies
    nearly so.
    """
    piece = replace(
        read_piece(x_mm, y_mm, heading_deg, size), colour=colour, size_probability=probability
    )
    rival = replace(
        read_piece(x_mm, y_mm + 1, heading_deg, "small"),
        colour=colour,
        size_probability=1 - probability,
    )
    return piece if probability == 1.0 else replace(piece, rivals=(rival,))


@pytest.fixture
def two(table, lie):
    """Green's and black's first pieces lie there, both small."""
    table.pieces = {"green1": lie("green", 175, 60), "black1": lie("black", 320, 320)}
    return table


def test_a_piece_of_another_size_than_the_others_is_named_and_thrown_again(two, play):
    before = two.seen()
    refused = play(state(), before, another("red", 75, 310))
    assert isinstance(refused, Refused)
    assert (refused.code, refused.player, refused.tried, refused.stands) == (
        "storm.throw.size",
        "red",
        ("throw red size",),
        (),
    )
    assert (
        refused.message
        == "Red's piece is medium, but the others are small. Take it away and throw a small"
        " one. What it moved stays where it is."
    )
    assert refused.rests_on == "Deployment; ruling ice_storm.13"
    assert isinstance(play(state(), before), Waiting), "taken away, play goes on"


def test_what_it_moved_and_knocked_off_stays(two, lie, play):
    before = two.seen()
    two.pieces["black1"] = lie("black", 120, 220)
    del two.pieces["green1"]
    two.beside = [lie("green", 175, -60)]
    refused = play(state(), before, another("red", 75, 310))
    assert refused.code == "storm.throw.size"
    (stands,) = refused.stands
    after = game.play(state(), game.parse_move(stands))
    assert (after.next, dict(zip(PLAYERS, after.stacks, strict=True))["red"]) == ("red", 1)
    assert [piece.name for piece in after.pieces] == ["black1"]
    assert isinstance(play(after, two.seen()), Waiting)
    two.pieces["red1"] = lie("red", 75, 320)
    assert play(after, before).moves == ("throw red b7",)


def test_a_size_that_is_not_sure_is_asked_about_with_the_truth_among_the_answers(two, play):
    odd = another("red", 75, 310, probability=0.9)
    asked = play(state(), two.seen(), odd)
    assert isinstance(asked, Ambiguous)
    assert (
        asked.message
        == "Is red's new piece small or medium? All pieces in a game have the same size."
    )
    assert asked.rests_on == "Deployment; ruling ice_storm.13"
    small = str(touches(odd.rivals[0], BOARD).place)
    assert [choice.moves for choice in asked.choices] == [(f"throw red {small}",), (), ()]
    assert asked.choices[0].label == "It is small: red's piece lies on the board, within b7"
    assert asked.choices[1].label == "It is medium: take it away and throw again"
    state_after = game.play(
        state(), game.parse_move(*game.judge_answer(asked, asked.choices[0].label).moves)
    )
    assert isinstance(play(state_after, two.seen(odd), odd), Waiting), (
        "nobody is asked again while it lies so"
    )


def test_of_a_throw_that_knocked_a_piece_out_of_sight_everything_is_asked(two, play):
    before = two.seen()
    del two.pieces["green1"]
    asked = play(state(), before, another("red", 75, 310))
    assert isinstance(asked, Ambiguous)
    assert [choice.moves for choice in asked.choices] == [
        ("throw red b7: green1 off",),
        ("void red: green1 off",),
        ("throw red b7",),
        (),
        (),
    ]


@pytest.mark.parametrize("probability", [0.5, 0.97])
def test_an_unsure_size_never_refuses_a_throw(two, play, probability):
    assert not isinstance(
        play(state(), two.seen(), another("red", 75, 310, probability=probability)),
        Refused | OutOfSync,
    )


def test_a_size_that_is_named_before_play_holds_from_the_first_throw(table, play, lie):
    first = game.start(PLAYERS, {"size": "small"})
    refused = play(first, table.seen(), another("green", 75, 310))
    assert (refused.code, refused.tried) == ("storm.throw.size", ("throw green size",))
    assert refused.message.startswith(
        "Green's piece is medium, but this game is played with small pieces. Take it away and"
        " throw a small one."
    )
    assert isinstance(
        play(game.start(PLAYERS, {}), table.seen(), another("green", 75, 310)), Accepted
    ), "the first one tells the size"
    table.pieces["green1"] = lie("green", 75, 320)
    assert play(first).moves == ("throw green b7",)


def test_any_size_will_do_where_the_players_rule_so(two, play):
    assert play(state(size="any"), two.seen(), another("red", 75, 310)).moves == ("throw red b7",)


def test_what_lies_off_the_board_may_be_of_any_size(two, play):
    beside = another("red", 200, -60)
    seen = play(state(), two.seen(), off_board=(beside,))
    assert seen.code == "storm.throw.wasted"


def test_most_pieces_of_the_record_tell_the_size(table, lie, play):
    """People may have let one of another size pass."""
    table.pieces = {"green1": lie("green", 175, 60), "black1": lie("black", 320, 320)}
    odd = another("red", 75, 310)
    board = state("green1 d2, black1 g7, red1 b7", 3)
    before = table.seen(odd)
    table.pieces["green2"] = lie("green", 320, 60)
    assert play(board, before, odd).moves == ("throw green g2",), (
        "and nobody is told of it for ever"
    )


@pytest.mark.parametrize("turn", ["-", "green"])
def test_a_piece_that_was_exchanged_for_one_of_another_size_is_named(table, lie, play, turn):
    table.pieces = {
        "green1": lie("green", 175, 60),
        "black1": lie("black", 320, 320),
        "red1": lie("red", 275, 60),
    }
    board = state("green1 d2, black1 g7, red1 f2", 15 if turn == "green" else 3, turn)
    before = table.seen()
    del table.pieces["black1"]
    medium = another("black", 320, 316)
    verdict = play(board, before, medium)
    assert isinstance(verdict, OutOfSync)
    assert (verdict.code, verdict.rests_on) == ("storm.size", "ruling ice_storm.13")
    assert verdict.differences == ("black1 is medium, but the others are small.",)
    assert [(choice.moves, choice.confirms_record) for choice in verdict.asks.choices] == [
        ((), True),
        ((), False),
    ]
    assert not isinstance(play(board, table.seen(medium), medium), OutOfSync), (
        "on the players' word it stays"
    )


def test_a_size_that_is_read_otherwise_without_being_sure_is_no_exchange(table, lie, play):
    table.pieces = {"green1": lie("green", 175, 60), "red1": lie("red", 275, 60)}
    board = state("green1 d2, black1 g7, red1 f2", 3)
    unsure = another("black", 320, 310, probability=0.8)
    assert isinstance(play(board, table.seen(another("black", 320, 310, "small")), unsure), Waiting)


def test_two_throws_of_which_one_is_of_another_size_are_not_taken_as_two(two, play, lie):
    before = two.seen()
    two.pieces["red1"] = lie("red", 75, 320)
    refused = play(state(), before, another("green", 320, 60))
    assert (type(refused), refused.code) == (Refused, "storm.throw.two")


def test_a_new_piece_while_players_fire_is_named_with_its_size(table, lie, play):
    table.pieces = {"green1": lie("green", 175, 60), "black1": lie("black", 175, 320)}
    verdict = play(
        state("green1 d2, black1 d7", 15, "green"), table.seen(), another("red", 320, 60)
    )
    assert isinstance(verdict, OutOfSync)
    assert verdict.differences == (
        "A red piece on g2 is not in the record.",
        "A red piece on g2 is medium, but the others are small.",
    )


def test_the_whole_referee_names_it_once_and_goes_on(film, tables):
    table = tables.Table(np.random.default_rng(8))
    film = film("ice_storm", PLAYERS, table.board)
    film.show(table.seen())
    table.pieces["green1"] = tables.Thrown("green", 175, 60, 90.0, "lying")
    film.show(table.seen())
    odd = another("black", 320, 310)
    film.show(table.seen(odd))
    film.show(table.seen(odd))
    film.show(table.seen())
    table.pieces["black1"] = tables.Thrown("black", 320, 320, 90.0, "lying")
    film.show(table.seen())
    assert film.referee() == [
        ("accepted", "storm.throw", "green", ("throw green d2",)),
        ("refused", "storm.throw.size", "black", ("throw black size",)),
        ("accepted", "storm.throw", "black", ("throw black g7",)),
    ]


def test_who_knows_better_than_the_camera_finds_the_throw_among_the_alternatives(two, play):
    refused = play(state(), two.seen(), another("red", 75, 310))
    assert [*refused.evidence["may_be"].items()] == [
        ("It is small: red's piece lies on the board, within b7", "throw red b7")
    ]


def test_a_throw_of_another_size_is_told_from_the_piece_that_it_knocked_away(two, lie, play):
    """It came to lie nearer to where green's piece was than that piece does now."""
    two.pieces["green1"] = lie("green", 175, 60, pose="upright")
    before = two.seen()
    two.pieces["green1"] = lie("green", 320, 120)
    refused = play(state("green1 d2^, black1 g7", 3), before, another("green", 172, 42))
    assert isinstance(refused, Refused)
    assert (refused.code, refused.player) == ("storm.throw.size", "green")
    assert refused.stands == ("void green: green1 g3",)
