"""What the referee sees and does at this moment."""

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
"""`stopped`: the referee itself cannot work just now (the disk is full, or it failed), and goes on
as soon as it can.
"""

ILL: tuple[Status, ...] = ("camera lost", "stopped")
"""The referee cannot work."""
TROUBLE: tuple[Status, ...] = ("cannot see", *ILL)
"""Nothing can be ruled on until somebody helps."""


class Pointed(NamedTuple):
    """Which answer of which question somebody points at with a button; without a label at none."""

    question: int
    label: str


NOWHERE = Pointed(0, "")


@dataclass(frozen=True, slots=True)
class RefereeStatus:
    """What the referee sees and does at this moment; not kept.

    `message` is the status in a sentence for people.  `observation` is the newest that could be
    read, None before the first; `frame_seq` and `at_ms` are those of the newest frame.  `stamp`
    grows with every change, to wait for one. `moved` are sentences about what is not where
    `table.json` says; with `held` nothing is ruled until people have said what to do. `pointed` may
    be of a question that is closed already.  `error` is what went wrong with the program, in a
    sentence that stays until the referee has ruled again; empty: nothing.
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
    """How many pictures were looked at, in how many the table could be read, and when the last was.

    `at_s` is on a clock that never goes back; None before the first.
    """

    pictures: int = 0
    readings: int = 0
    at_s: float | None = None


class LiveState:
    """The newest `RefereeStatus` and the newest picture.

    They outlast a referee that fails and begins again. Everything may be called from any thread.
    """

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._changed, self._clock, self._seen = threading.Condition(), clock, Seen()
        self._latest = RefereeStatus("waiting", msg("Waiting for the first picture."))
        self.picture = LivePicture()

    @property
    def latest(self) -> RefereeStatus:
        """What the referee sees and does now."""
        with self._changed:
            return self._latest

    @property
    def seen(self) -> Seen:
        """How many pictures came until now."""
        with self._changed:
            return self._seen

    def wait(self, stamp: int, timeout_s: float) -> RefereeStatus:
        """The latest as soon as its stamp is greater than `stamp`, or when the time is over."""
        with self._changed:
            self._changed.wait_for(lambda: self._latest.stamp > stamp, timeout_s)
            return self._latest

    def tell(self, status: Status, message: str) -> None:
        """Set what the referee does from now on."""
        with self._changed:
            self._publish(replace(self._latest, status=status, message=message))

    def see(self, frame: Frame, readable: Observation | None) -> None:
        """Take in a new frame, and what could be read of it; None: nothing.

        Wakes nobody: what follows from it is told next.
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
        """Set what is not where it was, and whether nothing is ruled because of it."""
        with self._changed:
            if (moved, held) != (self._latest.moved, self._latest.held):
                self._publish(replace(self._latest, moved=moved, held=held))

    def point_at(self, question: int, label: str) -> None:
        """Set the answer of this question that somebody points at; empty for none any more."""
        with self._changed:
            self._publish(replace(self._latest, pointed=Pointed(question, label)))

    def fail(self, error: str) -> None:
        """Set what went wrong with the program; empty once it works again."""
        with self._changed:
            if error != self._latest.error:
                self._publish(replace(self._latest, error=error))

    def _publish(self, latest: RefereeStatus) -> None:
        self._latest = replace(latest, stamp=self._latest.stamp + 1)
        self._changed.notify_all()


def status_after(verdict: Verdict | None) -> Status:
    """What the referee does after a verdict."""
    match verdict:
        case Ambiguous():
            return "asking"
        case OutOfSync():
            return "out of sync"
        case CannotSee():
            return "cannot see"
        case _:
            return "waiting"
