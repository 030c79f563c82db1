"""What a table must have shown, by those that were seen before and after it.

A piece that lies where it lay before lay there in between, too, and what could not be read where a piece is read later was that piece.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from engines.still import moved
from table.clearance import clearance
from table.observation import SURE, Observation, SeenCounter, SeenPiece
from table.solids import Array

UNREAD_MM = 15.0
"""What could not be read is told this near to the middle of the piece that it is."""
COUNTER_MM = 3.0
"""A counter that is seen this near to where one was lies where it lay."""


def made_out(seen: Observation, before: Observation | None, now: Observation) -> Observation | None:
    """The table `seen` with what must have lain there by the tables `before` and after it; None where that changes nothing.

    None, too, where a piece like one that is missing lies elsewhere, which is there neither before nor after: it may have been moved there
    and back.
    """
    stayed = [piece for piece in before.pieces if _there(piece, now)] if before is not None else []
    came = [piece for piece in now.pieces if before is None or not _there(piece, before)]
    missing = [piece for piece in stayed if not _there(piece, seen, _sure(piece))]
    read = [one for one in seen.pieces if not any(_same(one, piece) or (_overlap(one, piece) and not _there(one, now)) for piece in missing)]
    strange = [piece for piece in read if not _there(piece, now) and not (before is not None and _there(piece, before))]
    if any(_may_be(other, piece) for piece in missing for other in strange):
        return None
    gone = [piece for piece in read if not _there(piece, now)]
    unread = [piece for piece in came if not _there(piece, seen, _sure(piece)) and _something_at(piece, seen) and not _in_the_way(piece, read, gone)]
    read = [one for one in read if not any(_overlap(one, piece) for piece in unread)]
    tiles, counters = _tiles(seen, before, now), _counters(seen, before, now)
    added = [*missing, *unread]
    if not added and tiles == seen.tiles and not counters:
        return None
    places = tuple(place for place in seen.unread_mm if not any(_near(place, piece) for piece in added))
    pieces = _standing([*read, *added], seen, before, now)
    return replace(seen, pieces=pieces, unread_mm=places, tiles=tiles, counters=(*seen.counters, *counters))


def _something_at(piece: SeenPiece, seen: Observation) -> bool:
    """Lay something there that could not be read, or not for sure?"""
    return any(_near(place, piece) for place in seen.unread_mm) or any(_overlap(one, piece) for one in seen.pieces if not _sure(one))


def _in_the_way(piece: SeenPiece, read: Iterable[SeenPiece], gone: Iterable[SeenPiece]) -> bool:
    """Does another piece lie there for sure, or may the piece lie elsewhere yet?"""
    return any(_sure(one) and _overlap(one, piece) for one in read) or any(_may_be(one, piece) and not _overlap(one, piece) for one in gone)


def with_one_more(seen: Observation, before: Observation | None, now: Observation) -> list[Observation]:
    """The table `seen` with one of the pieces that came since `before`, and is there `now`; where it is gone from by now it was gone then."""
    tables = []
    for piece in now.pieces:
        if _there(piece, seen) or (before is not None and _there(piece, before)):
            continue
        was = [one for one in seen.pieces if (one.colour, one.size) == (piece.colour, piece.size) and not _there(one, now)]
        left = [one for one in seen.pieces if one not in was[:1] and not _overlap(one, piece)]
        places = tuple(place for place in seen.unread_mm if not _near(place, piece))
        tables.append(replace(seen, pieces=_standing([*left, piece], seen, before, now), unread_mm=places))
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
    """The pieces of several tables in one: each on what it stood on there, if that is among them."""
    under = {id(piece): table.pieces[piece.on] for table in tables if table is not None for piece in table.pieces if piece.on is not None}
    index = {id(piece): k for k, piece in enumerate(pieces)}
    return tuple(replace(piece, on=index.get(id(under[id(piece)]))) if id(piece) in under else piece for piece in pieces)


def _tiles(seen: Observation, before: Observation | None, now: Observation) -> dict[str, bool] | None:
    """What lay on the board before and after lay there in between."""
    if before is None or seen.tiles is None or before.tiles is None or now.tiles is None:
        return seen.tiles
    stayed = {place for place, there in before.tiles.items() if there and now.tiles.get(place)}
    return {place: there or place in stayed for place, there in seen.tiles.items()}


def _counters(seen: Observation, before: Observation | None, now: Observation) -> list[SeenCounter]:
    """Counters that lay there before and after, and were not seen."""
    if before is None:
        return []
    return [one for one in before.counters if _lies(one, now.counters) and not _lies(one, seen.counters)]


def _lies(counter: SeenCounter, among: tuple[SeenCounter, ...]) -> bool:
    return any(one.colour == counter.colour and np.hypot(one.x_mm - counter.x_mm, one.y_mm - counter.y_mm) <= COUNTER_MM for one in among)
