"""What the referee sees and does at this moment."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

from engines.verdict import Ambiguous, CannotSee, OutOfSync, Verdict
from table.observation import Observation

Status = Literal["waiting", "hand over the board", "settling", "ruling", "asking", "out of sync", "paused", "cannot see", "camera lost", "ended"]


class Pointed(NamedTuple):
    """Which answer of which question somebody points at with a button; without a label at none."""

    question: int
    label: str


NOWHERE = Pointed(0, "")


@dataclass(frozen=True, slots=True)
class Live:
    """What the referee sees and does at this moment; not kept.

    `said` is the status in a sentence for people.  `observation` is the newest that could be read, None before the
    first; `frame_seq` and `at_ms` are those of the newest frame.  `stamp` grows with every change, to wait for one.
    `moved` are sentences about what is not where `table.json` says; with `held` nothing is ruled until people have said what to do.
    `pointed` may be of a question that is closed already.
    """

    status: Status
    said: str
    stamp: int = 0
    frame_seq: int = -1
    at_ms: int = 0
    observation: Observation | None = None
    moved: tuple[str, ...] = ()
    held: bool = False
    pointed: Pointed = NOWHERE


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
