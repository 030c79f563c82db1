"""Observations of the table, or the reason why there is none.

Pieces are in mm, each with its covariance.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from table.json_data import JsonObject
from table.messages import Message, phrase
from table.solids import REPEATS_DEG, Array, Pose, Solid

FORMAT = "rinkside-observation/1"
SURE = 0.98
"""Probability from which a class counts as read; below it people are asked."""
LEANED_ON_MM = 4.0
"""Largest distance in mm between a leaning piece and what it leans on, as read."""


@dataclass(frozen=True, slots=True, eq=False)
class SeenPiece:
    """One pyramid as it was read from a picture.

    `base_mm` (2,): upright, the centre of the base; lying, the middle of the base edge on the
    board.  `heading_deg`: lying, from there to the tip; upright, of a base edge normal (repeats
    every 90).  `covariance` (3, 3) is that of (x_mm, y_mm, heading_deg).  Probabilities are those
    of the colour, size and pose named.
    """

    colour: str
    size: str
    pose: Pose
    base_mm: Array
    heading_deg: float
    solid: Solid
    covariance: Array
    colour_probability: float = 1.0
    size_probability: float = 1.0
    pose_probability: float = 1.0
    on: int | None = None
    """Index in `Observation.pieces` of the piece below this one."""
    rivals: tuple[SeenPiece, ...] = ()
    """Alternatives of another size, pose or position, the likeliest first: all that are not surely
    excluded.
    """
    if_right: Array | None = None
    """(3, 3): the covariance given the named size and pose; None if it is the same."""

    @property
    def as_read(self) -> SeenPiece:
        """The piece with its covariance given the named size and pose."""
        return self if self.if_right is None else replace(self, covariance=self.if_right)

    @property
    def tip_mm(self) -> Array:
        """The tip seen from straight above, (2,)."""
        return self.solid.tip_mm[:2]

    @property
    def contact_mm(self) -> Array:
        """Contact with what carries the piece, (n, 2) counter-clockwise.

        The plan view where it leans.
        """
        if self.pose == "upright":
            return self.solid.vertices_mm[:4, :2]
        footprint = self.solid.footprint_mm()
        return footprint if len(footprint) >= 3 else self.solid.plan_mm()

    @property
    def place_sigma_mm(self) -> float:
        """Standard deviation of the place along the longer half axis of its ellipse, in mm."""
        return float(np.sqrt(np.linalg.eigvalsh(self.covariance[:2, :2]).max()))

    def away_from(self, other: SeenPiece) -> Array:
        """Difference (3,) in x_mm, y_mm and heading_deg, the heading by the shorter way round."""
        turned_deg, period_deg = self.heading_deg - other.heading_deg, REPEATS_DEG[self.pose]
        x, y = np.asarray(self.base_mm, float) - other.base_mm
        return np.array([x, y, turned_deg - period_deg * round(turned_deg / period_deg)])

    @property
    def message(self) -> Message:
        """The piece and its place in words."""
        x, y = self.base_mm
        return phrase(
            "{colour} {size}, {pose}, at ({mm}, {mm2}) mm",
            colour=self.colour,
            size=self.size,
            pose=self.pose,
            mm=f"{x:.1f}",
            mm2=f"{y:.1f}",
        )

    def __str__(self) -> str:
        return self.message


@dataclass(frozen=True, slots=True)
class SeenCounter:
    """A flat counter: its middle, and whether it is surely one."""

    colour: str
    x_mm: float
    y_mm: float
    sigma_mm: float
    sure: bool = True


@dataclass(frozen=True, slots=True)
class SeenDie:
    """A six-sided die that lies flat on the board, whatever it shows.

    Its place is the middle of what it stands on.
    """

    x_mm: float
    y_mm: float
    sigma_mm: float


@dataclass(frozen=True, slots=True, eq=False)
class Camera:
    """Pose of the camera, and its uncertainty.

    `table2camera`: rotation (3, 3) and translation (3,) in mm.

    `covariance` (6, 6) is of (rotation vector in rad, translation in mm). If the lens is uncertain
    too, it is (6 + p, 6 + p), with the p parameters of `Lens.covariance`. `reprojection_px` is the
    RMS over all corners. `notes` are sentences for people about the estimate. `sigma_mm` is the
    standard deviation from the picture alone, at the worst corner of the play area.
    """

    rotation: Array
    translation_mm: Array
    covariance: Array
    reprojection_px: float
    fiducials_seen: tuple[int, ...]
    notes: tuple[str, ...] = ()
    sigma_mm: float = 0.0

    @property
    def eye_mm(self) -> Array:
        """The camera's centre in the table frame, (3,)."""
        return -self.rotation.T @ self.translation_mm


@dataclass(frozen=True, slots=True, eq=False)
class Observation:
    """One frame's reading of the table.

    `off_board` pieces were seen outside the outline and are not in play.
    """

    frame_seq: int
    at_ms: int
    camera: Camera
    pieces: tuple[SeenPiece, ...] = ()
    off_board: tuple[SeenPiece, ...] = ()
    counters: tuple[SeenCounter, ...] = ()
    hand: bool = False
    """True if something that is no piece reaches over the board."""
    moving: bool = False
    """True if the picture is changing: pieces are as last read."""
    still_ms: int = 0
    """Time before `at_ms` for which the picture is known to be unchanged."""
    unread_mm: tuple[Array, ...] = ()
    """Places (2,) on the board where something looks like a piece but no piece explains it."""
    tiles: dict[str, bool] | None = None
    """For a board of tiles: whether each place, a1 at the near left, has one."""
    dice: tuple[SeenDie, ...] | None = None
    """Dice on the board; None if they are not looked for."""
    notes: tuple[str, ...] = field(default=())
    """Sentences for people, such as `fiducial 2 is covered`."""

    def __bool__(self) -> bool:
        return True


@dataclass(frozen=True, slots=True)
class Unusable:
    """A frame that cannot be read, with the reason in a sentence; falsy."""

    frame_seq: int
    at_ms: int
    reason: str

    def __bool__(self) -> bool:
        return False


def observation_document(seen: Observation) -> JsonObject:
    """Convert to `rinkside-observation/1` as plain data for JSON; lengths in mm to the micron."""
    document: JsonObject = {
        "format": FORMAT,
        "pieces": [_piece_document(piece) for piece in seen.pieces],
        "off_board": [_piece_document(piece) for piece in seen.off_board],
        "counters": [
            {"colour": counter.colour, **_flat_document(counter), "sure": counter.sure}
            for counter in seen.counters
        ],
        "camera": {
            "eye_mm": _round(seen.camera.eye_mm),
            "reprojection_px": round(seen.camera.reprojection_px, 3),
            "fiducials_seen": list(seen.camera.fiducials_seen),
        },
        "hand": seen.hand,
        "unread_mm": [_round(place) for place in seen.unread_mm],
        "notes": [str(note) for note in seen.notes],  # documents hold no `Message`
    }
    if seen.tiles is not None:
        document["board_state"] = seen.tiles
    if seen.dice is not None:
        document["dice"] = [_flat_document(die) for die in seen.dice]
    return document


def _piece_document(piece: SeenPiece) -> JsonObject:
    document = {
        "colour": piece.colour,
        "size": piece.size,
        "pose": piece.pose,
        "base_mm": _round(piece.base_mm),
        "tip_mm": _round(piece.tip_mm),
        "heading_deg": round(piece.heading_deg % 360, 3) % 360,
        "footprint_mm": _round(piece.contact_mm),
        "base_cov_mm2": [[float(f"{v:.4g}") for v in row] for row in piece.covariance[:2, :2]],
        "heading_sigma_deg": float(f"{np.sqrt(piece.covariance[2, 2]):.3g}"),
        "vertices_mm": _round(piece.solid.vertices_mm),
        "probability": {
            "colour": round(piece.colour_probability, 4),
            "size": round(piece.size_probability, 4),
            "pose": round(piece.pose_probability, 4),
        },
    }
    if piece.on is not None:
        document["on"] = piece.on
    return document


def _flat_document(one: SeenCounter | SeenDie) -> dict[str, float]:
    return {
        "x_mm": round(one.x_mm, 3),
        "y_mm": round(one.y_mm, 3),
        "sigma_mm": round(one.sigma_mm, 3),
    }


def _round(values: Array) -> Any:
    return np.round(np.asarray(values, float), 3).tolist()
