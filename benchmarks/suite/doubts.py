"""Random acts before judges that are not sure of one piece."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from typing import Annotated

import msgspec

from benchmarks.fuzz.acts import FUZZED
from benchmarks.fuzz.doubts import doubted_acts
from benchmarks.fuzz.fuzzer import BLOCK
from benchmarks.harness import Benchmark, Pairs

BLOCKS_A_CASE = 10
MOST_LINES = 20
"""Wrong verdicts of a game that the page lists."""


class Options(msgspec.Struct, frozen=True):
    acts: Annotated[int, "Of each game."] = 2_000
    seed: Annotated[int, "Other seeds, other acts."] = 0


class Case(msgspec.Struct, frozen=True):
    game: str
    seed: int
    first: int
    """The first block of BLOCK acts."""
    blocks: int


class Doubts(msgspec.Struct):
    """What judges made of readings in doubt."""

    outcomes: dict[str, int] = {}
    """How often, by `doubt, right or wrong reading likelier, outcome`."""
    wrong: tuple[str, ...] = ()


class Summary(msgspec.Struct, frozen=True):
    games: dict[str, Doubts]


def cases(options: Options) -> Iterator[Case]:
    blocks = -(-options.acts // BLOCK)
    for first in range(0, blocks, BLOCKS_A_CASE):
        many = min(BLOCKS_A_CASE, blocks - first)
        yield from (Case(game, options.seed, first, many) for game in FUZZED)


def run(case: Case) -> Doubts:
    counts: Counter[str] = Counter()
    wrong = []
    for number in range(case.first, case.first + case.blocks):
        for act in doubted_acts(case.game, case.seed, number):
            likelier = "wrong" if act.misread else "right"
            counts[f"{act.doubt}, {likelier}, {act.outcome}"] += 1
            if act.outcome == "wrong":
                wrong.append(act.line)
    return Doubts(dict(counts), tuple(wrong))


def summarise(_options: Options, pairs: Pairs) -> Summary:
    games = {}
    for game in dict.fromkeys(case.game for case, _ in pairs):
        parts = [one for case, one in pairs if case.game == game]
        outcomes = sum((Counter(one.outcomes) for one in parts), Counter())
        wrong = tuple(line for one in parts for line in one.wrong)
        games[game] = Doubts(dict(sorted(outcomes.items())), wrong[:MOST_LINES])
    return Summary(games)


BENCHMARK = Benchmark("DOUBTS.md", cases, run, summarise, Options, processes=os.cpu_count() or 1)
