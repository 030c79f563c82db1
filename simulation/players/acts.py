"""Acts of simulated players, and comparison of the referee's rulings with the truth."""

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
    """What a player does, and the ruling that the referee must make of it.

    `bodies` is the table afterwards. `message` is said in place of an act on the table. `moves` are
    played or, if refused, tried; empty if the act is no move. `code` is empty where any code is
    right. An act that is `heard` counts, announced or only noted. One that is to be done `again` is
    refused, but what it moved counts. Players decide on one that is `declared`. `typed` is what
    they enter if the camera did not see the act.
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
        """True if it counts."""
        return self.ruling in ("accepted", "again", "heard")


@dataclass(frozen=True, slots=True)
class JudgedAct:
    """An act, the referee's ruling on it, and whether that was right.

    `verdict` is "asked" if a question was asked. It is "not seen" if the act could not be seen or
    its squares are left open. It is "nothing" if nothing was recorded: no verdict, or a question
    without the true answer.
    """

    act: Act
    before: str
    events: tuple[Event, ...]
    verdict: Literal["right", "asked", "not seen", "nothing", "wrong"]


def act_verdict(
    act: Act, events: tuple[Event, ...], stands: bool
) -> Literal["right", "asked", "not seen", "nothing", "wrong"]:
    """Compare the referee's ruling on an act with the truth.

    `stands` is true if the record afterwards agrees with the truth.
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
    )  # an act that was asked about before has the question's code
    if stands and ruling == act.ruling and as_described:
        return "right"
    return "not seen" if act.lawful and agrees_up_to_doubt(event.moves, act.moves) else "wrong"


def agrees_up_to_doubt(recorded: tuple[str, ...], truth: tuple[str, ...]) -> bool:
    """True if recorded moves agree with the true ones, up to squares that are too close to call.

    The notation has a question mark after each of these. The kind of a move, its first word, is
    never open: a throw that counts differs from one that is thrown again.
    """
    if [move.split()[0] for move in recorded] != [move.split()[0] for move in truth]:
        return False
    squares = set(SQUARE.findall(" ".join(truth)))
    may_be = set(SQUARE.findall(" ".join(recorded)))
    sure = {square for square in may_be if f"{square}?" not in " ".join(recorded)}
    return sure < may_be and sure <= squares <= may_be


def may_lead_to_question(event: Event, act: Act) -> bool:
    """True if a question may follow from the event."""
    return _cannot_see(event) or _is_waiting_notice(event) or (act.lawful and _out_of_sync(event))


def rests_on_table(event: Event) -> bool:
    """True if the table was as recorded at the time of the event."""
    return isinstance(event, Answered | Corrected | Declared) or (
        isinstance(event, VerdictReached) and event.observation is not None
    )


def is_heard(event: Event) -> bool:
    """True if it was said, rather than seen on the table."""
    return isinstance(event, InputRecorded) or (
        isinstance(event, VerdictReached) and event.observation is None
    )


def _cannot_see(event: Event) -> bool:
    return isinstance(event, VerdictReached) and event.verdict == "cannot_see"


def _is_waiting_notice(event: Event) -> bool:
    """True if it only says that the table is not what the game waits for."""
    return isinstance(event, VerdictReached) and event.verdict == "waiting"


def _out_of_sync(event: Event) -> bool:
    return isinstance(event, VerdictReached) and event.verdict == "out_of_sync"
