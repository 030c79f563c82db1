"""Photographs with what was read drawn in: looked at as a person would, by where ink is."""

from __future__ import annotations

import errno
from pathlib import Path

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from table.clearance import clearance
from table.errors import InputError
from table.observation import Camera, Observation, SeenPiece
from table.pieces import load_piece_set
from table.solids import lying, upright
from table.table_config import Lens
from vision.annotate.photo import TONES, Note, annotate, visible_edges, write_picture
from vision.annotate.text import ALL_LETTERS, letter_mask, plain_letters
from vision.geometry.camera_model import project

LARGE = load_piece_set("looney")["large"]
TURN = np.array([[1.0, 0, 0], [0, -0.9, -np.sqrt(0.19)], [0, np.sqrt(0.19), -0.9]])
"""A camera on the players' side that looks down at the table's far half."""
EYE_MM = np.array([200.0, -250.0, 800.0])
CAMERA = Camera(TURN, -TURN @ EYE_MM, np.eye(6) * 1e-8, 0.1, (0, 1, 2, 3))


def lens(width: int, height: int) -> Lens:
    focal = 0.9 * width
    matrix = ((focal, 0.0, width / 2), (0.0, focal, height / 2), (0.0, 0.0, 1.0))
    return Lens(width=width, height=height, matrix=matrix, distortion=(-0.12, 0.03, 0.0, 0.0))


def seen(*pieces: SeenPiece) -> Observation:
    return Observation(0, 0, CAMERA, pieces)


def piece(
    colour: str, x_mm: float, y_mm: float, heading_deg: float = 0.0, pose: str = "lying"
) -> SeenPiece:
    make = {"lying": lying, "upright": upright}[pose]
    return SeenPiece(
        colour,
        "large",
        pose,
        np.array([x_mm, y_mm]),
        heading_deg,
        make(LARGE, x_mm, y_mm, heading_deg),
        np.eye(3) * 0.01,
    )


TARGET, RED = piece("blue", 200, 150, 20, "upright"), piece("red", 300, 190, 200)
GAP = clearance(RED.solid, TARGET.solid)
NOTES = [
    Note(1, "#1  45.6 ± 0.3 mm", "leading", np.array([GAP.a_mm, GAP.b_mm])),
    Note(0, "target", "target"),
]


@pytest.mark.slow
@pytest.mark.parametrize("size", [(64, 48), (640, 480), (1640, 1232), (2304, 1296), (480, 640)])
@pytest.mark.parametrize("ground", [0, 128, 255])
def test_lines_and_letters_show_on_dark_and_light_at_any_size(
    size: tuple[int, int], ground: int
) -> None:
    width, height = size
    picture = annotate(
        np.full((height, width, 3), ground, np.uint8),
        seen(TARGET, RED),
        lens(width, height),
        NOTES,
        "red leads",
    )
    assert max(picture.shape[:2]) == max(1600, *size)
    # Every tone that was asked for is there, and beside it the dark casing: contrast does not
    # depend on the ground.
    for tone in ("target", "leading", "plain"):
        own = (np.abs(picture.astype(int) - TONES[tone]) < 24).all(axis=2)
        assert own.sum() > 200
        darkest = cv2.erode(picture.max(axis=2), np.ones((15, 15), np.uint8))
        assert np.median(darkest[own]) < 60 or (tone == "plain" and ground == 255)


def test_outlines_lie_on_the_edges_of_the_solid_lens_bend_included() -> None:
    flat = lens(1600, 1200)
    plain = np.full((1200, 1600, 3), 128, np.uint8)
    changed = (annotate(plain, seen(RED), flat) != plain).any(axis=2)
    rim = project(RED.solid.vertices_mm, CAMERA, flat)
    hull = cv2.convexHull(rim.astype(np.float32))
    rows, columns = np.nonzero(changed)
    assert all(
        cv2.pointPolygonTest(hull, (float(x), float(y)), True) > -8
        for x, y in zip(columns, rows, strict=True)
    )
    assert all(changed[round(y), round(x)] for x, y in np.asarray(hull).reshape(-1, 2).tolist())


def test_edges_to_the_tip_all_show_from_above_and_two_or_three_from_the_side() -> None:
    standing = piece("red", 0, 0, 0, "upright")
    assert len(visible_edges(standing, np.array([0.0, 0.0, 1000.0]))) == 8
    front = visible_edges(standing, np.array([0.0, -1000.0, 1.0]))
    assert front == [(0, 1), (0, 4), (1, 4)]


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(
    st.lists(
        st.tuples(st.floats(20, 380), st.floats(20, 280), st.floats(0, 360)),
        min_size=1,
        max_size=12,
    )
)
def test_words_never_leave_the_picture_nor_change_the_photograph_given(
    places: list[tuple[float, float, float]],
) -> None:
    ground = np.full((450, 600, 3), 90, np.uint8)
    pieces = [piece("red", *place) for place in places]
    notes = [Note(index, f"#{index + 1}  123.4 ± 0.5 mm") for index in range(len(pieces))]
    picture = annotate(
        ground, seen(*pieces), lens(600, 450), notes, "a sentence that is rather long, " * 6
    )
    assert picture.shape == (1200, 1600, 3)
    assert (ground == 90).all()


def test_letters_have_the_height_asked_for_and_plus_minus_is_one_sign() -> None:
    for height in (8, 20, 55):
        digit = letter_mask("0", height)
        assert abs(np.count_nonzero((digit > 0.5).any(axis=1)) - height) <= 2
    wide, signed = letter_mask("12 34", 40), letter_mask("12 ± 34", 40)
    columns = np.flatnonzero((signed > 0.2).any(axis=0))
    assert 1 + np.count_nonzero(np.diff(columns) > 1) == 5
    assert wide.shape[1] < signed.shape[1]


def test_letters_with_marks_are_letters_in_every_version_of_opencv() -> None:
    assert plain_letters("Fehler über größer, ± 0,4") == "Fehler uber grosser, ± 0,4"
    assert plain_letters("pirámides del tamaño Ñ") == "piramides del tamano N"
    for bare, marked in ("uü", "eé", "nñ"):
        taller = letter_mask(marked, 40).shape[0] > letter_mask(bare, 40).shape[0]
        assert taller == ALL_LETTERS, "a mark above the letter, or the letter alone"


def test_a_picture_is_written_in_the_format_of_its_ending(tmp_path: Path) -> None:
    image = np.zeros((40, 60, 3), np.uint8)
    image[..., 0] = 250
    write_picture(tmp_path / "out.png", image)
    back = cv2.imread(str(tmp_path / "out.png"))
    assert back is not None
    assert (back == (0, 0, 250)).all()
    write_picture(tmp_path / "out.JPG", image)
    assert (tmp_path / "out.JPG").read_bytes().startswith(b"\xff\xd8")


@pytest.mark.parametrize("name", ["out.gif", "out", "none/out.png"])
def test_a_picture_that_cannot_be_written_is_refused_and_leaves_nothing(
    tmp_path: Path, name: str
) -> None:
    with pytest.raises(InputError, match="out"):
        write_picture(tmp_path / name, np.zeros((40, 60, 3), np.uint8))
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_leaves_the_old_picture(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "out.png"
    write_picture(path, np.zeros((40, 60, 3), np.uint8))
    before = path.read_bytes()

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("table.files.os.fsync", full)
    with pytest.raises(InputError, match="No space left"):
        write_picture(path, np.full((40, 60, 3), 9, np.uint8))
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]
