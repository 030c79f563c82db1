"""What simulated players do, and whether the referee ruled on it as it truly was."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from referee.sessions.events import (
    Answered,
    Corrected,
    Declared,
    Event,
    InputRecorded,
    QuestionAsked,
    VerdictReached,
)
from simulation.players.laying import Bodies

SQUARE = re.compile(r"\b[a-z]\d\b")
"""A square of the chessboard in notation."""

Ruling = Literal["accepted", "refused", "again", "out_of_sync", "heard", "declared"]


@dataclass(frozen=True, slots=True)
class Act:
    """What somebody does, and the ruling that the referee must make of it.

    `bodies` is the table afterwards; `message` is told instead of anything being done. `moves` are
    played or, where they are refused, tried; empty for what is no move. `code` is empty where any
    code will do. What is `heard` counts, announced or only noted; what is done `again` is refused,
    but what it moved counts; people decide what is `declared`. `typed` is what people say where the
    camera did not see it.
    """

    name: str
    bodies: Bodies
    ruling: Ruling
    code: str = ""
    moves: tuple[str, ...] = ()
    heard: Mapping[str, Any] | None = None
    typed: Mapping[str, Any] | None = None

    @property
    def lawful(self) -> bool:
        """Whether it counts."""
        return self.ruling in ("accepted", "again", "heard")


@dataclass(frozen=True, slots=True)
class JudgedAct:
    """An act with what the referee said about it, and whether that was right.

    `verdict` is "asked" where people were asked, "not seen" where the act could not be seen or
    its squares are left open, "nothing" where nothing was recorded: no verdict, or a question
    without the true answer.
    """

    act: Act
    before: str
    events: tuple[Event, ...]
    verdict: Literal["right", "asked", "not seen", "nothing", "wrong"]


def act_verdict(
    act: Act, events: tuple[Event, ...], stands: bool
) -> Literal["right", "asked", "not seen", "nothing", "wrong"]:
    """Judge what the referee made of an act.

    `stands`: the record says afterwards what truly happened.
    """
    heard = [
        event
        for event in events
        if isinstance(
            event, VerdictReached | InputRecorded | QuestionAsked | Answered | Corrected | Declared
        )
        and not _is_waiting_notice(event)
    ]
    if not heard:
        return "nothing"
    ruled = [event for event in heard if not _cannot_see(event)]
    if not ruled:
        return "not seen"
    event = ruled[0]
    if isinstance(event, QuestionAsked):
        recorded = [moves for other in ruled if (moves := getattr(other, "moves", ()))]
        if stands:
            return "asked"
        if not recorded:
            return "nothing"
        return (
            "not seen"
            if all(agrees_up_to_doubt(moves, act.moves) for moves in recorded)
            else "wrong"
        )
    if len(ruled) < len(heard) and stands:
        return "not seen"
    if (
        act.lawful
        and stands
        and _out_of_sync(event)
        and any(isinstance(other, QuestionAsked) for other in ruled)
    ):
        return "asked"
    if len(heard) > 1 or not isinstance(event, VerdictReached | InputRecorded):
        return "wrong"
    ruling = (
        "heard"
        if act.ruling == "heard"
        and (isinstance(event, InputRecorded) or event.verdict == "accepted")
        else getattr(event, "verdict", "noted")
    )
    ruling = "again" if isinstance(event, VerdictReached) and event.stands else ruling
    named, played = act.code in ("", event.code), act.moves == event.moves
    as_described = (
        (named or played) if act.lawful else named and (played or not act.moves)
    )  # what was asked before has the code of the question
    if stands and ruling == act.ruling and as_described:
        return "right"
    return "not seen" if act.lawful and agrees_up_to_doubt(event.moves, act.moves) else "wrong"


def agrees_up_to_doubt(recorded: tuple[str, ...], truth: tuple[str, ...]) -> bool:
    """True if the moves hold the true ones, whose squares may be too close to call.

    In the notation a question mark stands after each of these. What was done, the first word of a
    move, is never open: a throw that counts is not one that is thrown again.
    """
    if [move.split()[0] for move in recorded] != [move.split()[0] for move in truth]:
        return False
    squares = set(SQUARE.findall(" ".join(truth)))
    may_be = set(SQUARE.findall(" ".join(recorded)))
    sure = {square for square in may_be if f"{square}?" not in " ".join(recorded)}
    return sure < may_be and sure <= squares <= may_be


def may_lead_to_question(event: Event, act: Act) -> bool:
    """Whether a question may follow from the event, for whoever waits for it."""
    return _cannot_see(event) or _is_waiting_notice(event) or (act.lawful and _out_of_sync(event))


def rests_on_table(event: Event) -> bool:
    """Whether the table was as the record says when this was put on record."""
    return isinstance(event, Answered | Corrected | Declared) or (
        isinstance(event, VerdictReached) and event.observation is not None
    )


def is_heard(event: Event) -> bool:
    """Whether it was said, rather than seen on the table."""
    return isinstance(event, InputRecorded) or (
        isinstance(event, VerdictReached) and event.observation is None
    )


def _cannot_see(event: Event) -> bool:
    return isinstance(event, VerdictReached) and event.verdict == "cannot_see"


def _is_waiting_notice(event: Event) -> bool:
    """Whether it only says that the table is not what the game waits for."""
    return isinstance(event, VerdictReached) and event.verdict == "waiting"


def _out_of_sync(event: Event) -> bool:
    return isinstance(event, VerdictReached) and event.verdict == "out_of_sync"
