"""What people are asked about a table that matches nothing: would it match if a piece had been
misread?
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from engines.occlusion import NONE_OF_THESE
from engines.verdict import Accepted, Ambiguous, Choice, Unsettled, Verdict, Waiting
from referee.sessions.misreadings import (
    EXPLAINS,
    Explained,
    Followed,
    Judge,
    Misread,
    came,
    explanations,
    likest,
    rank,
)
from referee.sessions.state import Ledger
from referee.sessions.verdict_events import HOST_DECIDES, LIKELIEST, told
from table.cells import cell_at
from table.listing import listed
from table.messages import msg, sentences
from table.observation import Observation
from table.table_config import Setup

CHOICES = 4
"""Where more readings than this explain a table, the likeliest are offered."""
SAME_MM = 2.0
"""A piece that is read so near to where another one lay may be that one."""


@dataclass(frozen=True, slots=True)
class Nearest:
    """A question, and by the labels of its choices what was misread on the table."""

    question: Ambiguous
    misread: dict[str, tuple[Misread, ...]]


def _judge(ledger: Ledger, before: Observation | None, setup: Setup) -> Judge:
    """The game's own judge on a table, with the table `before` it that was ruled on."""
    return lambda table: ledger.engine.judge(ledger.state, table, before, setup.board)


def nearest(
    ledger: Ledger, verdict: Verdict, seen: Observation, before: Observation | None, setup: Setup
) -> Nearest | None:
    """What people are asked where this verdict came of the table; None where nothing near explains
    it.
    """
    found = explanations(
        _judge(ledger, before, setup), verdict, seen, before, ledger.colours, setup
    )
    return _asked(ledger, verdict, seen, found, setup)


def read_as_before(
    ledger: Ledger, verdict: Verdict, seen: Observation, before: Observation | None, setup: Setup
) -> Nearest | None:
    """What people are asked besides, where all that came lies just where another piece lay: that
    one may be read wrongly.
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
        for k in came(seen, before)
    ]
    colours = tuple(dict.fromkeys(was.colour for _, were in there for was in were))
    if not there or not all(were for _, were in there):
        return None
    found = [
        one
        for one in explanations(
            _judge(ledger, before, setup), verdict, seen, before, colours, setup
        )
        if not came(one.table, before)
    ]
    return _asked(ledger, verdict, seen, found, setup)


def all_the_same(
    ledger: Ledger, verdict: Verdict, seen: Observation, setup: Setup
) -> Nearest | None:
    """What the host is asked about a table that nothing near explains: is it the start all the
    same, by people's word?

    None where a game does not begin from a set-up, has begun, or could not go on from this table.
    """
    if (
        ledger.begun
        or not isinstance(verdict, Waiting)
        or not verdict.differences
        or verdict.asks is not None
    ):
        return None
    found = likest(_judge(ledger, None, setup), verdict, seen, ledger.colours, setup)
    if not seen.pieces or rank(_judge(ledger, found.table, setup)(found.table)) < EXPLAINS:
        return None
    choice = Choice("Take it as the start all the same", (), holds=True)
    question = Ambiguous(
        code=verdict.code,
        said=sentences(told(verdict), msg("What is true?"), msg("You may also put it right.")),
        rests_on=verdict.rests_on,
        evidence=verdict.evidence | {HOST_DECIDES: True},
        choices=(choice, NONE_OF_THESE),
        until_moved=True,
    )
    return Nearest(question, {choice.label: found.misread})


def once_more(
    ledger: Ledger, followed: Followed, seen: Observation, setup: Setup
) -> Nearest | None:
    """What people are asked where a piece that they spoke of has moved, and what it did hangs on
    whether it is misread still.
    """
    best, rival = followed
    if rival is None:
        return None
    moved = best._replace(misread=best.misread[len(rival.misread) :])
    asked = _asked(
        ledger,
        replace(best.verdict, said=msg("A piece that was misread has moved.")),
        seen,
        [moved],
        setup,
    )
    assert asked is not None, "it is legal"
    as_read = Choice(
        f"As it was read: {rival.verdict.said.partition('. ')[0].rstrip('.')}.", rival.moves
    )
    *others, none = asked.question.choices
    question = replace(asked.question, choices=(*others, as_read, none), evidence={})
    return replace(asked, question=question)


def _asked(
    ledger: Ledger, verdict: Verdict, seen: Observation, found: Sequence[Explained], setup: Setup
) -> Nearest | None:
    """The question which of these readings is true, or what the game asks itself."""
    by_label: dict[str, Explained] = {}
    for one in _likely(found):
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
    choices = [Choice(label, one.moves, holds=not one.moves) for label, one in offered.items()]
    holds = any(choice.holds for choice in choices)
    others = (
        [
            choice
            for choice in asks.choices
            if choice != NONE_OF_THESE and not (holds and choice.holds and not choice.moves)
        ]
        if asks
        else []
    )
    likeliest = {LIKELIEST: True} if len(offered) == 1 and not others else {}
    question = Ambiguous(
        code=verdict.code,
        said=sentences(told(verdict), msg("What is true?"), msg("You may also put it right.")),
        rests_on=verdict.rests_on,
        player=verdict.player,
        evidence=verdict.evidence | likeliest,
        choices=(*choices, *others, NONE_OF_THESE),
        until_moved=True,
        table=asks.table if asks else None,
    )
    return Nearest(question, {label: one.misread for label, one in offered.items()})


def _likely(found: Sequence[Explained]) -> list[Explained]:
    """Without those by which a piece stands or lies otherwise, where another colour or size of one
    explains the table as well.
    """
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


def _label(ledger: Ledger, one: Explained, seen: Observation, setup: Setup) -> str:
    """What the table is then, and which pieces are read wrongly."""
    changes = "; ".join(_changes(one.misread, seen, setup))
    if one.moves and ledger.begun:
        first = one.verdict.said.partition(". ")[0].rstrip(".")
        return f"Misread: {changes}. {first}."
    return (
        f"Taken as the start: {changes}"
        if isinstance(one.verdict, Accepted)
        else f"Nothing has happened: {changes}"
    )


def _changes(misread: Iterable[Misread], seen: Observation, setup: Setup) -> list[str]:
    """What was read wrongly, in words; pieces that were read alike and are alike together."""
    alike: dict[tuple[object, ...], list[str]] = {}
    said: dict[tuple[object, ...], Misread] = {}
    for one in misread:
        key = (one.read, one.true, bool(one.turned_deg))
        alike.setdefault(key, []).append(_place(one, seen, setup))
        said.setdefault(key, one)
    return [_change(said[key], places) for key, places in alike.items()]


def _change(one: Misread, places: Sequence[str]) -> str:
    """`the black pieces on A1 and C5 are red`."""
    read, true, many = one.read, one.true, len(places) > 1
    where = listed(places)
    pieces, verb = ("pieces", "are") if many else ("piece", "is")
    if true is None:
        return f"no {read.colour} {pieces} {verb} {where}"
    if true.colour != read.colour:
        return f"the {read.colour} {pieces} {where} {verb} {true.colour}"
    if true.size != read.size:
        return f"the {read.colour} {pieces} {where} {verb} of size {true.size}"
    if true.pose != read.pose:
        stands = {
            "upright": "stand" if many else "stands",
            "lying": "lie on a side" if many else "lies on a side",
        }
        return f"the {read.colour} {pieces} {where} {stands[true.pose]}"
    return f"the {read.colour} {pieces} {where} {'lie' if many else 'lies'} the other way round"


def _place(one: Misread, seen: Observation, setup: Setup) -> str:
    """The cell over which the middle of the piece is."""
    piece = min(seen.pieces, key=lambda piece: np.hypot(*(piece.base_mm - (one.x_mm, one.y_mm))))
    cell = cell_at(setup.board, piece.contact_mm.mean(axis=0))
    return f"on {cell}" if cell else f"at ({one.x_mm:.0f}, {one.y_mm:.0f}) mm"
