"""Time the rules of every game: random playouts, perft, players against each other."""

from __future__ import annotations

import time
from collections.abc import Iterator
from random import Random
from typing import Annotated, Any

import msgspec

from benchmarks.harness import Benchmark, Pairs
from engines import GAMES, Rules
from simulation.players.icebreaker_search import SearchPlayer
from simulation.players.policies import GreedyPlayer, Player, RandomPlayer, playout

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


def titled(name: str, players: str, rulings: dict[str, str]) -> str:
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


def match(one: Player, other: Player, games: int) -> tuple[int, float]:
    """Games of Icebreaker that `one` wins, and its milliseconds of processor time per move.

    It begins every second game.
    """
    game, won, moves, spent_s = GAMES["icebreaker"], 0, 0, 0.0
    for number in range(games):
        colours = ("red", "black") if number % 2 == 0 else ("black", "red")
        players = dict(zip(colours, (one, other), strict=True))

        def choose(state: Any, players: dict[str, Player] = players) -> Any:
            nonlocal moves, spent_s
            start = time.process_time()
            move = players[state.next].choose(state)
            if players[state.next] is one:
                moves, spent_s = moves + 1, spent_s + time.process_time() - start
            return move

        *_, (_, last) = playout(game, game.start(["red", "black"], {}), choose)
        won += players[game.outcome(last).winner] is one
    return won, 1000 * spent_s / moves


PAIRS = {
    ("greedy", "random"): lambda greedy, by_chance: (greedy, by_chance),
    ("search, 100 nodes", "greedy"): lambda greedy, _: (SearchPlayer(100), greedy),
    ("search, 2,000 nodes", "greedy"): lambda greedy, _: (SearchPlayer(2000), greedy),
}
"""Players of Icebreaker by their names."""


class Options(msgspec.Struct, frozen=True):
    seconds: Annotated[float, "Processor time to play out each game for."] = 3.0
    games: Annotated[int, "Games of each pair of players."] = 100


class Start(msgspec.Struct, frozen=True):
    """The start of a game: its name, its players with blanks between, and its rulings."""

    game: str
    players: str
    rulings: dict[str, str]

    @property
    def title(self) -> str:
        return titled(self.game, self.players, self.rulings)

    @property
    def state(self) -> Any:
        return GAMES[self.game].start(self.players.split(), self.rulings)


class Playouts(msgspec.Struct, frozen=True, tag=True):
    start: Start
    seconds: float


class Perft(msgspec.Struct, frozen=True, tag=True):
    start: Start


class Match(msgspec.Struct, frozen=True, tag=True):
    one: str
    other: str
    games: int


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


class Won(msgspec.Struct, frozen=True, tag=True):
    one: str
    other: str
    won: int
    games: int
    move_ms: float


class Summary(msgspec.Struct, frozen=True):
    playouts: tuple[Played, ...]
    perft: tuple[Counts, ...]
    matches: tuple[Won, ...]


def cases(options: Options) -> Iterator[Playouts | Perft | Match]:
    starts = [Start(*start) for start in STARTS]
    yield from (Playouts(start, options.seconds) for start in starts)
    yield from map(Perft, starts)
    yield from (Match(one, other, options.games) for one, other in PAIRS)


def run(case: Playouts | Perft | Match) -> Played | Counts | Won:
    if isinstance(case, Match):
        chance, game = Random(1), GAMES["icebreaker"]
        greedy, by_chance = GreedyPlayer(game, chance), RandomPlayer(game, chance)
        one, other = PAIRS[case.one, case.other](greedy, by_chance)
        won, move_ms = match(one, other, case.games)
        return Won(case.one, case.other, won, case.games, move_ms)
    start, game = case.start, GAMES[case.start.game]
    if isinstance(case, Playouts):
        games, moves, took = playouts(game, start.state, case.seconds)
        return Played(start.title, games / took, moves / games, 1e6 * took / moves)
    depth = (6 if not start.rulings else 4) if start.game == "icebreaker" else None
    found, took = counts(game, start.state, depth)
    return Counts(start.title, tuple(found), took)


def summarise(_options: Options, pairs: Pairs) -> Summary:
    kinds = (Played, Counts, Won)
    return Summary(*(tuple(one for _, one in pairs if isinstance(one, kind)) for kind in kinds))


BENCHMARK = Benchmark("ENGINES.md", cases, run, summarise, Options, section=True)
