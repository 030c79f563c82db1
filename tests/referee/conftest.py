"""A small game for the referee, and tables seen as one likes."""

from __future__ import annotations

import importlib.util
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from referee.events import SessionStarted
from referee.log import Log
from referee.session import Session
from table.observation import Camera, Observation, SeenPiece
from table.pieces import load_piece_set
from table.solids import lying, upright

CAMERA = Camera(np.eye(3), np.array([0.0, 0.0, 600.0]), np.eye(6) * 1e-6, 0.1, (0, 1, 2, 3))
MEDIUM = load_piece_set("looney")["medium"]
POSES = {"upright": upright, "lying": lying, "leaning": partial(upright, z_mm=5.0)}


@pytest.fixture(scope="session")
def games():
    """The game of Pegs as an engine (tests/referee/pegs.py)."""
    spec = importlib.util.spec_from_file_location("pegs", Path(__file__).with_name("pegs.py"))
    pegs = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(pegs)
    return {"pegs": pegs}


@pytest.fixture
def log(tmp_path):
    with Log(tmp_path / "rinkside.log") as log:
        yield log


@pytest.fixture
def started():
    return SessionStarted(game="pegs", players=("red", "blue"), camera="folder frames", started_utc="2026-11-21T14:00:00+00:00")


@pytest.fixture
def session(log, started, games):
    session = Session.begin(log, started, games=games)
    yield session
    session.close()


@pytest.fixture(scope="session")
def piece():
    """piece("red", 100, 50): a medium piece as it was seen, with a tenth of a millimetre of doubt."""

    def make(colour, x_mm, y_mm, heading_deg=0.0, pose="lying", sigma_mm=0.1, **more):
        solid = POSES[pose](MEDIUM, x_mm, y_mm, heading_deg)
        covariance = np.diag([sigma_mm, sigma_mm, 0.3]) ** 2
        return SeenPiece(colour, "medium", pose, np.array([x_mm, y_mm]), heading_deg, solid, covariance, **more)

    return make


@pytest.fixture(scope="session")
def seen():
    """seen(at_ms, *pieces): an observation of these pieces."""

    def make(at_ms, *pieces, hand=False, seq=0):
        return Observation(seq, at_ms, CAMERA, tuple(pieces), hand=hand)

    return make
