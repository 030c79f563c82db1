"""Skip locating a camera that stands still, by checking that its fiducials have not moved.

Finding and fitting the fiducials takes a third of the time for a frame in which one piece has
moved. The shift of a card is estimated by least squares from its own gradients, to a hundredth of a
pixel. Source: Lucas and Kanade, An iterative image registration technique, IJCAI 1981.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from table.observation import Camera
from table.table_config import Setup
from vision.cameras.frame import Image
from vision.geometry.camera_model import project
from vision.localization.fiducials import SURE_MM, locate
from vision.localization.markers import NoPose

CARD = 1.4
"""Side of the square in which a card is compared, relative to its marker."""
STILL_PX = 0.1
"""Largest shift of a card that counts as still."""
UNLIKE_LEVELS, UNLIKE_SHARE, MOST_GAIN = 10.0, 0.02, 1.5
"""Thresholds for a changed card: difference in grey levels; least share of pixels with that
difference; factor on the overall brightness.
"""
LEAST_GRADIENT = 4.0
"""Least root mean square gradient of a window, in grey levels per pixel. Below it the window
contains only noise and cannot reveal motion.
"""

Grey = NDArray[np.float32]
Window = tuple[slice, slice]


class StillCamera:
    """Call it like `locate`, with every frame of one camera; it locates anew only after a change.

    A change is a card that has shifted or looks different. Frames are compared with the one in
    which the camera was located, so that a slow drift is noticed too. An uncertain pose is
    estimated again in every frame, because the next may be sharper.
    """

    def __init__(self) -> None:
        self._tracked_camera: _TrackedCamera | None = None
        self._before: tuple[Camera, Setup] | None = None
        """Last certain pose. If copies of fiducials are in view, it tells which are the table's."""

    def __call__(self, image: Image, setup: Setup) -> Camera | NoPose:
        """The camera in this frame, located anew or as before."""
        if self._tracked_camera is not None and self._tracked_camera.is_valid_for(image, setup):
            return self._tracked_camera.camera
        before = self._before[0] if self._before is not None and self._before[1] == setup else None
        camera = locate(image, setup, before)
        sure = isinstance(camera, Camera) and camera.sigma_mm <= SURE_MM
        self._tracked_camera = (
            _tracked_camera(image, camera, setup) if isinstance(camera, Camera) and sure else None
        )
        if isinstance(camera, Camera) and sure:
            self._before = camera, setup
        return camera


@dataclass(frozen=True, slots=True, eq=False)
class _TrackedCamera:
    """A located camera, and its image in the windows of the cards."""

    camera: Camera
    setup: Setup
    shape: tuple[int, ...]
    cards: list[tuple[Window, Grey]]

    def is_valid_for(self, image: Image, setup: Setup) -> bool:
        return (
            image.shape == self.shape
            and setup == self.setup
            and all(_same(before, _grey(image, at)) for at, before in self.cards)
        )


def _tracked_camera(image: Image, camera: Camera, setup: Setup) -> _TrackedCamera:
    """Store the cards' windows, those of covered cards too.

    When a covered card is visible again, the pose can be improved.
    """
    windows = []
    for marker in setup.fiducials.markers:
        around = marker.around_mm(CARD)
        corners = project(
            np.column_stack([around, np.full(len(around), setup.fiducials.z_mm)]),
            camera,
            setup.camera,
        )
        low = np.maximum(np.floor(corners.min(axis=0)), 0).astype(int)
        high = np.minimum(np.ceil(corners.max(axis=0)) + 1, image.shape[1::-1]).astype(int)
        if (high - low > 4).all():
            windows.append((slice(low[1], high[1]), slice(low[0], high[0])))
    return _TrackedCamera(
        camera, setup, image.shape, [(window, _grey(image, window)) for window in windows]
    )


def _grey(image: Image, window: Window) -> Grey:
    return np.asarray(
        cv2.cvtColor(np.ascontiguousarray(image[window]), cv2.COLOR_RGB2GRAY), np.float32
    )


def _same(before: Grey, now: Grey) -> bool:
    """True if a window has the same content in the same place, up to noise and brightness."""
    down, right = np.gradient(before)
    design = np.column_stack([part.ravel() for part in (right, down, before, np.ones_like(before))])
    change = (now - before).ravel()
    moved, *_ = np.linalg.lstsq(design.T @ design, design.T @ change, rcond=1e-9)
    left = cv2.blur((change - design @ moved).reshape(before.shape), (3, 3))
    if float((np.abs(left) > UNLIKE_LEVELS).mean()) > UNLIKE_SHARE:
        return False
    plain = float((right**2 + down**2).mean()) < LEAST_GRADIENT**2
    x, y, gain, _ = moved
    return plain or bool(np.hypot(x, y) < STILL_PX and 1 / MOST_GAIN < 1 + gain < MOST_GAIN)
