"""One piece of a table that is read badly, in one of some ways."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from table.clearance import clearance
from table.observation import Observation, SeenPiece
from table.solids import lying, upright
from table.table_config import Setup

BESIDE_MM = 70.0
"""A piece that is not there is seen this far from one that is."""


def missing(seen: Observation, k: int, _setup: Setup) -> Observation:
    """Nothing tells that piece `k` is there."""
    left = seen.pieces[:k] + seen.pieces[k + 1 :]
    return replace(
        seen,
        pieces=tuple(
            replace(piece, on=None if piece.on in (None, k) else piece.on - (piece.on > k))
            for piece in left
        ),
    )


def unread_in_place(seen: Observation, k: int, setup: Setup) -> Observation:
    """Something is told to lie where piece `k` is."""
    return replace(missing(seen, k, setup), unread_mm=(*seen.unread_mm, seen.pieces[k].base_mm))


def doubtful_pose(seen: Observation, k: int, _setup: Setup) -> Observation:
    """How piece `k` lies is not sure."""
    return _replace_piece(seen, k, replace(seen.pieces[k], pose_probability=0.6))


def wrong_size(seen: Observation, k: int, setup: Setup) -> Observation:
    """Piece `k` is surely told to be of the size next to its own."""
    piece, sizes = seen.pieces[k], list(setup.game.sizes)
    at = sizes.index(piece.size)
    if piece.pose == "leaning" or len(sizes) == 1:
        return seen
    return _replace_piece(
        seen,
        k,
        _with_own_solid(
            replace(piece, size=sizes[at + 1 if at + 1 < len(sizes) else at - 1]), setup
        ),
    )


def wrong_colour(seen: Observation, k: int, setup: Setup) -> Observation:
    """Piece `k` is surely told to be the next player's."""
    piece, colours = seen.pieces[k], list(setup.game.colours)
    if piece.colour not in colours:
        return seen
    return _replace_piece(
        seen, k, replace(piece, colour=colours[(colours.index(piece.colour) + 1) % len(colours)])
    )


def reversed_heading(seen: Observation, k: int, setup: Setup) -> Observation:
    """Piece `k`, which lies, surely lies the other way round."""
    piece = seen.pieces[k]
    if piece.pose != "lying":
        return seen
    return _replace_piece(
        seen,
        k,
        _with_own_solid(
            replace(piece, base_mm=piece.tip_mm, heading_deg=piece.heading_deg + 180), setup
        ),
    )


def wrong_pose(seen: Observation, k: int, setup: Setup) -> Observation:
    """Piece `k` surely stands where it lies, or lies where it stands."""
    piece = seen.pieces[k]
    ahead = (
        np.array([np.cos(np.deg2rad(piece.heading_deg)), np.sin(np.deg2rad(piece.heading_deg))])
        * setup.pieces[piece.size].slant_mm
        / 2
    )
    if piece.pose == "leaning":
        return seen
    if piece.pose == "lying":
        return _replace_piece(
            seen,
            k,
            _with_own_solid(replace(piece, pose="upright", base_mm=piece.base_mm + ahead), setup),
        )
    return _replace_piece(
        seen, k, _with_own_solid(replace(piece, pose="lying", base_mm=piece.base_mm - ahead), setup)
    )


def phantom_beside(seen: Observation, k: int, setup: Setup) -> Observation:
    """Another piece just like piece `k` is surely told to lie beside it."""
    (left, near), (right, far) = (
        setup.outline_mm().min(axis=0) + BESIDE_MM / 4,
        setup.outline_mm().max(axis=0) - BESIDE_MM / 4,
    )
    for turn in np.arange(12) * np.pi / 6:
        x, y = base_mm = seen.pieces[k].base_mm + BESIDE_MM * np.array([np.cos(turn), np.sin(turn)])
        other = _with_own_solid(replace(seen.pieces[k], base_mm=base_mm, on=None), setup)
        if (
            left <= x <= right
            and near <= y <= far
            and all(clearance(other.solid, piece.solid).mm > 0 for piece in seen.pieces)
        ):
            return replace(seen, pieces=(*seen.pieces, other))
    return seen


def unread_beside(seen: Observation, k: int, setup: Setup) -> Observation:
    """Something is told to lie beside piece `k`, and nothing does."""
    more = phantom_beside(seen, k, setup).pieces[len(seen.pieces) :]
    return replace(seen, unread_mm=(*seen.unread_mm, more[0].base_mm)) if more else seen


def _replace_piece(seen: Observation, k: int, piece: SeenPiece) -> Observation:
    return replace(
        seen, pieces=(*seen.pieces[:k], replace(piece, rivals=()), *seen.pieces[k + 1 :])
    )


def _with_own_solid(piece: SeenPiece, setup: Setup) -> SeenPiece:
    """The piece with the solid that it has as it is told to lie."""
    z_mm = float(piece.solid.vertices_mm[:, 2].min())
    return replace(
        piece,
        solid=(lying if piece.pose == "lying" else upright)(
            setup.pieces[piece.size], *piece.base_mm, piece.heading_deg, z_mm
        ),
    )


Fault = Callable[[Observation, int, Setup], Observation]
FAULTS: dict[str, Fault] = {
    "told as something unread": unread_in_place,
    "in doubt how it lies": doubtful_pose,
    "not seen at all": missing,
    "something unread beside it": unread_beside,
    "of another size": wrong_size,
    "of another colour": wrong_colour,
    "the other way round": reversed_heading,
    "standing, and it lies, or the other way": wrong_pose,
    "twice, where it is and beside that": phantom_beside,
}
