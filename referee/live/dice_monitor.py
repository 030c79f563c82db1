"""Read a real die in its corner of the table: once a roll, and only while the game waits for it."""

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
"""A die that lies nearer than this to where it lay, is turned by less, and shows the same, was not
rolled, unless it was picked up.
"""
STILL_MM, STILL_DEG = 1.5, 5.0
"""A die within this of where it lay was not touched: a shadow came, or went."""
CHANGED_SIGMAS, CHANGED_PX = 6.0, 6
"""The corner is read again where this many pixels have changed by this many times their noise."""
MARGIN_PX = 8
"""Width of the margin around the corner that is compared too."""


class DiceMonitor:
    """Finds new rolls of a real die; give it every frame.

    At a table at rest it reads the die (`look`); in all other frames it looks whether the die was
    picked up (`glance`). A die that lies in the corner at first was rolled before anybody looked,
    and one that is moved while nobody is to roll was tidied away: neither is reported.
    """

    def __init__(self, setup: Setup, corner: DiceCorner) -> None:
        self._setup, self._corner = setup, corner
        self.unread = ""
        """Why the die could not be read when the table was last at rest, in a sentence; or empty.
        """
        self._picture: Image | None = None
        """The corner as it looked when it was read last."""
        self._read: Die | NoDie = NoDie()
        self._known: Die | NoDie | None = None
        """What lay there at the last roll that was heard, or while nobody was to roll."""
        self._idle: Image | None = None
        """The corner as it looked at that time."""
        self._passing: Image | None = None
        """The corner in the frame before, where the table was not at rest."""
        self._picked_up = False
        """True if the corner was empty since the known die lay there."""

    def glance(self, frame: Frame, camera: Camera, ledger: SessionState) -> None:
        """Look whether the die was picked up, in a frame in which the table is not at rest.

        It was if the corner itself is at rest and empty while the game waits for a roll; the die
        that lies there next was rolled.
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
        """The input of a new roll at a table at rest, as `Session.hear` takes it; else `unread`."""
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
        """Read the corner if it looks different from when it was read last."""
        picture = self._corner_picture(photo)
        if _differ(picture, self._picture):
            self._picture, self._read = picture.copy(), read_dice(photo)

    def _corner_picture(self, photo: Photo) -> Image:
        """The part of a picture that shows the corner."""
        outline, height = np.array(self._corner.outline_mm), self._setup.fiducials.z_mm
        at = photo.pixels(np.column_stack([outline, np.full(len(outline), height)]))
        (u0, v0), (u1, v1) = (
            np.floor(at.min(axis=0)).astype(int) - MARGIN_PX,
            np.ceil(at.max(axis=0)).astype(int) + MARGIN_PX,
        )
        return photo.image[max(0, v0) : max(1, v1), max(0, u0) : max(1, u1)]


def monitor_dice(setup: Setup) -> DiceMonitor | None:
    """A monitor for a table with a dice corner; None for one without."""
    return DiceMonitor(setup, setup.dice_corner) if setup.dice_corner is not None else None


def _awaited(ledger: SessionState) -> list[Mapping[str, Any]]:
    """The inputs that a die may give now, as `Session.hear` takes them.

    Empty where the game does not wait for a roll.
    """
    sayings = ledger.engine.state_document(ledger.state).get("may_say", ())
    return [one["said"] for one in sayings if "die" in one["said"] and not one.get("aside")]


def _unread(reason: str) -> Message:
    return sentences(
        msg("The die cannot be read: {text}.", text=reason),
        msg("Roll again, or type in the number."),
    )


def _differ(picture: Image | None, before: Image | None) -> bool:
    """True if the corner looks different."""
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
