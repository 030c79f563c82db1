"""An observed table of Zamboni Wars in spaces and compass points.

It says which nest may lie where, and which way it may face.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from engines.occlusion import mostly_seen
from engines.zamboni_wars.board import FACINGS, SIDE, Space
from engines.zamboni_wars.phases import RollOff
from engines.zamboni_wars.state import LAYER_SIZES, State, Zamboni
from table.assignment import least_cost_pairs
from table.boards import Coasters
from table.clearance import clearance
from table.observation import SURE, Observation, SeenPiece
from table.solids import Array

BOUNDARY_MM, BOUNDARY_DEG = 2.0, 8.0
"""Distances from a boundary between two readings within which both are tried; two standard
deviations also count (ruling zamboni_wars.1).
"""
STILL_MM, STILL_DEG = 2.0, 5.0
"""A nest that moved and turned by less than this was not touched."""
POINT_DEG = 360 / len(FACINGS)
LAYERS_OF = {size: layers for layers, size in LAYER_SIZES.items()}
LESS_LIKELY, OTHER_LAYERS, OTHER_PLACE, OTHER_COLOUR = 1e-3, 1.0, 1.5, 4.0
"""Costs of matching a nest: not the likeliest reading, other layers, another place, another
colour.
"""


@dataclass(frozen=True, slots=True)
class Nest:
    """A nest that lies on the board.

    `spaces` and `facings` are those that it may be meant to have, the likeliest first, at least one
    of each; `layers` follow from the size of the outermost piece. Where `sure` is False its colour
    is doubtful. Where `sized` is False its layers are doubtful, or it lies as it lay and was read
    so before: then nobody has taken anything off it since. Where `was_occupied` is True a cover
    die, or something unreadable, was in its space before.
    """

    colour: str
    sure: bool
    spaces: tuple[Space, ...]
    facings: tuple[str, ...]
    layers: int
    sized: bool
    piece: SeenPiece
    was_occupied: bool = False

    @property
    def doubtful(self) -> bool:
        """True if anything about it is unsure, so that no refusal may rest on it."""
        return not self.sure or size_probability(self.piece) < SURE

    def likeliest(self) -> Nest:
        """Return its likeliest reading, ignoring doubt."""
        return replace(
            self, sure=True, spaces=self.spaces[:1], facings=self.facings[:1], sized=True
        )

    def is_of(self, player: str) -> bool:
        """True if it may be this player's."""
        return self.colour == player or not self.sure

    def may_be(self, zamboni: Zamboni) -> bool:
        """True if it may have this place and facing."""
        return zamboni.space in self.spaces and zamboni.facing in self.facings

    def has(self, layers: int) -> bool:
        """True if it may have this many layers."""
        return self.layers == layers or not self.sized


@dataclass(frozen=True, slots=True)
class Pair:
    """A Zamboni of the record, and the nest matched to it."""

    player: str
    zamboni: Zamboni
    nest: Nest


@dataclass(frozen=True, slots=True)
class Difference:
    """Differences between a table and a state.

    `moved` nests have another place or facing, `resized` ones other layers, `recoloured` ones
    another colour. `gone` are players whose nest is unseen, `strange` surplus nests. `pushed` are
    misplaced cover dice, as their possible spaces; `unseen` are spaces where one is missing. `held`
    are players whose nest is unseen but vouched for by people, which is no difference.
    """

    moved: tuple[Pair, ...]
    resized: tuple[Pair, ...]
    recoloured: tuple[Pair, ...]
    gone: tuple[str, ...]
    held: tuple[str, ...]
    strange: tuple[Nest, ...]
    pushed: tuple[tuple[Space, ...], ...]
    unseen: tuple[Space, ...]

    def __bool__(self) -> bool:
        return self.has_nests or bool(self.pushed)

    @property
    def has_nests(self) -> bool:
        """True if anything but cover dice is wrong."""
        return bool(self.moved or self.resized or self.recoloured or self.gone or self.strange)

    @property
    def doubtful(self) -> tuple[Nest, ...]:
        """Unsure nests that it rests on."""
        return tuple(
            nest
            for nest in (
                *(pair.nest for pair in (*self.moved, *self.resized, *self.recoloured)),
                *self.strange,
            )
            if nest.doubtful
        )


@dataclass(frozen=True, slots=True)
class TableMatch:
    """An observed table in spaces.

    `nests` lie on the board; pieces that are `up` are not flat on a side; `unread` are spaces where
    something new may lie that was not read, `obscured` those where anything unread lies, new or
    not. `dice` has for each cover die that was read the spaces that it may be meant to be in, the
    likeliest first; None where nobody looks for any. `held` are players whose nest lies where it is
    recorded, seen or not, on people's word. `unbelieved` are pieces that `without_impossible_nests`
    leaves out.
    """

    nests: tuple[Nest, ...]
    up: tuple[SeenPiece, ...]
    unread: frozenset[Space]
    dice: tuple[tuple[Space, ...], ...] | None = None
    held: frozenset[str] = frozenset()
    unbelieved: tuple[SeenPiece, ...] = ()
    obscured: frozenset[Space] = frozenset()

    def with_read_sizes(self) -> TableMatch:
        """The table with colours and sizes as they were read, whatever the doubt."""
        return replace(
            self, nests=tuple(replace(nest, sure=True, sized=True) for nest in self.nests)
        )

    def with_read_size(self, player: str | None) -> TableMatch:
        """Return the table with this player's nest in the size read."""
        return replace(
            self,
            nests=tuple(
                replace(nest, sized=nest.sized or nest.is_of(player or "")) for nest in self.nests
            ),
        )

    def without(self, denied: Collection[Nest]) -> TableMatch:
        """The table without nests of the colours and places of these.

        Pieces that seem to stand there are left out too.
        """
        alike = [
            nest
            for nest in self.nests
            if any(
                nest.colour == other.colour and {*nest.spaces} & {*other.spaces} for other in denied
            )
        ]
        up = [
            piece
            for piece in self.up
            if any(piece.colour == other.colour and touch(piece, other.piece) for other in denied)
        ]
        return replace(
            self,
            nests=tuple(nest for nest in self.nests if nest not in alike),
            up=tuple(piece for piece in self.up if piece not in up),
        )

    def without_impossible_nests(self, state: State) -> TableMatch:
        """Remove doubtful pieces where no nest of their colour can be.

        No player has that nest any more, or it is surely read elsewhere. An unread cover die may
        look like a nest of its colour: a player who does not drive has none in its space.
        """
        pieces = (*(nest.piece for nest in self.nests), *self.up)
        seen = {
            piece.colour
            for piece in pieces
            if min(piece.colour_probability, size_probability(piece)) >= SURE
        }

        def may_be(piece: SeenPiece) -> bool:
            doubtful = piece.colour_probability >= SURE > size_probability(piece)
            return not doubtful or (
                piece.colour in state.remaining_zambonis and piece.colour not in seen
            )

        _, unseen = self._dice(state)
        covers = {
            id(nest.piece)
            for nest in self.nests
            if nest.was_occupied
            and {*nest.spaces} & {*unseen}
            and nest.colour != state.to_move
            and not (
                nest.colour in state.remaining_zambonis
                and nest.may_be(state.remaining_zambonis[nest.colour])
            )
        }
        believed = {id(piece) for piece in pieces if may_be(piece) and id(piece) not in covers}
        return replace(
            self,
            nests=tuple(nest for nest in self.nests if id(nest.piece) in believed),
            up=tuple(piece for piece in self.up if id(piece) in believed),
            unbelieved=tuple(piece for piece in pieces if id(piece) not in believed),
        )

    def likeliest(self, players: Collection[str]) -> TableMatch:
        """Return the likeliest reading of these players' nests and of the cover dice.

        Doubt is ignored.
        """
        nests = tuple(nest.likeliest() if nest.colour in players else nest for nest in self.nests)
        return replace(
            self,
            nests=nests,
            dice=None if self.dice is None else tuple(spaces[:1] for spaces in self.dice),
        )

    def agrees_with(self, state: State) -> bool:
        """True if the table may be in this state."""
        return not self.differences(state)

    def differences(self, state: State) -> Difference:
        """The differences from a state; doubt is resolved in favour of the state."""
        slots = list(state.remaining_zambonis.items())
        cost = np.array([[_cost(nest, *slot) for nest in self.nests] for slot in slots]).reshape(
            len(slots), len(self.nests)
        )
        pairs = [
            Pair(*slots[int(row)], self.nests[int(column)])
            for row, column in zip(*least_cost_pairs(cost), strict=True)
        ]
        unpaired = [player for player, _ in slots if player not in [pair.player for pair in pairs]]
        pushed, unseen = self._dice(state)
        return Difference(
            moved=tuple(pair for pair in pairs if not pair.nest.may_be(pair.zamboni)),
            resized=tuple(pair for pair in pairs if not pair.nest.has(pair.zamboni.layers)),
            recoloured=tuple(pair for pair in pairs if not pair.nest.is_of(pair.player)),
            gone=tuple(player for player in unpaired if player not in self.held),
            held=tuple(player for player in unpaired if player in self.held),
            strange=tuple(
                nest for nest in self.nests if not any(nest is pair.nest for pair in pairs)
            ),
            pushed=pushed,
            unseen=unseen,
        )

    def _dice(self, state: State) -> tuple[tuple[tuple[Space, ...], ...], tuple[Space, ...]]:
        """Dice seen where none is recorded, and the spaces of recorded dice that are not seen.

        A nest may hide a die from the camera, and not every die is read: one that is not seen may
        well be there, and where something unread lies on its space it is. If more are read than the
        game has, those on recorded spaces count, and then the likeliest; before play they lie
        anywhere.
        """
        if self.dice is None or isinstance(state.phase, RollOff):
            return (), ()
        dice, recorded = self.dice, state.dice
        apart = np.array(
            [[space not in seen for space in recorded] for seen in dice], float
        ).reshape(len(dice), len(recorded))
        pairs = [
            (int(row), int(column))
            for row, column in zip(*least_cost_pairs(apart), strict=True)
            if not apart[row, column]
        ]
        others = [seen for row, seen in enumerate(dice) if row not in [found for found, _ in pairs]]
        unseen = tuple(
            space
            for column, space in enumerate(recorded)
            if column not in [found for _, found in pairs]
        )
        hidden = sum(space in self.obscured for space in unseen)
        return tuple(others[: state.cover_dice - len(pairs) - hidden]), unseen


def match_table(seen: Observation, before: Observation | None, board: Coasters) -> TableMatch:
    """Assign an observation to the spaces of a board; pieces outside them are out of play."""
    nests, up, occupied = [], [], _occupied_spaces(before, board)
    for piece, *others in map(_lying_readings, seen.pieces):
        if piece.pose != "lying":
            up.append(piece)
            continue
        spaces = tuple(
            dict.fromkeys(space for way in (piece, *others) for space in _spaces_of(way, board))
        )
        if spaces:
            sure = piece.colour_probability >= SURE
            sized = size_probability(piece) >= SURE and not (
                before and any(is_untouched(piece, old) for old in before.pieces)
            )
            facings = tuple(
                dict.fromkeys(facing for way in (piece, *others) for facing in _facings(way))
            )
            nests.append(
                Nest(
                    piece.colour,
                    sure,
                    spaces,
                    facings,
                    LAYERS_OF.get(piece.size, 0),
                    sized,
                    piece,
                    not occupied.isdisjoint(spaces),
                )
            )
    dice = _possible_die_spaces(seen, board)
    unread = {
        space
        for place in seen.unread_mm
        if not was_unread(place, before)
        for space in _spaces(place, board.cell_mm / 2, board)
    }
    obscured = {space for place in seen.unread_mm for space in _spaces(place, 0.0, board)}
    return TableMatch(
        tuple(nests),
        tuple(up),
        frozenset(unread),
        None if seen.dice is None else tuple(filter(None, dice)),
        obscured=frozenset(obscured),
    )


def _possible_die_spaces(seen: Observation, board: Coasters) -> list[tuple[Space, ...]]:
    """For each cover die that was read the spaces that it may be meant to be in."""
    return [
        _spaces(np.array([die.x_mm, die.y_mm]), max(BOUNDARY_MM, 2 * die.sigma_mm), board)
        for die in seen.dice or ()
    ]


def _occupied_spaces(before: Observation | None, board: Coasters) -> frozenset[Space]:
    """The spaces where a cover die, or something unreadable, was before."""
    if before is None:
        return frozenset()
    unread = (_spaces(place, 0.0, board) for place in before.unread_mm)
    return frozenset(
        space for spaces in (*unread, *_possible_die_spaces(before, board)) for space in spaces
    )


def _lying_readings(piece: SeenPiece) -> tuple[SeenPiece, ...]:
    """Readings of a piece as lying flat, as nests do, the likeliest first.

    Unchanged if it surely does not lie, or no such reading is known.
    """
    if piece.pose != "lying" and piece.pose_probability >= SURE:
        return (piece,)
    return tuple(way for way in (piece, *piece.rivals) if way.pose == "lying") or (piece,)


def _spaces_of(piece: SeenPiece, board: Coasters) -> tuple[Space, ...]:
    return _spaces(piece.contact_mm.mean(axis=0), max(BOUNDARY_MM, 2 * piece.place_sigma_mm), board)


def with_announcements(
    found: TableMatch, state: State, before: Observation | None, board: Coasters
) -> TableMatch:
    """Apply people's decisions against the picture at the last verdict.

    They located an unseen nest, or denied a nest that was surplus, doubtful, or seemed not to lie
    flat. A table on which most were unseen is ignored.
    """
    if before is None:
        return found
    ruled = match_table(before, None, board)
    then = ruled.differences(state)
    denied = (*then.strange, *then.doubtful)
    gone = ruled.without(denied).differences(state).gone
    held = frozenset(gone if mostly_seen(gone, len(state.remaining_zambonis)) else ())
    up = tuple(piece for piece in found.up if not any(touch(piece, old) for old in ruled.up))
    return replace(replace(found, up=up).without(denied), held=held)


def touch(a: SeenPiece, b: SeenPiece) -> bool:
    """True if they overlap in place."""
    return clearance(a.solid, b.solid).mm == 0.0


def size_probability(piece: SeenPiece) -> float:
    """Probability that a piece is there with its size: the product of both."""
    return piece.size_probability * piece.pose_probability


def is_untouched(piece: SeenPiece, old: SeenPiece) -> bool:
    """True if it is the same reading of an untouched piece."""
    x, y, turn_deg = piece.away_from(old)
    return (
        (piece.colour, piece.size) == (old.colour, old.size)
        and np.hypot(x, y) <= STILL_MM
        and abs(turn_deg) <= STILL_DEG
    )


def was_unread(place_mm: Array, before: Observation | None) -> bool:
    """True if something unreadable was there before: a print, or dirt."""
    return before is not None and any(
        np.linalg.norm(place_mm - old_mm) <= STILL_MM for old_mm in before.unread_mm
    )


def _cost(nest: Nest, player: str, zamboni: Zamboni) -> float:
    likely = (nest.colour, nest.spaces[0], nest.facings[0], nest.layers) == (
        player,
        zamboni.space,
        zamboni.facing,
        zamboni.layers,
    )
    wrong = (
        OTHER_COLOUR * (not nest.is_of(player))
        + OTHER_PLACE * (not nest.may_be(zamboni))
        + OTHER_LAYERS * (not nest.has(zamboni.layers))
    )
    return wrong + LESS_LIKELY * (not likely) + LESS_LIKELY * (nest.colour != player)


def _spaces(point_mm: Array, doubt_mm: float, board: Coasters) -> tuple[Space, ...]:
    """Possible spaces of a point (2,), the likeliest first."""
    along = (np.asarray(point_mm, float) - board.origin_mm) / board.cell_mm
    files, rows = (_places(float(at), doubt_mm / board.cell_mm) for at in along)
    return tuple(
        Space(file, row)
        for file, row in sorted(
            product(files, rows), key=lambda place: files.index(place[0]) + rows.index(place[1])
        )
    )


def _places(at: float, doubt: float) -> list[int]:
    """Numbers of the intervals [k, k + 1) of the board that may hold `at`, the likeliest first.

    `doubt` is less than one.
    """
    here = int(np.floor(at))
    nearer, farther = (here - 1, here + 1) if at - here < 0.5 else (here + 1, here - 1)
    reached = [here, *(k for k in (nearer, farther) if k - doubt <= at < k + 1 + doubt)]
    return [k for k in reached if 0 <= k < 2 * SIDE]


def _facings(piece: SeenPiece) -> tuple[str, ...]:
    """Possible compass points of a nest, the nearest first."""
    points = (90.0 - piece.heading_deg) / POINT_DEG
    nearest = round(points)
    doubt = max(BOUNDARY_DEG, 2 * float(np.sqrt(piece.covariance[2, 2]))) / POINT_DEG
    second = nearest + (1 if points > nearest else -1)
    meant = [nearest, second] if abs(points - nearest) >= 0.5 - doubt else [nearest]
    return tuple(FACINGS[point % len(FACINGS)] for point in meant)
