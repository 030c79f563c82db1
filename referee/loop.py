"""The way of every frame: read, observe, settle, judge, append."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Protocol

from referee.session import Session
from table.observation import Observation, Unusable
from table.setup import Setup
from vision.cameras import CameraPort
from vision.frame import Frame

Status = Literal["waiting", "hand over the board", "settling", "ruling", "asking", "paused", "cannot see", "camera lost", "ended"]


class Observe(Protocol):
    """`vision.observe.observe`, or something that stands in for it."""

    def __call__(
        self, frame: Frame, setup: Setup, reference: Frame | None = None, previous: Observation | None = None
    ) -> Observation | Unusable: ...


@dataclass(frozen=True, slots=True)
class Live:
    """What the referee sees and does at this moment; not kept.

    `said` is the status in a sentence for people.  `observation` is the newest that could be read, None before the
    first; `frame_seq` and `at_ms` are those of the newest frame.  `stamp` grows with every change, to wait for one.
    """

    status: Status
    said: str
    stamp: int = 0
    frame_seq: int = -1
    at_ms: int = 0
    observation: Observation | None = None


class Referee:
    """Watches one camera for one session.  `run` in a thread of its own; everything else from any thread."""

    def __init__(
        self,
        camera: CameraPort,
        setup: Setup,
        observe: Observe,
        session: Session,
        reference: Frame | None = None,
        hold_ms: int = 500,
        pause: Callable[[float], None] | None = None,
    ) -> None:
        """`reference` is a frame of the empty table; `pause(seconds)` waits between attempts to reach a lost camera."""
        raise NotImplementedError

    @property
    def latest(self) -> Live:
        """What it sees and does now."""
        raise NotImplementedError

    def wait(self, stamp: int, timeout_s: float) -> Live:
        """The latest as soon as its stamp is greater than `stamp`, or when the time is over."""
        raise NotImplementedError

    def jpeg(self) -> bytes | None:
        """The newest frame as a JPEG, made on demand (once a frame however many ask); None before the first frame."""
        raise NotImplementedError

    def run(self) -> None:
        """Referee until the camera ends or `stop`.  Raises LogFailed where a ruling cannot be kept, and shows it to nobody."""
        raise NotImplementedError

    def stop(self) -> None:
        """Make `run` return after the frame at hand; returns at once, from any thread."""
        raise NotImplementedError
