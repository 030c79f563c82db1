"""Least distance between two solids in 3-D."""

from __future__ import annotations

from dataclasses import dataclass

from table.solids import Array, Solid


@dataclass(frozen=True, slots=True, eq=False)
class Clearance:
    """Least distance between two solids: `mm`, and the nearest points `a_mm` on the first, `b_mm` on the second, (3,)."""

    mm: float
    a_mm: Array
    b_mm: Array


def clearance(a: Solid, b: Solid) -> Clearance:
    """Least distance between two pyramids; 0 where they touch or overlap, the points then being one common point."""
    raise NotImplementedError
