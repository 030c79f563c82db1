"""A filmed end of Ice Boule, observed by hand."""

from __future__ import annotations

import numpy as np

from table.observation import Camera, Observation, SeenPiece
from table.pieces import load_piece_set
from table.solids import lying, upright
from table.table_config import Fiducials, Game, Lens, Marker, Setup
from table.table_config import Open as OpenGround
from vision.cameras.frame import Frame

LARGE = load_piece_set("looney")["large"]


EYE_MM = np.array([200.0, 150.0, 700.0])


DOWN = np.diag([1.0, -1.0, -1.0])


CAMERA = Camera(DOWN, -DOWN @ EYE_MM, np.eye(6) * 1e-8, 0.12, (0,))


SETUP = Setup(
    camera=Lens(
        width=64,
        height=64,
        matrix=((60.0, 0.0, 31.5), (0.0, 60.0, 31.5), (0.0, 0.0, 1.0)),
        distortion=(0.0, 0.0, 0.0, 0.0),
    ),
    fiducials=Fiducials(
        markers=(Marker(id=0, corners_mm=((-50, 50), (-10, 50), (-10, 10), (-50, 10))),)
    ),
    board=OpenGround(outline_mm=((0, 0), (400, 0), (400, 300), (0, 300))),
    game=Game(name="ice_boule", colours=("red", "green"), sizes=("large",), target="blue"),
    pieces=load_piece_set("looney"),
)


COVARIANCE = np.diag([0.1, 0.1, 0.3]) ** 2


TARGET = SeenPiece(
    "blue",
    "large",
    "upright",
    np.array([100.0, 150.0]),
    0.0,
    upright(LARGE, 100, 150, 0),
    COVARIANCE,
)


def thrown(colour: str, gap_mm: float, y_mm: float) -> SeenPiece:
    """A piece lying tip away, `gap_mm` to the right of the target's near side."""
    x_mm = 100 + LARGE.base_mm / 2 + gap_mm
    return SeenPiece(
        colour,
        "large",
        "lying",
        np.array([x_mm, y_mm]),
        0.0,
        lying(LARGE, x_mm, y_mm, 0),
        COVARIANCE,
    )


RED, GREEN, CLOSE = thrown("red", 60, 150), thrown("green", 30, 160), thrown("red", 30.2, 145)


FILM = {
    0: (),
    1000: (TARGET,),
    2000: (TARGET, RED),
    3000: (TARGET, RED, GREEN),
    4000: (TARGET, RED, GREEN, CLOSE),
}
"""Contents of the table, by start time in ms."""


def observe(
    frame: Frame, _setup: Setup, reference: Frame | None = None, previous: Observation | None = None
) -> Observation:
    del reference, previous
    return Observation(frame.seq, frame.at_ms, CAMERA, FILM[frame.at_ms // 1000 * 1000])
