"""Change one comparison or constant at a time and see whether the tests notice.

`<` becomes `<=` and `>=`, `==` becomes `!=`, `in` becomes `not in`, `is` becomes `is not`, and the
other way round.  Outside the rules a number that a module keeps as a constant becomes three times
as large, and a third.  Every mutant is tried in a process of its own that runs the quick tests of
its part, the nearest first, and stops at the first that fails; where none does, slow tests of the
modules that import the changed one are tried too.  One that hangs, or runs out of processor time or
memory, is noticed too.
"""

from __future__ import annotations

import ast
import importlib
import itertools
import os
import re
import resource
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from importlib.machinery import SourceFileLoader
from pathlib import Path
from random import Random
from types import CodeType
from typing import Annotated

import msgspec

from benchmarks.harness import ROOT, Benchmark, Pairs

GAMES = ("zamboni_wars", "icebreaker", "ice_storm", "ice_boule", "icefloe")
ROOMS = ("referee/live", "referee/sessions", "hardware")
LOADED_BEFORE = (
    "pytest",
    "_pytest.python",
    "hypothesis.strategies",
    "numpy",
    "scipy.optimize",
    "msgspec",
    "table.observation",
    "table.clearance",
    "vision.change_gate",
    "vision.dice.reader",
    "gpiozero",
    "serial",
    "click.testing",
)
"""What mutants need and none changes."""
MEMORY_BYTES = 4 << 30
"""A mutant that asks for more than this is noticed: it never ends."""
TEST_S = 120
"""A test that takes longer hangs, and has noticed."""
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


def _load(mutant: Mutant) -> None:
    """From now on its file is read with its mistake, by whatever name it is imported."""
    read = SourceFileLoader.get_code

    def get_code(loader: SourceFileLoader, fullname: str) -> CodeType | None:
        if Path(loader.path).resolve() == mutant.path:
            return mutant.code()
        return read(loader, fullname)

    setattr(SourceFileLoader, "get_code", get_code)  # noqa: B010 - mypy knows it of its base only


def tests_of(part: str, path: Path) -> list[list[str]]:
    """Arguments for pytest, one list after the other: the tests of a part, the nearest first."""
    if part in GAMES:
        tests = ["conformance/test_data.py", part, "conformance/test_games.py"]
        return [[*(f"tests/engines/{test}" for test in tests), "-k", part]]
    near = [str(one.relative_to(ROOT)) for one in nearest(part, path)]
    quick, slow = "not slow and not browser", "slow and not browser"
    whole = [f"tests/{part}", "-m", quick]
    return [[*near, "-m", quick], whole, [*near, "-m", slow]] if near else [whole]


def nearest(part: str, path: Path) -> list[Path]:
    """Test modules that are named after a module of a room or its folder, or that import it."""
    module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
    folder, _, name = module.rpartition(".")
    imports = re.compile(
        rf"^(from {re.escape(module)} import|import {re.escape(module)}$|"
        rf"from {re.escape(folder)} import .*\b{name}\b)",
        re.MULTILINE,
    )
    found = [
        one
        for one in sorted((ROOT / "tests" / part.split("/")[0]).rglob("test_*.py"))
        if one.stem.startswith((f"test_{path.stem}", f"test_{path.parent.name}"))
        or imports.search(one.read_text(encoding="utf-8"))
    ]
    return sorted(found, key=lambda one: not one.stem.startswith(f"test_{path.stem}"))


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
        _load(mutant)
    pytest = importlib.import_module("pytest")
    how = ["-xq", "-n", "0", "-p", "no:cacheprovider", f"--timeout={TEST_S}", *LATE]
    failed = pytest.main([*tests, *how])
    os._exit(int(failed) if failed != pytest.ExitCode.NO_TESTS_COLLECTED else 0)


class Options(msgspec.Struct, frozen=True):
    sample: Annotated[int, "So many mutants of each part, drawn by chance; 0: all."] = 0
    limit_s: Annotated[int, "Processor time that the tests of a mutant may take."] = 300
    seed: Annotated[int, "Of the random sample."] = 1


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
        yield from sorted_sample(found, options) if options.sample else found


def sorted_sample(found: list[Case], options: Options) -> list[Case]:
    drawn = Random(options.seed).sample(found, min(options.sample, len(found)))
    return sorted(drawn, key=lambda case: (case.path, case.number))


@cache
def _tests_pass(part: str, limit_s: int) -> bool:
    """Before anything is changed."""
    os.chdir(ROOT)
    for name in LOADED_BEFORE:
        importlib.import_module(name)
    return not any(noticed(None, tests, limit_s) for tests in tests_of(part, ROOT / part))


def run(case: Case) -> MutantResult:
    if not _tests_pass(case.part, case.limit_s):
        raise RuntimeError(f"{case.part}: expected tests that pass before anything is changed")
    path = ROOT / case.path
    mutant = next(itertools.islice(mutants(path, case.part in ROOMS), case.number, None))
    return MutantResult(
        str(mutant),
        any(noticed(mutant, tests, case.limit_s) for tests in tests_of(case.part, path)),
    )


def summarise(_options: Options, pairs: Pairs) -> Summary:
    by_part: dict[str, list[bool]] = {}
    for case, one in pairs:
        by_part.setdefault(case.part, []).append(one.noticed)
    rows = [Row(part, len(found), sum(found)) for part, found in by_part.items()]
    return Summary(tuple(rows), tuple(one.mutant for _, one in pairs if not one.noticed))


BENCHMARK = Benchmark("ENGINES.md", cases, run, summarise, Options, section=True)
