"""Compare an observation of the pond with the possible ponds, in nats.

The cost of an explanation, which is a board, is minus the logarithm of the picture's likelihood:
fewer nats are better. Pyramids are identified by colour and size, each with its probability, and by
their earlier places. They are matched jointly, so that a badly read one is identified by
elimination.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from engines.icefloe import messages
from engines.icefloe.board import LETTERS, PLACES, Board
from engines.icefloe.state import PLAYS, State
from engines.occlusion import mostly_seen
from table.assignment import least_cost_pairs
from table.boards import Tiles
from table.messages import Message, msg
from table.motion import moved
from table.observation import SURE, Observation, SeenPiece
from table.solids import Array

DOUBT = math.log(SURE / (1 - SURE))
"""Cost difference in nats at which an explanation is excluded."""
READ_MOST, UNSURE_MOST = 0.995, 0.6
"""Caps of the probabilities read: of colours and sizes, and of the sizes of pieces that do not
surely stand.
"""
SPURIOUS, UNSURE_SPURIOUS = 9.0, 2.0
"""Cost in nats of a reading without a pyramid: of one that surely stands, and of one that does not
surely.
"""
MISSED, UNREAD_MISSED = 7.0, 2.0
"""Cost in nats of a pyramid that was not detected: anywhere, and where something unreadable lies.
"""
STOOD = 0.5
"""Least probability of standing at which a piece at a pyramid's earlier place surely stands."""
TILE = 8.0
"""Cost in nats of misreading whether a place has a tile."""
SWAPPED = 5.0
"""Cost in nats of another pyramid exactly at one's place."""
NEVER = 1e6
GHOST_MM = 8.0
"""Largest distance in mm between readings of the same place."""
EDGE_MM = 1.0
"""Standard deviation in mm of placing a pyramid on a tile; its square is added to the measured
variance.
"""
STAYS = 3.0
"""Cost in nats of matching a piece to a pyramid that stood on another tile before."""


@dataclass(frozen=True, eq=False)
class TableMatch:
    """The table `now` compared with the state; `before` is the table of the last accepted verdict.

    `pyramids` are all that may be there; those in `anywhere` may be anywhere unseen.
    """

    state: State
    now: Observation
    before: Observation | None
    board: Tiles
    pyramids: tuple[str, ...]
    anywhere: frozenset[str] = frozenset()

    @cached_property
    def places(self) -> tuple[str, ...]:
        """Place of each piece seen, on it or next to it."""
        return tuple(PLACES[k] for k in self._place_nats.argmin(axis=1))

    @cached_property
    def tiles(self) -> frozenset[str]:
        """Places that seem to have a tile, or have one under an untouched pyramid."""
        read = {place for place, there in (self.now.tiles or {}).items() if there}
        standing = {
            name
            for name, was in self.earlier_pyramids.items()
            if any(_same(was, piece) for piece in self.now.pieces)
        }
        return frozenset(
            read | {floe.place for floe in self.state.board.floes if standing & {*floe.pyramids}}
        )

    @cached_property
    def misread(self) -> frozenset[str]:
        """Places whose tile reading is not used for verdicts.

        It was misread before, or something unreadable hides the tile.
        """
        recorded = {floe.place for floe in self.state.board.floes}
        covered = recorded & {self._place(place) for place in self.now.unread_mm}
        if self.before is None:
            return frozenset(covered)
        then = {place for place, there in (self.before.tiles or {}).items() if there}
        return frozenset(covered | (then ^ recorded))

    @cached_property
    def earlier_pyramids(self) -> Mapping[str, SeenPiece]:
        """Pyramids as seen before, if they then agreed with the state."""
        if self.before is None:
            return {}
        then = TableMatch(self.state, self.before, None, self.board, self.pyramids)
        return {
            name: then.now.pieces[k] for k, name in then.matched_pyramids(self.state.board).items()
        }

    @cached_property
    def pyramid_places(self) -> dict[str, str]:
        """Places of pyramids, by name.

        The recorded place for an untouched one, even if it fell over.
        """
        return {
            name: floe.place
            if (was := self.earlier_pyramids.get(name))
            and _same(was, self.now.pieces[k])
            and (floe := self.state.board.floe_under(name))
            else self.places[k]
            for k, name in self.nearest_pyramids.items()
        }

    @cached_property
    def assumed_pyramids(self) -> frozenset[str]:
        """Pyramids unseen at the last verdict, vouched for by people, and not seen gone since.

        A table on which most were unseen is ignored. If something unreadable lay on their tile, it
        still does.
        """
        board = self.state.board
        never = [name for name in board.pyramids if name not in self.earlier_pyramids]
        if self.before is None or not mostly_seen(never, len(board.pyramids)):
            return frozenset()
        then, now = (
            {self._place(place) for place in seen.unread_mm} for seen in (self.before, self.now)
        )
        where = {name: floe.place for floe in board.floes for name in floe.pyramids}
        return frozenset(name for name in never if where[name] not in then - now)

    @cached_property
    def untouched(self) -> bool:
        """True if everything is read as at the last verdict."""
        if (
            self.before is None
            or self.now.tiles != self.before.tiles
            or len(self.now.pieces) != len(self.before.pieces)
        ):
            return False
        unread = [
            all(np.hypot(*(place - was)) > GHOST_MM for was in self.before.unread_mm)
            for place in self.now.unread_mm
        ]
        return not any(unread) and all(
            any(_same(was, piece) for was in self.before.pieces) for piece in self.now.pieces
        )

    def cost_nats(self, board: Board, half_done: str | None = None) -> float:
        """Cost in nats of the picture if the pond is `board`.

        The tile `half_done`, with all on it, may be there or not.
        """
        present = {
            pyramid: PLACES.index(floe.place) for floe in board.floes for pyramid in floe.pyramids
        }
        columns = [self.pyramids.index(pyramid) for pyramid in present]
        where = list(present.values())
        missed = self._board_miss_costs(board)
        floe = board.floe_of(half_done)
        if floe:
            missed[[pyramid in floe.pyramids for pyramid in present]] = 0.0
        gain = np.minimum(
            self.identity[:, columns]
            + self._place_nats[:, where]
            - self._spurious[:, None]
            - missed[None],
            0.0,
        )
        tiles = ({other.place for other in board.floes} ^ self.tiles) - self.misread
        wrong = len(tiles - {floe.place} if floe else tiles)
        return (
            float(self._spurious.sum() + missed.sum() + gain[least_cost_pairs(gain)].sum())
            + TILE * wrong
        )

    def matched_pyramids(self, board: Board) -> dict[int, str]:
        """Pyramids that the seen pieces are if the pond is `board`, by the pieces' indexes.

        Pieces that do not fit are left out.
        """
        present = {
            pyramid: PLACES.index(floe.place) for floe in board.floes for pyramid in floe.pyramids
        }
        nats = (
            self.identity[:, [self.pyramids.index(pyramid) for pyramid in present]]
            + self._place_nats[:, list(present.values())]
        )
        return _pairs(nats, self._spurious, self._board_miss_costs(board), tuple(present))

    def hidden(self, board: Board) -> list[Array]:
        """Places (2,) of unreadable things on tiles that miss a pyramid read before."""
        matched = set(self.matched_pyramids(board).values())
        without = {
            floe.place
            for floe in board.floes
            for name in floe.pyramids
            if name in self.earlier_pyramids and name not in matched
        }
        return [
            place
            for place in self.now.unread_mm
            if self._place(place) in without and not self._has_earlier_stranger(place)
        ]

    @cached_property
    def nearest_pyramids(self) -> dict[int, str]:
        """Pyramids that the seen pieces are, wherever they stand, by the pieces' indexes."""
        stood = [
            floe.place if (floe := self.state.board.floe_under(pyramid)) else ""
            for pyramid in self.pyramids
        ]
        stays = np.array(
            [[STAYS * (was not in ("", place)) for was in stood] for place in self.places]
        ).reshape(self.identity.shape)
        return _pairs(
            self.identity + stays, self._spurious, np.zeros(len(self.pyramids)), self.pyramids
        )

    def rivals(self) -> set[frozenset[str]]:
        """Sets of pyramids that may have been confused."""
        found = set()
        least = self._pyramid_nats
        for k, name in self.nearest_pyramids.items():
            nats = self.identity.copy()
            nats[k, self.pyramids.index(name)] = NEVER
            other = _pairs(nats, self._spurious, np.zeros(len(self.pyramids)), self.pyramids)
            if (
                len(other) == len(self.nearest_pyramids)
                and sum(float(nats[i, self.pyramids.index(named)]) for i, named in other.items())
                - least
                < DOUBT
            ):
                found.add(
                    frozenset(
                        named for i, named in other.items() if self.nearest_pyramids.get(i) != named
                    )
                )
        return found

    @cached_property
    def free_nats(self) -> float:
        """Least cost in nats of the picture, with pyramids anywhere or gone.

        Any tiles may be there, but no more than there were, as the game adds none.
        """
        extra = max(
            0,
            len(self.tiles - self.misread)
            - len({floe.place for floe in self.state.board.floes} - self.misread),
        )
        return self._pyramid_nats + TILE * extra

    @cached_property
    def _pyramid_nats(self) -> float:
        """Cost in nats of the readings of pyramids, anywhere or gone."""
        matched = sum(
            float(self.identity[k, self.pyramids.index(name)])
            for k, name in self.nearest_pyramids.items()
        )
        return matched + sum(
            float(nats) for k, nats in enumerate(self._spurious) if k not in self.nearest_pyramids
        )

    def differences(self, board: Board) -> tuple[Message, ...]:
        """Describe differences from a board that explains the rest, one sentence per pyramid."""
        matched = self.matched_pyramids(board)
        where = {name: floe.place for floe in board.floes for name in floe.pyramids}
        swapped = [
            (name, self.now.pieces[k])
            for k, name in matched.items()
            if self._is_swapped(name, self.now.pieces[k])
        ]
        return (
            *(
                msg(
                    "{cell} stood on {cell2}, but now a {colour} {cell3} stands there.",
                    cell=messages.pyramid(name),
                    cell2=where[name],
                    colour=piece.colour,
                    cell3=piece.size,
                )
                for name, piece in swapped
            ),
            *(
                msg(
                    "A {colour} {cell} stands on {cell2}.",
                    colour=self.now.pieces[k].colour,
                    cell=self.now.pieces[k].size,
                    cell2=self.places[k],
                )
                for k in self.strangers(matched)
            ),
        )

    def strangers(self, matched: Mapping[int, str]) -> list[int]:
        """Indexes of surely standing pyramids that match nothing.

        A piece without a sure colour is not surely one.
        """
        return [
            k
            for k, piece in enumerate(self.now.pieces)
            if k not in matched and is_surely_standing(piece) and piece.colour_probability >= SURE
        ]

    def _is_swapped(self, name: str, now: SeenPiece) -> bool:
        """True if it was surely read as itself before, and as another now."""
        was = self.earlier_pyramids.get(name)
        return (
            was is not None
            and all(map(is_surely_standing, (was, now)))
            and agrees_with_name(was, name)
            and not agrees_with_name(now, name)
        )

    @cached_property
    def identity(self) -> Array:
        """(pieces, pyramids): cost in nats of a piece's reading, given the pyramid."""
        nats = np.array(
            [
                [_colour_nats(piece, name) + _size_nats(piece, name) for name in self.pyramids]
                for piece in self.now.pieces
            ]
        )
        nats = nats.reshape(len(self.now.pieces), len(self.pyramids))
        for name, was in self.earlier_pyramids.items():
            there = [
                k
                for k, piece in enumerate(self.now.pieces)
                if _same(was, piece)
                or (is_surely_standing(piece) and _is_at_same_place(was, piece))
            ]
            others = [k for k in range(len(self.pyramids)) if self.pyramids[k] != name]
            nats[np.ix_(there, others)] += SWAPPED
        nats[self._ghosts] += SWAPPED
        return nats

    @cached_property
    def _place_nats(self) -> Array:
        """(pieces, 25): cost in nats of a piece's measured position, given the place."""
        columns = np.array([[ord(place[0]) - ord("a"), int(place[1]) - 1] for place in PLACES])
        middles = np.asarray(self.board.origin_mm) + self.board.cell_mm * (columns + 0.5)
        nats = np.zeros((len(self.now.pieces), len(PLACES)))
        for k, piece in enumerate(self.now.pieces):
            beyond = np.maximum(np.abs(_middle_mm(piece) - middles) - self.board.cell_mm / 2, 0.0)
            variance = np.diag(piece.covariance)[:2] + EDGE_MM**2
            nats[k] = (beyond**2 / variance).sum(axis=1) / 2
        return nats

    @cached_property
    def _spurious(self) -> Array:
        """(pieces,): cost in nats of a piece that is no pyramid.

        More if one stood there before, less if none was read.
        """
        sure = [
            piece.pose_probability >= (STOOD if self._has_earlier_pyramid(piece) else SURE)
            for piece in self.now.pieces
        ]
        nats = np.where(sure, SPURIOUS, UNSURE_SPURIOUS)
        nats[self._ghosts] = 0.0
        return nats

    @cached_property
    def _ghosts(self) -> list[int]:
        """Indexes of unsure pieces at the place of something that was no pyramid before.

        However either was read, no pyramid was there.
        """
        unsure = [
            (k, piece.base_mm)
            for k, piece in enumerate(self.now.pieces)
            if not is_surely_standing(piece) and self._has_earlier_stranger(piece.base_mm)
        ]
        return [
            k
            for k, at in unsure
            if all(
                np.hypot(*(at - was.base_mm)) > GHOST_MM for was in self.earlier_pyramids.values()
            )
        ]

    def _has_earlier_pyramid(self, piece: SeenPiece) -> bool:
        """True if a pyramid stood at the same place."""
        return any(_is_at_same_place(was, piece) for was in self.earlier_pyramids.values())

    @cached_property
    def _miss_costs(self) -> Array:
        """(25,): cost in nats of missing a pyramid on each place."""
        nats = np.full(len(PLACES), MISSED)
        for place in self.now.unread_mm:
            if (under := self._place(place)) and not self._has_earlier_stranger(place):
                nats[PLACES.index(under)] = UNREAD_MISSED
        return nats

    def _board_miss_costs(self, board: Board) -> Array:
        """(pyramids of a board,): cost in nats of missing each of them there.

        0 on the tile on which it was unseen before.
        """
        missed = []
        for floe in board.floes:
            for name in floe.pyramids:
                under = self.state.board.floe_under(name) if name in self.assumed_pyramids else None
                free = name in self.anywhere or (under is not None and under.tile == floe.tile)
                missed.append(0.0 if free else float(self._miss_costs[PLACES.index(floe.place)]))
        return np.array(missed)

    def _has_earlier_stranger(self, place_mm: Array) -> bool:
        """True if something that was no pyramid was seen there before.

        It is a print on a tile that was taken for a pyramid, or was unreadable. On a tile with an
        unread pyramid, it was the pyramid.
        """
        if self.before is None:
            return False
        hides = {
            floe.place
            for floe in self.state.board.floes
            for name in floe.pyramids
            if name not in self.earlier_pyramids
        }
        stood = set(map(id, self.earlier_pyramids.values()))
        were = [
            *self.before.unread_mm,
            *(piece.base_mm for piece in self.before.pieces if id(piece) not in stood),
        ]
        return any(
            np.hypot(*(place_mm - was)) <= GHOST_MM and self._place(was) not in hides
            for was in were
        )

    def _place(self, place_mm: Array) -> str:
        """Place under a point (2,); empty beside the board."""
        column, row = np.floor(
            (place_mm - np.asarray(self.board.origin_mm)) / self.board.cell_mm
        ).astype(int)
        return "abcde"[column] + str(row + 1) if 0 <= column < 5 and 0 <= row < 5 else ""


def _pairs(nats: Array, spurious: Array, missed: Array, names: tuple[str, ...]) -> dict[int, str]:
    """Match rows and columns jointly at the least cost.

    A row is left out if it is cheaper to call it spurious, and its column missed.
    """
    gain = np.minimum(nats - spurious[:, None] - missed[None], 0.0)
    return {
        int(k): names[j] for k, j in zip(*least_cost_pairs(gain), strict=True) if gain[k, j] < 0
    }


def _is_at_same_place(was: SeenPiece, now: SeenPiece) -> bool:
    """True if a piece is at an earlier place; a reading too uncertain to tell does not count."""
    return bool(np.hypot(*(was.base_mm - now.base_mm)) <= GHOST_MM) and not moved(was, now)


def _same(was: SeenPiece, now: SeenPiece) -> bool:
    return (was.colour, was.size) == (now.colour, now.size) and not moved(was, now)


def _colour_nats(piece: SeenPiece, name: str) -> float:
    right = min(piece.colour_probability, READ_MOST)
    return -math.log(right) if PLAYS.get(piece.colour) == name[1] else -math.log((1 - right) / 3)


def _size_nats(piece: SeenPiece, name: str) -> float:
    """Cost in nats of the size read: adjacent sizes are confused more often than others."""
    if piece.size not in LETTERS:
        return math.log(len(LETTERS))
    right = min(piece.size_probability, READ_MOST if is_surely_standing(piece) else UNSURE_MOST)
    apart = abs(LETTERS.index(piece.size) - LETTERS.index(name[0]))
    return -math.log(right) if apart == 0 else -math.log((1 - right) / 2**apart)


def is_surely_standing(piece: SeenPiece) -> bool:
    """True if it surely stands, so that its size was read well."""
    return piece.pose == "upright" and piece.pose_probability >= SURE


def _middle_mm(piece: SeenPiece) -> Array:
    """Point (2,) in the middle of a piece's contact."""
    return np.asarray(piece.contact_mm.mean(axis=0))


def agrees_with_name(piece: SeenPiece, name: str) -> bool:
    """True if its reading agrees with that pyramid, as far as colour and size are sure."""
    colour = piece.colour_probability < SURE or PLAYS.get(piece.colour) == name[1]
    return colour and (piece.size_probability < SURE or piece.size == name[0])
