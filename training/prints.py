"""Random print for labelled views: boards of every kind and none.

No two prints are alike, so that none can be memorized.
"""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.cameras.frame import Image
from vision.geometry.srgb import linear

PRINT_PX = 800
"""Side of a print."""
Print = NDArray[np.float32]
Ink = tuple[float, float, float]


def random_print(rng: np.random.Generator, base_px: float) -> Print:
    """Reflectance (PRINT_PX, PRINT_PX, 3), linear, of a random print.

    Its shapes have the scale of pieces `base_px` wide.
    """
    art = np.empty((PRINT_PX, PRINT_PX, 3), np.uint8)
    art[:] = _ink(rng)
    layers = (_squares, _hexagons, _tiles, _chequers, _shapes)
    for k in rng.permutation(len(layers))[: rng.integers(1, 3)]:
        layers[k](art, rng, base_px)
    if rng.random() < 0.3:
        _shapes(art, rng, base_px)
    if rng.random() < 0.5:
        turn = cv2.getRotationMatrix2D(
            (PRINT_PX / 2, PRINT_PX / 2), float(rng.uniform(0, 360)), 1.0
        )
        art = np.asarray(
            cv2.warpAffine(art, turn, (PRINT_PX, PRINT_PX), borderMode=cv2.BORDER_REFLECT), np.uint8
        )
    light = linear(art)
    grain = cv2.GaussianBlur(
        rng.standard_normal((PRINT_PX, PRINT_PX), np.float32), (0, 0), float(rng.uniform(0.6, 6))
    )
    light *= np.exp(float(rng.uniform(0, 0.12)) * grain / grain.std())[..., None]
    return light


def _ink(rng: np.random.Generator) -> Ink:
    """A colour as sRGB levels: paper, wood, black, grey, or any other."""
    kind = rng.random()
    if kind < 0.35:
        light = rng.uniform(0.55, 0.85) * rng.uniform(0.9, 1.0, 3)
    elif kind < 0.55:
        light = np.array([0.6, 0.42, 0.26]) * rng.uniform(0.2, 1.2)
    elif kind < 0.7:
        light = np.full(3, rng.uniform(0.015, 0.3))
    else:
        light = rng.beta(0.6, 0.9, 3) * 0.8 + 0.01
    r, g, b = (float(level) for level in 255 * light ** (1 / 2.2))
    return r, g, b


def _shift(rng: np.random.Generator, pitch: float) -> tuple[float, float]:
    return float(rng.uniform(0, pitch)), float(rng.uniform(0, pitch))


def _poly(art: Image, corners: NDArray[np.float64], ink: Ink) -> None:
    cv2.fillPoly(art, [np.rint(corners * 16).astype(np.int32)], ink, cv2.LINE_AA, 4)


def _line(art: Image, corners: NDArray[np.float64], ink: Ink, thick: int) -> None:
    cv2.polylines(art, [np.rint(corners * 16).astype(np.int32)], True, ink, thick, cv2.LINE_AA, 4)


def _square(x: float, y: float, half: float) -> NDArray[np.float64]:
    return np.array(
        [[x - half, y - half], [x + half, y - half], [x + half, y + half], [x - half, y + half]]
    )


def _squares(art: Image, rng: np.random.Generator, base_px: float) -> None:
    """Framed spaces with arrowheads and dots, in blocks of their own colours."""
    pitch = float(rng.uniform(1.1, 3.0)) * base_px
    x0, y0 = _shift(rng, pitch)
    half, thick = float(rng.uniform(0.3, 0.49)) * pitch, int(rng.integers(1, 4))
    blocks = [(_ink(rng), _ink(rng), _ink(rng)) for _ in range(4)]
    for i in range(int(PRINT_PX / pitch) + 2):
        for j in range(int(PRINT_PX / pitch) + 2):
            x, y = x0 + (i - 0.5) * pitch, y0 + (j - 0.5) * pitch
            fill, frame, mark = blocks[(i // 3 % 2) + 2 * (j // 3 % 2)]
            _poly(art, _square(x, y, half), fill)
            _line(art, _square(x, y, half), frame, thick)
            for k in rng.permutation(4)[: rng.integers(0, 4)]:
                turn = np.radians(90 * k)
                out, side = (
                    np.array([np.cos(turn), np.sin(turn)]),
                    np.array([-np.sin(turn), np.cos(turn)]),
                )
                at = np.array([x, y]) + out * half
                size = 0.14 * pitch
                _poly(
                    art,
                    np.array(
                        [
                            at + out * size,
                            at - 0.4 * out * size + side * size,
                            at - 0.4 * out * size - side * size,
                        ]
                    ),
                    mark,
                )
            if rng.random() < 0.15:
                for share in (0.75, 0.5, 0.25):
                    _line(art, _square(x, y, half * share), mark, thick)


def _hexagons(art: Image, rng: np.random.Generator, base_px: float) -> None:
    pitch = float(rng.uniform(1.4, 3.0)) * base_px
    turns = np.radians(60 * np.arange(6) + 30)
    x0, y0 = _shift(rng, pitch)
    fill, frame, thick = _ink(rng), _ink(rng), int(rng.integers(1, 4))
    filled = rng.random() < 0.6
    for j in range(int(PRINT_PX / pitch * 1.16) + 3):
        for i in range(int(PRINT_PX / pitch) + 3):
            middle = np.array([x0 + (i - 1 + 0.5 * (j % 2)) * pitch, y0 + (j - 1) * pitch * 0.866])
            corners = middle + pitch / np.sqrt(3) * np.column_stack([np.cos(turns), np.sin(turns)])
            if filled:
                _poly(art, corners, fill)
            _line(art, corners, frame, thick)


def _tiles(art: Image, rng: np.random.Generator, base_px: float) -> None:
    """Tiles with letters, figures and dots, some missing."""
    pitch = float(rng.uniform(2.2, 4.2)) * base_px
    x0, y0 = _shift(rng, pitch)
    wood, gap, inks = _ink(rng), _ink(rng), [_ink(rng) for _ in range(4)]
    bold, face = (
        float(rng.uniform(3, 11)),
        int(rng.choice([cv2.FONT_HERSHEY_SIMPLEX, cv2.FONT_HERSHEY_DUPLEX])),
    )
    for i in range(int(PRINT_PX / pitch) + 2):
        for j in range(int(PRINT_PX / pitch) + 2):
            x, y = x0 + (i - 0.5) * pitch, y0 + (j - 0.5) * pitch
            if rng.random() < 0.15:
                continue
            _poly(art, _square(x, y, 0.495 * pitch), gap)
            _poly(art, _square(x, y, float(rng.uniform(0.46, 0.49)) * pitch), wood)
            ink = inks[int(rng.integers(4))]
            text = "A23456789nJQKRT"[int(rng.integers(15))]
            size = pitch / 60
            at = (int(x - 0.16 * pitch), int(y + 0.16 * pitch))
            cv2.putText(art, text, at, face, size, ink, max(1, round(bold * size)), cv2.LINE_AA)
            cv2.circle(
                art,
                (int(x - 0.33 * pitch), int(y - 0.33 * pitch)),
                max(1, int(0.09 * pitch)),
                ink,
                -1,
                cv2.LINE_AA,
            )


def _chequers(art: Image, rng: np.random.Generator, base_px: float) -> None:
    pitch = float(rng.uniform(1.6, 4.5)) * base_px
    x0, y0 = _shift(rng, 2 * pitch)
    inks = (_ink(rng), _ink(rng))
    y, x = np.mgrid[:PRINT_PX, :PRINT_PX]
    odd = (np.floor((x - x0) / pitch) + np.floor((y - y0) / pitch)) % 2 == 1
    art[odd], art[~odd] = inks


def _shapes(art: Image, rng: np.random.Generator, base_px: float) -> None:
    """Random shapes: discs, rings, triangles, words, lines."""
    for _ in range(int(rng.integers(3, 40))):
        x, y = rng.uniform(0, PRINT_PX, 2)
        size, ink = float(rng.uniform(0.15, 1.6)) * base_px, _ink(rng)
        thick = -1 if rng.random() < 0.5 else int(rng.integers(1, 5))
        kind = rng.integers(4)
        if kind == 0:
            cv2.circle(art, (int(x), int(y)), int(0.6 * size), ink, thick, cv2.LINE_AA)
        elif kind == 1:
            corners = np.array([x, y]) + rng.normal(0, size, (int(rng.integers(3, 6)), 2))
            cv2.fillConvexPoly(
                art, cv2.convexHull(np.rint(corners).astype(np.int32)), ink, cv2.LINE_AA
            )
        elif kind == 2:
            cv2.putText(
                art,
                "Rink7"[int(rng.integers(5)) :],
                (int(x), int(y)),
                cv2.FONT_HERSHEY_DUPLEX,
                size / 25,
                ink,
                max(1, abs(thick)),
                cv2.LINE_AA,
            )
        else:
            x1, y1 = rng.uniform(0, PRINT_PX, 2)
            cv2.line(
                art, (int(x), int(y)), (int(x1), int(y1)), ink, max(1, abs(thick)), cv2.LINE_AA
            )
