"""When has the table come to rest?  Counted on the frames' own clock, which never goes back
(`Frame.at_ms`).
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np
from scipy.optimize import linear_sum_assignment

from table.motion import STILL_MM
from table.observation import Observation, SeenCounter, SeenDie, SeenPiece
from table.solids import Array

HOLD_MS = 500
EARLY = 0.04
"""A camera's pictures come now and then too early by about this share of the hold; nobody waits for
another one because of that.
"""
STILL_DEG = 3.0
DOUBT = 3.0
"""Readings may differ by this many standard deviations of their difference and still be the same
place.
"""

HAND_STILL_MS = 4000
"""What looks like a hand and has not moved for so long may be something of the table."""

_TINY_MM2 = 1e-9 * np.eye(2)
Thing = TypeVar("Thing")


def agree(a: Observation, b: Observation) -> bool:
    """Do two observations show the same pieces in the same places, within 1 mm and 3 degrees or
    what their covariances doubt?

    Pieces are the same when colour, size, pose and what they stand on are; those off the board are
    nobody's throw and may move.  Counters and dice are compared like pieces, and tiles by their
    places.
    """
    return _agree(a, b, _same_place)


def _agree(
    a: Observation, b: Observation, same_place: Callable[[SeenPiece, SeenPiece], bool]
) -> bool:
    if read_once(a, b):
        return True
    if a.tiles != b.tiles:
        return False
    ours, theirs = _by_kind(a), _by_kind(b)
    if {kind: len(pieces) for kind, pieces in ours.items()} != {
        kind: len(pieces) for kind, pieces in theirs.items()
    }:
        return False
    if len(a.counters) != len(b.counters) or not _pair_up(a.counters, b.counters, _same_counter):
        return False
    dice, others = a.dice or (), b.dice or ()
    if len(dice) != len(others) or not _pair_up(dice, others, _same_middle):
        return False
    return all(_pair_up(ours[kind], theirs[kind], same_place) for kind in ours)


def unchanged(judged: Observation, settled: Observation) -> bool:
    """Is it the same table, with as many pieces of each colour beside it?  A throw may end there.

    A piece that was in doubt when it was judged, and is read well elsewhere within that doubt, is
    news.
    """
    outside, was_outside = (
        Counter(piece.colour for piece in table.off_board) for table in (settled, judged)
    )
    return _agree(judged, settled, _still_there) and outside == was_outside


def read_once(a: Observation, b: Observation) -> bool:
    """Is it one reading, told again because the picture has not changed?  Nobody judges that ten
    times a second.
    """
    return all(
        getattr(a, what) is getattr(b, what)
        for what in ("pieces", "off_board", "counters", "unread_mm", "tiles", "dice")
    )


class Settle:
    """Feed it every frame in order; it answers with an observation when nothing has moved for
    `hold_ms`.

    Every frame of the hold is compared with its first, so that a slow creep is a movement too.
    """

    def __init__(self, hold_ms: int = HOLD_MS) -> None:
        self.hold_ms = hold_ms
        self._first: Observation | None = None
        self._since_ms = 0
        self._last_ms = 0
        self._calm_ms = 0
        self._hand: Observation | None = None

    @property
    def restless_ms(self) -> int:
        """For how long, with nothing in the way, the table has not been at rest."""
        return self._last_ms - self._calm_ms

    def push(self, seen: Observation) -> Observation | None:
        """`seen` if the table has been at rest for `hold_ms` up to it, otherwise None.

        A hand over the board, a picture that changes, a piece that moved, came or went, and a clock
        that goes back all begin a new hold.
        """
        if seen.hand or seen.moving:
            self.disturb()
            return None
        begins = self._first is None or seen.at_ms < self._last_ms
        if self._first is None or begins or not agree(self._first, seen):
            self._first, self._since_ms = seen, seen.at_ms - seen.still_ms
            self._calm_ms = seen.at_ms if begins else self._calm_ms
        self._last_ms = seen.at_ms
        if seen.at_ms - self._since_ms < (1 - EARLY) * self.hold_ms:
            return None
        self._calm_ms = seen.at_ms
        return seen

    def lies_still(self, seen: Observation) -> bool:
        """Has what looks like a hand over the board not moved for HAND_STILL_MS?  Ask it of every
        frame.

        Nothing has moved where the eyes tell one reading again, because the picture has not
        changed.
        """
        still = (
            self._hand is not None
            and self._hand.pieces is seen.pieces
            and self._hand.at_ms <= seen.at_ms
        )
        if not seen.hand or seen.moving:
            self._hand = None
        elif not still:
            self._hand = seen
        return self._hand is not None and seen.at_ms - self._hand.at_ms >= HAND_STILL_MS

    def disturb(self) -> None:
        """Something is in the way or cannot be seen: the hold begins again."""
        self._first = None


def _by_kind(seen: Observation) -> dict[tuple[str, ...], list[SeenPiece]]:
    kinds: dict[tuple[str, ...], list[SeenPiece]] = defaultdict(list)
    for piece in seen.pieces:
        below = "" if piece.on is None else str(seen.pieces[piece.on].colour)
        kinds[piece.colour, piece.size, piece.pose, below].append(piece)
    return kinds


def _pair_up(
    ours: Sequence[Thing], theirs: Sequence[Thing], same: Callable[[Thing, Thing], bool]
) -> bool:
    """Can every one be given one of the other list, as long, that is in the same place?"""
    apart = np.array([[not same(a, b) for b in theirs] for a in ours], float).reshape(
        len(ours), len(theirs)
    )
    rows, columns = linear_sum_assignment(apart)
    return not apart[rows, columns].any()


def _same_place(a: SeenPiece, b: SeenPiece) -> bool:
    return _within(a, b, a.covariance + b.covariance)


def _still_there(was: SeenPiece, now: SeenPiece) -> bool:
    """Is a piece where it was, for all that is known now?"""
    doubt = min(was.covariance, now.covariance, key=np.trace)
    return _within(was, now, now.covariance + doubt)


def _within(a: SeenPiece, b: SeenPiece, doubt: Array) -> bool:
    away = b.away_from(a)
    step, turn_deg = away[:2], away[2]
    doubted = float(step @ np.linalg.solve(doubt[:2, :2] + _TINY_MM2, step)) <= DOUBT**2
    still = doubted or float(step @ step) <= STILL_MM**2
    return still and abs(turn_deg) <= max(STILL_DEG, DOUBT * float(np.sqrt(doubt[2, 2])))


def _same_counter(a: SeenCounter, b: SeenCounter) -> bool:
    return a.colour == b.colour and _same_middle(a, b)


def _same_middle(a: SeenCounter | SeenDie, b: SeenCounter | SeenDie) -> bool:
    return math.hypot(a.x_mm - b.x_mm, a.y_mm - b.y_mm) <= max(
        STILL_MM, DOUBT * math.hypot(a.sigma_mm, b.sigma_mm)
    )
