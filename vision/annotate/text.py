"""Render text as masks, of the same size with every version of OpenCV.

Its major versions draw letters differently, and version 4 has those of ASCII only, without a ±.
"""

from __future__ import annotations

import functools
import unicodedata

import cv2
import numpy as np

from table.solids import Array
from table.text import printable

FONT, SCALE, THICKNESS = cv2.FONT_HERSHEY_DUPLEX, 2.0, 4
"""Letters are drawn large, cropped to their ink and then shrunk."""
MOST_LETTERS = 300
ALL_LETTERS = not cv2.__version__.startswith("4.")
"""Whether OpenCV has letters beyond ASCII."""
BASELINE, TALL = 80, 120
"""Row of the baseline, and number of rows, of the large letters."""


def letter_mask(text: str, capital_px: float) -> Array:
    """One line of text as ink (h, w) from 0 to 1, with capitals `capital_px` high.

    Text longer than MOST_LETTERS is cut.
    """
    shown = printable(text[:MOST_LETTERS])
    parts = (shown if ALL_LETTERS else plain_letters(shown)).split("±")
    masks = [_drawn(parts[0])]
    for part in parts[1:]:
        masks += [_plus_minus(), _drawn(part)]
    large = np.concatenate(masks, axis=1)
    rows = np.flatnonzero(large.any(axis=1))
    large = large[rows[0] : rows[-1] + 1] if len(rows) else large
    shrink = capital_px / _capital_px()
    size = (max(1, round(large.shape[1] * shrink)), max(1, round(large.shape[0] * shrink)))
    return np.asarray(cv2.resize(large, size, interpolation=cv2.INTER_AREA), float)


def plain_letters(text: str) -> str:
    """Text in ASCII and ± where OpenCV has no other letters: `größer` is `grosser`."""
    letters = unicodedata.normalize("NFD", text.replace("ß", "ss"))
    return "".join(
        sign if sign.isascii() or sign == "±" else "?"
        for sign in letters
        if not unicodedata.combining(sign)
    )


@functools.cache
def _capital_px() -> int:
    """Height of a large digit's ink."""
    return int(np.count_nonzero(_drawn("0").any(axis=1)))


@functools.cache
def _plus_minus() -> Array:
    height = _capital_px()
    size = round(0.6 * height)
    left, top, middle = (
        round(0.5 * height),
        BASELINE - round(0.95 * height),
        round(0.5 * height) + size // 2,
    )
    canvas = np.zeros((TALL, size + 2 * left), np.uint8)
    stroke = max(2, round(0.13 * height))
    for a, b in (
        ((left, top + size // 2), (left + size, top + size // 2)),
        ((middle, top), (middle, top + size)),
        ((left, BASELINE - stroke // 2), (left + size, BASELINE - stroke // 2)),
    ):
        cv2.line(canvas, a, b, 255, stroke, cv2.LINE_AA)
    return canvas / 255.0


def _drawn(text: str) -> Array:
    """Large letters, (TALL, w), cut to the columns that have ink."""
    words = text.strip()
    canvas = np.zeros((TALL, 80 * len(words) + 80), np.uint8)
    cv2.putText(canvas, words, (40, BASELINE), FONT, SCALE, 255, THICKNESS, cv2.LINE_AA)
    columns = np.flatnonzero(canvas.any(axis=0))
    return canvas[:, columns[0] : columns[-1] + 1] / 255.0 if len(columns) else np.zeros((TALL, 0))
