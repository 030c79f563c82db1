"""Icebreaker on a simulated table: ships and icebergs placed by hand, and mistakes."""

from __future__ import annotations

from functools import partial
from random import Random

import numpy as np

from engines import icebreaker as engine
from engines.computer_player import never
from engines.icebreaker.board import ROW, label, members
from engines.icebreaker.computer_player import choose
from engines.icebreaker.moves import Move
from engines.icebreaker.state import State
from simulation.generate.layouts import Ice, jitter
from simulation.generate.tables import random_setup
from simulation.generate.throws import Thrower
from simulation.players.acts import Act
from simulation.players.driver import BoardPlayers, ByHand
from simulation.players.laying import Bodies, named_by_cell, without
from simulation.render.scene import Body, ScenePiece
from table.boards import Hex
from table.solids import upright
from table.table_config import Setup

MOVE, SYNC = "icebreaker.move", "icebreaker.out_of_sync"
HIDES_CELLS = 2.5
"""Distance in cells beyond which a ship covers nothing."""


class IcebreakerPlay(ByHand):
    """`Play` of Icebreaker.  Bodies are named by cell: `ship A1`, `ice B1`."""

    engine = engine

    def __init__(self, setup: Setup, rng: np.random.Generator) -> None:
        board = setup.board
        assert isinstance(board, Hex), "Icebreaker is played on hexagons"
        last, self._setup = board.size - 1, setup
        self._rng, self._board = rng, board
        self._chance = Random(int(rng.integers(1 << 30)))
        self._thrower, self._ice = Thrower(setup, rng), Ice(setup, rng)
        self._middles = {
            label(q + r + last + ROW * (r + last)): middle
            for (q, r), middle in board.middles().items()
        }

    def begin(self, state: State) -> Act:
        """Ships on their corners, ice on all other cells."""
        ships = {
            f"ship {label(cell)}": self._ship(player, label(cell))
            for player, cells in _ships(state)
            for cell in members(cells)
        }
        ice = {f"ice {label(cell)}": self._iceberg(label(cell)) for cell in members(state.ice)}
        return Act("set up", {**ships, **ice}, "accepted", "icebreaker.start")

    def laid(self, state: State) -> Bodies:
        """As `ByHand.laid`."""
        return self.begin(state).bodies

    def turn(self, state: State, bodies: Bodies) -> Act:
        """A legal move: half of them are searched for, the others are random."""
        move = (
            choose(state, state.next or "", "club", self._chance, never)
            if self._chance.random() < 0.5
            else self._chance.choice(list(engine.legal_moves(state)))
        )
        return Act("move", self._move_ship(state, bodies, move), "accepted", MOVE, (str(move),))

    def mistake(self, state: State, bodies: Bodies) -> Act | None:
        """One of the mistakes below, if possible."""
        every = (
            self._wrong_step,
            self._others_ship,
            self._two_icebergs,
            self._steal_icebergs,
            self._nudge_iceberg,
            self._swap_ship,
        )
        return self._chance.choice(every)(state, bodies)

    def same(self, state: State, other: State) -> bool:
        """True if the states are equal."""
        return state == other

    def named(self, bodies: Bodies) -> Bodies:
        """As `ByHand.named`: ships and ice by their cells."""
        return named_by_cell(
            bodies, self._setup, lambda body: "ship" if isinstance(body, ScenePiece) else "ice"
        )

    def _wrong_step(self, state: State, bodies: Bodies) -> Act:
        """A ship makes an illegal move; the iceberg there goes too."""
        tried = [
            Move(here, there)
            for here in members(state.ships[state.seat or 0])
            for there in _free(state)
        ]
        move = self._chance.choice(
            [move for move in tried if move not in engine.legal_moves(state)]
        )
        return Act(
            "wrong step", self._move_ship(state, bodies, move), "refused", MOVE, (str(move),)
        )

    def _others_ship(self, state: State, bodies: Bodies) -> Act:
        """A ship moves that is not the next player's."""
        move = Move(
            self._chance.choice(list(members(state.ships[1 - (state.seat or 0)]))),
            self._chance.choice(_free(state)),
        )
        return Act(
            "other's ship", self._move_ship(state, bodies, move), "refused", MOVE, (str(move),)
        )

    def _two_icebergs(self, state: State, bodies: Bodies) -> Act | None:
        """A legal move, and an iceberg elsewhere is taken too."""
        move = self._chance.choice(list(engine.legal_moves(state)))
        moved = self._move_ship(state, bodies, move)
        seen = self._in_sight(moved)
        return (
            Act(
                "two icebergs",
                without(moved, self._chance.choice(seen)),
                "refused",
                MOVE,
                (str(move),),
            )
            if seen
            else None
        )

    def _steal_icebergs(self, _state: State, bodies: Bodies) -> Act | None:
        """Two icebergs vanish."""
        seen = self._in_sight(bodies)
        if len(seen) < 2:
            return None
        return Act(
            "stolen ice", without(bodies, *self._chance.sample(seen, 2)), "out_of_sync", SYNC
        )

    def _nudge_iceberg(self, state: State, bodies: Bodies) -> Act | None:
        """An iceberg is pushed into a cell without one."""
        seen = self._in_sight(bodies)
        empty = [
            label(cell)
            for cell in _free(state)
            if not state.ice >> cell & 1 and self._is_clear(bodies, label(cell))
        ]
        if not seen or not empty:
            return None
        there = self._chance.choice(empty)
        return Act(
            "nudged ice",
            {**without(bodies, self._chance.choice(seen)), f"ice {there}": self._iceberg(there)},
            "out_of_sync",
            SYNC,
        )

    def _swap_ship(self, state: State, bodies: Bodies) -> Act:
        """A ship is exchanged for one of another colour."""
        seat = self._chance.randrange(2)
        cell = label(self._chance.choice(list(members(state.ships[seat]))))
        return Act(
            "swapped ship",
            {**bodies, f"ship {cell}": self._ship(state.players[1 - seat], cell)},
            "out_of_sync",
            SYNC,
        )

    def _move_ship(self, state: State, bodies: Bodies, move: Move) -> Bodies:
        """A ship moves from cell to cell, and takes the iceberg there."""
        player = next(player for player, cells in _ships(state) if cells >> move.from_cell & 1)
        here, there = label(move.from_cell), label(move.to_cell)
        return {
            **without(bodies, f"ship {here}", f"ice {there}"),
            f"ship {there}": self._ship(player, there),
        }

    def _ship(self, player: str, cell: str) -> Body:
        size = self._thrower.size
        x, y = self._middles[cell] + jitter(
            self._rng, max(0.5, 0.5 * (self._board.cell_mm - 1.3 * size.base_mm))
        )
        return self._thrower.piece(
            player, upright(size, float(x), float(y), float(self._rng.uniform(0, 360))), size
        )

    def _iceberg(self, cell: str) -> Body:
        return self._ice.counter(
            self._middles[cell]
            + jitter(self._rng, 0.5 * (self._board.cell_mm - self._ice.kind.diameter_mm)),
            0.0,
        )

    def _in_sight(self, bodies: Bodies) -> list[str]:
        """Icebergs that no ship can hide."""
        return [
            name
            for name in bodies
            if name.startswith("ice") and self._is_clear(bodies, name.removeprefix("ice "))
        ]

    def _is_clear(self, bodies: Bodies, cell: str) -> bool:
        ships = [
            self._middles[name.removeprefix("ship ")] for name in bodies if name.startswith("ship")
        ]
        return all(
            np.hypot(*(self._middles[cell] - ship)) > HIDES_CELLS * self._board.cell_mm
            for ship in ships
        )


def _ships(state: State) -> list[tuple[str, int]]:
    """Players with the indices of their ships' cells."""
    return list(zip(state.players, state.ships, strict=True))


def _free(state: State) -> list[int]:
    """Cells without a ship."""
    return list(members(state.setting.board.cells & ~state.ships[0] & ~state.ships[1]))


PLAYERS = BoardPlayers(
    random_setup=partial(random_setup, "icebreaker"), play=IcebreakerPlay, lessons_seed=3
)
