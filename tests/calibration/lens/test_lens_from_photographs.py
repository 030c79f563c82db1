"""`rinkside calibrate lens` on photographs in files: what it finds, what it leaves out, what it
refuses.
"""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import cv2
import numpy as np
import pytest
from click.testing import CliRunner, Result

from calibration.lens.file import load_lens
from calibration.lens.synthetic_views import random_pose
from calibration.lens.target import Charuco
from cli.main import main
from tests.support.words import same_words

pytestmark = pytest.mark.slow


def rinkside(folder: Path, out: Path, *words: object, language: str = "en") -> Result:
    return CliRunner().invoke(
        main,
        ["calibrate", "lens", "--from", str(folder), "--out", str(out), *map(str, words)],
        env={"RINKSIDE_LANGUAGE": language},
        terminal_width=120,
    )


def copied(taken, tmp_path: Path) -> Path:
    folder = tmp_path / "photographs"
    shutil.copytree(taken[0], folder)
    return folder


def noise_floor_px(taken, lens) -> float:
    """How far the corners that are found are from where they are, root mean square, without the few
    that stray.
    """
    off = []
    for name, pose in taken[1].items():
        found = Charuco().find(cv2.imread(str(taken[0] / name), cv2.IMREAD_GRAYSCALE))
        points = np.column_stack([found.target_mm, np.zeros(len(found.target_mm))])
        there, _ = cv2.projectPoints(
            points, *pose, np.array(lens.matrix), np.array(lens.distortion)
        )
        off.append(found.pixels - np.asarray(there).reshape(-1, 2))
    squares = np.sum(np.concatenate(off) ** 2, axis=1)
    return float(np.sqrt(np.mean(squares[squares < 4.5**2 * np.median(squares) / (2 * np.log(2))])))


def add_spoilt(folder: Path, poses, photographs) -> None:
    """Photographs that each have another fault."""
    rng = np.random.default_rng(9)
    photographs.save(
        photographs.photograph(random_pose(photographs.LENS, rng), rng, blur_px=5),
        folder / "blurred.jpg",
    )
    near = min(poses, key=lambda pose: pose[1][2])
    photographs.save(
        photographs.photograph((near[0], near[1] + (5, 5, 9)), rng, blur_px=3), folder / "soft.jpg"
    )
    photographs.save(photographs.photograph(poses[2], rng), folder / "same.jpg")
    photographs.save(photographs.photograph(poses[4], rng)[:, ::-1], folder / "mirrored.jpg")
    photographs.save(
        cv2.resize(photographs.photograph(poses[5], rng), (640, 480)), folder / "small.jpg"
    )
    photographs.save(np.full((960, 1280), 90, np.uint8), folder / "empty.jpg")
    good = photographs.photograph(random_pose(photographs.LENS, rng), rng)
    u, v = np.meshgrid(np.arange(1280, dtype=np.float32), np.arange(960, dtype=np.float32))
    photographs.save(
        cv2.remap(good, u, v + 3 * np.sin(u / 90), cv2.INTER_LINEAR), folder / "bent.jpg"
    )
    (folder / "torn.jpg").write_bytes((folder / "00.jpg").read_bytes()[:5000])


def test_a_lens_is_found_and_what_spoils_it_is_left_out(taken, photographs, tmp_path: Path) -> None:
    folder = copied(taken, tmp_path)
    add_spoilt(folder, list(taken[1].values()), photographs)
    message = rinkside(folder, tmp_path / "lens.json")
    assert message.exit_code == 0, message.output
    file, true = load_lens(tmp_path / "lens.json"), photographs.LENS
    reasons = {row.name: row.reason for row in file.left_out}
    assert reasons.keys() == {
        "blurred.jpg",
        "soft.jpg",
        "same.jpg",
        "mirrored.jpg",
        "small.jpg",
        "empty.jpg",
        "bent.jpg",
        "torn.jpg",
    }
    assert reasons["blurred.jpg"].startswith("it is blurred: ")
    assert reasons["soft.jpg"].startswith("it is blurred: edges are ")
    assert reasons["same.jpg"] == (
        "it looks the same as another view: see 02.jpg; move or tilt the target between photos"
    )
    assert reasons["mirrored.jpg"].startswith("the target is mirrored: ")
    assert reasons["small.jpg"] == "it has a different size: 640 x 480 px, most are 1280 x 960 px"
    assert reasons["empty.jpg"] == "no ChArUco target of 9 x 13 squares in view"
    assert reasons["bent.jpg"].startswith("it does not fit the others: its corners are ")
    assert reasons["torn.jpg"].startswith("it cannot be read: expected a whole picture")
    for name, reason in reasons.items():
        assert f"skipped {name}: {reason}" in " ".join(message.stdout.split())

    (fx, _, cx), (_, fy, cy), _ = file.camera.matrix
    assert fx == pytest.approx(true.matrix[0][0], rel=0.0015)
    assert fy == pytest.approx(true.matrix[1][1], rel=0.0015)
    assert np.hypot(cx - true.matrix[0][2], cy - true.matrix[1][2]) < 2
    assert file.rms_px == pytest.approx(noise_floor_px(taken, true), rel=0.1)
    for got, expected, name in zip(
        (fx, fy, cx, cy), (1105.0, 1104.2, 652.3, 471.8), ("fx", "fy", "cx", "cy"), strict=True
    ):
        assert abs(got - expected) < 4 * file.sigma[name]
    assert "15 views, model k1 k2 p1 p2: RMS 0.05" in " ".join(message.stdout.split())


def test_the_last_lens_is_kept(taken, tmp_path: Path) -> None:
    out = tmp_path / "lens.json"
    out.write_text("the one before")
    message = rinkside(taken[0], out, "--json")
    assert (tmp_path / "lens.json.bak").read_text() == "the one before"
    assert json.loads(message.stdout) == json.loads(out.read_text())
    again = rinkside(taken[0], out)
    assert f"The previous lens is in {out}.bak." in " ".join(again.stdout.split())


SAID = {
    "de": (
        "Aufnahme Ecken Neigung, ° Entfernung, mm RMS, px schlechteste, px",
        "RMS: wie weit Ecken von dort sind, wo das Objektiv sie hinlegt",
        "Größe Wert mit ± Einheit",
        "± umfasst 95 % der wahren Werte",
    ),
    "es": (
        "toma esquinas inclinación, ° distancia, mm RMS, px peor, px",
        "RMS: a qué distancia están las esquinas de donde las pone el objetivo",
        "parámetro valor con ± unidad",
        "± contiene el 95 % de los valores verdaderos",
    ),
}
"""Headings and captions of both tables."""


def test_a_lens_is_told_in_the_language_that_is_set(taken, tmp_path: Path) -> None:
    out, drawn = {}, {}
    for code in ("en", *SAID):
        picture = tmp_path / f"{code}.png"
        done = rinkside(taken[0], tmp_path / "lens.json", "--picture", picture, language=code)
        out[code], drawn[code] = " ".join(done.stdout.split()), cv2.imread(str(picture))
    for code, said in SAID.items():
        assert [one for one in said if one not in out[code]] == []
        assert re.search(r"\bfx 110\d,\d+ ± \d,\d+ px", out[code])
        assert same_words(out[code], out["en"]) <= {"modell"}
        assert (drawn[code][:60] != drawn["en"][:60]).any(), "the line of text"
        assert (drawn[code][60:] == drawn["en"][60:]).all()


def test_a_chessboard_will_do(photographs, tmp_path: Path) -> None:
    rng = np.random.default_rng(6)
    for index in range(12):
        picture = photographs.photograph(
            random_pose(photographs.LENS, rng), rng, printed=photographs.chess_sheet
        )
        photographs.save(picture, tmp_path / f"{index:02d}.jpg")
    message = rinkside(
        tmp_path,
        tmp_path / "lens.json",
        "--target",
        "chessboard",
        "--corners",
        "6x9",
        "--square-mm",
        "24.8",
    )
    assert message.exit_code == 0, message.output
    file = load_lens(tmp_path / "lens.json")
    assert file.target == "chessboard of 6 x 9 inner corners"
    assert file.camera.matrix[0][0] == pytest.approx(photographs.LENS.matrix[0][0], rel=0.0015)
    assert len(file.views) >= 12


def test_a_wide_lens_is_seen_to_be_one(photographs, tmp_path: Path) -> None:
    rng, true = np.random.default_rng(14), photographs.WIDE
    for index in range(13):
        turn, shift = random_pose(true, rng)
        photographs.save(
            photographs.photograph((turn, 0.75 * shift), rng, lens=true),
            tmp_path / f"{index:02d}.jpg",
        )
    message = rinkside(tmp_path, tmp_path / "lens.json")
    assert message.exit_code == 0, message.output
    file = load_lens(tmp_path / "lens.json")
    assert (file.model, file.camera.model) == ("fisheye", "fisheye")
    assert file.camera.matrix[0][0] == pytest.approx(true.matrix[0][0], rel=0.0015)
    assert (
        np.hypot(
            file.camera.matrix[0][2] - true.matrix[0][2],
            file.camera.matrix[1][2] - true.matrix[1][2],
        )
        < 2
    )
    assert file.sigma.keys() == {"fx", "fy", "cx", "cy", "k1", "k2", "k3", "k4"}


def test_what_would_make_it_better_is_said(photographs, tmp_path: Path) -> None:
    rng, poses = np.random.default_rng(12), []
    while len(poses) < 13:
        turn, shift = random_pose(photographs.LENS, rng)
        rotation = np.asarray(cv2.Rodrigues(turn)[0])
        middle = rotation @ np.array([90.0, 130.0, 0.0]) + shift
        if middle[0] < -10 and abs(rotation[1, 1]) > 0.8 and rotation[2, 2] > 0.85:
            poses.append((turn, shift))
    for index, pose in enumerate(poses):
        photographs.save(photographs.photograph(pose, rng), tmp_path / f"{index:02d}.jpg")
    message = rinkside(tmp_path, tmp_path / "lens.json")
    assert message.exit_code == 0, message.output
    advice = load_lens(tmp_path / "lens.json").advice
    assert any(
        "% of the picture; also hold it at the " in sentence and "right" in sentence
        for sentence in advice
    ), advice
    assert (
        "The target is the same way round in all views; give it a quarter turn in some." in advice
    )


def refused(message: Result, *parts: str) -> None:
    assert message.exit_code == 2, message.output
    assert message.stderr.count("\n") == 1
    for part in parts:
        assert part in message.stderr


def test_sets_that_cannot_be_used_are_named_and_nothing_is_overwritten(
    taken, photographs, tmp_path: Path
) -> None:
    out = tmp_path / "lens.json"
    out.write_text("the last good one")
    rng, poses = np.random.default_rng(8), list(taken[1].values())

    def folder(name: str, pictures) -> Path:
        (tmp_path / name).mkdir()
        for index, picture in enumerate(pictures):
            photographs.save(picture, tmp_path / name / f"{index:02d}.jpg")
        return tmp_path / name

    few = folder("few", [photographs.photograph(pose, rng) for pose in poses[:3]])
    refused(
        rinkside(few, out), "few: expected at least 12 photos of the target (JPEG or PNG), got 3"
    )
    blurred = folder(
        "blurred", [photographs.photograph(pose, rng, blur_px=5) for pose in poses[:12]]
    )
    refused(rinkside(blurred, out), "expected at least 12 usable views, got 0 (12: it is blurred)")
    front = [random_pose(photographs.LENS, rng, most_tilt_deg=2.0) for _ in range(12)]
    frontal = folder("frontal", [photographs.photograph(pose, rng) for pose in front])
    refused(
        rinkside(frontal, out), "with a tilted target, got 0 of 12; tilt it by 20 to 45 degrees"
    )
    half = [photographs.photograph(pose, rng) for pose in poses[:12]]
    mixed = folder("mixed", [*half[:6], *(cv2.resize(picture, (640, 480)) for picture in half[6:])])
    refused(rinkside(mixed, out), "photos of one size, got 6 of 1280 x 960 px, 6 of 640 x 480 px")
    mirrored = folder("mirrored", [picture[:, ::-1] for picture in half])
    refused(rinkside(mirrored, out), "got 0 (12: the target is mirrored)")
    layout = folder("layout", [charuco_board(8, 12, True)] * 12)
    refused(rinkside(layout, out), "got 0 (12: this target has a different layout)")
    refused(
        rinkside(layout, out, "--target", "chessboard", "--corners", "9x6"),
        "got 0 (12: no chessboard of 9 x 6 inner corners fully in view)",
    )
    assert out.read_text() == "the last good one"
    assert not (tmp_path / "lens.json.bak").exists()


def charuco_board(columns: int, rows: int, older: bool) -> np.ndarray:
    """A picture of a target with another count of squares, or in OpenCV's older layout."""
    board = cv2.aruco.CharucoBoard(
        (columns, rows), 20.0, 15.0, cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_5X5_100)
    )
    board.setLegacyPattern(older)
    return board.generateImage((columns * 90, rows * 90), marginSize=40)


@pytest.mark.parametrize(
    ("columns", "rows", "older"),
    [
        (8, 12, True),
        (8, 12, False),
        (9, 14, True),
        (13, 9, False),
        (5, 7, False),
        (11, 8, False),
        (10, 13, False),
    ],
)
def test_a_target_of_another_layout_is_named(columns: int, rows: int, older: bool) -> None:
    found = Charuco().find(charuco_board(columns, rows, older))
    assert not found
    assert found.reason == "this target has a different layout"


@pytest.mark.parametrize("rows", [11, 15])
def test_a_target_that_is_cut_or_goes_on_is_the_same_target(rows: int) -> None:
    """Its markers are numbered alike, so every corner that is found is where it should be."""
    found = Charuco().find(charuco_board(9, rows, False))
    assert found
    target2img, _ = cv2.findHomography(found.target_mm, found.pixels)
    there = cv2.perspectiveTransform(found.target_mm.reshape(-1, 1, 2), target2img).reshape(-1, 2)
    assert np.abs(there - found.pixels).max() < 1  # OpenCV draws squares to whole pixels


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--target", "circles"], "--target: expected charuco or chessboard, got 'circles'"),
        (
            ["--target", "chessboard"],
            (
                "--corners: expected the chessboard's inner corners, 3x3 to 40x40, such as 9x6, got"
                " none"
            ),
        ),
        (["--target", "chessboard", "--corners", "1x900"], "such as 9x6, got 1x900"),
        (["--corners", "9x6"], "--corners: expected only with --target chessboard"),
        (["--square-mm", "nan"], "--square-mm: expected 1 to 500 mm, got nan"),
    ],
)
def test_options_that_make_no_sense_are_one_line(
    words: list[str], message: str, tmp_path: Path
) -> None:
    refused(rinkside(tmp_path, tmp_path / "lens.json", *words), message)


def test_places_that_are_not_there_are_named(tmp_path: Path) -> None:
    refused(
        rinkside(tmp_path / "nowhere", tmp_path / "lens.json"),
        "--from: expected a folder of photos, got ",
    )
    refused(
        rinkside(tmp_path, tmp_path / "nowhere" / "lens.json"),
        "expected the name of a file in an existing folder",
    )
