"""Sources of frames behind `CameraPort`, one module each, imported when chosen by name."""

from __future__ import annotations

from functools import partial
from importlib import import_module
from typing import Protocol, runtime_checkable

from table.errors import InputError, MessageError
from table.messages import Message, msg, phrase
from table.table_config import Setup
from vision.cameras.frame import Frame

SOURCES = {
    "rpicam": "vision.cameras.rpicam:open_camera",
    "picamera": "vision.cameras.picamera:open_camera",
    "v4l2": "vision.cameras.opencv:open_v4l2",
    "stream": "vision.cameras.stream:open_camera",
    "video": "vision.cameras.video:open_camera",
    "folder": "vision.cameras.image_files:open_camera",
    "simulated": "simulation.camera:open_camera",
}
"""Module and function (argument, setup) that open a camera, by the name before the colon."""

RECORDINGS = ("video", "folder")
"""Sources that give the same frames on every run."""


def other_size(width: int, height: int, setup: Setup) -> Message | None:
    """Message about an image whose size is not the table's; None if the size is right."""
    expected = setup.camera.width, setup.camera.height
    if (width, height) == expected:
        return None
    return phrase(
        "expected {width} x {height} px as in table.json, got {width2} x {height2} px",
        width=expected[0],
        height=expected[1],
        width2=width,
        height2=height,
    )


def is_unicode(text: str) -> bool:
    """True if a text can be passed to OpenCV.

    OpenCV ends the process on bytes that Python could not decode.
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


class CameraLost(MessageError):  # noqa: N818 - a fact about the world, not a mistake of the program
    """The camera gives no frames for now; the text is the reason in one line.

    A later `read` tries to reach it again.
    """


class CameraPort(Protocol):
    """A source of frames.

    `name` is for messages; `simulated` is true if there is no real table.
    """

    name: str
    simulated: bool

    def read(self) -> Frame | None:
        """The next frame, or None at the end of a folder or film.

        `Frame.seq` counts from 0; `Frame.at_ms` never goes back. Live cameras stamp frames with the
        monotonic clock, and with the wall clock (`Frame.utc_ms`) for display. Raises CameraLost. A
        later call tries to reach the camera again; the caller does the waiting.
        """

    def close(self) -> None:
        """Release the device; may be called twice, but reading afterwards raises ValueError."""


@runtime_checkable
class Recording(Protocol):
    """A camera that plays files, and knows its expected number of frames."""

    @property
    def missing(self) -> str:
        """One line on what could not be read; empty if all was read.

        Known after the last frame.
        """


def unread_part(camera: CameraPort) -> str:
    """One line on the part of a recording that could not be read.

    Empty if all was read, and for live cameras.
    """
    return camera.missing if isinstance(camera, Recording) else ""


def open_camera(spec: str, setup: Setup | None) -> CameraPort:
    """The camera called `v4l2:0`, `folder:PATH`, ...; raises InputError for an unknown name.

    The part after the first colon is passed to the source's own module.  Without a `setup`, before
    the table is known, frames may have any size.
    """
    name, colon, argument = spec.partition(":")
    if name in SOURCES and colon:
        module, function = SOURCES[name].split(":")
        camera: CameraPort = getattr(import_module(module), function)(argument, setup)
        return camera
    from vision.cameras import plugins  # loads other packages: only if no camera here is meant

    if colon and name in plugins.camera_plugins().parts:
        opened, plugin = plugins.open_plugin(name, argument, setup)
        return plugins.GuardedCamera(opened, plugin, CameraLost, partial(_other_size, setup))
    if wrong := plugins.plugin_refusal(name):
        raise InputError(msg("camera: {text}", text=wrong))
    known = ", ".join(f"{source}:..." for source in (*SOURCES, *plugins.camera_plugins().parts))
    raise InputError(msg("camera: expected one of {raw}, got {raw2}", raw=known, raw2=repr(spec)))


def _other_size(setup: Setup | None, width: int, height: int) -> Message | None:
    return None if setup is None else other_size(width, height, setup)
