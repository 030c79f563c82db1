"""Marks of a game on its board: what is possible now, and what was done.

They are plain data, so that drawing needs no rules. Cells have names: squares, spaces and places by
file and row (`b4`), cells of a hexagon by column and row (`E5`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import msgspec

Kind = Literal["goal", "path", "way", "ray", "aim", "take", "here"]
"""`goal`: cells that may be moved to. `path`: from one cell to another; `way`: cells in the order
they are passed. `ray`: a line of fire that hits, `aim`: one that hits nothing, listed from its
first cell on. `take`: cells whose piece, ice or tile is removed. `here`: cells that the mark is
about.
"""


@dataclass(frozen=True, slots=True)
class Mark:
    """A mark on cells of the board.

    `sure` is False where it depends on something too close to call. `looks` are the compass points
    (`NE`) that a piece may face on a goal.
    """

    kind: Kind
    cells: tuple[str, ...]
    sure: bool = True
    looks: tuple[str, ...] = ()


class Option(msgspec.Struct, frozen=True, rename={"label": "said"}):
    """Something that may be done now or comes next, in words and as marks on the board.

    `who` is a player, or None for nobody in particular. The API writes the `label` as `said`.
    """

    who: str | None
    label: str
    marks: tuple[Mark, ...] = ()


def mark(kind: Kind, cells: Iterable[object], sure: bool = True) -> tuple[Mark, ...]:
    """Return one mark on these cells, or no mark without cells."""
    named = tuple(map(str, cells))
    return (Mark(kind, named, sure),) if named else ()
