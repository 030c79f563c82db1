"""The import diagram of docs/architecture.md, generated from the code.

`make diagram` writes it; tests/test_architecture.py checks that it is up to date.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping

from tests.support.paths import ROOT

PAGE = ROOT / "docs" / "architecture.md"
ROOMS = (
    "table",
    "engines",
    "vision",
    "hardware",
    "calibration",
    "referee.sessions",
    "referee.presentation",
    "referee.statistics",
    "referee.devices",
    "referee.live",
    "simulation",
    "webui",
    "hub",
    "cli",
    "conformance",
)
"""Rooms in order, from no imports to all imports."""
BEGIN, END = "<!-- drawn by `make diagram` -->", "<!-- end of the diagram -->"

Graph = Mapping[str, frozenset[str]]


def room_of(module: str) -> str:
    """The room of a module; empty for other projects' modules."""
    return next((room for room in ROOMS if f"{module}.".startswith(f"{room}.")), "")


def modules_imported(source: str) -> Iterator[str]:
    """Full names of all that a module imports, inside functions too; `from a import b` gives
    `a.b`.
    """
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Import(names=names):
                yield from (name.name for name in names)
            case ast.ImportFrom(module=str(module), level=0, names=names):
                yield from (f"{module}.{name.name}" for name in names)


def graph() -> Graph:
    """By room, the other rooms that its modules import."""
    found: dict[str, set[str]] = {room: set() for room in ROOMS}
    for room in ROOMS:
        for path in sorted((ROOT / room.replace(".", "/")).rglob("*.py")):
            found[room] |= {
                other
                for name in modules_imported(path.read_text(encoding="utf-8"))
                if (other := room_of(name)) and other != room
            }
    return {room: frozenset(others) for room, others in found.items()}


def diagram(imports: Graph) -> str:
    """Mermaid, of rooms in the order of ROOMS: an arrow from each to those that it imports, but for
    arrows that follow from others; dotted where it goes against that order.
    """
    down = {
        room: {other for other in others if ROOMS.index(other) < ROOMS.index(room)}
        for room, others in imports.items()
    }
    lines = ["```mermaid", "flowchart BT"]
    lines += [f"    {_node(room)}[{room.replace('.', '/')}]" for room in imports]
    for room in imports:
        for other in sorted(down[room], key=ROOMS.index):
            if not any(other in _reached(down, between) for between in down[room] - {other}):
                lines.append(f"    {_node(room)} --> {_node(other)}")
        for other in sorted(imports[room] - down[room], key=ROOMS.index):
            lines.append(f"    {_node(room)} -.-> {_node(other)}")
    return "\n".join([*lines, "```"])


def _node(room: str) -> str:
    return room.replace(".", "_")


def _reached(down: Mapping[str, set[str]], room: str) -> set[str]:
    return down[room].union(*(_reached(down, other) for other in down[room]))


def with_diagram(page: str, drawn: str) -> str:
    """The page with this diagram between its two marks."""
    marks = re.compile(f"{re.escape(BEGIN)}.*{re.escape(END)}", re.DOTALL)
    return marks.sub(lambda _: f"{BEGIN}\n{drawn}\n{END}", page)


if __name__ == "__main__":
    text = with_diagram(PAGE.read_text(encoding="utf-8"), diagram(graph()))
    PAGE.write_text(text, encoding="utf-8")
