"""docs/architecture.md says what is so: its diagram, and every file and name on it."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from tests.support.import_graph import PAGE, diagram, graph, modules_imported, with_diagram
from tests.support.paths import ROOT

TEXT = PAGE.read_text(encoding="utf-8")
NAMED = sorted(set(re.findall(r"`((?:[a-z_]+/)+[a-z_]+\.\w+)(?::(\w+))?`", TEXT)))


def test_the_diagram_is_the_one_that_the_code_draws() -> None:
    assert with_diagram(TEXT, diagram(graph())) == TEXT, "run `make diagram`"


def test_the_diagram_leaves_out_what_follows_and_dots_what_goes_the_wrong_way() -> None:
    imports = {
        "table": frozenset({"engines"}),
        "engines": frozenset({"table"}),
        "referee.sessions": frozenset({"engines", "table"}),
    }
    arrows = [line.strip() for line in diagram(imports).splitlines() if ">" in line]
    assert arrows == ["table -.-> engines", "engines --> table", "referee_sessions --> engines"]


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("import engines.verdict", ["engines.verdict"]),
        ("def f():\n    from referee import live, sessions", ["referee.live", "referee.sessions"]),
        ("from . import beside", []),
    ],
)
def test_imports_are_found_wherever_they_stand(source: str, names: list[str]) -> None:
    assert list(modules_imported(source)) == names


def test_files_and_names_are_named() -> None:
    assert len(NAMED) > 30


@pytest.mark.parametrize(("path", "name"), NAMED)
def test_what_the_page_names_is_there(path: str, name: str) -> None:
    assert (ROOT / path).exists()
    if name:
        body = ast.parse((ROOT / path).read_text(encoding="utf-8")).body
        assert name in {
            part.id if isinstance(part, ast.Name) else getattr(part, "name", "")
            for node in body
            for part in (node, *getattr(node, "targets", ()))
        }


def folders(text: str) -> set[str]:
    """Folders that the page names: `vision/localization/`."""
    return set(re.findall(r"`((?:[a-z_]+/)+)`", text))


def test_the_folders_that_the_page_names_are_there() -> None:
    assert [name for name in folders(TEXT) if not (ROOT / name).is_dir()] == []


def test_every_room_is_on_the_page() -> None:
    rooms = {path.parent.name for path in ROOT.glob("*/__init__.py") if path.parent.name != "tests"}
    parts = {path.parent.name for path in Path(ROOT / "referee").glob("*/__init__.py")}
    wanted = {f"{room}/" for room in rooms - {"referee"}} | {f"referee/{part}/" for part in parts}
    assert wanted - folders(TEXT) == set()
