"""Search for lying pieces about a place in all headings.

The keypoint network takes a printed square for the base of a piece of that colour, and its edges
attract the alignment. Refinement and verification use the whole image of a piece and are more
reliable from a start near its true place.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import product
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from table.pieces import PieceSize
from table.solids import Array
from vision.geometry.piece_pose import Hypothesis, move_silhouette_to, seen_middle_mm
from vision.geometry.rectified_view import Photo
from vision.networks.pose_refiner import Look, refine_poses
from vision.networks.pose_verifier import evidence, log_odds

WAYS_DEG = range(0, 360, 45)
"""Headings that are tried; refinement corrects half of their step."""
BEST_PER_ROUND = (8, 8, 6, 3, 1, 1)
"""Number of best headings of each size that are refined again in each round."""
SAME_START_BASES = 0.25
"""Distance of starting places, in bases, up to which they are one."""
AWAY_BASES = 0.5
"""Largest distance between the middle of a result and a starting place, in bases."""
FITS = 6.0
"""Weighted log odds of the verification above which a piece certainly fits."""


def search_lying_poses(seen_mm: Sequence[Array], z_mm: float, photo: Photo) -> list[Look]:
    """The best fitting lying pieces at a height and about a place, the best first.

    `seen_mm` are guesses, (2,) each, of the middle of the silhouette, projected from the camera to
    z = 0. Pieces that refinement moves to another piece's place are left out. A place that was
    searched before in the same photograph, at that height, is not searched again.
    """
    least_mm = SAME_START_BASES * min(size.base_mm for size in photo.setup.sizes)
    starts = _distinct_places(seen_mm, least_mm)
    searched = _SEARCHES.setdefault(photo, [])
    earlier = [one for one in searched if one.z_mm == z_mm and one.is_near(starts, least_mm)]
    new = [start for start in starts if not any(one.is_near([start], least_mm) for one in earlier)]
    if new:
        searched.append(_Search(np.array(new), z_mm, _search(np.array(new), z_mm, photo)))
        earlier.append(searched[-1])
    found = [look for one in earlier for look in one.found]
    return _best_of_each_size(found, 1, photo) if len(earlier) > 1 else found


class _Search(NamedTuple):
    """A search about starting places (n, 2) at a height, and its results."""

    starts: Array
    z_mm: float
    found: list[Look]

    def is_near(self, places_mm: Iterable[Array], least_mm: float) -> bool:
        """True if one of the places is within `least_mm` of a starting place."""
        return any(
            bool((np.linalg.norm(self.starts - place_mm, axis=1) <= least_mm).any())
            for place_mm in places_mm
        )


_SEARCHES: WeakKeyDictionary[Photo, list[_Search]] = WeakKeyDictionary()
"""The searches in each photograph."""


def _search(starts: Array, z_mm: float, photo: Photo) -> list[Look]:
    """The best fitting lying pieces about starting places (n, 2), one of each size."""
    eye_mm, sizes = photo.camera.eye_mm, photo.setup.sizes
    looks = refine_poses(
        [
            _lying_at(start_mm, z_mm, size, heading_deg, eye_mm)
            for start_mm, size, heading_deg in product(starts, sizes, WAYS_DEG)
        ],
        photo,
    )
    for count in BEST_PER_ROUND:
        looks = refine_poses([guess for guess, _ in _best_of_each_size(looks, count, photo)], photo)
    near = [
        (guess, known)
        for guess, known in looks
        if np.linalg.norm(starts - seen_middle_mm(guess.solid, eye_mm), axis=1).min()
        < AWAY_BASES * guess.size.base_mm
    ]
    return _best_of_each_size(near, 1, photo)


def _distinct_places(places_mm: Sequence[Array], least_mm: float) -> Array:
    """The places (n, 2), without those within `least_mm` of an earlier one."""
    accepted: list[Array] = []
    for place_mm in places_mm:
        if all(np.hypot(*(place_mm - other_mm)) > least_mm for other_mm in accepted):
            accepted.append(place_mm)
    return np.array(accepted)


def lying_piece_at(seen_mm: Array, photo: Photo) -> Hypothesis | None:
    """The piece that lies on the board about a place (2,), if one fits."""
    best = [guess for guess, _ in search_lying_poses([seen_mm], 0.0, photo)][:1]
    return best[0] if best and evidence(best, photo)[0] > FITS else None


def larger_alternatives(lies: Hypothesis, fit: float, photo: Photo) -> list[Look]:
    """Alternatives of a lying piece in every larger size, tip kept in place, that fit better.

    `fit` is the verification score to exceed.  The piece may be a part of the larger one, or nested
    in it.
    """
    larger = [
        _resize_about_tip(lies, size)
        for size in photo.setup.sizes
        if size.base_mm > lies.size.base_mm
    ]
    return refine_poses(
        [guess for guess, fits in zip(larger, evidence(larger, photo), strict=True) if fits > fit],
        photo,
    )


def _resize_about_tip(guess: Hypothesis, size: PieceSize) -> Hypothesis:
    """A lying piece in another size, with its tip at the same place."""
    other = replace(guess, size=size)
    x_mm, y_mm = (guess.solid.vertices_mm - other.solid.vertices_mm)[4, :2]
    return replace(other, x_mm=other.x_mm + float(x_mm), y_mm=other.y_mm + float(y_mm))


def _best_of_each_size(looks: list[Look], count: int, photo: Photo) -> list[Look]:
    """The `count` best fitting ones of each size, the best of all first."""
    ordered = [looks[k] for k in np.argsort(-log_odds([guess for guess, _ in looks], photo))]
    of_size: Counter[str] = Counter()
    accepted = []
    for guess, known in ordered:
        of_size[guess.size.name] += 1
        if of_size[guess.size.name] <= count:
            accepted.append((guess, known))
    return accepted


def _lying_at(
    seen_mm: Array, z_mm: float, size: PieceSize, heading_deg: float, eye_mm: Array
) -> Hypothesis:
    """A lying piece whose silhouette has its middle at `seen_mm` (2,)."""
    x_mm, y_mm = seen_mm.tolist()
    lies = Hypothesis(size, "lying", x_mm, y_mm, float(heading_deg), z_mm=z_mm)
    return move_silhouette_to(lies, seen_mm, eye_mm)
