"""Pieces that lie, looked for about a place in every way in which they may lie there.

The second look takes a square that is printed for the base of a piece of that colour, and edges of
it draw a piece away.  The close look and the verification see all that a piece would show, and know
better, if they are asked about something that is nearly where the piece is.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import product

import numpy as np

from table.pieces import PieceSize
from table.solids import Array
from vision.geometry.piece_pose import Hypothesis
from vision.geometry.rectified_view import Photo
from vision.networks.pose_refiner import Look, look_closely
from vision.networks.pose_verifier import evidence

WAYS_DEG = range(0, 360, 45)
"""Headings that are tried: a close look turns a piece by half of that."""
KEPT = (3, 3, 2, 1, 1, 1)
"""So many of the ways of each size, the likeliest, are looked at once more each time: a smaller
piece in a larger one's place may fit at first.
"""
AWAY_BASES = 0.5
"""A piece whose middle is no farther than this from another's, in bases, may be the same."""
FITS = 6.0
"""Log odds of the verification from which a piece surely fits: of 14 places where nothing lies, in
drawn and kept pictures, none fitted better than 1.2, but smaller pieces in a larger one's place do.
"""


def as_it_may_lie(middle_mm: Array, z_mm: float, photo: Photo) -> list[Look]:
    """The ways in which a piece may lie about a place (2,) on what is so high that fit best, the
    best first: those that close looks do not lead to another's place.
    """
    looks = look_closely(
        [
            _about(middle_mm, z_mm, size, heading_deg)
            for size, heading_deg in product(photo.setup.sizes, WAYS_DEG)
        ],
        photo,
    )
    for count in KEPT:
        looks = look_closely([guess for guess, _ in _fitting(looks, count, photo)], photo)
    near = [
        (guess, known)
        for guess, known in looks
        if np.hypot(*(guess.middle_mm - middle_mm)) < AWAY_BASES * guess.size.base_mm
    ]
    return _fitting(near, 1, photo)


def as_it_lies(middle_mm: Array, photo: Photo) -> Hypothesis | None:
    """The piece that lies about a place (2,) of the board, if one fits."""
    best = [guess for guess, _ in as_it_may_lie(middle_mm, 0.0, photo)][:1]
    return best[0] if best and evidence(best, photo)[0] > FITS else None


def as_larger(lies: Hypothesis, fit: float, photo: Photo) -> list[Look]:
    """The larger pieces that what lies, and fits so well, may be a part of, or an inner one of:
    those that fit better with their tips where its tip is.
    """
    larger = [
        _by_its_tip(lies, size) for size in photo.setup.sizes if size.base_mm > lies.size.base_mm
    ]
    return look_closely(
        [guess for guess, fits in zip(larger, evidence(larger, photo), strict=True) if fits > fit],
        photo,
    )


def _by_its_tip(guess: Hypothesis, size: PieceSize) -> Hypothesis:
    """A piece of a size that lies as another does, with its tip there."""
    other = replace(guess, size=size)
    x_mm, y_mm = (guess.solid.vertices_mm - other.solid.vertices_mm)[4, :2]
    return replace(other, x_mm=other.x_mm + float(x_mm), y_mm=other.y_mm + float(y_mm))


def _fitting(looks: list[Look], count: int, photo: Photo) -> list[Look]:
    """So many of them of each size, those that fit best, the best of all first."""
    ordered = [looks[k] for k in np.argsort(-evidence([guess for guess, _ in looks], photo))]
    of_size: Counter[str] = Counter()
    kept = []
    for guess, known in ordered:
        of_size[guess.size.name] += 1
        if of_size[guess.size.name] <= count:
            kept.append((guess, known))
    return kept


def _about(middle_mm: Array, z_mm: float, size: PieceSize, heading_deg: float) -> Hypothesis:
    """A piece that lies with its middle there."""
    lies = Hypothesis(size, "lying", 0.0, 0.0, float(heading_deg), z_mm=z_mm)
    x_mm, y_mm = middle_mm - lies.middle_mm
    return replace(lies, x_mm=float(x_mm), y_mm=float(y_mm))
