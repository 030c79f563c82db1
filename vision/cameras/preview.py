"""Live image of the camera for web pages."""

from __future__ import annotations

import threading

from vision.cameras.frame import Frame
from vision.cameras.image_files import encode_jpeg

LIVE_MS = 200
"""Least interval between two live images, on the camera's clock."""
LIVE_QUALITY = 80


class LivePicture:
    """The newest frame as a JPEG; thread-safe."""

    def __init__(self) -> None:
        self._frame: Frame | None = None
        self._drawing = threading.Lock()
        self._drawn: tuple[Frame, bytes] | None = None

    def show(self, frame: Frame) -> None:
        """Set the newest frame."""
        self._frame = frame

    def jpeg(self) -> bytes | None:
        """The newest frame as JPEG; None before the first.

        It is encoded on demand, at most once every LIVE_MS.
        """
        frame = self._frame
        if frame is None:
            return None
        with self._drawing:
            if self._drawn is None or not 0 <= frame.at_ms - self._drawn[0].at_ms < LIVE_MS:
                self._drawn = frame, encode_jpeg(frame.image, LIVE_QUALITY)
            return self._drawn[1]
