"""A pen that draws on a page in millimetres, and writes in the language of its sheet."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import cv2
import numpy as np
from reportlab.pdfbase.pdfmetrics import stringWidth

from table.languages import Language, translation
from table.messages import Message
from table.solids import Array
from table.table_config import Marker

Rgb = tuple[float, float, float]
"""An ink, sRGB from 0 to 1."""
Points = Sequence[tuple[float, float]] | Array

INK: Rgb = (0.10, 0.12, 0.15)
GREY: Rgb = (0.45, 0.48, 0.52)
PALE: Rgb = (0.80, 0.82, 0.85)
WHITE: Rgb = (1.0, 1.0, 1.0)
BLACK: Rgb = (0.0, 0.0, 0.0)

_SHARE = {"left": 0.0, "middle": 0.5, "right": 1.0}


@dataclass(frozen=True, slots=True)
class Pen:
    """Draws in mm on reportlab's canvas: x right, y up, from the sheet's origin."""

    canvas: Any
    language: Language = "en"

    def translate(self, words: str) -> str:
        """A message in the language of the sheet; other text, such as a cell's name, unchanged."""
        if isinstance(words, Message):
            return translation(words, self.language)
        return words

    def fill(self, points: Points, rgb: Rgb) -> None:
        """Fill a polygon (n, 2)."""
        self.fill_all([points], rgb)

    def fill_all(self, polygons: Sequence[Points], rgb: Rgb) -> None:
        """Fill polygons as one path, so that viewers show no seams between them."""
        path = self.canvas.beginPath()
        for points in polygons:
            _trace(path, points)
            path.close()
        self.canvas.setFillColorRGB(*rgb)
        self.canvas.drawPath(path, stroke=0, fill=1)

    def line(self, points: Points, width_mm: float, rgb: Rgb, closed: bool = False) -> None:
        """Draw along points (n, 2)."""
        path = self.canvas.beginPath()
        _trace(path, points)
        if closed:
            path.close()
        self._stroke(width_mm, rgb)
        self.canvas.drawPath(path, stroke=1, fill=0)

    def disc(self, middle: tuple[float, float], radius_mm: float, rgb: Rgb) -> None:
        """Fill a circle."""
        self.canvas.setFillColorRGB(*rgb)
        self.canvas.circle(*middle, radius_mm, stroke=0, fill=1)

    def ring(
        self, middle: tuple[float, float], radius_mm: float, width_mm: float, rgb: Rgb
    ) -> None:
        """Draw a circle."""
        self._stroke(width_mm, rgb)
        self.canvas.circle(*middle, radius_mm, stroke=1, fill=0)

    def rounded(
        self, low: tuple[float, float], high: tuple[float, float], radius_mm: float, rgb: Rgb
    ) -> None:
        """Fill a rectangle with round corners."""
        self.canvas.setFillColorRGB(*rgb)
        self.canvas.roundRect(*low, high[0] - low[0], high[1] - low[1], radius_mm, stroke=0, fill=1)

    def write(
        self,
        at: tuple[float, float],
        words: str,
        height_mm: float,
        rgb: Rgb = INK,
        anchor: Literal["left", "middle", "right"] = "left",
        bold: bool = False,
        most_mm: float = math.inf,
    ) -> None:
        """Write a line of words, its baseline at a place; `height_mm` is the font's size.

        The font is smaller where the line would be longer than `most_mm`.
        """
        text = self.translate(words)
        wide_mm = words_mm(text, height_mm, bold)
        share = most_mm / wide_mm if wide_mm > most_mm else 1.0
        self.canvas.setFillColorRGB(*rgb)
        self.canvas.setFont(_font(bold), share * height_mm)
        self.canvas.drawString(at[0] - _SHARE[anchor] * share * wide_mm, at[1], text)

    def marker(self, marker: Marker, dictionary: str) -> None:
        """Draw a fiducial with its corners at its `corners_mm`."""
        corners = np.array(marker.corners_mm)
        right, down = corners[1] - corners[0], corners[3] - corners[0]
        code = marker_cells(marker.id, dictionary)
        self.fill_all([corners[0] + cell @ np.array([right, down]) for cell in code], BLACK)

    def _stroke(self, width_mm: float, rgb: Rgb) -> None:
        self.canvas.setStrokeColorRGB(*rgb)
        self.canvas.setLineWidth(width_mm)


def marker_cells(number: int, dictionary: str) -> list[Array]:
    """Black cells of a fiducial, each (4, 2), in sides of the marker.

    x right and y down from its top left.
    """
    codes = cv2.aruco.getPredefinedDictionary(getattr(cv2.aruco, dictionary))
    modules = int(codes.markerSize) + 2
    bits = np.asarray(cv2.aruco.generateImageMarker(codes, number, modules))
    square = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    return [(square + np.array([column, row])) / modules for row, column in np.argwhere(bits == 0)]


def rectangle(low: tuple[float, float], high: tuple[float, float]) -> Array:
    """Corners (4, 2) counter-clockwise from the lower left."""
    return np.array([low, (high[0], low[1]), high, (low[0], high[1])], float)


def words_mm(words: str, height_mm: float, bold: bool = False) -> float:
    """Width of a line of text."""
    return float(stringWidth(words, _font(bold), height_mm))


def two_lines(words: str) -> tuple[str, str]:
    """Text broken so that the longer line is shortest; the second is empty for a single word."""
    parts = words.split(" ")
    ways = [(" ".join(parts[:k]), " ".join(parts[k:])) for k in range(1, len(parts) + 1)]
    return min(ways, key=lambda lines: max(words_mm(line, 1.0) for line in lines))


def _font(bold: bool) -> str:
    return "Helvetica-Bold" if bold else "Helvetica"


def _trace(path: Any, points: Points) -> None:
    first, *rest = np.asarray(points, float).tolist()
    path.moveTo(*first)
    for point in rest:
        path.lineTo(*point)
