"""What is drawn of every game: the marks are exactly what is legal, lie on the board, and tell no
vote.
"""

from itertools import islice
from random import Random

import pytest

from conformance.marks import *  # noqa: F403
from engines import GAMES
from engines.icebreaker.board import label
from engines.icefloe.messages import pyramid
from engines.icefloe.moves import Movement, Slide, Vote
from simulation.players.policies import RandomPlayer, playout

STARTS = {
    "ice_boule": ("blue yellow", {}),
    "icebreaker": ("red black", {"size": "4"}),
    "ice_storm": ("red yellow blue", {}),
    "icefloe": ("red black yellow blue", {}),
    "zamboni_wars": ("yellow red blue green", {"warp": "on", "cover": "on"}),
}
MOVES = 150


def states(name, seed):
    """States of a game that chance plays, each with the move that was then made."""
    game, (players, rulings) = GAMES[name], STARTS[name]
    state = game.start(players.split(), rulings)
    for move, after in islice(playout(game, state, RandomPlayer(game, Random(seed)).choose), MOVES):
        yield state, move
        state = after
    yield state, None


def on_board(name, cell):
    sides = {"ice_storm": 8, "zamboni_wars": 6, "icefloe": 5}
    if name == "icebreaker":
        return cell in {
            label(number)
            for row in GAMES[name].start(["red", "black"], {"size": "4"}).setting.board.rows
            for number in row
        }
    return name in sides and cell in {
        f"{file}{rank}" for file in "abcdefgh"[: sides[name]] for rank in range(1, sides[name] + 1)
    }


def drawn(options, *kinds):
    return [(one, mark) for one in options for mark in one.marks if mark.kind in kinds]


def legal_icebreaker(state, moves, options):
    assert {mark.cells for _, mark in drawn(options, "path")} == {
        (label(move.from_cell), label(move.to_cell)) for move in moves
    }
    assert all(
        state.ice >> move.to_cell & 1
        for move in moves
        if label(move.to_cell)
        in {cell for _, mark in drawn(options, "take") for cell in mark.cells}
    )


def legal_zamboni_wars(state, moves, options):
    if str(state.phase).startswith("move"):
        assert {
            (mark.cells[0], look) for _, mark in drawn(options, "goal") for look in mark.looks
        } == {(str(move.space), move.facing) for move in moves}
    if str(state.phase).startswith("fire"):
        assert [mark.cells[-1] for _, mark in drawn(options, "ray")] == [
            str(state.remaining_zambonis[state.in_sight].space)
        ]


def legal_icefloe(state, moves, options):
    if state.phase == "move":
        may = {
            (str(one.label).partition(" on ")[0].lower(), cell)
            for one, mark in drawn(options, "goal", "take")
            for cell in mark.cells
        }
        assert may == {
            (str(pyramid(move.pyramid)).lower(), move.target)
            for move in moves
            if isinstance(move, Movement)
        }
        assert {mark.cells for _, mark in drawn(options, "path")} == {
            (move.origin, move.target) for move in moves if isinstance(move, Slide)
        }
    if state.phase == "vote":
        assert [one.who for one in options] == list(
            dict.fromkeys(move.player for move in moves if isinstance(move, Vote))
        )


def legal_ice_storm(state, moves, options):
    if state.next:
        assert options[0].who == state.next
        assert [one.who for one in options] == sorted(
            state.players, key=lambda player: [one.who for one in options].index(player)
        )
    elif state.attacker:
        hit = {
            piece.name
            for piece in state.pieces
            for _, mark in drawn(options, "ray")
            if {str(square) for square in piece.place.squares} & {*mark.cells}
        }
        assert {
            f"{move.colour}{move.number}" for move in moves if str(move).startswith("capture")
        } <= hit


def legal_ice_boule(state, _moves, options):
    assert options[0].who == (state.next or state.starter)
    assert len({one.who for one in options}) == len(options)


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("seed", range(3))
def test_what_is_drawn_is_what_is_legal(name, seed):
    game = GAMES[name]
    for state, move in states(name, seed):
        options = game.options(state)
        marks = [mark for one in options for mark in one.marks] + list(
            game.trace(state, move) if move else ()
        )
        assert all(on_board(name, cell) for mark in marks for cell in mark.cells)
        if options:
            globals()[f"legal_{name}"](state, list(game.legal_moves(state)), options)


@pytest.mark.parametrize(
    ("name", "line", "move", "expected"),
    [
        ("icebreaker", None, "A1-B1", [("path", ("A1", "B1")), ("take", ("B1",))]),
        ("zamboni_wars", "roll 3", "d6 E", [("way", ("a6", "b6", "c6", "d6")), ("here", ("d6",))]),
        ("zamboni_wars", "roll 3", "f1 S", [("path", ("a6", "f1")), ("here", ("f1",))]),
        (
            "ice_storm",
            "throw red b3-b4>b4",
            "throw yellow c1: red1 off",
            [("here", ("c1",)), ("take", ("b3", "b4"))],
        ),
    ],
)
def test_a_move_is_traced(name, line, move, expected):
    game, (players, rulings) = GAMES[name], STARTS[name]
    state = game.start(players.split(), rulings if name != "zamboni_wars" else {})
    if line:
        state = game.play(state, game.parse_move(line))
    assert [
        (mark.kind, mark.cells) for mark in game.trace(state, game.parse_move(move))
    ] == expected


def test_of_a_vote_nothing_is_told():
    game = GAMES["icefloe"]
    for state, move in states("icefloe", 1):
        if isinstance(move, Vote) and len(state.missing_voters) > 1:
            other = Vote(
                move.player,
                next(
                    one.choice
                    for one in game.legal_moves(state)
                    if one.player == move.player and one.choice != move.choice
                ),
            )
            assert game.options(game.play(state, move)) == game.options(game.play(state, other))
            assert game.trace(state, move) == ()
