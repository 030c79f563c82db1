"""Whole ends with pieces read as noisily as their covariances say: the judge against the truth."""

import numpy as np
import pytest

from engines.ice_boule import judge, parse_move, play, start
from engines.ice_boule.measure import measure
from engines.verdict import Accepted, Ambiguous

pytestmark = pytest.mark.slow

SIGMA_MM, SIGMA_DEG = 0.3, 0.6


class Ground:
    """Pieces as they truly lie: (colour, x, y, heading, pose), the target first."""

    def __init__(self, tables, seed):
        self.tables, self.rng = tables, np.random.default_rng(seed)
        self.truth = [("green", 0.0, 0.0, 20.0, "upright")]

    def throw(self, colour):
        """A piece comes to lie somewhere near the target, and now and then knocks others."""
        bearing, away_mm = self.rng.uniform(0, 2 * np.pi), 30 + abs(self.rng.normal(scale=40))
        for index, (name, x, y, heading, pose) in enumerate(self.truth):
            if self.rng.random() < 0.1:
                dx, dy, turn = self.rng.normal(size=3) * [15, 15, 40]
                self.truth[index] = (name, x + dx, y + dy, heading + turn, pose)
        self.truth.append(
            (
                colour,
                away_mm * np.cos(bearing),
                away_mm * np.sin(bearing),
                self.rng.uniform(0, 360),
                "lying",
            )
        )

    def seen(self, sigma_mm=SIGMA_MM, sigma_deg=SIGMA_DEG):
        """The table as a camera with these errors reads it."""
        pieces = []
        for colour, x, y, heading, pose in self.truth:
            dx, dy, turn = self.rng.normal(size=3) * [sigma_mm, sigma_mm, sigma_deg]
            pieces.append(
                self.tables.piece(
                    colour,
                    x + dx,
                    y + dy,
                    heading + turn,
                    pose=pose,
                    sigma_mm=sigma_mm,
                    sigma_deg=sigma_deg,
                )
            )
        return self.tables.seen(*pieces)


@pytest.mark.parametrize("first", [0, 10])
def test_noisy_ends(tables, first):
    """Nothing that is accepted is wrong, and among the answers to every question there is the true
    one.
    """
    accepted = asked = 0
    for seed in range(first, first + 10):
        ground = Ground(tables, seed)
        state, before = (
            play(start(["blue", "yellow", "red"], {}), parse_move("target green")),
            ground.seen(),
        )
        while state.end is None:
            ground.throw(state.next)
            seen = ground.seen()
            verdict = judge(state, seen, before)
            truth = measure(ground.seen(1e-9, 1e-9), "green")
            if isinstance(verdict, Accepted):
                accepted += 1
                moves = [verdict.moves]
            else:
                assert isinstance(verdict, Ambiguous)
                assert verdict.code == "boule.too_close"
                asked += 1
                moves = [choice.moves for choice in verdict.choices]
            states = [play(state, parse_move(text)) for (text,) in moves]
            right = [
                after
                for after in states
                if after.layout.leaders == {truth.leading}
                and (not after.end or after.end.points == truth.points)
            ]
            assert len(right) == 1, (seed, verdict.message)
            state, before = right[0], seen
    assert accepted > 80
    assert 0 < asked < 40
