"""An observed table of Icebreaker in cells: possible places of ships and icebergs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from engines.icebreaker.board import ROW, members, union
from engines.icebreaker.state import SHIPS, State
from engines.occlusion import mostly_seen
from table.assignment import least_cost_pairs
from table.boards import Hex
from table.observation import SURE, Observation, SeenPiece
from table.solids import Array, convex_hull

BOUNDARY_MM = 2.0
"""Distance in mm from the boundary of two cells within which a point may belong to either; two
standard deviations also count.
"""
RING = 0.25
"""Radius, in cells, around a cell's middle; more than half of an iceberg's face within it has to be
visible.
"""
FAR, UNSEEN, OTHER_COLOUR = 1e-3, 0.1, 2.0
"""Costs of matching, relative to 1 for a moved ship: per cell of its way, for a ship unseen before,
for one of the other colour.
"""


@dataclass(frozen=True, slots=True)
class Ship:
    """An upright ship, with its possible cells.

    The likeliest cell comes first; there is at least one.
    """

    colour: str
    sure: bool
    cells: tuple[int, ...]
    piece: SeenPiece

    @property
    def doubtful(self) -> bool:
        """True if anything about it is unsure, so that no refusal may rest on it."""
        return not self.sure or self.piece.pose_probability < SURE

    def may_be(self, player: str, cell: int) -> bool:
        """True if it may be this player's ship in this cell."""
        return cell in self.cells and (self.colour == player or not self.sure)

    def in_place_of(self, players: Mapping[int, str]) -> bool:
        """True if it surely stands on the cell of a ship of the other colour.

        `players` maps the cells of ships to their players.
        """
        return (
            not self.doubtful
            and len(self.cells) == 1
            and players.get(self.cells[0], self.colour) != self.colour
        )


@dataclass(frozen=True, slots=True)
class Shift:
    """A ship of the record and where it is seen now."""

    player: str
    from_cell: int
    ship: Ship

    @property
    def to_cell(self) -> int:
        """The likeliest cell."""
        return self.ship.cells[0]


@dataclass(frozen=True, slots=True)
class Difference:
    """Differences between a table and a state; sets of cells for the ice.

    `moved` ships are in another cell, `gone` ones (player, cell) nowhere. `held` ones are unseen
    but vouched for by people, which is no difference. `strange` ones are surplus; `recoloured` ones
    have another colour than recorded. Icebergs are `lost` if one should be seen, `extra` if none
    should be.
    """

    moved: tuple[Shift, ...]
    gone: tuple[tuple[str, int], ...]
    held: tuple[tuple[str, int], ...]
    strange: tuple[Ship, ...]
    recoloured: tuple[Shift, ...]
    lost: int
    extra: int

    @property
    def doubtful(self) -> tuple[Ship, ...]:
        """Unsure ships that it rests on."""
        return tuple(
            ship
            for ship in (*(shift.ship for shift in (*self.moved, *self.recoloured)), *self.strange)
            if ship.doubtful
        )

    def __bool__(self) -> bool:
        return bool(
            self.moved or self.gone or self.strange or self.recoloured or self.lost or self.extra
        )


@dataclass(frozen=True, slots=True)
class TableMatch:
    """An observed table in cells.

    `ships` stand on cells; pieces that are `down` are not upright. `counters` are the possible
    cells of each; `hidden` is the set of cells whose icebergs a ship would hide. `unread` are the
    cells of each unread thing. `held` ships (player, cell) stand where recorded, seen or not,
    vouched for by people. On `faint` cells a counter may lie, but no refusal rests on that.
    """

    ships: tuple[Ship, ...]
    down: tuple[SeenPiece, ...]
    counters: tuple[tuple[int, ...], ...]
    hidden: int
    unread: tuple[tuple[int, ...], ...]
    held: frozenset[tuple[str, int]] = frozenset()
    faint: int = 0

    def agrees_with(self, state: State) -> bool:
        """True if the table may be in this state."""
        return not self.differences(state)

    def likeliest(self) -> TableMatch:
        """Return the likeliest reading of all ships, ignoring doubt."""
        return replace(
            self, ships=tuple(replace(ship, sure=True, cells=ship.cells[:1]) for ship in self.ships)
        )

    def counted(self, state: State) -> TableMatch:
        """Take unsure colours as read if they leave no choice.

        That is if all unsure ones are read as one colour, and each colour has as many ships as
        recorded.
        """
        unsure = {ship.colour for ship in self.ships if not ship.sure}
        if len(unsure) != 1 or Counter(ship.colour for ship in self.ships) != _ship_counts(state):
            return self
        return replace(self, ships=tuple(replace(ship, sure=True) for ship in self.ships))

    def surplus(self, state: State) -> tuple[Ship, ...]:
        """Surplus ships of each colour that may not be there, the most doubtful ones."""
        most = _ship_counts(state)
        found: list[Ship] = []
        for colour in dict.fromkeys(ship.colour for ship in self.ships):
            ships = [ship for ship in self.ships if ship.colour == colour]
            doubtful = [ship for ship in ships if ship.piece.pose_probability < SURE]
            doubtful.sort(key=lambda ship: ship.piece.pose_probability)
            found += doubtful[: max(len(ships) - most[colour], 0)]
        return tuple(found)

    @property
    def ships_of_unsure_cell(self) -> tuple[Ship, ...]:
        """Unsure ships with several possible cells: any may have moved."""
        return tuple(ship for ship in self.ships if ship.doubtful and len(ship.cells) > 1)

    def without(self, ships: Sequence[Ship]) -> TableMatch:
        """The table without these ships."""
        left = (ship for ship in self.ships if not any(ship is gone for gone in ships))
        return replace(self, ships=tuple(left))

    def with_rulings(self, before: TableMatch, state: State) -> TableMatch:
        """Apply people's decisions against the picture since the last verdict.

        So nobody is asked again about an iceberg or ship that is still read the same way. A table
        with ships at other places than recorded, or mostly unseen, is ignored.
        """
        then = before.differences(state)
        if then.moved or then.strange or then.recoloured or not mostly_seen(then.gone, 2 * SHIPS):
            return self
        return replace(
            self.without_ice(then.extra), hidden=self.hidden | then.lost, held=frozenset(then.gone)
        )

    def without_ice(self, cells: int) -> TableMatch:
        """Return the table without icebergs in these cells."""
        return replace(
            self,
            counters=tuple(counter for counter in self.counters if not cells >> counter[0] & 1),
        )

    def differences(self, state: State) -> Difference:
        """Differences from a state; doubt is resolved in favour of the state."""
        slots = [
            (player, cell)
            for player, cells in zip(state.players, state.ships, strict=True)
            for cell in members(cells)
        ]
        cost = np.array(
            [[self._cost(ship, *slot) for ship in self.ships] for slot in slots]
        ).reshape(len(slots), len(self.ships))
        cost += np.array([[UNSEEN * (slot in self.held)] for slot in slots])
        pairs = [
            (slots[int(row)], self.ships[int(column)])
            for row, column in zip(*least_cost_pairs(cost), strict=True)
        ]
        wrong = [Shift(*slot, ship) for slot, ship in pairs if not ship.may_be(*slot)]
        unpaired = [slot for slot in slots if slot not in [found for found, _ in pairs]]
        lost, extra = self._ice(state.ice)
        return Difference(
            moved=tuple(
                shift for shift in wrong if shift.ship.colour == shift.player or not shift.ship.sure
            ),
            gone=tuple(slot for slot in unpaired if slot not in self.held),
            held=tuple(slot for slot in unpaired if slot in self.held),
            strange=tuple(
                ship for ship in self.ships if not any(ship is found for _, found in pairs)
            ),
            recoloured=tuple(
                shift for shift in wrong if shift.ship.colour != shift.player and shift.ship.sure
            ),
            lost=lost,
            extra=extra,
        )

    @staticmethod
    def _cost(ship: Ship, player: str, cell: int) -> float:
        if ship.may_be(player, cell):
            return 0.0 if cell == ship.cells[0] and ship.colour == player else FAR
        steps = abs(cell % ROW - ship.cells[0] % ROW) + abs(cell // ROW - ship.cells[0] // ROW)
        return 1.0 + FAR * steps + (OTHER_COLOUR if ship.colour != player else 0.0)

    def _ice(self, ice: int) -> tuple[int, int]:
        """Missing and surplus icebergs, as sets of cells."""
        plain = union(*(counter[0] for counter in self.counters if len(counter) == 1))
        doubtful = [counter for counter in self.counters if len(counter) > 1]
        left = list(members(ice & ~plain))
        cost = np.array(
            [[_iceberg_cost(cell, counter, self.hidden) for cell in left] for counter in doubtful]
        ).reshape(len(doubtful), len(left))
        pairs = [
            (row, column)
            for row, column in zip(*least_cost_pairs(cost), strict=True)
            if cost[row, column] < 1
        ]
        extra = union(
            *(
                counter[0]
                for row, counter in enumerate(doubtful)
                if row not in [found for found, _ in pairs]
            )
        )
        return (
            ice
            & ~plain
            & ~union(*(left[column] for _, column in pairs))
            & ~self.hidden
            & ~self.faint,
            (plain & ~ice) | extra,
        )


def _iceberg_cost(cell: int, counter: Sequence[int], hidden: int) -> float:
    """Cost of matching a counter to a cell's iceberg; hidden cells are the last choice."""
    if cell not in counter:
        return 1.0
    return FAR * (counter.index(cell) + 2 * (hidden >> cell & 1))


def _ship_counts(state: State) -> Counter[str]:
    """Number of ships of each player."""
    counts = (cells.bit_count() for cells in state.ships)
    return Counter(dict(zip(state.players, counts, strict=True)))


def match_table(seen: Observation, board: Hex) -> TableMatch:
    """Assign an observation to the cells of a board.

    Counters and pieces outside of all cells are out of play.
    """
    grid = _grid(board)
    ships, down = [], []
    for piece in seen.pieces:
        cells = grid.cells(piece.base_mm, piece.place_sigma_mm)
        if piece.pose != "upright" and piece.pose_probability >= SURE:
            down.append(piece)
        elif cells:
            ships.append(Ship(piece.colour, piece.colour_probability >= SURE, cells, piece))
    counters = [
        (grid.cells(np.array([one.x_mm, one.y_mm]), one.sigma_mm), one.sure)
        for one in seen.counters
    ]
    faint = union(*(cell for cells, sure in counters if not sure for cell in cells))
    shadows = [_shadow(piece, seen.camera.eye_mm) for piece in seen.pieces]
    hidden = union(*(cell for shadow in shadows for cell in grid.behind(shadow)))
    unread = (grid.cells(place, 0.0) for place in seen.unread_mm)
    surely = tuple(cells for cells, sure in counters if sure and cells)
    return TableMatch(
        tuple(ships), tuple(down), surely, hidden, tuple(filter(None, unread)), faint=faint
    )


class _Grid:
    """The cells of a board in mm."""

    def __init__(self, board: Hex) -> None:
        middles = board.middles()
        last = board.size - 1
        self.numbers = [q + r + last + ROW * (r + last) for q, r in middles]
        self._middles = np.array(list(middles.values()))
        self._half = board.cell_mm / 2
        right, up = middles[1, 0] - middles[0, 0], middles[0, 1] - middles[0, 0]
        ways = np.array([right, up, up - right]) / board.cell_mm
        self._ways = np.vstack([ways, -ways])
        self._rings = self._middles[:, None] + np.vstack(
            [np.zeros(2), RING * board.cell_mm * self._ways]
        )

    def cells(self, point_mm: Array, sigma_mm: float) -> tuple[int, ...]:
        """Possible cells of a point (2,), the likeliest first."""
        reach = ((np.asarray(point_mm, float) - self._middles) @ self._ways.T).max(axis=1)
        return tuple(
            self.numbers[k]
            for k in np.argsort(reach)
            if reach[k] <= self._half + max(BOUNDARY_MM, 2 * sigma_mm)
        )

    def behind(self, shadow_mm: Array) -> list[int]:
        """Cells whose middle (RING) is more than half inside a convex outline.

        The outline is (n, 2) mm, counter-clockwise.
        """
        sides = np.roll(shadow_mm, -1, axis=0) - shadow_mm
        away = self._rings[:, :, None] - shadow_mm
        inside = (sides[:, 0] * away[..., 1] - sides[:, 1] * away[..., 0] >= 0).all(axis=2)
        return [
            number
            for number, share in zip(self.numbers, inside.mean(axis=1), strict=True)
            if share > 0.5
        ]


@cache
def _grid(board: Hex) -> _Grid:
    return _Grid(board)


def _shadow(piece: SeenPiece, eye_mm: Array) -> Array:
    """Outline (n, 2) of the part of the board that a piece hides from the camera.

    It is the piece's shadow for a light source at the camera.
    """
    vertices = piece.solid.vertices_mm
    stretched = eye_mm[:2] + (vertices[:, :2] - eye_mm[:2]) * (
        eye_mm[2] / (eye_mm[2] - vertices[:, 2:])
    )
    return convex_hull(stretched)
