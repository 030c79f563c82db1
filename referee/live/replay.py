"""Judge a recorded session again: read its stored pictures with the current code.

Every verdict is judged in the state that the log had then: a changed one does not affect later
ones.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import vision.observe
from engines.game import facts
from engines.verdict import Unsettled, Waiting
from referee.live.referee import Observe
from referee.sessions.event_store import LogReader
from referee.sessions.events import (
    Answered,
    Corrected,
    Declared,
    InputRecorded,
    QuestionAsked,
    Record,
    Reopened,
    SessionStarted,
    TableChecked,
    VerdictReached,
)
from referee.sessions.judged_tables import JudgedTables
from referee.sessions.misreadings import KEY, apply_corrections, read_misread
from referee.sessions.state import Games, SessionState, apply, begin, record_errors
from referee.sessions.verdict_events import event_from_verdict, full_message, notice_event
from table.errors import InputError
from table.json_data import JsonObject
from table.messages import msg
from table.motion import STILL_MM
from table.observation import Observation
from table.table_config import Setup, parse_table
from vision.cameras.frame import Frame
from vision.cameras.image_files import decode_image
from vision.pipeline import TableReader

PEOPLE, HEARD = msg("decided by people"), msg("heard, not seen")
GONE = msg("its picture is no longer kept")
MISREAD = msg("asked whether pieces were misread")
LATER = msg("made out from what was seen later")
_NUMBER = re.compile(r"\d+\.\d+")


@dataclass(frozen=True, slots=True)
class Rejudged:
    """The current verdict beside one in the log.

    `now` is the event that would be written, or None; `message` its sentence, or why there is none.
    `changes` are the differences, (what, was, would be) each. `not_judged` is the reason why it
    could not be judged, else empty.
    """

    record: Record
    now: VerdictReached | QuestionAsked | InputRecorded | None = None
    message: str = ""
    changes: tuple[tuple[str, str, str], ...] = ()
    not_judged: str = ""


def rejudge(
    log: LogReader, session: int, games: Games, observe: Observe | None = None
) -> Iterator[Rejudged]:
    """Judge every verdict of a session again, in order.

    `observe` reads a picture, by default as `vision.observe` does. Raises InputError for a session
    that does not exist or does not know its table, and for moves that are not legal by these
    engines.
    """
    records = log.records(session)
    again = _Replay(log, observe or partial(vision.observe.observe, reader=TableReader()))
    where = f"{log.path}: session {session}"
    with record_errors(records[0], where):
        ledger = begin(records[0], games)
    again.open(records[0], ledger)
    for record in records[1:]:
        match record.event:
            case VerdictReached() as event if event.evidence.get("in_hindsight"):
                yield again.leave_out(record, LATER)
            case VerdictReached() | QuestionAsked() as event if event.observation is not None:
                yield again.judge(record, event, ledger)
            case VerdictReached() | QuestionAsked() | InputRecorded():
                yield Rejudged(record, not_judged=HEARD)
            case Answered() | Corrected() | Declared():
                yield Rejudged(record, not_judged=PEOPLE)
            case Reopened():
                again.open(record, ledger)
            case TableChecked() as event if event.table:
                again.read_by(event.table, record)
        with record_errors(record, where):
            ledger = apply(ledger, record)


class _Replay:
    """State of the replayed referee: the tables that were judged."""

    def __init__(self, log: LogReader, observe: Observe) -> None:
        self._log, self._observe = log, observe
        self._ruled_on: JudgedTables[Observation | str] = JudgedTables()

    def open(self, record: Record, ledger: SessionState) -> None:
        """Start as the program did with this table.

        The stored tables are dropped, except a set-up, which is not judged twice.
        """
        started = record.event
        assert isinstance(started, SessionStarted | Reopened)
        self.read_by(started.table, record)
        self._empty = self._frame(record)
        moved = any(entry.moves and not entry.is_first_player_ruling for entry in ledger.standing)
        set_up = None if moved else self._ruled_on.before(ledger)
        self._ruled_on = JudgedTables()
        if set_up is not None:
            self._ruled_on.keep(ledger.standing[-1].seq, set_up)

    def read_by(self, table: JsonObject, record: Record) -> None:
        """Use this table from here on; no picture shows it empty."""
        self._setup: Setup = parse_table(table, f"{self._log.path}: record {record.seq}: table")
        self._empty = None

    def judge(
        self, record: Record, was: VerdictReached | QuestionAsked, ledger: SessionState
    ) -> Rejudged:
        """Judge a record's picture; `ledger` is the session before it."""
        try:
            frame = self._frame(record)
        except InputError as error:
            return self.leave_out(
                record, str(error), "the picture of the table before it is damaged"
            )
        if frame is None:
            return self.leave_out(
                record, GONE, msg("the picture of the table before it is no longer kept")
            )
        seen = self._observe(frame, self._setup, self._empty)
        if not isinstance(seen, Observation) or seen.hand:
            message = (
                msg("a hand is seen over the board")
                if isinstance(seen, Observation)
                else seen.reason
            )
            self._ruled_on.keep(record.seq, msg("the table before it is not read any more"))
            return Rejudged(
                record, None, message, differences(was, None, facts(ledger.engine).comparable)
            )
        as_ruled = was.evidence.get(KEY)
        misread = read_misread(as_ruled) if isinstance(as_ruled, list) else ledger.misread
        seen = apply_corrections(seen, misread, ledger.colours_misread, self._setup).table
        before = self._ruled_on.before(ledger)
        if isinstance(before, Observation):
            before = apply_corrections(before, ledger.misread, {}, self._setup).table
        if isinstance(was, QuestionAsked) and isinstance(as_ruled, dict) and any(as_ruled.values()):
            self._ruled_on.keep(record.seq, seen)
            return Rejudged(record, not_judged=MISREAD)
        if isinstance(before, str):
            self._ruled_on.keep(record.seq, seen)
            return Rejudged(record, not_judged=before)
        verdict = ledger.engine.judge(ledger.state, seen, before, self._setup.board)
        self._ruled_on.keep(record.seq, verdict.table or seen)
        if (
            isinstance(was, QuestionAsked)
            and isinstance(verdict, Unsettled)
            and verdict.asks is not None
        ):
            verdict = verdict.asks
        seen_before = isinstance(was, VerdictReached) and was.verdict == "waiting"
        now = (
            notice_event(verdict)
            if seen_before and isinstance(verdict, Waiting)
            else event_from_verdict(verdict)
        )
        changes = differences(was, now, facts(ledger.engine).comparable)
        return Rejudged(record, now, full_message(verdict), changes)

    def leave_out(
        self,
        record: Record,
        why: str,
        after: str = "the table before it was made out from what was seen later",
    ) -> Rejudged:
        """Return a verdict that cannot be judged again.

        `after` is the reason for later verdicts that rest on its table.
        """
        self._ruled_on.keep(record.seq, after)
        return Rejudged(record, not_judged=why)

    def _frame(self, record: Record) -> Frame | None:
        jpeg = self._log.frame(record.seq)
        return (
            None
            if jpeg is None
            else Frame(
                record.seq,
                record.at_ms,
                decode_image(jpeg, f"{self._log.path}: frame {record.seq}"),
            )
        )


def differences(
    was: VerdictReached | QuestionAsked,
    now: VerdictReached | QuestionAsked | InputRecorded | None,
    comparable: Callable[[str], str],
) -> tuple[tuple[str, str, str], ...]:
    """Return the differences between two verdicts: (what, was, would be) each.

    `comparable` is that of `engines.game.GameFacts`. Sentences and evidence are not compared.
    Distances within `STILL_MM` are equal: a stored picture is a JPEG, not the camera's frame.
    """
    then, today = _parts(was, comparable), _parts(now, comparable)
    return tuple(
        (what, then[what], today[what]) for what in then if not _same(then[what], today[what])
    )


def _parts(
    event: VerdictReached | QuestionAsked | InputRecorded | None, comparable: Callable[[str], str]
) -> dict[str, str]:
    if event is None:
        return {"verdict": "none", "code": "", "player": "", "moves": "", "rule": ""}
    verdict = (
        event.verdict
        if isinstance(event, VerdictReached)
        else "ambiguous"
        if isinstance(event, QuestionAsked)
        else "noted"
    )
    ways = (
        [choice.moves for choice in event.choices]
        if isinstance(event, QuestionAsked)
        else [event.moves]
    )
    moves = " or ".join(
        sorted(
            ("; ".join(map(comparable, way)) for way in ways),
            key=lambda text: _NUMBER.sub("", text),
        )
    )
    rule = "; ".join(
        [str(event.evidence.get("violation", "")), *event.evidence.get("differences", ())]
    )
    return {
        "verdict": verdict,
        "code": event.code,
        "player": event.player or "",
        "moves": moves,
        "rule": rule.strip("; "),
    }


def _same(a: str, b: str) -> bool:
    """True for equal words, and decimal numbers (mm) within STILL_MM."""
    if _NUMBER.sub("", a) != _NUMBER.sub("", b):
        return False
    return all(
        abs(float(x) - float(y)) <= STILL_MM
        for x, y in zip(_NUMBER.findall(a), _NUMBER.findall(b), strict=True)
    )
