"""Verdicts of a judge on a settled table: a closed union of frozen values.

`code` is stable, for programs; `message` is the sentence for people. `rests_on` is the section of
the printed rules or the ruling that decides. `player` is the one concerned. `evidence` is plain
data (lengths in mm, sigma = one standard deviation).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from engines.errors import InvalidNotation, Violation
from table.json_data import Evidence
from table.messages import Message, as_sentence, msg, phrase, phrases, sentences
from table.observation import Observation
from table.observation_document import MeasurementDocument

PLAYERS = phrase("the players")
"""Stands for who decided if nobody is named."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Verdict:
    code: str
    message: str
    rests_on: str = ""
    player: str | None = None
    evidence: Evidence = field(default_factory=dict)
    table: Observation | None = None
    """The table with inferred pieces, such as one that another hides; None: as it was seen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted(_Verdict):
    """Something legal happened: `moves`, in the game's notation, take the state there."""

    moves: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused(_Verdict):
    """Something happened that the rules forbid; `tried` is the move as far as it can be written.

    `stands` are the moves that count all the same: what a throw moved that is made again.  Without
    them the state stays.
    """

    tried: tuple[str, ...] = ()
    stands: tuple[str, ...] = ()


class Choice(NamedTuple):
    """One thing that may have happened: its label, and its moves (none: nothing that counts).

    One that `confirms_record` counts without moves too: the table is as it is recorded, though the
    camera does not see all of it.
    """

    label: str
    moves: tuple[str, ...]
    confirms_record: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Ambiguous(_Verdict):
    """The picture cannot decide: people are asked which of `choices` it was.

    With `withdrawn_if_table_changes` they may also put the piece so that it can be read: the
    question is withdrawn when the table changes.
    """

    choices: tuple[Choice, ...]
    withdrawn_if_table_changes: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Unsettled(_Verdict):
    """Nothing counts yet: `asks` is put to people where the table stays so."""

    asks: Ambiguous | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting(Unsettled):
    """Nothing happened yet that counts; `message` tells what the game waits for.

    `differences` are sentences about what lies there and is neither that nor a part of it: such a
    table is put on record.  Where the table is `as_recorded` nothing is amiss, or half done.
    """

    differences: tuple[str, ...] = ()
    as_recorded: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CannotSee(Unsettled):
    """The table cannot be judged as it was seen; `message` tells why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OutOfSync(Unsettled):
    """Table and record disagree by more than a move: people put one of them right.

    `differences` are sentences, one for each piece.
    """

    differences: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Noted(_Verdict):
    """An input without a ruling to announce: a die, a vote. `moves` take the state there.

    The moves of a `secret` one are recorded but shown to nobody; `message` and `evidence` must not
    reveal them.
    """

    moves: tuple[str, ...]
    secret: bool = False


Verdict = Accepted | Refused | Ambiguous | Waiting | CannotSee | OutOfSync | Noted


def decision(label: str, who: str, readings_mm: Mapping[str, float] | None = None) -> Message:
    """Describe a decision of people; with a calliper's readings by piece, in mm.

    A piece is named by its player, or with a number too: `blue`, `blue 2`.
    """
    decided = label if label.endswith(".") else as_sentence(label)
    if not readings_mm:
        return sentences(decided, msg("Decided by {who}.", who=who))
    read = phrases(*(calliper_reading(*one) for one in readings_mm.items()), joint=",")
    by = msg("Decided by {who}, measured with a calliper ({text}).", who=who, text=read)
    return sentences(decided, by)


def calliper_reading(piece: str, gap_mm: float) -> Message:
    """Format a calliper's reading: `blue 2 57.5 mm`."""
    player, _, number = piece.partition(" ")
    if number:
        return phrase("{player} {n} {mm} mm", player=player, n=number, mm=f"{gap_mm:g}")
    return phrase("{player} {mm} mm", player=player, mm=f"{gap_mm:g}")


def answer_by_label(
    asked: Ambiguous, answer: str | Mapping[str, float], decided_by: str = PLAYERS
) -> Accepted:
    """Return the verdict of people's answer, given by the label of a choice.

    Raises InvalidNotation if no choice has it, and for readings in mm.
    """
    chosen = [
        choice
        for choice in asked.choices
        if isinstance(answer, str) and choice.label.lower() == answer.strip().lower()
    ]
    if not chosen:
        raise InvalidNotation(
            f"expected one of {', '.join(repr(choice.label) for choice in asked.choices)}, got"
            f" {answer!r}"
        )
    label = chosen[0].label
    return Accepted(
        code=asked.code,
        message=decision(label, decided_by),
        rests_on=asked.rests_on,
        player=asked.player,
        moves=chosen[0].moves,
        evidence={**asked.evidence, "decided_by": decided_by},
    )


def nothing_measured(_state: Any, _seen: Observation) -> MeasurementDocument:
    """Return no measurement, for games that measure nothing beyond their verdicts."""
    return {}


def refusal(
    violation: Violation,
    player: str | None,
    tried: tuple[str, ...],
    evidence: Evidence,
    stands: tuple[str, ...] = (),
) -> Refused:
    """Return the verdict on a move that the rules forbid."""
    return Refused(
        code=violation.code,
        message=violation.message,
        rests_on=violation.clause,
        player=player,
        tried=tried,
        stands=stands,
        evidence=evidence,
    )
