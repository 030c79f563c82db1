"""Nests that nobody had a reason to touch.

An unsure reading of one counts as unmoved, unless the picture contradicts that.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from engines.zamboni_wars.matching import (
    STILL_MM,
    is_untouched,
    size_probability,
    touch,
    was_unread,
)
from engines.zamboni_wars.phases import Aiming, Hit, Moving, Rolling
from engines.zamboni_wars.state import LAYER_SIZES, State
from table.observation import SURE, Observation, SeenPiece


def touchable_players(state: State) -> frozenset[str]:
    """Players whose nests somebody has a reason to touch now."""
    if isinstance(
        state.phase, Hit | Aiming
    ):  # before the die is told only a last layer may rightly be gone
        target = state.phase.target
        return frozenset(
            (target,)
            if isinstance(state.phase, Hit) or state.remaining_zambonis[target].layers == 1
            else ()
        )
    if not isinstance(state.phase, Moving):
        return frozenset()
    return frozenset(state.remaining_zambonis) if state.phase.early else frozenset((state.to_move,))


def roller(state: State) -> str | None:
    """The player who may have driven before the die was announced; else None."""
    return (
        state.to_move
        if isinstance(state.phase, Rolling)
        else state.follower
        if isinstance(state.phase, Aiming)
        else None
    )


@dataclass(frozen=True, slots=True)
class DoubtfulNest:
    """An unsure nest that seems to differ from before.

    `size` is its recorded outer size.
    """

    now: SeenPiece
    was: SeenPiece
    size: str


@dataclass(frozen=True, slots=True)
class UndisturbedTable:
    """A table in which untouched, unsure nests have their earlier readings.

    Nobody had a reason to touch them, and they lie in place. `doubted` are those that seem to
    differ, and that people have not confirmed yet.
    """

    table: Observation
    doubted: tuple[DoubtfulNest, ...] = ()

    def observation_as_announced(self) -> Observation:
        """The table once people have said so: there was something that could not be read."""
        return replace(
            self.table,
            unread_mm=(*self.table.unread_mm, *(one.was.base_mm for one in self.doubted)),
        )


def undisturbed_table(
    seen: Observation, before: Observation | None, state: State
) -> UndisturbedTable:
    """Return the table as it must be if only nests with a reason were touched."""
    if before is None:
        return UndisturbedTable(seen)
    pieces, doubted, message = [], [], []
    for piece in seen.pieces:
        was = _earlier_nest(piece, before) if piece.colour in state.remaining_zambonis else None
        if was is None:
            pieces.append(piece)
            continue
        known = piece.colour not in touchable_players(state) and size_probability(was) >= SURE
        pieces.append(was if known else piece)
        if known and was_unread(was.base_mm, before):
            message.append(was.base_mm)
        elif _contradicts_earlier(piece, was, state, known):
            doubted.append(
                DoubtfulNest(piece, was, LAYER_SIZES[state.remaining_zambonis[piece.colour].layers])
            )
    left = tuple(pieces)
    return UndisturbedTable(
        (
            seen
            if left == seen.pieces
            else replace(seen, pieces=left, unread_mm=(*seen.unread_mm, *message))
        ),
        tuple(doubted),
    )


def _earlier_nest(piece: SeenPiece, before: Observation) -> SeenPiece | None:
    """Earlier nest at the place of this unsure one."""
    were = [old for old in before.pieces if old.colour == piece.colour]
    return (
        were[0]
        if len(were) == 1 and size_probability(piece) < SURE and touch(were[0], piece)
        else None
    )


def _contradicts_earlier(piece: SeenPiece, was: SeenPiece, state: State, known: bool) -> bool:
    """True if the picture contradicts that a nest is unchanged.

    For a surely `known` one: also if it is read elsewhere, or not flat, unless it may have driven.
    For others: if it cannot have its recorded size, and it is not the same reading again.
    """
    if known:
        return was.size != piece.size or not (
            piece.colour == roller(state) or _may_be_unmoved(piece, was)
        )
    hit = state.phase.target if isinstance(state.phase, Hit | Aiming) else None
    recorded = LAYER_SIZES[state.remaining_zambonis[piece.colour].layers]
    return (
        piece.colour != hit
        and not is_untouched(piece, was)
        and recorded not in {way.size for way in (piece, *piece.rivals)}
    )


def _may_be_unmoved(piece: SeenPiece, was: SeenPiece) -> bool:
    """True if, by the picture, a piece may be unmoved."""
    ways = [way for way in (piece, *piece.rivals) if (way.size, way.pose) == (was.size, was.pose)]
    return any(
        np.hypot(*way.away_from(was)[:2]) <= max(STILL_MM, 2 * way.place_sigma_mm) for way in ways
    )
