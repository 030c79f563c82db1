"""Results of reading a table, before they are reported as an Observation."""

from __future__ import annotations

from dataclasses import dataclass

from table.observation import SeenCounter, SeenDie
from table.solids import Array
from vision.geometry.piece_pose import Hypothesis


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """One piece with its probabilities.

    `covariance` (3, 3) is of (x_mm, y_mm, heading_deg). `probability` is that of the piece in this
    pose, `size_probability` that of its size, `chances` (c,) those of the table's colours. `under`
    is the piece that it stands on; `rivals` are other readings, the most probable first.
    `covariance` includes the uncertainty between readings, `if_right` (3, 3) does not; None if
    there is none.
    """

    guess: Hypothesis
    covariance: Array
    probability: float
    size_probability: float
    chances: Array
    under: Reading | None = None
    rivals: tuple[Reading, ...] = ()
    if_right: Array | None = None


@dataclass(frozen=True, slots=True, eq=False)
class TableReading:
    """Everything on a table, pieces beside the board included.

    `hand` is true if a hand is over the board; `unread_mm` are places (2,) of unread objects;
    `tiles` says which places of a tiled board have one; `dice` lie on the board, None if they are
    not searched for.
    """

    pieces: list[Reading]
    counters: tuple[SeenCounter, ...] = ()
    hand: bool = False
    unread_mm: tuple[Array, ...] = ()
    tiles: dict[str, bool] | None = None
    dice: tuple[SeenDie, ...] | None = None
