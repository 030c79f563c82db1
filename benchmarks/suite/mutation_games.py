"""Change one comparison of a game's rules at a time and see whether its tests notice."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Annotated

import msgspec

from benchmarks.harness import ROOT, Benchmark, Pairs
from benchmarks.mutants import draw_sample, is_detected, load_before, mutants

GAMES = ("zamboni_wars", "icebreaker", "ice_storm", "ice_boule", "icefloe")


class Options(msgspec.Struct, frozen=True):
    sample: Annotated[int, "So many mutants of each game, drawn by chance; 0: all."] = 0
    limit_s: Annotated[int, "Processor time that the tests of a mutant may take."] = 300
    seed: Annotated[int, "Of the random sample."] = 1


class Case(msgspec.Struct, frozen=True):
    part: str
    path: str
    number: int
    """Among the mutants of its file."""
    limit_s: int


class MutantResult(msgspec.Struct, frozen=True):
    mutant: str
    noticed: bool


class Row(msgspec.Struct, frozen=True):
    part: str
    tried: int
    noticed: int


class Summary(msgspec.Struct, frozen=True):
    rows: tuple[Row, ...]
    survived: tuple[str, ...]


def cases(options: Options) -> Iterator[Case]:
    for game in GAMES:
        found = [
            Case(game, str(path.relative_to(ROOT)), number, options.limit_s)
            for path in sorted((ROOT / "engines" / game).rglob("*.py"))
            for number, _ in enumerate(mutants(path, constants=False))
        ]
        yield from draw_sample(found, options.sample, options.seed)


def run(case: Case) -> MutantResult:
    load_before()
    tests = ["conformance/test_data.py", case.part, "conformance/test_games.py"]
    found = mutants(ROOT / case.path, constants=False)
    mutant = next(itertools.islice(found, case.number, None))
    how = [*(f"tests/engines/{test}" for test in tests), "-k", case.part]
    return MutantResult(str(mutant), is_detected(mutant, how, case.limit_s))


def summarise(_options: Options, pairs: Pairs) -> Summary:
    by_part: dict[str, list[bool]] = {}
    for case, one in pairs:
        by_part.setdefault(case.part, []).append(one.noticed)
    rows = [Row(part, len(found), sum(found)) for part, found in by_part.items()]
    return Summary(tuple(rows), tuple(one.mutant for _, one in pairs if not one.noticed))


BENCHMARK = Benchmark("ENGINES.md", cases, run, summarise, Options, section=True)
