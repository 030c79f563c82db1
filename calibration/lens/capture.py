"""Capture views of the calibration target from a live camera.

A view is taken whenever the target is held still; a screen shows where to hold it next.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Protocol

import cv2
import numpy as np
from rich.console import Console
from rich.markup import escape

from calibration.lens.guidance import Guidance, begin
from calibration.lens.target import DetectedCorners, NotFound, Target
from calibration.lens.views import Views, check_views
from table.errors import InputError
from table.messages import Message, msg, phrase, phrases
from table.table_config import Lens
from table.text import printable
from vision.annotate.photo import write_picture
from vision.cameras.base import CameraLost, CameraPort
from vision.cameras.frame import Frame, Image
from vision.geometry.camera_model import FOCUS_STEP_DPT

TRIES, RETRY_S = 10, 1.0
"""Number of attempts to reach a camera without frames, and pause between them in seconds."""


class Screen(Protocol):
    """Interface of a display for the guidance."""

    @property
    def ended(self) -> bool:
        """True if the user wants no more views."""

    def show(self, frame: Frame, seen: DetectedCorners | NotFound, guidance: Guidance) -> None:
        """Show a frame, what was detected in it, and the guidance after it."""


class Terminal:
    """Guidance in a terminal: a line that changes with every frame, and messages that stay.

    A context manager, to be entered before anything is shown.
    """

    ended = False

    def __init__(
        self, console: Console, in_language: Callable[[str], str] = lambda text: text
    ) -> None:
        """`in_language` writes a message in the language of the terminal."""
        self._console, self._in_language = console, in_language
        self._status = console.status(in_language(phrase("waiting for the first picture")))
        self._begun = False
        self._last_refusal = ""

    def __enter__(self) -> Terminal:
        self._status.start()
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        self._status.stop()

    def show(self, frame: Frame, seen: DetectedCorners | NotFound, guidance: Guidance) -> None:  # noqa: ARG002 - a terminal has no pictures
        """Show this frame's sentence; views taken and refusals stay."""
        if not self._begun:
            self._begun = True
            self._print(request_message(guidance))
        self._status.update(escape(printable(self._in_language(guidance.message))))
        if guidance.doing == "taken":
            self._last_refusal = ""
            self._print(
                phrase("{text}. {text2}", text=guidance.message, text2=request_message(guidance))
            )
        elif guidance.doing == "refused" and guidance.message != self._last_refusal:
            self._last_refusal = guidance.message
            self._print(phrase("view not taken: {text}", text=guidance.message))

    def _print(self, message: str) -> None:
        self._console.print(escape(self._in_language(message)), highlight=False)


def take_views(
    camera: CameraPort,
    target: Target,
    screen: Screen,
    first_lens: Callable[[tuple[int, int]], Lens] | None = None,
    keep: Path | None = None,
    pause: Callable[[float], object] = time.sleep,
) -> Views:
    """Take views until there are enough, the camera ends, or the user stops.

    `first_lens` gives an estimate for a size of frames, `keep` is a folder for the images taken.
    Raises InputError if the views are too few for a lens, the camera does not come back, or its
    focus or frame size changes.
    """
    guidance: Guidance | None = None
    focus_dpt = None
    while not screen.ended and (frame := _next_frame(camera, pause)):
        height, width = frame.image.shape[:2]
        if guidance is None:
            guidance = begin(
                target, (width, height), first_lens((width, height)) if first_lens else None
            )
        _check_size(camera.name, frame.image, guidance.lens)
        seen = target.find(np.asarray(cv2.cvtColor(frame.image, cv2.COLOR_RGB2GRAY), np.uint8))
        guidance = guidance.after(seen, frame.at_ms)
        if guidance.doing == "taken":
            focus_dpt = _same_focus(camera.name, focus_dpt, frame.focus_dpt)
            if keep is not None:
                write_picture(keep / f"{guidance.taken[-1].name}.png", frame.image)
        screen.show(frame, seen, guidance)
        if guidance.enough:
            break
    if guidance is None:
        raise InputError(msg("{name}: expected pictures of the target, got none", name=camera.name))
    check_views(guidance.taken, (), camera.name)
    return Views((guidance.lens.width, guidance.lens.height), guidance.taken, (), focus_dpt)


def next_place_message(guidance: Guidance) -> Message:
    """Next place for the target, or a message that there are enough views."""
    if guidance.enough:
        return msg("That is enough.")
    return msg(
        "Hold the target {text}.",
        text=guidance.next_place.description if guidance.next_place else phrase("somewhere new"),
    )


def request_message(guidance: Guidance) -> Message:
    """The target that is wanted, and its next place; or a message that there are enough views."""
    if guidance.enough:
        return next_place_message(guidance)
    return msg(
        "Still needed: {text}.\n{text2}",
        text=phrases(*guidance.lacking),
        text2=next_place_message(guidance),
    )


def _next_frame(camera: CameraPort, pause: Callable[[float], object]) -> Frame | None:
    """The next frame; a lost camera is retried for a while."""
    for _ in range(TRIES - 1):
        try:
            return camera.read()
        except CameraLost:
            pause(RETRY_S)
    try:
        return camera.read()
    except CameraLost as error:
        raise InputError(
            msg(
                "{name}: expected a picture, but the camera does not come back: {text}",
                name=camera.name,
                text=error.message,
            )
        ) from error


def _same_focus(name: str, before_dpt: float | None, now_dpt: float | None) -> float | None:
    """The focus of the first view; raises InputError if it has changed."""
    if before_dpt is None or now_dpt is None:
        return now_dpt if before_dpt is None else before_dpt
    if abs(now_dpt - before_dpt) > FOCUS_STEP_DPT:
        raise InputError(
            msg(
                "{name}: expected the focus to stay at {mm} dioptres, got {mm2}; lock the"
                " camera's focus",
                name=name,
                mm=f"{before_dpt:.2f}",
                mm2=f"{now_dpt:.2f}",
            )
        )
    return before_dpt


def _check_size(name: str, image: Image, lens: Lens) -> None:
    height, width = image.shape[:2]
    if (width, height) != (lens.width, lens.height):
        raise InputError(
            msg(
                "{name}: expected pictures of {width} x {height} px like the first one, got"
                " {width2} x {height2} px; a lens is calibrated for one size",
                name=name,
                width=lens.width,
                height=lens.height,
                width2=width,
                height2=height,
            )
        )
