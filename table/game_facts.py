"""What a game tells the packages below the rules.

How its pieces lie, which table it is played on, what is printed for it, what it measures. Data and
pure functions; `engines.game` has the rest.
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
"""If more of a game's pieces than this share lie or stand alike, one that seems to be otherwise is
examined once more as if it were not.
"""


@dataclass(frozen=True, slots=True, eq=False)
class PiecePrior:
    """Prior probabilities of the poses of a game's pieces.

    `poses` are the probabilities of `table.solids.POSES`, (3,), `most` is the greatest number of
    pieces of a colour on the board. With `apart` pieces never stand in one another: a surely read
    surplus piece of a colour is then reported, as it has no business there.
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
    """What is printed on a place that something is laid on.

    A figure over a word, on a disc of a colour.
    """

    colour: str
    figure: str
    word: str


@dataclass(frozen=True, slots=True)
class BoardPrint:
    """What the printed sheet of a board says.

    `name` is that of `rinkside print`; `sizes` are its lengths in words, in which `{mm}` stands for
    the side of a cell.  Title, purpose, sizes and words are English, and looked up in catalogues.

    `exits` are, by the name of a cell, the ways (N, E, S, W) by which it may be left, drawn as
    arrows. `cells` are what is printed on cells, by name; a cell that is None is marked as one that
    nothing is laid on.  The paper lies `z_mm` over what pieces stand on.
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

    `board` makes its board with cells of so many mm, usually `cell_mm`; `cells_mm` (least, most) is
    their range on a printed sheet; boards whose cells have one size only (None), or that have none,
    ignore it. `pieces` is a set of pieces, `sizes` those of it that are in play, `colours` those of
    the players unless others are chosen. A game with a `target` has a piece of a colour that is no
    player's.
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
    """Every gap, nearest first, and who leads.

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

    Used to measure without a game, and to say how well that works on a table.
    """

    measure: Callable[[Observation, str], RankedGaps | str]
    """Measures an observation from the piece of this colour; a sentence says why it cannot."""
    sentence: Callable[[Any], str]
    """The measurement as a sentence for people."""
    document: Callable[[Any], MeasurementDocument]
    """The measurement, or why there is none, as `gaps` and `call` of `rinkside-observation/1`."""
    difference_sigma_mm: Callable[[Any, int, int], float]
    """Standard deviation of the difference of two gaps, given by their places in the measurement.
    """
    z: float
    """Standard deviations by which two gaps must differ to be told apart."""
    likely_targets: Callable[[Observation], tuple[str, ...]] = lambda _seen: ()
    """Colours whose only piece may be the target, where nobody has named it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TableFacts:
    """What vision and calibration need to know of a game; everything has a default."""

    pieces: PiecePrior = ANY_POSE
    default: DefaultTable | None = None
    measuring: Measuring | None = None


NO_TABLE_FACTS = TableFacts()
"""The facts of a game that states nothing about its table, and of one that is not installed."""
