"""Change one comparison or constant at a time and see whether the tests notice.

`<` becomes `<=` and `>=`, `==` becomes `!=`, `in` becomes `not in`, `is` becomes `is not`, and the
other way round.  Outside the rules a number that a module keeps as a constant becomes three times
as large, and a third.  Every mutant is tried in a process of its own that runs the tests of its
part, the nearest first, and stops at the first that fails.  One that runs out of processor time or
memory is noticed too: it no longer ends.
"""

from __future__ import annotations

import ast
import importlib
import itertools
import os
import resource
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from random import Random
from types import CodeType, ModuleType
from typing import Annotated

import msgspec

from benchmarks.harness import ROOT, Benchmark, Pairs

GAMES = ("zamboni_wars", "icebreaker", "ice_storm", "ice_boule", "icefloe")
ROOMS = ("referee/live", "referee/sessions", "hardware")
ALL_TESTS = ("hardware",)
"""Rooms whose slow tests are tried too: firmware is held by nothing else, and they are few."""
LOADED_BEFORE = (
    "pytest",
    "_pytest.python",
    "hypothesis.strategies",
    "numpy",
    "scipy.optimize",
    "msgspec",
    "table.observation",
    "table.clearance",
)
"""What every mutant needs and none changes."""
MEMORY_BYTES = 4 << 30
"""A mutant that asks for more than this is noticed: it never ends."""
LATE = ("-W", "ignore::pytest.PytestAssertRewriteWarning")
"""pytest says of what is loaded before it that it comes too late to rewrite."""
OTHERS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
}
FACTORS = (3.0, 1 / 3)
"""What constants are multiplied with."""


@dataclass(frozen=True)
class Mutant:
    """A module with one mistake, which `change` makes in its syntax tree."""

    path: Path
    line: int
    message: str
    change: Callable[[ast.AST], None]

    def __str__(self) -> str:
        return f"{self.path.relative_to(ROOT)}:{self.line}: {self.message}"

    @property
    def module(self) -> str:
        """Its name where it is imported."""
        return ".".join(self.path.relative_to(ROOT).with_suffix("").parts)

    def code(self) -> CodeType:
        """The module with its mistake."""
        tree = ast.parse(self.path.read_text(encoding="utf-8"))
        self.change(tree)
        return compile(tree, self.path, "exec")


def mutants(path: Path, constants: bool) -> Iterator[Mutant]:
    """All mutants of a file."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for nth, (compared, at) in enumerate(_operators(tree)):
        was = ast.unparse(compared)
        for other in OTHERS[type(compared.ops[at])]:
            changed = ast.Compare(
                compared.left,
                [other() if k == at else op for k, op in enumerate(compared.ops)],
                compared.comparators,
            )
            message = f"{was} -> {ast.unparse(changed)}"
            yield Mutant(path, compared.lineno, message, partial(_compare_otherwise, nth, other))
    for nth, (name, number) in enumerate(_constants(tree) if constants else ()):
        for value in dict.fromkeys(_times(number.value, factor) for factor in FACTORS):
            if value != number.value:
                message = f"{name}: {number.value} -> {value}"
                yield Mutant(path, number.lineno, message, partial(_set_constant, nth, value))


def _operators(tree: ast.AST) -> list[tuple[ast.Compare, int]]:
    return [
        (node, at)
        for node in ast.walk(tree)
        if isinstance(node, ast.Compare)
        for at in range(len(node.ops))
    ]


def _compare_otherwise(nth: int, other: type[ast.cmpop], tree: ast.AST) -> None:
    compared, at = _operators(tree)[nth]
    compared.ops[at] = other()


def _constants(tree: ast.AST) -> list[tuple[str, ast.Constant]]:
    """The numbers, but 0, in a module's constants, with the names of these."""
    assert isinstance(tree, ast.Module)
    named = [
        (ast.unparse(node.targets[0] if isinstance(node, ast.Assign) else node.target), node.value)
        for node in tree.body
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None
    ]
    return [
        (name, number)
        for name, value in named
        if name.strip("(_").isupper()
        for number in ast.walk(value)
        if isinstance(number, ast.Constant)
        and isinstance(number.value, int | float)
        and not isinstance(number.value, bool)
        and number.value
    ]


def _set_constant(nth: int, value: float, tree: ast.AST) -> None:
    _constants(tree)[nth][1].value = value


def _times(number: float, factor: float) -> float:
    return round(number * factor) if isinstance(number, int) else number * factor


class _Loader(SourceFileLoader):
    def __init__(self, mutant: Mutant) -> None:
        super().__init__(mutant.module, str(mutant.path))
        self.mutant = mutant

    def get_code(self, fullname: str) -> CodeType:  # noqa: ARG002
        return self.mutant.code()


class _Finder:
    def __init__(self, mutant: Mutant) -> None:
        self.mutant = mutant

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        found = PathFinder.find_spec(name, path, target)
        if found and name == self.mutant.module:
            found.loader = _Loader(self.mutant)
        return found


def tests_of(part: str, path: Path) -> list[str]:
    """Arguments for pytest: the tests of a part, those of this file first."""
    if part in GAMES:
        tests = ["conformance/test_data.py", part, "conformance/test_games.py"]
        return [*(f"tests/engines/{test}" for test in tests), "-k", part]
    nearest = ROOT / "tests" / part / f"test_{path.stem}.py"
    files = [nearest] if nearest.exists() else []
    quick = "not browser" if part in ALL_TESTS else "not slow and not browser"
    return [*map(str, files), f"tests/{part}", "-m", quick]


def noticed(mutant: Mutant | None, tests: Sequence[str], limit_s: int) -> bool:
    """Do these tests fail with this mutant, or, for None, as they are?"""
    child = os.fork()
    if child:
        return os.waitpid(child, 0)[1] != 0
    resource.setrlimit(resource.RLIMIT_CPU, (limit_s, limit_s))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    if mutant:
        sys.meta_path.insert(0, _Finder(mutant))
    pytest = importlib.import_module("pytest")
    failed = pytest.main([*tests, "-xq", "-n", "0", "-p", "no:cacheprovider", *LATE])
    os._exit(int(failed))


class Options(msgspec.Struct, frozen=True):
    sample: Annotated[int, "So many mutants of each part, drawn by chance; 0: all."] = 0
    limit_s: Annotated[int, "Processor time that the tests of a mutant may take."] = 300


class Case(msgspec.Struct, frozen=True):
    part: str
    """A game, or a room of the house."""
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
    for part in (*GAMES, *ROOMS):
        folder = ROOT / "engines" / part if part in GAMES else ROOT / part
        found = [
            Case(part, str(path.relative_to(ROOT)), number, options.limit_s)
            for path in sorted(folder.rglob("*.py"))
            for number, _ in enumerate(mutants(path, part in ROOMS))
        ]
        yield from sorted_sample(found, options.sample) if options.sample else found


def sorted_sample(found: list[Case], count: int) -> list[Case]:
    drawn = Random(1).sample(found, min(count, len(found)))
    return sorted(drawn, key=lambda case: (case.path, case.number))


@cache
def _tests_pass(part: str, limit_s: int) -> bool:
    """Before anything is changed."""
    os.chdir(ROOT)
    for name in LOADED_BEFORE:
        importlib.import_module(name)
    return not noticed(None, tests_of(part, ROOT), limit_s)


def run(case: Case) -> MutantResult:
    if not _tests_pass(case.part, case.limit_s):
        raise RuntimeError(f"{case.part}: expected tests that pass before anything is changed")
    path = ROOT / case.path
    mutant = next(itertools.islice(mutants(path, case.part in ROOMS), case.number, None))
    return MutantResult(str(mutant), noticed(mutant, tests_of(case.part, path), case.limit_s))


def summarise(_options: Options, pairs: Pairs) -> Summary:
    by_part: dict[str, list[bool]] = {}
    for case, one in pairs:
        by_part.setdefault(case.part, []).append(one.noticed)
    rows = [Row(part, len(found), sum(found)) for part, found in by_part.items()]
    return Summary(tuple(rows), tuple(one.mutant for _, one in pairs if not one.noticed))


BENCHMARK = Benchmark("ENGINES.md", cases, run, summarise, Options, section=True)
