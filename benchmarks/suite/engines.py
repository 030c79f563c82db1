"""Time the rules of every game: random playouts and perft."""

from __future__ import annotations

import time
from collections.abc import Iterator
from random import Random
from typing import Annotated, Any

import msgspec

from benchmarks.harness import Benchmark, Pairs
from engines import GAMES, Rules
from simulation.players.policies import RandomPlayer, playout

STARTS: list[tuple[str, str, dict[str, str]]] = [
    ("icebreaker", "red black", {}),
    *(("icebreaker", "red black", {"size": size}) for size in ("4", "6", "7", "8")),
    ("zamboni_wars", "yellow blue", {}),
    ("zamboni_wars", "yellow red blue green", {"warp": "on", "cover": "on"}),
    ("ice_storm", "red yellow blue", {}),
    ("ice_boule", "blue yellow", {}),
    ("icefloe", "red blue yellow", {}),
    ("icefloe", "red black yellow blue", {}),
]
"""Game, players, rulings that differ from the defaults."""
MOST = 4000
"""Perft of other games than Icebreaker goes one move deeper while it has counted fewer than
that.
"""


def row_title(name: str, players: str, rulings: dict[str, str]) -> str:
    """How a row is called."""
    options = "".join(f", {option}={value}" for option, value in rulings.items())
    return f"{name.replace('_', ' ')}, {len(players.split())} players{options}"


def playouts(game: Rules, first: Any, seconds: float) -> tuple[int, int, float]:
    """Random games from `first`, their moves, and the seconds of processor time they took."""
    player, games, moves = RandomPlayer(game, Random(1)), 0, 0
    start = time.process_time()
    while (took := time.process_time() - start) < seconds:
        moves += sum(1 for _ in playout(game, first, player.choose))
        games += 1
    return games, moves, took


def perft(game: Rules, state: Any, depth: int) -> int:
    """Games of `depth` moves from a state; where moves are continuous, games of examples."""
    legal = game.legal_moves(state)
    return (
        len(legal)
        if depth == 1
        else sum(perft(game, game.play(state, move), depth - 1) for move in legal)
    )


def counts(game: Rules, first: Any, depth: int | None) -> tuple[list[int], float]:
    """Perft to a depth, and the seconds of processor time that the deepest level took.

    A depth of None goes on until a count exceeds `MOST`.
    """
    found: list[int] = []
    took = 0.0
    while len(found) < depth if depth else not found or found[-1] < MOST:
        start = time.process_time()
        found.append(perft(game, first, len(found) + 1))
        took = time.process_time() - start
    return found, took


class Options(msgspec.Struct, frozen=True):
    seconds: Annotated[float, "Processor time to play out each game for."] = 3.0


class Start(msgspec.Struct, frozen=True):
    """The start of a game: its name, its players with blanks between, and its rulings."""

    game: str
    players: str
    rulings: dict[str, str]

    @property
    def title(self) -> str:
        return row_title(self.game, self.players, self.rulings)

    @property
    def state(self) -> Any:
        return GAMES[self.game].start(self.players.split(), self.rulings)


class Playouts(msgspec.Struct, frozen=True, tag=True):
    start: Start
    seconds: float


class Perft(msgspec.Struct, frozen=True, tag=True):
    start: Start


class Played(msgspec.Struct, frozen=True, tag=True):
    title: str
    playouts_per_s: float
    moves: float
    """Of a game."""
    move_us: float


class Counts(msgspec.Struct, frozen=True, tag=True):
    """Perft by depth; `last_s`: seconds of processor time that the deepest took."""

    title: str
    counts: tuple[int, ...]
    last_s: float


class Summary(msgspec.Struct, frozen=True):
    playouts: tuple[Played, ...]
    perft: tuple[Counts, ...]


def cases(options: Options) -> Iterator[Playouts | Perft]:
    starts = [Start(*start) for start in STARTS]
    yield from (Playouts(start, options.seconds) for start in starts)
    yield from map(Perft, starts)


def run(case: Playouts | Perft) -> Played | Counts:
    start, game = case.start, GAMES[case.start.game]
    if isinstance(case, Playouts):
        games, moves, took = playouts(game, start.state, case.seconds)
        return Played(start.title, games / took, moves / games, 1e6 * took / moves)
    depth = (6 if not start.rulings else 4) if start.game == "icebreaker" else None
    found, took = counts(game, start.state, depth)
    return Counts(start.title, tuple(found), took)


def summarise(_options: Options, pairs: Pairs) -> Summary:
    kinds = (Played, Counts)
    return Summary(*(tuple(one for _, one in pairs if isinstance(one, kind)) for kind in kinds))


BENCHMARK = Benchmark("ENGINES.md", cases, run, summarise, Options, section=True)
