"""What can be counted in a game of Ice Boule: its throws."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from engines.ice_boule.layout import Lie
from engines.ice_boule.moves import Throw
from engines.statistics import SAME_MM, Step, Thrown


def throws(steps: Iterable[Step]) -> Iterator[Thrown]:
    """Every throw of a projectile, as it came to rest."""
    for step in steps:
        move = step.move
        if isinstance(move, Throw):
            yield Thrown(
                step.record,
                step.at_ms,
                move.player,
                move.size,
                move.lie,
                _sigma_mm(step.evidence, move.lie) if move.lie else None,
                step.after.leading,
                step.by_people,
            )


def _sigma_mm(seen: Mapping[str, Any] | None, lie: Lie) -> float | None:
    gaps = (seen or {}).get("gaps", ())
    return next(
        (
            gap["sigma_mm"]
            for gap in gaps
            if gap["colour"] == lie.colour and abs(gap["gap_mm"] - lie.gap_mm) < SAME_MM
        ),
        None,
    )
