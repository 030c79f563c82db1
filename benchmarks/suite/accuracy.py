"""Score `rinkside observe` on photographs with exact truth.

The photographs and the scoring are not Rinkside's own: RINKSIDE_BENCH names the folder with
score.py and cases/ (see CONTRIBUTING.md).
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from benchmarks.harness import BENCH, Benchmark, NoOptions, Pairs
from benchmarks.photographs import (
    DIFFICULTIES,
    KINDS,
    Scored,
    Scores,
    folders,
    harder_folders,
    mistakes,
    read,
    scores,
)

EMPTY_HELPS = ("boule", "storm")
"""Kinds of which a picture of the empty table is used; boards with print on them are read without
it.
"""


class Photograph(msgspec.Struct, frozen=True):
    """A photograph, read without or with the picture of its empty table."""

    name: str
    with_empty: bool = False
    harder: bool = False

    @property
    def title(self) -> str:
        kind, second, *_ = self.name.split("-")
        if self.harder:
            return DIFFICULTIES[second]
        return f"{KINDS[kind]}{', empty table known' if self.with_empty else ''}"


class Summary(msgspec.Struct, frozen=True):
    columns: tuple[Scores, ...]
    mistakes: tuple[str, ...]


class BothSummaries(msgspec.Struct, frozen=True):
    """Of the first kinds of photographs, and of the harder ones by what makes them so."""

    first: Summary
    harder: Summary


def cases(_options: NoOptions) -> Iterator[Photograph]:
    for kind in KINDS:
        for with_empty in (False, True) if kind in EMPTY_HELPS else (False,):
            for folder in folders(kind):
                yield Photograph(folder.name, with_empty)
    for difficulty in DIFFICULTIES:
        for folder in harder_folders(difficulty):
            yield Photograph(folder.name, harder=True)


def run(case: Photograph) -> Scored:
    return read(BENCH / ("hard" if case.harder else "cases") / case.name, case.with_empty)


def summarise(_options: NoOptions, pairs: Pairs) -> BothSummaries:
    first = [(case, one) for case, one in pairs if not case.harder]
    harder = [(case, one) for case, one in pairs if case.harder]
    return BothSummaries(
        summary(first, [one for case, one in first if not case.with_empty]),
        summary(harder, [one for _, one in harder]),
    )


def summary(pairs: Pairs, together: list[Scored]) -> Summary:
    """A column for each title, and one of what is counted together."""
    columns: dict[str, list[Scored]] = {}
    for case, one in pairs:
        columns.setdefault(case.title, []).append(one)
    summed = [scores(title, found) for title, found in columns.items()]
    return Summary(
        (*summed, *([scores("All together", together)] if len(summed) > 1 and together else [])),
        mistakes((case.title, one) for case, one in pairs),
    )


BENCHMARK = Benchmark("ACCURACY.md", cases, run, summarise)
