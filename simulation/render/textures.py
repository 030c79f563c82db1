"""Prints on boards, tiles and counters: a sheet to draw on in mm, and sampling by a camera."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import cv2
import numpy as np
from numpy.typing import NDArray

from simulation.render.rays import Plane, fill_polygon
from simulation.render.scene import Print, Rgb
from table.solids import Array

Colours = NDArray[np.float32]
Points = Sequence[tuple[float, float]] | Array
_Draw = Callable[[NDArray[np.uint8], Array], None]

SHIFT = 4
"""Bits of a fraction of a texel in OpenCV's drawing coordinates."""

GLYPHS: dict[str, tuple[tuple[tuple[float, float], ...], ...]] = {
    "2": (
        (
            (0, 0.8),
            (0.15, 0.97),
            (0.4, 1),
            (0.6, 0.9),
            (0.65, 0.72),
            (0.55, 0.5),
            (0, 0),
            (0.68, 0),
        ),
    ),
    "3": (
        (
            (0, 0.88),
            (0.2, 1),
            (0.45, 1),
            (0.62, 0.85),
            (0.58, 0.65),
            (0.35, 0.54),
            (0.62, 0.42),
            (0.66, 0.18),
            (0.45, 0),
            (0.15, 0),
            (0, 0.13),
        ),
    ),
    "4": (((0.5, 0), (0.5, 1), (0, 0.3), (0.7, 0.3)),),
    "5": (
        (
            (0.62, 1),
            (0.1, 1),
            (0.05, 0.55),
            (0.4, 0.62),
            (0.62, 0.45),
            (0.62, 0.18),
            (0.42, 0),
            (0.12, 0),
            (0, 0.12),
        ),
    ),
    "a": (((0, 0), (0.35, 1), (0.7, 0)), ((0.13, 0.36), (0.57, 0.36))),
    "n": (((0, 0), (0, 0.62)), ((0, 0.45), (0.18, 0.62), (0.4, 0.6), (0.48, 0.42), (0.48, 0))),
}
"""Strokes of the values on tiles, each within a box one unit high; a(ce) and n(ull)."""


class Sheet:
    """A sheet of card to draw on.

    Places are (x, y) mm from its middle, y away from the reader; colours are linear. Filled areas
    are exact to a few hundredths of a mm; lines may be a texel wider than requested.
    """

    def __init__(self, width_mm: float, depth_mm: float, rgb: Rgb, texel_mm: float) -> None:
        shape = math.ceil(depth_mm / texel_mm) + 2, math.ceil(width_mm / texel_mm) + 2
        self._texel_mm = texel_mm
        self._rgb: Colours = np.empty((*shape, 3), np.float32)
        self._rgb[:] = rgb

    def fill(self, outline: Points, rgb: Rgb) -> None:
        """Fill a convex polygon."""
        self._ink(outline, 0.0, rgb, fill_polygon)

    def line(self, points: Points, width_mm: float, rgb: Rgb, closed: bool = False) -> None:
        """Draw along points with a pen of a width; no thinner than a texel."""
        texels = max(1, round(width_mm / self._texel_mm))

        def draw(mask: NDArray[np.uint8], places: Array) -> None:
            at = np.round(places * (1 << SHIFT)).astype(np.int32).reshape(-1, 1, 2)
            cv2.polylines(mask, [at], closed, 255, texels, cv2.LINE_AA, SHIFT)

        self._ink(points, width_mm, rgb, draw)

    def disc(self, middle: tuple[float, float], radius_mm: float, rgb: Rgb) -> None:
        """Fill a circle."""
        turns = np.linspace(0, 2 * np.pi, 48, endpoint=False)
        self.fill(
            np.asarray(middle) + radius_mm * np.column_stack([np.cos(turns), np.sin(turns)]), rgb
        )

    def glyph(
        self,
        name: str,
        middle: tuple[float, float],
        height_mm: float,
        pen_mm: float,
        rgb: Rgb,
        slant: float = 0.0,
    ) -> None:
        """Write one of GLYPHS around a place; `slant` leans it over, 0.2 is italic."""
        strokes = [
            height_mm * (np.array(stroke) @ np.array([[1.0, 0.0], [slant, 1.0]]))
            for stroke in GLYPHS[name]
        ]
        low, high = np.concatenate(strokes).min(axis=0), np.concatenate(strokes).max(axis=0)
        for stroke in strokes:
            self.line(stroke - (low + high) / 2 + np.asarray(middle), pen_mm, rgb)

    def print(self, middle_mm: tuple[float, float] = (0.0, 0.0), turn_deg: float = 0.0) -> Print:
        """The drawing so far, at a place on the table."""
        return Print(self._rgb.copy(), self._texel_mm, middle_mm, turn_deg)

    def _ink(self, points: Points, pen_mm: float, rgb: Rgb, draw: _Draw) -> None:
        """Mix a colour into the texels that a stroke covers."""
        rows, columns = self._rgb.shape[:2]
        places = np.asarray(points, float) / self._texel_mm * (1, -1) + (
            (columns - 1) / 2,
            (rows - 1) / 2,
        )
        pad = 3 + pen_mm / self._texel_mm
        u0, v0 = np.maximum(np.floor(places.min(axis=0) - pad), 0).astype(int)
        u1, v1 = np.minimum(np.ceil(places.max(axis=0) + pad), (columns, rows)).astype(int)
        if u1 <= u0 or v1 <= v0:
            return
        mask = np.zeros((v1 - v0, u1 - u0), np.uint8)
        draw(mask, places - (u0, v0))
        part = self._rgb[v0:v1, u0:u1]
        part += (mask / np.float32(255))[..., None] * (np.array(rgb, np.float32) - part)


def sample(printed: Print, at: tuple[Plane, Plane]) -> Colours:
    """Colours (h, w, 3) of a print at the pixels' intersections with its plane, averaged per pixel.

    `at` is table (x, y), each (h, w).
    """
    turn = math.radians(printed.turn_deg)
    c, s = (
        np.float32(math.cos(turn) / printed.texel_mm),
        np.float32(math.sin(turn) / printed.texel_mm),
    )
    dx, dy = at[0] - np.float32(printed.middle_mm[0]), at[1] - np.float32(printed.middle_mm[1])
    rows, columns = printed.rgb.shape[:2]
    u = c * dx + s * dy + np.float32((columns - 1) / 2)
    v = s * dx - c * dy + np.float32((rows - 1) / 2)
    steps = [
        float(np.median(np.hypot(np.diff(u, axis=axis), np.diff(v, axis=axis))))
        for axis in (0, 1)
        if u.shape[axis] > 1
    ]
    texels = math.sqrt(math.prod(steps)) if steps else 1.0
    even = cv2.GaussianBlur(printed.rgb, (0, 0), 0.29 * texels) if texels > 1 else printed.rgb
    return np.asarray(
        cv2.remap(even, u, v, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE), np.float32
    )
