"""Let computer players play against each other, and count random games of Icebreaker."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise
from random import Random
from typing import Annotated, Any

import msgspec

from benchmarks.games.elo import Result, elo, spread
from benchmarks.harness import Benchmark, Pairs
from benchmarks.harness.statistics import percentiles
from engines import GAMES, facts_of
from engines.computer_player import STRENGTHS, never
from engines.game import winners_of
from engines.icebreaker.positions import Position, playout
from simulation.players.policies import GreedyPlayer, RandomPlayer

NAMES = ("random", "greedy", *STRENGTHS)
TABLES = {
    "icebreaker": ("red", "black"),
    "zamboni_wars": ("yellow", "blue"),
    "icefloe": ("red", "blue", "yellow"),
}
OPENING = 4
"""First moves of a game that are made by chance, where no dice see to it that games differ."""
LONGEST = 20_000
"""Moves after which a game of players by chance is given up as shared."""


class Options(msgspec.Struct, frozen=True):
    games: Annotated[int, "Games of each pair of players; half as many in IceFloe."] = 24
    seconds: Annotated[float, "Processor time to play out Icebreaker for, each of five times."] = (
        2.0
    )


class Match(msgspec.Struct, frozen=True, tag=True):
    """Games of two kinds of players; they share the seats in all ways in turn."""

    game: str
    one: str
    other: str
    games: int


class Playouts(msgspec.Struct, frozen=True, tag=True):
    seconds: float
    time: int


class Won(msgspec.Struct, frozen=True, tag=True):
    """Each game's seats and winners, and milliseconds of processor time of moves, by player."""

    game: str
    one: str
    other: str
    results: tuple[Result, ...]
    moves_ms: dict[str, tuple[float, ...]]


class Rate(msgspec.Struct, frozen=True, tag=True):
    per_s: float


class Row(msgspec.Struct, frozen=True):
    """A player of a game; milliseconds are of processor time: the median, and the longest."""

    name: str
    elo: float
    low: float
    high: float
    games: int
    move_ms: float | None
    longest_ms: float | None


class Ladder(msgspec.Struct, frozen=True):
    game: str
    seats: int
    rows: tuple[Row, ...]
    pairs: tuple[tuple[str, str, float, int], ...]
    """Two players, the wins of the second, and games."""


class Summary(msgspec.Struct, frozen=True):
    ladders: tuple[Ladder, ...]
    playouts_per_s: float
    """Of Icebreaker from the start, the median of several times."""


def cases(options: Options) -> Iterator[Match | Playouts]:
    for number in range(5):
        yield Playouts(options.seconds, number)
    for game, colours in TABLES.items():
        games = options.games if len(colours) == 2 else options.games // 2
        yield from (Match(game, one, other, games) for one, other in pairwise(NAMES))
        if len(colours) == 2:
            yield from (
                Match(game, one, other, games) for one, other in zip(NAMES, NAMES[2:], strict=False)
            )


def run(case: Match | Playouts) -> Won | Rate:
    if isinstance(case, Playouts):
        return Rate(_playouts(case.seconds, case.time))
    results: list[Result] = []
    moves_ms: dict[str, list[float]] = defaultdict(list)
    colours = TABLES[case.game]
    for number in range(case.games):
        seats = _seats(colours, case, number)
        winners = _winners(case.game, seats, number // len(colours), moves_ms)
        results.append((tuple(seats.values()), tuple(seats[colour] for colour in winners)))
    times = {name: tuple(round(value, 3) for value in every) for name, every in moves_ms.items()}
    return Won(case.game, case.one, case.other, tuple(results), times)


def _seats(colours: Sequence[str], case: Match, number: int) -> dict[str, str]:
    """Who plays which colour: one of a kind among the others, another kind every second round."""
    alone, rest = (case.one, case.other)
    if number // len(colours) % 2:
        alone, rest = rest, alone
    place = number % len(colours)
    return {colour: alone if at == place else rest for at, colour in enumerate(colours)}


def _winners(
    name: str, seats: dict[str, str], seed: int, moves_ms: dict[str, list[float]]
) -> tuple[str, ...]:
    """The colours that won a game."""
    game, chance, computer = GAMES[name], Random(seed), facts_of(name).computer_player
    assert computer is not None, "games with computer players are measured"
    state = game.start(list(seats), {})
    by_chance, greedy = RandomPlayer(game, chance), GreedyPlayer(game, chance)
    opening = OPENING if name == "icebreaker" else 0
    for number in range(LONGEST):
        if (ended := game.outcome(state)) is not None:
            return winners_of(ended)
        asked = computer.asked(state)
        player = asked[0] if asked else None
        kind = seats[player] if player else "random"
        start = time.process_time()
        if number < opening or player is None:
            move = by_chance.choose(state)
        elif kind in STRENGTHS:
            move = computer.choose(state, player, kind, chance, never)
        elif kind == "greedy" and state.next == player:
            move = greedy.choose(state)
        else:
            move = chance.choice(_of(game, state, player))
        if number >= opening and player is not None and kind in STRENGTHS:
            moves_ms[kind].append(1000 * (time.process_time() - start))
        state = game.play(state, move)
    return tuple(seats)


def _of(game: Any, state: Any, player: str) -> list[Any]:
    """Legal moves, without those that say what another player does."""
    return [move for move in game.legal_moves(state) if getattr(move, "player", player) == player]


def _playouts(seconds: float, seed: int) -> float:
    """Random games of Icebreaker a second of processor time, on the positions of the search."""
    board = GAMES["icebreaker"].start(["red", "black"], {}).setting.board
    first, chance = Position(*board.ships, board.ice, 0, 0), Random(seed).random
    goal = board.ice.bit_count() // 2 + 1
    games, start = 0, time.process_time()
    while (took := time.process_time() - start) < seconds:
        playout(board, first, goal, chance)
        games += 1
    return games / took


def summarise(_options: Options, pairs: Pairs) -> Summary:
    found = [one for _, one in pairs]
    won = [one for one in found if isinstance(one, Won)]
    rates = [one.per_s for one in found if isinstance(one, Rate)]
    median = percentiles(rates, 50) or (0.0,)
    ladders = tuple(
        _ladder(game, [one for one in won if one.game == game])
        for game in TABLES
        if any(one.game == game for one in won)
    )
    return Summary(ladders, median[0])


def _ladder(game: str, won: Sequence[Won]) -> Ladder:
    results = [result for one in won for result in one.results]
    rated, spreads = elo(results, NAMES[0]), spread(results, NAMES[0])
    rows = []
    for name in (name for name in NAMES if name in rated):
        times = [value for one in won for value in one.moves_ms.get(name, ())]
        typical = percentiles(times, 50, 100) or (None, None)
        games = sum(name in seats for seats, _ in results)
        rows.append(Row(name, rated[name], *spreads[name], games, *typical))
    table = tuple((one.one, one.other, _wins(one), len(one.results)) for one in won)
    return Ladder(game, len(TABLES[game]), tuple(rows), table)


def _wins(won: Won) -> float:
    """The games that the second kind of players won; shared ones count in part."""
    return sum(winners.count(won.other) / len(winners) for _, winners in won.results)


BENCHMARK = Benchmark("PLAYERS.md", cases, run, summarise, Options, section=True)
