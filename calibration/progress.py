"""State of a running calibration for web pages, and the user's input to it.

The calibration itself waits in another thread.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import cv2
import numpy as np

from calibration.lens.capture import next_place_message
from calibration.lens.guidance import Guidance
from calibration.lens.overlay import draw_guidance
from calibration.lens.target import DetectedCorners, NotFound
from calibration.lens.views import LEAST_VIEWS
from table.solids import Array
from vision.cameras.frame import Frame, Image
from vision.cameras.image_files import encode_jpeg

PICTURE_QUALITY = 80
MOST_WIDE_PX = 1280
"""Width to which larger live images are scaled down."""
REFUSALS_SHOWN = 5

Stage = Literal["waiting", "at work", "calculating", "done", "failed"]


class Guide:
    """Progress of a calibration, for web pages, and its outcome."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._stage: Stage = "waiting"
        self._outcome: tuple[str, ...] = ()
        self._polled = self._seen = False

    def finish(self, message: Sequence[str]) -> None:
        """Mark it as done, with the outcome."""
        self._close("done", message)

    def fail(self, message: str) -> None:
        """Mark it as failed, with the reason."""
        self._close("failed", (message,))

    def wait_until_seen(self, timeout_s: float) -> None:
        """Wait up to `timeout_s` until a page has shown the outcome; not if no page polls."""
        with self._changed:
            if self._polled:
                self._changed.wait_for(lambda: self._seen, timeout_s)

    def _close(self, stage: Stage, message: Sequence[str]) -> None:
        with self._changed:
            self._stage, self._outcome = stage, tuple(message)

    def _poll(self) -> tuple[Stage, tuple[str, ...]]:
        """Stage and outcome for a page that polls now."""
        self._polled = True
        if self._stage in ("done", "failed"):
            self._seen = True
            self._changed.notify_all()
        return self._stage, self._outcome


@dataclass(frozen=True, slots=True)
class LensNow:
    """State of a lens's calibration.

    `message` is about the last frame, `where` is the next place for the target, `lacking` are the
    remaining requirements. `refused` are the last refusals, newest first, each with its reason.
    `coverage` is the share of the image's cells that contain corners.
    """

    stage: Stage
    outcome: tuple[str, ...] = ()
    doing: str = "looking"
    message: str = ""
    where: str = ""
    lacking: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    taken: int = 0
    least: int = LEAST_VIEWS
    coverage: float = 0.0
    enough: bool = False
    frame_seq: int = -1
    width: int = 4
    height: int = 3


class LensGuide(Guide):
    """Screen of `calibration.lens.capture.take_views` for web pages; thread-safe."""

    def __init__(self) -> None:
        super().__init__()
        self._now = LensNow("waiting")
        self._shown: tuple[Frame, DetectedCorners | NotFound, Guidance] | None = None
        self._drawn: tuple[int, bytes] | None = None
        self._ended = False

    @property
    def ended(self) -> bool:
        """True if the user wants no more views."""
        return self._ended

    def end(self) -> None:
        """End the capture: the lens is calculated from the views taken."""
        with self._changed:
            self._ended = True
            self._stage = "calculating" if self._stage in ("waiting", "at work") else self._stage

    def show(self, frame: Frame, seen: DetectedCorners | NotFound, guidance: Guidance) -> None:
        """Keep a frame, its detection and the guidance for pages."""
        height, width = frame.image.shape[:2]
        with self._changed:
            self._shown = frame, seen, guidance
            refused = self._now.refused
            if guidance.doing == "refused" and guidance.message not in refused[:1]:
                refused = (guidance.message, *(one for one in refused if one != guidance.message))[
                    :REFUSALS_SHOWN
                ]
            self._stage = "calculating" if guidance.enough or self._ended else "at work"
            self._now = LensNow(
                stage=self._stage,
                doing=guidance.doing,
                message=guidance.message,
                where=next_place_message(guidance),
                lacking=guidance.lacking,
                refused=refused,
                taken=len(guidance.taken),
                coverage=float(guidance.covered.mean()),
                enough=guidance.enough,
                frame_seq=frame.seq,
                width=width,
                height=height,
            )

    def look(self) -> LensNow:
        """State for a page that polls now."""
        with self._changed:
            stage, outcome = self._poll()
            return replace(self._now, stage=stage, outcome=outcome)

    def jpeg(self) -> bytes | None:
        """The newest frame with guidance drawn in; None before the first.

        It is encoded once per frame, for any number of requests.
        """
        with self._changed:
            if self._shown is None:
                return None
            frame, seen, guidance = self._shown
            if self._drawn is None or self._drawn[0] != frame.seq:
                drawn = draw_guidance(
                    frame.image, guidance, seen if isinstance(seen, DetectedCorners) else None
                )
                self._drawn = frame.seq, encode_jpeg(_smaller(drawn), PICTURE_QUALITY)
            return self._drawn[1]


@dataclass(frozen=True, slots=True)
class CornersNow:
    """State of a table's calibration: corners (x, y) px, clockwise from the far left.

    `refusal` is the reason why earlier corners were rejected.
    """

    stage: Stage
    corners_px: tuple[tuple[float, float], ...]
    width: int
    height: int
    outcome: tuple[str, ...] = ()
    refusal: str = ""


class CornersGuide(Guide):
    """A photograph on which the user places the corners of the board; thread-safe."""

    def __init__(self, image: Image, cards_px: Array) -> None:
        """Start with the cards' inner corners.

        `cards_px` (4, 4, 2) are the corners of the cards: far left, far right, near right, near
        left.
        """
        super().__init__()
        self._stage = "at work"
        self._jpeg = encode_jpeg(image, PICTURE_QUALITY)
        middle = cards_px.reshape(-1, 2).mean(axis=0)
        inner = [card[np.argmin(np.hypot(*(card - middle).T))] for card in cards_px]
        corners = tuple((round(float(x), 1), round(float(y), 1)) for x, y in inner)
        height, width = image.shape[:2]
        self._now = CornersNow("at work", corners, width, height)
        self._corners_px: Array | None = None

    def corners(self) -> Array:
        """Wait until the corners are confirmed; returns (4, 2) px, clockwise from the far left."""
        with self._changed:
            while self._corners_px is None:
                # On some systems a wait without a timeout ignores Ctrl-C.
                self._changed.wait(1.0)
            corners_px, self._corners_px = self._corners_px, None
            return corners_px

    def refuse(self, message: str) -> None:
        """Reject the corners with a reason; the user places them again."""
        with self._changed:
            self._stage = "at work"
            self._now = replace(self._now, refusal=message)

    def put(self, corners_px: Sequence[tuple[float, float]]) -> bool:
        """Confirm these corners; False if no call waits for them, or one is off the photograph."""
        inside = all(
            -0.5 <= x <= self._now.width - 0.5 and -0.5 <= y <= self._now.height - 0.5
            for x, y in corners_px
        )
        with self._changed:
            if self._stage != "at work" or not (
                inside and all(math.isfinite(value) for corner in corners_px for value in corner)
            ):
                return False
            self._now = replace(self._now, corners_px=tuple(corners_px), refusal="")
            self._corners_px, self._stage = np.array(corners_px, float), "calculating"
            self._changed.notify_all()
            return True

    def look(self) -> CornersNow:
        """State for a page that polls now."""
        with self._changed:
            stage, outcome = self._poll()
            return replace(self._now, stage=stage, outcome=outcome)

    def jpeg(self) -> bytes:
        """The photograph as JPEG."""
        return self._jpeg


def _smaller(image: Image) -> Image:
    share = MOST_WIDE_PX / image.shape[1]
    if share >= 1:
        return image
    return np.asarray(
        cv2.resize(image, None, fx=share, fy=share, interpolation=cv2.INTER_AREA), np.uint8
    )
