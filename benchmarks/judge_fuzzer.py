"""Random acts before the judges, and docs/FUZZ.md (`make bench-fuzz`).

From random positions somebody does something, lawful or not, with side effects, and what lies there
is told exactly.  The verdict has to be the true one or a question that leaves room for it, and what
people are told to do has to lead on.
"""

from __future__ import annotations

import datetime
import os
import sys
import traceback
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from random import Random
from typing import NamedTuple

import click

from benchmarks.accuracy import ROOT, commit
from benchmarks.fuzz_boule import FuzzedBoule
from benchmarks.fuzz_icebreaker import FuzzedIcebreaker
from benchmarks.fuzz_icefloe import FuzzedIcefloe
from benchmarks.fuzz_storm import FuzzedStorm
from benchmarks.fuzz_zamboni import FuzzedZamboni
from benchmarks.fuzzing import BLOCK, Fuzzer, Result
from benchmarks.games import noted

PAGE = ROOT / "docs" / "FUZZ.md"
FUZZED = {
    kind.name: kind
    for kind in (FuzzedZamboni, FuzzedIcebreaker, FuzzedStorm, FuzzedBoule, FuzzedIcefloe)
}
MOST_LINES = 40
"""Faults of a game that the page lists."""

TEXT = """# Random acts before the judges

Measured {date} ({commit}); `make bench-fuzz` writes this page. From random positions of a game somebody does something: moves that are
lawful or not, with pieces knocked, toppled, leaning, swapped, lost or too many, two acts at once, acts half done, a hand in between, words at
the wrong time. No picture is drawn: the judges are told what lies there as it lies, with the ± of an ordinary camera. What it truly was is
worked out from the table by the rules alone. Then people do to the letter what they are told, until play goes on.

*Wrong* is any verdict but the true one or a question that has it among its answers; *as sure* are those that were accepted as
something else. *Asked* of what is not lawful: it is not accepted, and is asked about or told as a difference, but no rule is named. A *dead end*
is where what people are told to do does not lead to a table that is taken. *Errors* are exceptions and verdicts that cannot be played or answered.

| game | acts | lawful | right | asked | wrong | not lawful | told right | asked | wrong | as sure | followed | dead ends | errors |
|---|---|---|---|---|---|---|---|---|---|---|---|---|---|
{games}

## By what was done

| game | act | times | right | asked | wrong | dead ends |
|---|---|---|---|---|---|---|
{effects}

## Faults

Each is repeated by `python -m benchmarks.judge_fuzzer --games GAME --seed SEED --only ACT`.

{faults}

{notes}
"""


class Act(NamedTuple):
    """An act that can be repeated, and what came of it; the error, where it ended with one."""

    game: str
    seed: int
    number: int
    result: Result | None
    error: str = ""

    @property
    def lines(self) -> Iterator[str]:
        """Each fault in a line."""
        where = f"{self.game} seed {self.seed} act {self.number}"
        if self.result is None:
            yield f"{where}: malformed: {self.error}"
            return
        yield from (f"{where}: {self.result.effect}: {fault}" for fault in self.result.faults)


def block(game: str, seed: int, number: int, most: int = BLOCK) -> list[Act]:
    """The acts from one random position on; an error ends them."""
    acts: list[Act] = []
    fuzzer = Fuzzer(FUZZED[game](), Random(f"{game} {seed} {number}"))
    try:
        for result in fuzzer.acts(most):
            acts.append(Act(game, seed, BLOCK * number + len(acts), result))
    except Exception as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        said = f"{type(error).__name__}: {error} ({where.name}, line {where.lineno})"
        acts.append(Act(game, seed, BLOCK * number + len(acts), None, said))
    return acts


def fuzz(game: str, seed: int, acts: int) -> list[Act]:
    """So many acts of a game, one after the other."""
    blocks = range(-(-acts // BLOCK))
    return [act for number in blocks for act in block(game, seed, number)][:acts]


def _share(acts: Sequence[Act], lawful: bool) -> list[int]:
    told = Counter(act.result.told for act in acts if act.result and act.result.lawful == lawful)
    return [told.total(), told["right"], told["asked"], told["wrong"]]


def _row(game: str, acts: Sequence[Act]) -> str:
    sure = sum("told as sure" in line for act in acts for line in act.lines)
    followed = Counter(act.result.followed for act in acts if act.result)
    errors = sum("malformed:" in line for act in acts for line in act.lines)
    more = [sure, followed[True], followed[False], errors]
    cells = [game, len(acts), *_share(acts, True), *_share(acts, False), *more]
    return f"| {' | '.join(map(str, cells))} |"


def _effects(game: str, acts: Sequence[Act]) -> Iterator[str]:
    by_effect = defaultdict(list)
    for act in acts:
        if act.result:
            by_effect[act.result.effect.partition(", hand")[0]].append(act.result)
            if ", hand" in act.result.effect:
                by_effect["hand in between"].append(act.result)
    for effect, results in sorted(by_effect.items()):
        told = Counter(result.told for result in results)
        ended = sum(result.followed is False for result in results)
        cells = [game, effect, len(results), told["right"], told["asked"], told["wrong"], ended]
        yield f"| {' | '.join(map(str, cells))} |"


def page(played: dict[str, list[Act]], measured: str, before: str) -> str:
    """docs/FUZZ.md; the notes are those of the page as it was `before`."""
    faults = []
    for acts in played.values():
        lines = [f"- {line}" for act in acts for line in act.lines]
        faults += lines[:MOST_LINES]
        faults += [f"- and {len(lines) - MOST_LINES} more"] * (len(lines) > MOST_LINES)
    return TEXT.format(
        date=datetime.date.today().isoformat(),
        commit=measured,
        games="\n".join(_row(game, acts) for game, acts in played.items()),
        effects="\n".join(row for game, acts in played.items() for row in _effects(game, acts)),
        faults="\n".join(faults) or "None.",
        notes=noted(before),
    )


@click.command()
@click.option("--acts", default=20_000, show_default=True, help="Of each game.")
@click.option("--games", default=",".join(FUZZED), show_default=True, help="With commas.")
@click.option("--seed", default=0, show_default=True)
@click.option("--only", type=int, help="Repeat this act, and those before it from its position on.")
@click.option("--processes", default=os.cpu_count() or 1, show_default=True)
@click.option("--write/--no-write", default=False, help="Write docs/FUZZ.md.")
def main(acts: int, games: str, seed: int, only: int | None, processes: int, write: bool) -> None:
    """Fuzz the judges; every fault is a line."""
    names = games.split(",")
    if only is not None:
        for act in block(names[0], seed, only // BLOCK, only % BLOCK + 1)[-1:]:
            print(act.result or act.error, *act.lines, sep="\n")
        return
    played: dict[str, list[Act]] = {game: [] for game in names}
    due = [(game, seed, number) for number in range(-(-acts // BLOCK)) for game in names]
    with ProcessPoolExecutor(processes) as pool:
        for found in pool.map(block, *zip(*due, strict=True), chunksize=4):
            played[found[0].game] += found
            for line in (line for act in found for line in act.lines):
                print(line, flush=True)
    for game, done in played.items():
        print(_row(game, done), file=sys.stderr)
    if write:
        before = PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""
        PAGE.write_text(page(played, commit(), before), encoding="utf-8")
        print(f"wrote {PAGE}", file=sys.stderr)


if __name__ == "__main__":
    main()
