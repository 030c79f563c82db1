"""Frames of a video file."""

from __future__ import annotations

from pathlib import Path

import cv2

from table.errors import InputError
from table.setup import Setup
from vision.cameras import other_size
from vision.cameras.files import check_pixels
from vision.frame import Frame, swapped


class VideoCamera:
    """The frames of a video, one by one, at the times that the file gives them."""

    simulated = False

    def __init__(self, path: Path, setup: Setup | None) -> None:
        """Raises InputError for no such file, no video, or one of another size than the table's."""
        if not path.is_file():
            raise InputError(f"camera: expected a video file, got {path}")
        self.name = f"video {path.name}"
        self._capture = cv2.VideoCapture(str(path), cv2.CAP_FFMPEG)
        if not self._capture.isOpened():
            raise InputError(f"{path}: expected a video such as MP4, AVI or MKV, but it cannot be read")
        width, height = (int(self._capture.get(name)) for name in (cv2.CAP_PROP_FRAME_WIDTH, cv2.CAP_PROP_FRAME_HEIGHT))
        try:
            check_pixels(width, height, str(path))
        except InputError:
            self._capture.release()
            raise
        if setup is not None and (wrong := other_size(width, height, setup)):
            self._capture.release()
            raise InputError(f"{path}: {wrong}")
        self._closed = False
        self._seq = 0
        self._at_ms = -1

    def read(self) -> Frame | None:
        """The next frame; None after the last."""
        if self._closed:
            raise ValueError("the camera was closed")
        done, image = self._capture.read()
        if not done:
            return None
        # Some files give no times, or the same twice: time goes on by a millisecond at least.
        self._at_ms = max(self._at_ms + 1, round(self._capture.get(cv2.CAP_PROP_POS_MSEC)))
        frame = Frame(self._seq, self._at_ms, swapped(image))
        self._seq += 1
        return frame

    def close(self) -> None:
        """No more reading."""
        self._closed = True
        self._capture.release()


def open_camera(argument: str, setup: Setup | None) -> VideoCamera:
    """`video:PATH`: the frames of a file."""
    return VideoCamera(Path(argument), setup)
