"""Infer what was on the table in a frame that could not be judged, from tables before and after.

A piece at the same place before and after was there in between. An unreadable place where a piece
is read later was that piece. A piece of another kind there, without an origin, was a misreading.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from table.clearance import clearance
from table.motion import moved
from table.observation import SURE, Observation, SeenCounter, SeenPiece
from table.solids import Array

UNREAD_MM = 15.0
"""Largest distance between an unreadable place and the centre of the piece that lies there."""
IN_PLACE_MM = 10.0
"""Largest distance between the centres of two readings of one piece, whatever their kind and
heading.
"""
TURNED_DEG = 30.0
"""Headings that differ by less are the same reading."""
COUNTER_MM = 3.0
"""Largest distance between two readings of a counter that has not moved."""


def infer_missed_observation(
    seen: Observation, before: Observation | None, now: Observation
) -> Observation | None:
    """Return `seen` with the pieces that the tables before and after imply.

    None if nothing changes. Also None if a piece like a missing one is read at a third place, as it
    may have moved there and back. The same holds if the place of a piece that is gone is unsure or
    unreadable `now`, as it may be back.
    """
    as_read, seen = seen, _corrected_observation(seen, before, now)
    stayed = (
        [piece for piece in before.pieces if _has_piece(piece, now)] if before is not None else []
    )
    came = [piece for piece in now.pieces if before is None or not _has_piece(piece, before)]
    missing = [piece for piece in stayed if not _has_piece(piece, seen, _sure(piece))]
    read = [
        one
        for one in seen.pieces
        if not any(
            _same(one, piece) or (_overlap(one, piece) and not _has_piece(one, now))
            for piece in missing
        )
    ]
    gone = [piece for piece in read if not _has_piece(piece, now)]
    came_and_went = [piece for piece in gone if before is None or not _has_piece(piece, before)]
    if any(_may_share_colour(other, piece) for piece in missing for other in came_and_went):
        return None
    if before is not None and any(
        not _has_piece(piece, seen)
        and not _has_piece(piece, now)
        and _is_place_unreadable(piece, now)
        for piece in before.pieces
    ):
        return None
    unread = [
        piece
        for piece in came
        if not _has_piece(piece, seen, _sure(piece))
        and _is_place_unreadable(piece, seen)
        and not _is_place_taken(piece, read, gone)
    ]
    read = [one for one in read if not any(_overlap(one, piece) for piece in unread)]
    tiles, counters = _tiles(seen, before, now), _counters(seen, before, now)
    added = [*missing, *unread]
    if seen is as_read and not added and tiles == seen.tiles and not counters:
        return None
    places = tuple(
        place for place in seen.unread_mm if not any(_is_near(place, piece) for piece in added)
    )
    pieces = _standing([*read, *added], seen, before, now)
    return replace(
        seen, pieces=pieces, unread_mm=places, tiles=tiles, counters=(*seen.counters, *counters)
    )


def drop_transient_pieces(
    seen: Observation, before: Observation | None, now: Observation
) -> Observation | None:
    """Return `seen` without transient pieces and unreadable places; None without any.

    A piece is transient if it has no origin and is gone `now`. It has no origin if all pieces of
    its kind in the table before (or else `now`) are still in place. The same holds if there are
    more of its kind than before.
    """
    transient = [
        one
        for one in _unmatched_pieces(seen, before, now)
        if _has_no_origin(one, seen, before or now) and not _pieces_at_place(one, now.pieces)
    ]
    left = [one for one in seen.pieces if not any(one is other for other in transient)]
    places = seen.unread_mm
    if before is not None and all(_is_read(piece, seen) for piece in before.pieces):
        places = tuple(place for place in places if _still_unread(place, now))
    if not transient and len(places) == len(seen.unread_mm):
        return None
    return replace(seen, pieces=_standing(left, seen), unread_mm=places)


def _still_unread(place_mm: Array, now: Observation) -> bool:
    """True if this place is still unreadable, or a piece is read there."""
    return any(np.hypot(*(place_mm - other)) <= UNREAD_MM for other in now.unread_mm) or any(
        _is_near(place_mm, piece) for piece in now.pieces
    )


def _corrected_observation(
    seen: Observation, before: Observation | None, now: Observation
) -> Observation:
    """Replace misread pieces, even sure ones, by their readings before or after."""
    instead = {
        id(one): _true_piece(one, seen, before, now) for one in _unmatched_pieces(seen, before, now)
    }
    if not any(instead.values()):
        return seen
    return replace(
        seen,
        pieces=_standing([instead.get(id(one)) or one for one in seen.pieces], seen, before, now),
    )


def _true_piece(
    one: SeenPiece, seen: Observation, before: Observation | None, now: Observation
) -> SeenPiece | None:
    """The piece before or after of which `one`, found in neither, is a misreading; else None."""
    from_nowhere = before is None or _has_no_origin(one, seen, before)
    later = [piece for piece in _pieces_at_place(one, now.pieces) if not _is_read(piece, seen)]
    for piece in later:
        if _kind(piece) == _kind(one):
            wrongly = piece.pose != one.pose or abs(one.away_from(piece)[2]) > TURNED_DEG
        else:
            wrongly = _count(piece, seen) < _count(piece, now) and (
                from_nowhere or not moved(one, piece)
            )
        if wrongly:
            return piece
    if later or before is None or not from_nowhere:
        return None
    earlier = [piece for piece in _pieces_at_place(one, before.pieces) if not _is_read(piece, seen)]
    return next((piece for piece in earlier if _count(piece, seen) < _count(piece, before)), None)


def _unmatched_pieces(
    seen: Observation, before: Observation | None, now: Observation
) -> list[SeenPiece]:
    """Pieces without an equal reading in the table before or after."""
    return [
        one
        for one in seen.pieces
        if not _is_read(one, now) and not (before is not None and _is_read(one, before))
    ]


def _has_no_origin(one: SeenPiece, seen: Observation, before: Observation) -> bool:
    """True if all pieces of its kind are still in their places, or there are more than before."""
    return _count(one, seen) > _count(one, before) or all(
        _is_read(piece, seen) for piece in before.pieces if _kind(piece) == _kind(one)
    )


def _pieces_at_place(one: SeenPiece, pieces: Iterable[SeenPiece]) -> list[SeenPiece]:
    """Pieces whose centre, midway between base and tip, is within IN_PLACE_MM of that of `one`.

    It may be another reading of one of them.
    """
    return [
        piece
        for piece in pieces
        if np.hypot(*(piece.base_mm + piece.tip_mm - one.base_mm - one.tip_mm)) / 2 <= IN_PLACE_MM
    ]


def _kind(piece: SeenPiece) -> tuple[str, str]:
    return piece.colour, piece.size


def _count(piece: SeenPiece, seen: Observation) -> int:
    """Number of pieces of the same colour and size."""
    return sum(_kind(one) == _kind(piece) for one in seen.pieces)


def _is_read(piece: SeenPiece, seen: Observation) -> bool:
    """True if a piece of its colour and size is read at its place."""
    return any(_same(piece, other) and piece.size == other.size for other in seen.pieces)


def _is_place_unreadable(piece: SeenPiece, seen: Observation) -> bool:
    """True if its place is unreadable, or overlaps a piece whose reading is unsure."""
    return any(_is_near(place, piece) for place in seen.unread_mm) or any(
        _overlap(one, piece) for one in seen.pieces if not _sure(one)
    )


def _is_place_taken(piece: SeenPiece, read: Iterable[SeenPiece], gone: Iterable[SeenPiece]) -> bool:
    """True if a sure piece overlaps it, or the piece itself may be one that is gone elsewhere."""
    return any(_sure(one) and _overlap(one, piece) for one in read) or any(
        _may_share_colour(one, piece) and not _overlap(one, piece) for one in gone
    )


def with_each_missing_piece(
    seen: Observation, before: Observation | None, now: Observation
) -> list[Observation]:
    """Return `seen` with one of the pieces that are new `now` added, one table per piece.

    A piece of the same kind that is gone `now` is removed: it moved there.
    """
    tables = []
    for piece in now.pieces:
        if _has_piece(piece, seen) or (before is not None and _has_piece(piece, before)):
            continue
        was = [
            one for one in seen.pieces if _kind(one) == _kind(piece) and not _has_piece(one, now)
        ]
        left = [one for one in seen.pieces if one not in was[:1] and not _overlap(one, piece)]
        places = tuple(place for place in seen.unread_mm if not _is_near(place, piece))
        tables.append(
            replace(seen, pieces=_standing([*left, piece], seen, before, now), unread_mm=places)
        )
    return tables


def _has_piece(piece: SeenPiece, seen: Observation, surely: bool = False) -> bool:
    return any(_same(piece, other) and (_sure(other) or not surely) for other in seen.pieces)


def _same(a: SeenPiece, b: SeenPiece) -> bool:
    """True for the same colour and place. Sizes may differ: an unsure piece may be read as any."""
    return a.colour == b.colour and not moved(a, b)


def _sure(piece: SeenPiece) -> bool:
    return min(piece.colour_probability, piece.size_probability, piece.pose_probability) >= SURE


def _may_share_colour(read: SeenPiece, piece: SeenPiece) -> bool:
    return read.colour == piece.colour or read.colour_probability < SURE


def _overlap(a: SeenPiece, b: SeenPiece) -> bool:
    return clearance(a.solid, b.solid).mm <= 0


def _is_near(place_mm: Array, piece: SeenPiece) -> bool:
    return bool(np.hypot(*(place_mm - piece.solid.vertices_mm[:, :2].mean(axis=0))) <= UNREAD_MM)


def _standing(pieces: list[SeenPiece], *tables: Observation | None) -> tuple[SeenPiece, ...]:
    """Combine pieces of several tables; `on` is kept if the piece below is among them."""
    under = {
        id(piece): table.pieces[piece.on]
        for table in tables
        if table is not None
        for piece in table.pieces
        if piece.on is not None
    }
    index = {id(piece): k for k, piece in enumerate(pieces)}
    return tuple(
        replace(piece, on=index.get(id(under[id(piece)]))) if id(piece) in under else piece
        for piece in pieces
    )


def _tiles(
    seen: Observation, before: Observation | None, now: Observation
) -> dict[str, bool] | None:
    """Tiles of `seen`, and those that are there both before and after."""
    if before is None or seen.tiles is None or before.tiles is None or now.tiles is None:
        return seen.tiles
    stayed = {place for place, there in before.tiles.items() if there and now.tiles.get(place)}
    return {place: there or place in stayed for place, there in seen.tiles.items()}


def _counters(seen: Observation, before: Observation | None, now: Observation) -> list[SeenCounter]:
    """Counters that are there before and after, but are missing in between."""
    if before is None:
        return []
    return [
        one
        for one in before.counters
        if _has_counter(one, now.counters) and not _has_counter(one, seen.counters)
    ]


def _has_counter(counter: SeenCounter, among: tuple[SeenCounter, ...]) -> bool:
    return any(
        one.colour == counter.colour
        and np.hypot(one.x_mm - counter.x_mm, one.y_mm - counter.y_mm) <= COUNTER_MM
        for one in among
    )
