"""Hand-made tables: solids from `table.solids`, no camera."""

from dataclasses import replace

import numpy as np
import pytest

from engines.ice_boule import judge, judge_answer, parse_move, play, start, state_document
from engines.verdict import Accepted
from table.observation import Camera, Observation, SeenPiece
from table.pieces import load_piece_set
from table.solids import lying, on_top, upright

LOONEY = load_piece_set("looney")
CAMERA = Camera(np.eye(3), np.array([0.0, 0.0, 1500.0]), np.eye(6) * 1e-8, 0.1, (0, 1, 2, 3))


class Tables:
    """Pieces and observations by hand; a lying piece is put so that it looks at the target from
    `gap_mm` away or so.
    """

    @staticmethod
    def piece(
        colour,
        x_mm,
        y_mm,
        heading_deg=0.0,
        size="large",
        pose="lying",
        sigma_mm=0.1,
        sigma_deg=0.3,
        **changes,
    ):
        """One piece with independent errors in x, y and heading."""
        solid = {"lying": lying, "upright": upright}[pose](LOONEY[size], x_mm, y_mm, heading_deg)
        covariance = np.diag([sigma_mm**2, sigma_mm**2, sigma_deg**2])
        return replace(
            SeenPiece(colour, size, pose, np.array([x_mm, y_mm]), heading_deg, solid, covariance),
            **changes,
        )

    @classmethod
    def target(cls, colour="green", x_mm=0.0, y_mm=0.0, **changes):
        """An upright large target."""
        return cls.piece(colour, x_mm, y_mm, **{"pose": "upright", "sigma_deg": 1.0, **changes})

    @classmethod
    def beside(cls, colour, gap_mm, bearing_deg=0, along_mm=0.0, size="large", **changes):
        """A piece lying `gap_mm` from an upright large target at (0, 0) with heading 0, its tip
        pointing away.

        `bearing_deg` is 0, 90, 180 or 270, seen from the target; `along_mm` shifts it along that
        side (less than 20 mm).
        """
        turn = np.radians(bearing_deg)
        away, aside = (
            np.array([np.cos(turn), np.sin(turn)]),
            np.array([-np.sin(turn), np.cos(turn)]),
        )
        x_mm, y_mm = away * (LOONEY["large"].base_mm / 2 + gap_mm) + aside * along_mm
        return cls.piece(colour, x_mm, y_mm, bearing_deg, size, **changes)

    @staticmethod
    def on(colour, below, index, size="large", **changes):
        """A piece that stands on the upright piece `below`, which is `index` in the observation."""
        solid = on_top(LOONEY[size], below.solid, 10.0)
        piece = SeenPiece(
            colour,
            size,
            "upright",
            np.array(below.base_mm),
            10.0,
            solid,
            np.diag([0.01, 0.01, 1.0]),
            on=index,
        )
        return replace(piece, **changes)

    @staticmethod
    def seen(*pieces, off=(), hand=False):
        """The observation of one frame."""
        return Observation(0, 0, CAMERA, tuple(pieces), tuple(off), hand=hand)


class Game:
    """A game that plays accepted moves, as the referee does."""

    def __init__(self, players=("blue", "yellow"), **rulings):
        self.state, self.before, self.pieces = start(players, rulings), None, []

    def move(self, *moves):
        """Play moves in notation."""
        for text in moves:
            self.state = play(self.state, parse_move(text))

    def see(self, *pieces, off=(), hand=False):
        """Judge a table; what is accepted is played, and the table remembered."""
        seen = Tables.seen(*pieces, off=off, hand=hand)
        verdict = judge(self.state, seen, self.before)
        self.asked = seen
        if isinstance(verdict, Accepted):
            self.move(*verdict.moves)
            self.before, self.pieces = verdict.table or seen, list(pieces)
        return verdict

    def add(self, *pieces):
        """Judge the last accepted table with more pieces."""
        return self.see(*self.pieces, *pieces)

    def answer(self, verdict, answer):
        """Apply people's answer to a question."""
        decided = judge_answer(verdict, answer)
        self.move(*decided.moves)
        self.before, self.pieces = verdict.table or self.asked, list(self.asked.pieces)
        return decided

    @property
    def document(self):
        return state_document(self.state)


@pytest.fixture
def new_game():
    """Starts a game of blue and yellow, or `players`, with rulings by name."""
    return Game


@pytest.fixture
def game():
    """An end of blue and yellow that has begun: the target stands."""
    game = Game()
    game.see(Tables.target())
    return game


@pytest.fixture
def tables():
    """Builders of tables."""
    return Tables
