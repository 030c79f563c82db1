"""Change one comparison or constant of a room at a time and see whether the tests notice.

Three lots of tests are tried one after the other, until a test fails: quick tests of the modules
that are named after the changed one, or import it; the other quick tests of the room; and slow
tests of the first lot.
"""

from __future__ import annotations

import datetime
import itertools
from collections import Counter
from collections.abc import Iterator
from typing import Annotated, Literal, get_args

import msgspec

from benchmarks.harness import ROOT, Benchmark, Pairs
from benchmarks.harness.provenance import commit
from benchmarks.mutants import draw_sample, is_detected, load_before, mutants, nearest

ROOMS = {
    "hardware": ("table",),
    "referee/sessions": ("table", "engines", "hardware"),
    "referee/live": ("table", "engines", "hardware", "referee.sessions"),
}
"""Each with packages that do not import it."""
STORED = ROOT / "benchmarks" / "results" / "mutation.json"
Lot = Literal["nearest", "room", "slow"]


class Options(msgspec.Struct, frozen=True):
    rooms: Annotated[str, "Rooms, with commas between; the figures of others stay."] = ",".join(
        ROOMS
    )
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
    date: str
    commit: str
    seed: int
    mutants: int
    """All there are."""
    tried: int
    noticed: int
    nearest: int
    """Those that the nearest tests noticed."""
    survived: tuple[str, ...]


class Summary(msgspec.Struct, frozen=True):
    rows: tuple[Row, ...]


def cases(options: Options) -> Iterator[Case]:
    for room in options.rooms.split(","):
        yield from draw_sample(_cases(room, options.limit_s), options.sample, options.seed)


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
    by = (lot for lot, tests in lots(case).items() if is_detected(mutant, tests, case.limit_s))
    return MutantResult(str(mutant), next(by, None))


def summarise(options: Options, pairs: Pairs) -> Summary:
    """Rooms that were not tried now keep their rows."""
    rows = {row.room: row for row in _stored_rows()}
    by_room: dict[str, list[MutantResult]] = {}
    for case, one in pairs:
        by_room.setdefault(case.room, []).append(one)
    for room, found in by_room.items():
        by = Counter(one.noticed_by for one in found)
        rows[room] = Row(
            room,
            datetime.date.today().isoformat(),
            commit(),
            options.seed,
            len(_cases(room, 0)),
            len(found),
            sum(by[lot] for lot in get_args(Lot)),
            by["nearest"],
            tuple(one.mutant for one in found if one.noticed_by is None),
        )
    return Summary(tuple(rows[room] for room in ROOMS if room in rows))


def _stored_rows() -> tuple[Row, ...]:
    if not STORED.exists():
        return ()
    return msgspec.json.decode(STORED.read_bytes(), type=_Stored).summary.rows


class _Stored(msgspec.Struct):
    summary: Summary


BENCHMARK = Benchmark("MUTATION.md", cases, run, summarise, Options)
