"""The moves of a game that count, one by one, with the states around them: what games count in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from engines.statistics import Step
from referee.sessions.events import QuestionAsked, Record, VerdictReached
from referee.sessions.state import CountedRuling, SessionState, history


def steps_of(ledger: SessionState, records: Mapping[int, Record]) -> Iterator[Step]:
    """The steps of a game as it stands, in order, by the session's records.

    They are played again as they are asked for: games that count nothing cost nothing.
    """
    for entry, state, move, after in history(ledger):
        evidence = _evidence(entry, records)
        by_people = evidence is None or entry.question is not None
        at_ms = records[entry.seq].at_ms
        yield Step(entry.seq, at_ms, state, move, after, evidence, by_people)


def _evidence(entry: CountedRuling, records: Mapping[int, Record]) -> Mapping[str, Any] | None:
    """What the camera saw there; None where people put something else in its place."""
    event = (entry.question or records[entry.seq]).event
    return (
        event.evidence
        if entry.by == entry.seq and isinstance(event, VerdictReached | QuestionAsked)
        else None
    )
