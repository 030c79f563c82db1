"""Frames of a video file."""

from __future__ import annotations

from math import isfinite
from pathlib import Path
from typing import NamedTuple

import cv2
import numpy as np

from table.errors import InputError
from table.messages import msg, phrase
from table.table_config import Orientation, Setup
from vision.cameras.base import is_unicode, other_size
from vision.cameras.frame import Frame, swapped
from vision.cameras.image_files import check_pixels
from vision.cameras.mp4 import FilmIndex, film_index, is_mp4
from vision.cameras.orientation import half_turned, is_half_turned

MOST_TRIES = 300
"""Number of consecutive undecodable frames that are skipped before the film ends."""
SLACK_S = 1.0
"""If the number of frames is not known: longest sound after the last frame, and longest gap between
frames.
"""
SLACK_FRAMES = 3.0


class Extent(NamedTuple):
    """Expected length of a film: `frames` exactly, or else `seconds`; None if not known."""

    frames: int | None
    seconds: float | None


class VideoCamera:
    """The frames of a video, one by one, with the file's own times."""

    simulated = False

    def __init__(self, path: Path, setup: Setup | None) -> None:
        """Open the file.

        Raises InputError if it does not exist, is no video, is rotated, or of another size than the
        table's.
        """
        if not is_unicode(str(path)):
            raise InputError(
                msg(
                    "camera: expected a video file with a name in UTF-8, got {raw}; rename it",
                    raw=repr(str(path)),
                )
            )
        if not path.is_file():
            raise InputError(msg("camera: expected a video file, got {path}", path=path))
        self.name: str = phrase("video {name}", name=path.name)
        self._path = path
        index = _index_of(path)
        # FFmpeg takes the part before a colon for a protocol; an absolute path has none.
        self._capture = cv2.VideoCapture(str(path.absolute()), cv2.CAP_FFMPEG)
        try:
            if not self._capture.isOpened():
                raise InputError(
                    msg(
                        "{path}: expected a video such as MP4, AVI or MKV, but it cannot be read",
                        path=path,
                    )
                )
            orientation = setup.camera.orientation if setup is not None else "sensor"
            self._turn = disable_rotation(self._capture, index.mirrored, orientation, str(path))
            width, height = (
                int(self._capture.get(name))
                for name in (cv2.CAP_PROP_FRAME_WIDTH, cv2.CAP_PROP_FRAME_HEIGHT)
            )
            check_pixels(width, height, str(path))
            if setup is not None and (wrong := other_size(width, height, setup)):
                raise InputError(msg("{path}: {text}", path=path, text=wrong))
        except InputError:
            self._capture.release()
            raise
        self._count, self._period_s = (
            self._capture.get(cv2.CAP_PROP_FRAME_COUNT),
            _period_s(self._capture),
        )
        self._extent = _extent(path, index, self._count, self._period_s)
        self._closed = self._ended = False
        self._seq = 0
        self._at_ms = -1
        self._gap_ms = 0

    @property
    def missing(self) -> str:
        """One line on the part of the film that could not be read; empty if all was read.

        Known after the last frame.
        """
        if not self._ended:
            return ""
        frames, seconds = self._extent
        advice = phrase("it is cut short or damaged: copy it again")
        if frames is not None:
            return (
                phrase(
                    "{path}: expected {n} pictures, as the video says, could read only"
                    " {n2}; {text}",
                    path=self._path,
                    n=frames,
                    n2=self._seq,
                    text=advice,
                )
                if self._seq < frames
                else ""
            )
        slack_s = max(SLACK_S, SLACK_FRAMES * self._period_s)
        end_s = self._at_ms / 1000 + self._period_s
        if seconds is not None and seconds - end_s > slack_s:
            return phrase(
                "{path}: expected pictures for {mm} s, as the video says, could read only"
                " {mm2} s ({n} pictures); {text}",
                path=self._path,
                mm=f"{seconds:.1f}",
                mm2=f"{end_s:.1f}",
                n=self._seq,
                text=advice,
            )
        if self._gap_ms > 1000 * slack_s:
            return phrase(
                "{path}: expected pictures all the time, got none for {mm} s ({n} pictures"
                " in total); {text}",
                path=self._path,
                mm=f"{self._gap_ms / 1000:.1f}",
                n=self._seq,
                text=advice,
            )
        return ""

    def read(self) -> Frame | None:
        """The next frame that can be decoded; None after the last."""
        if self._closed:
            raise ValueError("the camera was closed")
        image = self._next_picture()
        if image is None:
            self._ended = True
            return None
        # Some files have no times, or repeat one: time advances by at least a millisecond.
        at_ms = max(self._at_ms + 1, round(self._capture.get(cv2.CAP_PROP_POS_MSEC)))
        self._gap_ms = max(self._gap_ms, at_ms - self._at_ms if self._seq else 0)
        self._at_ms = at_ms
        rgb = swapped(image)
        frame = Frame(self._seq, self._at_ms, half_turned(rgb) if self._turn else rgb)
        self._seq += 1
        return frame

    def close(self) -> None:
        """Stop reading."""
        self._closed = True
        self._capture.release()

    def _next_picture(self) -> cv2.typing.MatLike | None:
        """The next frame.

        OpenCV also returns no frame for one that cannot be decoded, and continues when asked again.
        """
        for _ in range(MOST_TRIES):
            done, image = self._capture.read()
            if done:
                return image
            if not self._seq < self._count:
                return None
        return None


def disable_rotation(
    capture: cv2.VideoCapture, mirrored: bool, orientation: Orientation, where: str
) -> bool:
    """Switch off rotation by OpenCV; true if frames then have to be rotated by 180 degrees.

    By default OpenCV applies the film's rotation flag.  Raises InputError for a film that is on its
    side or mirrored.
    """
    capture.set(cv2.CAP_PROP_ORIENTATION_AUTO, 0)
    turn_deg = capture.get(cv2.CAP_PROP_ORIENTATION_META)
    return is_half_turned(
        round(turn_deg) if isfinite(turn_deg) else 0, mirrored, orientation, where
    )


def _index_of(path: Path) -> FilmIndex:
    """The index of an MP4 or MOV; empty for other films.

    Raises InputError if the index is missing.
    """
    try:
        with path.open("rb") as file:
            start = file.read(8)
        index = film_index(path) if is_mp4(start) else FilmIndex(complete=True)
    except OSError as error:
        raise InputError(
            msg(
                "{path}: expected a video file, but it cannot be read ({raw})",
                path=path,
                raw=error.strerror,
            )
        ) from error
    if not index.complete:
        raise InputError(
            msg(
                "{path}: expected a whole video, but its index (moov) is missing: it is cut"
                " short or was never finished; copy it again",
                path=path,
            )
        )
    return index


def _period_s(capture: cv2.VideoCapture) -> float:
    """Frame period in s; 0 if not known."""
    rate = capture.get(cv2.CAP_PROP_FPS)
    return 1 / rate if isfinite(rate) and rate > 0 else 0.0


def _extent(path: Path, index: FilmIndex, count: float, period_s: float) -> Extent:
    """Expected length of a film.

    From the index of MP4, from the header of AVI; for others OpenCV computes it from duration and
    rate.
    """
    if index.frames is not None or index.seconds is not None:
        return Extent(index.frames, index.seconds)
    if not (np.isfinite(count) and count > 0):
        return Extent(None, None)
    with path.open("rb") as file:
        start = file.read(12)
    return (
        Extent(int(count), None)
        if start[:4] == b"RIFF" and start[8:] == b"AVI "
        else Extent(None, count * period_s)
    )


def open_camera(argument: str, setup: Setup | None) -> VideoCamera:
    """`video:PATH`: the frames of a file."""
    return VideoCamera(Path(argument), setup)
