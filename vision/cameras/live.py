"""Common part of all live cameras: only the newest frame counts, and a lost camera is retried."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from typing import NamedTuple, Protocol

from table.errors import InputError, error_summary
from table.messages import msg
from table.table_config import Setup
from vision.cameras.base import CameraLost, other_size
from vision.cameras.frame import Frame, Image

logger = logging.getLogger(__name__)

PATIENCE_S = 5.0
"""Time without a frame after which a camera is lost."""
CLOSING_S = 2.0
"""Time that a device is given to stop before it is abandoned."""


def wanted_size(
    argument: str, setup: Setup | None, usual: tuple[int, int]
) -> tuple[str, tuple[int, int]]:
    """Split off a size (`0@2304x1296`) from the argument, and choose the size to ask for.

    It is the table's, the given one, or the usual one.  Raises InputError for an invalid size, or
    another than the table's.
    """
    device, at, text = argument.partition("@")
    size = tuple(int(part) for part in text.split("x") if part.isdecimal())
    if at and not (len(size) == 2 and min(size) >= 64):
        raise InputError(
            msg(
                "camera: expected a size such as {device}@2304x1296, got {raw}",
                device=device,
                raw=repr(argument),
            )
        )
    table = (setup.camera.width, setup.camera.height) if setup is not None else None
    if at and table and size != table:
        raise InputError(
            msg(
                "camera: expected {width} x {height} px as in table.json, or no size, got {raw}",
                width=table[0],
                height=table[1],
                raw=repr(argument),
            )
        )
    width, height = table or size or usual
    return device, (width, height)


class Picture(NamedTuple):
    """R-G-B (h, w, 3), and the camera's reported focus in dioptres."""

    image: Image
    focus_dpt: float | None = None


class Feed(Protocol):
    """A connection to a device; one thread uses it."""

    def picture(self) -> Picture:
        """The next image; raises CameraLost, or InputError if the images cannot be used."""

    def close(self) -> None:
        """Release the device."""


def monotonic_ms() -> int:
    """Milliseconds of the monotonic clock."""
    return time.monotonic_ns() // 1_000_000


def epoch_ms() -> int:
    """Milliseconds since 1970, UTC, by the wall clock, which may be wrong or set at any time."""
    return time.time_ns() // 1_000_000


class TimestampedPicture(NamedTuple):
    """A picture and its time of arrival on both clocks."""

    picture: Picture
    at_ms: int
    utc_ms: int


class LiveCamera:
    """A camera that runs continuously.

    `read` waits for a frame that it has not returned yet, and skips older ones.
    """

    simulated = False

    def __init__(
        self,
        name: str,
        connect: Callable[[], Feed],
        setup: Setup | None,
        clock: Callable[[], int] = monotonic_ms,
        wall_clock: Callable[[], int] = epoch_ms,
        patience_s: float = PATIENCE_S,
    ) -> None:
        """Prepare the camera; nothing is opened before the first `read`.

        `connect` opens the device, or raises CameraLost with the reason. It is called at the first
        `read` and after each loss. `clock` never goes back; `wall_clock` is only for display. Both
        are in ms.
        """
        self.name = name
        self._connect, self._patience_s = connect, patience_s
        self._stamp = lambda picture: TimestampedPicture(picture, clock(), wall_clock())
        self._setup = setup
        self._pump: _Pump | None = None
        self._closed = False
        self._seq = 0

    def read(self) -> Frame:
        """The next frame; raises CameraLost, or InputError if its size is not the table's."""
        if self._closed:
            raise ValueError("the camera was closed")
        if self._pump is None:
            self._pump = _Pump(self._connected(), self._stamp)
        try:
            (image, focus_dpt), at_ms, utc_ms = self._pump.newest(self._patience_s)
        except CameraLost as error:
            self._drop()
            raise CameraLost(msg("{name}: {text}", name=self.name, text=error.message)) from error
        except InputError as error:
            self._drop()
            raise InputError(msg("{name}: {text}", name=self.name, text=error.message)) from error
        height, width = image.shape[:2]
        if self._setup is not None and (wrong := other_size(width, height, self._setup)):
            self._drop()
            raise InputError(
                msg("{name}: {text}; calibrate the lens at that size", name=self.name, text=wrong)
            )
        frame = Frame(self._seq, at_ms, image, focus_dpt, utc_ms)
        self._seq += 1
        return frame

    def close(self) -> None:
        """Release the device."""
        self._closed = True
        self._drop()

    def _connected(self) -> Feed:
        """Open a feed; a driver's other errors become CameraLost."""
        logger.info("%s: connecting", self.name)
        try:
            return self._connect()
        except (CameraLost, InputError):
            raise
        except Exception as error:
            logger.info("%s: its driver failed", self.name, exc_info=True)
            raise CameraLost(
                msg("{name}: {raw}", name=self.name, raw=error_summary(error))
            ) from error

    def _drop(self) -> None:
        if self._pump is not None:
            self._pump.stop()
            self._pump = None


class _Pump:
    """Reads every image of a feed in its own thread and keeps the newest."""

    def __init__(self, feed: Feed, stamp: Callable[[Picture], TimestampedPicture]) -> None:
        self._feed, self._stamp = feed, stamp
        self._changed = threading.Condition()
        self._newest: TimestampedPicture | None = None
        self._error: CameraLost | InputError | None = None
        self._stopping = False
        self._thread = threading.Thread(target=self._run, name="camera", daemon=True)
        self._thread.start()

    def newest(self, patience_s: float) -> TimestampedPicture:
        """Wait for an image that was not returned before; raises CameraLost."""
        with self._changed:
            self._changed.wait_for(lambda: self._newest or self._error, patience_s)
            if self._newest is not None:
                taken, self._newest = self._newest, None
                return taken
            raise self._error or CameraLost(
                msg("no picture arrived for {mm} s", mm=f"{patience_s:g}")
            )

    def stop(self) -> None:
        with self._changed:
            self._stopping = True
        self._thread.join(CLOSING_S)

    def _run(self) -> None:
        error: CameraLost | InputError = CameraLost(msg("it was closed"))
        try:
            while not self._stopping:
                newest = self._stamp(self._feed.picture())
                with self._changed:
                    self._newest = newest
                    self._changed.notify_all()
        except (CameraLost, InputError) as lost:
            error = lost
        except Exception as failed:  # a driver's error must not end this thread silently
            logger.info("a camera's driver failed", exc_info=True)
            error = CameraLost(error_summary(failed))
        finally:
            # The thread that uses the device also closes it: some drivers crash when another thread
            # does.
            try:
                self._feed.close()
            except Exception as failed:
                error = CameraLost(
                    msg(
                        "{text}; it could not be closed ({raw})",
                        text=error.message,
                        raw=error_summary(failed),
                    )
                )
            with self._changed:
                self._error = error
                self._changed.notify_all()
