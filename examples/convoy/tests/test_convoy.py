"""Convoy passes what every game must, and ends."""

from random import Random

from convoy import legal_moves, outcome, play, start
from convoy.players import SearchPlayer

from conformance.test_game import *  # noqa: F403


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
