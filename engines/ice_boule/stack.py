"""What stands on the target, what was pushed over there, and what a stack hides (rulings
ice_boule.9 and ice_boule.10).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import numpy as np

from engines.ice_boule.changes import compare
from engines.ice_boule.state import State
from table.observation import Observation, SeenPiece

Hold = Literal["stands", "touches"]
"""How a piece that is on the target counts there."""


def hold(pieces: Sequence[SeenPiece], index: int, target: SeenPiece, lowest: bool) -> Hold | None:
    """How `pieces[index]` counts by what it is on; None where that is not the target, nor anything
    on it.

    A stack stands while all of it does; what nests with the target otherwise touches it.  With
    `lowest` only the piece directly on the target stands on it, and those above touch it.
    """
    above = [pieces[index]]
    while (
        above[-1].on is not None
        and pieces[above[-1].on] is not target
        and len(above) <= len(pieces)
    ):
        above.append(pieces[above[-1].on])
    if above[-1].on is None or pieces[above[-1].on] is not target:
        return None
    stands = all(
        _over(upper, lower) for upper, lower in zip(above, (*above[1:], target), strict=True)
    )
    return "stands" if stands and not (lowest and len(above) > 1) else "touches"


def _over(upper: SeenPiece, lower: SeenPiece) -> bool:
    """Do both stand, one over the other?"""
    return (
        upper.pose == lower.pose == "upright"
        and float(np.hypot(*(upper.base_mm - lower.base_mm))) < lower.solid.base_mm
    )


def stacked(pieces: Sequence[SeenPiece], target: SeenPiece) -> list[int]:
    """Places of the pieces that stand on the target, one over the other, from below."""
    found: list[int] = []
    lower = target
    while above := [
        k
        for k, piece in enumerate(pieces)
        if piece.on is not None and pieces[piece.on] is lower and _over(piece, lower)
    ]:
        found.append(above[0])
        lower = pieces[above[0]]
    return found


def as_toppled(state: State, seen: Observation, before: Observation | None) -> Observation:
    """What was seen, with what stood on the target in this end still on it, wherever it lies, if
    that was ruled before play.
    """
    if state.ruling("toppled") != "always" or before is None:
        return seen
    now, was = (
        next((k for k, piece in enumerate(table.pieces) if piece.colour == state.target), None)
        for table in (seen, before)
    )
    if now is None or was is None:
        return seen
    same = compare(before, seen).same
    fell = {
        k
        for k, then in same.items()
        if k != now
        and hold(before.pieces, then, before.pieces[was], False)
        and not hold(seen.pieces, k, seen.pieces[now], False)
    }
    if not fell:
        return seen
    return replace(
        seen,
        pieces=tuple(
            replace(piece, on=now) if k in fell else piece for k, piece in enumerate(seen.pieces)
        ),
    )


def uncovered(
    seen: Observation, before: Observation, target: SeenPiece, top: SeenPiece
) -> Observation:
    """What was seen, with what stood on the target before, and is not seen there now, under the
    piece `top` that does.
    """
    was = next(piece for piece in before.pieces if piece.colour == target.colour)
    hidden = [
        before.pieces[k]
        for k in stacked(before.pieces, was)
        if not _among(before.pieces[k], seen.pieces)
    ]
    pieces, below = (
        list(seen.pieces),
        next(k for k, piece in enumerate(seen.pieces) if piece is target),
    )
    for piece in hidden:
        pieces.append(replace(piece, on=below))
        below = len(pieces) - 1
    pieces[next(k for k, piece in enumerate(seen.pieces) if piece is top)] = replace(top, on=below)
    return replace(seen, pieces=tuple(pieces)) if hidden else seen


def _among(piece: SeenPiece, pieces: Sequence[SeenPiece]) -> bool:
    """Is a piece of this colour seen where this one stood?"""
    return any(
        one.colour == piece.colour
        and np.hypot(*(one.base_mm - piece.base_mm)) < piece.solid.base_mm / 2
        for one in pieces
    )
