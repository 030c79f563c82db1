"""Read a camera's frames, and skip those in which nothing has changed.

Reading a table takes some tenths of a second; the comparison of two frames takes milliseconds. So a
frame is read only if it has come to rest and differs from the one that was read last.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray

from table.clearance import clearance
from table.messages import phrase
from table.observation import SURE, Observation, SeenPiece, Unusable
from table.table_config import Setup
from vision.cameras.frame import Frame, Image
from vision.geometry.camera_model import outline_px, shift_over_board
from vision.geometry.uncertainty import SIGMAS_A_MEDIAN
from vision.memory import give_back
from vision.observe import observe
from vision.pipeline import TableReader

THUMB_PX, COLOUR_PX = 480, 280
"""Width of the small grey image that is compared. The colour image is halved while it stays at
least as wide as the second value.
"""
CHANGED_LEVELS, CHANGED_SIGMAS = 3.0, 3.5
"""Least mean difference over 3 x 3 small pixels that is a change, in grey levels and in standard
deviations of one pixel's noise.
"""
TREMBLE_SHARE = 0.1
"""Share of the local contrast that a change must also exceed, because camera shake moves edges."""
WHITE, CLIPPED = 255.0, 250.0
"""The brightest level, and the level from which a pixel counts as clipped."""
EVERY_PX, FITS, LEAST_RANGE, LEAST_NOISE = 6, 3, 16.0, 1.0
"""Fit of gain and noise: subsampling step; number of fits, each on the inliers of the one before;
least range of levels, below which no gain is fitted; lower bound of the inlier limit.
"""
MOST_GAIN = 1.25
"""Largest ratio of brightness between two images of the same scene."""
MOST_REREADS = 2
"""Largest number of repeated readings of an unchanged table with doubtful pieces. Each image has
different noise.
"""
APART_SIGMAS = 4.0
"""Mahalanobis distance, in place and heading, from which readings are different pieces."""
MOVED_PX = 2.0
"""Shift of a corner of the board from which the camera has moved."""
NOT_AT_REST = phrase("the picture is not still yet")
"""Reason why an image that changes is not read."""
CHANGED_PIXELS = 6
"""Least number of changed pixels in one spot for a change."""
COLOUR_LEVELS, COLOUR_PIXELS = 10.0, 4
"""Thresholds for red, green and blue, as for grey: least difference in levels, and least number of
pixels. A piece may be as bright as its ground, and JPEG keeps colours only roughly.
"""

Grey = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Plane:
    """A downscaled image, grey (h, w) or coloured (h, w, 3), that others are compared with."""

    levels: Grey | Image

    @cached_property
    def tremble(self) -> Grey:
        """Largest change in levels by camera shake, from the local contrast."""
        around = np.ones((3, 3), np.uint8)
        contrast = cv2.subtract(cv2.dilate(self.levels, around), cv2.erode(self.levels, around))
        return np.multiply(contrast, np.float32(TREMBLE_SHARE), dtype=np.float32)

    @cached_property
    def clipped(self) -> NDArray[np.bool_] | None:
        """Mask of clipped pixels, whose true brightness is unknown; None if there are none."""
        clipped = self.levels >= CLIPPED
        return clipped if clipped.any() else None


class Thumb(NamedTuple):
    """A downscaled image for comparison, by area means."""

    grey: Plane
    colour: Plane

    @property
    def sparse(self) -> Grey:
        """Every sixth grey pixel in both directions, (n,)."""
        return np.asarray(self.grey.levels[::EVERY_PX, ::EVERY_PX], np.float32).ravel()


class _Scratch:
    """Arrays that are reused for each picture: allocation costs more than the computation."""

    def __init__(self) -> None:
        self._arrays: dict[tuple[int, ...], tuple[Grey, Grey]] = {}

    def pair(self, shape: tuple[int, ...]) -> tuple[Grey, Grey]:
        """Two uninitialized float32 arrays of a shape."""
        if shape not in self._arrays:
            self._arrays[shape] = np.empty(shape, np.float32), np.empty(shape, np.float32)
        return self._arrays[shape]


class Watch:
    """Call it like `observe`, with every frame of one camera in order.

    While the image changes it returns the last observation marked `moving`, or Unusable before the
    first.  With another setup everything is read anew.
    """

    def __init__(self) -> None:
        self._last: tuple[Thumb, int] | None = None
        self._read: tuple[Thumb, Setup, Observation | Unusable] | None = None
        self._still_since_ms: int | None = None
        """Time since which the picture has not changed; None while it changes."""
        self._more = 0
        """Number of further readings of the unchanged picture that are allowed."""
        self._reader = TableReader()
        self._scratch = _Scratch()

    def __call__(
        self, frame: Frame, setup: Setup, reference: Frame | None = None
    ) -> Observation | Unusable:
        """The observation of a frame, read or repeated."""
        thumb, last = _thumb(frame), self._last
        self._last = thumb, frame.at_ms
        before = self._read[2] if self._read is not None and self._read[1] == setup else None
        if (
            self._read is not None
            and before is not None
            and _shows_same_scene(self._read[0], thumb, self._scratch)
        ):
            if (
                isinstance(before, Observation)
                and self._more
                and _doubt(before)
                and not before.hand
            ):
                before = self._read_again(before, frame, setup, reference)
                self._read = self._read[0], setup, before
            return self._restamp(before, frame)
        if last is not None and not _shows_same_scene(last[0], thumb, self._scratch):
            self._still_since_ms = None
            if isinstance(before, Observation):
                return replace(before, frame_seq=frame.seq, at_ms=frame.at_ms, moving=True)
            return Unusable(frame.seq, frame.at_ms, NOT_AT_REST)
        seen = _note_camera_shift(self._observed(frame, setup, reference), before, setup)
        self._read, self._more = (thumb, setup, seen), MOST_REREADS
        self._still_since_ms = last[1] if last is not None else frame.at_ms
        return self._restamp(seen, frame)

    def _observed(
        self, frame: Frame, setup: Setup, reference: Frame | None
    ) -> Observation | Unusable:
        seen = observe(frame, setup, reference, self._reader)
        give_back()
        return seen

    def _read_again(
        self, before: Observation, frame: Frame, setup: Setup, reference: Frame | None
    ) -> Observation:
        """The more certain of two readings of an unchanged table.

        A doubtful piece gets its counterpart in the other reading as a further rival.
        """
        self._more -= 1
        again = self._observed(frame, setup, reference)
        if (
            not isinstance(again, Observation)
            or again.hand
            or _object_count(again) < _object_count(before)
        ):
            return before
        surer, other = (again, before) if _doubt(again) < _doubt(before) else (before, again)
        pieces = tuple(_with_counterpart(piece, other.pieces) for piece in surer.pieces)
        # Unchanged pieces keep their tuple, so that the reading stays the same one:
        # `referee.live.stability.is_same_reading` compares identity, not values.
        return replace(
            surer, pieces=surer.pieces if pieces == surer.pieces else pieces, notes=before.notes
        )

    def _restamp(self, read: Observation | Unusable, frame: Frame) -> Observation | Unusable:
        """An earlier reading as the observation of this frame."""
        reading = replace(read, frame_seq=frame.seq, at_ms=frame.at_ms)
        if not isinstance(reading, Observation):
            return reading
        if self._still_since_ms is None:
            self._still_since_ms = frame.at_ms
        return replace(reading, still_ms=max(0, frame.at_ms - self._still_since_ms))


def _doubt(seen: Observation) -> float:
    """Amount of doubt: unread objects, and pieces whose presence or pose is uncertain."""
    return len(seen.unread_mm) + sum(
        1 - piece.pose_probability for piece in seen.pieces if piece.pose_probability < SURE
    )


def _object_count(seen: Observation) -> int:
    return len(seen.unread_mm) + len(seen.pieces) + len(seen.off_board)


def _with_counterpart(piece: SeenPiece, others: tuple[SeenPiece, ...]) -> SeenPiece:
    """A piece; if doubtful, with its contradicting counterpart in another reading as a rival."""
    if piece.pose_probability >= SURE or not others:
        return piece
    apart = [
        float(
            np.linalg.norm(
                other.solid.vertices_mm.mean(axis=0) - piece.solid.vertices_mm.mean(axis=0)
            )
        )
        for other in others
    ]
    other = others[int(np.argmin(apart))]
    if clearance(piece.solid, other.solid).mm > 0 or any(
        _agrees(one, other) for one in (piece, *piece.rivals)
    ):
        return piece
    return replace(piece, rivals=(*piece.rivals, other))


def _agrees(piece: SeenPiece, other: SeenPiece) -> bool:
    """True if two readings agree within their uncertainty."""
    if (piece.size, piece.pose) != (other.size, other.pose):
        return False
    away, doubt = other.away_from(piece), piece.covariance + other.covariance
    return float(away @ np.linalg.solve(doubt, away)) < APART_SIGMAS**2


def _note_camera_shift(
    seen: Observation | Unusable, before: Observation | Unusable | None, setup: Setup
) -> Observation | Unusable:
    """The reading, with a note if the camera has moved since the table was read before."""
    if not isinstance(seen, Observation) or not isinstance(before, Observation):
        return seen
    shift = outline_px(seen.camera, setup) - outline_px(before.camera, setup)
    if np.hypot(*shift.T).max() < MOVED_PX:
        return seen
    away_mm, _ = shift_over_board(seen.camera, before.camera, setup)
    return replace(
        seen,
        notes=(
            *seen.notes,
            phrase(
                "the camera has moved {mm} mm over the board since the last reading",
                mm=f"{away_mm:.1f}",
            ),
        ),
    )


def _thumb(frame: Frame) -> Thumb:
    half = _halve(frame.image)
    # Converted to floating point before downscaling: integer levels are too coarse for the
    # remaining noise.
    grey = cv2.cvtColor(half, cv2.COLOR_RGB2GRAY).astype(np.float32)
    height = max(1, round(grey.shape[0] * THUMB_PX / grey.shape[1]))
    colour = half
    while colour.shape[1] >= 2 * COLOUR_PX:
        colour = _halve(colour)
    small = cv2.resize(grey, (THUMB_PX, height), interpolation=cv2.INTER_AREA)
    return Thumb(Plane(np.asarray(small, np.float32)), Plane(colour))


def _halve(image: Image) -> Image:
    """Average 2 x 2 pixels; other ratios take many times as long."""
    height, width = image.shape[0] // 2, image.shape[1] // 2
    return np.asarray(
        cv2.resize(image[: 2 * height, : 2 * width], (width, height), interpolation=cv2.INTER_AREA),
        np.uint8,
    )


def _shows_same_scene(a: Thumb, b: Thumb, scratch: _Scratch) -> bool:
    """True if two images show the same scene.

    Noise, a global change of light and camera shake are tolerated.
    """
    if a.colour.levels.shape != b.colour.levels.shape:
        return False
    gain, offset, noise = _light(a.sparse, b.sparse)
    if not 1 / MOST_GAIN < gain < MOST_GAIN:
        return False
    apart = _difference_beyond_tremble(a.grey, b.grey, gain, offset, scratch)
    if _has_spot(apart > max(CHANGED_LEVELS, CHANGED_SIGMAS * noise), CHANGED_PIXELS):
        return False
    apart = _difference_beyond_tremble(a.colour, b.colour, gain, offset, scratch)
    noises = SIGMAS_A_MEDIAN * np.median(np.abs(apart[::EVERY_PX, ::EVERY_PX]), axis=(0, 1))
    most = np.maximum(COLOUR_LEVELS, CHANGED_SIGMAS * noises)
    return not _has_spot(cv2.inRange(apart, np.full_like(most, -WHITE), most) == 0, COLOUR_PIXELS)


def _has_spot(changed: NDArray[np.bool_], pixels: int) -> bool:
    """True if a connected spot of changed pixels (h, w) has at least this size.

    Camera shake changes only single scattered pixels.
    """
    if np.count_nonzero(changed) < pixels:
        return False
    _, _, spots, _ = cv2.connectedComponentsWithStats(changed.astype(np.uint8))
    return bool(spots[1:, cv2.CC_STAT_AREA].max() >= pixels)


def _difference_beyond_tremble(
    a: Plane, b: Plane, gain: float, offset: float, scratch: _Scratch
) -> Grey:
    """Difference in levels, after gain and offset, beyond the effect of camera shake on edges.

    Means over 3 x 3 pixels, for (h, w) or (h, w, 3). The next call with images of this shape
    overwrites the array.
    """
    apart, means = scratch.pair(a.levels.shape)
    np.multiply(a.levels, np.float32(gain), out=apart)
    np.add(apart, np.float32(offset), out=apart)
    np.minimum(apart, np.float32(WHITE), out=apart)
    np.subtract(b.levels, apart, out=apart)
    if a.clipped is not None:
        np.minimum(apart, 0, out=apart, where=a.clipped)
    cv2.blur(apart, (3, 3), dst=means)
    np.abs(means, out=means)
    return np.subtract(means, a.tremble, out=means)


def _light(a: Grey, b: Grey) -> tuple[float, float, float]:
    """Gain and offset in levels between pixels (n,), and the standard deviation of their noise."""
    dim = np.maximum(a, b) < CLIPPED
    a, b = (a[dim], b[dim]) if dim.any() else (a, b)
    gain, offset = 1.0, float(np.median(b - a))
    for _ in range(FITS):
        apart = np.abs(b - gain * a - offset)
        noise = SIGMAS_A_MEDIAN * float(np.median(apart))
        alike = apart <= max(LEAST_NOISE, 3 * noise)
        if np.ptp(a[alike]) < LEAST_RANGE:
            break
        mean_a, mean_b = float(a[alike].mean()), float(b[alike].mean())
        away = a[alike] - mean_a
        gain = float(away @ (b[alike] - mean_b)) / float(away @ away)
        offset = mean_b - gain * mean_a
    return gain, offset, noise
