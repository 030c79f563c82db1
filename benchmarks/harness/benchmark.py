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
"""Third-party photographs and films with ground truth, and their scorers."""
LONGEST_NAME = 120

Pairs = Sequence[tuple[Any, Any]]
"""Cases with their results, in case order."""


class NoOptions(msgspec.Struct, frozen=True):
    """No options."""


@dataclass(frozen=True)
class Benchmark:
    """A benchmark: cases, a function that runs one, their summary, and a page in docs/.

    A case is a word, a number, a tuple of them or a msgspec struct.  `run` must depend on nothing
    else, because its result is cached by the name of its case.  Types of results and summaries come
    from the annotations of `run` and `summarise`; both are stored as JSON.
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
    """True if only the part of the page between two marks is generated."""
    processes: int = 1
    """Default number of concurrent cases; use 1 for timings."""
    broken: Callable[[Any], Iterable[str]] | None = None
    """Broken promises in a summary; the command fails if there are any."""
    fresh: bool = False
    """True to run every case in a fresh process."""

    @property
    def name(self) -> str:
        """Name of its module and its template."""
        return self.summarise.__module__.rpartition(".")[2]

    @property
    def result_type(self) -> Any:
        return get_type_hints(self.run)["return"]

    @property
    def summary_type(self) -> Any:
        return get_type_hints(self.summarise)["return"]


def name_of(case: Any) -> str:
    """A file name that identifies a case."""
    plain = msgspec.to_builtins(case)
    if isinstance(plain, dict):
        plain = list(plain.values())
    words = "-".join(map(str, plain)) if isinstance(plain, list | tuple) else str(plain)
    name = re.sub(r"[^\w.+]+", "-", words).strip("-")
    if len(name) <= LONGEST_NAME:
        return name
    return f"{name[:LONGEST_NAME]}-{sha256(words.encode()).hexdigest()[:12]}"


def needs(path: Path) -> Path:
    """A file or folder of BENCH; exits with a one-line message if it is missing."""
    if not path.exists():
        sys.exit(
            f"benchmarks: expected {path.relative_to(BENCH)} in {BENCH}; set RINKSIDE_BENCH to the"
            " folder that has it"
        )
    return path
