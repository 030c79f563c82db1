"""Pictures of a camera that sends JPEGs one after the other."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from table.table_config import Orientation
from vision.cameras.base import CameraLost
from vision.cameras.frame import Image
from vision.cameras.image_files import decode_image
from vision.cameras.jpeg import DamagedError, JpegStream

LAST, LEAST = 30, 10
"""Of so many pictures the share of damaged ones is taken, and of no fewer."""
MOST_DAMAGED = 0.5
"""A camera of whose pictures a larger share is damaged is lost: people are told, as what it sends
says little of the table.
"""


class MjpegPictures:
    """Whole pictures out of what a camera sends; damaged ones are left out, and counted."""

    def __init__(self, more: Callable[[], bytes], orientation: Orientation) -> None:
        """`more` waits for the next bytes; it raises CameraLost where none come any more."""
        self._more, self._orientation = more, orientation
        self._stream = JpegStream()
        self._damaged: deque[bool] = deque(maxlen=LAST)

    def next(self) -> Image:
        """The next picture, R-G-B.  Raises CameraLost where none comes or most are damaged;
        InputError for one that is turned.
        """
        while True:
            broken = self._stream.broken
            while (data := self._stream.next()) is None:
                self._stream.feed(self._more())
            for _ in range(self._stream.broken - broken):
                self._count(damaged=True)
            try:
                image = decode_image(data, "its picture", self._orientation)
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
                f"{count} of its last {of} pictures were damaged; see to its cable or network, or"
                " ask it for smaller pictures"
            )
