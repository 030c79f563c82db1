"""Modules with one mistake each, and whether the tests notice it.

`<` becomes `<=` and `>=`, `==` becomes `!=`, `in` becomes `not in`, `is` becomes `is not`, and the
other way round.  If asked for, a number that a module keeps as a constant becomes three times as
large, and a third.  Every mutant is tried in processes of its own.  One that hangs, or runs out of
processor time or memory, is noticed too.
"""

from __future__ import annotations

import ast
import importlib
import os
import pkgutil
import re
import resource
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from importlib.machinery import SourceFileLoader
from pathlib import Path
from random import Random
from tempfile import TemporaryFile
from types import CodeType
from typing import BinaryIO, NoReturn, TypeVar

from benchmarks.harness import ROOT

LOADED_BEFORE = (
    "pytest",
    "_pytest.python",
    "hypothesis.strategies",
    "schemathesis.pytest.plugin",
    "numpy",
    "scipy.optimize",
    "msgspec",
    "table.observation",
    "table.clearance",
    "gpiozero",
    "serial",
    "click.testing",
)
"""What every mutant's tests need."""
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
LEAST_NEAR, MOST_NEAR = 4, 12
"""Nearest test modules of a module: of other rooms where there are fewer, and never more."""
FACTORS = (3.0, 1 / 3)
"""What constants are multiplied with."""


Item = TypeVar("Item")


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
    if any(getattr(one, "__file__", None) == str(mutant.path) for one in sys.modules.values()):
        _forget_project()
    read = SourceFileLoader.get_code

    def get_code(loader: SourceFileLoader, fullname: str) -> CodeType | None:
        if Path(loader.path).resolve() == mutant.path:
            return mutant.code()
        return read(loader, fullname)

    setattr(SourceFileLoader, "get_code", get_code)  # noqa: B010 - mypy knows it of its base only


def nearest(room: str, path: Path) -> list[Path]:
    """Test modules that are named after a module of a room or its folder, or that import it.

    Those of other rooms are among them where its own room has few.  Where there are none, they are
    those of the modules of the room that import it.
    """
    imports = _imports(path)
    own: list[Path] = []
    others: list[Path] = []
    for one in sorted((ROOT / "tests").rglob("test_*.py")):
        in_room = one.is_relative_to(ROOT / "tests" / room.split("/")[0])
        like = one.stem.startswith((f"test_{path.stem}", f"test_{path.parent.name}"))
        named = like if in_room else one.stem == f"test_{path.stem}"
        if named or imports.search(one.read_text(encoding="utf-8")):
            (own if in_room else others).append(one)
    for found in (own, others):
        found.sort(
            key=lambda one: (
                not one.stem.startswith(f"test_{path.stem}"),
                not one.is_relative_to(ROOT / "tests" / room),
            )
        )
    if not own and not others:
        importers = (
            one
            for one in sorted((ROOT / room).rglob("*.py"))
            if imports.search(one.read_text(encoding="utf-8"))
        )
        own = [*dict.fromkeys(test for one in importers for test in nearest(room, one))]
    return [*own[:MOST_NEAR], *others[: max(0, LEAST_NEAR - len(own))]]


def _imports(path: Path) -> re.Pattern[str]:
    """What a module that imports the one of this path has a line of."""
    module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
    folder, _, name = module.rpartition(".")
    return re.compile(
        rf"^(from {re.escape(module)} import|import {re.escape(module)}$|"
        rf"from {re.escape(folder)} import .*\b{name}\b)",
        re.MULTILINE,
    )


@cache
def load_before(packages: tuple[str, ...] = ()) -> None:
    """Import what the tests of many mutants need, and all of these packages, once for all."""
    os.chdir(ROOT)
    for name in LOADED_BEFORE:
        importlib.import_module(name)
    for package in packages:
        found = importlib.import_module(package)
        for one in pkgutil.walk_packages(found.__path__, f"{package}."):
            importlib.import_module(one.name)


def _forget_project() -> None:
    """Let every module of the project be read again."""
    for name, module in list(sys.modules.items()):
        path = Path(getattr(module, "__file__", None) or "/")
        if path.is_relative_to(ROOT) and not {"benchmarks", ".venv"} & set(path.parts):
            del sys.modules[name]


def is_detected(mutant: Mutant, tests: Sequence[str], limit_s: int) -> bool:
    """Do these tests, arguments of pytest, fail with this mutant?

    Raises RuntimeError where the test that fails does so without it.
    """
    failed = _first_failure(mutant, tests, limit_s)
    if failed is None:
        return False
    if _fails_without_mutant((failed,) if failed else tuple(tests), limit_s):
        raise RuntimeError(f"expected a test that passes without a mutant: {failed}")
    return True


@cache
def _fails_without_mutant(tests: tuple[str, ...], limit_s: int) -> bool:
    return _first_failure(None, tests, limit_s) is not None


class _Progress:
    """Notes in a file which test runs."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self._file.seek(0)
        self._file.truncate()
        self._file.write(nodeid.encode())
        self._file.flush()


def _first_failure(mutant: Mutant | None, tests: Sequence[str], limit_s: int) -> str | None:
    """The first test that fails; empty where none could be begun, None where none fails."""
    with TemporaryFile() as file:
        child = os.fork()
        if not child:
            _run_tests(mutant, tests, limit_s, _Progress(file))
        if os.waitpid(child, 0)[1] == 0:
            return None
        file.seek(0)
        return file.read().decode()


def _run_tests(
    mutant: Mutant | None, tests: Sequence[str], limit_s: int, progress: _Progress
) -> NoReturn:
    """Ends this process: with 0 where no test fails."""
    resource.setrlimit(resource.RLIMIT_CPU, (limit_s, limit_s))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    if mutant:
        _load(mutant)
    pytest = importlib.import_module("pytest")
    how = ["-xq", "-n", "0", "-p", "no:cacheprovider", f"--timeout={TEST_S}", *LATE]
    failed = pytest.main([*tests, *how], plugins=[progress])
    os._exit(int(failed) if failed != pytest.ExitCode.NO_TESTS_COLLECTED else 0)


def draw_sample(found: list[Item], sample: int, seed: int) -> list[Item]:
    """So many by chance, in their order; all for 0."""
    count = min(sample, len(found)) if sample else len(found)
    return [found[at] for at in sorted(Random(seed).sample(range(len(found)), count))]
