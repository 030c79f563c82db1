"""Find the calibration target in a photograph: subpixel corners, or the reason for none."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np

from calibration.sheets.cards import TARGET_COLUMNS, TARGET_ROWS, target_board
from table.messages import Message, phrase
from table.solids import Array
from vision.cameras.frame import Image
from vision.localization.markers import one_thread

LEAST_CORNERS = 24
"""Least number of ChArUco corners in a useful view."""
ANOTHER_LAYOUT = 0.6
"""Least share of markers at the target's places; below it, another target is shown."""
PROFILE_STEPS = 9
MOST_BLUR_PX = 2.5
"""Largest edge blur (1 sigma) of usable corners."""
LEAST_CONTRAST = 40
"""Least difference, in grey levels, between light and dark parts of a usable image."""


@dataclass(frozen=True, slots=True, eq=False)
class DetectedCorners:
    """Corners on the target (n, 2) mm and in the photograph (n, 2) px.

    `blur_px` is the blur of its edges, 1 sigma.
    """

    target_mm: Array
    pixels: Array
    blur_px: float


@dataclass(frozen=True, slots=True)
class NotFound:
    """A falsy result: the reason in a few words, and details of this photograph."""

    reason: str
    detail: str = ""

    def __bool__(self) -> bool:
        return False


BLURRED = NotFound(
    phrase("it is blurred"), phrase("no sharp edges; hold it still, focus, add light")
)

ANOTHER = NotFound(
    phrase("this target has a different layout"),
    phrase("it is older or has different counts; use the one from `rinkside print charuco`"),
)


@dataclass(frozen=True, slots=True)
class Charuco:
    """The target that `rinkside print charuco` makes."""

    square_mm: float = 20.0

    @property
    def description(self) -> Message:
        """Name of the target for messages."""
        return phrase("ChArUco target of {n} x {n2} squares", n=TARGET_COLUMNS, n2=TARGET_ROWS)

    @property
    def corners_mm(self) -> Array:
        """All corners on the target, (n, 2)."""
        return (
            self.square_mm * np.asarray(_detector().getBoard().getChessboardCorners(), float)[:, :2]
        )

    @property
    def outline_mm(self) -> Array:
        """Outer corners of the squares, (4, 2), clockwise in the image: y runs down."""
        return _rectangle(
            (0.0, 0.0), (self.square_mm * TARGET_COLUMNS, self.square_mm * TARGET_ROWS)
        )

    def find(self, grey: Image) -> DetectedCorners | NotFound:
        """The target's corners in a grey picture (h, w)."""
        with one_thread(grey.size):
            corners, numbers, quads, ids = _detector().detectBoard(grey)
        if ids is None or len(ids) < 4:
            with one_thread(grey.size):
                _, _, _, mirrored = _detector().detectBoard(np.ascontiguousarray(grey[:, ::-1]))
            if mirrored is not None and len(mirrored) >= 4:
                return NotFound(
                    phrase("the target is mirrored"),
                    phrase("turn off mirroring in the camera, or print the target again"),
                )
            return (
                BLURRED
                if _is_blurred(grey)
                else NotFound(phrase("no {text} in view", text=self.description))
            )
        if _fitting_share(quads, ids) < ANOTHER_LAYOUT:
            return ANOTHER
        count = 0 if numbers is None else len(numbers)
        if count < LEAST_CORNERS:
            if _is_blurred(grey):
                return BLURRED
            if count == 0 and len(ids) >= LEAST_CORNERS / 2:
                # the markers match, but the squares between them have opposite colours
                return ANOTHER
            return NotFound(
                phrase("too few corners in view"),
                phrase(
                    "{n} of {n2}, at least {n3} are needed",
                    n=count,
                    n2=(TARGET_COLUMNS - 1) * (TARGET_ROWS - 1),
                    n3=LEAST_CORNERS,
                ),
            )
        places = self.corners_mm[np.asarray(numbers).reshape(-1)]
        pixels = np.asarray(corners, float).reshape(-1, 2)
        return DetectedCorners(places, pixels, blur_px(grey, places / self.square_mm, pixels))


@dataclass(frozen=True, slots=True)
class ChessTarget:
    """A chessboard of `columns` x `rows` inner corners."""

    columns: int
    rows: int
    square_mm: float = 25.0

    @property
    def description(self) -> Message:
        """Name of the target for messages."""
        return phrase("chessboard of {n} x {n2} inner corners", n=self.columns, n2=self.rows)

    @property
    def corners_mm(self) -> Array:
        """All corners on the target, (n, 2)."""
        return self.square_mm * np.array(
            [(column, row) for row in range(self.rows) for column in range(self.columns)], float
        )

    @property
    def outline_mm(self) -> Array:
        """Outer corners of the squares, (4, 2), clockwise in the image: y runs down."""
        return _rectangle(
            (-self.square_mm, -self.square_mm),
            (self.square_mm * self.columns, self.square_mm * self.rows),
        )

    def find(self, grey: Image) -> DetectedCorners | NotFound:
        """All corners of the chessboard in a grey picture (h, w)."""
        flags = cv2.CALIB_CB_ACCURACY | cv2.CALIB_CB_NORMALIZE_IMAGE
        found, corners = cv2.findChessboardCornersSB(grey, (self.columns, self.rows), flags=flags)
        if not found:
            return (
                BLURRED
                if _is_blurred(grey)
                else NotFound(phrase("no {text} fully in view", text=self.description))
            )
        pixels = np.asarray(corners, float).reshape(-1, 2)
        return DetectedCorners(
            self.corners_mm, pixels, blur_px(grey, self.corners_mm / self.square_mm, pixels)
        )


Target = Charuco | ChessTarget


def _rectangle(low: tuple[float, float], high: tuple[float, float]) -> Array:
    return np.array([low, (high[0], low[1]), high, (low[0], high[1])])


@functools.cache
def _detector() -> cv2.aruco.CharucoDetector:
    """A detector of the target, in units of its squares."""
    return cv2.aruco.CharucoDetector(target_board(1.0))


def _is_blurred(grey: Image) -> bool:
    """True if a grey image (h, w) has contrast, but no sharp edge."""
    smooth = cv2.GaussianBlur(grey, (0, 0), 1.0).astype(np.float32)
    low, high = np.percentile(smooth[::4, ::4], (1, 99))
    slope = float(np.percentile(np.hypot(*np.gradient(smooth)), 99.8))
    return (
        float(high - low) > LEAST_CONTRAST
        and float(high - low) / (math.sqrt(2 * math.pi) * slope) > MOST_BLUR_PX
    )


def _fitting_share(quads: Sequence[Any], ids: Any) -> float:
    """Share of the detected markers that fit the target's layout by one homography."""
    board = _detector().getBoard()
    places = {
        int(i): np.asarray(c, float)[:, :2]
        for i, c in zip(np.asarray(board.getIds()).reshape(-1), board.getObjPoints(), strict=True)
    }
    numbered = zip(np.asarray(ids).reshape(-1).tolist(), quads, strict=True)
    seen = [
        (places[number], np.asarray(quad, float).reshape(4, 2))
        for number, quad in numbered
        if number in places
    ]
    if len(seen) < 4:
        return 0.0
    ours, pixels = (np.concatenate([pair[k] for pair in seen]) for k in (0, 1))
    img2target, _ = cv2.findHomography(pixels, ours, cv2.RANSAC, 0.25)
    if img2target is None:
        return 0.0
    there = np.asarray(cv2.perspectiveTransform(pixels.reshape(-1, 1, 2), img2target)).reshape(
        -1, 2
    )
    return float(np.mean(np.hypot(*(there - ours).T) < 0.25))


def blur_px(grey: Image, target: Array, pixels: Array) -> float:
    """Median blur of edges between neighbouring corners, 1 sigma in pixels.

    `target` (n, 2) in squares and `pixels` (n, 2) are the corners. A step of contrast c blurred by
    sigma has a slope of c / (sqrt(2 pi) sigma) at its middle. Pixel integration alone gives a blur
    of 0.3.
    """
    at = {
        (round(x), round(y)): pixel for (x, y), pixel in zip(target.tolist(), pixels, strict=True)
    }
    low, high = np.percentile(grey[_box(pixels)], (5, 95))
    sigmas = []
    for (x, y), one in at.items():
        for other in (at.get((x + 1, y)), at.get((x, y + 1))):
            if other is None:
                continue
            along = other - one
            length = float(np.hypot(*along))
            reach = min(4.0, 0.12 * length)
            steps = np.linspace(-reach, reach, PROFILE_STEPS)
            places = (
                (one + other) / 2 + steps[:, None] * np.array([-along[1], along[0]]) / length
            ).astype(np.float32)
            levels = np.asarray(
                cv2.remap(grey, places[:, :1], places[:, 1:], cv2.INTER_LINEAR), float
            ).reshape(-1)
            slope = float(np.abs(np.diff(levels)).max()) / float(steps[1] - steps[0])
            sigmas.append(float(high - low) / (math.sqrt(2 * math.pi) * max(slope, 1e-3)))
    return float(np.median(sigmas)) if sigmas else math.inf


def _box(pixels: Array) -> tuple[slice, slice]:
    (left, top), (right, bottom) = (
        np.floor(pixels.min(axis=0)).astype(int),
        np.ceil(pixels.max(axis=0)).astype(int),
    )
    return slice(max(int(top), 0), int(bottom) + 1), slice(max(int(left), 0), int(right) + 1)
