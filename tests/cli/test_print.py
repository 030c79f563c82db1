"""`rinkside print`: files, what is said, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from cli.main import main
from table.table_config import Fiducials, parse_table
from vision.cameras.image_files import read_image


def rinkside(*words: object) -> Result:
    return CliRunner().invoke(main, ["print", *map(str, words)])


def test_a_sheet_and_its_preview_are_written(tmp_path: Path) -> None:
    message = rinkside(
        "hex", "--paper", "a3", "--out", tmp_path / "hex.pdf", "--preview", tmp_path / "hex.png"
    )
    assert message.exit_code == 0, message.output
    assert (
        "1 page of A3. Its fiducials are 40 mm a side, their left tops at (x, y) mm: 0 (-148.0,"
        " 122.0), 1 (108.0, 122.0)" in message.stdout
    )
    assert (tmp_path / "hex.pdf").read_bytes().startswith(b"%PDF-")
    assert read_image(tmp_path / "hex.png").image.shape[1] > 1600


@pytest.mark.parametrize("name", ["chessboard", "hex", "tiles", "coasters", "mat"])
def test_json_is_what_table_json_needs(tmp_path: Path, name: str) -> None:
    document = json.loads(rinkside(name, "--out", tmp_path / "board.pdf", "--json").stdout)
    camera = {
        "width": 640,
        "height": 480,
        "matrix": [[600, 0, 320], [0, 600, 240], [0, 0, 1]],
        "distortion": [0, 0, 0, 0],
    }
    game = {"name": "ice_storm", "colours": ["red"], "sizes": ["small"]}
    table = {
        "format": "rinkside-table/1",
        "camera": camera,
        "fiducials": document["fiducials"],
        "board": document["board"],
        "game": game,
    }
    setup = parse_table(table)
    assert [marker.id for marker in setup.fiducials.markers] == [0, 1, 2, 3]
    assert setup.fiducials.dictionary == Fiducials(markers=setup.fiducials.markers).dictionary


def test_sheets_for_any_table_have_no_places_on_one(tmp_path: Path) -> None:
    document = json.loads(rinkside("charuco", "--out", tmp_path / "target.pdf", "--json").stdout)
    assert document == {"format": "rinkside-sheet/1", "sheet": "charuco", "paper": "A4", "pages": 1}
    assert "9 x 13 squares of 20 mm" in rinkside("charuco", "--out", tmp_path / "target.pdf").stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["checkers", "--out", "a.pdf"],
            (
                "rinkside: expected a sheet (charuco, fiducials, colours, chessboard, hex, tiles,"
                " coasters, mat), got 'checkers'"
            ),
        ),
        (["hex", "--out", "a.png"], "a.png: expected a name that ends in .pdf, got 'a.png'"),
        (
            ["hex", "--out", "nowhere/a.pdf"],
            "nowhere/a.pdf: expected the name of a file in an existing folder",
        ),
        (["hex", "--out", "a.pdf", "--preview", "a.gif"], "a.gif: expected a name that ends in"),
        (["hex", "--out", "a.pdf", "--paper", "A5"], "--paper: expected A4, A3, Letter, got 'A5'"),
        (
            ["hex", "--out", "a.pdf", "--cell-mm", "7"],
            "--cell-mm: expected 20 to 60 mm for hex, got 7",
        ),
        (
            ["hex", "--out", "a.pdf", "--cell-mm", "nan"],
            "--cell-mm: expected 20 to 60 mm for hex, got nan",
        ),
        (
            ["coasters", "--out", "a.pdf", "--cell-mm", "30"],
            "--cell-mm: expected only with chessboard, hex, tiles, got it with coasters",
        ),
        (
            ["chessboard", "--out", "a.pdf", "--cell-mm", "100"],
            "chessboard: A4 is too small: expected a sheet of at most 12 pages",
        ),
    ],
)
def test_what_cannot_be_done_is_one_line(
    words: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.pdf").write_bytes(b"the last one")
    done = rinkside(*words)
    assert done.exit_code == 2
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
    assert (tmp_path / "a.pdf").read_bytes() == b"the last one"
    assert [path.name for path in tmp_path.iterdir()] == ["a.pdf"]
