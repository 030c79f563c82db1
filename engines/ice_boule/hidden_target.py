"""The target hidden by a piece that stands on it.

Which piece hides it follows from the target's earlier place, or from the record.

A piece on the target is nearer to the camera than one on the table. Its reading is displaced away
from the camera, in proportion to its lift. A piece read at exactly that displacement needs no
question; otherwise people are asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from engines.ice_boule.changes import compare
from engines.ice_boule.stack import hold, uncovered
from engines.ice_boule.state import State
from table.assignment import least_cost_pairs
from table.clearance import clearance
from table.motion import STILL_MM, moved
from table.observation import SURE, Observation, SeenPiece
from table.solids import Array, Solid

ELSEWHERE_MM = 2.5
"""Standard deviation in mm of the displaced reading of a piece that stands on the target."""
LIFTS_MM = (3.0, 12.0)
"""Range of the lift in mm of a piece on the target, measured along the axis."""
CARRIED_UNDER_MM = 40.0
"""Largest distance in mm by which a throw pushes the target that it then stands on."""
ANYWHERE = np.diag([60.0, 60.0, 90.0]) ** 2
"""Covariance of an unseen target that may have been pushed."""
NOWHERE_MM = np.array([-40_000.0, -40_000.0])
"""Position in mm of a target that the camera never saw. It is the same in every table, and so far
off that no distance from it counts as measured (`Lie.measured`).
"""
_SHAPE_MM = np.array(
    [
        (-10.0, -10.0, 0.0),
        (10.0, -10.0, 0.0),
        (10.0, 10.0, 0.0),
        (-10.0, 10.0, 0.0),
        (0.0, 0.0, 40.0),
    ]
)
UNTOLD = float(np.nextafter(SURE, 0))
"""Pose probability of an unseen piece on the target that nobody has confirmed."""


def with_target(state: State, seen: Observation, before: Observation | None) -> Observation | None:
    """Return the observation with the target added under the piece at its place.

    None if the target is simply missing. `before` is the table of the last verdict, None if
    unknown. The place is then known from the layout of the record, or not at all. A guess of the
    vision that the target is under a piece is not evidence against this. The pose of that piece is
    sure if nothing else explains the observation.
    """
    guessed = {
        piece.on for piece in seen.pieces if piece.on is not None and piece.pose_probability < SURE
    }
    places = [k for k, piece in enumerate(seen.pieces) if piece.colour == state.target]
    if not guessed.issuperset(places):
        return seen
    others, bare = (
        [piece for k, piece in enumerate(seen.pieces) if k not in places],
        _without_pieces(seen.pieces, places),
    )
    stood = _target_of(state, before)
    place = (
        _piece_read_on_target(stood, bare, state)
        if stood is not None
        else _recorded_piece_on_target(state, bare)
    )
    if place is None:
        return (
            seen
            if places and not (before is not None and _impossible(seen, places, before))
            else None
        )
    upper = bare[place]
    sure, target = (
        upper.pose_probability,
        stood or _doubtful(replace(upper, colour=str(state.target))),
    )
    if (
        before is not None
        and stood is not None
        and _explains_observation(others[place], stood, state, seen, before)
    ):
        sure = 1.0
    elif others[place].on is not None:
        return seen
    elif before is not None and not _has_earlier_position(upper, before.pieces):
        sure, target = min(sure, UNTOLD), _doubtful(target)
    bare[place] = replace(upper, on=len(bare), pose_probability=sure)
    whole = replace(seen, pieces=(*bare, replace(target, on=None)))
    if before is None or not _has_earlier_position(upper, before.pieces):
        return whole
    return uncovered(whole, before, whole.pieces[-1], whole.pieces[place])


def with_likeliest_target(
    state: State, seen: Observation, before: Observation | None
) -> Observation | None:
    """Return the observation with an unseen target at its most likely place.

    That is at the piece that fell from it, else where it was; None if neither is known. Hardly any
    distance from it is sure.
    """
    was = [piece for piece in (before.pieces if before else ()) if piece.colour == state.target]
    if before is None or len(was) != 1:
        return None
    only_guessed = [k for k, piece in enumerate(seen.pieces) if piece.colour == state.target]
    seen = replace(seen, pieces=tuple(_without_pieces(seen.pieces, only_guessed)))
    changes = compare(before, seen)
    fell = [
        seen.pieces[k]
        for k, then in changes.same.items()
        if k in changes.moved and hold(before.pieces, then, was[0], False)
    ]
    target = replace(
        (fell or was)[0],
        colour=was[0].colour,
        size=was[0].size,
        covariance=ANYWHERE,
        on=None,
        rivals=(),
        if_right=None,
    )
    return replace(seen, pieces=(*seen.pieces, target))


def with_unplaced_target(state: State, seen: Observation) -> Observation:
    """Return the observation with a target that people report standing, at an unknown place.

    Distances from it are unknown.
    """
    left = _without_pieces(
        seen.pieces, [k for k, piece in enumerate(seen.pieces) if piece.colour == state.target]
    )
    solid = Solid(_SHAPE_MM + np.append(NOWHERE_MM, 0.0))
    target = SeenPiece(str(state.target), "small", "upright", NOWHERE_MM, 0.0, solid, ANYWHERE)
    return replace(seen, pieces=(*left, target))


def _without_pieces(pieces: Sequence[SeenPiece], left_out: Sequence[int]) -> list[SeenPiece]:
    """Remove pieces; `on` of the others is kept if the piece below remains."""
    kept = [k for k in range(len(pieces)) if k not in left_out]
    now = {k: place for place, k in enumerate(kept)}
    return [
        replace(piece, on=None if piece.on is None else now.get(piece.on))
        for piece in map(pieces.__getitem__, kept)
    ]


def _impossible(seen: Observation, places: Sequence[int], before: Observation) -> bool:
    """True if the guessed target is under pieces that cannot stand on it.

    They stood there when it was elsewhere, or it cannot have moved to their place meanwhile. No
    throw carries the target that far and stands on it.
    """
    over = [piece for piece in seen.pieces if piece.on in places]
    bare = [was for was in before.pieces if was.on is None]
    targets = {seen.pieces[k].colour for k in places}
    away_mm = [
        float(np.hypot(*(was.base_mm - seen.pieces[k].base_mm)))
        for was in before.pieces
        for k in places
        if was.colour in targets
    ]
    far = bool(away_mm) and min(away_mm) > CARRIED_UNDER_MM
    return bool(over) and all(
        _has_earlier_position(piece, bare)
        or (far and not _has_earlier_position(piece, before.pieces))
        for piece in over
    )


def _has_earlier_position(piece: SeenPiece, before: Iterable[SeenPiece]) -> bool:
    """True if a piece of its colour lay in its place before."""
    return any(was.colour == piece.colour and not moved(was, piece) for was in before)


def is_target_newly_outside(state: State, seen: Observation, before: Observation | None) -> bool:
    """True if one more piece of the target's colour lies outside the play area than before."""
    if before is None:
        return False
    now, were = (
        sum(piece.colour == state.target for piece in table.off_board) for table in (seen, before)
    )
    return now > were


def _doubtful(target: SeenPiece) -> SeenPiece:
    """Return the target with more uncertainty, as a piece that came onto it may have pushed it."""
    return replace(
        target, covariance=target.covariance + np.diag([ELSEWHERE_MM**2, ELSEWHERE_MM**2, 0.0])
    )


def _explains_observation(
    upper: SeenPiece, target: SeenPiece, state: State, seen: Observation, before: Observation
) -> bool:
    """True if a piece standing on the target explains the whole observation.

    It surely stands where the target would lift it to, and nothing else seen may be the target. It
    is not the target itself: its colour is sure, or that of the thrower, and it is read beside the
    target's earlier place.
    """
    coloured = upper.colour_probability >= SURE or (
        upper.colour == state.next and moved(target, upper)
    )
    if not coloured or (upper.pose_probability < SURE and upper.on is None):
        return False
    unsure = [
        piece
        for piece in seen.pieces
        if piece.colour_probability < SURE and piece.colour != state.target and piece is not upper
    ]
    came = [piece for piece in unsure if all(moved(was, piece) for was in before.pieces)]
    return (
        not is_target_newly_outside(state, seen, before)
        and not came
        and not seen.unread_mm
        and _offset_on_target_mm(upper, target, seen.camera.eye_mm) < STILL_MM
    )


def _offset_on_target_mm(upper: SeenPiece, target: SeenPiece, eye_mm: Array) -> float:
    """Distance in mm between the target and the lifted position of a piece.

    The lift within `LIFTS_MM` that explains the reading best is used.
    """
    z_mm = float(upper.solid.vertices_mm[:, 2].min())
    per_mm = (eye_mm[:2] - upper.base_mm) / (eye_mm[2] - z_mm)
    away = target.base_mm - upper.base_mm
    rise_mm = float(per_mm @ away) / max(float(per_mm @ per_mm), 1e-12)
    lift_mm = float(np.clip(z_mm + rise_mm, *LIFTS_MM))
    return float(np.hypot(*(upper.base_mm + per_mm * (lift_mm - z_mm) - target.base_mm)))


def _target_of(state: State, before: Observation | None) -> SeenPiece | None:
    """The standing target as seen before."""
    found = [
        piece
        for piece in (before.pieces if before else ())
        if piece.colour == state.target and piece.pose == "upright"
    ]
    return found[0] if len(found) == 1 else None


def _piece_read_on_target(
    target: SeenPiece, pieces: Sequence[SeenPiece], state: State
) -> int | None:
    """The only piece read upright at the target's earlier place."""
    reach_mm = target.solid.base_mm / 2
    there = [
        k
        for k, piece in enumerate(pieces)
        if piece.colour in state.players and np.hypot(*(piece.base_mm - target.base_mm)) < reach_mm
    ]
    there = [k for k in there if pieces[k].on not in there]
    return there[0] if len(there) == 1 and pieces[there[0]].pose == "upright" else None


def _recorded_piece_on_target(state: State, pieces: Sequence[SeenPiece]) -> int | None:
    """The recorded piece on the target, found by the recorded distances of the others."""
    first = next(iter(state.layout.lies), None)
    if first is None or not first.on_target:
        return None
    standing = [
        k
        for k, piece in enumerate(pieces)
        if piece.colour == first.colour and piece.pose == "upright"
    ]
    return min(standing, key=lambda place: _misfit_mm(state, pieces, place), default=None)


def _misfit_mm(state: State, pieces: Sequence[SeenPiece], place: int) -> float:
    """Total difference in mm between the recorded and the seen distances from this piece."""
    misfit_mm = 0.0
    for player in state.players:
        lies = [lie.gap_mm for lie in state.layout.of(player) if not lie.on_target]
        others = [piece for k, piece in enumerate(pieces) if piece.colour == player and k != place]
        gaps = [clearance(piece.solid, pieces[place].solid).mm for piece in others]
        apart = np.abs(np.subtract.outer(gaps, lies)).reshape(len(gaps), len(lies))
        misfit_mm += float(apart[least_cost_pairs(apart)].sum())
    return misfit_mm
