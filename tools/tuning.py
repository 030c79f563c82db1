"""The constants that were tuned, and how, in docs/tuning.md (`make tuning`).

The data are in docs/tuning.toml. A table is a constant, or several that one line of code names:

    [vision.networks.keypoints.UNCLEAR]
    value = "0.06"
    unit = "bases"
    chosen = "Of 2,078 pieces one in six exceeds it."
    commit = "6c5b1ba"

    [vision.pose.candidates."CLOSE_MM, CLEAR_MM"]
    value = "(0.15, 0.3)"

`value` is what the code has, as `ast.unparse` writes it. `unit` is left out where the name ends in
it. `chosen` says what was measured, and on what; it is left out where the value was set by
judgement, and is "not recorded" where nobody wrote down how it was found; a sentence may say either
as well. `commit` is the one in which the constant, or the last of several, first has this value, as
far as it could be traced. What a constant means is said by its docstring, from which the page takes
it.

Under `not_tuned` stand the other numeric constants of the rooms that are held here, by their kind
(`KINDS`) and module.
"""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
DATA = ROOT / "docs" / "tuning.toml"
PAGE = ROOT / "docs" / "tuning.md"
ROOMS = ("vision", "calibration", "engines", "referee", "hardware", "table")
"""Rooms whose numeric constants are all classified; other rooms may also have constants listed."""
JUDGED = "Set by judgement, not measured."
NOT_RECORDED = "Not recorded."
KINDS = {
    "facts": "sizes of pieces and boards, printed rules, mathematics, standards",
    "formats": "layout of data, of files and protocols, of networks' inputs and outputs",
    "limits": "memory, time, lengths and sizes that are spent at most",
    "numerics": "steps, rounds and resolutions of numerical methods: what they cost and round",
    "appearance": "what pages, drawings, sheets, lamps and voices look and sound like",
}
UNITS = {
    "MM": "mm",
    "MM2": "mm²",
    "DEG": "degrees",
    "PX": "px",
    "MS": "ms",
    "S": "s",
    "CELLS": "cells",
    "BASES": "bases",
    "SQUARES": "squares",
}
"""Units by suffix of a name."""
ABOUT = """\
# Tuned constants, and how they were chosen

This page lists the constants that affect what Rinkside sees and decides, and how each was chosen.
Numbers in the code are of three kinds:

- **Physical facts** are in the code with their source: sizes of pieces, the printed rules, a
  quantile of the normal distribution.
- **Formats and limits** are in the code with their reason: the layout of a file or of a network's
  output, the memory that a picture may take, the steps of a numerical method, how a page looks.
- **Tuned values** could be different: thresholds, odds, tolerances, waiting times. Only these are
  on this page.

How to read the tables:

- The meaning of a constant, its unit and what it multiplies come from its docstring.
- *{judged}* No measurement is written down, and the value is round or follows from its meaning. The
  tests and the benchmarks pass with it.
- *{not_recorded}* The value looks measured or tried, but how is not written down.
- The commit is the first one with this value (for several constants: of the last one), as far as it
  could be traced. `git show` tells what changed with it.
- "Rendered" pictures are drawn by `simulation/`, "traced" ones are path-traced by `training/`. The
  benchmark's photographs are those of [ACCURACY.md](ACCURACY.md). Seeds are those of their
  generators. [VISION.md](VISION.md) has the longer measurements.

To change a constant:

1. Measure with the old and the new value, on pictures that nobody tunes to.
2. Change the code.
3. Write value and measurement into `docs/tuning.toml`.
4. Run `make tuning`. `tests/test_tuning.py` fails if page and code differ.

| room | tuned | measured or derived | not recorded | by judgement | other numeric constants |
|---|---|---|---|---|---|
"""


@dataclass(frozen=True, slots=True)
class Constant:
    """A numeric constant of a module: names, value as code, and start of the docstring."""

    module: str
    names: str
    value: str
    doc: str

    @property
    def name(self) -> str:
        """Dotted name."""
        return f"{self.module}.{self.names}"


@dataclass(frozen=True, slots=True)
class Row:
    """How a constant was chosen; empty if by judgement."""

    module: str
    names: str
    value: str
    unit: str
    chosen: str
    commit: str

    @property
    def name(self) -> str:
        """Dotted name."""
        return f"{self.module}.{self.names}"


def constants(room: str) -> Iterator[Constant]:
    """All module-level constants of a room with a number in their value."""
    for path in sorted((ROOT / room).rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        module = ".".join(part for part in parts if part != "__init__")
        body = ast.parse(path.read_text(encoding="utf-8")).body
        for statement, after in zip(body, [*body[1:], None], strict=True):
            match statement:
                case ast.Assign(targets=[target], value=value):
                    names = ast.unparse(target).strip("()")
                case ast.AnnAssign(target=target, value=ast.expr() as value):
                    names = ast.unparse(target)
                case _:
                    continue
            if re.fullmatch("[A-Z0-9_, ]+", names) and _has_a_number(value):
                yield Constant(module, names, ast.unparse(value), _docstring(after))


def _has_a_number(value: ast.expr) -> bool:
    return any(
        isinstance(node, ast.Constant) and type(node.value) in (int, float)
        for node in ast.walk(value)
    )


def _docstring(after: ast.stmt | None) -> str:
    match after:
        case ast.Expr(value=ast.Constant(value=str(text))):
            return " ".join(text.split())
    return ""


def rows() -> tuple[Row, ...]:
    """The tuned constants of the data file, in its order.

    Raises ValueError for an invalid entry.
    """
    found = []
    data = tomllib.loads(DATA.read_text(encoding="utf-8"))
    del data["not_tuned"]
    for name, names, entry in _entries(data):
        texts = {key: str(entry.pop(key, "")) for key in ("value", "unit", "chosen", "commit")}
        if entry or not texts["value"]:
            raise ValueError(
                f"{name}.{names}: expected value, unit, chosen and commit, got {entry}"
            )
        found.append(Row(name, names, **texts))
    return tuple(found)


def _entries(
    tree: dict[str, object], module: str = ""
) -> Iterator[tuple[str, str, dict[str, object]]]:
    for key, value in tree.items():
        assert isinstance(value, dict)
        if re.fullmatch("[A-Z0-9_, ]+", key):
            yield module, key, value
        else:
            yield from _entries(value, f"{module}.{key}".strip("."))


def not_tuned() -> dict[str, tuple[str, ...]]:
    """Dotted names of all other constants, by kind."""
    data = tomllib.loads(DATA.read_text(encoding="utf-8"))["not_tuned"]
    return {
        kind: tuple(f"{module}.{one}" for module, names in modules.items() for one in names)
        for kind, modules in data.items()
    }


def unit_of(row: Row) -> str:
    """The unit, from the row or the name's suffix; empty for none."""
    ends = {UNITS.get(name.rpartition("_")[2], "") for name in row.names.split(", ")}
    return row.unit or (ends.pop() if len(ends) == 1 else "")


def page() -> str:
    """The page, in Markdown."""
    tuned, others = rows(), [name for names in not_tuned().values() for name in names]
    rooms = list(dict.fromkeys(row.module.partition(".")[0] for row in tuned))
    known = {constant.name: constant for room in rooms for constant in constants(room)}
    lines = ABOUT.format(judged=JUDGED, not_recorded=NOT_RECORDED).splitlines()
    for room in [*rooms, "all"]:
        own = [row for row in tuned if room in ("all", row.name.partition(".")[0])]
        kinds = [_kind(row) for row in own]
        counts = (
            len(own),
            kinds.count("measured"),
            kinds.count("not recorded"),
            kinds.count("judgement"),
            sum(room in ("all", name.partition(".")[0]) for name in others),
        )
        lines.append(f"| {room} | {' | '.join(map(str, counts))} |")
    for room in rooms:
        lines += ["", f"## {room}"]
        module = ""
        for row in (row for row in tuned if row.name.partition(".")[0] == room):
            if row.module != module:
                module = row.module
                lines += [
                    "",
                    f"### {module}",
                    "",
                    "| constant | value | meaning | how it was chosen | commit |",
                ]
                lines.append("|---|---|---|---|---|")
            lines.append(_line(row, known[row.name].doc))
    return "\n".join(lines) + "\n"


def _chosen(row: Row) -> str:
    return NOT_RECORDED if row.chosen == "not recorded" else row.chosen or JUDGED


def _kind(row: Row) -> str:
    """How a value was chosen: "judgement", "not recorded" or "measured" (or derived)."""
    said = _chosen(row).lower()
    return next((kind for kind in ("judgement", "not recorded") if kind in said), "measured")


def _line(row: Row, meaning: str) -> str:
    names = ", ".join(f"`{name}`" for name in row.names.split(", "))
    value = f"`{row.value}` {unit_of(row)}".strip()
    cells = (names, value, meaning, _chosen(row), row.commit)
    return "| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(f"{len(rows())} tuned constants: docs/tuning.md", file=sys.stderr)
