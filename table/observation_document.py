"""`rinkside-observation/1`: the table as it was seen in one picture, as data that JSON can say.

Lengths are in mm in the table's frame: x right, y away from the players, z up.
"""

from __future__ import annotations

from typing import Literal, TypedDict

import msgspec
from msgspec import UNSET, UnsetType

from table.observation import Observation, observation_document

PointMm = tuple[float, ...]
"""(x, y), or (x, y, z)."""


class Probability(msgspec.Struct, frozen=True, kw_only=True):
    """How sure a reading is, 0 to 1."""

    colour: float
    size: float
    pose: float


class Piece(msgspec.Struct, frozen=True, kw_only=True):
    """A piece as it was seen; `on` is the index of the piece that it stands on."""

    colour: str
    size: str
    pose: str
    base_mm: PointMm
    tip_mm: PointMm
    heading_deg: float
    footprint_mm: tuple[PointMm, ...]
    base_cov_mm2: tuple[tuple[float, ...], ...]
    heading_sigma_deg: float
    vertices_mm: tuple[PointMm, ...]
    probability: Probability
    on: int | UnsetType = UNSET


class Counter(msgspec.Struct, frozen=True, kw_only=True):
    """A flat counter."""

    colour: str
    x_mm: float
    y_mm: float
    sigma_mm: float
    sure: bool = True


class Die(msgspec.Struct, frozen=True, kw_only=True):
    """A die that lies on the board, as cover."""

    x_mm: float
    y_mm: float
    sigma_mm: float


class CameraPlace(msgspec.Struct, frozen=True, kw_only=True):
    """Where the camera is, and the fiducials that say so."""

    eye_mm: PointMm
    reprojection_px: float
    fiducials_seen: tuple[int, ...]


class Gap(msgspec.Struct, frozen=True, kw_only=True):
    """The distance of a piece from the target.

    `sigma_mm` is one standard deviation, `piece` an index among the observation's pieces, and
    `points_mm` the nearest points, on the piece and on the target.
    """

    colour: str
    gap_mm: float
    size: str = ""
    sigma_mm: float | None = None
    on_target: bool = False
    touching: bool = False
    piece: int | None = None
    base_mm: PointMm | None = None
    points_mm: tuple[PointMm, PointMm] | None = None


class Call(msgspec.Struct, frozen=True, kw_only=True):
    """Who leads, and whether that can be said.

    `pairs` are places of gaps, 0 the nearest, that are too close to call; `doubts` are sentences.
    """

    leading: str | None = None
    points: int = 0
    too_close: bool = False
    pairs: tuple[tuple[int, int], ...] = ()
    doubts: tuple[str, ...] = ()


class Measurement(msgspec.Struct, frozen=True, kw_only=True):
    """What a game measures on a table: gaps, the nearest first, and who leads."""

    gaps: tuple[Gap, ...] = ()
    call: Call | None = None


class GapDocument(TypedDict):
    """A `Gap` as it is written, with all that is measured."""

    piece: int
    colour: str
    size: str
    base_mm: list[float]
    gap_mm: float
    sigma_mm: float
    on_target: bool
    touching: bool
    points_mm: list[list[float]]


class CallDocument(TypedDict):
    """A `Call` as it is written."""

    leading: str | None
    points: int
    too_close: bool
    pairs: list[list[int]]
    doubts: list[str]


class MeasurementDocument(TypedDict, total=False):
    """A `Measurement` as it is written: nothing where a game measures nothing."""

    gaps: list[GapDocument]
    call: CallDocument


class ObservationDocument(msgspec.Struct, frozen=True, kw_only=True):
    """The table as it was seen in one picture.

    `board_state` says where tiles lie; `gaps` and `call` are there where a game measures.
    """

    format: Literal["rinkside-observation/1"] = "rinkside-observation/1"
    pieces: tuple[Piece, ...] = ()
    camera: CameraPlace | None = None
    off_board: tuple[Piece, ...] = ()
    counters: tuple[Counter, ...] = ()
    hand: bool = False
    unread_mm: tuple[PointMm, ...] = ()
    notes: tuple[str, ...] = ()
    board_state: dict[str, bool] | UnsetType = UNSET
    dice: tuple[Die, ...] | UnsetType = UNSET
    gaps: tuple[Gap, ...] | UnsetType = UNSET
    call: Call | UnsetType | None = UNSET

    @property
    def too_close(self) -> frozenset[int]:
        """Places of gaps, 0 the nearest, that are too close to call."""
        pairs = self.call.pairs if isinstance(self.call, Call) else ()
        return frozenset(place for pair in pairs for place in pair)


def to_document(seen: Observation) -> ObservationDocument:
    """The document of an observation."""
    return msgspec.convert(observation_document(seen), ObservationDocument)
