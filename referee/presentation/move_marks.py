"""Marks on the board for what a verdict did, or would do."""

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
"""Names of cells in a sentence; names that this board does not have are not drawn."""


def trace(engine: Game, board: Board | None, records: Sequence[Record]) -> tuple[Mark, ...]:
    """Return the marks of the last record; none if it decides nothing.

    `records` are a session's, from its start. A question has the marks of all its choices, as
    unsure. A mismatch with the record has the cells that differ.
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
    """Alternative moves of an event; one alternative if nothing is asked."""
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
    """Return the marks of moves played one after the other.

    It ends with the first illegal move, which is drawn as far as its text allows.
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
    """Return the state before the last record, from the record before it.

    None if that record has no complete state.
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
