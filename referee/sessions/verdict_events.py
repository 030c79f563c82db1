"""Convert verdicts to the facts of the log."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, assert_never

import msgspec

from engines.verdict import Accepted, Ambiguous, CannotSee, OutOfSync, Refused, Verdict, Waiting
from engines.verdict import Noted as Heard
from referee.sessions.events import Choice, InputRecorded, QuestionAsked, VerdictReached
from referee.sessions.misreadings import KEY, Misread, misreadings_data
from referee.sessions.state import SessionState
from table.json_data import JsonObject
from table.messages import Message, as_message, sentences
from table.messages import plain as plain_text
from table.observation import Observation, observation_document

LIKELIEST = "likeliest"
"""Key of a question's evidence: its first answer is the only explanation of the table."""
HOST_DECIDES = "host_decides"
"""Key of a question's evidence: only the host may answer, not phones or buttons."""


def _plain_evidence(value: Any) -> Any:
    """Convert evidence to plain data; messages are kept.

    A mapping with messages as keys becomes rows with the key as `said`, as keys in JSON are texts.
    """
    match value:
        case Message():
            return value
        case Mapping() if any(isinstance(name, Message) for name in value):
            return [{"said": name, "move": _plain_evidence(one)} for name, one in value.items()]
        case Mapping():
            return {str(name): _plain_evidence(one) for name, one in value.items()}
        case list() | tuple():
            return [_plain_evidence(one) for one in value]
        case _:
            return plain_text(value)


def full_message(verdict: Verdict) -> Message:
    """Return a verdict's sentences for people, with each difference from the record."""
    differences = verdict.differences if isinstance(verdict, OutOfSync) else ()
    return sentences(verdict.message, *differences)


def event_from_verdict(
    verdict: Verdict, observation: JsonObject | None = None
) -> VerdictReached | QuestionAsked | InputRecorded | None:
    """Return the fact of a verdict; None if there is nothing to record.

    `observation` is what it rests on, None for an input.
    """
    code, rests_on, player = verdict.code, verdict.rests_on, verdict.player
    message, evidence = full_message(verdict), _plain_evidence(verdict.evidence)
    if isinstance(verdict, OutOfSync):
        evidence |= {"differences": _plain_evidence(verdict.differences)}
    reached = partial(
        VerdictReached,
        code=code,
        message=message,
        rests_on=rests_on,
        player=player,
        evidence=evidence,
        observation=observation,
    )
    match verdict:
        case Accepted():
            return reached(verdict="accepted", moves=verdict.moves)
        case Refused():
            return reached(verdict="refused", moves=verdict.tried, stands=verdict.stands)
        case CannotSee():
            return reached(verdict="cannot_see")
        case OutOfSync():
            return reached(verdict="out_of_sync")
        case Ambiguous():
            choices = tuple(
                Choice(label=as_message(label), moves=moves, confirms_record=confirms_record)
                for label, moves, confirms_record in verdict.choices
            )
            return QuestionAsked(
                code=code,
                message=message,
                choices=choices,
                withdrawn_if_table_changes=verdict.withdrawn_if_table_changes,
                rests_on=rests_on,
                player=player,
                evidence=evidence,
                observation=observation,
            )
        case Heard():
            return InputRecorded(
                code=code,
                message=message,
                rests_on=rests_on,
                player=player,
                moves=verdict.moves,
                secret=verdict.secret,
                evidence=evidence,
            )
        case Waiting():
            return None
        case _:
            assert_never(verdict)


def with_sizes_in_play(event: QuestionAsked, ledger: SessionState) -> QuestionAsked:
    """Remove a question's answers that name a size which is not in play."""
    possible = tuple(
        choice
        for choice in event.choices
        if ledger.has_sizes(word for move in choice.moves for word in move.split())
    )
    return (
        msgspec.structs.replace(event, choices=possible)
        if any(choice.moves for choice in possible)
        else event
    )


def notice_event(verdict: Waiting, observation: JsonObject | None = None) -> VerdictReached:
    """Return the fact that the table shows something that the game does not expect."""
    return VerdictReached(
        verdict="waiting",
        code=verdict.code,
        message=as_message(verdict.message),
        rests_on=verdict.rests_on,
        player=verdict.player,
        evidence=_plain_evidence(verdict.evidence)
        | {"differences": _plain_evidence(verdict.differences)},
        observation=observation,
    )


def with_misreadings(
    event: VerdictReached | QuestionAsked,
    misread: tuple[Misread, ...],
    answers: Mapping[str, tuple[Misread, ...]] | None,
) -> VerdictReached | QuestionAsked:
    """Add the misread pieces of its table to a fact.

    `answers` are the pieces that are also misread if a choice is true, by the label of the choice.
    """
    if isinstance(event, VerdictReached):
        corrections: Any = misreadings_data(misread)
    else:
        corrections = {
            str(choice.label): misreadings_data((*misread, *(answers or {}).get(choice.label, ())))
            for choice in event.choices
        }
    return msgspec.structs.replace(event, evidence=event.evidence | {KEY: corrections})


def document(seen: Observation, ledger: SessionState) -> JsonObject:
    """Return `rinkside-observation/1` with the game's measurements in it."""
    return {**observation_document(seen), **ledger.engine.measurement(ledger.state, seen)}


def confirms_record(verdict: Verdict, ledger: SessionState) -> bool:
    """True if a verdict only accepts that the table is as recorded.

    A set-up looks new to a program that was just restarted.
    """
    return isinstance(verdict, Accepted) and not verdict.moves and ledger.has_begun
