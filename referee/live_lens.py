"""The lens's target held before a live camera: guidance in the terminal, and a view taken whenever it is held still."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import cv2
import numpy as np
from rich.console import Console
from rich.markup import escape

from calibration.lens_guide import Guidance, begin
from calibration.lens_target import Target
from calibration.lens_views import Views, check_views
from table.errors import InputError
from table.setup import Lens
from vision.camera import FOCUS_STEP_DPT
from vision.cameras import CameraLost, CameraPort
from vision.frame import Frame, Image
from vision.pictures import write_picture

TRIES, RETRY_S = 10, 1.0
"""A camera that gives no pictures is asked again so many times, so far apart."""


def take_views(
    camera: CameraPort,
    target: Target,
    console: Console,
    first_lens: Callable[[tuple[int, int]], Lens] | None = None,
    keep: Path | None = None,
    pause: Callable[[float], object] = time.sleep,
) -> Views:
    """Views until there is enough, or the camera ends; `first_lens` gives an estimate for their size, `keep` is a folder for what is taken.

    Raises InputError where the camera ends before there is enough for a lens, does not come back, or changes its focus or the size of its pictures.
    """
    guidance: Guidance | None = None
    told, focus_dpt = "", None
    with console.status("waiting for the first picture") as status:
        while frame := _next_frame(camera, pause):
            height, width = frame.image.shape[:2]
            if guidance is None:
                guidance = begin(target, (width, height), first_lens((width, height)) if first_lens else None)
                console.print(_asks(guidance), highlight=False)
            _check_size(camera.name, frame.image, guidance.lens)
            grey = np.asarray(cv2.cvtColor(frame.image, cv2.COLOR_RGB2GRAY), np.uint8)
            guidance = guidance.after(target.find(grey), frame.at_ms)
            status.update(escape(guidance.said))
            if guidance.doing == "taken":
                told = ""
                focus_dpt = _same_focus(camera.name, focus_dpt, frame.focus_dpt)
                if keep is not None:
                    write_picture(keep / f"{guidance.taken[-1].name}.png", frame.image)
                console.print(f"{guidance.said}. {_asks(guidance)}", highlight=False)
                if guidance.enough:
                    break
            elif guidance.doing == "refused" and guidance.said != told:
                told = guidance.said
                console.print(f"not taken: {escape(told)}", highlight=False)
    if guidance is None:
        raise InputError(f"{camera.name}: expected pictures of the target, got none")
    check_views(guidance.taken, (), camera.name)
    return Views((guidance.lens.width, guidance.lens.height), guidance.taken, (), focus_dpt)


def _next_frame(camera: CameraPort, pause: Callable[[float], object]) -> Frame | None:
    """The next frame, a camera that is lost being asked again for a while."""
    for _ in range(TRIES - 1):
        try:
            return camera.read()
        except CameraLost:
            pause(RETRY_S)
    try:
        return camera.read()
    except CameraLost as error:
        raise InputError(f"{camera.name}: expected a picture, but the camera does not come back: {error}") from error


def _same_focus(name: str, before_dpt: float | None, now_dpt: float | None) -> float | None:
    """The focus of the first view; raises InputError if it is another now."""
    if before_dpt is None or now_dpt is None:
        return now_dpt if before_dpt is None else before_dpt
    if abs(now_dpt - before_dpt) > FOCUS_STEP_DPT:
        raise InputError(f"{name}: expected a focus that stays at {before_dpt:.2f} dioptres, got {now_dpt:.2f}; lock the camera's focus")
    return before_dpt


def _asks(guidance: Guidance) -> str:
    """Where to hold the target next and what is wanted, or that there is enough."""
    if guidance.enough:
        return "That is enough."
    where = guidance.next_place.said if guidance.next_place else "wherever it has not been yet"
    return f"Still wanted: {'; '.join(guidance.lacking)}.\nHold the target {where}."


def _check_size(name: str, image: Image, lens: Lens) -> None:
    height, width = image.shape[:2]
    if (width, height) != (lens.width, lens.height):
        expected = f"{lens.width} x {lens.height} px"
        raise InputError(f"{name}: expected pictures of {expected} as the first one, got {width} x {height} px; a lens is calibrated for one size")
