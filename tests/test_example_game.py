"""The game in `examples/` is shown, printed and translated like the project's own.

No file of the project knows it.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from pypdfium2 import PdfDocument

from engines import GAMES
from engines.rule_texts import explain
from table.languages import translated
from table.table_config import load_table
from tests.support.installed_packages import ROOT, install, on_the_path, rinkside
from tests.support.quick_hand import quick_hand
from webui.pages.help import games_pages

PLUGIN = ("-p", "conformance.plugin")
"""As an installed package it is found by its entry point; a checkout need not be installed."""
CONVOY = ROOT / "examples" / "convoy"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    install(CONVOY, folder)
    return folder


@pytest.fixture
def convoy(site: Path) -> Iterator[object]:
    with on_the_path(site, "convoy"):
        yield GAMES["convoy"]


def test_it_speaks_german_and_spanish(convoy) -> None:
    state = convoy.start(("red", "blue"), {})
    message = convoy.violation(state, convoy.parse_move("b2-b3")).message
    assert message == "Red has no pyramid on b2."
    assert translated(message, "de") == "Rot hat auf b2 keine Pyramide."
    assert translated(message, "es") == "Rojo no tiene ninguna pirámide en b2."
    assert translated("goal", "de", "ruling") == "Ziel"
    (clause,) = explain("convoy", "Step")
    assert translated(clause.text, "es").startswith("En su turno,")


@pytest.mark.usefixtures("convoy")
def test_its_page_is_in_the_guide() -> None:
    assert [*games_pages()] == ["convoy"]


def test_its_rules_are_listed_and_its_board_is_printed(site: Path, tmp_path: Path) -> None:
    assert "points that win the game" in rinkside(site, "rules", "convoy").stdout
    sheet = tmp_path / "convoy.pdf"
    result = rinkside(site, "print", "convoy", "--out", str(sheet), "--json")
    assert result.returncode == 0, result.stderr
    assert sheet.read_bytes().startswith(b"%PDF")
    (tmp_path / "board.json").write_text(result.stdout)
    words = ("calibrate", "printed", str(tmp_path / "board.json"), "--game", "convoy")
    lens = ("--lens", "camera-module-3", "--size", "2304x1296")
    result = rinkside(site, *words, *lens, "--out", str(tmp_path / "table.json"))
    assert result.returncode == 0, result.stderr
    board = load_table(tmp_path / "table.json").board
    assert (board.files, board.ranks) == (5, 6)


def test_its_sheet_speaks_german(site: Path, tmp_path: Path) -> None:
    sheet = tmp_path / "convoy.pdf"
    result = rinkside(site, "--language", "de", "print", "convoy", "--out", str(sheet))
    assert result.returncode == 0, result.stderr
    document = PdfDocument(sheet.read_bytes())
    printed = document[0].get_textpage().get_text_range()
    document.close()
    assert "Convoy: 5 mal 6 Felder" in printed
    assert "Auf diesem Brett wird Convoy gespielt." in printed
    assert "5 x 6 Felder von 36 mm; Marken 0 bis 3 von 40 mm (DICT_4X4_50)" in printed


MOVED = (("b1 b2",), ("c4 c5", "c3 c4"), ("c4 c5", "c3 c4", "c2 c3"), ("c5 d6",))
"""How a pupil moves pyramids in each lesson."""


@pytest.mark.slow
@pytest.mark.usefixtures("convoy")
def test_its_lessons_are_done_on_the_virtual_table(tmp_path) -> None:
    with quick_hand(tmp_path, "convoy") as hand:
        for number, moved in enumerate(MOVED, 1):
            hand.tutor.begin(number)
            hand.until(lambda _: hand.lesson_state() == "open")
            for origin, target in map(str.split, moved):
                hand.drag(f"pyramid {origin}", *hand.cell(target))
            hand.until(lambda _: hand.lesson_state() == "done")
        assert "won" in str(hand.view()["live"]["said"])


def test_no_file_of_the_project_names_it() -> None:
    found = [
        path.relative_to(ROOT).as_posix()
        for room in (
            "table",
            "engines",
            "simulation",
            "webui",
            "hub",
            "cli",
            "referee",
            "conformance",
        )
        for path in (ROOT / room).rglob("*.py")
        if "convoy" in path.read_text(encoding="utf-8").lower()
    ]
    assert found == []


def suites(site: Path, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run the tests of an example, as its author does."""
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *PLUGIN, *words],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": f"{site}{os.pathsep}{ROOT}"},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.slow
def test_it_passes_the_conformance_suites(site: Path) -> None:
    result = suites(site, CONVOY)
    assert result.returncode == 0, result.stdout[-4000:]
    assert "skipped" not in result.stdout


def test_a_game_that_is_not_installed_is_named(site: Path) -> None:
    result = suites(site, CONVOY, "--rinkside-game", "gonvoy")
    assert result.returncode == 4
    assert "expected a game (" in result.stderr
    assert "got 'gonvoy'" in result.stderr
