"""The Raspberry Pi's camera through picamera2, a package of Raspberry Pi OS.

No other module imports it. A virtual environment contains it only if `make PI=1` made it; `rpicam:`
works in any.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from contextlib import redirect_stderr
from io import StringIO
from typing import Any

import numpy as np

from table.errors import InputError, error_summary
from table.messages import msg, phrase
from table.table_config import Setup
from vision.cameras.base import CameraLost
from vision.cameras.live import Feed, LiveCamera, Picture, wanted_size

logger = logging.getLogger(__name__)

LOCKED_AFTER = 30
"""Number of frames for which the camera may adjust focus and exposure; then both are locked."""
USUAL_PX = (2304, 1296)
"""Size requested before a table is known: the whole sensor of Camera Module 3, binned 2 x 2."""
FORMAT = "BGR888"
"""picamera2's name refers to the order in a 32 bit word: the bytes, and so the array, are
R, G, B.
"""
LOCKED_CONTROLS = ("ExposureTime", "AnalogueGain", "ColourGains")
"""Values that the camera reports with each frame and accepts as settings."""
MANUAL_FOCUS = 0
"""libcamera's AfModeManual."""


class PiFeed:
    """Images of a started Picamera2."""

    def __init__(self, camera: Any) -> None:
        self._camera = camera
        self._taken = 0

    def picture(self) -> Picture:
        """The next image; raises CameraLost."""
        try:
            request = self._camera.capture_request()
            try:
                image, metadata = request.make_array("main"), request.get_metadata()
            finally:
                request.release()
        except (RuntimeError, OSError) as error:
            raise CameraLost(msg("it sends no more pictures ({raw})", raw=error)) from error
        self._taken += 1
        if self._taken == LOCKED_AFTER:
            self._camera.set_controls(_locked(metadata))
        return Picture(np.ascontiguousarray(image, np.uint8), metadata.get("LensPosition"))

    def close(self) -> None:
        """Release the device."""
        self._camera.close()


def _locked(metadata: Mapping[str, object]) -> dict[str, object]:
    """Settings that lock exposure, white balance and focus at the camera's present values."""
    controls: dict[str, object] = {"AeEnable": False, "AwbEnable": False} | {
        name: metadata[name] for name in LOCKED_CONTROLS if name in metadata
    }
    if "LensPosition" in metadata:
        controls |= {"AfMode": MANUAL_FOCUS, "LensPosition": metadata["LensPosition"]}
    return controls


def open_camera(argument: str, setup: Setup | None) -> LiveCamera:
    """`picamera:0` or `picamera:0@2304x1296`: the camera of that number.

    Focus, exposure and white balance are locked after some seconds.
    """
    argument, size = wanted_size(argument, setup, USUAL_PX)
    if not argument.isdecimal():
        raise InputError(
            msg(
                "camera: picamera: expected the number of a camera, such as picamera:0, got {raw}",
                raw=repr(argument),
            )
        )
    driver = _driver()

    def connect() -> Feed:
        try:
            camera = driver(int(argument))
        except (RuntimeError, IndexError, OSError) as error:
            raise CameraLost(
                msg(
                    "Raspberry Pi camera {n} cannot be opened ({raw}); check its cable and"
                    " that no other program uses it",
                    n=argument,
                    raw=error,
                )
            ) from error
        try:
            camera.configure(
                camera.create_video_configuration(main={"size": size, "format": FORMAT})
            )
            camera.start()
        except (RuntimeError, OSError) as error:
            camera.close()
            raise CameraLost(
                msg("Raspberry Pi camera {n} does not start ({raw})", n=argument, raw=error)
            ) from error
        return PiFeed(camera)

    return LiveCamera(phrase("Raspberry Pi camera {n}", n=argument), connect, setup)


def _driver() -> Any:
    """The class Picamera2; raises InputError with one line for any error of its import.

    A package that was built for another NumPy fails with ValueError or AttributeError, and NumPy
    then writes a page to stderr.
    """
    noise = StringIO()
    try:
        with redirect_stderr(noise):
            from picamera2 import Picamera2  # type: ignore[import-not-found,unused-ignore]
    except ModuleNotFoundError as error:
        if error.name != "picamera2":
            raise _broken(error, noise) from error
        raise InputError(
            msg(
                "camera: picamera: picamera2 is not installed; use rpicam:0, or run:"
                " sudo apt install python3-picamera2 && make PI=1"
            )
        ) from error
    except Exception as error:
        raise _broken(error, noise) from error
    return Picamera2


def _broken(error: Exception, noise: StringIO) -> InputError:
    logger.info("picamera2 cannot be imported: %s", noise.getvalue(), exc_info=error)
    return InputError(
        msg(
            "camera: picamera: picamera2 cannot be used here ({raw}); use rpicam:0, or run:"
            " make PI=1",
            raw=error_summary(error),
        )
    )
