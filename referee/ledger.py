"""The fold: records in, the state of the session out.  Pure; the same records always give the same state."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from referee.events import Record, SessionStarted


@dataclass(frozen=True, slots=True)
class Ledger:
    """The state of a session after its last record.

    `state` is the engine's; `standing` are the rulings of this game that stand, as (seq, moves), in order; `question`
    is the open Asked record.
    """

    started: SessionStarted
    session: int
    seq: int
    state: Any
    players: tuple[str, ...]
    standing: tuple[tuple[int, tuple[str, ...]], ...] = ()
    question: Record | None = None
    paused: bool = False
    ended: bool = False
