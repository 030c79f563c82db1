"""From paper to millimetres: a printed board, photographed through a lens, is located by what
`rinkside print --json` says of it.
"""

from __future__ import annotations

import json
from pathlib import Path

import cv2
import msgspec
import numpy as np
import pytest
from click.testing import CliRunner

from calibration.sheets.catalogue import make_sheet
from calibration.sheets.layout import PAPERS, lay_out
from calibration.sheets.pdf import read_pages
from cli.main import main
from table.table_config import load_table, parse_table
from vision.geometry.camera_model import project
from vision.localization.fiducials import locate

pytestmark = pytest.mark.slow

LENS_FILE = {
    "format": "rinkside-lens/1",
    "model": "k1 k2",
    "sigma": {},
    "rms_px": 0.1,
    "held_out_px": {},
    "coverage": 1.0,
    "target": "charuco",
    "square_mm": 20.0,
    "views": [],
    "left_out": [],
}


@pytest.mark.parametrize("name", ["hex", "tiles", "coasters"])
def test_a_printed_board_is_located_to_tenths_of_a_millimetre(
    name: str, photographs, tmp_path: Path
) -> None:
    out = tmp_path / "board.pdf"
    document = json.loads(
        CliRunner()
        .invoke(main, ["print", name, "--paper", "A3", "--out", str(out), "--json"])
        .stdout
    )
    camera = msgspec.to_builtins(photographs.LENS)
    game = {"name": "icebreaker", "colours": ["red", "black"], "sizes": ["medium"]}
    table = {
        "format": "rinkside-table/1",
        "camera": camera,
        "fiducials": document["fiducials"],
        "board": document["board"],
        "game": game,
    }
    setup = parse_table(table)

    (page,) = lay_out(make_sheet(name, PAPERS["A3"]), PAPERS["A3"]).pages
    (image,) = read_pages(out.read_bytes(), 25.4 * photographs.PX_A_MM)
    across, down = image.shape[1] / page.width_mm, image.shape[0] / page.depth_mm
    x0, y0 = page.origin_mm
    table2px = np.array(
        [[across, 0, across * x0 - 0.5], [0, -down, down * (page.depth_mm - y0) - 0.5], [0, 0, 1]]
    )
    grey = np.asarray(cv2.cvtColor(image, cv2.COLOR_RGB2GRAY))

    middle = np.append(setup.board.outline().mean(axis=0), 0.0)
    rotation = np.asarray(cv2.Rodrigues(np.array([0.35, 0.2, 0.1]))[0]) @ np.diag([1.0, -1.0, -1.0])
    pose = (
        np.asarray(cv2.Rodrigues(rotation)[0]).reshape(3),
        np.array([0.0, 0.0, 520.0]) - rotation @ middle,
    )
    taken = photographs.photograph(pose, np.random.default_rng(2), printed=lambda: (grey, table2px))
    found = locate(np.dstack([taken] * 3), setup)
    assert found, found.reason
    assert found.fiducials_seen == (0, 1, 2, 3)
    outline = setup.board.outline()
    # The paper lies `z_mm` over where pieces stand: what is checked is its own plane.
    points = np.column_stack([outline, np.full(len(outline), setup.fiducials.z_mm)])
    flat, _ = cv2.projectPoints(
        np.column_stack([outline, np.zeros(len(outline))]),
        *pose,
        np.array(setup.camera.matrix),
        np.array(setup.camera.distortion),
    )
    off_px = np.hypot(*(project(points, found, setup.camera) - np.asarray(flat).reshape(-1, 2)).T)
    mm_a_px = 520 / setup.camera.matrix[0][0]
    assert off_px.max() * mm_a_px < 0.1


def test_print_lens_and_bar_make_a_table(photographs, tmp_path: Path) -> None:
    board, lens, out = tmp_path / "board.json", tmp_path / "lens.json", tmp_path / "table.json"
    board.write_text(
        CliRunner()
        .invoke(main, ["print", "tiles", "--out", str(tmp_path / "board.pdf"), "--json"])
        .stdout
    )
    lens.write_bytes(
        msgspec.json.encode(LENS_FILE | {"camera": msgspec.to_builtins(photographs.LENS)})
    )
    words = [
        "calibrate",
        "printed",
        str(board),
        "--lens",
        str(lens),
        "--colours",
        "red,black,yellow,blue",
        "--out",
        str(out),
    ]
    result = CliRunner().invoke(main, [*words, "--bar-mm", "99.6"])
    assert (result.exit_code, result.stderr) == (0, "")
    assert "-0.4 %" in result.stdout
    table, drawn = load_table(out), json.loads(board.read_text())
    assert (table.game.name, table.camera) == ("icefloe", photographs.LENS)
    assert table.board.cell_mm == pytest.approx(0.996 * drawn["board"]["cell_mm"])
    assert table.board.tile_mm == 50.8, "tiles are not printed"
    assert table.fiducials.z_mm == drawn["fiducials"]["z_mm"]
    for marker, as_drawn in zip(
        table.fiducials.markers, drawn["fiducials"]["markers"], strict=True
    ):
        assert np.allclose(marker.corners_mm, 0.996 * np.array(as_drawn["corners_mm"]))
    before = out.read_bytes()
    for wrong in (["--bar-mm", "90"], ["--bar-mm", "nan"]):
        result = CliRunner().invoke(main, [*words, *wrong])
        assert (result.exit_code, result.stderr.count("\n")) == (2, 1)
    assert out.read_bytes() == before
