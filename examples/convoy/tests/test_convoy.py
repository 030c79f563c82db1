"""Convoy passes what every game must, and ends."""

from random import Random

import numpy as np
from convoy import judge, legal_moves, outcome, parse_move, play, start
from convoy.players import SearchPlayer

from conformance.test_game import *  # noqa: F403
from engines.verdict import Accepted, CannotSee, OutOfSync, Waiting
from table.boards import Chessboard
from table.cells import cell_middle_mm
from table.observation import Camera, Observation, SeenPiece
from table.pieces import load_piece_set
from table.solids import upright


def steps(state):
    """How far all pyramids together have come."""
    last = len(state.rows) - 1
    return sum(
        rank * row.count("1") + (last - rank) * row.count("2")
        for rank, row in enumerate(state.rows)
    )


def test_every_move_brings_pyramids_forward_so_that_the_game_ends():
    chance = Random(1)
    for _ in range(50):
        state, moves = start(("red", "blue"), {"goal": "4"}), 0
        while not outcome(state):
            after = play(state, chance.choice(list(legal_moves(state))))
            assert steps(after) > steps(state)
            state, moves = after, moves + 1
        assert moves <= 50


def test_who_looks_ahead_beats_chance():
    chance, won = Random(2), 0
    for number in range(6):
        seat, state = number % 2, start(("red", "blue"), {})
        while not outcome(state):
            moves = list(legal_moves(state))
            thinks = state.turn == seat
            move = SearchPlayer(chance).choose(state) if thinks else chance.choice(moves)
            state = play(state, move)
        won += outcome(state).winner == state.players[seat]
    assert won >= 5


BOARD = Chessboard(square_mm=32.0, files=5, ranks=6)
CAMERA = Camera(np.eye(3), np.array([0.0, 0.0, 600.0]), np.eye(6) * 1e-6, 0.1, (0, 1, 2, 3))


def table(state, *unseen):
    """The pyramids of a state as they stand, without those on these squares."""
    size = load_piece_set("looney")["medium"]
    pieces = []
    for cell, colour in state.pieces.items():
        if cell not in unseen:
            x_mm, y_mm = cell_middle_mm(BOARD, cell)
            solid, covariance = upright(size, x_mm, y_mm, 0.0), np.diag([0.1, 0.1, 1.0])
            at = np.array([x_mm, y_mm])
            pieces.append(SeenPiece(colour, "medium", "upright", at, 0.0, solid, covariance))
    return Observation(0, 0, CAMERA, tuple(pieces))


def test_a_pyramid_that_is_not_seen_costs_one_question_and_no_game():
    """It is the colour of its square."""
    state = start(("red", "blue"), {})
    before = table(state)
    moved = play(state, parse_move("c1-c2"))
    asked = judge(state, table(moved, "e6"), before, BOARD)
    assert isinstance(asked, CannotSee)
    assert asked.message == "The camera cannot see blue's pyramid on e6."
    assert [choice.moves for choice in asked.asks.choices] == [("c1-c2",), ()]
    half = judge(state, table(state, "c1"), before, BOARD)
    assert isinstance(half, Waiting)
    assert half.message == "Finish the move, or put it back: red goes from c1 to b2."
    assert [choice.moves for choice in half.asks.choices] == [
        (),
        ("c1-b2",),
        ("c1-c2",),
        ("c1-d2",),
        (),
    ]
    again = play(moved, parse_move("a6-a5"))
    ruled = judge(moved, table(again, "e6"), table(moved, "e6"), BOARD)
    assert (type(ruled), ruled.moves) == (Accepted, ("a6-a5",))
    itself = play(moved, parse_move("e6-e5"))
    ruled = judge(moved, table(itself), table(moved, "e6"), BOARD)
    assert (type(ruled), ruled.moves) == (Accepted, ("e6-e5",))


def test_a_pyramid_that_was_taken_away_is_told():
    state = start(("red", "blue"), {})
    assert isinstance(judge(state, table(state, "e6"), table(state), BOARD), OutOfSync)
