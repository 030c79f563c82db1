"""Acts of every game before its judge, which can be repeated.

`python -m benchmarks.fuzz.acts GAME SEED ACT`.
"""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from random import Random
from typing import NamedTuple

import click

from benchmarks.fuzz.boule import FuzzedBoule
from benchmarks.fuzz.fuzzer import BLOCK, Fuzzer, Result
from benchmarks.fuzz.icebreaker import FuzzedIcebreaker
from benchmarks.fuzz.icefloe import FuzzedIcefloe
from benchmarks.fuzz.storm import FuzzedStorm
from benchmarks.fuzz.zamboni import FuzzedZamboni

FUZZED = {
    kind.name: kind
    for kind in (FuzzedZamboni, FuzzedIcebreaker, FuzzedStorm, FuzzedBoule, FuzzedIcefloe)
}


class Act(NamedTuple):
    """A repeatable act and its result, or its error."""

    game: str
    seed: int
    number: int
    result: Result | None
    error: str = ""

    @property
    def lines(self) -> Iterator[str]:
        """One line per fault."""
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
        message = f"{type(error).__name__}: {error} ({where.name}, line {where.lineno})"
        acts.append(Act(game, seed, BLOCK * number + len(acts), None, message))
    return acts


def fuzz(game: str, seed: int, acts: int) -> list[Act]:
    """Run `acts` acts of a game in sequence."""
    blocks = range(-(-acts // BLOCK))
    return [act for number in blocks for act in block(game, seed, number)][:acts]


@click.command()
@click.argument("game", type=click.Choice([*FUZZED]))
@click.argument("seed", type=int)
@click.argument("act", type=int)
def main(game: str, seed: int, act: int) -> None:
    """Repeat an act, after those before it in its block."""
    *_, found = block(game, seed, act // BLOCK, act % BLOCK + 1)
    print(found.result or found.error, *found.lines, sep="\n")


if __name__ == "__main__":
    main()
