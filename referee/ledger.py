"""The fold: records in, the state of the session out.  Pure; the same records always give the same state."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, assert_never

from engines import Game
from referee.events import (
    Answered,
    Asked,
    Corrected,
    Declared,
    GameStarted,
    Noted,
    Paused,
    Record,
    Reopened,
    Resumed,
    Ruled,
    SessionEnded,
    SessionStarted,
    TableChecked,
    Undone,
)
from table.boards import Board
from table.documents import convert
from table.errors import InputError


@dataclass(frozen=True, slots=True)
class Standing:
    """Moves that count: ruled or noted in record `seq`, by force of record `by` (the same, or its latest correction)."""

    seq: int
    by: int
    moves: tuple[str, ...]
    question: Record | None = None
    """The question that these moves answer; it is open again when they are taken back."""


@dataclass(frozen=True, slots=True)
class Ledger:
    """The state of a session after record `seq`.

    `board` is the table's, None if not known; `state` is the engine's; `standing` are the rulings of this game that count,
    in order; `rulings` the records of this game that may be corrected; `question` is the open Asked record; `ends` are the
    ends of this game that are over, as the engine's documents say it; `earlier` is the game before, as it was left.
    """

    engine: Game
    started: SessionStarted
    session: int
    seq: int
    game_seq: int
    players: tuple[str, ...]
    options: dict[str, str]
    board: Board | None
    state: Any
    standing: tuple[Standing, ...] = ()
    rulings: frozenset[int] = frozenset()
    question: Record | None = None
    paused: bool = False
    ended: bool = False
    ends: tuple[dict[str, Any], ...] = ()
    earlier: Ledger | None = None

    @property
    def game_number(self) -> int:
        """1 for the first game of the session."""
        return 1 if self.earlier is None else self.earlier.game_number + 1

    @property
    def winners(self) -> tuple[str, ...]:
        """Who won this game, in turn order: one, or several who share it; nobody while it runs."""
        outcome = self.engine.outcome(self.state)
        won = getattr(outcome, "winners", None) or (getattr(outcome, "winner", None),)
        return tuple(player for player in self.players if player in won)

    @property
    def seen_in(self) -> Iterator[int]:
        """Records that the rulings which count rest on, the latest first; of an answer, its question."""
        return (entry.question.seq if entry.question else entry.seq for entry in reversed(self.standing))


Games = Mapping[str, Game]
"""Engines by the name of their game, as in `engines.GAMES`."""


def begin(record: Record, games: Games) -> Ledger:
    """The ledger of a session's first record; raises InputError for a game or players that will not do."""
    started = record.event
    if not isinstance(started, SessionStarted):
        raise InputError(f"record {record.seq}: expected the start of a session, got {type(started).__name__}")
    if started.game not in games:
        raise InputError(f"game: expected one of {', '.join(games)}, got {started.game!r}")
    engine = games[started.game]
    board: Board | None = convert(started.table["board"], Board, "table", "board") if "board" in started.table else None  # type: ignore[arg-type]  # a union is a type to msgspec
    state = engine.set_up(started.players, started.rulings, board)
    return Ledger(engine, started, record.seq, record.seq, record.seq, started.players, started.rulings, board, state)


def fold(records: Iterable[Record], games: Games) -> Ledger:
    """The ledger of all records of a session, in order."""
    remaining = iter(records)
    ledger = begin(next(remaining), games)
    for record in remaining:
        ledger = apply(ledger, record)
    return ledger


def apply(ledger: Ledger, record: Record) -> Ledger:
    """The ledger after one more record.

    Raises InputError where people want something that does not fit (an answer to no question), and ValueError of the
    engine where the moves are not legal.
    """
    now = replace(ledger, seq=record.seq)
    event = record.event
    match event:
        case SessionStarted():
            raise InputError(f"record {record.seq}: expected no second start of session {ledger.session}")
        case GameStarted():
            state = now.engine.set_up(event.players, event.rulings, now.board)
            begun = Ledger(now.engine, now.started, now.session, record.seq, record.seq, event.players, event.rulings, now.board, state)
            return replace(begun, paused=now.paused, earlier=ledger)
        case Ruled():
            ruled = replace(now, rulings=now.rulings | {record.seq})
            return _count(ruled, Standing(record.seq, record.seq, event.moves)) if event.verdict == "accepted" else ruled
        case Noted():
            return _count(replace(now, rulings=now.rulings | {record.seq}), Standing(record.seq, record.seq, event.moves))
        case Asked():
            return replace(now, question=record)
        case Answered():
            return _answer(now, record, event)
        case Corrected():
            return _correct(now, record, event)
        case Undone():
            return _undo(now, event)
        case Declared():
            return _declare(now, record, event)
        case Paused():
            return replace(now, paused=True)
        case Resumed():
            return replace(now, paused=False)
        case Reopened() | TableChecked():
            return now
        case SessionEnded():
            return replace(now, ended=True)
        case _:
            assert_never(event)


def _count(ledger: Ledger, new: Standing) -> Ledger:
    """With the moves of `new` played after all that stand; what has none stands too, as a set-up that was accepted does."""
    engine, state, ends = ledger.engine, ledger.state, ledger.ends
    for move in new.moves:
        running = engine.state_document(state).get("end") is None
        state = engine.play(state, engine.parse_move(move))
        over = engine.state_document(state).get("end")
        ends = (*ends, over) if running and over is not None else ends
    return replace(ledger, state=state, ends=ends, standing=(*ledger.standing, new))


def _recount(ledger: Ledger, standing: Iterable[Standing]) -> Ledger:
    """With other moves standing, all played again from the start of the game."""
    state = ledger.engine.set_up(ledger.players, ledger.options, ledger.board)
    ledger = replace(ledger, state=state, ends=(), standing=())
    for entry in sorted(standing, key=lambda entry: entry.seq):
        ledger = _count(ledger, entry)
    return ledger


def _answer(ledger: Ledger, record: Record, answered: Answered) -> Ledger:
    if ledger.question is None or ledger.question.seq != answered.question:
        raise InputError(f"question {answered.question} is not open: it was answered or taken back already")
    new = Standing(record.seq, record.seq, answered.moves, ledger.question)
    settled = replace(ledger, question=None, rulings=ledger.rulings | {record.seq})
    return _count(settled, new) if new.moves else settled


def _correct(ledger: Ledger, record: Record, corrected: Corrected) -> Ledger:
    if corrected.corrects not in ledger.rulings:
        raise InputError(f"record {corrected.corrects} is no ruling of this game, so it cannot be corrected")
    if ledger.question is not None:
        raise InputError(f"question {ledger.question.seq} is open: answer it or take it back first")
    others = [entry for entry in ledger.standing if entry.seq != corrected.corrects]
    replaced = next((entry for entry in ledger.standing if entry.seq == corrected.corrects), None)
    question = replaced.question if replaced else None
    new = [Standing(corrected.corrects, record.seq, corrected.moves, question)] if corrected.moves else []
    return _recount(ledger, others + new)


def _declare(ledger: Ledger, record: Record, declared: Declared) -> Ledger:
    if ledger.question is not None:
        raise InputError(f"question {ledger.question.seq} is open: answer it or take it back first")
    return _count(replace(ledger, rulings=ledger.rulings | {record.seq}), Standing(record.seq, record.seq, declared.moves))


def _undo(ledger: Ledger, undone: Undone) -> Ledger:
    if ledger.question is not None and ledger.question.seq == undone.undoes:
        return replace(ledger, question=None)
    if ledger.earlier is not None and undone.undoes == ledger.game_seq and not ledger.standing and not ledger.question:
        return replace(ledger.earlier, seq=ledger.seq, paused=ledger.paused)
    taken = next((entry for entry in ledger.standing if entry.seq == undone.undoes), None)
    if taken is None:
        raise InputError(f"record {undone.undoes} does not stand in this game, so it cannot be taken back")
    if ledger.question is not None:
        raise InputError(f"question {ledger.question.seq} is open: answer it or take it back first")
    reopened = taken.question if taken == ledger.standing[-1] else None
    return replace(_recount(ledger, (entry for entry in ledger.standing if entry != taken)), question=reopened)
