"""What a table must have shown, by those that were seen before and after it.

A piece that lies where it lay before lay there in between, too; what could not be read where a
piece is read later was that piece; and what was read there as another piece, which came from
nowhere, was read wrongly.
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
"""What could not be read is told this near to the middle of the piece that it is."""
IN_PLACE_MM = 10.0
"""Two readings of one piece have their middles this near to each other, of whatever kind and
however turned it was taken to be.
"""
TURNED_DEG = 30.0
"""By less than this a piece is nudged; a reading of a piece that lies still is off by much more or
by next to nothing.
"""
COUNTER_MM = 3.0
"""A counter that is seen this near to where one was lies where it lay."""


def infer_missed_observation(
    seen: Observation, before: Observation | None, now: Observation
) -> Observation | None:
    """The table `seen` with what must have lain there by the tables `before` and after it; None
    where that changes nothing.

    None, too, where a piece like one that is missing lies elsewhere, which is there neither before
    nor after: it may have been moved there and back; and where something lies now, read badly or
    not at all, in the place of a piece that is gone: it may be back.
    """
    as_read, seen = seen, _as_it_was(seen, before, now)
    stayed = [piece for piece in before.pieces if _there(piece, now)] if before is not None else []
    came = [piece for piece in now.pieces if before is None or not _there(piece, before)]
    missing = [piece for piece in stayed if not _there(piece, seen, _sure(piece))]
    read = [
        one
        for one in seen.pieces
        if not any(
            _same(one, piece) or (_overlap(one, piece) and not _there(one, now))
            for piece in missing
        )
    ]
    gone = [piece for piece in read if not _there(piece, now)]
    came_and_went = [piece for piece in gone if before is None or not _there(piece, before)]
    if any(_may_be(other, piece) for piece in missing for other in came_and_went):
        return None
    if before is not None and any(
        not _there(piece, seen) and not _there(piece, now) and _something_at(piece, now)
        for piece in before.pieces
    ):
        return None
    unread = [
        piece
        for piece in came
        if not _there(piece, seen, _sure(piece))
        and _something_at(piece, seen)
        and not _in_the_way(piece, read, gone)
    ]
    read = [one for one in read if not any(_overlap(one, piece) for piece in unread)]
    tiles, counters = _tiles(seen, before, now), _counters(seen, before, now)
    added = [*missing, *unread]
    if seen is as_read and not added and tiles == seen.tiles and not counters:
        return None
    places = tuple(
        place for place in seen.unread_mm if not any(_near(place, piece) for piece in added)
    )
    pieces = _standing([*read, *added], seen, before, now)
    return replace(
        seen, pieces=pieces, unread_mm=places, tiles=tiles, counters=(*seen.counters, *counters)
    )


def drop_transient_pieces(
    seen: Observation, before: Observation | None, now: Observation
) -> Observation | None:
    """The table `seen` without what came from nowhere and is gone `now`, read or not; None where
    there is no such thing.

    Of the first table nobody knows what came: there a piece is too many beside all others of its
    kind that lie there still.
    """
    strange = [
        one
        for one in _strange(seen, before, now)
        if _from_nowhere(one, seen, before or now) and not _in_place(one, now.pieces)
    ]
    left = [one for one in seen.pieces if not any(one is stranger for stranger in strange)]
    places = seen.unread_mm
    if before is not None and all(_read_as(piece, seen) for piece in before.pieces):
        places = tuple(place for place in places if _still_unread(place, now))
    if not strange and len(places) == len(seen.unread_mm):
        return None
    return replace(seen, pieces=_standing(left, seen), unread_mm=places)


def _still_unread(place_mm: Array, now: Observation) -> bool:
    """Is it, or what is read there, seen now?"""
    return any(np.hypot(*(place_mm - other)) <= UNREAD_MM for other in now.unread_mm) or any(
        _near(place_mm, piece) for piece in now.pieces
    )


def _as_it_was(seen: Observation, before: Observation | None, now: Observation) -> Observation:
    """The table with what was read, however surely, as another kind than what lies there before or
    after, or turned otherwise than after.
    """
    instead = {
        id(one): _read_wrongly(one, seen, before, now) for one in _strange(seen, before, now)
    }
    if not any(instead.values()):
        return seen
    return replace(
        seen,
        pieces=_standing([instead.get(id(one)) or one for one in seen.pieces], seen, before, now),
    )


def _read_wrongly(
    one: SeenPiece, seen: Observation, before: Observation | None, now: Observation
) -> SeenPiece | None:
    """What the strange piece `one` must have been, if that is seen before or after."""
    from_nowhere = before is None or _from_nowhere(one, seen, before)
    later = [piece for piece in _in_place(one, now.pieces) if not _read_as(piece, seen)]
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
    earlier = [piece for piece in _in_place(one, before.pieces) if not _read_as(piece, seen)]
    return next((piece for piece in earlier if _count(piece, seen) < _count(piece, before)), None)


def _strange(seen: Observation, before: Observation | None, now: Observation) -> list[SeenPiece]:
    """What is seen so neither before nor after."""
    return [
        one
        for one in seen.pieces
        if not _read_as(one, now) and not (before is not None and _read_as(one, before))
    ]


def _from_nowhere(one: SeenPiece, seen: Observation, before: Observation) -> bool:
    """Does every piece of its kind lie where it lay, or are there more of them than there were?"""
    return _count(one, seen) > _count(one, before) or all(
        _read_as(piece, seen) for piece in before.pieces if _kind(piece) == _kind(one)
    )


def _in_place(one: SeenPiece, pieces: Iterable[SeenPiece]) -> list[SeenPiece]:
    """Those that it may be another reading of: from base to tip, whichever is which, their middles
    are near to each other.
    """
    return [
        piece
        for piece in pieces
        if np.hypot(*(piece.base_mm + piece.tip_mm - one.base_mm - one.tip_mm)) / 2 <= IN_PLACE_MM
    ]


def _kind(piece: SeenPiece) -> tuple[str, str]:
    return piece.colour, piece.size


def _count(piece: SeenPiece, seen: Observation) -> int:
    """How many of its kind are seen."""
    return sum(_kind(one) == _kind(piece) for one in seen.pieces)


def _read_as(piece: SeenPiece, seen: Observation) -> bool:
    """Is it seen there, and of its own size?"""
    return any(_same(piece, other) and piece.size == other.size for other in seen.pieces)


def _something_at(piece: SeenPiece, seen: Observation) -> bool:
    """Lay something there that could not be read, or not for sure?"""
    return any(_near(place, piece) for place in seen.unread_mm) or any(
        _overlap(one, piece) for one in seen.pieces if not _sure(one)
    )


def _in_the_way(piece: SeenPiece, read: Iterable[SeenPiece], gone: Iterable[SeenPiece]) -> bool:
    """Does another piece lie there for sure, or may the piece lie elsewhere yet?"""
    return any(_sure(one) and _overlap(one, piece) for one in read) or any(
        _may_be(one, piece) and not _overlap(one, piece) for one in gone
    )


def with_each_missing_piece(
    seen: Observation, before: Observation | None, now: Observation
) -> list[Observation]:
    """The table `seen` with one of the pieces that came since `before`, and is there `now`; where
    it is gone from by now it was gone then.
    """
    tables = []
    for piece in now.pieces:
        if _there(piece, seen) or (before is not None and _there(piece, before)):
            continue
        was = [one for one in seen.pieces if _kind(one) == _kind(piece) and not _there(one, now)]
        left = [one for one in seen.pieces if one not in was[:1] and not _overlap(one, piece)]
        places = tuple(place for place in seen.unread_mm if not _near(place, piece))
        tables.append(
            replace(seen, pieces=_standing([*left, piece], seen, before, now), unread_mm=places)
        )
    return tables


def _there(piece: SeenPiece, seen: Observation, surely: bool = False) -> bool:
    return any(_same(piece, other) and (_sure(other) or not surely) for other in seen.pieces)


def _same(a: SeenPiece, b: SeenPiece) -> bool:
    """Sizes need not be the same: what is read badly is read as any."""
    return a.colour == b.colour and not moved(a, b)


def _sure(piece: SeenPiece) -> bool:
    return min(piece.colour_probability, piece.size_probability, piece.pose_probability) >= SURE


def _may_be(read: SeenPiece, piece: SeenPiece) -> bool:
    return read.colour == piece.colour or read.colour_probability < SURE


def _overlap(a: SeenPiece, b: SeenPiece) -> bool:
    return clearance(a.solid, b.solid).mm <= 0


def _near(place_mm: Array, piece: SeenPiece) -> bool:
    return bool(np.hypot(*(place_mm - piece.solid.vertices_mm[:, :2].mean(axis=0))) <= UNREAD_MM)


def _standing(pieces: list[SeenPiece], *tables: Observation | None) -> tuple[SeenPiece, ...]:
    """The pieces of several tables in one: each on what it stood on there, if that is among
    them.
    """
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
    """What lay on the board before and after lay there in between."""
    if before is None or seen.tiles is None or before.tiles is None or now.tiles is None:
        return seen.tiles
    stayed = {place for place, there in before.tiles.items() if there and now.tiles.get(place)}
    return {place: there or place in stayed for place, there in seen.tiles.items()}


def _counters(seen: Observation, before: Observation | None, now: Observation) -> list[SeenCounter]:
    """Counters that lay there before and after, and were not seen."""
    if before is None:
        return []
    return [
        one for one in before.counters if _lies(one, now.counters) and not _lies(one, seen.counters)
    ]


def _lies(counter: SeenCounter, among: tuple[SeenCounter, ...]) -> bool:
    return any(
        one.colour == counter.colour
        and np.hypot(one.x_mm - counter.x_mm, one.y_mm - counter.y_mm) <= COUNTER_MM
        for one in among
    )
