"""Determine whether the table is at rest, since when, and whether it was judged already.

Times are those of the frames' own clock (`Frame.at_ms`), which never goes back.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from table.assignment import least_cost_pairs
from table.motion import STILL_MM, is_at_earlier_place
from table.observation import SURE, Observation, SeenCounter, SeenDie, SeenPiece, Unusable
from table.solids import Array

HOLD_MS = 500
"""A table is at rest once nothing has moved for this long."""
EARLY = 0.04
"""Share of the hold by which frames may come too early, so that no further frame is awaited."""
STILL_DEG = 3.0
"""Headings that differ by less are the same."""
DOUBT = 3.0
"""Number of standard deviations of their difference within which two readings are the same
place.
"""
SAME_UNREAD_MM = 25.0
"""Largest distance between two readings of one unreadable place; its middle moves as more of it
shows.
"""
HAND_STILL_MS = 4000
"""Time without movement after which something like a hand may be part of the table."""
RESTLESS_MS = 4000
"""Time after which pieces that have not come to rest are reported, so that no game waits
silently.
"""

_TINY_MM2 = 1e-9 * np.eye(2)
Thing = TypeVar("Thing")


@dataclass(frozen=True, slots=True)
class Stability:
    """State of rest of the table at a frame.

    `settled` is the observation, if the table has been at rest for the hold. `hand`: a moving hand
    is over the board; `still_hand`: it has been still for `HAND_STILL_MS`. `restless`: no rest for
    `RESTLESS_MS`, with a clear view.
    """

    settled: Observation | None = None
    hand: bool = False
    still_hand: bool = False
    moving: bool = False
    restless: bool = False


class StabilityMonitor:
    """Detects rest from the readings of all frames in order; stores the judged tables.

    Every frame of a hold is compared with its first, so that slow drift counts as movement.
    """

    def __init__(self, hold_ms: int = HOLD_MS) -> None:
        self.hold_ms = hold_ms
        self.judged: Observation | None = None
        """Table of the last verdict; None: the next table at rest is judged as new."""
        self.not_judged: Observation | None = None
        """Newest table at rest for which the judge returned `CannotSee`."""
        self._first: Observation | None = None
        """First frame of the hold; None while the view is obstructed."""
        self._since_ms = 0
        self._last_ms = 0
        self._rest_ms = 0
        """Time at which the table was last at rest, or the view last became clear."""
        self._hand: Observation | None = None
        """First frame in which the hand lay as it does now."""
        self._left_alone_ms: int | None = None

    @property
    def restless_ms(self) -> int:
        """Time with a clear view since the table was last at rest."""
        return self._last_ms - self._rest_ms

    def update(self, seen: Observation | Unusable) -> Stability:
        """Take the next frame.

        A moving hand over the board or a changing picture begins a new hold. So does a piece that
        moved, came or went, an unreadable frame, or a clock that goes back. A hand that is still
        counts as none: `settled` then has `hand` False.
        """
        if isinstance(seen, Unusable):
            self.interrupt()
            return Stability()
        still_hand = self._is_hand_still(seen)
        if still_hand:
            seen = replace(seen, hand=False)
        return Stability(
            settled=self._settled_observation(seen),
            hand=seen.hand,
            still_hand=still_hand,
            moving=seen.moving,
            restless=self.restless_ms >= RESTLESS_MS,
        )

    def interrupt(self) -> None:
        """Begin a new hold, as the view is obstructed or nothing was read."""
        self._first = None

    def is_unchanged(self, settled: Observation) -> bool:
        """True if this is the table that was judged last."""
        return self.judged is not None and is_judged_table(self.judged, settled)

    def is_known(self, settled: Observation) -> bool:
        """True if this is the table that was judged last, or the one that could not be judged."""
        return any(
            known is not None and is_judged_table(known, settled)
            for known in (self.judged, self.not_judged)
        )

    def is_unjudged_reading(self, settled: Observation) -> bool:
        """True if this is the same reading of the table that could not be judged."""
        return self.not_judged is not None and is_same_reading(self.not_judged, settled)

    def restart_rest_timer(self) -> None:
        """Restart the timer: somebody is at the table, it changed, or a verdict settled it."""
        self._left_alone_ms = None

    def left_alone_ms(self, at_ms: int) -> int:
        """Time in ms since the first call after `restart_rest_timer`; 0 at that call."""
        if self._left_alone_ms is None:
            self._left_alone_ms = at_ms
        return at_ms - self._left_alone_ms

    def _settled_observation(self, seen: Observation) -> Observation | None:
        if seen.hand or seen.moving:
            self.interrupt()
            return None
        clear = self._first is None or seen.at_ms < self._last_ms
        if (
            self._first is None
            or clear
            or not same_positions(self._first, seen)
            or not _was_everything_unread(seen, self._first)
        ):
            self._first, self._since_ms = seen, seen.at_ms - seen.still_ms
            self._rest_ms = seen.at_ms if clear else self._rest_ms
        self._last_ms = seen.at_ms
        if seen.at_ms - self._since_ms < (1 - EARLY) * self.hold_ms:
            return None
        self._rest_ms = seen.at_ms
        return seen

    def _is_hand_still(self, seen: Observation) -> bool:
        """True if something like a hand has not moved for `HAND_STILL_MS`.

        It has not moved while the change gate repeats one reading.
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


def same_positions(a: Observation, b: Observation) -> bool:
    """True if two observations show the same pieces in the same places.

    Places are the same within 1 mm and 3 degrees, or within 3 standard deviations. Pieces are the
    same if colour, size, pose and the piece below agree. Pieces off the board are ignored. Counters
    and dice are compared by place, tiles by the places that have one.
    """
    return _have_same_pieces(a, b, _same_place)


def may_be_same_table(a: Observation, b: Observation, *, both_doubtful: bool = False) -> bool:
    """True if two observations differ at most in the readings of pieces of doubtful pose.

    The two readings have the same colour and place. One of them has to be doubtful, or both with
    `both_doubtful`. Without it, a doubtful piece may also match an unreadable place of the other
    observation.
    """
    if is_same_reading(a, b):
        return True
    if both_doubtful:
        return same_positions(a, _with_doubtful_poses_of(a, b, max))
    a, b = _without_doubtful_unread(a, b), _without_doubtful_unread(b, a)
    return same_positions(a, _with_doubtful_poses_of(a, b, min))


def is_judged_table(judged: Observation, settled: Observation) -> bool:
    """True for the same table, with the same colours off the board, as a throw may end there.

    A piece that was doubtful when judged and is now read well elsewhere within that doubt is a
    change. So is a new unreadable place, which may be the thrown piece.
    """
    outside, was_outside = (
        Counter(piece.colour for piece in table.off_board) for table in (settled, judged)
    )
    return (
        _have_same_pieces(judged, settled, _is_at_same_place)
        and outside == was_outside
        and _was_everything_unread(settled, judged)
    )


def is_same_reading(a: Observation, b: Observation) -> bool:
    """True if both share the same arrays: the change gate repeated an earlier reading.

    Lets the loop skip comparisons.
    """
    return all(
        getattr(a, what) is getattr(b, what)
        for what in ("pieces", "off_board", "counters", "unread_mm", "tiles", "dice")
    )


def _have_same_pieces(
    a: Observation, b: Observation, same_place: Callable[[SeenPiece, SeenPiece], bool]
) -> bool:
    if is_same_reading(a, b):
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
    if len(dice) != len(others) or not _pair_up(dice, others, _same_centre):
        return False
    return all(_pair_up(ours[kind], theirs[kind], same_place) for kind in ours)


def _with_doubtful_poses_of(
    a: Observation, b: Observation, of_two: Callable[[float, float], float]
) -> Observation:
    """Return `b` with the readings of `a` for its pieces of doubtful pose."""
    ours, theirs = list(a.pieces), list(b.pieces)
    for k, piece in enumerate(theirs):
        was = next((one for one in ours if _one_in_doubt(one, piece, of_two)), None)
        if was is not None:
            ours.remove(was)
            theirs[k] = was
    return replace(b, pieces=tuple(theirs))


def _without_doubtful_unread(seen: Observation, other: Observation) -> Observation:
    """Return `seen` without pieces of doubtful pose at unreadable places of `other`.

    Unchanged if a piece stands on another: such pieces are referenced by index.
    """
    if any(piece.on is not None for piece in seen.pieces):
        return seen
    return replace(
        seen,
        pieces=tuple(
            piece
            for piece in seen.pieces
            if piece.pose_probability >= SURE
            or all(np.hypot(*(at - piece.base_mm)) > SAME_UNREAD_MM for at in other.unread_mm)
        ),
    )


def _by_kind(seen: Observation) -> dict[tuple[str, ...], list[SeenPiece]]:
    kinds: dict[tuple[str, ...], list[SeenPiece]] = defaultdict(list)
    for piece in seen.pieces:
        below = "" if piece.on is None else str(seen.pieces[piece.on].colour)
        kinds[piece.colour, piece.size, piece.pose, below].append(piece)
    return kinds


def _pair_up(
    ours: Sequence[Thing], theirs: Sequence[Thing], same: Callable[[Thing, Thing], bool]
) -> bool:
    """True if two lists of one length can be matched one to one, each pair in the same place."""
    apart = np.array([[not same(a, b) for b in theirs] for a in ours], float).reshape(
        len(ours), len(theirs)
    )
    rows, columns = least_cost_pairs(apart)
    return not apart[rows, columns].any()


def _same_place(a: SeenPiece, b: SeenPiece) -> bool:
    return _is_within(a, b, a.covariance + b.covariance)


def _one_in_doubt(a: SeenPiece, b: SeenPiece, of_two: Callable[[float, float], float]) -> bool:
    """True if these may be readings of one piece at one place, with a doubtful pose.

    `of_two` is `min` if one doubtful reading is enough, `max` if both have to be.
    """
    return (
        of_two(a.pose_probability, b.pose_probability) < SURE
        and a.colour == b.colour
        and a.on is b.on is None
        and is_at_earlier_place(a, b)
    )


def _is_at_same_place(was: SeenPiece, now: SeenPiece) -> bool:
    """True for the same place, by the better of the two covariances for both readings."""
    better = min(was.covariance, now.covariance, key=np.trace)
    return _is_within(was, now, now.covariance + better)


def _is_within(a: SeenPiece, b: SeenPiece, covariance: Array) -> bool:
    away = b.away_from(a)
    step, turn_deg = away[:2], away[2]
    distance2 = float(step @ np.linalg.solve(covariance[:2, :2] + _TINY_MM2, step))
    still = distance2 <= DOUBT**2 or float(step @ step) <= STILL_MM**2
    return still and abs(turn_deg) <= max(STILL_DEG, DOUBT * float(np.sqrt(covariance[2, 2])))


def _was_everything_unread(seen: Observation, before: Observation) -> bool:
    """True if every unreadable place was unreadable before."""
    return all(
        any(np.hypot(*(place_mm - was)) <= SAME_UNREAD_MM for was in before.unread_mm)
        for place_mm in seen.unread_mm
    )


def _same_counter(a: SeenCounter, b: SeenCounter) -> bool:
    return a.colour == b.colour and _same_centre(a, b)


def _same_centre(a: SeenCounter | SeenDie, b: SeenCounter | SeenDie) -> bool:
    return math.hypot(a.x_mm - b.x_mm, a.y_mm - b.y_mm) <= max(
        STILL_MM, DOUBT * math.hypot(a.sigma_mm, b.sigma_mm)
    )
