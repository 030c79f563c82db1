"""Results as JSON, and pages rendered from them by the templates in benchmarks/templates/.

A page depends only on stored results and manual text, so it can be rendered again at any time.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import jinja2
import msgspec

from benchmarks.harness.benchmark import Benchmark
from benchmarks.harness.provenance import Provenance

TEMPLATES = Path(__file__).parents[1] / "templates"
BY_HAND = ("<!-- Found by looking; the benchmark leaves it as it is. -->", "<!-- Until here. -->")
"""Marks around manual text on a page, which is preserved."""
UNKNOWN = "–"


class Results(msgspec.Struct, frozen=True):
    """Stored results of a benchmark.

    Options (None if unknown) and summary have the benchmark's own types.
    """

    provenance: Provenance
    options: Any
    summary: Any


def write_results(path: Path, results: Results) -> None:
    path.write_bytes(msgspec.json.format(msgspec.json.encode(results), indent=1) + b"\n")


def read_results(path: Path, benchmark: Benchmark) -> Results:
    """Read stored results; raises msgspec.ValidationError for any other file."""
    raw = msgspec.json.decode(path.read_bytes(), type=dict[str, msgspec.Raw])
    kinds = {
        "provenance": Provenance,
        "options": benchmark.options | None,
        "summary": benchmark.summary_type,
    }
    return Results(**{key: msgspec.json.decode(raw[key], type=kind) for key, kind in kinds.items()})


def render_page(benchmark: Benchmark, results: Results, before: str) -> str:
    """The page as it was `before`, with these results."""
    template = _environment().get_template(f"{benchmark.name}.md")
    text = template.render(
        results=results.summary,
        options=results.options,
        provenance=results.provenance,
        by_hand=by_hand(before),
    )
    return replace_between(before, benchmark.name, text) if benchmark.section else text


def by_hand(page: str) -> str:
    """Manual text of a page, with its marks."""
    begin, end = BY_HAND
    return begin + page.partition(begin)[2].partition(end)[0] + end


def replace_between(page: str, name: str, text: str) -> str:
    """Replace the text between the marks of a benchmark in a page.

    Missing marks are appended to the page.
    """
    begin = f"<!-- {name}: `python -m benchmarks {name}` writes what follows -->"
    end = f"<!-- {name} end -->"
    head, found, rest = page.partition(begin)
    if not found:
        head, tail = f"{page}\n" if page else "", "\n"
    else:
        _, ended, tail = rest.partition(end)
        if not ended:
            raise ValueError(f"expected {end} after {begin}")
    return f"{head}{begin}\n\n{text}\n{end}{tail}"


def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,  # Markdown
    )
    environment.filters |= {
        "f": figure,
        "head": head,
        "percent": percent,
        "right_of": right_of,
        "row": row,
        "spread": spread,
        "title_of": title_of,
    }
    return environment


def figure(value: float | None, form: str = "", unit: str = "") -> str:
    """A number by a format specification, with its unit."""
    return UNKNOWN if value is None else format(value, form) + unit


def percent(share: float | None, decimals: int = 1) -> str:
    return UNKNOWN if share is None else f"{100 * share:.{decimals}f} %"


def spread(values: Sequence[float] | None, unit: str, form: str = ".2f") -> str:
    """Selected percentiles of one sample."""
    return f"{' / '.join(figure(value, form) for value in values)} {unit}" if values else UNKNOWN


def title_of(game: str) -> str:
    """A game's title."""
    return "IceFloe" if game == "icefloe" else game.replace("_", " ").title()


def right_of(right: int, whole: int) -> str:
    """A count and its share; empty for 0 of 0, and never rounded up to 100 %."""
    share = right / max(1, whole)
    return f"{right} ({share:.{2 if 0.9995 <= share < 1 else 1}%})" if whole else ""


def row(cells: Iterable[Any]) -> str:
    """A table row in Markdown."""
    return f"|{''.join(f' {cell} |' if cell != '' else ' |' for cell in cells)}"


def head(cells: Sequence[Any]) -> str:
    """Header and separator rows of a table in Markdown."""
    return f"{row(cells)}\n|{'---|' * len(cells)}"
