"""What a way of reading says of a table, before it is told in an Observation."""

from __future__ import annotations

from dataclasses import dataclass

from table.observation import SeenCounter, SeenDie
from table.solids import Array
from vision.geometry.piece_pose import Hypothesis


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """One piece: where it is, covariance (3, 3) of (x_mm, y_mm, heading_deg), the probabilities of
    its being there in this pose, of its size, and (c,) of the table's colours; `under` is the piece
    that it stands on, `rivals` what else it may be, the likeliest first. `covariance` is with the
    doubt about what it is, `if_right` (3, 3) without; None where that is all the doubt there is.
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
class TableRead:
    """All pieces, those beside the board too; counters; whether a hand is over the board; places
    (2,) mm of what was not read; of a board of tiles, which places have one; and dice that lie on
    the board, None where nobody looks for any.
    """

    pieces: list[Reading]
    counters: tuple[SeenCounter, ...] = ()
    hand: bool = False
    unread_mm: tuple[Array, ...] = ()
    tiles: dict[str, bool] | None = None
    dice: tuple[SeenDie, ...] | None = None
