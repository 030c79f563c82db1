"""Where frames come from: one file a source, each behind `CameraPort`, chosen by name and imported when chosen."""

from __future__ import annotations

from importlib import import_module
from typing import Protocol

from table.errors import InputError
from table.setup import Setup
from vision.frame import Frame

SOURCES = {"folder": "vision.cameras.files", "simulated": "vision.cameras.simulated"}
"""Name before the colon, and the module whose `open_camera(argument, setup)` makes that camera."""


class CameraLost(Exception):  # noqa: N818 - a fact about the world, not a mistake of the program
    """The camera gives no pictures for now; the text says why in one line.  A later `read` tries to reach it again."""


class CameraPort(Protocol):
    """A source of frames.

    `name` is what people are shown; `simulated` is true where no real table is looked at.
    """

    name: str
    simulated: bool

    def read(self) -> Frame | None:
        """The next frame, or None when there will be no more (the end of a folder).

        `Frame.seq` counts from 0; `Frame.at_ms` is the camera's clock: live cameras count from the epoch (UTC).
        Raises CameraLost, after which reading again tries to reach the camera again; the caller does the waiting.
        """

    def close(self) -> None:
        """Let go of the device; closing twice is allowed, reading afterwards is a mistake (ValueError)."""


def open_camera(spec: str, setup: Setup | None) -> CameraPort:
    """The camera called `folder:PATH`, `simulated:...`; raises InputError for a name that is not known.

    What stands after the first colon goes to the source's own module as it is.  Without a `setup`, before anything is known of the table, pictures
    may have any size.
    """
    name, colon, argument = spec.partition(":")
    if name not in SOURCES or not colon:
        known = ", ".join(f"{source}:..." for source in SOURCES)
        raise InputError(f"camera: expected one of {known}, got {spec!r}")
    camera: CameraPort = import_module(SOURCES[name]).open_camera(argument, setup)
    return camera
