"""Photographs and pictures of films made worse, each with the table that they show."""

from __future__ import annotations

import zlib
from collections.abc import Callable

import cv2
import msgspec
import numpy as np

from benchmarks.bad_pictures import (
    Change,
    TakenPicture,
    add_noise,
    defocus,
    motion_blur,
    recompress,
    rotate,
    shrink,
)
from table.observation import Camera
from table.table_config import Lens, Setup
from vision.cameras.frame import Image

SetupPicture = tuple[Image, Setup]


def times(*factors: float) -> Callable[[Image, Setup], SetupPicture]:
    """Levels of red, green and blue multiplied, and clipped."""

    def change(image: Image, setup: Setup) -> SetupPicture:
        return np.clip(np.rint(image * np.array(factors)), 0, 255).astype(np.uint8), setup

    return change


def halve(image: Image, setup: Setup) -> SetupPicture:
    """Half as wide and high, with a lens that says so."""
    lens = setup.camera
    width, height = lens.width // 2, lens.height // 2
    (fx, _, cx), (_, fy, cy), last = lens.matrix
    matrix = ((fx / 2, 0.0, (cx + 0.5) / 2 - 0.5), (0.0, fy / 2, (cy + 0.5) / 2 - 0.5), last)
    small = np.asarray(
        cv2.resize(image[: 2 * height, : 2 * width], (width, height), interpolation=cv2.INTER_AREA),
        np.uint8,
    )
    return small, _with_lens(
        setup, msgspec.structs.replace(lens, width=width, height=height, matrix=matrix)
    )


def shake(image: Image, setup: Setup) -> SetupPicture:
    """Moved by 3 pixels, askew, while the shutter was open."""
    kernel = np.array([[0.25, 0.1, 0.0], [0.1, 0.1, 0.1], [0.0, 0.1, 0.25]])
    return np.asarray(cv2.filter2D(image, -1, kernel / kernel.sum()), np.uint8), setup


def _with_lens(setup: Setup, lens: Lens) -> Setup:
    return msgspec.structs.replace(setup, camera=lens)


def from_change(change: Change) -> Callable[[Image, Setup], SetupPicture]:
    """A change of `benchmarks.bad_pictures`, the same for the same picture."""

    def worse(image: Image, setup: Setup) -> SetupPicture:
        changed = change(
            TakenPicture(image, setup, NOWHERE), np.random.default_rng(zlib.crc32(image.tobytes()))
        )
        return changed.image, changed.setup

    return worse


NOWHERE = Camera(np.eye(3), np.zeros(3), np.zeros((6, 6)), 0.0, ())
"""Where the camera is does not matter for these."""
WORSE: dict[str, Callable[[Image, Setup], SetupPicture]] = {
    "as it is": times(1, 1, 1),
    "levels x 0.5": times(0.5, 0.5, 0.5),
    "levels x 1.5": times(1.5, 1.5, 1.5),
    "warm light": times(1.15, 1.0, 0.75),
    "cold light": times(0.8, 1.0, 1.15),
    "JPEG quality 60": from_change(recompress(60)),
    "half size": halve,
    "shaken by 3 px": shake,
    "turned by 180°": from_change(rotate(2)),
    "moved by 5 px": from_change(motion_blur(5)),
    "out of focus by 4 px": from_change(defocus(4)),
    "noise of 20 levels": from_change(add_noise(20)),
    "640 px wide": from_change(shrink(640)),
}


def tremble(image: Image, setup: Setup) -> SetupPicture:
    """A camera moved by up to a quarter of a pixel, in a light up to 4 % brighter or darker.

    The change differs with every picture.
    """
    chance = np.random.default_rng(zlib.crc32(image.tobytes()))
    (right, down), light = chance.uniform(-0.25, 0.25, 2), chance.uniform(0.96, 1.04)
    move = np.array([[1.0, 0.0, right], [0.0, 1.0, down]])
    there = cv2.warpAffine(
        image, move, image.shape[1::-1], flags=cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE
    )
    return times(light, light, light)(np.asarray(there, np.uint8), setup)


WORSE_FILMS: dict[str, Callable[[Image, Setup], SetupPicture]] = {
    "as they are": times(1, 1, 1),
    "levels x 0.6": times(0.6, 0.6, 0.6),
    "levels x 1.3": times(1.3, 1.3, 1.3),
    "warm light": WORSE["warm light"],
    "cold light": WORSE["cold light"],
    "JPEG quality 60": from_change(recompress(60)),
    "shaken by 3 px": shake,
    "trembling and flickering": tremble,
}
