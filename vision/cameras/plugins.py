"""Cameras of other packages, found by entry points of the group `rinkside.cameras`.

An entry point is a `CameraPlugin` whose name stands before the colon of `--camera NAME:ARGUMENT`.
The camera that it opens is wrapped in a guard. Any exception or invalid frame counts as a lost
camera, which is named and retried.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from table.errors import InputError, MessageError
from table.messages import Message, msg, phrase
from table.plugins import MOST_NAME, Failed, Found, Guard, Plugin, find_versioned
from table.table_config import Setup
from vision.cameras.frame import Frame

GROUP = "rinkside.cameras"
BROKEN_NAME = "the camera"
"""Name of a broken camera in messages."""
INTERFACE = 1
"""Version of the camera interface; plugins for another version are not used."""
READ_S = 30.0
"""Longest time for a frame, or for the error that there is none."""
MOST_PX = 20_000
"""Greatest width and height of a picture."""


@dataclass(frozen=True, slots=True)
class CameraPlugin:
    """A camera of another package.

    `open(argument, setup)` returns a `vision.cameras.base.CameraPort`. `argument` is the text after
    the colon; an unusable one raises InputError. `interface` is the version of the interface that
    the plugin was written for.
    """

    open: Callable[[str, Setup | None], Any]
    interface: int


@cache
def camera_plugins() -> Found[CameraPlugin]:
    """The cameras of other packages, found once a process; broken ones are logged."""
    return find_versioned(GROUP, CameraPlugin, INTERFACE, "cameras").logged(BROKEN_NAME)


class GuardedCamera:
    """A camera of another package, as `vision.cameras.base.CameraPort`."""

    def __init__(
        self,
        camera: Any,
        plugin: Plugin,
        lost: Callable[[Message], MessageError],
        wrong_size: Callable[[int, int], Message | None],
    ) -> None:
        """`lost` makes the error for a camera that gives no frames now.

        `wrong_size(width, height)` is a message about a frame's size, None for a right one.
        """
        self._camera, self._lost, self._wrong_size = camera, lost, wrong_size
        self._guard = Guard(plugin, lambda: READ_S)
        self._seq, self._at_ms, self._closed = 0, 0, False
        self.name = str(getattr(camera, "name", plugin.name))[:MOST_NAME]
        self.simulated = bool(getattr(camera, "simulated", False))

    @property
    def missing(self) -> str:
        """As `Recording.missing`."""
        return str(getattr(self._camera, "missing", ""))

    def read(self) -> Frame | None:
        """As `CameraPort.read`; frames are counted here."""
        if self._closed:
            raise ValueError("the camera was closed")
        try:
            frame = self._guard.answer("read", self._frame, (MessageError,))
        except Failed as error:
            raise self._lost(error.message) from error
        if frame is not None:
            self._seq, self._at_ms = self._seq + 1, frame.at_ms
        return frame

    def _frame(self) -> Frame | None:
        frame = self._camera.read()
        if frame is None:
            return None
        if not isinstance(frame, Frame):
            raise ValueError(f"expected a Frame, got {type(frame).__name__}")
        image = frame.image
        if (
            not isinstance(image, np.ndarray)
            or image.dtype != np.uint8
            or image.ndim != 3
            or image.shape[2] != 3
            or not 0 < max(image.shape) <= MOST_PX
        ):
            got = getattr(image, "shape", type(image).__name__)
            raise ValueError(f"expected a picture (height, width, 3) of uint8, got {got}")
        if wrong := self._wrong_size(image.shape[1], image.shape[0]):
            raise ValueError(str(wrong))
        if not isinstance(frame.at_ms, int) or frame.at_ms < self._at_ms:
            raise ValueError(f"expected a time from {self._at_ms} ms on, got {frame.at_ms!r:.20}")
        return Frame(self._seq, frame.at_ms, image, frame.focus_dpt, frame.utc_ms)

    def close(self) -> None:
        """As `CameraPort.close`; exceptions of the camera are logged."""
        if self._closed:
            return
        self._closed = True
        try:
            self._guard.answer("close", self._camera.close)
        except Failed:
            return


def open_plugin(name: str, argument: str, setup: Setup | None) -> tuple[Any, Plugin]:
    """The camera that a plugin opens, and the plugin; raises InputError."""
    found = camera_plugins()
    try:
        camera = found.opened(
            name,
            lambda plugin: plugin.open(argument, setup),
            ("read", "close"),
            "expected a camera, it has no",
        )
    except InputError as error:
        raise InputError(msg("camera: {text}", text=error.message)) from error
    return camera, found.plugins[name]


def plugin_refusal(name: str) -> Message | None:
    """Why an installed camera of this name cannot be used; None where there is none."""
    broken = camera_plugins().unusable(name)
    return None if broken is None else phrase("{raw}", raw=broken.line(BROKEN_NAME))
