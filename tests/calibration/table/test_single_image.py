"""`rinkside calibrate frame`: a lens from one photograph of a table that this project's renderer
drew.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import cv2
import numpy as np
import pytest
from click.testing import CliRunner, Result

from cli.main import main
from simulation.generate.cases import random_case, write_case
from table.observation import Camera
from table.table_config import Lens, Setup, load_table
from vision.cameras.frame import Frame
from vision.cameras.image_files import read_image
from vision.geometry.camera_model import on_plane, place_covariance, project
from vision.localization.fiducials import locate
from vision.observe import FIRST_ESTIMATE, observe

pytestmark = pytest.mark.slow


def frame(folder: Path, *words: object) -> Result:
    return CliRunner().invoke(
        main, ["calibrate", "frame", *map(str, words), "--out", str(folder / "new.json")]
    )


def draft(folder: Path) -> Path:
    """The table without its camera."""
    document = json.loads((folder / "table.json").read_text())
    del document["camera"]
    (folder / "draft.json").write_text(json.dumps(document))
    return folder / "draft.json"


def parameters(lens: Lens) -> np.ndarray:
    (fx, _, cx), (_, fy, cy), _ = lens.matrix
    return np.array([fx, fy, cx, cy, *lens.distortion[:4]])


def found_in(picture: Path, setup: Setup) -> Camera:
    camera = locate(read_image(picture).image, setup)
    assert isinstance(camera, Camera)
    return camera


@pytest.mark.parametrize(("kind", "seed"), [("boule", 11), ("storm", 12), ("icebreaker", 13)])
def test_a_lens_is_estimated_from_one_photograph_and_says_how_well(
    kind: str, seed: int, tmp_path: Path
) -> None:
    write_case(tmp_path, kind, seed, 1640)
    message = frame(tmp_path, tmp_path / "image.jpg", "--table", draft(tmp_path))
    assert message.exit_code == 0, message.output
    of_board = re.search(r"(\d+) of the board\.", message.stdout)[1]
    assert (int(of_board) > 0) == (kind != "boule")
    true, got = load_table(tmp_path / "table.json"), load_table(tmp_path / "new.json")
    assert got.camera.first_estimate
    assert (got.fiducials, got.board, got.game) == (true.fiducials, true.board, true.game)
    sigma = np.sqrt(np.diag(np.array(got.camera.covariance)))
    assert np.abs((parameters(got.camera) - parameters(true.camera)) / sigma).max() < 4

    place = random_case(kind, seed).camera
    camera = found_in(tmp_path / "image.jpg", got)
    scores = []
    for height in (0.0, 25.0):
        points = np.column_stack([true.outline_mm(), np.full(len(true.outline_mm()), height)])
        off = (
            on_plane(project(points, place, true.camera), camera, got.camera, height)
            - points[:, :2]
        )
        for point, away in zip(points, off, strict=True):
            doubt = place_covariance(point, camera, got.camera)
            assert np.sqrt(np.trace(doubt)) < (1.0 if height == 0 else 3.0)
            scores.append(away @ np.linalg.solve(doubt, away))
    assert max(scores) < 25
    exact = found_in(tmp_path / "image.jpg", true)
    assert np.trace(place_covariance(points[0], exact, true.camera)) < np.trace(doubt)


def test_what_is_read_with_a_first_lens_is_less_sure_and_says_why(tmp_path: Path) -> None:
    write_case(tmp_path, "boule", 11, 1280)
    assert frame(tmp_path, tmp_path / "image.jpg", "--table", draft(tmp_path)).exit_code == 0
    picture = Frame(0, 0, read_image(tmp_path / "image.jpg").image)
    exact, first = (
        observe(picture, load_table(tmp_path / name)) for name in ("table.json", "new.json")
    )
    assert FIRST_ESTIMATE in first.notes
    assert FIRST_ESTIMATE not in exact.notes
    for one, other in zip(exact.pieces, first.pieces, strict=True):
        assert np.trace(other.covariance[:2, :2]) > 0.9 * np.trace(one.covariance[:2, :2])
    assert sum(np.trace(piece.covariance[:2, :2]) for piece in first.pieces) > sum(
        np.trace(piece.covariance[:2, :2]) for piece in exact.pieces
    )


def test_a_printed_board_needs_no_table_before(photographs, tmp_path: Path) -> None:
    sheet = CliRunner().invoke(
        main, ["print", "mat", "--paper", "A3", "--out", str(tmp_path / "mat.pdf"), "--json"]
    )
    (tmp_path / "mat.json").write_text(sheet.stdout)
    document = json.loads(sheet.stdout)
    quads = {
        marker["id"]: np.array(marker["corners_mm"]) for marker in document["fiducials"]["markers"]
    }
    low = np.min([quad.min(axis=0) for quad in quads.values()], axis=0) - 60
    places = [(*(quad.mean(axis=0) - low), 0.0) for _, quad in sorted(quads.items())]
    rng = np.random.default_rng(3)
    scene = photographs.cards_on_a_table(places, side_mm=40.0)
    photographs.save(
        photographs.photograph(photographs.pose_above_table(rng), rng, printed=lambda: scene),
        tmp_path / "photo.png",
    )
    message = frame(
        tmp_path,
        tmp_path / "photo.png",
        "--table",
        tmp_path / "mat.json",
        "--colours",
        "red,blue",
        "--target",
        "white",
    )
    assert message.exit_code == 0, message.output
    setup = load_table(tmp_path / "new.json")
    assert (setup.game.name, setup.game.colours, setup.game.target) == (
        "ice_boule",
        ("red", "blue"),
        "white",
    )
    sigma = np.sqrt(np.diag(np.array(setup.camera.covariance)))
    assert np.abs((parameters(setup.camera) - parameters(photographs.LENS)) / sigma).max() < 4


def test_photographs_that_tell_no_lens_are_refused_and_nothing_is_overwritten(
    tmp_path: Path,
) -> None:
    write_case(tmp_path, "boule", 11, 1280)
    table, photo = draft(tmp_path), tmp_path / "empty.jpg"
    (tmp_path / "new.json").write_text("the last good one")
    picture = cv2.imread(str(photo))
    setup, camera = load_table(tmp_path / "table.json"), random_case("boule", 11).camera
    covered = picture.copy()
    for marker in setup.fiducials.markers[:2]:
        middle = project(
            np.array([[*np.mean(marker.corners_mm, axis=0), 0.0]]), camera, setup.camera
        )[0]
        cv2.circle(covered, tuple(int(value) for value in middle), 60, (90, 90, 90), -1)
    cv2.imwrite(str(tmp_path / "covered.png"), covered)
    cv2.imwrite(str(tmp_path / "mirrored.png"), picture[:, ::-1])
    for name, turn in (("moved", 0.0), ("turned", 0.25)):
        moved = json.loads(table.read_text())
        corners = np.array(moved["fiducials"]["markers"][3]["corners_mm"])
        around = (corners - corners.mean(axis=0)) @ np.array(
            [[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]]
        )
        moved["fiducials"]["markers"][3]["corners_mm"] = (
            around + corners.mean(axis=0) - (45 if name == "moved" else 0, 0)
        ).tolist()
        (tmp_path / f"{name}.json").write_text(json.dumps(moved))
    (tmp_path / "none.json").write_text("{}")
    for words, part in (
        (
            (tmp_path / "covered.png", "--table", table),
            "covered.png: expected at least 3 markers in the picture, got 2; not found: 0, 1",
        ),
        (
            (tmp_path / "mirrored.png", "--table", table),
            "mirrored.png: expected a picture that is not mirrored, got a mirrored one",
        ),
        (
            (photo, "--table", tmp_path / "moved.json"),
            "expected markers where the table or the mat has them, but marker ",
        ),
        (
            (photo, "--table", tmp_path / "turned.json"),
            "expected markers where the table or the mat has them, but marker ",
        ),
        (
            (photo, "--table", tmp_path / "none.json"),
            "none.json: expected a table with fiducials and board",
        ),
    ):
        message = frame(tmp_path, *words)
        assert message.exit_code == 2, message.output
        assert part in message.stderr
        assert message.stderr.count("\n") == 1
        assert (tmp_path / "new.json").read_text() == "the last good one"
