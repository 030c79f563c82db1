"""Change one comparison or constant of a room at a time and see whether the tests notice.

Three lots of tests are tried one after the other, until a test fails: quick tests of the modules
that are named after the changed one, or import it; the other quick tests of the room; and slow
tests of the first lot.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator
from typing import Annotated, Literal, get_args

import msgspec

from benchmarks.harness import ROOT, Benchmark, Pairs
from benchmarks.mutants import drawn, load_before, mutants, nearest, noticed

ROOMS = {
    "hardware": ("table",),
    "referee/sessions": ("table", "engines", "hardware"),
    "referee/live": ("table", "engines", "hardware", "referee.sessions"),
}
"""Each with packages that do not import it."""
Lot = Literal["nearest", "room", "slow"]


class Options(msgspec.Struct, frozen=True):
    sample: Annotated[int, "So many mutants of each room, drawn by chance; 0: all."] = 0
    limit_s: Annotated[int, "Processor time that a lot of tests may take."] = 300
    seed: Annotated[int, "Of the random sample."] = 1


class Case(msgspec.Struct, frozen=True):
    room: str
    path: str
    number: int
    """Among the mutants of its file."""
    limit_s: int


class MutantResult(msgspec.Struct, frozen=True):
    mutant: str
    noticed_by: Lot | None


class Row(msgspec.Struct, frozen=True):
    room: str
    mutants: int
    """All there are."""
    tried: int
    noticed: int
    nearest: int
    """Those that the nearest tests noticed."""


class Summary(msgspec.Struct, frozen=True):
    rows: tuple[Row, ...]
    survived: tuple[str, ...]


def cases(options: Options) -> Iterator[Case]:
    for room in ROOMS:
        yield from drawn(_cases(room, options.limit_s), options.sample, options.seed)


def _cases(room: str, limit_s: int) -> list[Case]:
    return [
        Case(room, str(path.relative_to(ROOT)), number, limit_s)
        for path in sorted((ROOT / room).rglob("*.py"))
        for number, _ in enumerate(mutants(path, constants=True))
    ]


def lots(case: Case) -> dict[Lot, list[str]]:
    """Arguments for pytest, the nearest tests first."""
    near = [str(one.relative_to(ROOT)) for one in nearest(case.room, ROOT / case.path)]
    quick, slow = "not slow and not browser", "slow and not browser"
    room = [f"tests/{case.room}", *(f"--ignore={one}" for one in near), "-m", quick]
    if not near:
        return {"room": room}
    return {"nearest": [*near, "-m", quick], "room": room, "slow": [*near, "-m", slow]}


def run(case: Case) -> MutantResult:
    load_before(ROOMS[case.room])
    found = mutants(ROOT / case.path, constants=True)
    mutant = next(itertools.islice(found, case.number, None))
    by = (lot for lot, tests in lots(case).items() if noticed(mutant, tests, case.limit_s))
    return MutantResult(str(mutant), next(by, None))


def summarise(_options: Options, pairs: Pairs) -> Summary:
    by_room: dict[str, Counter[Lot | None]] = {}
    for case, one in pairs:
        by_room.setdefault(case.room, Counter())[one.noticed_by] += 1
    rows = [
        Row(
            room,
            len(_cases(room, 0)),
            found.total(),
            sum(found[lot] for lot in get_args(Lot)),
            found["nearest"],
        )
        for room, found in by_room.items()
    ]
    return Summary(tuple(rows), tuple(one.mutant for _, one in pairs if one.noticed_by is None))


BENCHMARK = Benchmark("MUTATION.md", cases, run, summarise, Options)
