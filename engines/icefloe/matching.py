"""What is seen of the pond set beside what the rules say may be there, in nats: minus the logarithm
of how likely it looks so.

Pyramids are told apart by colour and size, each with its probability, and by where they stood
before; they are matched as a whole, so that one that is read badly is known by what is left for it.
An explanation is a board; it is the better the fewer nats it needs.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.optimize import linear_sum_assignment

from engines.icefloe.board import LETTERS, PLACES, Board
from engines.icefloe.state import PLAYS, State
from engines.occlusion import mostly_seen
from table.boards import Tiles
from table.messages import Message, msg
from table.motion import moved
from table.observation import SURE, Observation, SeenPiece
from table.solids import Array

DOUBT = math.log(SURE / (1 - SURE))
"""An explanation that needs so many nats more than another one is out of the question beside it."""
READ_MOST, UNSURE_MOST = 0.995, 0.6
"""Nobody reads better than this; sizes of what does not stand, or does not surely, no better than
that.
"""
SPURIOUS, UNSURE_SPURIOUS = 9.0, 2.0
"""Something is read that is not there: a pyramid that surely stands, and one that does not
surely.
"""
MISSED, UNREAD_MISSED = 7.0, 2.0
"""A pyramid is not read at all: somewhere, and where something lies that could not be read."""
TILE = 8.0
"""A place is taken to have a tile that has none, or the other way round."""
SWAPPED = 5.0
"""Another pyramid stands, or lies, exactly where one did."""
NEVER = 1e6
GHOST_MM = 8.0
"""What is not a pyramid is read in the same place only roughly."""
EDGE_MM = 1.0
"""A pyramid is put on a tile no more exactly than this."""
STAYS = 3.0
"""Where pyramids look alike, one that stands on the same tile as before is rather that one."""


@dataclass(frozen=True, eq=False)
class Look:
    """The table `now` against the state; `before` is the table of the last accepted ruling,
    `pyramids` are all that may stand there.

    Those in `anywhere` may stand where they like without being seen.
    """

    state: State
    now: Observation
    before: Observation | None
    board: Tiles
    pyramids: tuple[str, ...]
    anywhere: frozenset[str] = frozenset()

    @cached_property
    def places(self) -> tuple[str, ...]:
        """The place that each piece seen stands on, or next to."""
        return tuple(PLACES[k] for k in self._place_nats.argmin(axis=1))

    @cached_property
    def tiles(self) -> frozenset[str]:
        """The places that seem to have a tile, and those that have one as a pyramid stands on it
        untouched.
        """
        read = {place for place, there in (self.now.tiles or {}).items() if there}
        standing = {
            name
            for name, was in self.stood.items()
            if any(_same(was, piece) for piece in self.now.pieces)
        }
        return frozenset(
            read | {floe.place for floe in self.state.board.floes if standing & {*floe.pyramids}}
        )

    @cached_property
    def misread(self) -> frozenset[str]:
        """Places of which it was read wrongly before whether they have a tile: nobody is held to
        what is read there.
        """
        if self.before is None:
            return frozenset()
        then = {place for place, there in (self.before.tiles or {}).items() if there}
        return frozenset(then ^ {floe.place for floe in self.state.board.floes})

    @cached_property
    def stood(self) -> Mapping[str, SeenPiece]:
        """The pyramids as they were seen before, those that then stood as the state says."""
        if self.before is None:
            return {}
        then = Look(self.state, self.before, None, self.board, self.pyramids)
        return {name: then.now.pieces[k] for k, name in then.matched(self.state.board).items()}

    @cached_property
    def where(self) -> dict[str, str]:
        """The places of pyramids, by name: the recorded one of what was not touched since it was
        ruled on, also where it fell over.
        """
        return {
            name: floe.place
            if (was := self.stood.get(name))
            and _same(was, self.now.pieces[k])
            and (floe := self.state.board.under(name))
            else self.places[k]
            for k, name in self.free.items()
        }

    @cached_property
    def held(self) -> frozenset[str]:
        """Pyramids that were not seen when the table was ruled on last, and are not seen to be gone
        since: that was on people's word.

        A table on which most were not seen says nothing; where something lay on their tile that
        could not be read it still does.
        """
        board = self.state.board
        never = [name for name in board.pyramids if name not in self.stood]
        if self.before is None or not mostly_seen(never, len(board.pyramids)):
            return frozenset()
        then, now = (
            {self._place(place) for place in seen.unread_mm} for seen in (self.before, self.now)
        )
        where = {name: floe.place for floe in board.floes for name in floe.pyramids}
        return frozenset(name for name in never if where[name] not in then - now)

    @cached_property
    def untouched(self) -> bool:
        """Is everything read where and as it was when the table was ruled on?"""
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

    def nats(self, board: Board, half_done: str | None = None) -> float:
        """What it takes to see this if the pond is so; a tile of which it does not matter whether
        it, and what is on it, is there.
        """
        present = {
            pyramid: PLACES.index(floe.place) for floe in board.floes for pyramid in floe.pyramids
        }
        columns = [self.pyramids.index(pyramid) for pyramid in present]
        where = list(present.values())
        missed = self._missed_on(board)
        floe = board.of(half_done)
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
            float(self._spurious.sum() + missed.sum() + gain[linear_sum_assignment(gain)].sum())
            + TILE * wrong
        )

    def matched(self, board: Board) -> dict[int, str]:
        """For pieces seen, by index, the pyramids that they are if the pond is so; what does not
        stand so is not among them.
        """
        present = {
            pyramid: PLACES.index(floe.place) for floe in board.floes for pyramid in floe.pyramids
        }
        nats = (
            self.identity[:, [self.pyramids.index(pyramid) for pyramid in present]]
            + self._place_nats[:, list(present.values())]
        )
        return _pairs(nats, self._spurious, self._missed_on(board), tuple(present))

    def hidden(self, board: Board) -> list[Array]:
        """Places (2,) where something lies that cannot be read, on tiles whose pyramids were read
        before and are not all there now.
        """
        matched = set(self.matched(board).values())
        without = {
            floe.place
            for floe in board.floes
            for name in floe.pyramids
            if name in self.stood and name not in matched
        }
        return [
            place
            for place in self.now.unread_mm
            if self._place(place) in without and not self._haunted(place)
        ]

    @cached_property
    def free(self) -> dict[int, str]:
        """For pieces seen, by index, the pyramids that they are wherever they stand now."""
        stood = [
            floe.place if (floe := self.state.board.under(pyramid)) else ""
            for pyramid in self.pyramids
        ]
        stays = np.array(
            [[STAYS * (was not in ("", place)) for was in stood] for place in self.places]
        ).reshape(self.identity.shape)
        return _pairs(
            self.identity + stays, self._spurious, np.zeros(len(self.pyramids)), self.pyramids
        )

    def rivals(self) -> set[frozenset[str]]:
        """Pyramids, a set for each case, that may well have been taken for one another."""
        found = set()
        least = self._pyramid_nats
        for k, name in self.free.items():
            nats = self.identity.copy()
            nats[k, self.pyramids.index(name)] = NEVER
            other = _pairs(nats, self._spurious, np.zeros(len(self.pyramids)), self.pyramids)
            if (
                len(other) == len(self.free)
                and sum(float(nats[i, self.pyramids.index(named)]) for i, named in other.items())
                - least
                < DOUBT
            ):
                found.add(
                    frozenset(named for i, named in other.items() if self.free.get(i) != named)
                )
        return found

    @cached_property
    def free_nats(self) -> float:
        """What it takes to see this wherever the pyramids may stand, or be gone, and whichever
        tiles are there, but no more than there were: nobody lays down any in this game.
        """
        extra = max(
            0,
            len(self.tiles - self.misread)
            - len({floe.place for floe in self.state.board.floes} - self.misread),
        )
        return self._pyramid_nats + TILE * extra

    @cached_property
    def _pyramid_nats(self) -> float:
        """What it takes to read the pyramids so wherever they may stand, or be gone."""
        matched = sum(
            float(self.identity[k, self.pyramids.index(name)]) for k, name in self.free.items()
        )
        return matched + sum(
            float(nats) for k, nats in enumerate(self._spurious) if k not in self.free
        )

    def differences(self, board: Board) -> tuple[Message, ...]:
        """What does not agree with a pond that explains the rest, a sentence a pyramid."""
        matched = self.matched(board)
        where = {name: floe.place for floe in board.floes for name in floe.pyramids}
        swapped = [
            (name, self.now.pieces[k])
            for k, name in matched.items()
            if self._swapped(name, self.now.pieces[k])
        ]
        return (
            *(
                msg(
                    "{cell} stood on {cell2}, and a {colour} {cell3} stands there now.",
                    cell=name,
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
        """Indexes of pyramids that surely stand there and match nothing; of what is of no sure
        colour it is not sure that it is one.
        """
        return [
            k
            for k, piece in enumerate(self.now.pieces)
            if k not in matched and stands(piece) and piece.colour_probability >= SURE
        ]

    def _swapped(self, name: str, now: SeenPiece) -> bool:
        """Was it surely read as what it is before, and as something else now?"""
        was = self.stood.get(name)
        return (
            was is not None
            and all(map(stands, (was, now)))
            and agrees(was, name)
            and not agrees(now, name)
        )

    @cached_property
    def identity(self) -> Array:
        """(pieces, pyramids): what it takes to read a piece so if it is that pyramid."""
        nats = np.array(
            [
                [_colour_nats(piece, name) + _size_nats(piece, name) for name in self.pyramids]
                for piece in self.now.pieces
            ]
        )
        nats = nats.reshape(len(self.now.pieces), len(self.pyramids))
        for name, was in self.stood.items():
            there = [
                k
                for k, piece in enumerate(self.now.pieces)
                if _same(was, piece) or (stands(piece) and _just_there(was, piece))
            ]
            others = [k for k in range(len(self.pyramids)) if self.pyramids[k] != name]
            nats[np.ix_(there, others)] += SWAPPED
        nats[self._ghosts] += SWAPPED
        return nats

    @cached_property
    def _place_nats(self) -> Array:
        """(pieces, 25): what it takes to read a piece where it was read if it stands on that
        place.
        """
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
        """(pieces,): what it takes to read a piece if no pyramid is there; more where one stood
        before, less where none was read.
        """
        sure = [
            piece.pose_probability >= SURE or self._stood_there(piece) for piece in self.now.pieces
        ]
        nats = np.where(sure, SPURIOUS, UNSURE_SPURIOUS)
        nats[self._ghosts] = 0.0
        return nats

    @cached_property
    def _ghosts(self) -> list[int]:
        """What is not sure to stand there, where something was before that was no pyramid, and
        where no pyramid was, however either was read.
        """
        unsure = [
            (k, piece.base_mm)
            for k, piece in enumerate(self.now.pieces)
            if not stands(piece) and self._haunted(piece.base_mm)
        ]
        return [
            k
            for k, at in unsure
            if all(np.hypot(*(at - was.base_mm)) > GHOST_MM for was in self.stood.values())
        ]

    def _stood_there(self, piece: SeenPiece) -> bool:
        """Did a pyramid stand just there?"""
        return any(_just_there(was, piece) for was in self.stood.values())

    @cached_property
    def _missed(self) -> Array:
        """(25,): what it takes not to read a pyramid there."""
        nats = np.full(len(PLACES), MISSED)
        for place in self.now.unread_mm:
            if (under := self._place(place)) and not self._haunted(place):
                nats[PLACES.index(under)] = UNREAD_MISSED
        return nats

    def _missed_on(self, board: Board) -> Array:
        """(pyramids of a board,): what it takes not to read each there; nothing where it is on the
        tile on which it was not seen before.
        """
        missed = []
        for floe in board.floes:
            for name in floe.pyramids:
                under = self.state.board.under(name) if name in self.held else None
                free = name in self.anywhere or (under is not None and under.tile == floe.tile)
                missed.append(0.0 if free else float(self._missed[PLACES.index(floe.place)]))
        return np.array(missed)

    def _haunted(self, place_mm: Array) -> bool:
        """Did something lie there before that was no pyramid: a print on a tile that was taken for
        one, or could not be read?

        On a tile with a pyramid that was not read then, that was the pyramid.
        """
        if self.before is None:
            return False
        hides = {
            floe.place
            for floe in self.state.board.floes
            for name in floe.pyramids
            if name not in self.stood
        }
        stood = set(map(id, self.stood.values()))
        were = [
            *self.before.unread_mm,
            *(piece.base_mm for piece in self.before.pieces if id(piece) not in stood),
        ]
        return any(
            np.hypot(*(place_mm - was)) <= GHOST_MM and self._place(was) not in hides
            for was in were
        )

    def _place(self, place_mm: Array) -> str:
        """The place under a point (2,); empty beside the board."""
        column, row = np.floor(
            (place_mm - np.asarray(self.board.origin_mm)) / self.board.cell_mm
        ).astype(int)
        return "abcde"[column] + str(row + 1) if 0 <= column < 5 and 0 <= row < 5 else ""


def _pairs(nats: Array, spurious: Array, missed: Array, names: tuple[str, ...]) -> dict[int, str]:
    """Rows with the columns that they match best as a whole; a row is left out where it is rather
    spurious, and its column missed.
    """
    gain = np.minimum(nats - spurious[:, None] - missed[None], 0.0)
    return {
        int(k): names[j]
        for k, j in zip(*linear_sum_assignment(gain), strict=True)
        if gain[k, j] < 0
    }


def _just_there(was: SeenPiece, now: SeenPiece) -> bool:
    """Is a piece where one was?  What is read so roughly that it may be anywhere near is not."""
    return bool(np.hypot(*(was.base_mm - now.base_mm)) <= GHOST_MM) and not moved(was, now)


def _same(was: SeenPiece, now: SeenPiece) -> bool:
    return (was.colour, was.size) == (now.colour, now.size) and not moved(was, now)


def _colour_nats(piece: SeenPiece, name: str) -> float:
    right = min(piece.colour_probability, READ_MOST)
    return -math.log(right) if PLAYS.get(piece.colour) == name[1] else -math.log((1 - right) / 3)


def _size_nats(piece: SeenPiece, name: str) -> float:
    """Sizes are taken for their neighbours rather than for others."""
    if piece.size not in LETTERS:
        return math.log(len(LETTERS))
    right = min(piece.size_probability, READ_MOST if stands(piece) else UNSURE_MOST)
    apart = abs(LETTERS.index(piece.size) - LETTERS.index(name[0]))
    return -math.log(right) if apart == 0 else -math.log((1 - right) / 2**apart)


def stands(piece: SeenPiece) -> bool:
    """Does it surely stand, so that its size was read well?"""
    return piece.pose == "upright" and piece.pose_probability >= SURE


def _middle_mm(piece: SeenPiece) -> Array:
    """Over what a piece stands, (2,): the middle of its contact."""
    return np.asarray(piece.contact_mm.mean(axis=0))


def agrees(piece: SeenPiece, name: str) -> bool:
    """Is it read as that pyramid, as far as its colour and its size are sure?"""
    colour = piece.colour_probability < SURE or PLAYS.get(piece.colour) == name[1]
    return colour and (piece.size_probability < SURE or piece.size == name[0])
