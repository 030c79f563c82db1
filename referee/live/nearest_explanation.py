"""Ask whether a table that matches nothing would match if pieces were misread."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from engines.occlusion import NONE_OF_THESE
from engines.verdict import Accepted, Ambiguous, Choice, Unsettled, Verdict, Waiting
from referee.sessions.misreadings import (
    EXPLAINS,
    Followed,
    Judge,
    Misread,
    MisreadingExplanation,
    explanations,
    likest,
    new_piece_indexes,
    rank,
)
from referee.sessions.state import SessionState
from referee.sessions.verdict_events import HOST_DECIDES, LIKELIEST, full_message
from table.cells import cell_at
from table.messages import Message, all_of, first_sentence, msg, phrase, phrases, sentences
from table.observation import Observation
from table.table_config import Setup

CHOICES = 4
"""Most explanations offered, the likeliest first."""
SAME_MM = 2.0
"""Largest distance in mm at which a new piece may be a misreading of an earlier one."""


@dataclass(frozen=True, slots=True)
class MisreadingQuestion:
    """A question, and the misread pieces of each choice, by label."""

    question: Ambiguous
    misread: dict[str, tuple[Misread, ...]]


def _judge(ledger: SessionState, before: Observation | None, setup: Setup) -> Judge:
    """Return the game's judge, bound to the table `before` of the last verdict."""
    return lambda table: ledger.engine.judge(ledger.state, table, before, setup.board)


def ask_misreading(
    ledger: SessionState,
    verdict: Verdict,
    seen: Observation,
    before: Observation | None,
    setup: Setup,
) -> MisreadingQuestion | None:
    """Ask which pieces are misread; None if no near reading explains the table."""
    found = explanations(
        _judge(ledger, before, setup), verdict, seen, before, ledger.colours, setup
    )
    return _asked(ledger, verdict, seen, found, setup)


def ask_swapped(
    ledger: SessionState,
    verdict: Verdict,
    seen: Observation,
    before: Observation | None,
    setup: Setup,
) -> MisreadingQuestion | None:
    """Ask whether earlier pieces are misread, if new ones are read at their places.

    None unless every new piece lies within SAME_MM of an earlier one.
    """
    if before is None:
        return None
    there = [
        (
            k,
            [
                was
                for was in before.pieces
                if np.hypot(*(was.base_mm - seen.pieces[k].base_mm)) <= SAME_MM
            ],
        )
        for k in new_piece_indexes(seen, before)
    ]
    colours = tuple(dict.fromkeys(was.colour for _, were in there for was in were))
    if not there or not all(were for _, were in there):
        return None
    found = [
        one
        for one in explanations(
            _judge(ledger, before, setup), verdict, seen, before, colours, setup
        )
        if not new_piece_indexes(one.table, before)
    ]
    return _asked(ledger, verdict, seen, found, setup)


def ask_if_start(
    ledger: SessionState, verdict: Verdict, seen: Observation, setup: Setup
) -> MisreadingQuestion | None:
    """Ask the host whether an unexplained table is the start position anyway.

    None if the game has no set-up, has begun, or could not continue from this table.
    """
    if (
        ledger.has_begun
        or not isinstance(verdict, Waiting)
        or not verdict.differences
        or verdict.asks is not None
    ):
        return None
    found = likest(_judge(ledger, None, setup), verdict, seen, ledger.colours, setup)
    if not seen.pieces or rank(_judge(ledger, found.table, setup)(found.table)) < EXPLAINS:
        return None
    choice = Choice(msg("Start from this table anyway"), (), confirms_record=True)
    question = Ambiguous(
        code=verdict.code,
        message=sentences(
            full_message(verdict), msg("Which is right?"), msg("You can also fix the table.")
        ),
        rests_on=verdict.rests_on,
        evidence={**verdict.evidence, HOST_DECIDES: True},
        choices=(choice, NONE_OF_THESE),
        withdrawn_if_table_changes=True,
    )
    return MisreadingQuestion(question, {choice.label: found.misread})


def ask_still_misread(
    ledger: SessionState, followed: Followed, seen: Observation, setup: Setup
) -> MisreadingQuestion | None:
    """Ask whether a corrected piece that has moved is still misread.

    None if the move does not depend on that.
    """
    best, rival = followed
    if rival is None:
        return None
    moved = best._replace(misread=best.misread[len(rival.misread) :])
    asked = _asked(
        ledger,
        replace(best.verdict, message=msg("A misread piece has moved.")),
        seen,
        [moved],
        setup,
    )
    assert asked is not None, "it is legal"
    as_read = Choice(
        msg("As read: {text}", text=first_sentence(rival.verdict.message)), rival.moves
    )
    *others, none = asked.question.choices
    question = replace(asked.question, choices=(*others, as_read, none), evidence={})
    return replace(asked, question=question)


def _asked(
    ledger: SessionState,
    verdict: Verdict,
    seen: Observation,
    found: Sequence[MisreadingExplanation],
    setup: Setup,
) -> MisreadingQuestion | None:
    """Ask which of these explanations is true, with the game's own choices added.

    None without explanations.
    """
    by_label: dict[str, MisreadingExplanation] = {}
    for one in _likely_explanations(found):
        by_label.setdefault(_label(ledger, one, seen, setup), one)
    offered = dict(list(by_label.items())[:CHOICES])
    if not offered:
        return None
    asks = (
        verdict.asks
        if isinstance(verdict, Unsettled)
        else verdict
        if isinstance(verdict, Ambiguous)
        else None
    )
    choices = [
        Choice(label, one.moves, confirms_record=not one.moves) for label, one in offered.items()
    ]
    confirming = any(choice.confirms_record for choice in choices)
    others = (
        [
            choice
            for choice in asks.choices
            if choice != NONE_OF_THESE
            and not (confirming and choice.confirms_record and not choice.moves)
        ]
        if asks
        else []
    )
    likeliest = {LIKELIEST: True} if len(offered) == 1 and not others else {}
    question = Ambiguous(
        code=verdict.code,
        message=sentences(
            full_message(verdict), msg("Which is right?"), msg("You can also fix the table.")
        ),
        rests_on=verdict.rests_on,
        player=verdict.player,
        evidence={**verdict.evidence, **likeliest},
        choices=(*choices, *others, NONE_OF_THESE),
        withdrawn_if_table_changes=True,
        table=asks.table if asks else None,
    )
    return MisreadingQuestion(question, {label: one.misread for label, one in offered.items()})


def _likely_explanations(found: Sequence[MisreadingExplanation]) -> list[MisreadingExplanation]:
    """Drop changed poses if a changed colour or size explains the table, too."""
    in_kind = [
        one
        for one in found
        if all(
            misread.true is None or misread.true.pose == misread.read.pose
            for misread in one.misread
        )
    ]
    return (
        in_kind
        if any(misread.true is not None for one in in_kind for misread in one.misread)
        else list(found)
    )


def _label(
    ledger: SessionState, one: MisreadingExplanation, seen: Observation, setup: Setup
) -> Message:
    """Label of a choice: what the table shows then, and the misread pieces."""
    changes = phrases(*_changes(one.misread, seen, setup))
    if one.moves and ledger.has_begun:
        first = Message(first_sentence(one.verdict.message))
        return sentences(msg("Misread: {text}.", text=changes), first)
    return (
        msg("Start from this table: {text}", text=changes)
        if isinstance(one.verdict, Accepted)
        else msg("Nothing happened: {text}", text=changes)
    )


def _changes(misread: Iterable[Misread], seen: Observation, setup: Setup) -> list[Message]:
    """Describe misreadings; pieces with the same misreading are listed together."""
    alike: dict[tuple[object, ...], list[Message]] = {}
    message: dict[tuple[object, ...], Misread] = {}
    for one in misread:
        key = (one.read, one.true, bool(one.turned_deg))
        alike.setdefault(key, []).append(_place(one, seen, setup))
        message.setdefault(key, one)
    return [_change(message[key], places) for key, places in alike.items()]


def _change(one: Misread, places: Sequence[Message]) -> Message:
    """`the black pieces on A1 and C5 are red`."""
    read, true, many = one.read, one.true, len(places) > 1
    common: dict[str, object] = {"colour": read.colour, "text": all_of(places)}
    if true is None:
        return phrase(
            "there are no {colour} pieces {text}" if many else "there is no {colour} piece {text}",
            **common,
        )
    if true.colour != read.colour:
        return phrase(
            "the {colour} pieces {text} are {colour2}"
            if many
            else "the {colour} piece {text} is {colour2}",
            colour2=true.colour,
            **common,
        )
    if true.size != read.size:
        return phrase(
            "the {colour} pieces {text} are {size}"
            if many
            else "the {colour} piece {text} is {size}",
            size=true.size,
            **common,
        )
    if true.pose == read.pose:
        return phrase(
            "the {colour} pieces {text} point the other way"
            if many
            else "the {colour} piece {text} points the other way",
            **common,
        )
    if true.pose == "upright":
        return phrase(
            "the {colour} pieces {text} stand upright"
            if many
            else "the {colour} piece {text} stands upright",
            **common,
        )
    return phrase(
        "the {colour} pieces {text} lie on their sides"
        if many
        else "the {colour} piece {text} lies on its side",
        **common,
    )


def _place(one: Misread, seen: Observation, setup: Setup) -> Message:
    """Cell under the centre of the piece, or its place in mm."""
    piece = min(seen.pieces, key=lambda piece: np.hypot(*(piece.base_mm - (one.x_mm, one.y_mm))))
    cell = cell_at(setup.board, piece.contact_mm.mean(axis=0))
    return (
        phrase("on {cell}", cell=cell)
        if cell
        else phrase("at ({mm}, {mm2}) mm", mm=f"{one.x_mm:.0f}", mm2=f"{one.y_mm:.0f}")
    )
