"""Tests of marks: they are on the board, and a game lists its options."""

from itertools import islice
from random import Random

from engines import GAMES
from simulation.players.policies import RandomPlayer, playout
from table.cells import cells_mm
from table.games import table_facts

MOVES = 150


def test_what_is_drawn_is_on_the_board_and_said(name, starts):
    game, default = GAMES[name], table_facts(name).default
    cells = cells_mm(default.board(default.cell_mm)) if default else {}
    state = game.set_up(starts[0].players, {}, default.board(default.cell_mm) if default else None)
    drawn = 0
    for move, after in islice(playout(game, state, RandomPlayer(game, Random(3)).choose), MOVES):
        options = game.options(state)
        assert options, str(state)
        assert all(one.who in (*state.players, None) and one.label for one in options)
        marks = [mark for one in options for mark in one.marks] + list(game.trace(state, move))
        assert all(mark.cells for mark in marks)
        assert {cell for mark in marks for cell in mark.cells} <= cells.keys()
        drawn += len(marks)
        state = after
    assert drawn or not cells
    if game.outcome(state) is not None:
        assert game.options(state) == ()
