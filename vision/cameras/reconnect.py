"""Iterate over a camera's frames through losses and reconnections."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import closing
from threading import Event

from table.errors import InputError, LogFailed
from table.messages import msg
from table.table_config import Setup
from vision.cameras.base import CameraLost, CameraPort, open_camera, unread_part
from vision.cameras.frame import Frame, Image
from vision.cameras.image_files import encode_jpeg

logger = logging.getLogger(__name__)

RETRY_S = (0.5, 1.0, 2.0, 4.0, 8.0)
"""Pauses between attempts to reach a lost camera; the last one repeats."""
PATIENCE = 300
"""Number of frames in which wanted ones are searched for, about half a minute of most cameras."""
RULING_QUALITY = 95
"""JPEG quality of images that a ruling is based on."""


class CannotGoOn(InputError):  # noqa: N818 - a fact about what was handed in, not a mistake of the program
    """The camera or recording gives unusable input, so that a retry would not help."""


def frames(
    camera: CameraPort, stopping: Event, lose: Callable[[CameraLost, float], None]
) -> Iterator[Frame]:
    """Every frame until the camera has no more, or `stopping` is set.

    A lost camera is retried: `lose(error, retry_s)` reports the loss and waits that long. Raises
    CannotGoOn for a frame that cannot be used.
    """
    lost = 0
    while not stopping.is_set():
        try:
            frame = camera.read()
        except CameraLost as error:
            logger.info("attempt %d: %s", lost + 1, error)
            lose(error, RETRY_S[min(lost, len(RETRY_S) - 1)])
            lost += 1
            continue
        except LogFailed:
            raise  # simulated players raise it while a frame is read
        except InputError as error:
            raise CannotGoOn(error.message) from error
        if frame is None:
            return
        if lost:
            logger.info("%s: pictures come again", camera.name)
        lost = 0
        yield frame


class AnnouncedCamera:
    """Wraps a camera; losses, and missing parts of a recording, are announced to people."""

    def __init__(self, camera: CameraPort, tell: Callable[[str], object]) -> None:
        """`tell` gets a sentence, once for each reason."""
        self.name, self.simulated = camera.name, camera.simulated
        self.inner, self._tell = camera, tell
        self._last_message = ""

    @property
    def missing(self) -> str:
        """As `Recording.missing`."""
        return unread_part(self.inner)

    def read(self) -> Frame | None:
        """As `CameraPort.read`."""
        try:
            frame = self.inner.read()
        except CameraLost as error:
            self._say(msg("camera lost ({text}); trying again", text=error.message))
            raise
        self._say("" if frame is not None else self.missing)
        return frame

    def close(self) -> None:
        """As `CameraPort.close`."""
        self.inner.close()

    def _say(self, message: str) -> None:
        if message and message != self._last_message:
            self._tell(message)
        self._last_message = message


def take_pictures(
    spec: str, setup: Setup | None, count: int, wanted: Callable[[Image], bool] | None = None
) -> list[Image]:
    """Take up to `count` images by the camera called `spec`.

    Without a table they may have any size.  Those that are not `wanted` are skipped, and no more
    than PATIENCE are examined.  Raises InputError if the camera has none, or is lost.
    """
    images: list[Image] = []
    examined = 0
    with closing(open_camera(spec, setup)) as camera:
        try:
            while (
                len(images) < count and examined < PATIENCE and (frame := camera.read()) is not None
            ):
                examined += 1
                if wanted is None or wanted(frame.image):
                    images.append(frame.image)
        except CameraLost as lost:
            raise InputError(msg("{spec}: {text}", spec=spec, text=lost.message)) from lost
    if not examined:
        raise InputError(msg("{spec}: expected a picture, but the camera has none", spec=spec))
    return images


def frame_jpeg(frame: Frame) -> bytes:
    """A frame as JPEG, as the log keeps it."""
    return encode_jpeg(frame.image, RULING_QUALITY)
