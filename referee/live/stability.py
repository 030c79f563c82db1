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
"""Frames may come too early by this share of the hold; another one is not waited for."""
STILL_DEG = 3.0
"""A heading that differs by less is the same."""
DOUBT = 3.0
"""Readings may differ by this many standard deviations of their difference and still be the same
place.
"""
SAME_UNREAD_MM = 25.0
"""What cannot be read is found again within this distance; its middle moves as more of it shows."""
HAND_STILL_MS = 4000
"""What looks like a hand and has not moved for this long may be part of the table."""
RESTLESS_MS = 4000
"""Pieces that have not come to rest after this time will not: people are told, so that no game
waits without a word.
"""

_TINY_MM2 = 1e-9 * np.eye(2)
Thing = TypeVar("Thing")


@dataclass(frozen=True, slots=True)
class Stability:
    """What a frame says of the table's rest.

    `settled` is the observation if the table has been at rest for the hold up to it. `hand`: a hand
    is over the board, and is not still; `still_hand`: it has been still for `HAND_STILL_MS`.
    `restless`: no rest for `RESTLESS_MS`, though nothing is in the way.
    """

    settled: Observation | None = None
    hand: bool = False
    still_hand: bool = False
    moving: bool = False
    restless: bool = False


class StabilityMonitor:
    """Detects rest, given every frame's reading in order; remembers the tables that were judged.

    Every frame of a hold is compared with its first, so that slow drift counts as movement too.
    """

    def __init__(self, hold_ms: int = HOLD_MS) -> None:
        self.hold_ms = hold_ms
        self.judged: Observation | None = None
        """The table of the last verdict; None: whatever comes to rest next is judged afresh."""
        self.not_judged: Observation | None = None
        """The newest table at rest if the judge said that it cannot be judged (`CannotSee`)."""
        self._first: Observation | None = None
        """The first frame of the hold; None where something was in the way."""
        self._since_ms = 0
        self._last_ms = 0
        self._rest_ms = 0
        """When the table was last at rest, or the view last became clear."""
        self._hand: Observation | None = None
        """The first frame in which the hand lay as it does now."""
        self._left_alone_ms: int | None = None

    @property
    def restless_ms(self) -> int:
        """For how long, with nothing in the way, the table has not been at rest."""
        return self._last_ms - self._rest_ms

    def update(self, seen: Observation | Unusable) -> Stability:
        """The next frame.

        A hand over the board, a picture that changes, a piece that moved, came or went, a frame
        that cannot be read and a clock that goes back all begin a new hold.  A hand that lies still
        is no hand: `settled` has none then.
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
        """Something is in the way, or nothing is seen: a new hold begins."""
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
        """Count anew: somebody is at the table, it has changed, or a verdict has settled it."""
        self._left_alone_ms = None

    def left_alone_ms(self, at_ms: int) -> int:
        """Time that the table was left alone; 0 at the first call after `restart_rest_timer`."""
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
        """True if what looks like a hand has not moved for `HAND_STILL_MS`.

        It has not moved while the change gate repeats the same reading.
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

    Places are the same within 1 mm and 3 degrees, or 3 standard deviations. Pieces are the same
    when colour, size, pose and what they stand on are; those off the board are not compared.
    Counters and dice are compared like pieces, and tiles by their places.
    """
    return _have_same_pieces(a, b, _same_place)


def may_be_same_table(a: Observation, b: Observation, *, both_doubtful: bool = False) -> bool:
    """True if two observations differ at most in how pieces of doubtful pose are read.

    Such pieces have the same colour, and their middles are as near as those of one piece. It is
    enough if one reading is doubtful, unless `both_doubtful`. Without that, a piece that is read in
    doubt may also be what the other observation could not read at its place.
    """
    if is_same_reading(a, b):
        return True
    if both_doubtful:
        return same_positions(a, _with_doubtful_poses_of(a, b, max))
    a, b = _without_doubtful_unread(a, b), _without_doubtful_unread(b, a)
    return same_positions(a, _with_doubtful_poses_of(a, b, min))


def is_judged_table(judged: Observation, settled: Observation) -> bool:
    """True for the same table, with as many pieces of each colour beside it.

    A throw may end beside the table. A piece that was in doubt when it was judged, and is read well
    elsewhere within that doubt, is a change. So is something that cannot be read, where nothing
    unread was: it may be the piece that was thrown.
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
    """`b` with its pieces of doubtful pose as `a` reads them."""
    ours, theirs = list(a.pieces), list(b.pieces)
    for k, piece in enumerate(theirs):
        was = next((one for one in ours if _one_in_doubt(one, piece, of_two)), None)
        if was is not None:
            ours.remove(was)
            theirs[k] = was
    return replace(b, pieces=tuple(theirs))


def _without_doubtful_unread(seen: Observation, other: Observation) -> Observation:
    """`seen` without pieces of doubtful pose where the other observation has something unread.

    It stays as it is if a piece stands on another: such pieces are named by their index.
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
    """True if these may be one piece in one place, whose pose is doubtful in one reading or both.

    `of_two` is `min` or `max`.
    """
    return (
        of_two(a.pose_probability, b.pose_probability) < SURE
        and a.colour == b.colour
        and a.on is b.on is None
        and is_at_earlier_place(a, b)
    )


def _is_at_same_place(was: SeenPiece, now: SeenPiece) -> bool:
    """Same place by the better of the two covariances, counted for both readings."""
    better = min(was.covariance, now.covariance, key=np.trace)
    return _is_within(was, now, now.covariance + better)


def _is_within(a: SeenPiece, b: SeenPiece, covariance: Array) -> bool:
    away = b.away_from(a)
    step, turn_deg = away[:2], away[2]
    distance2 = float(step @ np.linalg.solve(covariance[:2, :2] + _TINY_MM2, step))
    still = distance2 <= DOUBT**2 or float(step @ step) <= STILL_MM**2
    return still and abs(turn_deg) <= max(STILL_DEG, DOUBT * float(np.sqrt(covariance[2, 2])))


def _was_everything_unread(seen: Observation, before: Observation) -> bool:
    """True if all that cannot be read could not be read before, either."""
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
