"""Draw every stage of reading a photograph, to explain why a table was read as it was."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import cv2
import numpy as np

from table.files import create_folder
from table.observation import Camera, Observation
from table.solids import EDGES, Array
from table.table_config import Setup
from vision.annotate.photo import annotate, write_picture
from vision.background.background_model import empty_table, without_unchanged
from vision.cameras.frame import Frame, Image
from vision.geometry.camera_model import outline_px
from vision.geometry.rectified_view import SUB_BITS, Photo
from vision.localization.fiducials import locate
from vision.networks.detector import Detections, search, view_of
from vision.networks.keypoints import CROP_PX, crop_of, estimate_keypoints
from vision.observe import observe
from vision.pipeline import propose_candidates
from vision.pose.candidates import SURE_CHANCE, align_all

GREEN, RED, YELLOW, WHITE, GREY = (
    (90, 255, 130),
    (255, 70, 60),
    (255, 225, 60),
    (255, 255, 255),
    (150, 150, 150),
)
ENLARGED = 3
"""Magnification of the rectified view and the crops."""
CROPS_A_ROW = 8


def write_stages(folder: Path, frame: Frame, setup: Setup, reference: Frame | None = None) -> None:
    """Write the stages of reading a frame into a folder: `1-camera.png` and so on.

    The folder is created if needed.  Raises InputError if it cannot be.
    """
    create_folder(folder)
    for number, (name, picture) in enumerate(stages(frame, setup, reference), 1):
        write_picture(folder / f"{number}-{name}.png", picture)


def stages(
    frame: Frame, setup: Setup, reference: Frame | None = None
) -> Iterator[tuple[str, Image]]:
    """Names and images of the stages, in the order in which a table is read.

    `reference` is as for `observe`.  Ends early if the camera is not located.
    """
    camera = locate(frame.image, setup)
    yield "camera", _camera(frame.image, camera if isinstance(camera, Camera) else None, setup)
    if not isinstance(camera, Camera):
        return
    photo = Photo(frame.image, camera, setup)
    detections = search(view_of(photo), setup.colours)
    empty = empty_table(reference, photo)
    if empty is not None:
        detections = without_unchanged(detections, empty)
    yield "flat", _enlarged(detections.view.code)
    yield "detector", _detector(detections)
    yield "keypoints", _crops(detections, setup)
    yield "edges", _edges(photo, detections)
    seen = observe(frame, setup, reference)
    if isinstance(seen, Observation):
        yield "read", annotate(frame.image, seen, setup.camera)


def _camera(image: Image, camera: Camera | None, setup: Setup) -> Image:
    """Fiducials and the board's outline as the camera's pose projects them."""
    picture = image.copy()
    if camera is None:
        return picture
    photo = Photo(image, camera, setup)
    for marker in setup.fiducials.markers:
        corners = np.column_stack([np.array(marker.corners_mm), np.full(4, setup.fiducials.z_mm)])
        colour = GREEN if marker.id in camera.fiducials_seen else RED
        at = photo.pixels(corners)
        _lines(picture, at[[0, 1, 2, 3, 0]], colour)
        _write(picture, f"{marker.id}", at.mean(axis=0), colour, image.shape[1] / 1600)
    outline = outline_px(camera, setup)
    _lines(picture, np.concatenate([outline, outline[:1]]), YELLOW)
    _write(
        picture,
        f"reprojection {camera.reprojection_px:.2f} px",
        np.array([20.0, 40.0]),
        WHITE,
        image.shape[1] / 1600,
    )
    return picture


def _detector(detections: Detections) -> Image:
    """The rectified view with pieces and arms tinted, and the detector's probabilities.

    Each detection has them in percent: upright, lying, leaning, disc.
    """
    picture = _enlarged(detections.view.code)
    size = picture.shape[1::-1]
    for mask, colour in ((detections.pieces, GREEN), (detections.arms, RED)):
        cells = cv2.resize(mask.astype(np.uint8), size, interpolation=cv2.INTER_NEAREST) > 0
        picture[cells] = (0.6 * picture[cells] + 0.4 * np.array(colour)).astype(np.uint8)
    for one in detections.objects:
        ends = one.middle_mm + np.array([[-0.5], [0.5]]) * one.axis_mm
        _lines(picture, _large(detections.view.pixels(ends)), YELLOW)
        at = _large(detections.view.pixels(one.middle_mm[None]))[0]
        cv2.circle(picture, (round(at[0]), round(at[1])), 4, WHITE, -1, cv2.LINE_AA)
        _write(
            picture,
            "/".join(f"{100 * chance:.0f}" for chance in one.chances),
            at + np.array([8.0, -8.0]),
            WHITE,
            0.9,
        )
    return picture


def _crops(detections: Detections, setup: Setup) -> Image:
    """All crops side by side, with keypoints, probability of a piece and base width."""
    cuts = [crop_of(one, detections.view) for one in detections.objects if not one.is_disc]
    side = ENLARGED * CROP_PX
    sheet = np.zeros((max(1, -(-len(cuts) // CROPS_A_ROW)) * side, CROPS_A_ROW * side, 3), np.uint8)
    for k, (cut, one) in enumerate(
        zip(cuts, estimate_keypoints(cuts, detections.view, setup.colours), strict=True)
    ):
        picture = _enlarged(cut.of(detections.view.code))
        corners = (detections.view.pixels(one.vertices_mm) - cut.affine[:, 2]) @ np.linalg.inv(
            cut.affine[:, :2]
        ).T
        for i, j in EDGES:
            _lines(picture, _large(corners[[i, j]]), GREEN if one.presence > SURE_CHANCE else GREY)
        _write(
            picture,
            f"{100 * one.presence:.0f}%  {np.exp(one.log_base):.1f} mm",
            np.array([4.0, 14.0]),
            WHITE,
            0.8,
        )
        row, column = divmod(k, CROPS_A_ROW)
        sheet[row * side : (row + 1) * side, column * side : (column + 1) * side] = picture
    return sheet


def _edges(photo: Photo, detections: Detections) -> Image:
    """The photograph with every piece by its keypoints, grey, and by its edges, green."""
    picture = photo.image.copy()
    candidates = [one for one in propose_candidates(detections, photo) if one.chance > SURE_CHANCE]
    placed = [estimate.best for estimate in align_all(candidates, photo, {}).values()]
    for guesses, colour in (([one.best for one in candidates], GREY), (placed, GREEN)):
        for guess in guesses:
            corners = photo.pixels(guess.solid.vertices_mm)
            for i, j in EDGES:
                _lines(picture, corners[[i, j]], colour)
    return picture


def _enlarged(image: Image) -> Image:
    return np.asarray(
        cv2.resize(image, None, fx=ENLARGED, fy=ENLARGED, interpolation=cv2.INTER_CUBIC), np.uint8
    )


def _large(pixels: Array) -> Array:
    """Pixels (n, 2) of a picture in the same picture enlarged."""
    return (pixels + 0.5) * ENLARGED - 0.5


def _lines(picture: Image, pixels: Array, colour: tuple[int, int, int]) -> None:
    points = np.rint(pixels * (1 << SUB_BITS)).astype(np.int32)[:, None]
    cv2.polylines(picture, [points], False, colour, 1, cv2.LINE_AA, SUB_BITS)


def _write(
    picture: Image, words: str, at: Array, colour: tuple[int, int, int], size: float
) -> None:
    place = (round(at[0]), round(at[1]))
    for ink, width in (((16, 18, 24), 3), (colour, 1)):
        cv2.putText(
            picture, words, place, cv2.FONT_HERSHEY_SIMPLEX, 0.5 * size, ink, width, cv2.LINE_AA
        )
