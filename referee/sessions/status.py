"""What the referee sees and does now."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from time import monotonic
from typing import Literal, NamedTuple

from engines.verdict import Ambiguous, CannotSee, OutOfSync, Verdict
from table.messages import msg
from table.observation import Observation
from vision.cameras.frame import Frame
from vision.cameras.preview import LivePicture

Status = Literal[
    "waiting",
    "hand over the board",
    "settling",
    "ruling",
    "asking",
    "out of sync",
    "paused",
    "cannot see",
    "camera lost",
    "stopped",
    "ended",
]
"""`stopped`: the referee cannot work now (a full disk, or a failure), and continues as soon as it
can.
"""

ILL: tuple[Status, ...] = ("camera lost", "stopped")
"""Statuses in which the referee cannot work."""
TROUBLE: tuple[Status, ...] = ("cannot see", *ILL)
"""Statuses in which nothing can be ruled on until somebody helps."""


class Pointed(NamedTuple):
    """Which answer of which question somebody points at with a button; without a label at none."""

    question: int
    label: str


NOWHERE = Pointed(0, "")


@dataclass(frozen=True, slots=True)
class RefereeStatus:
    """What the referee sees and does now; not recorded.

    `message` is the status in a sentence for people. `observation` is the newest one, None before
    the first; `frame_seq` and `at_ms` are those of the newest frame. `stamp` grows with every
    change. `moved` are sentences about things that differ from `table.json`; with `held` nothing is
    ruled until people decide.

    `pointed` may be of a closed question. `error` is a program error in a sentence that stays until
    the next ruling; empty without one.
    """

    status: Status
    message: str
    stamp: int = 0
    frame_seq: int = -1
    at_ms: int = 0
    observation: Observation | None = None
    moved: tuple[str, ...] = ()
    held: bool = False
    pointed: Pointed = NOWHERE
    error: str = ""


class Seen(NamedTuple):
    """Number of pictures, number of readable ones, and the time of the last.

    `at_s` is on a clock that never goes back; None before the first.
    """

    pictures: int = 0
    readings: int = 0
    at_s: float | None = None


class LiveState:
    """The newest `RefereeStatus` and the newest picture.

    They outlive a referee that fails and is replaced. All methods are thread-safe.
    """

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._changed, self._clock, self._seen = threading.Condition(), clock, Seen()
        self._latest = RefereeStatus("waiting", msg("Waiting for the first picture."))
        self.picture = LivePicture()

    @property
    def latest(self) -> RefereeStatus:
        """The current status."""
        with self._changed:
            return self._latest

    @property
    def seen(self) -> Seen:
        """Number of pictures so far."""
        with self._changed:
            return self._seen

    def wait(self, stamp: int, timeout_s: float) -> RefereeStatus:
        """Return the latest status once its stamp exceeds `stamp`, or after the time limit."""
        with self._changed:
            self._changed.wait_for(lambda: self._latest.stamp > stamp, timeout_s)
            return self._latest

    def tell(self, status: Status, message: str) -> None:
        """Set the referee's status."""
        with self._changed:
            self._publish(replace(self._latest, status=status, message=message))

    def see(self, frame: Frame, readable: Observation | None) -> None:
        """Take a new frame and its reading; None if it is unreadable.

        Wakes no waiting thread: the status that follows does.
        """
        self.picture.show(frame)
        with self._changed:
            pictures, readings, _ = self._seen
            self._seen = Seen(pictures + 1, readings + (readable is not None), self._clock())
            observation = self._latest.observation if readable is None else readable
            self._latest = replace(
                self._latest, frame_seq=frame.seq, at_ms=frame.shown_ms, observation=observation
            )

    def move(self, moved: tuple[str, ...], held: bool) -> None:
        """Set what was moved, and whether rulings are held because of it."""
        with self._changed:
            if (moved, held) != (self._latest.moved, self._latest.held):
                self._publish(replace(self._latest, moved=moved, held=held))

    def point_at(self, question: int, label: str) -> None:
        """Set the selected answer of this question; empty for none."""
        with self._changed:
            self._publish(replace(self._latest, pointed=Pointed(question, label)))

    def fail(self, error: str) -> None:
        """Set the program's error; empty once it works again."""
        with self._changed:
            if error != self._latest.error:
                self._publish(replace(self._latest, error=error))

    def _publish(self, latest: RefereeStatus) -> None:
        self._latest = replace(latest, stamp=self._latest.stamp + 1)
        self._changed.notify_all()


def status_after(verdict: Verdict | None) -> Status:
    """Status of the referee after a verdict."""
    match verdict:
        case Ambiguous():
            return "asking"
        case OutOfSync():
            return "out of sync"
        case CannotSee():
            return "cannot see"
        case _:
            return "waiting"
