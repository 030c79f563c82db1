"""Change one comparison of the rules at a time and see whether the tests notice.

`<` becomes `<=` and `>=`, `==` becomes `!=`, `in` becomes `not in`, `is` becomes `is not`, and the
other way round.  Every mutant is tried in a process of its own that runs the tests of its game and
stops at the first that fails.  One that runs out of processor time or memory is noticed too: it no
longer ends.
"""

from __future__ import annotations

import ast
import importlib
import itertools
import os
import resource
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from random import Random
from types import CodeType, ModuleType
from typing import Annotated

import msgspec

from benchmarks.harness import ROOT, Benchmark, Pairs

GAMES = ("zamboni_wars", "icebreaker", "ice_storm", "ice_boule", "icefloe")
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


@dataclass(frozen=True)
class Mutant:
    """The `nth` comparison operator of a file, in the order of `ast.walk`, replaced."""

    path: Path
    nth: int
    other: type[ast.cmpop]
    line: int
    said: str

    def __str__(self) -> str:
        return f"{self.path.relative_to(ROOT)}:{self.line}: {self.said}"

    @property
    def module(self) -> str:
        """Its name where it is imported."""
        return ".".join(self.path.relative_to(ROOT).with_suffix("").parts)

    def code(self) -> CodeType:
        """The module with its mistake."""
        tree = ast.parse(self.path.read_text(encoding="utf-8"))
        compared, at = _operators(tree)[self.nth]
        compared.ops[at] = self.other()
        return compile(tree, self.path, "exec")


def _operators(tree: ast.AST) -> list[tuple[ast.Compare, int]]:
    return [
        (node, at)
        for node in ast.walk(tree)
        if isinstance(node, ast.Compare)
        for at in range(len(node.ops))
    ]


def mutants(path: Path) -> Iterator[Mutant]:
    """All mutants of a file."""
    for nth, (compared, at) in enumerate(_operators(ast.parse(path.read_text(encoding="utf-8")))):
        was = ast.unparse(compared)
        for other in OTHERS[type(compared.ops[at])]:
            changed = ast.Compare(
                compared.left,
                [other() if k == at else op for k, op in enumerate(compared.ops)],
                compared.comparators,
            )
            yield Mutant(path, nth, other, compared.lineno, f"{was} -> {ast.unparse(changed)}")


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


def noticed(mutant: Mutant | None, game: str, limit_s: int) -> bool:
    """Do the tests of a game fail with this mutant, or, for None, as they are?"""
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
    tests = ["conformance/test_data.py", game, "conformance/test_games.py"]
    pytest = importlib.import_module("pytest")
    failed = pytest.main(
        [
            *(f"tests/engines/{path}" for path in tests),
            "-xq",
            "-k",
            game,
            "-p",
            "no:cacheprovider",
            *LATE,
        ]
    )
    os._exit(int(failed))


class Options(msgspec.Struct, frozen=True):
    sample: Annotated[int, "So many mutants of each game, drawn by chance; 0: all."] = 0
    limit_s: Annotated[int, "Processor time that the tests of a mutant may take."] = 300


class Case(msgspec.Struct, frozen=True):
    game: str
    path: str
    number: int
    """Among the mutants of its file."""
    limit_s: int


class Tried(msgspec.Struct, frozen=True):
    mutant: str
    noticed: bool


class Row(msgspec.Struct, frozen=True):
    game: str
    tried: int
    noticed: int


class Summary(msgspec.Struct, frozen=True):
    rows: tuple[Row, ...]
    survived: tuple[str, ...]


def cases(options: Options) -> Iterator[Case]:
    for game in GAMES:
        found = [
            Case(game, str(path.relative_to(ROOT)), number, options.limit_s)
            for path in sorted((ROOT / "engines" / game).glob("*.py"))
            for number, _ in enumerate(mutants(path))
        ]
        yield from sorted_sample(found, options.sample) if options.sample else found


def sorted_sample(found: list[Case], count: int) -> list[Case]:
    drawn = Random(1).sample(found, min(count, len(found)))
    return sorted(drawn, key=lambda case: (case.path, case.number))


@cache
def _tests_pass(game: str, limit_s: int) -> bool:
    """Before anything is changed."""
    os.chdir(ROOT)
    for name in LOADED_BEFORE:
        importlib.import_module(name)
    return not noticed(None, game, limit_s)


def run(case: Case) -> Tried:
    if not _tests_pass(case.game, case.limit_s):
        raise RuntimeError(f"{case.game}: expected tests that pass before anything is changed")
    mutant = next(itertools.islice(mutants(ROOT / case.path), case.number, None))
    return Tried(str(mutant), noticed(mutant, case.game, case.limit_s))


def summarise(_options: Options, pairs: Pairs) -> Summary:
    by_game: dict[str, list[bool]] = {}
    for case, one in pairs:
        by_game.setdefault(case.game, []).append(one.noticed)
    rows = [Row(game, len(found), sum(found)) for game, found in by_game.items()]
    return Summary(tuple(rows), tuple(one.mutant for _, one in pairs if not one.noticed))


BENCHMARK = Benchmark("ENGINES.md", cases, run, summarise, Options, section=True)
