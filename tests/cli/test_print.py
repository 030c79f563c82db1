"""`rinkside print`: files, what is said, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from cli.main import main
from table.table_config import Fiducials, parse_table
from vision.cameras.image_files import read_image


def rinkside(*words: object, language: str = "en") -> Result:
    return CliRunner().invoke(
        main, ["print", *map(str, words)], env={"RINKSIDE_LANGUAGE": language}
    )


def test_a_sheet_and_its_preview_are_written(tmp_path: Path) -> None:
    message = rinkside(
        "hex", "--paper", "a3", "--out", tmp_path / "hex.pdf", "--preview", tmp_path / "hex.png"
    )
    assert message.exit_code == 0, message.output
    assert (
        "1 page of A3. Its markers are 40 mm a side, their left tops at (x, y) mm: 0 (-148.0,"
        " 122.0), 1 (108.0, 122.0)" in message.stdout
    )
    assert (tmp_path / "hex.pdf").read_bytes().startswith(b"%PDF-")
    assert read_image(tmp_path / "hex.png").image.shape[1] > 1600


@pytest.mark.parametrize(
    ("words", "language", "said"),
    [
        (
            ("hex", "--paper", "a3"),
            "de",
            "1 Seite A3. Die Marken haben 40 mm Seite, links oben bei (x, y) mm: 0 (-148.0, 122.0)",
        ),
        (("tiles",), "de", "2 Seiten A4, nebeneinander. Die Marken haben 40 mm Seite"),
        (("mat",), "de", "6 Seiten A4, 2 Reihen zu 3. Die Marken haben 40 mm Seite"),
        (
            ("hex", "--paper", "a3"),
            "es",
            "1 página A3. Sus marcas miden 40 mm de lado, con la esquina superior izquierda en",
        ),
        (("tiles",), "es", "2 páginas A4, una al lado de otra. Sus marcas miden 40 mm de lado"),
        (
            ("charuco",),
            "es",
            "1 página A4. 9 x 13 casillas de 20 mm, marcas de 15 mm (DICT_5X5_100).",
        ),
        (("colours",), "de", "1 Seite A4. Farbflächen von 38 x 36 mm, Marken 0 bis 3 von 24 mm"),
    ],
)
def test_what_was_made_is_said_in_the_language_that_is_set(
    words: tuple[str, ...], language: str, said: str, tmp_path: Path
) -> None:
    out = tmp_path / "sheet.pdf"
    done = rinkside(*words, "--out", out, language=language)
    assert done.stdout.startswith(f"{out}: {said}")
    assert f"/Lang ({language})".encode() in out.read_bytes()


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
