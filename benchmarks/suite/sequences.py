"""Referee filmed games.

The films and the scoring are not Rinkside's own: RINKSIDE_BENCH names the folder with
score_sequences.py and sequences/ (see CONTRIBUTING.md).
"""

from __future__ import annotations

from collections.abc import Iterable

from benchmarks.films import GAMES, Counted, merge_counts, referee_films
from benchmarks.harness import BENCH, Benchmark, NoOptions, Pairs


def cases(_options: NoOptions) -> Iterable[str]:
    return GAMES


def run(game: str) -> Counted:
    return referee_films(game, BENCH / "sequences")


def summarise(_options: NoOptions, pairs: Pairs) -> tuple[Counted, ...]:
    """Each, and all together."""
    films = [counted for _, counted in pairs]
    return (*films, merge_counts(films))


BENCHMARK = Benchmark("SEQUENCES.md", cases, run, summarise)
