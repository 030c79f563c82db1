"""Positions of throws at rest, and captured pieces, for statistics."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from engines.game import facts
from engines.statistics import SAME_MM, Hit, Thrown
from referee.sessions.events import QuestionAsked, Record, VerdictReached
from referee.sessions.state import SessionState
from referee.statistics.steps import steps_of

__all__ = ["Hit", "Landing", "hits", "landings", "squares_hit"]


@dataclass(frozen=True, slots=True)
class Landing:
    """Position of a thrown piece at rest, in mm from the target's middle.

    x points right, y away from the players.
    """

    player: str
    x_mm: float
    y_mm: float


def landings(throws: Iterable[Thrown], records: Sequence[Record]) -> tuple[Landing, ...]:
    """Return positions of throws that the camera measured and that stayed in play.

    `throws` are as `games_in` returns them for these records.
    """
    events = {record.seq: record.event for record in records}
    found = []
    for thrown in throws:
        event = events.get(thrown.record)
        if (
            thrown.lie is None
            or not isinstance(event, VerdictReached | QuestionAsked)
            or event.observation is None
        ):
            continue
        row = _row(event.observation, thrown)
        target = _target(event.observation, event.state)
        if row and target:
            found.append(Landing(thrown.player, row[0] - target[0], row[1] - target[1]))
    return tuple(found)


def squares_hit(ledger: SessionState, records: Sequence[Record]) -> dict[str, dict[str, int]]:
    """Count the throws of a game that touched each square, by player.

    Wasted or void throws touch none.
    """
    steps = steps_of(ledger, {record.seq: record for record in records})
    return facts(ledger.engine).statistics.squares(ledger.players, steps)


def hits(ledger: SessionState, records: Sequence[Record]) -> tuple[Hit, ...]:
    """Every piece taken in a game, in order."""
    steps = steps_of(ledger, {record.seq: record for record in records})
    return tuple(facts(ledger.engine).statistics.hits(steps))


def _row(observation: Mapping[str, Any], thrown: Thrown) -> tuple[float, float] | None:
    """Position of the piece with the throw's distance."""
    assert thrown.lie is not None
    for gap in observation.get("gaps", ()):
        if (
            gap["colour"] == thrown.lie.colour
            and (gap["on_target"] == thrown.lie.on_target)
            and abs(gap["gap_mm"] - thrown.lie.gap_mm) < SAME_MM
        ):
            return gap["base_mm"][0], gap["base_mm"][1]
    return None


def _target(observation: Mapping[str, Any], state: Mapping[str, Any]) -> tuple[float, float] | None:
    """Position of the only piece of the target's colour; None if there is not exactly one.

    Its colour is the one that no player has: the state of an end just over does not name it.
    """
    players = state.get("scores", {})
    others = [piece for piece in observation["pieces"] if piece["colour"] not in players]
    return (others[0]["base_mm"][0], others[0]["base_mm"][1]) if len(others) == 1 else None
