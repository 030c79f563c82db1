"""The ruler: measure gaps in every frame of a camera, without a game or a log."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

import msgspec

from referee.live.referee import Observe
from table.games import measuring
from table.messages import msg, sentences
from table.observation import Observation, Unusable
from table.observation_document import Measurement
from table.table_config import Setup
from vision.cameras.base import CameraLost, CameraPort
from vision.cameras.frame import Frame
from vision.cameras.preview import LivePicture
from vision.cameras.reconnect import frames

RulerStatus = Literal[
    "waiting", "measured", "hand over the board", "settling", "cannot see", "camera lost", "ended"
]


@dataclass(frozen=True, slots=True)
class RulerNow:
    """The newest measurement.

    `message` is a sentence for people. `observation` and `measurement` (`gaps` and `call` of
    `rinkside-observation/1`) are of the newest measurable frame. It is older than `frame_seq`
    unless `status` is `measured`.
    """

    status: RulerStatus
    message: str
    frame_seq: int = -1
    at_ms: int = 0
    observation: Observation | None = None
    measurement: Measurement | None = None


class Ruler:
    """Measures gaps from the piece of the target's colour, in the frames of one camera.

    `run` belongs to one thread; everything else may be called from any.
    """

    def __init__(
        self,
        camera: CameraPort,
        setup: Setup,
        observe: Observe,
        reference: Frame | None = None,
        pause: Callable[[float], object] | None = None,
    ) -> None:
        """Prepare to measure.

        `setup` has a target; `reference` is a frame of the empty table; `pause(seconds)` waits
        between attempts to reach a lost camera.
        """
        self._camera, self._observe, self._reference = camera, observe, reference
        self.setup = setup
        _, self._ruler = measuring()
        self._stopping = threading.Event()
        self._pause = pause or self._stopping.wait
        self._picture = LivePicture()
        self._measured = ""
        self.latest = RulerNow("waiting", msg("Waiting for the first picture."))

    def jpeg(self) -> bytes | None:
        """The newest frame as a JPEG; None before the first."""
        return self._picture.jpeg()

    def run(self) -> None:
        """Measure until there are no more pictures; closes the camera.

        Raises InputError for a picture file that is broken.
        """
        try:
            for frame in frames(self._camera, self._stopping, self._lose_camera):
                self._look(frame)
            self._set_status("ended", sentences(self._measured, msg("There are no more pictures.")))
        finally:
            self._camera.close()

    def _lose_camera(self, error: CameraLost, retry_s: float) -> None:
        message = msg(
            "Camera lost ({text}); trying again in {mm} s.", text=error.message, mm=f"{retry_s:g}"
        )
        self._set_status("camera lost", message)
        self._pause(retry_s)

    def _look(self, frame: Frame) -> None:
        """Measure one frame, or report why it cannot be measured."""
        seen = self._observe(frame, self.setup, self._reference)
        self._picture.show(frame)
        self.latest = replace(self.latest, frame_seq=frame.seq, at_ms=frame.shown_ms)
        if isinstance(seen, Unusable):
            self._set_status(
                "cannot see", msg("The table cannot be read: {text}.", text=seen.reason)
            )
        elif seen.hand:
            self._set_status("hand over the board", msg("A hand is over the board."))
        elif seen.moving:
            self._set_status("settling", msg("Something is moving on the table."))
        elif isinstance(measured := self._ruler.measure(seen, str(self.setup.game.target)), str):
            self._measured = ""
            self.latest = replace(
                self.latest,
                status="cannot see",
                message=measured,
                observation=seen,
                measurement=None,
            )
        else:
            self._measured = self._ruler.sentence(measured)
            self.latest = replace(
                self.latest,
                status="measured",
                message=self._measured,
                observation=seen,
                measurement=msgspec.convert(self._ruler.document(measured), Measurement),
            )

    def _set_status(self, status: RulerStatus, message: str) -> None:
        self.latest = replace(self.latest, status=status, message=message)
