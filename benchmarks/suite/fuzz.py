"""Random acts before the judges.

From random positions somebody does something, lawful or not, with side effects, and what lies there
is told exactly.  The verdict has to be the true one or a question that leaves room for it, and what
people are told to do has to lead on.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from typing import Annotated

import msgspec

from benchmarks.fuzz.acts import FUZZED, Act, block
from benchmarks.fuzz.fuzzer import BLOCK
from benchmarks.harness import Benchmark, Pairs

ACTS_A_CASE = 25 * BLOCK
MOST_LINES = 40
"""Faults of a game that the page lists."""


class Options(msgspec.Struct, frozen=True):
    acts: Annotated[int, "Of each game."] = 20_000
    seed: Annotated[int, "Other seeds, other acts."] = 0


class Case(msgspec.Struct, frozen=True):
    game: str
    seed: int
    first: int
    """The first act, a multiple of BLOCK."""
    acts: int


class Effect(msgspec.Struct):
    """What was judged of acts of one kind."""

    times: int = 0
    right: int = 0
    asked: int = 0
    wrong: int = 0
    dead_ends: int = 0


class Tally(msgspec.Struct):
    """What came of acts of a game."""

    acts: int = 0
    lawful: dict[str, int] = {}
    """By what was told: `right`, `asked` or `wrong`."""
    unlawful: dict[str, int] = {}
    sure: int = 0
    """Wrong, and told as sure."""
    followed: int = 0
    dead_ends: int = 0
    errors: int = 0
    effects: dict[str, Effect] = {}
    faults: tuple[str, ...] = ()


class Summary(msgspec.Struct, frozen=True):
    games: dict[str, Tally]
    """With as many faults as the page lists."""
    more_faults: dict[str, int]


def cases(options: Options) -> Iterator[Case]:
    for first in range(0, options.acts, ACTS_A_CASE):
        acts = min(ACTS_A_CASE, options.acts - first)
        yield from (Case(game, options.seed, first, acts) for game in FUZZED)


def run(case: Case) -> Tally:
    blocks = range(case.first // BLOCK, -(-(case.first + case.acts) // BLOCK))
    acts = [act for number in blocks for act in block(case.game, case.seed, number)]
    tally = Tally(faults=tuple(line for act in acts[: case.acts] for line in act.lines))
    for act in acts[: case.acts]:
        count(tally, act)
    tally.sure = sum("told as sure" in line for line in tally.faults)
    tally.errors = sum("malformed:" in line for line in tally.faults)
    return tally


def count(tally: Tally, act: Act) -> None:
    """Add an act to what was counted; its faults are there already."""
    tally.acts += 1
    if (result := act.result) is None:
        return
    outcome = tally.lawful if result.lawful else tally.unlawful
    outcome[result.outcome] = outcome.get(result.outcome, 0) + 1
    tally.followed += result.followed is True
    tally.dead_ends += result.followed is False
    effect, hand, _ = result.effect.partition(", hand")
    for name in (effect, "hand in between") if hand else (effect,):
        one = tally.effects.setdefault(name, Effect())
        one.times += 1
        setattr(one, result.outcome, getattr(one, result.outcome) + 1)
        one.dead_ends += result.followed is False


def summarise(_options: Options, pairs: Pairs) -> Summary:
    games, more = {}, {}
    for game in dict.fromkeys(case.game for case, _ in pairs):
        whole = merge_tallies([one for case, one in pairs if case.game == game])
        more[game] = max(0, len(whole.faults) - MOST_LINES)
        whole.faults = whole.faults[:MOST_LINES]
        games[game] = whole
    return Summary(games, more)


def merge_tallies(tallies: list[Tally]) -> Tally:
    """Several tallies as one."""
    effects: dict[str, Effect] = {}
    for tally in tallies:
        for name, one in tally.effects.items():
            known = msgspec.structs.astuple(effects.get(name, Effect()))
            effects[name] = Effect(*map(sum, zip(known, msgspec.structs.astuple(one), strict=True)))
    numbers = ("acts", "sure", "followed", "dead_ends", "errors")
    return Tally(
        lawful=dict(sum((Counter(one.lawful) for one in tallies), Counter())),
        unlawful=dict(sum((Counter(one.unlawful) for one in tallies), Counter())),
        effects=dict(sorted(effects.items())),
        faults=tuple(line for one in tallies for line in one.faults),
        **{name: sum(getattr(one, name) for one in tallies) for name in numbers},
    )


BENCHMARK = Benchmark("FUZZ.md", cases, run, summarise, Options, processes=os.cpu_count() or 1)
