"""Counted moves of a game one by one, with the states around them, for games' statistics."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from engines.statistics import Step
from referee.sessions.events import QuestionAsked, Record, VerdictReached
from referee.sessions.state import CountedRuling, SessionState, history


def steps_of(ledger: SessionState, records: Mapping[int, Record]) -> Iterator[Step]:
    """Yield the steps of a game in order, by the session's records.

    The moves are replayed on demand: games without statistics cost nothing.
    """
    for entry, state, move, after in history(ledger):
        evidence = _evidence(entry, records)
        by_people = evidence is None or entry.question is not None
        at_ms = records[entry.seq].at_ms
        yield Step(entry.seq, at_ms, state, move, after, evidence, by_people)


def _evidence(entry: CountedRuling, records: Mapping[int, Record]) -> Mapping[str, Any] | None:
    """What the camera saw at a move; None if people replaced it."""
    event = (entry.question or records[entry.seq]).event
    return (
        event.evidence
        if entry.by == entry.seq and isinstance(event, VerdictReached | QuestionAsked)
        else None
    )
