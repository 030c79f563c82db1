"""Throws with every side effect, observed exactly or with what lies under others hidden: the
verdict is the true one, or a question that holds it.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from engines import GAMES
from engines.verdict import Accepted, Ambiguous, Waiting
from simulation.players.ice_boule import agrees, true_layout
from simulation.players.ice_boule_table import Tabletop, Throw, demo_place, demo_setup, nest_in
from simulation.players.laying import middle_mm
from simulation.render.scene import Scene
from simulation.true_reading import true_observation
from table.solids import upright

pytestmark = pytest.mark.slow

GAME, SETUP, PLACE = GAMES["ice_boule"], demo_setup(), demo_place()
ACCIDENTS = (
    "none",
    "none",
    "touch",
    "knock",
    "knock",
    "on target",
    "on target",
    "topple",
    "topple",
    "off",
)


class Fuzz:
    """A game whose throws are ruled on at once, and answered with the truth."""

    def __init__(self, seed, hides):
        self.rng, self.hides = np.random.default_rng(seed), hides
        self.state, self.table, self.before = (
            GAME.start(SETUP.game.colours, {}),
            Tabletop(SETUP),
            None,
        )
        self.asked = self.acts = 0

    def seen(self):
        """All that lies there; with `hides`, without what a shell is over."""
        seen = true_observation(Scene(None, self.table.pieces), SETUP, PLACE)
        if not self.hides:
            return seen
        under = {
            k
            for k, piece in enumerate(seen.pieces)
            if any(self._over(other, piece) for other in seen.pieces if other is not piece)
        }
        kept = [k for k in range(len(seen.pieces)) if k not in under]
        now = {k: place for place, k in enumerate(kept)}
        return replace(
            seen, pieces=tuple(replace(seen.pieces[k], on=now.get(seen.pieces[k].on)) for k in kept)
        )

    def _over(self, shell, piece):
        stands = shell.on is not None and np.hypot(*(shell.base_mm - piece.base_mm)) < 0.5
        higher = shell.solid.vertices_mm[:, 2].min() > piece.solid.vertices_mm[:, 2].min()
        return (stands and higher) or np.allclose(
            nest_in(SETUP.sizes[-1], shell.solid).vertices_mm, piece.solid.vertices_mm
        )

    def end(self):
        """One end, from its target to its score or to a target that left."""
        x, y = self.rng.uniform([200, 150], [400, 300])
        self.table, self.before = (
            Tabletop(SETUP).with_target(
                upright(SETUP.sizes[-1], x, y, float(self.rng.uniform(0, 90)))
            ),
            None,
        )
        self.rule()
        while self.state.target is not None:
            accident = str(self.rng.choice(ACCIDENTS))
            if self.hides and self.table.stack and self.table.stack[-1].colour == self.state.next:
                accident = "topple"  # nobody would see one piece of a colour on another
            self.table = self.table.after_throw(
                self.state.next,
                Throw(tuple(middle_mm(self.table.target.solid)), 60.0, accident),
                self.rng,
            )
            self.rule()

    def rule(self):
        """The verdict on the table as it lies; asserts that it is the true one, or that one of its
        answers is.
        """
        self.acts += 1
        seen = self.seen()
        verdict = GAME.judge(self.state, seen, self.before, SETUP.board)
        if isinstance(verdict, Waiting):
            there = sum(self.table.in_play(piece) for piece in self.table.pieces)
            assert there == 1 + len(self.state.layout.lies), verdict  # one left: they say so
            verdict, seen = (
                GAME.hear(self.state, {"player": self.state.next, "out": True}),
                self.before,
            )
        if isinstance(verdict, Ambiguous):
            self.asked += 1
            true = [
                choice for choice in verdict.choices if choice.moves and self.is_true(choice.moves)
            ]
            assert true, (verdict, str(true_layout(self.table)))
            moves = true[0].moves
        else:
            assert isinstance(verdict, Accepted), verdict
            moves = verdict.moves
            assert self.is_true(moves), (verdict, str(true_layout(self.table)))
        self.state = self.played(moves)
        self.before = getattr(verdict, "table", None) or seen

    def played(self, moves):
        state = self.state
        for move in moves:
            state = GAME.play(state, GAME.parse_move(move))
        return state

    def is_true(self, moves):
        if moves == ("void",) or not self.table.in_play(self.table.target):
            return moves == ("void",) and not self.table.in_play(self.table.target)
        return agrees(self.played(moves).layout, true_layout(self.table))


@pytest.mark.parametrize(
    "hides", [False, True], ids=["all in view", "shells hide what is under them"]
)
@pytest.mark.parametrize("seed", range(6))
def test_no_side_effect_leads_to_a_wrong_verdict_or_a_dead_end(seed, hides):
    fuzz = Fuzz(seed, hides)
    while GAME.outcome(fuzz.state) is None and fuzz.acts < 60:
        fuzz.end()
    assert fuzz.acts > 20
