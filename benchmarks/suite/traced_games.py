"""Referee the beginnings of whole games before path-traced tables.

Players and referee are those of `benchmarks.suite.games`; only the light is another.  It costs some
seconds a table and core, so that what was traced is kept, and a later referee that rules alike
looks at the same pictures.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache, partial
from typing import Annotated

import msgspec

from benchmarks.games.playing import GAMES, Game, play
from benchmarks.games.tallies import Tally, tallies, unexpected_lines
from benchmarks.harness import ROOT, Benchmark, Pairs
from benchmarks.suite.games import in_order

FIRST = 5000
"""The first seed, none of which is among those of docs/GAMES.md."""
PATHS = 24
"""Paths a pixel."""
TABLES = ROOT / "build" / "traced" / "games"
"""Where tables are kept; delete them to trace anew."""


class Options(msgspec.Struct, frozen=True):
    games: Annotated[int, "Seeds of each game."] = 4
    first: Annotated[int, "The first seed."] = FIRST
    acts: Annotated[int, "Acts of each game."] = 15


class Summary(msgspec.Struct, frozen=True):
    paths: int
    """A pixel."""
    widths_px: tuple[int, ...]
    tallies: tuple[Tally, ...]
    otherwise: tuple[str, ...]


def cases(options: Options) -> Iterator[tuple[str, int, int]]:
    """Games, seeds and acts."""
    for seed in range(options.first, options.first + options.games):
        yield from ((game, seed, options.acts) for game in GAMES)


def run(case: tuple[str, int, int]) -> Game:
    # Here, so that without Mitsuba the page can be rendered.
    from benchmarks.cached_tracer import CachedTracer

    game, seed, acts = case
    before = lru_cache(maxsize=1)(
        partial(CachedTracer, PATHS, TABLES / f"{game}-{seed}", seed)
    )  # one for the empty table and the game
    return play(game, seed, acts, before=before)


def summarise(_options: Options, pairs: Pairs) -> Summary:
    played = in_order(pairs)
    widths = tuple(dict.fromkeys(one.width_px for one in played))
    return Summary(PATHS, widths, tallies(played), tuple(unexpected_lines(played)))


# Mitsuba keeps memory of every table, until its process ends.
BENCHMARK = Benchmark("TRACED_GAMES.md", cases, run, summarise, Options, processes=2, fresh=True)
