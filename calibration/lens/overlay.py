"""Draw guidance on a frame, and the coverage of a calibration as an image.

The frame itself contains no text, so that it suits any screen.
"""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from calibration.lens.fit import LensCalibration
from calibration.lens.guidance import Guidance, outline_in
from calibration.lens.next_view import CELLS, cells_of
from calibration.lens.target import DetectedCorners
from table.languages import Language, translation
from table.messages import msg
from table.solids import Array
from vision.annotate.text import letter_mask
from vision.cameras.frame import Image

COVERED, NEXT, SEEN, TAKEN = (70, 200, 110), (255, 190, 60), (255, 255, 255), (150, 220, 175)
"""R-G-B of covered cells, of the next place, of the detected target, and of the target in the taken
view.
"""
CASING, GROUND = (16, 18, 24), (34, 37, 44)
STRAY = (255, 110, 80)
"""R-G-B of corners whose residual exceeds STRAY_TIMES the root mean square."""
STRAY_TIMES = 2.5
TINT = 0.22
LINE_SHARE = 1 / 400
"""Line width as a share of the image width."""
SUBPIXEL_BITS = 4


def draw_guidance(image: Image, guidance: Guidance, seen: DetectedCorners | None = None) -> Image:
    """A copy of a frame (h, w, 3) with covered cells, the next place as an outline, and the target.

    The thick side with a ball at its end is the target's own first row and corner: markers 0, 1, 2
    ...  of a ChArUco target lie along it.
    """
    drawn = _tint_covered(image, guidance.covered)
    line = max(1, round(LINE_SHARE * image.shape[1]))
    for view in guidance.taken:
        _outline(drawn, outline_in(view, guidance.target), TAKEN, line, cased=False)
    if seen:
        for at in seen.pixels:
            _dot(drawn, at, line, SEEN)
    if guidance.next_place and not guidance.enough:
        corners = guidance.next_place.outline_px
        _outline(drawn, corners, NEXT, 2 * line, cased=True)
        cv2.line(
            drawn,
            _fixed_point(corners[0]),
            _fixed_point(corners[1]),
            NEXT,
            5 * line,
            cv2.LINE_AA,
            SUBPIXEL_BITS,
        )
        _dot(drawn, corners[0], 6 * line, NEXT)
    return drawn


def coverage_picture(calibrated: LensCalibration, language: Language = "en") -> Image:
    """All corners of all views on a plain ground of the image size, with large residuals in red.

    The line of text is in `language`.
    """
    lens = calibrated.lens
    pixels = np.concatenate([judged.view.pixels for judged in calibrated.views])
    off = np.concatenate([np.hypot(*judged.residual_px.T) for judged in calibrated.views])
    covered = cells_of(pixels, lens.width, lens.height)
    drawn = _tint_covered(np.full((lens.height, lens.width, 3), GROUND, np.uint8), covered)
    radius = max(1, round(LINE_SHARE * lens.width))
    stray = off > STRAY_TIMES * calibrated.rms_px
    for at in pixels[~stray]:
        _dot(drawn, at, radius, SEEN)
    for at in pixels[stray]:
        _dot(drawn, at, 2 * radius, STRAY)
    words = msg(
        "{n} views, corners in {share} of the cells, RMS {mm} px, red: more than {share2} times"
        " that",
        n=len(calibrated.views),
        share=f"{100 * covered.mean():.0f} %",
        mm=f"{calibrated.rms_px:.2f}",
        share2=f"{STRAY_TIMES:g}",
    )
    ink = letter_mask(translation(words, language), lens.height / 45)[..., None]
    top, left = lens.height // 60, lens.width // 80
    box = (
        slice(top, min(top + ink.shape[0], lens.height)),
        slice(left, min(left + ink.shape[1], lens.width)),
    )
    ink = ink[: box[0].stop - top, : box[1].stop - left]
    drawn[box] = np.rint(drawn[box] + ink * (np.array(SEEN) - drawn[box])).astype(np.uint8)
    return drawn


def _tint_covered(image: Image, covered: NDArray[np.bool_]) -> Image:
    """A copy with covered cells tinted, and lines between cells."""
    height, width = image.shape[:2]
    columns, rows = CELLS
    share = (
        TINT
        * np.kron(covered, np.ones((-(-height // rows), -(-width // columns))))[
            :height, :width, None
        ]
    )
    drawn = np.rint(image + share * (np.array(COVERED) - image)).astype(np.uint8)
    thin = max(1, round(LINE_SHARE * width / 3))
    for column in range(1, columns):
        cv2.line(
            drawn,
            (column * width // columns, 0),
            (column * width // columns, height),
            COVERED,
            thin,
        )
    for row in range(1, rows):
        cv2.line(drawn, (0, row * height // rows), (width, row * height // rows), COVERED, thin)
    return drawn


def _outline(
    drawn: Image, corners: Array, rgb: tuple[int, int, int], width: int, cased: bool
) -> None:
    points = np.array([_fixed_point(at) for at in corners], np.int32).reshape(-1, 1, 2)
    if cased:
        cv2.polylines(drawn, [points], True, CASING, 2 * width, cv2.LINE_AA, SUBPIXEL_BITS)
    cv2.polylines(drawn, [points], True, rgb, width, cv2.LINE_AA, SUBPIXEL_BITS)


def _dot(drawn: Image, at: Array, radius: int, rgb: tuple[int, int, int]) -> None:
    cv2.circle(
        drawn, _fixed_point(at), radius << SUBPIXEL_BITS, rgb, -1, cv2.LINE_AA, SUBPIXEL_BITS
    )


def _fixed_point(at: Array) -> tuple[int, int]:
    """Pixels in OpenCV's fixed-point format, limited to its range."""
    x, y = np.clip(np.rint(np.asarray(at) * (1 << SUBPIXEL_BITS)), -(1 << 20), 1 << 20).astype(int)
    return int(x), int(y)
