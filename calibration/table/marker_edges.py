"""Edges of a printed fiducial, and their measurement in a photograph.

Light spreads over edges between black and white. So a black border looks smaller, and white cells
inside it larger. Edges of both kinds are measured, each with the direction to its white side. The
spread shifts all of them in that direction by the same amount, so it is separable from the card's
size.
"""

from __future__ import annotations

import cv2
import numpy as np

from table.errors import InputError
from table.messages import msg
from table.solids import Array
from table.table_config import Fiducials
from vision.cameras.frame import Image
from vision.localization.markers import detect_markers

ALONG = np.array([0.2, 0.4, 0.6, 0.8])
"""Positions along an edge between two cells at which it is measured."""


def edge_samples(number: int, dictionary: str) -> tuple[Array, Array]:
    """Points (n, 2) on the edges of a fiducial, and unit normals (n, 2) to their white side.

    In sides of the fiducial, x right and y up from its middle.
    """
    codes = cv2.aruco.getPredefinedDictionary(getattr(cv2.aruco, dictionary))
    modules = int(codes.markerSize) + 2
    white = np.pad(
        np.asarray(cv2.aruco.generateImageMarker(codes, number, modules)) > 0,
        1,
        constant_values=True,
    )
    points, normals = [], []
    for step in (np.array([0, 1]), np.array([1, 0])):
        beside = np.roll(white, tuple(-step), axis=(0, 1))
        for row, column in np.argwhere(
            white[: modules + 1, : modules + 1] != beside[: modules + 1, : modules + 1]
        ):
            # Cell (row, column) of the padded code ends at `corner`, in modules right of and below
            # the fiducial's top left.
            corner = np.array([column, row], float)
            ahead = step[::-1].astype(float)
            start = corner - (1 - ahead)
            points.append(start + ALONG[:, None] * (1 - ahead))
            normals.append(
                np.repeat([ahead if beside[row, column] else -ahead], len(ALONG), axis=0)
            )
    down = np.array([1.0, -1.0])
    return (np.concatenate(points) / modules - 0.5) * down, np.concatenate(normals) * down


def refuse_mirrored(image: Image, fiducials: Fiducials) -> None:
    """Raise InputError if fiducials are found only in the mirror image of a picture (h, w, 3)."""
    if (
        not detect_markers(image, fiducials).corners_px
        and detect_markers(np.ascontiguousarray(image[:, ::-1]), fiducials).corners_px
    ):
        raise InputError(
            msg("expected a picture that is not mirrored, got a mirrored one; turn off mirroring")
        )
