"""Measure distances in an observation: gaps with uncertainty, who leads, what is too close.

Distance is the least clearance of the two solids (ruling ice_boule.1). Its standard deviation is
the first-order propagation of both pieces' covariances. Moving a piece changes the gap by the
normal at the nearest points, turning it by that normal times the lever arm about `base_mm`. Two
gaps share the error of the target, so their difference is propagated jointly: the target's common
error cancels (ruling ice_boule.2).

A piece that leans, with only the target nearby, leans on the target and so touches it. So does one
that nests with it and does not stand on it (ruling ice_boule.9). A piece of doubtful pose or size
is measured in every possible pose and size. A call counts only if it holds for all of them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from engines.ice_boule.stack import hold
from engines.verdict import CannotSee
from table.clearance import Clearance, clearance, distance_slope, is_free
from table.messages import Message, msg, phrase
from table.observation import LEANED_ON_MM, SURE, Observation, SeenPiece
from table.observation_document import CallDocument, GapDocument, MeasurementDocument
from table.solids import Array, Solid

Z95 = 1.96
"""Half-width of the 95 % interval of a normal distribution, in standard deviations."""
_PART_MM = 0.01
"""Distance to which overlapping solids are moved apart, to find the direction in which their gap
would open.
"""
CONTACT_MM = 0.1
"""Standard deviation in mm of the contact between a piece and what it leans on."""
OTHER = "another colour"
"""Colour of a piece that may have any colour but its own, if no other is in play."""


@dataclass(frozen=True, slots=True, eq=False)
class Gap:
    """The distance of one projectile, `piece`, which is `index` in the observation's pieces.

    `mm` is 0 where the solids touch or overlap, or the piece stands on the target. `points_mm` are
    the nearest points, on the piece and on the target, (3,) each. `slope` (3,) is d gap / d (x_mm,
    y_mm, heading_deg) of the piece, `target_slope` that of the target. `ways` are the gaps for
    every pose and size that the piece may have, where these are in doubt and known; `reach_mm` is
    how far the gap may be off where the alternatives are not known. `sigma_mm` allows for all ways.
    `as_ruled`: it counts as touching by what it surely is on, and is as near as any other such
    piece.
    """

    index: int
    piece: SeenPiece
    mm: float
    sigma_mm: float
    on_target: bool
    points_mm: tuple[Array, Array]
    slope: Array
    target_slope: Array
    reach_mm: float
    ways: tuple[Gap, ...] = ()
    as_ruled: bool = False

    @property
    def touching(self) -> bool:
        """True if the solids touch as measured; `sigma_mm` says how sure that is."""
        return self.mm == 0 and not self.on_target

    @property
    def rank(self) -> tuple[bool, float]:
        """A sort key that rises with the distance; on the target comes before touching it."""
        return not self.on_target, self.mm


@dataclass(frozen=True, slots=True, eq=False)
class Measurement:
    """Every gap, nearest first, and the call if the end stopped now.

    `leading` is None and `points` 0 with no projectile in play. `pairs` are places in `gaps` of
    pieces of different colours that are too close to call and on whose order the call depends;
    `doubts` are sentences on unsure readings on which it depends.
    """

    target: SeenPiece
    gaps: tuple[Gap, ...]
    leading: str | None
    points: int
    pairs: tuple[tuple[int, int], ...]
    doubts: tuple[str, ...]

    @property
    def too_close(self) -> bool:
        """True if the picture cannot decide who leads, or the points (ruling ice_boule.2)."""
        return bool(self.pairs or self.doubts)

    def nearer(self, i: int, j: int) -> bool:
        """True if `gaps[i]` is nearer than `gaps[j]` by more than the 95 % uncertainty."""
        return clearly_nearer(self.gaps[i], self.gaps[j], self.target)


def measure(seen: Observation, target_colour: str, lowest: bool = False) -> Measurement | CannotSee:
    """Measure the distance of every piece in play from the target.

    CannotSee unless there is exactly one piece of its colour. Of a stack on the target all pieces
    stand on it, or with `lowest` the lowest only (ruling ice_boule.10).
    """
    target = _find_target(seen.pieces, target_colour)
    if isinstance(target, str):
        return CannotSee(code="boule.target.unseen", message=target, rests_on="ruling ice_boule.1")
    others = [index for index, piece in enumerate(seen.pieces) if piece is not target]
    gaps = sorted((_gap(seen, index, target, lowest) for index in others), key=lambda gap: gap.rank)
    leading, points, pairs = _leader_and_points(gaps, target)
    unread = tuple(
        msg("Rinkside cannot read what is at ({n}, {n2}) mm.", n=f"{x:.0f}", n2=f"{y:.0f}")
        for x, y in seen.unread_mm
    )
    return Measurement(target, tuple(gaps), leading, points, pairs, unread + _doubts(gaps, target))


def difference_sigma_mm(a: Gap, b: Gap, target: SeenPiece) -> float:
    """Standard deviation of the difference of two gaps, with the target's error in common."""
    common = a.target_slope - b.target_slope
    return math.sqrt(
        _variance(a.slope, a.piece) + _variance(b.slope, b.piece) + _variance(common, target)
    )


def clearly_nearer(a: Gap, b: Gap, target: SeenPiece) -> bool:
    """True if `a` is surely nearer than `b`.

    A piece that surely stands on the target is nearer than any other.
    """
    if a.on_target or b.on_target:
        return a.on_target and not b.on_target and a.reach_mm == 0
    ways = product(a.ways or (a,), b.ways or (b,))
    return all(
        far.mm - near.mm - near.reach_mm - far.reach_mm
        > Z95 * difference_sigma_mm(near, far, target)
        for near, far in ways
    )


def measurement_document(measured: Measurement | CannotSee) -> MeasurementDocument:
    """Return `gaps` (nearest first) and `call` of `rinkside-observation/1` as plain data.

    Lengths are in mm, to the micron. Without a measurement there are no gaps, and the call is too
    close, with the reason in `doubts`.
    """
    if isinstance(measured, CannotSee):
        return {
            "gaps": [],
            "call": {
                "leading": None,
                "points": 0,
                "too_close": True,
                "pairs": [],
                "doubts": [str(measured.message)],
            },
        }
    call: CallDocument = {
        "leading": measured.leading,
        "points": measured.points,
        "too_close": measured.too_close,
        "pairs": [list(pair) for pair in measured.pairs],
        "doubts": list(map(str, measured.doubts)),
    }
    return {"gaps": [_gap_document(gap) for gap in measured.gaps], "call": call}


def _gap_document(gap: Gap) -> GapDocument:
    return {
        "piece": gap.index,
        "colour": gap.piece.colour,
        "size": gap.piece.size,
        "base_mm": np.round(gap.piece.base_mm, 3).tolist(),
        "gap_mm": round(gap.mm, 3),
        "sigma_mm": round(gap.sigma_mm, 3),
        "on_target": gap.on_target,
        "touching": gap.touching,
        "points_mm": [np.round(point, 3).tolist() for point in gap.points_mm],
    }


def _find_target(pieces: tuple[SeenPiece, ...], colour: str) -> SeenPiece | str:
    """Find the one piece of the target's colour; else a sentence with the reason."""
    named = [piece for piece in pieces if piece.colour == colour]
    sure = [piece for piece in named if piece.colour_probability >= SURE]
    if len(named) == 1 or len(sure) == 1:
        return (sure or named)[0]
    found = (
        msg("{n} {colour} pieces lie", n=len(named), colour=colour)
        if named
        else msg("no {colour} piece was seen", colour=colour)
    )
    return msg(
        "The {colour} target cannot be identified: {text} in the play area.",
        colour=colour,
        text=found,
    )


def _gap(seen: Observation, index: int, target: SeenPiece, lowest: bool) -> Gap:
    piece, held = seen.pieces[index], hold(seen.pieces, index, target, lowest)
    on_target, reach_mm = held == "stands", _reach_mm(piece)
    if held == "touches":
        nearest, still = (
            clearance(piece.solid, target.solid),
            np.zeros(3),
        )  # it moves with the target
        return Gap(
            index,
            piece,
            0.0,
            CONTACT_MM,
            False,
            (nearest.a_mm, nearest.b_mm),
            still,
            still,
            reach_mm,
            as_ruled=piece.pose_probability >= SURE,
        )
    others = [one for one in seen.pieces if one is not piece and one is not target]
    every = _possible_readings(piece) if reach_mm and not on_target else ()
    if not every:
        return _gap_of(index, piece, target, others, on_target, reach_mm)
    ways = tuple(_gap_of(index, one, target, others, False, 0.0) for one in every)
    as_read = ways[0]
    sigma_mm = math.hypot(
        max(one.sigma_mm for one in ways), max(abs(one.mm - as_read.mm) for one in ways)
    )
    return replace(as_read, piece=piece, ways=ways, sigma_mm=sigma_mm)


def _possible_readings(piece: SeenPiece) -> tuple[SeenPiece, ...]:
    """Return a piece of doubtful pose or size in each possible one, as first read.

    Empty if some alternatives are unknown.
    """
    every = (*reversed(piece.rivals), piece)
    poses = {
        (one.pose, float(one.solid.vertices_mm[:, 2].min())): one.pose_probability for one in every
    }
    sizes = {one.size: one.size_probability for one in every}
    if piece.if_right is None or min(sum(poses.values()), sum(sizes.values())) < SURE:
        return ()
    return (piece.as_read, *piece.rivals)


def _gap_of(
    index: int,
    piece: SeenPiece,
    target: SeenPiece,
    others: list[SeenPiece],
    on_target: bool,
    reach_mm: float,
) -> Gap:
    nearest = clearance(piece.solid, target.solid)
    points = (nearest.a_mm, nearest.b_mm)
    if _leans_on(piece, nearest.mm, others):
        still = np.zeros(3)  # it moves with the target
        return Gap(index, piece, 0.0, CONTACT_MM, on_target, points, still, still, reach_mm)
    normal, at_piece, at_target = _opening(piece.solid, target.solid, nearest)
    slope, target_slope = _slope(normal, at_piece, piece), -_slope(normal, at_target, target)
    sigma_mm = math.sqrt(_variance(slope, piece) + _variance(target_slope, target))
    mm = 0.0 if on_target else nearest.mm
    return Gap(index, piece, mm, sigma_mm, on_target, points, slope, target_slope, reach_mm)


def _leans_on(piece: SeenPiece, target_mm: float, others: list[SeenPiece]) -> bool:
    """True if a piece leans on a target at this distance, and on nothing else."""
    return (
        piece.pose == "leaning"
        and target_mm <= LEANED_ON_MM
        and is_free(piece.solid, [other.solid for other in others], LEANED_ON_MM)
    )


def _opening(piece: Solid, target: Solid, nearest: Clearance) -> tuple[Array, Array, Array]:
    """Unit vector (3,) from target to piece along which their gap opens, and its end points.

    Solids that touch or overlap have no such direction. The piece is moved horizontally away from
    the target's middle until it is clear, and the first direction that appears is used.
    """
    apart_mm = nearest.mm
    if apart_mm < _PART_MM:
        away = piece.vertices_mm.mean(axis=0) - target.vertices_mm.mean(axis=0)
        away[2] = 0.0
        length = float(np.linalg.norm(away))
        away = away / length if length > 1e-6 else np.array([1.0, 0.0, 0.0])
        shift_mm = _PART_MM
        while apart_mm < _PART_MM:
            nearest = clearance(Solid(piece.vertices_mm + shift_mm * away), target)
            apart_mm, shift_mm = nearest.mm, shift_mm * 1.5
    return (nearest.a_mm - nearest.b_mm) / nearest.mm, nearest.a_mm, nearest.b_mm


def _slope(normal: Array, point_mm: Array, piece: SeenPiece) -> Array:
    """Gradient (3,) of the gap in (x_mm, y_mm, heading_deg) of `piece`.

    `point_mm` (3,) is the nearest point on its side.
    """
    return distance_slope(normal, point_mm[:2] - piece.base_mm)


def _variance(slope: Array, piece: SeenPiece) -> float:
    return max(float(slope @ piece.covariance @ slope), 0.0)


def _reach_mm(piece: SeenPiece) -> float:
    """Largest error of the gap in mm if the pose, or else the size, was misread."""
    base, tip = piece.solid.vertices_mm[:4], piece.solid.tip_mm
    if piece.pose_probability < SURE:
        return float(np.linalg.norm(tip - base.mean(axis=0)))
    if piece.size_probability < SURE:
        return float(np.linalg.norm(base[1] - base[0])) / 2
    return 0.0


def _leader_and_points(
    gaps: list[Gap], target: SeenPiece
) -> tuple[str | None, int, tuple[tuple[int, int], ...]]:
    """Return who leads, the points, and the deciding pairs of places that are too close to call."""
    if not gaps:
        return None, 0, ()
    leading = gaps[0].piece.colour
    own = [k for k, gap in enumerate(gaps) if gap.piece.colour == leading]
    others = [k for k, gap in enumerate(gaps) if gap.piece.colour != leading]
    best = min(others, default=len(gaps))
    points = sum(2 if gaps[k].on_target else 1 for k in own if k < best)
    pairs: list[tuple[int, int]] = []
    for k in own:
        if k < best:
            pairs += [
                (k, other) for other in others if not clearly_nearer(gaps[k], gaps[other], target)
            ]
        elif not any(clearly_nearer(gaps[other], gaps[k], target) for other in others):
            pairs.append((best, k))
    return leading, points, tuple(pairs)


def _doubts(gaps: list[Gap], target: SeenPiece) -> tuple[Message, ...]:
    """Describe the unsure readings that would change the call if they were wrong."""
    doubts = []
    if target.colour_probability < SURE:
        doubts.append(
            msg(
                "The piece taken for the target may not be {player} ({raw} sure).",
                player=target.colour,
                raw=f"{target.colour_probability:.0%}",
            )
        )
    if target.pose_probability < SURE:
        doubts.append(
            msg(
                "The target may not be {pose} ({raw} sure).",
                pose=target.pose,
                raw=f"{target.pose_probability:.0%}",
            )
        )
    doubts += [
        msg("The {text} may not be standing on the target.", text=_piece_text(gap.piece))
        for gap in gaps
        if gap.on_target and gap.reach_mm
    ]
    call = _leader_and_points(gaps, target)[:2]
    colours = {gap.piece.colour for gap in gaps}
    for k, gap in enumerate(gaps):
        piece = gap.piece
        if piece.colour_probability >= SURE:
            continue
        for other in sorted(colours - {piece.colour}) or [OTHER]:
            recoloured = replace(gap, piece=replace(piece, colour=other))
            if _leader_and_points([*gaps[:k], recoloured, *gaps[k + 1 :]], target)[:2] != call:
                doubts.append(_another_colour(piece, other))
                break
    return tuple(doubts)


def _another_colour(piece: SeenPiece, other: str) -> Message:
    fields: dict[str, object] = {
        "text": _piece_text(piece),
        "player2": piece.colour,
        "raw": f"{piece.colour_probability:.0%}",
    }
    if other == OTHER:
        return msg(
            "The {text} may be another colour, which would change the result ({player2} is"
            " {raw} sure).",
            **fields,
        )
    return msg(
        "The {text} may be {player}, which would change the result ({player2} is {raw} sure).",
        player=other,
        **fields,
    )


def _piece_text(piece: SeenPiece) -> Message:
    """Describe a piece."""
    x_mm, y_mm = piece.base_mm
    return phrase(
        "{size} {colour} piece {pose} at ({mm}, {mm2}) mm",
        colour=piece.colour,
        size=piece.size,
        pose=piece.pose,
        mm=f"{x_mm:.1f}",
        mm2=f"{y_mm:.1f}",
    )
