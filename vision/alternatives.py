"""What something that is seen badly may be beside what the second look takes it for: it is looked at as if it stood and as if it lay, and
every size is laid on what is seen.  Edges and a close look at each decide, in `vision.spots`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from table.solids import POSES, Array
from vision.finder import Sight
from vision.guesses import Guess
from vision.photo import Photo
from vision.second_look import Looked, cuts_as, look_again
from vision.spots import Laid, rivals_of

OWN, OTHERS = 5, 2
"""So many sizes and poses of what was seen are asked about, and of what another look sees."""
ASIDE = 3.0
"""How much speaks against what another look sees, before edges and a close look are asked."""
SAME_BASES, SAME_DEG = 0.15, 10.0
"""Guesses of one size and pose that are nearer than this to one another are the same."""


def with_alternatives(laid: Sequence[Laid], sight: Sight, photo: Photo, habit: Array) -> list[Laid]:
    """The same, each with all that it may be."""
    cuts = [[cut for pose in POSES[:2] for cut in cuts_as(pose, one.looked, sight.view)] for one in laid]
    looks = iter(look_again([cut for some in cuts for cut in some], sight.view, photo.setup.colours))
    wider = []
    for one, some in zip(laid, cuts, strict=True):
        standing, *lying = (next(looks) for _ in some)
        wider.append(_with(one, (standing, min(lying, key=lambda look: look.blur)), habit, photo))
    return wider


def _with(one: Laid, others: Sequence[Looked], habit: Array, photo: Photo) -> Laid:
    best = one.rivals[0].evidence
    asked = rivals_of(one.looked, habit, photo, doubted=True)[:OWN]
    for other in others:
        first, *rest = rivals_of(other, habit, photo)[:OTHERS]
        asked += [replace(guess, evidence=best - ASIDE + guess.evidence - first.evidence) for guess in (first, *rest)]
    rivals = list(one.rivals)
    for guess in asked:
        if not any(_alike(guess, known) for known in rivals):
            rivals.append(guess)
    return replace(one, rivals=rivals)


def _alike(one: Guess, other: Guess) -> bool:
    a, b = one.guess, other.guess
    if (a.size, a.pose) != (b.size, b.pose):
        return False
    x, y, turn = a.away_from(b)
    return bool(np.hypot(x, y) < SAME_BASES * a.size.base_mm and abs(turn) < SAME_DEG)
