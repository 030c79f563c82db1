"""Judge the last table again with people's corrections of its pieces.

Nothing is recorded: people decide what follows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import msgspec
import numpy as np
from numpy.typing import ArrayLike

from engines.verdict import Accepted, Ambiguous, Refused, Verdict, Waiting
from referee.sessions.corrected_tables import table_before
from referee.sessions.events import Undone
from referee.sessions.judged_tables import JudgedTables
from referee.sessions.misreadings import Kind, Misread, kind_of
from referee.sessions.state import SessionState, state_after
from referee.sessions.verdict_events import full_message
from table.errors import InputError
from table.messages import NOTHING, Message, in_a_row, msg, phrase
from table.observation import Observation, SeenPiece
from table.solids import lying, upright
from table.table_config import Setup

BY_HAND_SIGMA_MM, BY_HAND_SIGMA_DEG = 1.0, 3.0
"""Standard deviations of a piece placed on a drawing. Distances closer than that lead to a
question, not a ruling.
"""
NUDGED = 0.051
"""Places in mm and headings in degrees that differ by less are equal: a page shows them to 0.1."""


@dataclass(frozen=True, slots=True)
class PieceCorrection:
    """A piece as corrected; `x_mm`, `y_mm` and `heading_deg` as in `SeenPiece`.

    `index` is its index in the observation, None for one that was not detected. `there` is False
    for a piece that is not on the table.
    """

    index: int | None
    colour: str
    size: str
    pose: str
    x_mm: float
    y_mm: float
    heading_deg: float
    there: bool = True


@dataclass(frozen=True, slots=True)
class CorrectedVerdict:
    """The verdict on the corrected table.

    `choices`, (label, moves) each, may replace record `record`.
    """

    record: int
    message: str
    choices: tuple[tuple[str, tuple[str, ...]], ...]
    changes: tuple[str, ...]
    """Differences from the reading, a sentence each."""
    misread: tuple[Misread, ...] = ()
    """Pieces read as another kind. A correction holds while its piece stays in place."""


def last_table(
    ledger: SessionState, ruled_on: JudgedTables[Observation]
) -> tuple[int, Observation]:
    """Return the record that people may correct, and the table that it rests on.

    Raises InputError if this program saw no such table, a question is open, or something counted
    since.
    """
    if ledger.question is not None:
        raise InputError(
            msg(
                "the referee is asking a question: answer it, or withdraw it and then fix"
                " the pieces"
            )
        )
    # A withdrawn question is no ruling: the earlier ruling on that table is
    # corrected.
    answered = {entry.question.seq for entry in ledger.standing if entry.question}
    seq, table = ruled_on.newest(ledger.rulings | answered) or (0, None)
    if table is None or seq < ledger.game_seq:
        raise InputError(
            msg(
                "there is nothing to correct: no table of this game has been ruled on since"
                " Rinkside started"
            )
        )
    entry = next(
        (
            entry
            for entry in ledger.standing
            if (entry.question.seq if entry.question else entry.seq) == seq
        ),
        None,
    )
    if entry is not None and entry is not ledger.standing[-1]:
        raise InputError(
            msg("something that counts came after record {n}: undo that first", n=entry.seq)
        )
    return (entry.seq if entry else seq), table


def reread(
    ledger: SessionState,
    ruled_on: JudgedTables[Observation],
    setup: Setup,
    pieces: Sequence[PieceCorrection],
) -> CorrectedVerdict:
    """Judge the last table again with some pieces corrected, and all others as read.

    Raises InputError if nothing is corrected, or there is no table to correct.
    """
    record, table = last_table(ledger, ruled_on)
    changes = tuple(sentence for piece in pieces if (sentence := _change(table, piece)))
    if not changes:
        raise InputError(
            msg(
                "nothing differs from what was read: move a piece, or change its colour,"
                " size or pose"
            )
        )
    stood = any(entry.seq == record for entry in ledger.standing)
    before = _ledger_without(ledger, record) if stood else ledger
    misread = tuple(one for piece in pieces if (one := _misread(table, piece)))
    verdict = before.engine.judge(
        before.state,
        apply_piece_corrections(table, pieces, setup),
        table_before(ruled_on, before, setup),
        setup.board,
    )
    return CorrectedVerdict(
        record, full_message(verdict), _choices(verdict, stood, bool(misread)), changes, misread
    )


def apply_piece_corrections(
    seen: Observation, pieces: Sequence[PieceCorrection], setup: Setup
) -> Observation:
    """Return the observation with some pieces corrected, and without unreadable places.

    Raises InputError for an unknown index, or a piece that this table cannot have.
    """
    by_index = {piece.index: piece for piece in pieces if piece.index is not None}
    if not set(by_index) <= set(range(len(seen.pieces))):
        raise InputError(
            msg(
                "expected pieces 0 to {n}, got {n2}: the table has changed",
                n=len(seen.pieces) - 1,
                n2=max(by_index),
            )
        )
    kept = [
        index for index in range(len(seen.pieces)) if index not in by_index or by_index[index].there
    ]
    now = {old: new for new, old in enumerate(kept)}
    there = [_piece(seen, by_index.get(index), index, setup) for index in kept]
    there = [replace(piece, on=None if piece.on is None else now.get(piece.on)) for piece in there]
    there += [
        _corrected_piece(piece, 0.0, setup)
        for piece in pieces
        if piece.index is None and piece.there
    ]
    return replace(seen, pieces=tuple(there), unread_mm=())


def _piece(seen: Observation, piece: PieceCorrection | None, index: int, setup: Setup) -> SeenPiece:
    was = seen.pieces[index]
    if piece is None or not _change(seen, piece):
        return was
    return replace(
        _corrected_piece(piece, max(0.0, float(was.solid.vertices_mm[:, 2].min())), setup, was),
        on=was.on,
    )


def _corrected_piece(
    piece: PieceCorrection, z_mm: float, setup: Setup, was: SeenPiece | None = None
) -> SeenPiece:
    if piece.colour not in (*setup.game.colours, setup.game.target):
        raise InputError(
            msg(
                "expected a colour of this table ({text}), got {raw}",
                text=in_a_row(setup.game.colours, "colour"),
                raw=repr(piece.colour),
            )
        )
    if piece.size not in setup.game.sizes:
        raise InputError(
            msg(
                "expected a size of this table ({text}), got {raw}",
                text=in_a_row(setup.game.sizes, "size"),
                raw=repr(piece.size),
            )
        )
    if piece.pose not in ("upright", "lying"):
        raise InputError(
            msg(
                "expected upright or lying, got '{raw}'; stand a leaning piece by itself",
                raw=piece.pose,
            )
        )
    solid = (upright if piece.pose == "upright" else lying)(
        setup.pieces[piece.size], piece.x_mm, piece.y_mm, piece.heading_deg, z_mm
    )
    low, high = (setup.outline_mm().min(axis=0), setup.outline_mm().max(axis=0))
    base_mm = np.array([piece.x_mm, piece.y_mm])
    there = was is not None and _are_close(was.base_mm, base_mm)  # it may lie over the edge
    if not there and not ((low <= base_mm) & (base_mm <= high)).all():
        raise InputError(
            msg(
                "expected a place on the table, got ({mm}, {mm2}) mm; mark the piece as not"
                " on the table instead",
                mm=f"{piece.x_mm:.1f}",
                mm2=f"{piece.y_mm:.1f}",
            )
        )
    covariance = np.diag([BY_HAND_SIGMA_MM**2, BY_HAND_SIGMA_MM**2, BY_HAND_SIGMA_DEG**2])
    return SeenPiece(
        piece.colour,
        piece.size,
        "upright" if piece.pose == "upright" else "lying",
        base_mm,
        piece.heading_deg,
        solid,
        covariance,
    )


def _change(seen: Observation, piece: PieceCorrection) -> Message:
    """Describe the difference between a correction and the reading.

    Empty if nothing differs by more than 0.05 mm or 0.05 degrees.
    """
    lies: dict[str, object] = {
        "colour": piece.colour,
        "size": piece.size,
        "pose": piece.pose,
        "mm": f"{piece.x_mm:.1f}",
        "mm2": f"{piece.y_mm:.1f}",
        "n": f"{piece.heading_deg:.0f}",
    }
    if piece.index is None or piece.index >= len(seen.pieces):
        return (
            phrase(
                "{colour} {size}, {pose}, at ({mm}, {mm2}) mm, heading {n}°, was not read", **lies
            )
            if piece.there
            else NOTHING
        )
    one = seen.pieces[piece.index]
    if not piece.there:
        return phrase("{text} is not there", text=one.message)
    moved = not (
        _are_close(one.base_mm, (piece.x_mm, piece.y_mm))
        and _are_close(one.heading_deg, piece.heading_deg)
    )
    same = (one.colour, one.size, one.pose) == (piece.colour, piece.size, piece.pose)
    if same and not moved:
        return NOTHING
    return phrase(
        "{colour} {size}, {pose}, at ({mm}, {mm2}) mm, heading {n}°, was read as {text}",
        text=one.message,
        **lies,
    )


def _are_close(one: ArrayLike, other: ArrayLike) -> bool:
    return bool(np.allclose(one, other, rtol=0, atol=NUDGED))


def _misread(seen: Observation, piece: PieceCorrection) -> Misread | None:
    """The misreading in a correction: another kind, another direction, or no piece.

    None for a piece that was only moved.
    """
    if piece.index is None or piece.index >= len(seen.pieces) or not _change(seen, piece):
        return None
    was = seen.pieces[piece.index]
    x_mm, y_mm = map(float, was.base_mm)
    one = Misread(read=kind_of(was), x_mm=x_mm, y_mm=y_mm)
    if not piece.there or piece.pose not in ("upright", "lying"):
        return None if piece.there else one
    true = Kind(piece.colour, piece.size, "upright" if piece.pose == "upright" else "lying")
    turned_deg = (piece.heading_deg - was.heading_deg) % 360 if true.pose == "lying" else 0.0
    turned_deg = turned_deg if true.pose != was.pose or 90 < turned_deg < 270 else 0.0
    return (
        msgspec.structs.replace(one, true=true, turned_deg=turned_deg)
        if true != one.read or turned_deg
        else None
    )


def _ledger_without(ledger: SessionState, record: int) -> SessionState:
    """The session without that record."""
    return replace(state_after(ledger, Undone(undoes=record, decided_by="")), question=None)


def _choices(
    verdict: Verdict, stood: bool, misread: bool
) -> tuple[tuple[str, tuple[str, ...]], ...]:
    match verdict:
        case Accepted() if verdict.moves:
            return ((msg("This is what happened"), verdict.moves),)
        case Accepted() | Waiting(as_recorded=True) if misread:
            return ((msg("The table is like this, and nothing else happened"), ()),)
        case Ambiguous():
            return tuple((choice.label, choice.moves) for choice in verdict.choices)
        case Refused():
            return ((msg("Nothing that counts happened"), ()),) if stood else ()
        case _:
            return ()
