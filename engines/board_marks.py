"""What a game would draw on its board: what may be done now, and what was done; plain data, so that
whoever draws knows no rules.

Cells go by their names: squares, spaces and places by file and row (`b4`), cells of a hexagon by
column and row (`E5`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Kind = Literal["goal", "path", "way", "ray", "aim", "take", "here"]
"""`goal`: cells that may be gone to.  `path`: from a cell to another; `way`: cells in the order
they are passed.  `ray`: a line of fire that hits, `aim`: one that hits nothing, from its first cell
on.  `take`: cells whose piece, ice or tile goes.  `here`: cells that it is about.
"""


@dataclass(frozen=True, slots=True)
class Mark:
    """Something on cells of the board; `sure` is False where it hangs on what is too close to call.

    `looks` are compass points (`NE`) that a piece may look along on a goal.
    """

    kind: Kind
    cells: tuple[str, ...]
    sure: bool = True
    looks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Option:
    """Something that may be done now, or comes next: `who` (a player, or nobody in particular), in
    words, and on the board.
    """

    who: str | None
    said: str
    marks: tuple[Mark, ...] = ()


def mark(kind: Kind, cells: Iterable[object], sure: bool = True) -> tuple[Mark, ...]:
    """One mark on these cells; none where there are none."""
    named = tuple(map(str, cells))
    return (Mark(kind, named, sure),) if named else ()
