"""Players of Convoy: one that thinks ahead, and hands that play, err and cheat."""

from __future__ import annotations

from random import Random

import numpy as np

import convoy
from convoy.rules import Move, State, legal_moves, outcome, play, pushed, standing, violation
from simulation.generate.tables import random_table
from simulation.generate.throws import Thrower
from simulation.players.acts import Act
from simulation.players.driver import BoardPlayers, ByHand
from simulation.players.laying import Bodies, named_by_cell, without
from simulation.render.scene import Body
from table.boards import Chessboard
from table.cells import cell_middle_mm
from table.solids import upright
from table.table_config import Game, Setup

MOVE, SYNC = "convoy.move", "convoy.out_of_sync"
WON, POINT = 1000, 6
SLOPPY = 0.25
"""Maximum placement error of hands, as a fraction of a square's side."""


class SearchPlayer:
    """Alpha-beta search for the best lead in points and steps."""

    def __init__(self, chance: Random, depth: int = 2) -> None:
        self._chance, self._depth = chance, depth

    def choose(self, state: State) -> Move:
        """A legal move; ties are broken at random."""
        moves = list(legal_moves(state))
        self._chance.shuffle(moves)
        return max(moves, key=lambda move: -_value(play(state, move), self._depth - 1))


def _value(state: State, depth: int, low: int = -2 * WON, high: int = 2 * WON) -> int:
    """Value of a state for the player to move."""
    if (ended := outcome(state)) is not None:
        won = ended.winner == state.players[state.turn]
        return (WON + depth) * (1 if won else -1)
    if depth == 0:
        return _lead(state)
    best = -2 * WON
    for move in legal_moves(state):
        best = max(best, -_value(play(state, move), depth - 1, -high, -max(low, best)))
        if best >= high:
            break
    return best


def _lead(state: State) -> int:
    steps = [0, 0]
    for rank, row in enumerate(state.rows):
        steps[0] += rank * row.count("1")
        steps[1] += (len(state.rows) - 1 - rank) * row.count("2")
    worth = [own + POINT * points for own, points in zip(steps, state.scores, strict=True)]
    return worth[state.turn] - worth[1 - state.turn]


def random_setup(rng: np.random.Generator) -> Setup:
    """A table with a board of the usual size."""
    square_mm = float(rng.choice([36.0, 40.0, 45.0]))
    board = Chessboard(square_mm=square_mm, files=5, ranks=6)
    colours = tuple(str(one) for one in rng.permutation(("red", "blue", "yellow", "green")))
    size = "medium" if square_mm < 40 else str(rng.choice(["medium", "large"]))
    return random_table(board, Game(name="convoy", colours=colours[:2], sizes=(size,)), rng)


class ConvoyPlay(ByHand):
    """`simulation.players.driver.Play` of Convoy.  Bodies are named by square: `pyramid a1`."""

    engine = convoy

    def __init__(self, setup: Setup, rng: np.random.Generator) -> None:
        board = setup.board
        assert isinstance(board, Chessboard), "Convoy is played on a chessboard"
        self._setup, self._board, self._rng = setup, board, rng
        self._chance = Random(int(rng.integers(1 << 30)))
        self._player, self._thrower = SearchPlayer(self._chance), Thrower(setup, rng)

    def begin(self, state: State) -> Act:
        """Every pyramid on its square."""
        bodies = {
            f"pyramid {cell}": self._put(player, cell) for cell, player in state.pieces.items()
        }
        return Act("set up", bodies, "accepted", "convoy.start")

    def turn(self, state: State, bodies: Bodies) -> Act:
        """A good move, or a random one."""
        move = self._player.choose(state)
        if self._chance.random() < 0.3:
            move = self._chance.choice(list(legal_moves(state)))
        code = "convoy.fell" if play(state, move).lost != state.lost else MOVE
        return Act("move", self._moved(state, bodies, move), "accepted", code, (str(move),))

    def mistake(self, state: State, bodies: Bodies) -> Act | None:
        """An illegal step or push, or a pyramid that vanishes or changes colour."""
        tries = (self._wrong_step, self._wrong_push, self._stolen, self._swapped)
        return self._chance.choice(tries)(state, bodies)

    def same(self, state: State, other: State) -> bool:
        """True if both states have the same pyramids on the same squares."""
        return state == other

    def named(self, bodies: Bodies) -> Bodies:
        """Bodies named by their squares."""
        return named_by_cell(bodies, self._setup, lambda _: "pyramid")

    def _wrong_step(self, state: State, bodies: Bodies) -> Act | None:
        """A pyramid moves illegally to an empty square."""
        empty = [cell for cell in state.cells if cell not in state.pieces]
        moves = [Move(origin, target) for origin in state.pieces for target in empty]
        return self._refused("wrong step", state, bodies, moves)

    def _wrong_push(self, state: State, bodies: Bodies) -> Act | None:
        """A line pushes without being strong enough."""
        own = [cell for cell, player in state.pieces.items() if player == state.next]
        moves = [Move(cell, f"{cell[0]}{int(cell[1]) + (1, -1)[state.turn]}") for cell in own]
        weak = [
            move
            for move in moves
            if (wrong := violation(state, move)) and wrong.code == "convoy.weak"
        ]
        return self._refused("weak push", state, bodies, weak)

    def _refused(self, name: str, state: State, bodies: Bodies, moves: list[Move]) -> Act | None:
        wrong = [move for move in moves if violation(state, move)]
        if not wrong:
            return None
        move = self._chance.choice(wrong)
        return Act(name, self._moved(state, bodies, move), "refused", MOVE, (str(move),))

    def _stolen(self, state: State, bodies: Bodies) -> Act | None:
        """A pyramid that no move affects is removed."""
        if not (cells := self._untouched(state)):
            return None
        gone = without(bodies, f"pyramid {self._chance.choice(cells)}")
        return Act("stolen pyramid", gone, "out_of_sync", SYNC)

    def _swapped(self, state: State, bodies: Bodies) -> Act | None:
        """A pyramid that no move affects is exchanged for one of the other player."""
        if not (cells := self._untouched(state)):
            return None
        cell = self._chance.choice(cells)
        other = next(player for player in state.players if player != state.pieces[cell])
        swapped = {**bodies, f"pyramid {cell}": self._put(other, cell)}
        return Act("swapped pyramid", swapped, "out_of_sync", SYNC)

    def _untouched(self, state: State) -> list[str]:
        afters = [play(state, move).pieces for move in legal_moves(state)]
        return [
            cell
            for cell, player in state.pieces.items()
            if all(after.get(cell) == player for after in afters)
        ]

    def _moved(self, state: State, bodies: Bodies, move: Move) -> Bodies:
        """The table after a move, legal or not; unmoved bodies are unchanged."""
        rows, _ = pushed(state.rows, move)
        now = standing(rows, state.players)
        untouched = {
            name: body
            for name, body in bodies.items()
            if (cell := name.split()[-1]) in now and now[cell] == state.pieces.get(cell)
        }
        put = {
            f"pyramid {cell}": self._put(player, cell)
            for cell, player in now.items()
            if f"pyramid {cell}" not in untouched
        }
        return {**untouched, **put}

    def _put(self, player: str, cell: str) -> Body:
        size = self._thrower.size
        slack = min(SLOPPY * self._board.square_mm, (self._board.square_mm - size.base_mm) / 2 - 1)
        middle = np.array(cell_middle_mm(self._board, cell))
        x, y = middle + self._rng.uniform(-1, 1, 2) * max(slack, 0.0)
        solid = upright(size, float(x), float(y), float(self._rng.uniform(0, 360)))
        return self._thrower.piece(player, solid, size)


PLAYERS = BoardPlayers(random_setup=random_setup, play=ConvoyPlay)
