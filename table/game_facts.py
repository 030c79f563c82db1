"""Facts of a game for the packages below the rules.

They are its pieces' poses, its table, its printed sheet and its measurements. Data and pure
functions; `engines.game` has the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from table.boards import Board
from table.observation import Observation, SeenPiece
from table.observation_document import MeasurementDocument
from table.solids import POSES, Array
from table.table_config import Counters

USUAL = 0.9
"""Share of a game's pieces above which a pose is dominant. A piece that seems to have another pose
is then examined again in the dominant one.
"""


@dataclass(frozen=True, slots=True, eq=False)
class PiecePrior:
    """Prior probabilities of the poses of a game's pieces.

    `poses` are the probabilities of `table.solids.POSES`, (3,). `most` is the largest number of
    pieces of a colour on the board. With `apart`, pieces never stand in one another: a surely read
    surplus piece of a colour is then reported.
    """

    poses: Array
    most: int
    apart: bool = False

    @property
    def has_dominant_pose(self) -> bool:
        """True if nearly all pieces of the game stand, or nearly all lie."""
        return bool(self.poses.max() > USUAL)

    @property
    def mostly_lying(self) -> bool:
        """True if nearly all pieces of the game lie."""
        return bool(self.poses[POSES.index("lying")] > USUAL)


ANY_POSE = PiecePrior(np.full(len(POSES), 1 / len(POSES)), 100)
"""The prior of games that state nothing about their pieces."""


@dataclass(frozen=True, slots=True)
class CellPrint:
    """Print on a cell: a figure over a word, on a coloured disc."""

    colour: str
    figure: str
    word: str


@dataclass(frozen=True, slots=True)
class BoardPrint:
    """Texts and prints on the printed sheet of a board.

    `name` is that of `rinkside print`. `sizes` are its lengths in words; `{mm}` in it is the side
    of a cell. Title, purpose, sizes and words are English, and translated by catalogues.

    `exits` maps a cell's name to the ways (N, E, S, W) out of it, drawn as arrows. `cells` are the
    prints by cell name; None marks a cell that stays empty. The paper lies `z_mm` above the plane
    of the pieces.
    """

    name: str
    title: str
    purpose: str
    sizes: str
    exits: Mapping[str, Sequence[str]] = field(default_factory=dict)
    cells: Mapping[str, CellPrint | None] = field(default_factory=dict)
    z_mm: float = 0.0


@dataclass(frozen=True, slots=True)
class DefaultTable:
    """The default table of a game.

    `board` creates its board for a cell size in mm, usually `cell_mm`. `cells_mm` (least, most) is
    the range on a printed sheet. Boards with a fixed cell size (None) or without cells ignore it.
    `pieces` is a piece set, `sizes` are those in play, `colours` the players' defaults. A game with
    a `target` has a piece of a colour that is no player's.
    """

    board: Callable[[float], Board]
    sizes: tuple[str, ...]
    cell_mm: float = 0.0
    cells_mm: tuple[float, float] | None = None
    pieces: str = "looney"
    target: bool = False
    colours: tuple[str, ...] = ("red", "blue")
    counters: Counters | None = None
    sheet: BoardPrint | None = None

    @property
    def kind(self) -> str:
        """The kind of its board, as table.json names it."""
        return str(self.board(self.cell_mm).__struct_config__.tag)


class Gap(Protocol):
    """The distance of a piece, `index` in the observation, from the target.

    `sigma_mm` is one standard deviation, `points_mm` the nearest points, (3,) each.
    """

    @property
    def index(self) -> int: ...
    @property
    def piece(self) -> SeenPiece: ...
    @property
    def mm(self) -> float: ...
    @property
    def sigma_mm(self) -> float: ...
    @property
    def on_target(self) -> bool: ...
    @property
    def touching(self) -> bool: ...
    @property
    def points_mm(self) -> tuple[Array, Array]: ...


class RankedGaps(Protocol):
    """All gaps, nearest first, and who leads.

    `pairs` are places in `gaps` that are too close to call, `doubts` sentences on unsure readings.
    """

    @property
    def target(self) -> SeenPiece: ...
    @property
    def gaps(self) -> Sequence[Gap]: ...
    @property
    def leading(self) -> str | None: ...
    @property
    def pairs(self) -> tuple[tuple[int, int], ...]: ...
    @property
    def doubts(self) -> tuple[str, ...]: ...


@dataclass(frozen=True, slots=True)
class Measuring:
    """How a game measures pieces from a target.

    Used for measuring without a game, and for the accuracy on a table.
    """

    measure: Callable[[Observation, str], RankedGaps | str]
    """Measure an observation from the piece of this colour; returns a sentence if that is
    impossible.
    """
    sentence: Callable[[Any], str]
    """Describe the measurement in a sentence for people."""
    document: Callable[[Any], MeasurementDocument]
    """Convert the measurement, or the reason for none, to `gaps` and `call` of
    `rinkside-observation/1`.
    """
    difference_sigma_mm: Callable[[Any, int, int], float]
    """Standard deviation of the difference of two gaps, given by their indexes in the
    measurement.
    """
    z: float
    """Standard deviations by which two gaps must differ to be distinguishable."""
    likely_targets: Callable[[Observation], tuple[str, ...]] = lambda _seen: ()
    """Colours whose only piece may be the target, if none was named."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TableFacts:
    """Facts of a game for vision and calibration; everything has a default."""

    pieces: PiecePrior = ANY_POSE
    default: DefaultTable | None = None
    measuring: Measuring | None = None


NO_TABLE_FACTS = TableFacts()
"""Facts of a game that states nothing about its table, or is not installed."""
