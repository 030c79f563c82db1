"""Compare a settled table with the state: what is new or gone, and what is known of the order."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, replace

import numpy as np

from engines.ice_boule.changes import NEVER_MM, Changes, compare
from engines.ice_boule.layout import Lie
from engines.ice_boule.measure import Z95, Gap, Measurement, measure, measurement_document
from engines.ice_boule.ranking import Ranking, rank_measurement
from engines.ice_boule.stack import hold
from engines.ice_boule.state import State
from engines.verdict import CannotSee
from table.assignment import least_cost_pairs
from table.json_data import Evidence, JsonValue
from table.motion import CARRIED_MM, STILL_MM, moved
from table.observation import SURE, Observation, SeenPiece

GUESSED_MM = 20.0
"""Standard deviation in mm above which the place of the target counts as guessed."""


HARDLY_LEANS = 0.5
"""Upper limit of the pose probability of a piece that leans unmoved on a target that has moved."""


@dataclass(frozen=True, slots=True, eq=False)
class TableMatch:
    """The table compared with the state while an end runs.

    `gained` and `lost` are the colours of pieces in play more and fewer than the state has, each
    listed once a piece. `changes` is None where the table before is not known.
    """

    state: State
    seen: Observation
    before: Observation | None
    changes: Changes | None
    measured: Measurement
    ranking: Ranking
    gained: tuple[str, ...]
    lost: tuple[str, ...]

    @property
    def moved(self) -> frozenset[int]:
        """Pieces (indexes of what is seen) that were in play before and lie elsewhere now."""
        return self.changes.moved if self.changes else frozenset()

    @property
    def player(self) -> str:
        """Player who throws next; there is one while an end runs."""
        assert self.state.next is not None
        return self.state.next

    @property
    def target_moved(self) -> bool:
        """True if the target was knocked over or pushed."""
        return self.changes is not None and _target_moved(
            self.seen, self.changes, self.measured.target
        )

    def new_places(self, colour: str) -> list[int]:
        """Places in the ranking's ids of a colour's pieces that were not in play before.

        Identified by their earlier positions or, if these are unknown, by their distances.
        """
        own = [k for k, gap in enumerate(self.measured.gaps) if gap.piece.colour == colour]
        if self.changes:
            return [k for k in own if self.measured.gaps[k].index in self.changes.appeared]
        known = self._by_distance(colour)
        return [k for k in own if k not in known]

    @property
    def surely_moved(self) -> frozenset[int]:
        """Indexes of seen pieces that surely lie elsewhere.

        Without earlier positions: that surely have another distance. A distance that was never
        measured, as the target was unseen, is not compared.
        """
        if self.changes:
            return self.changes.carried
        gaps = self.measured.gaps
        known = {
            k: lie for player in self.state.players for k, lie in self._by_distance(player).items()
        }
        measured = {k: lie for k, lie in known.items() if lie.measured}
        return frozenset(
            gaps[k].index
            for k, lie in measured.items()
            if abs(gaps[k].mm - lie.gap_mm) > max(CARRIED_MM, 3 * gaps[k].sigma_mm)
        )

    def _by_distance(self, colour: str) -> dict[int, Lie]:
        """Pieces of a colour (places in the ranking's ids), paired by distance with the record."""
        gaps, were = self.measured.gaps, self.state.layout.of(colour)
        own = [k for k, gap in enumerate(gaps) if gap.piece.colour == colour]
        other = {k for k in own if _has_wrong_size(gaps[k].piece, self.state)}
        apart = np.array(
            [
                [NEVER_MM if k in other else abs(gaps[k].mm - lie.gap_mm) for lie in were]
                for k in own
            ]
        ).reshape(len(own), len(were))
        return {
            own[row]: were[column] for row, column in zip(*least_cost_pairs(apart), strict=True)
        }

    def evidence(self, thrown: int | None = None) -> Evidence:
        """The evidence of a verdict as plain data: gaps, call, new and moved pieces."""
        measured = measurement_document(self.measured)
        evidence: dict[str, JsonValue] = {"gaps": measured["gaps"], "call": measured["call"]}
        if thrown is not None:
            gap = self.measured.gaps[thrown]
            evidence |= {
                "thrown": thrown,
                "gap_mm": round(gap.mm, 3),
                "sigma_mm": round(gap.sigma_mm, 3),
            }
        return evidence | {"moved": sorted(self.moved)}


def match_table(
    state: State, seen: Observation, before: Observation | None
) -> TableMatch | CannotSee:
    """Measure the table and compare it with the state.

    CannotSee if the target cannot be identified.
    """
    target = state.target or ""
    known = before if before and _agrees(state, before) else None
    seen = _recall_colours(known, seen) if known else seen
    changes = compare(known, seen) if known else None
    gained, lost = _count(state, seen)
    if changes:
        gained, lost = _exchanged(state, seen, changes, gained, lost)
    seen = _settle_colours(state, seen, changes, gained, lost)
    if known and changes:
        seen = _with_doubtful_leaning(state, _with_rulings(state, seen, known, changes), changes)
    measured = measure(seen, target, state.ruling("on_target") == "lowest")
    if isinstance(measured, CannotSee):
        return measured
    kept = _recalled_pieces(state, known, changes, measured, seen) if known and changes else {}
    ranking = rank_measurement(
        measured, kept, state.layout, measured.target.place_sigma_mm > GUESSED_MM
    )
    return TableMatch(state, seen, known, changes, measured, ranking, gained, lost)


def _count(state: State, seen: Observation) -> tuple[tuple[str, ...], tuple[str, ...]]:
    now = Counter(piece.colour for piece in seen.pieces if piece.colour in state.players)
    then = Counter(lie.colour for lie in state.layout.lies)
    return tuple((now - then).elements()), tuple((then - now).elements())


def _exchanged(
    state: State,
    seen: Observation,
    changes: Changes,
    gained: tuple[str, ...],
    lost: tuple[str, ...],
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return `gained` and `lost` with the colours of pieces replaced by one of another size."""
    came = Counter(seen.pieces[index].colour for index in changes.appeared)
    players = {player: came[player] for player in state.players}
    both = tuple((Counter(players) - Counter(gained)).elements())
    return (*gained, *both), (*lost, *both)


def _has_wrong_size(piece: SeenPiece, state: State) -> bool:
    """True if a piece is surely of another size than its player throws in this end."""
    size = state.size(piece.colour)
    return (
        size is not None
        and piece.on is None
        and piece.size_probability >= SURE
        and piece.size != size
    )


def _agrees(state: State, before: Observation) -> bool:
    """True if an earlier table shows the pieces that the state has."""
    return (
        _count(state, before) == ((), ())
        and sum(piece.colour == state.target for piece in before.pieces) == 1
    )


def _recall_colours(before: Observation, seen: Observation) -> Observation:
    """Give a piece of unsure colour the colour of the ruled piece at the same place."""

    def recall(piece: SeenPiece) -> SeenPiece:
        were = [was for was in before.pieces if was.size == piece.size and not moved(was, piece)]
        if len(were) > 1:  # a stack: its pieces share their place
            were = [was for was in were if abs(_low_mm(was) - _low_mm(piece)) <= STILL_MM]
        return (
            replace(piece, colour=were[0].colour)
            if piece.colour_probability < SURE and len(were) == 1
            else piece
        )

    return replace(seen, pieces=tuple(map(recall, seen.pieces)))


def _low_mm(piece: SeenPiece) -> float:
    """Height of its lowest point."""
    return float(piece.solid.vertices_mm[:, 2].min())


def _settle_colours(
    state: State,
    seen: Observation,
    changes: Changes | None,
    gained: tuple[str, ...],
    lost: tuple[str, ...],
) -> Observation:
    """Take unsure colours as read if they leave no choice.

    An unmoved piece was ruled on before. Suppose all other unsure pieces are read as one colour,
    and the numbers of pieces fit a legal throw. Then another colour would not fit. With several
    colours two may be confused, and they stay unsure.
    """
    still = set(changes.still) if changes else set()
    unsure = {
        index for index, piece in enumerate(seen.pieces) if piece.colour_probability < SURE
    } - still
    named = Counter(piece.colour for piece in seen.pieces)
    fits = (
        not lost
        and gained in ((), (state.next,))
        and set(named) <= {*state.players, state.target}
        and named[state.target or ""] == 1
    )
    if len({seen.pieces[index].colour for index in unsure}) < 2 and fits:
        unsure = set()
    pieces = tuple(
        piece if index in unsure else replace(piece, colour_probability=1.0)
        for index, piece in enumerate(seen.pieces)
    )
    return replace(seen, pieces=pieces)


def _with_rulings(
    state: State, seen: Observation, before: Observation, changes: Changes
) -> Observation:
    """Apply earlier decisions to pieces that have not moved.

    They are whether such a piece stands on the target, the pose of the target, and what was
    unreadable already.
    """
    on_target = {lie.colour for lie in state.layout.lies if lie.on_target}
    pieces = list(seen.pieces)
    for index in changes.still:
        piece = pieces[index]
        if piece.colour == state.target:
            pieces[index] = replace(piece, pose_probability=1.0)
        lower = None if piece.on is None else seen.pieces[piece.on]
        if (
            lower is not None
            and lower.colour == state.target
            and hold(seen.pieces, index, lower, False) == "stands"
        ):
            pieces[index] = (
                replace(piece, pose_probability=1.0)
                if piece.colour in on_target
                else replace(piece, on=None)
            )
    unread = tuple(
        place
        for place in seen.unread_mm
        if all(np.hypot(*np.subtract(place, was)) > CARRIED_MM for was in before.unread_mm)
    )
    return replace(seen, pieces=tuple(pieces), unread_mm=unread)


def _with_doubtful_leaning(state: State, seen: Observation, changes: Changes) -> Observation:
    """Add doubt about pieces that lean unmoved where the target has moved.

    A piece that leaned on it would have fallen: it is likely to lie, and to touch nothing.
    """
    target = next((piece for piece in seen.pieces if piece.colour == state.target), None)
    if target is None or not _target_moved(seen, changes, target):
        return seen
    return replace(
        seen,
        pieces=tuple(
            replace(piece, pose_probability=min(piece.pose_probability, HARDLY_LEANS))
            if piece.pose == "leaning" and k in changes.same and k not in changes.carried
            else piece
            for k, piece in enumerate(seen.pieces)
        ),
    )


def _recalled_pieces(
    state: State, before: Observation, changes: Changes, measured: Measurement, seen: Observation
) -> dict[int, int]:
    """Unmoved pieces around an unmoved target: index in the gaps -> index in the layout.

    A nudge may be too small to be seen, and yet change the gap by more than the noise of a picture.
    Several nudges add up, so the gap is also compared with the recorded one. Pieces of a colour at
    about the same distance cannot be told apart in the layout: they are kept together or not at
    all.
    """
    earlier = measure(before, measured.target.colour, state.ruling("on_target") == "lowest")
    if (
        isinstance(earlier, CannotSee)
        or measured.target.place_sigma_mm < GUESSED_MM < earlier.target.place_sigma_mm
    ):
        return {}
    if _target_moved(seen, changes, measured.target):
        return {}
    places = {
        gap.index: place
        for colour in state.players
        for gap, place in zip(
            (gap for gap in earlier.gaps if gap.piece.colour == colour),
            (place for place, lie in enumerate(state.layout.lies) if lie.colour == colour),
            strict=True,
        )
    }
    then, were = changes.still, {gap.index: gap for gap in earlier.gaps}
    still = {
        k: places[then[gap.index]]
        for k, gap in enumerate(measured.gaps)
        if then.get(gap.index) in places
        and abs(gap.mm - were[then[gap.index]].mm) <= max(STILL_MM, gap.sigma_mm)
    }
    still = {
        k: place
        for k, place in still.items()
        if _agrees_with_record(measured.gaps[k], state.layout.lies[place])
    }
    kept = {then[measured.gaps[k].index] for k in still}
    lost = {index for alike in _alike(earlier) if not kept.issuperset(alike) for index in alike}
    return {k: place for k, place in still.items() if then[measured.gaps[k].index] not in lost}


def _agrees_with_record(gap: Gap, lie: Lie) -> bool:
    """True if a gap still agrees with the recorded one.

    People may have changed the recorded one, by as much as two gaps that are too close to call
    differ.
    """
    crept_mm = abs(gap.mm - lie.gap_mm) - math.sqrt(2) * Z95 * gap.sigma_mm
    return gap.on_target == lie.on_target and (not lie.measured or crept_mm <= STILL_MM)


def _target_moved(seen: Observation, changes: Changes, target: SeenPiece) -> bool:
    return any(seen.pieces[index] is target for index in (*changes.moved, *changes.appeared))


def _alike(measured: Measurement) -> list[set[int]]:
    """Groups of pieces (indexes of what was seen) of a colour at indistinguishable distances."""
    groups: list[set[int]] = []
    for colour in {gap.piece.colour for gap in measured.gaps}:
        last = None
        for k, gap in enumerate(measured.gaps):
            if gap.piece.colour == colour:
                if last is None or measured.nearer(last, k):
                    groups.append(set())
                groups[-1].add(gap.index)
                last = k
    return groups
