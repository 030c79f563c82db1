"""Pieces by hand: solids from `table.solids`, no camera."""

import numpy as np
import pytest

from table.boards import Chessboard
from table.observation import SeenPiece
from table.pieces import load_piece_set
from table.solids import leaning, lying, upright

LOONEY = load_piece_set("looney")


def read_piece(x_mm, y_mm, heading_deg=0.0, size="small", pose="lying", covariance=None):
    """A piece as a picture may say it; a leaning one stands on a base edge, its tip lowered by 50 degrees."""
    size = LOONEY[size]
    if pose == "leaning":
        tilt, turn = np.radians(50), np.radians(heading_deg)
        down = np.array([[np.cos(tilt), 0, np.sin(tilt)], [0, 1, 0], [-np.sin(tilt), 0, np.cos(tilt)]])
        about = np.array([[np.cos(turn), -np.sin(turn), 0], [np.sin(turn), np.cos(turn), 0], [0, 0, 1]])
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
