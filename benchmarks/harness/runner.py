"""Runs the cases of a benchmark.

Every result is stored in a file at once: an interrupted run resumes, and a failed case does not
affect others.
"""

from __future__ import annotations

import sys
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from random import Random
from typing import Any

import cv2
import msgspec

from benchmarks.harness.benchmark import Benchmark, name_of
from table.errors import InputError
from table.files import write_whole

Say = Callable[[str], None]
SHOWN = 5
"""Maximum number of case names in an error message."""


class StoredResult(msgspec.Struct, frozen=True):
    """Stored result of a case."""

    commit: str
    took_s: float
    result: msgspec.Raw


@dataclass(frozen=True, slots=True)
class Failure:
    """A failed case and its error."""

    case: str
    error: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """Result of a run: available results in case order, and failures."""

    pairs: tuple[tuple[Any, Any], ...]
    commits: tuple[str, ...]
    failures: tuple[Failure, ...]


@dataclass(frozen=True, slots=True)
class CaseSelection:
    """A selection of cases: those with a text in their names, and `count` of these.

    The sample is random but reproducible; without a count all are selected.
    """

    count: int | None = None
    only: str = ""

    def of(self, cases: Sequence[Any]) -> list[Any]:
        """Selected cases in order; raises InputError if there are none."""
        found = [case for case in cases if self.only in name_of(case)]
        if not found:
            some = ", ".join(name_of(case) for case in cases[:SHOWN])
            raise InputError(
                f"--only: expected a text in the name of a case, got {self.only!r}; try {some}"
            )
        if self.count is None or self.count >= len(found):
            return found
        drawn = Random(self.count).sample(range(len(found)), self.count)
        return [found[number] for number in sorted(drawn)]


def run_cases(
    benchmark: Benchmark,
    cases: Sequence[Any],
    kept: Path,
    commit: str,
    processes: int = 1,
    say: Say = lambda line: print(line, file=sys.stderr, flush=True),
) -> Outcome:
    """Run cases without a result in the folder `kept`; `commit` is the version of its results."""
    paths = {name_of(case): kept / f"{name_of(case)}.json" for case in cases}
    if len(paths) < len(cases):
        raise ValueError("two cases have the same name")
    kept.mkdir(parents=True, exist_ok=True)
    due = [case for case in cases if not paths[name_of(case)].exists()]
    if len(due) < len(cases):
        say(f"{len(cases) - len(due)} of {len(cases)} cases are in {kept} already")
    failures = []
    for number, (case, result) in enumerate(_results(benchmark, due, processes), 1):
        name = name_of(case)
        if isinstance(result, Failure):
            failures.append(result)
            say(f"{number} of {len(due)}: {name} failed: {result.error}")
            continue
        encoded, took_s = result
        whole = StoredResult(commit, took_s, msgspec.Raw(encoded))
        write_whole(paths[name], msgspec.json.encode(whole))
        say(f"{number} of {len(due)}: {name}, {took_s:.1f} s")
    found = [(case, paths[name_of(case)]) for case in cases if paths[name_of(case)].exists()]
    stored = [
        (case, msgspec.json.decode(path.read_bytes(), type=StoredResult)) for case, path in found
    ]
    pairs = tuple(
        (case, msgspec.json.decode(one.result, type=benchmark.result_type)) for case, one in stored
    )
    return Outcome(pairs, tuple(dict.fromkeys(one.commit for _, one in stored)), tuple(failures))


def _results(
    benchmark: Benchmark, cases: Sequence[Any], processes: int
) -> Iterator[tuple[Any, tuple[bytes, float] | Failure]]:
    """Yield encoded results as they finish, with their durations in seconds."""
    if processes == 1 and not benchmark.fresh:
        for case in cases:
            yield case, _run(benchmark.run, case)
        return
    with ProcessPoolExecutor(
        processes,
        mp_context=get_context("spawn"),
        initializer=cv2.setNumThreads,
        initargs=(1,),
        max_tasks_per_child=1 if benchmark.fresh else None,
    ) as pool:
        futures: dict[Future[Any], Any] = {
            pool.submit(_run, benchmark.run, case): case for case in cases
        }
        try:
            for done in as_completed(futures):
                try:
                    yield futures[done], done.result()
                except Exception as error:  # its process died
                    yield futures[done], Failure(name_of(futures[done]), repr(error))
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _run(run: Callable[[Any], Any], case: Any) -> tuple[bytes, float] | Failure:
    begun = time.perf_counter()
    try:
        encoded = msgspec.json.encode(run(case), enc_hook=str)
    except Exception as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{Path(where.filename).name}, line {where.lineno}"
        return Failure(name_of(case), f"{type(error).__name__}: {error} ({place})")
    return encoded, time.perf_counter() - begun
