"""Change one comparison of the rules at a time and see whether the tests notice: `python -m
benchmarks.mutation icefloe`.

`<` becomes `<=` and `>=`, `==` becomes `!=`, `in` becomes `not in`, `is` becomes `is not`, and the
other way round.  Every mutant is tried in a process of its own that runs the tests of its game and
stops at the first that fails.  One that runs out of processor time or memory is noticed too: it no
longer ends.
"""

from __future__ import annotations

import ast
import importlib
import json
import os
import resource
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from random import Random
from types import CodeType, ModuleType

import click

ROOT = Path(__file__).parents[1]
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


@click.command()
@click.argument("games", nargs=-1, type=click.Choice(GAMES))
@click.option(
    "--sample", type=int, help="So many mutants of each game, drawn by chance; all by default."
)
@click.option(
    "--limit-s",
    default=300,
    show_default=True,
    help="Processor time that the tests of a mutant may take.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="A file of results, a line of JSON each; mutants in it are not tried again.",
)
def main(games: tuple[str, ...], sample: int | None, limit_s: int, out: Path | None) -> None:
    """Count the mutants of GAMES (all by default) that the tests notice, and list those that they
    do not.
    """
    os.chdir(ROOT)
    for name in LOADED_BEFORE:
        importlib.import_module(name)
    known = (
        [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
        if out and out.exists()
        else []
    )
    results = {entry["mutant"]: entry["noticed"] for entry in known}
    for game in games or GAMES:
        if noticed(None, game, limit_s):
            raise click.ClickException(
                f"{game}: expected tests that pass before anything is changed"
            )
        found = [
            mutant
            for path in sorted((ROOT / "engines" / game).glob("*.py"))
            for mutant in mutants(path)
        ]
        if sample and sample < len(found):
            found = sorted(Random(1).sample(found, sample), key=str)
        survived = []
        for mutant in found:
            if str(mutant) not in results:
                results[str(mutant)] = noticed(mutant, game, limit_s)
                if out:
                    with out.open("a", encoding="utf-8") as file:
                        print(
                            json.dumps({"mutant": str(mutant), "noticed": results[str(mutant)]}),
                            file=file,
                        )
            if not results[str(mutant)]:
                survived.append(mutant)
                print(f"  survived: {mutant}", flush=True)
        print(
            f"{game}: {len(found) - len(survived)} of {len(found)} noticed"
            f" ({100 - 100 * len(survived) / len(found):.1f} %)",
            flush=True,
        )


if __name__ == "__main__":
    main()
