"""Compare a settled table with the state: identify pieces, and find new and missing ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import numpy as np

from engines.ice_storm.place import Piece, Place, readings
from engines.ice_storm.state import State
from engines.ice_storm.touches import Touches, touches
from table.assignment import least_cost_pairs
from table.boards import Chessboard
from table.clearance import clearance
from table.messages import msg
from table.motion import (
    CARRIED_MM,
    are_surely_different,
    is_at_earlier_place,
    middles_mm,
    moved,
    sizes_differ,
    travel_mm,
)
from table.observation import SURE, Observation, SeenPiece
from table.solids import Array, Solid

REPLACED_SQUARES = 1.5
"""Cost, in squares of travel, of the explanation that a piece left the board and another one of its
colour came.

It applies only to the colour that throws next, and to colours with a piece newly beside the board.
A knock may carry a piece any distance (ruling ice_storm.8).
"""
HIDDEN_SQUARES = 0.5
"""The same cost if something unread lies in the piece's place."""
GHOST_MM = 1.75
"""Standard deviation in mm from which a doubtful piece counts as unread."""
NAMED = 0.95
"""Probability at which a piece's named readings count as complete."""
HIDDEN_MM = 15.0
"""Largest distance in mm between an unread thing and the piece that it may be; that piece was not
knocked.
"""
SURE_OVERLAP, DOUBTFUL_OVERLAP = 0.8, 0.95
"""Scales at which two solids that share space are surely, or perhaps, not both read correctly."""
_NEVER_MM = 1e6
_SURE_FIT, _RIVAL_FIT = 0.01, 0.9
"""Bonus of a sure reading in a fit, and the fit of an alternative reading: they only break ties
between equal numbers of fits.
"""


@dataclass(frozen=True, eq=False)
class TableMatch:
    """The table `now` compared with the state.

    `before` gives the earlier places of pieces, as far as it agrees with the state.
    """

    state: State
    now: Observation
    before: Observation | None
    board: Chessboard
    assumed_new: SeenPiece | None = None
    """A piece assumed to be the thrown one, and so none of the state's."""
    nobody_threw: bool = False
    """True if no piece is assumed to be thrown, so that all on the board are the state's."""

    @property
    def first(self) -> bool:
        """True if the next throw is the first of a round, on an empty board."""
        return self.state.round_over or not (self.state.pieces or self.state.throws_in_play)

    @property
    def pieces(self) -> tuple[Piece, ...]:
        """Recorded pieces on the board; none once a round is over."""
        return () if self.state.round_over else self.state.pieces

    def touches(self, piece: SeenPiece) -> Touches:
        """Squares that a piece touches, by the house rule in force."""
        return _touches(piece, self.board, dict(self.state.rulings)["touching"])

    @cached_property
    def observed_pieces(self) -> tuple[SeenPiece, ...]:
        """Pieces seen, with earlier decisions on their colours.

        A piece exactly at the place of a ruled one is that piece, if its colour is unsure or people
        have decided it.
        """

        def recall(piece: SeenPiece) -> SeenPiece:
            same = [was for was in self._earlier_pieces if not moved(was, piece)]
            were = [was for was in same if not _ghost(was)] or same
            known = len(were) == 1 and (
                piece.colour_probability < SURE or were[0] in self._recoloured_pieces.values()
            )
            return replace(piece, colour=were[0].colour, colour_probability=1.0) if known else piece

        return tuple(map(recall, self.now.pieces))

    @property
    def sure_pieces(self) -> tuple[SeenPiece, ...]:
        """Pieces seen that surely lie there, or nearly so."""
        return tuple(
            piece
            for piece in self.observed_pieces
            if not _ghost(piece) and piece not in self.impossible
        )

    @cached_property
    def impossible(self) -> tuple[SeenPiece, ...]:
        """Readings that overlap an unmoved piece, which is impossible.

        Their colour is doubtful, and not that of the player who throws.
        """
        return tuple(
            piece
            for piece in self._overlapping_unmoved
            if piece.colour_probability < SURE and piece.colour != self.state.next
        )

    @cached_property
    def _overlapping_unmoved(self) -> list[SeenPiece]:
        """Pieces read where an unmoved piece lies."""
        still = [
            piece
            for piece in self.observed_pieces
            if any(not moved(was, piece) for was in self._sure_earlier_pieces)
        ]
        return [
            piece
            for piece in self.observed_pieces
            if piece not in still and any(overlap(piece.solid, other.solid) for other in still)
        ]

    @cached_property
    def located_pieces(self) -> dict[str, SeenPiece]:
        """Pieces of the state by name, as seen on the board.

        The assignment of least total cost for each colour: a piece either travelled to a seen one,
        or is missing (`_missing_mm`). A piece of another size is none of the state's if there are
        enough without it: it was thrown.
        """
        found: dict[str, SeenPiece] = {}
        for own, there in _by_colour(
            self.pieces, (piece for piece in self._on_board if piece is not self.assumed_new)
        ):
            travelled = np.array([[self._travel_mm(piece, now) for now in there] for piece in own])
            others = np.array(
                [[self._has_other_size(piece, now) for now in there] for piece in own]
            )
            missing = self._missing_mm(own, len(there))
            pairs = _least_cost_indexes(
                np.hstack([np.where(others, _NEVER_MM, travelled), missing]), len(there)
            )
            if len(pairs) < len(own):
                pairs = _least_cost_indexes(np.hstack([travelled, missing]), len(there))
            found |= {own[i].name: there[j] for i, j in pairs}
        return found

    def _missing_mm(self, own: list[Piece], seen: int) -> Array:
        """Cost in mm of travel, (n, k), of each way in which a piece of one colour may be missing.

        If fewer are seen than recorded, some are missing. More are missing only if others came in
        their place: a thrown one, or one for each piece that is newly beside the board.
        """
        square_mm, colour = self.board.square_mm, own[0].colour
        hides = np.array([self._hides(piece) for piece in own])
        fewer = np.where(hides, 0.0, HIDDEN_SQUARES * square_mm)
        thrown = colour == self.state.next and self.assumed_new is None and not self.nobody_threw
        hidden = np.where(np.diag(hides) & thrown, HIDDEN_SQUARES * square_mm, 2 * _NEVER_MM)
        came = seen + self.new_outside_colours[colour] - len(own) - thrown
        replaced = max(came, int(thrown and seen <= len(own)), 0)
        return np.hstack(
            [
                np.repeat(fewer[:, None], max(len(own) - seen, 0), axis=1),
                np.full((len(own), replaced), REPLACED_SQUARES * square_mm),
                hidden,
            ]
        )

    @cached_property
    def missing_pieces(self) -> tuple[Piece, ...]:
        """Pieces of the state that are not on the board."""
        return tuple(piece for piece in self._missing_pieces if piece not in self.hidden)

    @cached_property
    def _missing_pieces(self) -> tuple[Piece, ...]:
        """Pieces of the state not found on the board: gone or hidden."""
        return tuple(piece for piece in self.pieces if piece.name not in self.located_pieces)

    @cached_property
    def hidden(self) -> tuple[Piece, ...]:
        """Missing pieces of the state hidden by something unread and new, and `unseen` ones."""
        return tuple(
            piece for piece in self._missing_pieces if self._hides(piece) or piece in self.unseen
        )

    @cached_property
    def unseen(self) -> tuple[Piece, ...]:
        """Pieces of the state that are unread, and already were at the last verdict.

        They have not been removed since. Before any verdict on a board, the only throw of a game
        lies there by an announcement.
        """
        if self.before is None:
            only = self.state.throws_in_play == self.state.round == 1
            return tuple(
                piece for piece in self._missing_pieces if only and not self._is_replaced(piece)
            )
        return tuple(
            piece
            for piece in self._missing_pieces
            if piece.name not in self.earlier_pieces
            and not self._is_place_cleared(piece, self.before)
        )

    def _is_replaced(self, piece: Piece) -> bool:
        """True if a new piece lies just as a recorded one should."""
        return any(_compatible(piece.place, self.touches(now).place) for now in self.new)

    @property
    def only_one_unseen(self) -> bool:
        """True if the only throw of a game is unseen, and no board was ruled on yet."""
        return self.before is None and bool(self.unseen)

    def _is_place_cleared(self, piece: Piece, before: Observation) -> bool:
        """True if there was something unreadable near its place, and there is nothing now."""
        now, then = (
            any(
                np.hypot(*(place - self.where_mm(piece))) < self.board.square_mm
                for place in _unread(seen)
            )
            for seen in (self.now, before)
        )
        return then and not now

    def _hides(self, piece: Piece) -> bool:
        known = piece.name in self.earlier_pieces
        reach_mm = HIDDEN_MM if known else self.board.square_mm
        unread = self.unread_mm if known else _unread(self.now)
        return any(np.hypot(*(place - self.where_mm(piece))) < reach_mm for place in unread)

    @cached_property
    def new(self) -> tuple[SeenPiece, ...]:
        """New pieces on the board, or too close to call."""
        known = set(map(id, self.located_pieces.values()))
        return tuple(
            piece
            for piece in self._on_board
            if id(piece) not in known and not self._has_doubtful_earlier_reading(piece)
        )

    def with_reading(
        self, piece: SeenPiece, reading: SeenPiece, assumed_new: SeenPiece | None = None
    ) -> TableMatch:
        """Return the comparison with `reading` in place of a seen piece."""
        pieces = tuple(reading if each is piece else each for each in self.observed_pieces)
        now = replace(self.now, pieces=pieces)
        return TableMatch(self.state, now, self.before, self.board, assumed_new)

    @property
    def half_seen(self) -> tuple[SeenPiece, ...]:
        """New pieces of the colour that throws next with uncertain position.

        None if a recorded piece is missing, which such a piece may be.
        """
        if self.before is None or self.missing_pieces or self.hidden:
            return ()
        return tuple(
            piece
            for piece in self.observed_pieces
            if _ghost(piece)
            and piece.colour == self.state.next
            and piece.colour_probability >= SURE
            and self.touches(piece).on_board is not False
            and not self._has_doubtful_earlier_reading(piece)
            and all(np.hypot(*(at - piece.base_mm)) > CARRIED_MM for at in self.before.unread_mm)
            and all(clearance(piece.solid, other.solid).mm > 0.0 for other in self.sure_pieces)
        )

    @property
    def unread_reading(self) -> SeenPiece | None:
        """Possible reading of the first unreadable thing, if it has one."""
        return next(
            (piece for piece in self.observed_pieces if piece.base_mm is self.unread_mm[0]), None
        )

    def hardly_read_elsewhere(self, gone: Piece) -> SeenPiece | None:
        """A doubtful new piece on the board that may be one of the missing ones."""
        return next(
            (
                piece
                for piece in self.observed_pieces
                if _ghost(piece)
                and (piece.colour == gone.colour or piece.colour_probability < SURE)
                and self.touches(piece).on_board is not False
                and not self._has_doubtful_earlier_reading(piece)
            ),
            None,
        )

    def _has_doubtful_earlier_reading(self, piece: SeenPiece) -> bool:
        """True for a doubtful or impossible piece that matches a doubtful earlier reading.

        At the last ruling the earlier reading counted as unread.
        """
        if self.before is None or (
            piece.pose_probability >= SURE and piece not in self._overlapping_unmoved
        ):
            return False
        ghosts = [one for was in self.before.pieces if _ghost(was) for one in (was, *was.rivals)]
        return any(was.pose == piece.pose and travel_mm(was, piece) <= CARRIED_MM for was in ghosts)

    @cached_property
    def has_leftover(self) -> bool:
        """True if a piece of the previous round is still on the board."""
        known = set(map(id, self._on_board))
        return any(
            id(piece) not in known and self.touches(piece).on_board is not False
            for piece in self.sure_pieces
        )

    @cached_property
    def places(self) -> dict[str, Place]:
        """Places, by name, of moved pieces that differ from the state."""
        places: dict[str, Place] = {}
        for piece in self.moved_pieces:
            place = self.touches(self.located_pieces[piece.name]).place
            if place and place != piece.place:
                places[piece.name] = place
        return places

    @cached_property
    def moved_pieces(self) -> tuple[Piece, ...]:
        """Pieces of the state that were moved, even if only within their squares."""
        return tuple(
            piece
            for piece in self.pieces
            if (now := self.located_pieces.get(piece.name)) and self._has_moved(piece, now)
        )

    @cached_property
    def changed_places(self) -> dict[str, Place]:
        """Those of `places` that differ from the state however doubtful touches are decided."""
        lay = {piece.name: piece.place for piece in self.pieces}
        return {
            name: place for name, place in self.places.items() if not _compatible(lay[name], place)
        }

    @cached_property
    def new_outside_colours(self) -> Counter[str]:
        """Colours of new pieces off the board or partly off."""
        return Counter(piece.colour for piece in self.new_outside)

    @cached_property
    def new_outside(self) -> list[SeenPiece]:
        """New pieces off the board or partly off."""
        stayed = {j for _, j in self._unmoved_outside}
        return [piece for j, piece in enumerate(self.pieces_outside) if j not in stayed]

    @cached_property
    def removed_outside_colours(self) -> Counter[str]:
        """Colours of pieces that were off the board before and are no longer there."""
        return Counter(
            self._earlier_outside[i].colour
            for i in range(len(self._earlier_outside))
            if i not in {i for i, _ in self._unmoved_outside}
        )

    @cached_property
    def unread_mm(self) -> tuple[Array, ...]:
        """Places (2,) on the board of new things that could not be read."""
        were = _unread(self.before) if self.before else []
        places = [*_unread(self.now), *(piece.base_mm for piece in self.impossible)]
        return tuple(
            place for place in places if all(np.hypot(*(place - was)) > CARRIED_MM for was in were)
        )

    @property
    def differences(self) -> tuple[str, ...]:
        """The differences between table and record, one sentence a piece."""
        gone = [
            msg("{piece} ({cell}) is not on the board.", piece=piece.name, cell=piece.place)
            for piece in self.missing_pieces
        ]
        lie = [
            msg(
                "{piece} ({cell}) now lies on {cell2}.",
                piece=piece.name,
                cell=piece.place,
                cell2=self.changed_places[piece.name],
            )
            for piece in self.pieces
            if piece.name in self.changed_places
        ]
        new = [
            msg(
                "A {colour} piece on {cell} is not in the record.",
                colour=piece.colour,
                cell=self.touches(piece).place,
            )
            for piece in self.new
        ]
        return (*gone, *lie, *new)

    def where_mm(self, piece: Piece) -> Array:
        """Earlier place of a piece of the state, or its approximate place, (2,)."""
        if was := self.earlier_pieces.get(piece.name):
            return was.base_mm
        squares = np.array(sorted(piece.place.squares), float)
        return np.asarray(
            np.asarray(self.board.origin_mm) + self.board.square_mm * (squares.mean(axis=0) + 0.5)
        )

    @cached_property
    def _on_board(self) -> list[SeenPiece]:
        """Pieces on the board or too close to call, except unmoved ones unknown to the state."""
        return [
            piece
            for piece in self.sure_pieces
            if self.touches(piece).on_board is not False
            and all(
                not _may_share_colour(was, piece) or moved(was, piece)
                for was in self._unrecorded_earlier_pieces
            )
        ]

    @cached_property
    def earlier_pieces(self) -> dict[str, SeenPiece]:
        """Pieces of the state as seen before, if they then agreed with the state."""
        return self._matched_by_name(self._sure_earlier_pieces)

    def _matched_by_name(self, were: Iterable[SeenPiece]) -> dict[str, SeenPiece]:
        """Match recorded pieces with those among `were`, by name: as many as possible."""
        fitting: dict[str, SeenPiece] = {}
        for own, there in _by_colour(self.pieces, were):
            fits = np.array([[self._fit(piece, was) for was in there] for piece in own])
            fitting |= {
                own[i].name: there[j]
                for i, j in zip(*least_cost_pairs(-fits), strict=True)
                if fits[i, j]
            }
        return fitting

    def _fit(self, piece: Piece, was: SeenPiece) -> float:
        """Return how well a seen piece fits a recorded one: 0 if it does not.

        A doubtful square may agree with the record, and so may a leaning piece, but one that surely
        agrees is preferred. If only an alternative reading agrees, it comes last.
        """
        place = self.touches(was).place
        if not _compatible(piece.place, place):
            rivals = (self.touches(rival).place for rival in was.rivals)
            return _RIVAL_FIT * any(_compatible(piece.place, rival) for rival in rivals)
        return 1.0 + (_SURE_FIT if place == piece.place and was.pose != "leaning" else 0.0)

    @cached_property
    def _recoloured_pieces(self) -> dict[int, SeenPiece]:
        """Pieces seen before in another colour than recorded, in the colour that people decided.

        Keys are the identities (`id`) of the pieces seen.
        """
        then = self.before.pieces if self.before else ()
        fitting = self._matched_by_name(then)
        alive, decided = set(map(id, fitting.values())), {}
        for piece in (piece for piece in self.pieces if piece.name not in fitting):
            there = [
                was
                for was in then
                if id(was) not in alive
                and not _ghost(was)
                and _compatible(piece.place, self.touches(was).place)
            ]
            if len(there) == 1:
                decided[id(there[0])] = replace(
                    there[0], colour=piece.colour, colour_probability=1.0
                )
        return decided

    @cached_property
    def _earlier_pieces(self) -> tuple[SeenPiece, ...]:
        """The pieces seen before, in the colours of the record."""
        return tuple(
            self._recoloured_pieces.get(id(was), was)
            for was in (self.before.pieces if self.before else ())
        )

    @cached_property
    def _unrecorded_earlier_pieces(self) -> list[SeenPiece]:
        """Pieces seen before that are none of the state's."""
        alive = set(map(id, self.earlier_pieces.values()))
        return [was for was in self._sure_earlier_pieces if id(was) not in alive]

    @property
    def unrecorded_still_there(self) -> list[SeenPiece]:
        """Pieces on the board before that are none of the state's and still there."""
        on_board = {id(piece) for piece in self._on_board}
        return [
            piece
            for piece in self.sure_pieces
            if id(piece) not in on_board and self.touches(piece).on_board
        ]

    @property
    def _sure_earlier_pieces(self) -> list[SeenPiece]:
        """Pieces that surely lay there before, or nearly so."""
        return [was for was in self._earlier_pieces if not _ghost(was)]

    @cached_property
    def pieces_outside(self) -> list[SeenPiece]:
        """The pieces off the board or partly off."""
        return [
            *self.now.off_board,
            *(piece for piece in self.sure_pieces if self.touches(piece).on_board is False),
        ]

    @cached_property
    def _earlier_outside(self) -> list[SeenPiece]:
        """Pieces outside before; if unknown, those there now."""
        if self.before is None:
            return self.pieces_outside
        return [
            *self.before.off_board,
            *(
                was
                for was in self._unrecorded_earlier_pieces
                if self.touches(was).on_board is not True
            ),
        ]

    @cached_property
    def _unmoved_outside(self) -> list[tuple[int, int]]:
        """Pairs of indexes, then and now, of unmoved pieces off the board."""
        then, now = self._earlier_outside, self.pieces_outside
        return [
            (i, j)
            for i, a in enumerate(then)
            for j, b in enumerate(now)
            if _may_share_colour(a, b) and travel_mm(a, b) <= CARRIED_MM
        ]

    def _travel_mm(self, piece: Piece, now: SeenPiece) -> float:
        """Travel in mm of a piece of the state if it is this one.

        A piece that was not seen before is never taken for the thrown one.
        """
        was = self.earlier_pieces.get(piece.name)
        if was is None:
            thrown = (
                self.before is not None
                and piece.colour == self.state.next
                and self.assumed_new is None
            )
            return (
                0.0
                if _compatible(piece.place, self.touches(now).place)
                else _NEVER_MM
                if thrown
                else self.board.square_mm
            )
        return _NEVER_MM if are_surely_different(was, now) else middles_mm(was, now)

    def _has_other_size(self, piece: Piece, now: SeenPiece) -> bool:
        """True if a piece of the state was surely read in one size, and this one in another."""
        was = self.earlier_pieces.get(piece.name)
        return was is not None and sizes_differ(was, now)

    def _has_moved(self, piece: Piece, now: SeenPiece) -> bool:
        """True if a piece moved.

        An unsure pose may be read differently in another picture. A touched piece that still agrees
        with the state keeps its verdict. So does one that no throw can have turned over there, or
        that is not surely read as moved. If the current reading is sure, the record follows it,
        which corrects an earlier error.
        """
        was = self.earlier_pieces.get(piece.name)
        if _compatible(piece.place, self.touches(now).place) and (
            was is None or travel_mm(was, now) < CARRIED_MM
        ):
            return False
        thrown = self.state.next is not None and (
            self.new or self.new_outside_colours or self.unread_mm
        )
        doubtful = was is not None and min(was.pose_probability, now.pose_probability) < SURE
        if was is not None and (rivals := _earlier_pose_readings(was, now)):
            return all(travel_mm(was, one) > CARRIED_MM for one in rivals)
        if (
            was is not None
            and (now.pose_probability < SURE or not thrown)
            and was.pose != now.pose
            and is_at_earlier_place(was, now)
        ):
            return False
        if was is not None and doubtful:
            was = replace(was, pose=now.pose)
        return was is None or moved(was, now.as_read)


def _earlier_pose_readings(was: SeenPiece, now: SeenPiece) -> list[SeenPiece]:
    """Alternative readings of a piece in its former pose and size; none if it still has them."""
    lay = (was.pose, was.size)
    return [one for one in now.rivals if (now.pose, now.size) != lay == (one.pose, one.size)]


@lru_cache(maxsize=256)
def _touches(piece: SeenPiece, board: Chessboard, touching: str) -> Touches:
    """`touches`, cached by the identity of a piece.

    A table at rest is judged repeatedly, also in retrospect.
    """
    return touches(piece, board, touching)


def overlap(a: Solid, b: Solid, scale: float = SURE_OVERLAP) -> bool:
    """True if two solids share space even with the first one at `scale` of its size."""
    middle = a.vertices_mm.mean(axis=0)
    return clearance(Solid(middle + scale * (a.vertices_mm - middle)), b).mm == 0.0


def _least_cost_indexes(cost_mm: Array, seen: int) -> list[tuple[int, int]]:
    """Pairs of recorded and seen pieces, by index, of least total cost (n, seen + k)."""
    pairs = zip(*least_cost_pairs(cost_mm), strict=True)
    return [(i, j) for i, j in pairs if j < seen and cost_mm[i, j] < _NEVER_MM]


def _may_share_colour(a: SeenPiece, b: SeenPiece) -> bool:
    return a.colour == b.colour or min(a.colour_probability, b.colour_probability) < SURE


def _ghost(piece: SeenPiece) -> bool:
    """True if it is not surely a piece, at an unknown place.

    If its colour is sure, and all its readings are named or it leans, the place is as uncertain as
    each reading's.
    """
    if piece.pose_probability >= SURE:
        return False
    leans = piece.pose == "leaning" and piece.pose_probability > 0.5
    known = piece.colour_probability >= SURE and (leans or named_probability(piece) >= NAMED)
    place = (piece.as_read if known else piece).covariance
    return float(np.diag(place)[:2].max()) > GHOST_MM**2


def named_probability(piece: SeenPiece) -> float:
    """Probability of the piece's reading and its named alternatives together."""
    return piece.pose_probability + sum(rival.pose_probability for rival in piece.rivals)


def _unread(seen: Observation) -> list[Array]:
    """Places (2,) of things that could not be read."""
    return [*seen.unread_mm, *(piece.base_mm for piece in seen.pieces if _ghost(piece))]


def _by_colour(
    pieces: Iterable[Piece], seen: Iterable[SeenPiece]
) -> list[tuple[list[Piece], list[SeenPiece]]]:
    """Recorded and seen pieces, for each colour that both have."""
    own, there = [*pieces], [*seen]
    colours = dict.fromkeys(
        piece.colour for piece in own if any(other.colour == piece.colour for other in there)
    )
    return [
        ([a for a in own if a.colour == colour], [b for b in there if b.colour == colour])
        for colour in colours
    ]


def _compatible(a: Place, b: Place | None) -> bool:
    """True if one piece can have both places."""
    return b is not None and not set(readings(a)).isdisjoint(readings(b))
