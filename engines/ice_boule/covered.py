"""The target where a piece stands on it and hides it: what is under that piece is known from where the target stood, or from the record."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy.optimize import linear_sum_assignment

from engines.ice_boule.state import State
from engines.still import moved
from table.clearance import clearance
from table.observation import SURE, Observation, SeenPiece

ELSEWHERE_MM = 2.5
"""A piece that stands on the target is read so far from it, 1 sigma: it is nearer to the camera than it is taken to be."""
UNTOLD = float(np.nextafter(SURE, 0))
"""Nobody has said yet that the piece stands on the target, and the picture does not show it."""


def with_target(state: State, seen: Observation, before: Observation | None) -> Observation | None:
    """What was seen, with the target under the piece that stands where it stood; None where the target is simply not there.

    `before` is the table that was ruled on last, None where that is not known; then it is known from the layout of the record, or not at all.
    What eyes only guess, that it is under another piece, does not count against that.
    """
    guessed = {piece.on for piece in seen.pieces if piece.on is not None and piece.pose_probability < SURE}
    places = [k for k, piece in enumerate(seen.pieces) if piece.colour == state.target]
    if not guessed.issuperset(places):
        return seen
    others = [piece for k, piece in enumerate(seen.pieces) if k not in places]
    bare = [replace(piece, on=None) for piece in others]
    target = _target_of(state, before)
    place = _standing_on(target, bare, state) if target is not None else _under_the_leader(state, bare)
    if place is None or others[place].on is not None:
        return seen if places else None
    upper = bare[place]
    known = before is not None and any(not moved(was, upper) and was.colour == upper.colour for was in before.pieces)
    target = target or replace(upper, colour=str(state.target), covariance=upper.covariance + np.diag([ELSEWHERE_MM**2, ELSEWHERE_MM**2, 0.0]))
    sure = upper.pose_probability if known or before is None else min(upper.pose_probability, UNTOLD)
    bare[place] = replace(upper, on=len(bare), pose_probability=sure)
    return replace(seen, pieces=(*bare, replace(target, on=None)))


def _target_of(state: State, before: Observation | None) -> SeenPiece | None:
    """The target as it was seen to stand."""
    found = [piece for piece in (before.pieces if before else ()) if piece.colour == state.target and piece.pose == "upright"]
    return found[0] if len(found) == 1 else None


def _standing_on(target: SeenPiece, pieces: Sequence[SeenPiece], state: State) -> int | None:
    """The one piece that is read upright where the target stood."""
    reach_mm = float(np.linalg.norm(target.solid.vertices_mm[1] - target.solid.vertices_mm[0])) / 2
    there = [k for k, piece in enumerate(pieces) if piece.colour in state.players and np.hypot(*(piece.base_mm - target.base_mm)) < reach_mm]
    return there[0] if len(there) == 1 and pieces[there[0]].pose == "upright" else None


def _under_the_leader(state: State, pieces: Sequence[SeenPiece]) -> int | None:
    """The piece that the record has on the target: the one round which the others lie as it says."""
    first = next(iter(state.layout.lies), None)
    if first is None or not first.on_target:
        return None
    standing = [k for k, piece in enumerate(pieces) if piece.colour == first.colour and piece.pose == "upright"]
    return min(standing, key=lambda place: _misfit_mm(state, pieces, place), default=None)


def _misfit_mm(state: State, pieces: Sequence[SeenPiece], place: int) -> float:
    """How otherwise than in the record the other pieces lie round this one, in all."""
    misfit_mm = 0.0
    for player in state.players:
        lies = [lie.gap_mm for lie in state.layout.of(player) if not lie.on_target]
        others = [piece for k, piece in enumerate(pieces) if piece.colour == player and k != place]
        gaps = [clearance(piece.solid, pieces[place].solid).mm for piece in others]
        apart = np.abs(np.subtract.outer(gaps, lies)).reshape(len(gaps), len(lies))
        misfit_mm += float(apart[linear_sum_assignment(apart)].sum())
    return misfit_mm
