"""Data for statistics: the steps of a played game, and what games count in them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

SAME_MM = 0.006
"""Largest difference in mm between a measured distance and the same one in a move, which is rounded
to 0.01 mm.
"""


@dataclass(frozen=True, slots=True)
class Step:
    """A counted move, of record `record`, with the engine's states before and after it.

    `evidence` is what the camera saw at the ruling or the question; None if people replaced it.
    `by_people`: people decided or corrected it.
    """

    record: int
    at_ms: int
    before: Any
    move: Any
    after: Any
    evidence: Mapping[str, Any] | None
    by_people: bool


class Rest(Protocol):
    """How a thrown piece came to rest, by its distance from the target in mm.

    `measured` is False where that distance is not known; `on_target`: it stands on the target;
    `rank` rises with the distance.
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
    """A counted throw, as it came to rest; `record` is where it was ruled or asked about.

    `lie` is None for a throw that left the play area; `sigma_mm` is None where the camera did not
    measure the distance; `leading` leads after the throw; `by_people`: people decided or corrected
    it.
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
    """A piece that was captured by fire or knocked off the board: by whom, its name, and how."""

    record: int
    at_ms: int
    player: str
    target: str
    how: str
