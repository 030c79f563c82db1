"""Build the view of a session for pages and programs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from engines.board_marks import Mark, Option
from engines.game import shown_state
from engines.rule_texts import explain
from referee.presentation.announcements import announcement, sound
from referee.presentation.lamp_cues import standing
from referee.presentation.move_marks import trace
from referee.presentation.session_view import (
    Alternative,
    Clause,
    Decision,
    Kind,
    Lamps,
    OpenAppeal,
    Phase,
    Question,
    Ranked,
    Ruling,
    SessionView,
    Verdict,
)
from referee.sessions.events import (
    Answered,
    Appealed,
    Choice,
    Corrected,
    Declared,
    Event,
    GameStarted,
    InputRecorded,
    QuestionAsked,
    Record,
    Resigned,
    SessionStarted,
    TableChecked,
    Undone,
    Upheld,
    VerdictReached,
)
from referee.sessions.secret_votes import hidden_votes
from referee.sessions.state import SessionState
from table.messages import NOTHING, Message, phrase
from table.observation_document import Measurement, ObservationDocument

__all__ = ["SessionView", "alternative", "decision_of", "ranked", "view"]

VERDICTS_SHOWN = 30


def view(ledger: SessionState, records: Sequence[Record], seen: Record | None) -> SessionView:
    """Return the view of a session.

    `records` are the newest ones, `seen` the last one with an observation, None without one.
    """
    state = shown_state(ledger.engine, ledger.state)
    if "may_say" in state:
        state["may_say"] = [
            one
            for one in state["may_say"]
            if ledger.has_sizes([str(size)] if (size := one["said"].get("size")) else ())
        ]
    outcome = ledger.outcome
    last = records[-1]
    observation = _observation(seen)
    started = ledger.started
    lamps = standing(ledger, ledger.board, state)
    wish = _wished_option(ledger)
    return SessionView(
        session=ledger.session,
        seq=last.seq,
        at_ms=last.at_ms,
        started_utc=started.started_utc,
        game=started.game,
        game_number=ledger.game_number,
        players=ledger.players,
        names=started.names,
        rulings=state.get("rulings", ledger.options),
        camera=started.camera,
        simulated=started.simulated,
        phase=phase_of(
            ended=ledger.ended,
            paused=ledger.paused,
            asking=ledger.question is not None,
            over=outcome is not None,
        ),
        next=state.get("next"),
        scores=state.get("scores", {}),
        ends=ledger.ends,
        outcome=outcome,
        resigned=ledger.resigned,
        may_begin=ledger.may_begin,
        hidden=hidden_votes(ledger),
        appeals=tuple(map(_appeal, ledger.appeals)),
        earlier_games=_earlier_games(ledger),
        state=state,
        options=_options(ledger, wish),
        wish=wish,
        trace=_trace(ledger, records),
        lamps=Lamps(signal=lamps.signal, of=lamps.of, leader=lamps.leader),
        observation=observation,
        ranking=ranked(observation),
        earlier=_earlier(ledger, records),
        question=_question(started.game, ledger.question),
        verdicts=_verdicts(started.game, records),
    )


def _options(ledger: SessionState, wish: Option | None) -> tuple[Option, ...]:
    """Options now; with a computer player's wish, only that."""
    if ledger.question or ledger.ended:
        return ()
    return ledger.engine.options(ledger.state) if wish is None else (wish,)


def _wished_option(ledger: SessionState) -> Option | None:
    """A computer player's wish, with its marks on the board."""
    wish = ledger.wish
    if wish is None or ledger.question or ledger.ended:
        return None
    engine = ledger.engine
    return Option(
        wish.player, wish.message, engine.trace(ledger.state, engine.parse_move(wish.move))
    )


def _observation(seen: Record | None) -> ObservationDocument | None:
    """Observation of a record; None without one."""
    event = seen and seen.event
    if not isinstance(event, VerdictReached | QuestionAsked) or event.observation is None:
        return None
    return msgspec.convert(event.observation, ObservationDocument)


def _earlier(ledger: SessionState, records: Sequence[Record]) -> ObservationDocument | None:
    """The table of the last ruling in force, if another was just undone.

    None if nothing was just undone, or that table is not known.
    """
    if not isinstance(records[-1].event, Undone):
        return None
    in_force = {entry.question.seq if entry.question else entry.seq for entry in ledger.standing}
    for record in reversed(records):
        if isinstance(record.event, GameStarted):
            return None
        if record.seq in in_force and (table := _observation(record)) is not None:
            return table
    return None


def ranked(measured: ObservationDocument | Measurement | None) -> tuple[Ranked, ...]:
    """Number the gaps by rank."""
    gaps = measured.gaps if measured else ()
    return tuple(
        Ranked(place=place, **msgspec.structs.asdict(gap))
        for place, gap in enumerate(gaps or (), 1)
    )


def phase_of(*, ended: bool, paused: bool, asking: bool, over: bool) -> Phase:
    """Phase of a session, by precedence; `over` refers to its newest game."""
    if ended:
        return "ended"
    if paused:
        return "paused"
    if asking:
        return "asking"
    return "over" if over else "playing"


def _earlier_games(ledger: SessionState) -> tuple[str, ...]:
    """Outcomes of the games before this one, oldest first."""
    sentences: list[str] = []
    earlier = ledger.earlier
    while earlier is not None:
        sentences.insert(0, earlier.outcome or phrase("not finished"))
        earlier = earlier.earlier
    return tuple(sentences)


def _appeal(record: Record) -> OpenAppeal:
    event = record.event
    assert isinstance(event, Appealed), "the ledger keeps no others as appeals"
    return OpenAppeal(
        seq=record.seq,
        at_ms=record.at_ms,
        appeals=event.appeals,
        player=event.player,
        reason=event.reason,
        message=event.message,
    )


def _question(game: str, record: Record | None) -> Question | None:
    if record is None or not isinstance(record.event, QuestionAsked):
        return None
    asked = record.event
    return Question(
        seq=record.seq,
        at_ms=record.at_ms,
        code=asked.code,
        player=asked.player,
        message=asked.message,
        rests_on=asked.rests_on,
        clauses=_clauses(game, asked.rests_on),
        choices=tuple(map(alternative, asked.choices)),
        evidence=asked.evidence,
        frame=record.seq if record.frame else None,
    )


def alternative(choice: Choice) -> Alternative:
    """Convert a choice for people."""
    return Alternative(label=choice.label, moves=choice.moves)


def _trace(ledger: SessionState, records: Sequence[Record]) -> tuple[Mark, ...]:
    """Marks of the newest decision.

    None after an undo of it, and in a new game.
    """
    for place in range(len(records), 0, -1):
        event = records[place - 1].event
        if isinstance(event, Undone | GameStarted | Corrected):
            return ()
        if decision_of(event) is not None:
            return trace(ledger.engine, ledger.board, records[:place])
    return ()


def _clauses(game: str, rests_on: str) -> tuple[Clause, ...]:
    return tuple(Clause(name=name, text=text) for name, text in explain(game, rests_on))


def _verdicts(game: str, records: Sequence[Record]) -> tuple[Verdict, ...]:
    overturned_by = _correcting_records(records)
    verdicts = []
    for record in reversed(records):
        if (decision := decision_of(record.event)) is None:
            continue
        state = getattr(record.event, "state", {})
        verdicts.append(
            Verdict(
                **msgspec.structs.asdict(decision),
                seq=record.seq,
                at_ms=record.at_ms,
                clauses=_clauses(game, decision.rests_on),
                sound=sound(game, decision.verdict, decision.code, state),
                frame=record.seq if record.frame else None,
                overturned_by=overturned_by.get(record.seq),
            )
        )
        if len(verdicts) == VERDICTS_SHOWN:
            break
    return tuple(verdicts)


def _correcting_records(records: Sequence[Record]) -> dict[int, int]:
    """Map each record to the one that corrected or undid it; the latest correction counts."""
    by: dict[int, int] = {}
    for record in records:
        if isinstance(record.event, Corrected):
            target = record.event.corrects
        elif isinstance(record.event, Undone):
            target = record.event.undoes
        else:
            continue
        if target in by:
            by[by[target]] = record.seq
        by[target] = record.seq
    return by


def decision_of(event: Event) -> Decision | None:
    """Return the decision of an event; None if it has none."""
    match event:
        case SessionStarted() | GameStarted() if event.message:
            return _decision(
                event,
                "begun",
                "by hand" if event.begins == "hand" else "accepted",
                code=f"begins.{event.begins}",
                player=event.first,
            )
        case VerdictReached():
            return _decision(
                event, "ruled", event.verdict, moves=event.moves, evidence=event.evidence
            )
        case InputRecorded():
            moves = () if event.secret else event.moves
            return _decision(event, "noted", "noted", moves=moves, evidence=event.evidence)
        case QuestionAsked():
            return _decision(event, "asked", "ambiguous", evidence=event.evidence)
        case Answered():
            return _decision(
                event,
                "answered",
                "by hand",
                moves=event.moves,
                evidence={"readings_mm": event.readings_mm},
                refers_to=event.question,
            )
        case Corrected():
            return _decision(
                event,
                "corrected",
                "by hand",
                moves=event.moves,
                evidence={"reason": event.reason},
                refers_to=event.corrects,
            )
        case Declared():
            return _decision(event, "declared", "by hand", moves=event.moves)
        case Undone():
            return _decision(event, "undone", "by hand", refers_to=event.undoes)
        case Appealed():
            return _decision(event, "appealed", "by hand", refers_to=event.appeals)
        case Upheld():
            return _decision(event, "upheld", "by hand", refers_to=event.upholds)
        case Resigned():
            return _decision(event, "resigned", "by hand")
        case TableChecked():
            return _decision(event, "table", "by hand" if event.decided_by else "table")
        case _:
            return None


def _decision(event: Event, kind: Kind, verdict: Ruling, **more: Any) -> Decision:
    """Build a decision from those of its fields that the event has."""
    own = {
        name: value
        for name in ("code", "player", "rests_on", "decided_by")
        if (value := getattr(event, name, None))
    }
    message: Message = getattr(event, "message", NOTHING)
    spoken = "" if verdict == "waiting" else announcement(kind, message)
    return Decision(kind=kind, verdict=verdict, message=message, call=spoken, **(own | more))
