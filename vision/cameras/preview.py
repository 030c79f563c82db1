"""The camera's newest frame for pages."""

from __future__ import annotations

import threading

from vision.cameras.frame import Frame
from vision.cameras.image_files import encode_jpeg

LIVE_MS = 200
"""The live picture is made anew at most this often, on the camera's clock."""
LIVE_QUALITY = 80


class LivePicture:
    """The newest frame as a JPEG; everything from any thread."""

    def __init__(self) -> None:
        self._frame: Frame | None = None
        self._drawing = threading.Lock()
        self._drawn: tuple[Frame, bytes] | None = None

    def show(self, frame: Frame) -> None:
        """This frame is the newest now."""
        self._frame = frame

    def jpeg(self) -> bytes | None:
        """Made on demand, at most every LIVE_MS however many ask; None before the first frame."""
        frame = self._frame
        if frame is None:
            return None
        with self._drawing:
            if self._drawn is None or not 0 <= frame.at_ms - self._drawn[0].at_ms < LIVE_MS:
                self._drawn = frame, encode_jpeg(frame.image, LIVE_QUALITY)
            return self._drawn[1]
