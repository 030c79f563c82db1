"""Read a real die in its corner of the table, once per roll, while the game waits for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import cv2
import numpy as np

from referee.sessions.state import SessionState
from table.messages import Message, msg, sentences
from table.observation import Camera
from table.table_config import DiceCorner, Setup
from vision.cameras.frame import Frame, Image
from vision.dice.reader import Die, NoDie, read_dice
from vision.geometry.change_mask import changed_pixels
from vision.geometry.rectified_view import Photo

ROLLED_MM, ROLLED_DEG = 8.0, 20.0
"""A die with the same number was not rolled if it moved and turned by less than this, unless it was
picked up.
"""
STILL_MM, STILL_DEG = 1.5, 5.0
"""A die that moved and turned by less than this was not touched: only the light changed."""
CHANGED_SIGMAS, CHANGED_PX = 6.0, 6
"""The corner is read again if this many pixels changed by this many standard deviations of
noise.
"""
MARGIN_PX = 8
"""Width of the compared margin around the corner."""


class DiceMonitor:
    """Detects new rolls of a real die; needs every frame.

    At rest it reads the die (`look`); in other frames it checks whether the die was picked up
    (`glance`). A die that is there at first, or is moved while no roll is due, is not reported.
    """

    def __init__(self, setup: Setup, corner: DiceCorner) -> None:
        self._setup, self._corner = setup, corner
        self.unread = ""
        """Reason why the die could not be read at the last rest, in a sentence; or empty."""
        self._picture: Image | None = None
        """Picture of the corner at the last reading."""
        self._read: Die | NoDie = NoDie()
        self._known: Die | NoDie | None = None
        """Die at the last reported roll, or while no roll was due."""
        self._idle: Image | None = None
        """Picture of the corner at that time."""
        self._passing: Image | None = None
        """Picture of the corner in the previous frame, with the table not at rest."""
        self._picked_up = False
        """True if the corner has been empty since the known die lay there."""

    def glance(self, frame: Frame, camera: Camera, ledger: SessionState) -> None:
        """Check whether the die was picked up, in a frame in which the table is not at rest.

        It was if the corner is at rest and empty while a roll is due. The next die there is a new
        roll.
        """
        if self._picked_up or not isinstance(self._known, Die) or not _awaited(ledger):
            self._passing = None
            return
        photo = Photo(frame.image, camera, self._setup)
        picture, before = self._corner_picture(photo), self._passing
        self._passing = picture.copy()
        if before is not None and not _differ(picture, before):
            self._look_again(photo)
            self._picked_up = self._read == NoDie()

    def look(self, frame: Frame, camera: Camera, ledger: SessionState) -> Mapping[str, Any] | str:
        """Return the input of a new roll, as `Session.hear` takes it; else the text of `unread`."""
        self._look_again(Photo(frame.image, camera, self._setup))
        self._passing = None
        heard = self._new_roll(_awaited(ledger))
        self.unread = heard if isinstance(heard, str) else ""
        return heard

    def _new_roll(self, awaited: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | str:
        if self._known is None or not awaited:
            self._remember()
            return ""
        if isinstance(self._read, NoDie):
            reason = self._read.reason if _differ(self._picture, self._idle) else ""
            self._known = self._known if reason else self._read
            return _unread(reason) if reason else ""
        least = (STILL_MM, STILL_DEG) if self._picked_up else (ROLLED_MM, ROLLED_DEG)
        if not _is_new(self._read, self._known, *least):
            touched = _is_new(self._read, self._known, STILL_MM, STILL_DEG)
            return (
                _unread("it lies much as it did before")
                if touched and _differ(self._picture, self._idle)
                else ""
            )
        self._remember()
        return next(message for message in awaited if message["die"] == self._read.pips)

    def _remember(self) -> None:
        self._known, self._idle, self._picked_up = self._read, self._picture, False

    def _look_again(self, photo: Photo) -> None:
        """Read the corner again if its picture has changed since the last reading."""
        picture = self._corner_picture(photo)
        if _differ(picture, self._picture):
            self._picture, self._read = picture.copy(), read_dice(photo)

    def _corner_picture(self, photo: Photo) -> Image:
        """Crop of a picture that shows the corner and its margin."""
        outline, height = np.array(self._corner.outline_mm), self._setup.fiducials.z_mm
        at = photo.pixels(np.column_stack([outline, np.full(len(outline), height)]))
        (u0, v0), (u1, v1) = (
            np.floor(at.min(axis=0)).astype(int) - MARGIN_PX,
            np.ceil(at.max(axis=0)).astype(int) + MARGIN_PX,
        )
        return photo.image[max(0, v0) : max(1, v1), max(0, u0) : max(1, u1)]


def monitor_dice(setup: Setup) -> DiceMonitor | None:
    """Return a monitor for a table with a dice corner, else None."""
    return DiceMonitor(setup, setup.dice_corner) if setup.dice_corner is not None else None


def _awaited(ledger: SessionState) -> list[Mapping[str, Any]]:
    """Inputs that a die may give now, as `Session.hear` takes them.

    Empty if no roll is due.
    """
    sayings = ledger.engine.state_document(ledger.state).get("may_say", ())
    return [one["said"] for one in sayings if "die" in one["said"] and not one.get("aside")]


def _unread(reason: str) -> Message:
    return sentences(
        msg("The die cannot be read: {text}.", text=reason),
        msg("Roll again, or type in the number."),
    )


def _differ(picture: Image | None, before: Image | None) -> bool:
    """True if the pictures differ by more than noise, or one is missing."""
    if picture is None or before is None or before.shape != picture.shape:
        return True
    apart = cv2.erode(
        changed_pixels(picture, before, CHANGED_SIGMAS).astype(np.uint8), np.ones((2, 2))
    )
    return bool(np.count_nonzero(apart) >= CHANGED_PX)


def _is_new(now: Die, before: Die | NoDie, moved_mm: float, turned_by_deg: float) -> bool:
    """True if a die was moved or turned by more than this, or shows another number."""
    if isinstance(before, NoDie) or now.pips != before.pips:
        return True
    turned_deg = abs((now.turn_deg - before.turn_deg + 45) % 90 - 45)
    return bool(
        np.hypot(*(now.middle_mm - before.middle_mm)) > moved_mm or turned_deg > turned_by_deg
    )
