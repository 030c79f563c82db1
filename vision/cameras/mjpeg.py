"""Decode images from a camera that sends JPEGs one after the other."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from table.messages import msg, phrase
from table.table_config import Orientation
from vision.cameras.base import CameraLost
from vision.cameras.frame import Image
from vision.cameras.image_files import decode_image
from vision.cameras.jpeg import DamagedError, JpegStream

LAST, LEAST = 30, 10
"""Number of latest images, and least number, over which the share of damaged ones is computed."""
MOST_DAMAGED = 0.5
"""Share of damaged images above which the camera is reported as lost."""


class MjpegPictures:
    """Whole images out of a stream; damaged ones are dropped and counted."""

    def __init__(self, more: Callable[[], bytes], orientation: Orientation) -> None:
        """`more` waits for the next bytes; it raises CameraLost if none come any more."""
        self._more, self._orientation = more, orientation
        self._stream = JpegStream()
        self._damaged: deque[bool] = deque(maxlen=LAST)

    def next(self) -> Image:
        """The next image, R-G-B.

        Raises CameraLost if none comes or most are damaged; InputError for one that is rotated.
        """
        while True:
            broken = self._stream.broken
            while (data := self._stream.next()) is None:
                self._stream.feed(self._more())
            for _ in range(self._stream.broken - broken):
                self._count(damaged=True)
            try:
                image = decode_image(data, phrase("its picture"), self._orientation)
            except DamagedError:
                self._count(damaged=True)
                continue
            self._count(damaged=False)
            return image

    def _count(self, damaged: bool) -> None:
        self._damaged.append(damaged)
        count, of = sum(self._damaged), len(self._damaged)
        if of >= LEAST and count > MOST_DAMAGED * of:
            raise CameraLost(
                msg(
                    "{n} of its last {n2} pictures were damaged; check its cable or"
                    " network, or use smaller pictures",
                    n=count,
                    n2=of,
                )
            )
