"""Stacks on the target: pieces that stand there, were pushed over, or are hidden.

See rulings ice_boule.9 and ice_boule.10.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Literal

import numpy as np

from engines.ice_boule.changes import compare
from engines.ice_boule.state import State
from table.assignment import least_cost_pairs
from table.clearance import clearance
from table.motion import CARRIED_MM, moved
from table.observation import Observation, SeenPiece

MISSING_MM = 100.0
"""Misfit in mm of a missing recorded piece, in comparisons of distances with the record."""
Hold = Literal["stands", "touches"]
"""How a piece on the target counts."""


def hold(pieces: Sequence[SeenPiece], index: int, target: SeenPiece, lowest: bool) -> Hold | None:
    """Return how `pieces[index]` counts; None if it is neither on the target nor on a piece there.

    A stack stands while all of it does. A piece that nests with the target otherwise touches it.
    With `lowest` only the piece directly on the target stands on it, and those above touch it.
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
    """True if both stand, one over the other."""
    return (
        upper.pose == lower.pose == "upright"
        and float(np.hypot(*(upper.base_mm - lower.base_mm))) < lower.solid.base_mm
    )


def stack_on_target(pieces: Sequence[SeenPiece], target: SeenPiece) -> list[int]:
    """Indexes of the pieces stacked upright on the target, from below."""
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


def _target(table: Observation, colour: str | None) -> SeenPiece | None:
    """The first piece of the target's colour on a table."""
    return next((piece for piece in table.pieces if piece.colour == colour), None)


def toppled_readings(
    state: State, seen: Observation, before: Observation | None
) -> list[Observation]:
    """Return the observation with pieces that stood on the target in this end still on it.

    Their place does not matter. Applies only if that was ruled before play. Several observations if
    neither the table before nor the recorded distances identify the piece.
    """
    if state.ruling("toppled") != "always" or all(
        piece.colour != state.target for piece in seen.pieces
    ):
        return [seen]
    ways = [_with_toppled_stack(state, seen, before) if before else seen]
    for player in state.players:
        ways = [way for one in ways for way in _by_record(state, one, before, player)]
    return ways


def _with_toppled_stack(state: State, seen: Observation, before: Observation) -> Observation:
    """Return the observation with pieces that stood on the target before, or counted so, on it."""
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
    return _on(seen, now, fell)


def _on(seen: Observation, lower: int, upper: Collection[int]) -> Observation:
    return replace(
        seen,
        pieces=tuple(
            replace(piece, on=lower) if k in upper else piece for k, piece in enumerate(seen.pieces)
        ),
    )


def _by_record(
    state: State, seen: Observation, before: Observation | None, player: str
) -> list[Observation]:
    """Return observations with a player's fallen pieces on the target, according to the record.

    Used if the table before does not show them. The player's other pieces are then about as far
    away as recorded; every assignment that fits about as well as the best is returned.
    """
    target = next(k for k, piece in enumerate(seen.pieces) if piece.colour == state.target)
    own = [
        k
        for k, piece in enumerate(seen.pieces)
        if piece.colour == player and k not in (compare(before, seen).appeared if before else ())
    ]
    held = [k for k in own if hold(seen.pieces, k, seen.pieces[target], False)]
    lies, toppled = state.layout.of(player), state.toppled.count(player)
    missing = toppled + sum(lie.on_target for lie in lies) * (before is None) - len(held)
    if missing <= 0 or (before and _recorded_touches(state, before, player) >= toppled):
        return [seen]
    free = {
        k: clearance(seen.pieces[k].solid, seen.pieces[target].solid).mm
        for k in own
        if k not in held
    }
    far = [lie.gap_mm for lie in lies if lie.gap_mm]
    apart = {
        fell: _misfit_mm(far, [mm for k, mm in free.items() if k not in fell])
        for fell in combinations(free, min(missing, len(free)))
    }
    fits = [
        fell for fell, misfit_mm in apart.items() if misfit_mm <= min(apart.values()) + CARRIED_MM
    ]
    return [_on(seen, target, fell) for fell in fits]


def _recorded_touches(state: State, before: Observation, player: str) -> int:
    """Number of a player's pieces that touched the target, on a table."""
    target = _target(before, state.target)
    own = (k for k, piece in enumerate(before.pieces) if piece.colour == player)
    return sum(
        target is not None and hold(before.pieces, k, target, False) == "touches" for k in own
    )


def _misfit_mm(recorded_mm: Sequence[float], seen_mm: Sequence[float]) -> float:
    """Total misfit of pieces against recorded distances, in mm; a missing one adds `MISSING_MM`."""
    apart = np.abs(np.subtract.outer(recorded_mm, seen_mm)).reshape(len(recorded_mm), len(seen_mm))
    return float(apart[least_cost_pairs(apart)].sum()) + MISSING_MM * max(
        0, len(recorded_mm) - len(seen_mm)
    )


def uncovered(
    seen: Observation, before: Observation, target: SeenPiece, top: SeenPiece
) -> Observation:
    """Add the pieces that stood on the target before and are now unseen, under the piece `top`."""
    was = _target(before, target.colour)
    assert was is not None, "it is known where the target was"
    hidden = [
        before.pieces[k]
        for k in stack_on_target(before.pieces, was)
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


def nested(
    seen: Observation, before: Observation, target: SeenPiece, colours: Sequence[str]
) -> Observation | None:
    """Return the observation with the unseen pieces of these colours nested with the lying target.

    They were on the target before, and the stack was pushed over. None if they were not, or if the
    target stands or lies as before.
    """
    was = _target(before, target.colour)
    if was is None or target.pose == "upright" or not moved(was, target):
        return None
    stack = [
        piece for k, piece in enumerate(before.pieces) if hold(before.pieces, k, was, lowest=False)
    ]
    hidden = []
    for colour in colours:
        piece = next((one for one in stack if one.colour == colour), None)
        if piece is None:
            return None
        stack.remove(piece)
        hidden.append(piece)
    return _nesting(seen, target, hidden)


def with_hidden_pieces(seen: Observation, before: Observation | None, colour: str) -> Observation:
    """Add the pieces that were already unseen on or inside the target before.

    `colour` is the target's. After a move of the target nothing is known of them, and a piece that
    was seen before is not hidden now. Pieces on a standing target are hidden by the one on top
    while that is still there. If another is on top, the top one has gone.
    """
    if before is None:
        return seen
    now, was = _target(seen, colour), _target(before, colour)
    if now is None or was is None or moved(was, now):
        return seen
    if now.pose == "upright":
        stack, on_it = stack_on_target(before.pieces, was), stack_on_target(seen.pieces, now)
        if len(stack) < 2 or len(on_it) != 1:
            return seen
        top, last = seen.pieces[on_it[0]], before.pieces[stack[-1]]
        same = (top.colour, top.size) == (last.colour, last.size) and not moved(last, top)
        return uncovered(seen, before, now, top) if same else seen
    hidden = [
        piece
        for k, piece in enumerate(before.pieces)
        if hold(before.pieces, k, was, lowest=False)
        and np.array_equal(piece.base_mm, was.base_mm)
        and not _among(piece, seen.pieces)
    ]
    return _nesting(seen, now, hidden) if hidden else seen


def _nesting(seen: Observation, target: SeenPiece, hidden: Sequence[SeenPiece]) -> Observation:
    """Add hidden pieces, each nested with the lying target."""
    at = next(k for k, piece in enumerate(seen.pieces) if piece is target)
    nests = (
        replace(target, colour=piece.colour, size=piece.size, colour_probability=1.0, on=at)
        for piece in hidden
    )
    return replace(seen, pieces=(*seen.pieces, *nests))


def _among(piece: SeenPiece, pieces: Sequence[SeenPiece]) -> bool:
    """True if a piece of this colour is seen where this one stood."""
    return any(
        one.colour == piece.colour
        and np.hypot(*(one.base_mm - piece.base_mm)) < piece.solid.base_mm / 2
        for one in pieces
    )
