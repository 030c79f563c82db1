"""A simulated camera: pictures of a simulated table, behind the same interface as a real one.

`simulation.render.scene` describes the tables.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Protocol, runtime_checkable

import numpy as np

from referee.sessions.events import SessionStarted
from simulation.generate.cases import random_view
from simulation.render.renderer import PicturesOf, Renderer
from simulation.render.scene import Scene
from table.errors import InputError
from table.messages import msg, phrase
from table.observation import Camera
from table.table_config import Setup
from vision.cameras.frame import Frame

PERIOD_MS = 250

Pace = Callable[[int], int]
"""Waits until the given time, on the camera's clock in ms, and returns the actual time."""


def no_wait(due_ms: int) -> int:
    """A clock without waiting: it always shows the due time of the next frame."""
    return due_ms


def real_time(start_ms: int = 0) -> Pace:
    """A clock that shows `start_ms` now and runs in real time.

    A late frame gets the later time, so that the frames in between are skipped.
    """
    began = time.monotonic() - start_ms / 1000

    def pace(due_ms: int) -> int:
        time.sleep(max(0.0, due_ms / 1000 + began - time.monotonic()))
        return max(due_ms, round(1000 * (time.monotonic() - began)))

    return pace


@runtime_checkable
class SeatsPlayers(Protocol):
    """A camera over a table for simulated players."""

    def seat(self, session: Any, started: SessionStarted) -> None:
        """Seat simulated players for this session, in its game and its colours."""


class SimulatedCamera:
    """A camera whose pictures show the scene `scene_at(at_ms)`.

    The noise is determined by `seed`.
    """

    simulated = True

    def __init__(
        self,
        setup: Setup,
        place: Camera,
        scene_at: Callable[[int], Scene],
        seed: int = 0,
        period_ms: int = PERIOD_MS,
        start_ms: int = 0,
        pace: Pace = no_wait,
        before: PicturesOf = Renderer,
    ) -> None:
        """Set the times of the frames and the source of the pictures.

        The first frame is taken at `start_ms`, the others `period_ms` apart. `before` makes the
        renderer. Raises InputError for a period below 1 ms.
        """
        if period_ms < 1:
            raise InputError(
                msg(
                    "camera: simulated: expected a period of at least 1 ms, got {n} ms", n=period_ms
                )
            )
        self.name: str = phrase("simulated camera")
        self._pictures = before(setup, place)
        self._scene_at, self._pace = scene_at, pace
        self._rng = np.random.default_rng(seed)
        self._period_ms, self._due_ms = period_ms, start_ms
        self._seq = 0
        self._closed = False

    def read(self) -> Frame:
        """The next frame; the table never ends."""
        if self._closed:
            raise ValueError("the camera was closed")
        at_ms = self._pace(self._due_ms)
        self._due_ms = at_ms + self._period_ms
        frame = Frame(self._seq, at_ms, self._pictures.picture(self._scene_at(at_ms), self._rng))
        self._seq += 1
        return frame

    def close(self) -> None:
        """End reading."""
        self._closed = True


def open_camera(argument: str, setup: Setup | None) -> SimulatedCamera:
    """Open `simulated:SEED` or `simulated:SHEET:SEED`; frames come in real time.

    A number is a random, fixed position of the game of `setup`. A sheet, as `rinkside print` names
    it, is a table with that board, empty until players are seated; it needs no setup. Raises
    InputError for other words, and for a number without a table.
    """
    sheet, _, number = argument.partition(":")
    if sheet and not sheet.isdigit() and (not number or _is_number(number)):
        from simulation.printed import PrintedTable, PrintedTableCamera  # needs this module

        seed = int(number or 0)
        return PrintedTableCamera(PrintedTable(sheet, setup, seed), seed)
    if not _is_number(argument):
        raise InputError(
            msg(
                "camera: simulated: expected a number to generate the table from, such as"
                " simulated:7, got {raw}",
                raw=repr(argument),
            )
        )
    if setup is None:
        raise InputError(
            msg(
                "camera: expected a camera that can look at a target, got simulated, which"
                " only shows tables"
            )
        )
    seed = int(argument)
    place, scene = random_view(setup, seed)
    start_ms = round(1000 * time.time())
    return SimulatedCamera(
        setup, place, lambda _: scene, seed, start_ms=start_ms, pace=real_time(start_ms)
    )


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 10
