"""What a benchmark declares."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, get_type_hints

import msgspec

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
BENCH = Path(os.environ.get("RINKSIDE_BENCH", ROOT.parent / "shared" / "bench"))
"""Photographs and films with known truth, and their scorers; they are not Rinkside's own."""
LONGEST_NAME = 120

Pairs = Sequence[tuple[Any, Any]]
"""Cases and their results, in the order of the cases."""


class NoOptions(msgspec.Struct, frozen=True):
    """There is nothing to choose."""


@dataclass(frozen=True)
class Benchmark:
    """Cases, how one is run, what they come to, and the page in docs/ that says so.

    A case is a word, a number, a tuple of them or a msgspec struct.  `run` must know nothing else,
    for its result is kept under the name of its case.  Results and summaries are what the
    annotations of `run` and `summarise` say; both are stored as JSON.
    """

    page: str
    cases: Callable[[Any], Iterable[Any]]
    run: Callable[[Any], Any]
    summarise: Callable[[Any, Pairs], Any]
    options: type[msgspec.Struct] = NoOptions
    """How much is measured: every field has a default and becomes an option of the command line,
    and the string that its type is annotated with is what the help says.
    """
    section: bool = False
    """Only a part of the page, between two marks, is written; the rest is written by hand."""
    processes: int = 1
    """Cases that run at once, unless the command line says otherwise; times are measured alone."""
    broken: Callable[[Any], Iterable[str]] | None = None
    """What a summary says of promises that were broken; if there is any the command fails."""
    fresh: bool = False
    """Every case runs in a process that has run no other."""

    @property
    def name(self) -> str:
        """That of its module and its template."""
        return self.summarise.__module__.rpartition(".")[2]

    @property
    def result_type(self) -> Any:
        return get_type_hints(self.run)["return"]

    @property
    def summary_type(self) -> Any:
        return get_type_hints(self.summarise)["return"]


def name_of(case: Any) -> str:
    """A file name that says all of a case."""
    plain = msgspec.to_builtins(case)
    if isinstance(plain, dict):
        plain = list(plain.values())
    words = "-".join(map(str, plain)) if isinstance(plain, list | tuple) else str(plain)
    name = re.sub(r"[^\w.+]+", "-", words).strip("-")
    if len(name) <= LONGEST_NAME:
        return name
    return f"{name[:LONGEST_NAME]}-{sha256(words.encode()).hexdigest()[:12]}"


def needs(path: Path) -> Path:
    """A file or folder of BENCH; ends the program with one line where it is not there."""
    if not path.exists():
        sys.exit(
            f"benchmarks: expected {path.relative_to(BENCH)} in {BENCH}; set RINKSIDE_BENCH to the"
            " folder that has it"
        )
    return path
