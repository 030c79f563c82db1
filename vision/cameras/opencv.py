"""Cameras that OpenCV reads: USB cameras through V4L2."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import cv2

from table.errors import InputError
from table.messages import msg, phrase
from table.table_config import Setup
from vision.cameras.base import CameraLost
from vision.cameras.frame import swapped
from vision.cameras.live import Feed, LiveCamera, Picture, wanted_size
from vision.cameras.orientation import half_turned

LOCKED_AFTER = 30
"""Number of frames for which a USB camera may adjust focus and exposure. Then both are locked, so
that the table looks the same for the whole session.
"""
USUAL_PX = (1920, 1080)
"""Size requested from a USB camera before a table is known."""
V4L2_MANUAL_EXPOSURE = 1
"""V4L2_EXPOSURE_MANUAL of the kernel's v4l2-controls.h."""


class CaptureFeed:
    """Images of a cv2.VideoCapture."""

    def __init__(
        self,
        capture: cv2.VideoCapture,
        lock: Callable[[cv2.VideoCapture], None] | None = None,
        turn: bool = False,
    ) -> None:
        """`lock` is called after LOCKED_AFTER frames; `turn` rotates images by 180 degrees."""
        self._capture, self._lock, self._turn = capture, lock, turn
        self._taken = 0

    def picture(self) -> Picture:
        """The next image; raises CameraLost if the device is gone or the stream has ended."""
        done, image = self._capture.read()
        if not done:
            raise CameraLost(msg("it sends no more pictures"))
        self._taken += 1
        if self._lock is not None and self._taken == LOCKED_AFTER:
            self._lock(self._capture)
        return Picture(half_turned(swapped(image)) if self._turn else swapped(image))

    def close(self) -> None:
        """Release the device."""
        self._capture.release()


def open_v4l2(argument: str, setup: Setup | None) -> LiveCamera:
    """`v4l2:0`, `v4l2:/dev/video0` or `v4l2:0@1920x1080`: a USB camera.

    Focus, exposure and white balance are locked after a second.
    """
    argument, (width, height) = wanted_size(argument, setup, USUAL_PX)
    path = Path(f"/dev/video{argument}" if argument.isdecimal() else argument)
    if not path.is_absolute():
        raise InputError(
            msg(
                "camera: v4l2: expected a number or a device, such as v4l2:0 or"
                " v4l2:/dev/video0, got {raw}",
                raw=repr(argument),
            )
        )

    def connect() -> Feed:
        if not path.exists():
            raise CameraLost(msg("camera {path} not found; plug it in", path=path))
        if not os.access(path, os.R_OK | os.W_OK):
            raise CameraLost(
                msg(
                    "no permission to use camera {path}; join the group of the device (sudo"
                    " usermod -aG video $USER) and log in again",
                    path=path,
                )
            )
        capture = cv2.VideoCapture(str(path), cv2.CAP_V4L2)
        # At these sizes USB 2 carries JPEG only. One buffer, because old pictures are useless.
        capture.set(cv2.CAP_PROP_FOURCC, cv2.VideoWriter.fourcc(*"MJPG"))
        capture.set(cv2.CAP_PROP_FRAME_WIDTH, width)
        capture.set(cv2.CAP_PROP_FRAME_HEIGHT, height)
        capture.set(cv2.CAP_PROP_BUFFERSIZE, 1)
        check_opened(capture, phrase("camera {path}", path=path))
        return CaptureFeed(capture, _lock)

    return LiveCamera(phrase("camera {name}", name=path.name), connect, setup)


def check_opened(capture: cv2.VideoCapture, name: str) -> None:
    """Raise CameraLost if the device could not be opened."""
    if not capture.isOpened():
        capture.release()
        raise CameraLost(
            msg(
                "{name} does not answer; check that it is on and that no other program uses it",
                name=name,
            )
        )


def _lock(capture: cv2.VideoCapture) -> None:
    """Lock focus, exposure and white balance; a camera ignores settings that it does not have."""
    exposure = capture.get(cv2.CAP_PROP_EXPOSURE)
    capture.set(cv2.CAP_PROP_AUTOFOCUS, 0)
    capture.set(cv2.CAP_PROP_AUTO_WB, 0)
    capture.set(cv2.CAP_PROP_AUTO_EXPOSURE, V4L2_MANUAL_EXPOSURE)
    capture.set(cv2.CAP_PROP_EXPOSURE, exposure)
