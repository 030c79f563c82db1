"""A session: the fold of its records, published to all listeners, changed only by appending.

A record is published only after it is on disk. Thread-safe: writers wait for one another; readers
never wait, however slow the disk is.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import Any, Self, assert_never

import msgspec

import engines
from engines.game import shown_state
from engines.verdict import Ambiguous, Verdict, decision
from engines.verdict import Choice as Offered
from referee.presentation import view_model as pages
from referee.sessions.alternatives import alternatives
from referee.sessions.commands import (
    Answer,
    Appeal,
    Command,
    Correct,
    Declare,
    Hear,
    NextGame,
    Pause,
    Resign,
    Resume,
    Roll,
    Undo,
    Uphold,
)
from referee.sessions.drawn_dice import Draw, draw
from referee.sessions.event_store import Log
from referee.sessions.events import (
    Answered,
    Appealed,
    Choice,
    Corrected,
    Declared,
    Event,
    GameStarted,
    InputRecorded,
    Paused,
    QuestionAsked,
    Record,
    Resigned,
    Resumed,
    SeatFreed,
    SeatTaken,
    SessionEnded,
    SessionStarted,
    Undone,
    Upheld,
    VerdictReached,
    shows_table,
)
from referee.sessions.first_player import Lot, draw_lot, first_player_decision, hear
from referee.sessions.moves_in_words import moves_in_words
from referee.sessions.secret_votes import AffectedVotes, affected_votes
from referee.sessions.state import (
    Games,
    SessionState,
    apply,
    begin,
    check_no_question,
    check_ruling,
    fold,
    may_follow,
    state_after,
    state_before,
)
from referee.sessions.verdict_events import event_from_verdict
from table.errors import InputError, message_of
from table.messages import Message, first_sentence, in_a_row, msg, quoted, sentences
from table.text import check_unicode

RECORDS_KEPT = 200
"""Newest records of a session kept in memory, as a whole evening would take too much. Older ones
are read from the log.
"""
MOST_QUOTED = 5
"""If more moves than this are declared, the message has only their number."""


class Session:
    """One session on an open log."""

    def __init__(
        self,
        log: Log,
        records: tuple[Record, ...],
        ledger: SessionState,
        draw: Draw = draw,
        lot: Lot = draw_lot,
    ) -> None:
        """Use `begin` or `reopen`."""
        self._log, self._draw, self._lot = log, draw, lot
        self._records = deque(records, RECORDS_KEPT)
        self._seen = next(filter(shows_table, reversed(records)), None)
        self._ledger = ledger
        self._viewed: tuple[SessionState, pages.SessionView] | None = None
        self._at_ms = records[-1].at_ms
        self._closed = False
        self._writing = threading.Lock()
        """Held while a record is made and written. `_changed` is taken within it, only to
        publish.
        """
        self._changed = threading.Condition()
        self.id = self._ledger.session

    @classmethod
    def begin(
        cls,
        log: Log,
        started: SessionStarted,
        at_ms: int = 0,
        games: Games | None = None,
        empty_jpeg: bytes | None = None,
        draw: Draw = draw,
        lot: Lot = draw_lot,
    ) -> Self:
        """Begin a session of one of `games` (default: all).

        `empty_jpeg` is a picture of the empty table, stored for reading this session's pictures
        again. `draw` draws the values of electronic dice, and `lot` the first player of the next
        game. Raises InputError for an unknown game, or players that it refuses.
        """
        games = engines.GAMES if games is None else games
        try:
            begin(Record(seq=0, session=0, at_ms=at_ms, event=started), games)
        except InputError:
            raise
        except ValueError as error:
            raise InputError(
                msg("{game}: {text}", game=started.game, text=message_of(error))
            ) from error
        record = log.append(started, at_ms, frame_jpeg=empty_jpeg)
        return cls(log, (record,), begin(record, games), draw, lot)

    @classmethod
    def reopen(cls, log: Log, session: int, games: Games | None = None) -> Self:
        """Continue a session of the log from its last record on disk.

        Raises InputError for an unknown session, or moves that are illegal in these engines.
        """
        records = log.records(session)
        return cls(
            log,
            records,
            fold(
                records, engines.GAMES if games is None else games, f"{log.path}: session {session}"
            ),
        )

    @property
    def seq(self) -> int:
        """The number of the newest record."""
        return self.ledger.seq

    @property
    def ledger(self) -> SessionState:
        """The state after the last record; frozen, so it may be kept and compared."""
        with self._changed:
            return self._ledger

    def tick(self, at_ms: int) -> None:
        """Set the time for people (`Frame.shown_ms`), the time stamp of new records.

        It may go back if the wall clock is set: the order is that of `seq`, and no duration is
        computed from it.
        """
        with self._changed:
            self._at_ms = at_ms

    def append(
        self, event: Event, frame_jpeg: bytes | None = None, after: int | None = None
    ) -> Record | None:
        """Add an event at the time of the last `tick`; returns once it is on disk and published.

        An event's `state` is filled in here. If a record came since `after`, nothing is written and
        None is returned; the caller has to judge again. Raises LogFailed; then nothing is
        published. Raises the engine's ValueError for moves that do not follow from the state; then
        nothing is written.
        """
        with self._writing:
            if self._closed:
                raise ValueError("the session was closed")
            if after is not None and after != self._ledger.seq:
                return None
            return self._append(event, frame_jpeg)

    def _append(self, event: Event, frame_jpeg: bytes | None = None) -> Record:
        trial = state_after(self._ledger, event, self._at_ms)
        if hasattr(event, "state"):
            event = msgspec.structs.replace(event, state=trial.engine.state_document(trial.state))
        record = self._log.append(event, self._at_ms, self.id, frame_jpeg)
        self._publish(record)
        return record

    def _publish(self, record: Record) -> None:
        """Publish a record that is on disk."""
        ledger = apply(self._ledger, record)
        with self._changed:
            self._ledger = ledger
            self._records.append(record)
            self._seen = record if shows_table(record) else self._seen
            self._changed.notify_all()

    def catch_up(self) -> None:
        """Publish records that are in the log but were not published because of a failure.

        Raises InputError.
        """
        with self._writing:
            for record in self._log.records(self.id, self._ledger.seq):
                self._publish(record)

    def command(
        self, command: Command, allow: Callable[[Command], Command] | None = None
    ) -> Record:
        """Execute a command.

        Raises InputError, one line for people, if that is impossible now. `allow` returns the
        command that may be executed, or raises; no record comes between it and the execution.
        """
        with self._writing:
            if allow is not None:
                command = allow(command)
            if self._closed or self._ledger.ended:
                raise InputError(
                    msg(
                        "the session has ended: start a new one, or continue this one: {raw}",
                        raw=f"rinkside play --resume {self.id}",
                    )
                )
            event = self._event(command)
            try:
                return self._append(event)
            except InputError:
                raise
            except ValueError as error:
                raise InputError(
                    msg(
                        "{raw}: the resulting moves would not be legal: {text}",
                        raw=type(command).__name__.lower(),
                        text=message_of(error),
                    )
                ) from error

    def touched(self, command: Command) -> AffectedVotes:
        """Return a command's effect on hidden votes."""
        return affected_votes(self.ledger, command)

    def hear(self, heard: Mapping[str, Any]) -> Record | None:
        """Judge an input that the camera does not see, at the time of the last `tick`.

        None if the game has no use for it now. With a question open, also None if it would raise
        another question, or leave no legal answer. Raises InputError for an input that the game
        does not understand.
        """
        check_unicode(heard, "hear")
        with self._writing:
            event = event_from_verdict(self._announcement_verdict(heard))
            if event is None or self._is_question_open(event):
                return None
            return self._append(event)

    def announce(
        self, heard: Mapping[str, Any], evidence: Mapping[str, Any], after: int
    ) -> Record | None:
        """Record an announcement of a computer player, with its own evidence added.

        None, and nothing is written, if a record came since `after`. Raises InputError if the
        announcement is impossible now.
        """
        with self._writing:
            if self._closed or self._ledger.ended or after != self._ledger.seq:
                return None
            event = self._announcement_event(heard)
            return self._append(
                msgspec.structs.replace(event, evidence=event.evidence | dict(evidence))
            )

    def seat(self, event: SeatTaken | SeatFreed) -> None:
        """Record who speaks for a player; ignored once the session has ended. Raises LogFailed."""
        with self._writing:
            if not (self._closed or self._ledger.ended):
                self._append(event)

    def _announcement_verdict(self, heard: Mapping[str, Any]) -> Verdict:
        return hear(self._ledger, heard)

    def _announcement_event(
        self, heard: Mapping[str, Any]
    ) -> VerdictReached | QuestionAsked | InputRecorded:
        verdict = self._announcement_verdict(heard)
        if (event := event_from_verdict(verdict)) is None:
            raise InputError(msg("not now: {text}", text=quoted(verdict.message)))
        if self._is_question_open(event):
            check_no_question(self._ledger)
        return event

    def _is_question_open(
        self, event: VerdictReached | QuestionAsked | InputRecorded | Resigned
    ) -> bool:
        """True if a question is open that this event conflicts with.

        That is another question, or moves after which no answer is legal.
        """
        if self._ledger.question is None:
            return False
        if isinstance(event, QuestionAsked):
            return True
        after, asked = state_after(self._ledger, event), self._ledger.question.event
        assert isinstance(asked, QuestionAsked), "a question is what was asked"
        answers = [
            Answered(
                question=self._ledger.question.seq,
                label=str(choice.label),
                how="order",
                decided_by="",
                moves=choice.moves,
            )
            for choice in asked.choices
            if choice.moves
        ]
        return bool(answers) and not any(may_follow(after, answer) for answer in answers)

    def _roll_event(self, roll: Roll) -> Event:
        """Roll electronic dice: the only place where values (`evidence["dice"]`) are drawn."""
        values = [self._draw() for _ in range(roll.dice)]
        if roll.player is None:
            shows = (
                msg("The die shows {n}.", n=values[0])
                if len(values) == 1
                else msg("The dice show {text}.", text=values)
            )
            message = sentences(shows, msg("This does not count in the game."))
            return InputRecorded(code="dice.rolled", message=message, evidence={"dice": values})
        if roll.dice != 1:
            raise InputError(
                msg(
                    "roll: expected 1 die for the game, got {n}; leave out the player for a"
                    " roll that does not count",
                    n=roll.dice,
                )
            )
        event = self._announcement_event({"player": roll.player, "die": values[0]})
        return msgspec.structs.replace(event, evidence=event.evidence | {"dice": values})

    def _undo_text(self, who: str, undoes: int) -> Message:
        """Describe an undo: the undone record's first sentence, or its number without one."""
        undone = next((one for one in self.records(undoes - 1, 1) if one.seq == undoes), None)
        if undone is None or not (said := getattr(undone.event, "message", "")):
            return msg("{who} undid record {n}.", who=who, n=undoes)
        return msg("{who} undid this: {text}", who=who, text=first_sentence(said))

    def _event(self, command: Command) -> Event:
        match command:
            case Hear():
                return self._announcement_event(command.heard)
            case Answer():
                return self._answered(command)
            case Correct():
                return self._corrected(command)
            case Undo():
                undoes = self._last_valid_record() if command.record is None else command.record
                return Undone(
                    undoes=undoes,
                    decided_by=command.decided_by,
                    message=self._undo_text(command.decided_by, undoes),
                )
            case Declare():
                done = moves_in_words(self._ledger.engine, self._ledger.state, command.moves)
                who, count = command.decided_by, len(command.moves)
                if count > MOST_QUOTED:
                    message = msg("{who} declared {n} moves.", who=who, n=count)
                else:
                    message = msg("{who} declared: {text}", who=who, text=quoted(done))
                return Declared(moves=command.moves, decided_by=command.decided_by, message=message)
            case Roll():
                return self._roll_event(command)
            case Appeal() | Uphold() | Resign():
                return self._objected(command)
            case Pause():
                if self._ledger.paused:
                    raise InputError(msg("pause: the referee is already paused"))
                return Paused(decided_by=command.decided_by)
            case Resume():
                if not self._ledger.paused:
                    raise InputError(msg("resume: the referee is not paused"))
                return Resumed(decided_by=command.decided_by)
            case NextGame():
                return self._next_game(command)
            case _:
                assert_never(command)

    def _corrected(self, correct: Correct) -> Corrected:
        who, corrects = correct.decided_by, correct.record
        before = state_before(self._ledger, corrects)
        message = (
            msg(
                "{who} corrected record {n}: {text}",
                who=who,
                n=corrects,
                text=quoted(moves_in_words(self._ledger.engine, before, correct.moves)),
            )
            if correct.moves
            else msg("{who} corrected record {n}: nothing happened instead.", who=who, n=corrects)
        )
        return Corrected(
            corrects=corrects,
            message=message,
            moves=correct.moves,
            decided_by=who,
            reason=correct.reason,
            misread=correct.misread,
        )

    def _next_game(self, command: NextGame) -> GameStarted:
        ledger = self._ledger
        players = command.players or ledger.players
        before = (
            ledger.begins
            if ledger.begins != "hand"
            else ledger.set_first
            if players == ledger.players
            else ""
        )
        how = first_player_decision(
            command.begins or before, ledger.started.game, players, self._lot
        )
        return GameStarted(players=players, rulings=ledger.options, **how._asdict())

    def _objected(self, command: Appeal | Uphold | Resign) -> Event:
        if isinstance(command, Uphold):
            return Upheld(
                upholds=command.appeal,
                decided_by=command.decided_by,
                message=msg(
                    "{who} rejected the appeal: the ruling stands.", who=command.decided_by
                ),
            )
        if command.player not in self._ledger.remaining_players:
            raise InputError(
                msg(
                    "expected a player who has not resigned ({text}), got {raw}",
                    text=in_a_row(self._ledger.remaining_players, "colour"),
                    raw=repr(command.player),
                )
            )
        if isinstance(command, Resign):
            if self._ledger.outcome is not None:
                raise InputError(msg("resign: the game is over"))
            return self._resigned(command)
        appealed = {
            (event.appeals, event.player)
            for open_one in self._ledger.appeals
            if isinstance(event := open_one.event, Appealed)
        }
        if (command.record, command.player) in appealed:
            raise InputError(
                msg(
                    "appeal: {player} has already appealed against record {n}",
                    player=command.player,
                    n=command.record,
                )
            )
        common = {"player": command.player, "n": command.record}
        message = (
            msg("{player} appeals against record {n}: {raw}", raw=command.reason, **common)
            if command.reason
            else msg("{player} appeals against record {n}.", **common)
        )
        return Appealed(
            appeals=command.record, player=command.player, reason=command.reason, message=message
        )

    def _resigned(self, command: Resign) -> Resigned:
        message = msg("{player} resigns.", player=command.player)
        others = len(self._ledger.remaining_players) > 2
        event = Resigned(
            player=command.player,
            decided_by=command.decided_by,
            message=message,
            passed_over=others,
        )
        if self._is_question_open(event):
            check_no_question(self._ledger)
        if not others:
            return event
        after = state_after(self._ledger, event)
        turn = shown_state(after.engine, after.state)["turn"]
        passed = msg(
            "{player}'s turns and votes are skipped; the pieces stay.", player=command.player
        )
        return msgspec.structs.replace(event, message=sentences(message, passed, turn))

    def _answered(self, answer: Answer) -> Answered:
        question = self._ledger.question
        asked = question.event if question else None
        if (
            question is None
            or question.seq != answer.question
            or not isinstance(asked, QuestionAsked)
        ):
            raise InputError(
                msg(
                    "answer: question {n} is not open: it was already answered or withdrawn",
                    n=answer.question,
                )
            )
        if answer.how == "calliper" and not answer.readings_mm:
            raise InputError(msg("answer: expected calliper readings in mm, got none"))
        choice = self._choice(asked, answer)
        message = decision(choice.label, answer.decided_by, answer.readings_mm)
        return Answered(
            question=question.seq,
            label=str(choice.label),
            how="calliper" if answer.readings_mm else "order",
            decided_by=answer.decided_by,
            moves=choice.moves,
            confirms_record=choice.confirms_record,
            readings_mm=answer.readings_mm,
            code=asked.code,
            message=message,
            rests_on=asked.rests_on,
            player=asked.player,
        )

    def _choice(self, asked: QuestionAsked, answer: Answer) -> Choice:
        """Return the choice that people named, or the one that matches their readings."""
        if not answer.label and answer.readings_mm:
            offered = tuple(Offered(choice.label, choice.moves) for choice in asked.choices)
            question = Ambiguous(code=asked.code, message=asked.message, choices=offered)
            moves = self._ledger.engine.judge_answer(
                question, answer.readings_mm, answer.decided_by
            ).moves
            return next(choice for choice in asked.choices if choice.moves == moves)
        for choice in asked.choices:
            if choice.label == answer.label:
                return choice
        labels = ", ".join(repr(choice.label) for choice in asked.choices)
        raise InputError(
            msg("answer: expected one of {text}, got {raw}", text=labels, raw=repr(answer.label))
        )

    def _last_valid_record(self) -> int:
        ledger = self._ledger
        if ledger.question is not None:
            return ledger.question.seq
        if ledger.standing:
            return ledger.standing[-1].seq
        if ledger.earlier is not None:
            return ledger.game_seq
        raise InputError(msg("undo: nothing has been ruled yet, so there is nothing to undo"))

    def alternatives(self, seq: int) -> tuple[Choice, ...]:
        """Return alternatives to record `seq`, to be sent as a Correct.

        As `referee.sessions.alternatives`. Raises InputError.
        """
        with self._changed:
            ledger = self._ledger
        check_ruling(ledger, seq)
        return alternatives(ledger, self.records(seq - 1, 1)[0])

    def end(self, reason: str = "") -> Record:
        """Record the end of the session; its log stays."""
        with self._writing:
            return self._append(SessionEnded(reason=reason))

    def records(self, after: int = 0, most: int | None = None) -> tuple[Record, ...]:
        """Return records of this session with seq > `after`, the first `most`.

        Those no longer in memory are read from the log.
        """
        with self._changed:
            last = self._ledger.seq
            kept = (
                tuple(self._records)
                if after >= self._records[0].seq - 1 or self._records[0].seq == self.id
                else None
            )
        found = (
            self._log.records(self.id, after, most)
            if kept is None
            else (record for record in kept if record.seq > after)
        )
        return tuple(record for record in islice(found, most) if record.seq <= last)

    def wait(self, after: int, timeout_s: float | None = None) -> tuple[Record, ...]:
        """Return `records`, at most RECORDS_KEPT, once there is at least one.

        Empty after the time limit, or if the session was closed.
        """
        with self._changed:
            self._changed.wait_for(lambda: self._closed or self._ledger.seq > after, timeout_s)
        return self.records(after, RECORDS_KEPT)

    def subscribe(self, after: int = 0) -> Iterator[Record]:
        """Yield every record with seq > `after`, once and in order, as they come.

        Ends when the session is closed.
        """
        while records := self.wait(after):
            yield from records
            after = records[-1].seq

    @property
    def closed(self) -> bool:
        """True once `close` has been called."""
        with self._changed:
            return self._closed

    def close(self) -> None:
        """Wake all listeners and end their waits, after a current write is on disk.

        The log stays open: the caller opened it.
        """
        with self._writing, self._changed:
            self._closed = True
            self._changed.notify_all()

    def frame(self, seq: int) -> bytes | None:
        """The JPEG kept with a record of this session, or None."""
        return (
            self._log.frame(seq)
            if any(record.frame and record.seq == seq for record in self.records(seq - 1, 1))
            else None
        )

    def view(self) -> pages.SessionView:
        """Return the view for pages; the same object until a record comes."""
        with self._changed:
            ledger, records, seen = self._ledger, tuple(self._records), self._seen
        viewed = self._viewed
        if viewed is None or viewed[0] is not ledger:
            self._viewed = viewed = ledger, pages.view(ledger, records, seen)
        return viewed[1]
