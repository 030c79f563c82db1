"""Simulated players of Zamboni Wars where the board is crowded."""

from __future__ import annotations

import numpy as np

from engines import zamboni_wars as engine
from simulation.players.laying import middle_mm, move_body, overlap
from simulation.players.zamboni_wars import ZamboniPlay
from table.cells import cell_middle_mm
from tests.support.virtual_tables import table_of

BOXED_IN = (
    "players red blue yellow green; zambonis b2 SW 2, a1 E 2, d1 NW 3, b1 NW 3; to_move green;"
    " phase move 4; dice c3 e3; board red=SE blue=SW green=NE yellow=NW; rulings cover=on."
)
"""Only c2 can be reached."""


def test_a_zamboni_that_has_no_room_is_driven_as_near_as_can_be():
    """A person has put another nest over the only space: that once ended the refereeing."""
    state, setup = engine.State.parse(BOXED_IN), table_of("zamboni_wars", 19).setup
    play = ZamboniPlay(setup, np.random.default_rng(1))
    bodies = play.begin(state).bodies
    there = np.array(cell_middle_mm(setup.board, "c2"))
    over = move_body(bodies["red"], np.array([*(there - middle_mm(bodies["red"])), 0.0]))
    act = play.turn(state, {**bodies, "red": over})
    assert act.moves == ("c2 N",)
    green = act.bodies["green"]
    assert np.hypot(*(middle_mm(green) - there)) < 60
    assert not overlap(green, over)
