"""IceFloe on a simulated table: tiles that slide and sink, pyramids, votes, and mistakes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from random import Random

import numpy as np

from engines import icefloe as engine
from engines.icefloe.announcements import saying
from engines.icefloe.board import LETTERS, PLACES
from engines.icefloe.moves import Done, Move, Movement, Placing, Removal, Slide
from engines.icefloe.state import State
from simulation.generate.rest_poses import moved
from simulation.generate.tables import random_setup
from simulation.generate.throws import Thrower
from simulation.players.acts import Act
from simulation.players.driver import BoardPlayers, ByHand
from simulation.players.laying import Bodies, without
from simulation.render.board_art import SUITS, TileStyle
from simulation.render.ground import table_z_mm
from simulation.render.scene import Body, ScenePiece, Slab
from table.boards import Tiles
from table.clearance import is_free
from table.solids import Array, Solid, upright
from table.table_config import Setup

MOVE, REMOVED, SYNC = "icefloe.move", "icefloe.removed", "icefloe.out_of_sync"
HASTE = 12
"""Weight of a move that ends a vote, relative to laying one coin."""
TRIES = 200


class IcefloePlay(ByHand):
    """`Play` of IceFloe.  Bodies are named by the game: `tile S4`, `pyramid ES`."""

    engine = engine

    def __init__(self, setup: Setup, rng: np.random.Generator) -> None:
        board = setup.board
        assert isinstance(board, Tiles), "IceFloe is played on tiles"
        self._rng, self._chance, self._board = rng, Random(int(rng.integers(1 << 30))), board
        crowns = next(
            (colour for colour in setup.game.colours if colour in ("yellow", "green")), "yellow"
        )
        self._style, self._low_mm = TileStyle(board, SUITS | {"C": crowns}, rng), table_z_mm(setup)
        self._thrower, self._sizes = (
            Thrower(setup, rng, opaque_share=0.85),
            {size.name: size for size in setup.sizes},
        )

    def begin(self, state: State) -> Act:
        """All tiles are laid out and all pyramids placed."""
        bodies = self.laid(state)
        moves: list[str] = []
        while state.phase == "place":
            move = self._chance.choice(
                [move for move in engine.legal_moves(state) if isinstance(move, Placing)]
            )
            bodies = {**bodies, **self._place_pyramid(state, bodies, move.pyramid, move.place)}
            state = engine.play(state, move)
            moves.append(str(move))
        return Act("set up", bodies, "accepted", "icefloe.start", tuple(moves))

    def laid(self, state: State) -> Bodies:
        """As `ByHand.laid`."""
        bodies: dict[str, Body] = {
            f"tile {floe.tile}": self._tile(floe.tile, floe.place) for floe in state.board.floes
        }
        for floe in state.board.floes:
            for name in floe.pyramids:
                bodies |= self._place_pyramid(state, bodies, name, floe.place)
        return bodies

    def turn(self, state: State, bodies: Bodies) -> Act:
        """The next act in the game."""
        match state.phase:
            case "move":
                move: Move = self._chance.choice(_visible(state))
                return Act(
                    "move", self._apply_move(state, bodies, move), "accepted", MOVE, (str(move),)
                )
            case "remove":
                move = Removal(state.tile)
                return Act(
                    "removal",
                    self._apply_move(state, bodies, move),
                    "accepted",
                    REMOVED,
                    (str(move),),
                )
            case "extra" if self._chance.random() < 0.4:
                move = Removal(self._chance.choice(state.board.empty).tile)
                return Act(
                    "removal of an empty tile",
                    self._apply_move(state, bodies, move),
                    "accepted",
                    "icefloe.removed_empty",
                    (str(move),),
                )
        return self._say(state, bodies)

    def mover(self, state: State) -> str | None:
        """Who acts next: the next bearer says that they take the torch."""
        return state.after(state.torch) if state.phase == "torch" else super().mover(state)

    def mistake(self, state: State, bodies: Bodies) -> Act | None:
        """One of the mistakes below, if possible."""
        if state.phase not in ("move", "remove"):
            return None
        every = [self._wrong_tile, self._steal, self._swap, self._two_pyramids]
        if state.phase == "move":
            every += [self._wrong_step, self._out_of_turn, self._wrong_slide]
        return self._chance.choice(every)(state, bodies)

    def same(self, state: State, other: State) -> bool:
        """True if the states are equal."""
        return state == other

    def _say(self, state: State, bodies: Bodies) -> Act:
        """A spoken act."""
        moves = [move for move in engine.legal_moves(state) if saying(state, move)[1]]
        (move,) = self._chance.choices(
            moves, [HASTE if isinstance(move, Done) else 1 for move in moves]
        )
        after = engine.play(state, move)
        passes = (
            [f"torch {after.after(after.torch)}"]
            if isinstance(move, Removal) and after.phase == "torch"
            else []
        )
        _, heard = saying(state, move)
        return Act("word", bodies, "heard", "", (str(move), *passes), heard)

    def _wrong_step(self, state: State, bodies: Bodies) -> Act | None:
        """A pyramid of the next player makes an illegal move."""
        tried = [
            Movement(name, _place(state, name), there)
            for name in state.pyramids(str(state.mover))
            for there in _afloat(state)
        ]
        tried = [
            move for move in tried if move.origin != move.target and engine.violation(state, move)
        ]
        return self._refused("wrong step", state, bodies, tried)

    def _out_of_turn(self, state: State, bodies: Bodies) -> Act | None:
        """A player whose turn it is not moves a pyramid."""
        names = [name for name in state.board.pyramids if state.owner(name) != state.mover]
        light = [floe.place for floe in state.board.floes if floe.weight < 3]
        tried = [
            Movement(name, _place(state, name), there)
            for name in names
            for there in light
            if there != _place(state, name)
        ]
        return self._refused("other's pyramid", state, bodies, tried)

    def _wrong_slide(self, state: State, bodies: Bodies) -> Act | None:
        """A tile slides with no piece of the player on it, or too far."""
        free = [place for place in PLACES if state.board.at(place) is None]
        tried = [Slide(here, there) for here in _afloat(state) for there in free]
        return self._refused(
            "wrong slide", state, bodies, [move for move in tried if engine.violation(state, move)]
        )

    def _refused(
        self, name: str, state: State, bodies: Bodies, tried: Sequence[Move]
    ) -> Act | None:
        if not tried:
            return None
        move = self._chance.choice(tried)
        return Act(name, self._apply_move(state, bodies, move), "refused", MOVE, (str(move),))

    def _wrong_tile(self, state: State, bodies: Bodies) -> Act:
        """A tile is taken off that was not voted for, or at the wrong time."""
        move = Removal(
            self._chance.choice(
                [floe.tile for floe in state.board.floes if floe.tile != state.tile]
            )
        )
        return Act(
            "wrong tile", self._apply_move(state, bodies, move), "refused", REMOVED, (str(move),)
        )

    def _two_pyramids(self, state: State, bodies: Bodies) -> Act | None:
        """Two pyramids are moved at once, to empty tiles."""
        names, empty = (
            self._chance.sample(state.board.pyramids, 2),
            [floe.place for floe in state.board.empty],
        )
        if len(empty) < 2:
            return None
        for name, there in zip(names, self._chance.sample(empty, 2), strict=True):
            bodies = {
                **without(bodies, f"pyramid {name}"),
                **self._place_pyramid(state, bodies, name, there),
            }
        return Act("two pyramids", bodies, "out_of_sync", SYNC)

    def _steal(self, state: State, bodies: Bodies) -> Act:
        """Another player's pyramid is taken away."""
        goes = state.board.floe_of(state.tile)
        name = self._chance.choice(
            [
                name
                for name in state.board.pyramids
                if state.owner(name) != state.mover and not (goes and name in goes.pyramids)
            ]
        )
        return Act("stolen pyramid", without(bodies, f"pyramid {name}"), "out_of_sync", SYNC)

    def _swap(self, state: State, bodies: Bodies) -> Act | None:
        """A pyramid is exchanged for a much larger or smaller one of its suit."""
        name = self._chance.choice(state.board.pyramids)
        other = LETTERS[(LETTERS.index(name[0]) + 3) % 6]
        rest = without(bodies, f"pyramid {name}")
        swapped = self._place_pyramid(state, rest, other + name[1], _place(state, name))
        return Act(
            "exchanged pyramid",
            {**rest, f"pyramid {name}": next(iter(swapped.values()))},
            "out_of_sync",
            SYNC,
        )

    def _apply_move(self, state: State, bodies: Bodies, move: Move) -> Bodies:
        """The table after a move, lawful or not, and its consequences."""
        match move:
            case Slide():
                return self._slide_tile(state, bodies, move)
            case Removal():
                return _sink_tile(state, bodies, str(move.tile))
            case Movement():
                bodies = {
                    **without(bodies, f"pyramid {move.pyramid}"),
                    **self._place_pyramid(state, bodies, move.pyramid, move.target),
                }
                sunk = None if engine.violation(state, move) else engine.play(state, move).sunk
                return (
                    without(_sink_tile(state, bodies, sunk), f"pyramid {move.pyramid}")
                    if sunk and sunk != state.sunk
                    else bodies
                )
            case _:
                raise ValueError(f"expected a move on the table, got {move}")

    def _slide_tile(self, state: State, bodies: Bodies, move: Slide) -> Bodies:
        """A tile slides with all that stands on it."""
        floe = state.board.at(move.origin)
        assert floe is not None, "a tile slides"
        step = self._middle_mm(move.target) - self._middle_mm(move.origin)
        carried = {f"tile {floe.tile}", *(f"pyramid {name}" for name in floe.pyramids)}
        return {
            name: _shift_body(body, step) if name in carried else body
            for name, body in bodies.items()
        }

    def _place_pyramid(
        self, state: State, bodies: Bodies, name: str, place: str
    ) -> dict[str, Body]:
        """Put a pyramid somewhere on a tile, apart from all others.

        If there is no other room it lies near the tile's edge.
        """
        size, others = (
            self._sizes[name[0]],
            [
                body.solid
                for body in without(bodies, f"pyramid {name}").values()
                if isinstance(body, ScenePiece)
            ],
        )
        solid: Solid | None = None
        for attempt in range(TRIES):
            reach = max(2.0, self._board.tile_mm / 2 - 0.5 * size.base_mm) * (
                1 + 0.4 * attempt / TRIES
            )
            x, y = self._middle_mm(place) + self._rng.uniform(-reach, reach, 2)
            solid = upright(size, float(x), float(y), float(self._rng.uniform(0, 360)))
            if is_free(solid, others):
                break
        assert solid is not None, "it was tried"
        return {f"pyramid {name}": self._thrower.piece(str(state.owner(name)), solid, size)}

    def _tile(self, tile: str, place: str) -> Slab:
        gap = self._board.cell_mm - self._board.tile_mm
        middle = self._middle_mm(place) + self._rng.uniform(-0.4, 0.4, 2) * gap
        return self._style.tile(
            tile,
            middle,
            float(np.degrees(self._rng.uniform(-0.4, 0.4) * gap / self._board.tile_mm)),
            self._low_mm,
        )

    def _middle_mm(self, place: str) -> Array:
        column, row = ord(place[0]) - ord("a"), int(place[1]) - 1
        middle: Array = np.asarray(self._board.origin_mm) + self._board.cell_mm * (
            np.array([column, row]) + 0.5
        )
        return middle


def _visible(state: State) -> list[Move]:
    """Legal moves on the table that the camera can see."""
    return [
        move
        for move in engine.legal_moves(state)
        if isinstance(move, Slide) or (isinstance(move, Movement) and move.origin != move.target)
    ]


def _place(state: State, pyramid: str) -> str:
    floe = state.board.floe_under(pyramid)
    assert floe is not None, "it is in play"
    return floe.place


def _afloat(state: State) -> list[str]:
    return [floe.place for floe in state.board.floes]


def _sink_tile(state: State, bodies: Bodies, tile: str) -> Bodies:
    """A tile is taken off with all that stands on it."""
    floe = state.board.floe_of(tile)
    return without(
        bodies, f"tile {tile}", *(f"pyramid {name}" for name in (floe.pyramids if floe else ()))
    )


def _shift_body(body: Body, step: Array) -> Body:
    if isinstance(body, ScenePiece):
        return replace(body, solid=moved(body.solid, float(step[0]), float(step[1])))
    assert isinstance(body, Slab), "tiles and pyramids lie there"
    face = body.face
    if face is not None:
        x, y = np.asarray(face.middle_mm) + step
        face = replace(face, middle_mm=(float(x), float(y)))
    return replace(body, outline_mm=body.outline_mm + step, face=face)


PLAYERS = BoardPlayers(
    random_setup=partial(random_setup, "icefloe"), play=IcefloePlay, lessons_seed=2
)
