"""Pieces by hand: solids from `table.solids`, no camera; and whole boards on which pieces are
thrown.
"""

from dataclasses import dataclass, replace
from types import SimpleNamespace

import numpy as np
import pytest

from engines import ice_storm as game
from engines.ice_storm.touches import touches
from table.boards import Chessboard
from table.clearance import clearance
from table.observation import Camera, Observation, SeenPiece
from table.pieces import load_piece_set
from table.solids import leaning, lying, upright

LOONEY = load_piece_set("looney")


def read_piece(x_mm, y_mm, heading_deg=0.0, size="small", pose="lying", covariance=None):
    """A piece as a picture may say it; a leaning one stands on a base edge, its tip lowered by 50
    degrees.
    """
    size = LOONEY[size]
    if pose == "leaning":
        tilt, turn = np.radians(50), np.radians(heading_deg)
        down = np.array(
            [[np.cos(tilt), 0, np.sin(tilt)], [0, 1, 0], [-np.sin(tilt), 0, np.cos(tilt)]]
        )
        about = np.array(
            [[np.cos(turn), -np.sin(turn), 0], [np.sin(turn), np.cos(turn), 0], [0, 0, 1]]
        )
        lift = about @ down @ (size.base_mm / 2, 0.0, 0.0)
        solid = leaning(size, about @ down, (x_mm - lift[0], y_mm - lift[1], -lift[2]))
    else:
        solid = {"lying": lying, "upright": upright}[pose](size, x_mm, y_mm, heading_deg)
    covariance = np.diag([0.2**2, 0.2**2, 0.5**2]) if covariance is None else covariance
    return SeenPiece("red", str(size), pose, np.array([x_mm, y_mm]), heading_deg, solid, covariance)


@pytest.fixture(scope="session")
def piece():
    """Builder of pieces: x_mm, y_mm, heading_deg, size, pose, covariance."""
    return read_piece


@pytest.fixture(scope="session")
def board():
    """A chessboard of 50 mm squares, a1 at (0, 0)."""
    return Chessboard(square_mm=50.0)


CAMERA = Camera(np.eye(3), -np.array([200.0, 200.0, 620.0]), np.eye(6) * 1e-6, 0.1, (0, 1, 2, 3))
BOARD = Chessboard(square_mm=50.0)
PLAYERS = ("green", "black", "red")
SURE_MM, SURE_DEG = 1e-6, 1e-6
ERRS_MM, ERRS_DEG, SHAKES_MM = 0.2, 0.9, 0.03
"""Constant errors of a resting piece's reading, 1 sigma, and its variation between pictures."""


@dataclass(frozen=True)
class Thrown:
    """A piece at its true place, with the errors of its reading."""

    colour: str
    x_mm: float
    y_mm: float
    heading_deg: float
    pose: str
    error: tuple[float, float, float] = (0.0, 0.0, 0.0)

    def piece(self, colour_probability=1.0, pose_probability=1.0, shake=(0.0, 0.0)):
        """The piece as read."""
        x_mm, y_mm, heading_deg = np.array([self.x_mm, self.y_mm, self.heading_deg]) + self.error
        covariance = np.diag([ERRS_MM**2, ERRS_MM**2, ERRS_DEG**2])
        read = read_piece(
            x_mm + shake[0],
            y_mm + shake[1],
            float(heading_deg),
            pose=self.pose,
            covariance=covariance,
        )
        return replace(
            read,
            colour=self.colour,
            colour_probability=colour_probability,
            pose_probability=pose_probability,
        )

    @property
    def truth(self):
        """The true piece."""
        sure = np.diag([SURE_MM**2, SURE_MM**2, SURE_DEG**2])
        return replace(
            read_piece(self.x_mm, self.y_mm, self.heading_deg, pose=self.pose, covariance=sure),
            colour=self.colour,
        )

    @property
    def place(self):
        """Its exact place; None if it is off the board or partly off."""
        return touches(self.truth, BOARD).place

    @property
    def clear(self):
        """True if its reading is correct, with nothing too close to call."""
        piece = self.piece()
        read = touches(replace(piece, covariance=2 * piece.covariance), BOARD)
        return (
            read.on_board is not None
            and read.place == self.place
            and not (self.place and self.place.in_doubt)
        )


class Table:
    """A simulated real board: `pieces` by recorded names, and others `beside` it."""

    def __init__(self, rng):
        self.rng, self.board, self.pieces, self.beside = rng, BOARD, {}, []

    def copy(self):
        """A copy for experiments."""
        other = object.__new__(Table)
        other.__dict__.update(self.__dict__, pieces=dict(self.pieces), beside=list(self.beside))
        return other

    def thrown(self, colour, low_mm=0.0, high_mm=400.0, about=None):
        """A piece that falls anywhere, or `about` a place and near it, touches no other, and lies
        clearly.
        """
        while True:
            x_mm, y_mm = (
                self.rng.uniform(low_mm, high_mm, 2)
                if about is None
                else self.rng.normal(about, 18)
            )
            pose = str(self.rng.choice(["lying", "lying", "lying", "upright"]))
            error = tuple(self.rng.normal(0, [ERRS_MM, ERRS_MM, ERRS_DEG]))
            piece = Thrown(
                colour, float(x_mm), float(y_mm), float(self.rng.uniform(0, 360)), pose, error
            )
            others = [*self.pieces.values(), *self.beside]
            if piece.clear and all(
                clearance(piece.truth.solid, other.truth.solid).mm > 3 for other in others
            ):
                return piece

    def off(self, colour):
        """A piece that rolled off the board."""
        while (piece := self.thrown(colour, -80, 480)).place:
            pass
        return piece

    def knock(self, name):
        """Move a piece slightly, possibly turning it."""
        was = self.pieces.pop(name)
        while True:
            now = self.thrown(was.colour, about=(was.x_mm, was.y_mm))
            if now.place and 6 < np.hypot(now.x_mm - was.x_mm, now.y_mm - was.y_mm) < 45:
                self.pieces[name] = now
                return

    def knock_anywhere(self, name):
        """Move a piece to a random place on the board."""
        colour = self.pieces.pop(name).colour
        while (now := self.thrown(colour, 20, 380)).place is None:
            pass
        self.pieces[name] = now

    def seen(self, *more, **changes):
        """What a camera reads, and more pieces as it reads them."""
        pieces = [
            piece.piece(shake=self.rng.normal(0, SHAKES_MM, 2)) for piece in self.pieces.values()
        ]
        beside = [piece.piece() for piece in self.beside]
        partly = [piece for piece in beside if ((piece.base_mm > 0) & (piece.base_mm < 400)).all()]
        pieces = [*pieces, *partly, *more]
        self.rng.shuffle(pieces)
        off = tuple(piece for piece in beside if not any(piece is other for other in partly))
        return replace(Observation(0, 0, CAMERA, tuple(pieces), off), **changes)

    def leaning(self, colour):
        """The reading of a piece that leans on one on the board."""
        on = list(self.pieces.values())[int(self.rng.integers(len(self.pieces)))]
        while True:
            x_mm, y_mm = self.rng.normal([on.x_mm, on.y_mm], 15)
            read = read_piece(x_mm, y_mm, float(self.rng.uniform(0, 360)), pose="leaning")
            if clearance(read.solid, on.truth.solid).mm < 1:
                break
        return replace(read, colour=colour, pose_probability=float(self.rng.uniform(0.6, 1.0)))


@pytest.fixture(scope="session")
def tables():
    """`tables.Table(rng)`."""
    return SimpleNamespace(Table=Table, Thrown=Thrown, CAMERA=CAMERA, BOARD=BOARD)


@pytest.fixture
def table(tables):
    return tables.Table(np.random.default_rng(5))


@pytest.fixture
def lie(tables):
    """Makes a piece with exact colour, x, y, heading and pose."""
    return lambda colour, x_mm, y_mm, heading_deg=90.0, pose="lying": tables.Thrown(
        colour, x_mm, y_mm, heading_deg, pose
    )


@pytest.fixture
def play(table):
    """Judges what lies on the table by a state in words, or a game's first one; `before` is a table
    seen before.
    """

    def judge(state="", before=None, *more, **changes):
        now = (
            game.State.parse(state)
            if isinstance(state, str) and state
            else state or game.start(PLAYERS, {})
        )
        return game.judge(now, table.seen(*more, **changes), before, table.board)

    return judge


def thrown(pieces, count, stacks="0 0 0"):
    """The line of a state in which so many pieces were thrown; `pieces` in the notation of
    places.
    """
    rest = (
        "rulings touching=contact fire=over knocked=thrower leaning=again low=again starter=left"
        " attack=must tie=shared."
    )
    turn = "green" if count == 15 else "-"
    return (
        f"players green black red; round 1; totals 0 0 0; stacks {stacks}; thrown {count}; turn"
        f" {turn}; pieces {pieces}; {rest}"
    )
