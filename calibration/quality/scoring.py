"""Score the reading of a photograph against a stated truth."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

import msgspec
import numpy as np

from calibration.quality.truth import TruePiece, Truth
from table.assignment import least_cost_pairs
from table.observation import SURE
from table.observation_document import ObservationDocument, Piece, PointMm
from table.solids import Array

MATCH_MM = 15.0
"""Largest distance between a piece and its reading."""
BESIDE_MM = 30.0
"""Distance of an unread object within which a mistake counts as doubted by the reading."""

Description = tuple[str, str, str]
"""Colour, size and pose."""


class Mistake(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A piece that was missed, invented, or misread."""

    what: Literal["missed", "invented", "misread"]
    at_mm: PointMm
    true: Description | None = None
    said: Description | None = None
    confident: bool = False
    """The reading expresses no doubt about it."""


class PieceMatch(msgspec.Struct, frozen=True, kw_only=True):
    """A piece that was found: correct properties, and the error of its place.

    `base_mm` is None if the place was not measured, or the poses differ.
    """

    colour: bool
    size: bool
    pose: bool
    base_mm: float | None = None


class Score(msgspec.Struct, frozen=True, kw_only=True):
    """Score of one photograph; counts are of pieces."""

    true: int
    read: int
    matched: tuple[PieceMatch, ...]
    mistakes: tuple[Mistake, ...]


class Total(msgspec.Struct, frozen=True, kw_only=True):
    """Sum over photographs; counts are of pieces but for `pictures` and `all_right`.

    `base_mm` is the median and the 95th percentile of the places' errors.
    """

    pictures: int
    all_right: int
    pieces: int
    found: int
    missed: int
    invented: int
    colour: int
    size: int
    pose: int
    confident_mistakes: int
    base_mm: tuple[float, float] | None


def score(truth: Truth, seen: ObservationDocument) -> Score:
    """Compare a reading with the truth."""
    pairs = _matches(truth.pieces, seen.pieces)
    true_of, read_of = {i for i, _ in pairs}, {j for _, j in pairs}
    least = [
        (piece.base_mm, min(msgspec.structs.astuple(piece.probability))) for piece in seen.pieces
    ]

    def confident(at_mm: PointMm, missed: bool = False) -> bool:
        return is_confident(at_mm, seen.unread_mm, least, missed)

    mistakes = [
        Mistake(
            what="missed",
            at_mm=piece.base_mm,
            true=_description(piece),
            confident=confident(piece.base_mm, missed=True),
        )
        for i, piece in enumerate(truth.pieces)
        if i not in true_of
    ]
    mistakes += [
        Mistake(
            what="invented",
            at_mm=piece.base_mm,
            said=_description(piece),
            confident=confident(piece.base_mm),
        )
        for j, piece in enumerate(seen.pieces)
        if j not in read_of
    ]
    mistakes += [
        Mistake(
            what="misread",
            at_mm=truth.pieces[i].base_mm,
            true=_description(truth.pieces[i]),
            said=_description(seen.pieces[j]),
            confident=confident(truth.pieces[i].base_mm),
        )
        for i, j in pairs
        if _description(truth.pieces[i]) != _description(seen.pieces[j])
    ]
    return Score(
        true=len(truth.pieces),
        read=len(seen.pieces),
        matched=tuple(_piece_match(truth.pieces[i], seen.pieces[j]) for i, j in pairs),
        mistakes=tuple(mistakes),
    )


def is_confident(
    at_mm: PointMm,
    unread_mm: Iterable[PointMm],
    sure: Iterable[tuple[PointMm, float]],
    missed: bool = False,
) -> bool:
    """True for a mistake about which the reading expresses no doubt.

    An object in `unread_mm` beside it is a doubt. A missed piece without that is a confident
    mistake. Any other mistake is one if the nearest piece that was read is certain. `sure` are the
    places of the read pieces, each with its least probability.
    """
    if any(math.dist(at_mm, other) <= BESIDE_MM for other in unread_mm):
        return False
    if missed:
        return True
    return min(sure, key=lambda one: math.dist(one[0], at_mm))[1] >= SURE


def total(scores: Sequence[Score]) -> Total:
    """Sum of the scores of photographs."""
    found = [one for score in scores for one in score.matched]
    errors_mm = [one.base_mm for one in found if one.base_mm is not None]
    pieces = sum(score.true for score in scores)
    return Total(
        pictures=len(scores),
        all_right=sum(not score.mistakes for score in scores),
        pieces=pieces,
        found=len(found),
        missed=pieces - len(found),
        invented=sum(score.read - len(score.matched) for score in scores),
        colour=sum(one.colour for one in found),
        size=sum(one.size for one in found),
        pose=sum(one.pose for one in found),
        confident_mistakes=sum(one.confident for score in scores for one in score.mistakes),
        base_mm=(float(np.percentile(errors_mm, 50)), float(np.percentile(errors_mm, 95)))
        if errors_mm
        else None,
    )


def _matches(true: Sequence[TruePiece], read: Sequence[Piece]) -> list[tuple[int, int]]:
    """Pairs of indices of pieces and readings, one-to-one, with the least total distance."""
    if not true or not read:
        return []
    away_mm = np.array([[_away_mm(one, other) for other in read] for one in true])
    far_mm = MATCH_MM * (len(true) + len(read))
    cost = np.where(away_mm > MATCH_MM, far_mm, away_mm)
    return list(_closest_pairs(cost, far_mm))


def _closest_pairs(cost: Array, far_mm: float) -> Iterator[tuple[int, int]]:
    for i, j in zip(*least_cost_pairs(cost), strict=True):
        if cost[i, j] < far_mm:
            yield int(i), int(j)


def _away_mm(one: TruePiece, other: Piece) -> float:
    """Distance between the middles of the footprints, or between the bases if one has none."""
    if one.footprint_mm and other.footprint_mm:
        middles = (np.mean(one.footprint_mm, axis=0), np.mean(other.footprint_mm, axis=0))
        return float(np.hypot(*(middles[0] - middles[1])))
    return math.dist(one.base_mm, other.base_mm)


def _piece_match(one: TruePiece, other: Piece) -> PieceMatch:
    same_pose = one.pose == other.pose
    return PieceMatch(
        colour=one.colour == other.colour,
        size=one.size == other.size,
        pose=same_pose,
        base_mm=math.dist(one.base_mm, other.base_mm)
        if same_pose and one.pose != "leaning" and one.place == "measured"
        else None,
    )


def _description(piece: TruePiece | Piece) -> Description:
    return piece.colour, piece.size, piece.pose
