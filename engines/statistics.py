"""What statistics are made of: steps of a game that was played, and what games count in them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

SAME_MM = 0.006
"""Moves are written to 0.01 mm: a distance that was measured is the one in a move if it rounds to
it.
"""


@dataclass(frozen=True, slots=True)
class Step:
    """A move that counts, of record `record`, with the states of the engine around it.

    `evidence` is what the camera saw when it was ruled or asked about; None where people put
    something else in its place.  `by_people`: people decided or corrected it.
    """

    record: int
    at_ms: int
    before: Any
    move: Any
    after: Any
    evidence: Mapping[str, Any] | None
    by_people: bool


class Rest(Protocol):
    """How a thrown piece came to rest: its distance from the target in mm, which is `measured`
    where it is known, and `rank`, which rises with it.
    """

    @property
    def colour(self) -> str: ...
    @property
    def gap_mm(self) -> float: ...
    @property
    def measured(self) -> bool: ...
    @property
    def on_target(self) -> bool: ...
    @property
    def rank(self) -> Any: ...


@dataclass(frozen=True, slots=True)
class Thrown:
    """A throw that counts, as it came to rest; `record` is where it was ruled or asked about.

    `lie` is None for a throw that left the play area; `sigma_mm` None where the distance is not the
    camera's own; `leading` leads after it; `by_people` says that people decided or corrected it.
    """

    record: int
    at_ms: int
    player: str
    size: str | None
    lie: Rest | None
    sigma_mm: float | None
    leading: str | None
    by_people: bool


@dataclass(frozen=True, slots=True)
class Hit:
    """A piece that was taken by fire or knocked off the board: by whom, its name, and how."""

    record: int
    at_ms: int
    player: str
    target: str
    how: str
