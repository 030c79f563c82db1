"""Cues for lamps: a pure function of the session, its latest record and the referee's status.

`document` is always the engine's document of the session's state. Callers pass it if they have it,
as computing it takes longer than all else here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from engines.board_marks import Mark as BoardMark
from engines.game import Document, Rules, facts
from hardware.cues import DARK, Cue, Mark, Signal
from referee.sessions.caliper_answers import contested_pieces
from referee.sessions.events import (
    Answered,
    Appealed,
    ComputerChose,
    Corrected,
    Declared,
    GameStarted,
    InputRecorded,
    Paused,
    QuestionAsked,
    Record,
    Reopened,
    Resigned,
    Resumed,
    SeatFreed,
    SeatTaken,
    SessionEnded,
    SessionStarted,
    TableChecked,
    Undone,
    Upheld,
    VerdictReached,
)
from referee.sessions.state import SessionState
from referee.sessions.status import Status
from table.boards import Board
from table.cells import cell_middle_mm

_LASTING: dict[Status, Signal] = {
    "hand over the board": "hand",
    "settling": "settling",
    "paused": "paused",
    "cannot see": "cannot see",
    "out of sync": "out of sync",
    "camera lost": "camera lost",
    "stopped": "cannot see",
    "ended": "dark",
}
"""Referee statuses that are shown while they last, in place of the last ruling."""


def cue_of(
    ledger: SessionState,
    status: Status,
    news: Record | None,
    board: Board,
    document: Document | None = None,
) -> Cue:
    """Return the cue to show now.

    `news` is a record that came after everything shown, None without one.
    """
    document = document or ledger.engine.state_document(ledger.state)
    if (signal := _LASTING.get(status)) and news is None:
        return Cue(signal, ledger.players, leader=_leader(document, ledger.players))
    return (
        cue_of_record(ledger, news, board, document) if news else standing(ledger, board, document)
    )


def standing(ledger: SessionState, board: Board | None, document: Document | None = None) -> Cue:
    """Return the cue without news: the end, a pause, an open question, or a turn."""
    if ledger.ended:
        return DARK
    players = ledger.players
    document = document or ledger.engine.state_document(ledger.state)
    leader = _leader(document, players)
    if ledger.paused:
        return Cue("paused", players, leader=leader)
    if ledger.question is not None and isinstance(asked := ledger.question.event, QuestionAsked):
        return _question(asked, players, leader, marks(ledger.engine, document, board))
    if ledger.outcome is not None:
        return Cue("over", players, of=ledger.winners)
    turn = document.get("next") or document.get("to_move") or document.get("attacker")
    return Cue(
        "turn",
        players,
        of=(turn,) if turn else (),
        leader=leader,
        marks=marks(ledger.engine, document, board),
    )


def cue_of_record(
    ledger: SessionState, record: Record, board: Board, document: Document | None = None
) -> Cue:
    """Return the cue of a new record; `ledger` is the session after it."""
    then = standing(ledger, board, document)
    match event := record.event:
        case VerdictReached():
            return _verdict_cue(event, then, record.seq)
        case Answered() | Corrected() | Undone() | Declared() | Upheld() | Resigned():
            return Cue("accepted", then.players, leader=then.leader, then=then, news=record.seq)
        case (
            QuestionAsked()
            | InputRecorded()
            | Appealed()
            | Paused()
            | Resumed()
            | TableChecked()
            | SeatTaken()
            | SeatFreed()
            | ComputerChose()
        ):
            return then
        case SessionStarted() | Reopened() | GameStarted() | SessionEnded():
            return then
        case _:
            assert_never(event)


def _verdict_cue(event: VerdictReached, then: Cue, seq: int) -> Cue:
    of = (event.player,) if event.player in then.players else ()
    match event.verdict:
        case "accepted" | "refused":
            return Cue(event.verdict, then.players, of, then.leader, then=then, news=seq)
        case "cannot_see":
            return Cue("cannot see", then.players, leader=then.leader)
        case "out_of_sync":
            return Cue("out of sync", then.players, leader=then.leader)
        case "waiting":
            return then
        case _:
            assert_never(event.verdict)


def _question(
    asked: QuestionAsked, players: tuple[str, ...], leader: str | None, marked: tuple[Mark, ...]
) -> Cue:
    """Return the cue of a question; if it is too close to call, with the players or places."""
    if not asked.code.endswith("too_close"):
        return Cue("asking", players, leader=leader, marks=marked)
    close = {name.partition(" ")[0] for name in contested_pieces(asked)}
    return Cue(
        "too close",
        players,
        of=tuple(player for player in players if player in close) or players,
        marks=marked,
    )


def _leader(document: Document, players: tuple[str, ...]) -> str | None:
    leading = document.get("leading")
    return leading if leading in players else None


def marks(engine: Rules, document: Document, board: Board | None) -> tuple[Mark, ...]:
    """Lines and places of a game's state to point at; none without a board."""
    if board is None:
        return ()
    shown = facts(engine).presentation.marks(document)
    return tuple(mark for each in shown for mark in _on_table(each, board))


def _on_table(mark: BoardMark, board: Board) -> Iterator[Mark]:
    """Convert a mark on cells for lamps: a line from first to last, or a spot per cell."""
    known = [at_mm for cell in mark.cells if (at_mm := cell_middle_mm(board, cell))]
    if mark.kind != "ray":
        yield from (Mark("spot", (at_mm,)) for at_mm in known)
    elif len(known) > 1:
        yield Mark("line", (known[0], known[-1]))
