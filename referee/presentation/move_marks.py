"""Marks on the board of what a verdict did, or would do."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from engines import Game
from engines.board_marks import Mark
from engines.first_player import turn_order
from referee.sessions.events import (
    Answered,
    Declared,
    Event,
    GameStarted,
    InputRecorded,
    QuestionAsked,
    Record,
    SessionStarted,
    VerdictReached,
)
from table.boards import Board
from table.errors import InputError

CELL = re.compile(r"\b(?:[a-h][1-8]|[A-O](?:[1-9]|1[0-5]))\b")
"""Names of cells in a sentence; those that this board does not have are not drawn."""


def trace(engine: Game, board: Board | None, records: Sequence[Record]) -> tuple[Mark, ...]:
    """The marks of the last of these records; none where it decides nothing.

    `records` are a session's from its start. A question has the marks of all that may have
    happened, as unsure; a table out of step with the record has the cells that differ.
    """
    event = records[-1].event
    if isinstance(event, VerdictReached) and event.verdict == "out_of_sync":
        differences = " ".join(map(str, event.evidence.get("differences", ())))
        return tuple(
            Mark("here", (cell,), sure=False) for cell in dict.fromkeys(CELL.findall(differences))
        )
    ways = _ways(event)
    if not any(ways) or (state := _state_before(engine, board, records)) is None:
        return ()
    marks = dict.fromkeys(mark for way in ways for mark in _marks_of_moves(engine, state, way))
    return (
        tuple(Mark(mark.kind, mark.cells, sure=False, looks=mark.looks) for mark in marks)
        if len(ways) > 1
        else tuple(marks)
    )


def _ways(event: Event) -> list[tuple[str, ...]]:
    """The moves of all that may have happened; one way where nothing is asked."""
    match event:
        case QuestionAsked():
            return [choice.moves for choice in event.choices]
        case VerdictReached() | Answered() | Declared():
            return [event.moves]
        case InputRecorded() if not event.secret:
            return [event.moves]
        case _:
            return []


def _marks_of_moves(engine: Game, state: Any, moves: Iterable[str]) -> list[Mark]:
    """The marks of moves played one after the other.

    Ends with the first move that is not legal, which is drawn too as far as its text allows.
    """
    marks: list[Mark] = []
    for text in moves:
        try:
            move = engine.parse_move(text)
        except InputError:
            return marks + [Mark("here", (cell,)) for cell in CELL.findall(text)]
        try:
            marks += engine.trace(state, move)
            state = engine.play(state, move)
        except ValueError:
            break
    return marks


def _state_before(engine: Game, board: Board | None, records: Sequence[Record]) -> Any:
    """The state before the last record, from the record before it.

    None where that record has no complete state.
    """
    for record in reversed(records[:-1]):
        event = record.event
        try:
            if isinstance(event, SessionStarted | GameStarted):
                return engine.set_up(turn_order(event.players, event.first), event.rulings, board)
            if line := getattr(event, "state", {}).get("state"):
                return engine.State.parse(line)
        except InputError:
            return None
    return None
