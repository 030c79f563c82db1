"""Random positions of games on boards.

Nests on coasters, ships and ice on hexagons, pyramids on tiles.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np

from engines.icefloe.board import starting_board
from simulation.generate.throws import Placed, Thrower, is_clear_of_cards, throw_boule, throw_storm
from simulation.render.board_art import SHEET_MARGIN_MM, SUITS, TileStyle, counter, ringed_counter
from simulation.render.ground import table_z_mm
from simulation.render.scene import ALBEDO, Slab
from table.boards import Coasters, Hex, Tiles
from table.cells import FILES
from table.clearance import is_free
from table.errors import InputError
from table.json_data import JsonObject
from table.messages import msg, phrase
from table.solids import Array, lying, upright
from table.table_config import Setup

FREE_MM = 0.3
"""Least gap between objects that do not touch."""


@dataclass(frozen=True, slots=True, eq=False)
class Layout:
    """Pieces, counters and tiles on a table.

    `truth` holds further truth of the board.
    """

    placed: tuple[Placed, ...]
    slabs: tuple[Slab, ...] = ()
    truth: JsonObject = field(default_factory=dict)


def random_layout(setup: Setup, rng: np.random.Generator) -> Layout:
    """A random position of the game of `setup`.

    Raises InputError for an unknown game, or one that does not fit the board.
    """
    board = setup.board
    match setup.game.name:
        case "ice_boule":
            return Layout(tuple(throw_boule(setup, rng)))
        case "ice_storm":
            return Layout(tuple(throw_storm(setup, rng)))
        case "zamboni_wars" if isinstance(board, Coasters):
            return lay_nests(setup, board, rng)
        case "icebreaker" if isinstance(board, Hex):
            return lay_ships(setup, board, rng)
        case "icefloe" if isinstance(board, Tiles):
            return lay_tiles(setup, board, rng)
    games = phrase(
        "ice_boule, ice_storm, zamboni_wars on coasters, icebreaker on hex or icefloe on tiles"
    )
    raise InputError(
        msg(
            "scene: game.name: expected {text}, got {raw} on {raw2}",
            text=games,
            raw=repr(setup.game.name),
            raw2=repr(type(board).__name__.lower()),
        )
    )


def lay_nests(setup: Setup, board: Coasters, rng: np.random.Generator) -> Layout:
    """One lying nest for each player, with only its outermost piece visible.

    Layers that were shot off lie beside the board.
    """
    thrower = Thrower(setup, rng)
    zambonis: dict[str, JsonObject] = {}
    for colour in setup.game.colours:
        for _ in range(60):
            column, row = int(rng.integers(board.cols)), int(rng.integers(board.rows))
            layers, facing = int(rng.integers(1, 4)), 45 * int(rng.integers(8))
            size = setup.sizes[layers - 1]
            heading = facing + float(rng.normal(0, 4))
            middle = (
                np.asarray(board.origin_mm)
                + board.cell_mm * (np.array([column, row]) + 0.5)
                + rng.normal(0, 2.0, 2)
            )
            edge = middle - size.slant_mm / 2 * np.array(
                [math.cos(math.radians(heading)), math.sin(math.radians(heading))]
            )
            solid = lying(size, float(edge[0]), float(edge[1]), heading)
            taken = any(other["cell"] == [column, row] for other in zambonis.values())
            if taken or not is_free(solid, thrower.solids(), FREE_MM):
                continue
            place = thrower.place(colour, "lying", solid, edge, heading, "zamboni", size=size)
            thrower.placed[-1] = replace(place, piece=thrower.piece(colour, solid, size, layers))
            zambonis[colour] = {"cell": [column, row], "facing_deg": facing, "layers": layers}
            break
    if rng.random() < 0.5:
        for colour, nest in zambonis.items():
            for size in setup.sizes[nest["layers"] :]:
                thrower.throw_beside(colour, size)
    return Layout(tuple(thrower.placed), (), {"zambonis": zambonis})


def lay_ships(setup: Setup, board: Hex, rng: np.random.Generator) -> Layout:
    """Three ships for each player, and ice on other cells, all a little off the middle.

    Counters that were won lie beside the board.
    """
    thrower, middles = Thrower(setup, rng), board.middles()
    cells = [(int(q), int(r)) for q, r in rng.permutation(list(middles))]
    ships: dict[str, list[list[int]]] = {colour: [] for colour in setup.game.colours}
    slack = 0.5 * (board.cell_mm - 1.3 * thrower.size.base_mm)
    for index in range(6):
        colour, cell = setup.game.colours[index % 2], cells[index]
        spot, heading = middles[cell] + jitter(rng, max(0.5, slack)), float(rng.uniform(0, 360))
        thrower.place(
            colour,
            "upright",
            upright(thrower.size, float(spot[0]), float(spot[1]), heading),
            spot,
            heading,
            "ship",
        )
        ships[colour].append(list(cell))
    ice = Ice(setup, rng)
    lying_on = [
        cell
        for cell in cells[6 : 6 + int(rng.integers(5, 56))]
        if ice.lay(middles[cell], board.cell_mm, thrower.placed)
    ]
    counters = list(ice.slabs)
    beside = ice.lay_beside(int(rng.integers(1, 12))) if rng.random() < 0.3 else []
    truth = {
        "counters": [ice.truth(slab) for slab in counters],
        "off_counters": [ice.truth(slab) for slab in beside],
        "cells": {**ships, "ice": [list(cell) for cell in lying_on]},
    }
    return Layout(tuple(thrower.placed), (*counters, *beside), truth)


class Ice:
    """Lays counters of one kind on a board."""

    def __init__(self, setup: Setup, rng: np.random.Generator) -> None:
        assert setup.game.counters is not None, "Icebreaker is played with counters"
        self.setup, self.rng, self.kind = setup, rng, setup.game.counters
        self.thickness_mm, self.gloss = (
            float(rng.uniform(1.2, 7.0)),
            float(rng.choice([0.0, 0.05, 0.15])),
        )
        r, g, b = (
            float(np.clip(value, 0.02, 0.9))
            for value in (
                np.array(ALBEDO[self.kind.colour])
                * rng.uniform(0.8, 1.1)
                * rng.uniform(0.96, 1.04, 3)
            )
        )
        self.rgb = (r, g, b)
        self.face = (
            ringed_counter(self.kind.diameter_mm, self.rgb, rng) if rng.random() < 0.35 else None
        )
        self.slabs: list[Slab] = []

    def lay(self, middle: Array, cell_mm: float, placed: list[Placed]) -> bool:
        """Lay a counter near the middle of a cell; False if there is no room."""
        slack = 0.5 * (cell_mm - self.kind.diameter_mm)
        for _ in range(12):
            spot = middle + jitter(self.rng, slack)
            others = [_middle(slab) for slab in self.slabs]
            if any(np.hypot(*(spot - other)) < self.kind.diameter_mm + FREE_MM for other in others):
                continue
            reach = self.kind.diameter_mm / 2 + FREE_MM
            corners = [
                np.hypot(*(place.piece.solid.vertices_mm[:4, :2] - place.base_mm).T).max()
                for place in placed
            ]
            if all(
                np.hypot(*(place.base_mm - spot)) > reach + corner
                for place, corner in zip(placed, corners, strict=True)
            ):
                self.slabs.append(self.counter(spot, 0.0))
                return True
        return False

    def lay_beside(self, count: int) -> list[Slab]:
        """Counters on the table beside the board, in a heap that does not overlap."""
        outline = self.setup.outline_mm()
        low, high = outline.min(axis=0) - SHEET_MARGIN_MM, outline.max(axis=0) + SHEET_MARGIN_MM
        reach = self.kind.diameter_mm / 2 + 2.0
        beside: list[Slab] = []
        heap = self.rng.uniform(low - 60, high + 60)
        for _ in range(40 * count):
            spot = heap + self.rng.normal(0, 25, 2)
            outside = bool((spot < low - reach).any() or (spot > high + reach).any())
            free = all(np.hypot(*(spot - _middle(slab))) > 2 * reach for slab in beside)
            if (
                outside
                and free
                and len(beside) < count
                and is_clear_of_cards(self.setup, spot, reach)
            ):
                beside.append(self.counter(spot, table_z_mm(self.setup)))
        return beside

    def truth(self, slab: Slab) -> JsonObject:
        """Truth entry of a counter: colour, place and diameter."""
        x, y = _middle(slab)
        return {
            "colour": self.kind.colour,
            "x_mm": float(x),
            "y_mm": float(y),
            "diameter_mm": self.kind.diameter_mm,
        }

    def counter(self, spot: Array, z_mm: float) -> Slab:
        """A counter with its middle at a place (2,), on the plane z."""
        printed = (
            self.face.print((float(spot[0]), float(spot[1]))) if self.face is not None else None
        )
        return counter(
            spot, self.kind.diameter_mm, self.thickness_mm, self.rgb, printed, self.gloss, z_mm
        )


def lay_tiles(setup: Setup, board: Tiles, rng: np.random.Generator) -> Layout:
    """A floe with tiles missing, displaced and askew, and pyramids on it."""
    tiles = {floe.place: floe.tile for floe in starting_board(4).floes}
    places = {
        (column, row): tiles.get(f"{FILES[column]}{row + 1}", "")
        for column in range(5)
        for row in range(5)
    }
    held = {place: name for place, name in places.items() if name}
    for index in rng.permutation(len(held))[: int(rng.integers(0, 11))]:
        del held[[place for place, name in places.items() if name][index]]
    for _ in range(int(rng.integers(0, 4))):
        free = [place for place in places if place not in held]
        here = list(held)[int(rng.integers(len(held)))]
        if beside := [
            place for place in free if abs(place[0] - here[0]) + abs(place[1] - here[1]) == 1
        ]:
            held[beside[int(rng.integers(len(beside)))]] = held.pop(here)
    crowns = setup.game.colours[2] if len(setup.game.colours) > 2 else "yellow"
    style = TileStyle(board, SUITS | {"C": crowns}, rng)
    quarter_turns = rng.random() < 0.35
    slabs = []
    for place, name in held.items():
        middle, turn = _pushed_place(board, place, set(held), rng)
        slabs.append(
            style.tile(
                name,
                middle,
                turn + (90 * int(rng.integers(4)) if quarter_turns else 0),
                table_z_mm(setup),
            )
        )
    thrower = Thrower(setup, rng, opaque_share=0.85)
    _stand_pyramids(thrower, board, slabs)
    if rng.random() < 0.35:
        standing = {(place.piece.colour, place.size) for place in thrower.placed}
        gone = [
            (colour, size)
            for colour in setup.game.colours
            for size in setup.sizes
            if (colour, size.name) not in standing
        ]
        for colour, size in gone[: int(rng.integers(1, 6))]:
            thrower.throw_beside(colour, size)
    named = {
        f"{FILES[column]}{row + 1}": held.get((column, row))
        for column in range(5)
        for row in range(5)
    }
    truth = {
        "board_state": {name: tile is not None for name, tile in named.items()},
        "tiles": {name: tile for name, tile in named.items() if tile is not None},
    }
    return Layout(tuple(thrower.placed), tuple(slabs), truth)


def _pushed_place(
    board: Tiles, place: tuple[int, int], held: set[tuple[int, int]], rng: np.random.Generator
) -> tuple[Array, float]:
    """Actual place of a tile: middle (2,) in mm, and rotation in degrees.

    It is nearly in its place, or pushed towards an empty place beside it.
    """
    gap = board.cell_mm - board.tile_mm
    middle = (
        np.asarray(board.origin_mm)
        + board.cell_mm * (np.array(place) + 0.5)
        + rng.uniform(-0.4, 0.4, 2) * gap
    )
    turn = float(np.degrees(rng.uniform(-0.5, 0.5) * gap / board.tile_mm))
    for step in rng.permutation([(1, 0), (-1, 0), (0, 1), (0, -1)]):
        if (place[0] + int(step[0]), place[1] + int(step[1])) not in held and rng.random() < 0.12:
            return middle + float(rng.uniform(0.5, 5.0)) * step, turn + float(rng.normal(0, 1.0))
    return middle, turn


def _stand_pyramids(thrower: Thrower, board: Tiles, slabs: list[Slab]) -> None:
    """Some of every player's pyramids on tiles; they may extend slightly beyond the edge."""
    rng, share = thrower.rng, float(thrower.rng.uniform(0.5, 1.0))
    for colour in thrower.setup.game.colours:
        for size in thrower.setup.sizes:
            if rng.random() > share:
                continue
            for _ in range(20):
                slab = slabs[int(rng.integers(len(slabs)))]
                reach = board.tile_mm / 2 - 0.3 * size.base_mm
                spot, heading = (
                    _middle(slab) + rng.uniform(-reach, reach, 2),
                    float(rng.uniform(0, 360)),
                )
                solid = upright(size, float(spot[0]), float(spot[1]), heading)
                if is_free(solid, thrower.solids(), FREE_MM):
                    thrower.place(colour, "upright", solid, spot, heading, "pyramid", size=size)
                    break


def jitter(rng: np.random.Generator, slack_mm: float) -> Array:
    """A random offset (2,) from the middle, mostly small, at most as large as the slack."""
    turn, share = float(rng.uniform(0, 2 * math.pi)), float(rng.beta(1.2, 3.0))
    return share * slack_mm * np.array([math.cos(turn), math.sin(turn)])


def _middle(slab: Slab) -> Array:
    middle: Array = slab.outline_mm.mean(axis=0)
    return middle
