"""Pieces that the camera misreads with high confidence, and people's corrections of them.

No reading is changed without a correction by people. A correction holds while its piece stays in
place. It moves with the piece if nothing else explains where it went.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import msgspec
import numpy as np

from engines.verdict import Accepted, Ambiguous, OutOfSync, Refused, Unsettled, Verdict, Waiting
from table.errors import InputError
from table.files import convert
from table.json_data import JsonObject
from table.motion import CARRIED_MM, moved
from table.observation import Observation, SeenPiece
from table.solids import REPEATS_DEG, Pose, lying, upright
from table.table_config import Setup

MOST_MISREAD = 6
"""If more pieces than this would have to be misread, the table is a different one."""
EXPLAINS = 3
"""Lowest `rank` of a verdict that explains its table: as recorded, or a possible successor."""
ALLOWED = 4
"""`rank` of a table that follows by a legal act, or is the start."""
KEY = "misread"
"""Key in a record's evidence: a list for a ruling, lists by choice label for a question."""


class Kind(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a piece is, and how it lies."""

    colour: str
    size: str
    pose: Pose


class Misread(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A piece that is read as `read` at (x, y) and is `true`; None: nothing is there.

    `turned_deg` is how much its heading is greater than it was read.
    """

    read: Kind
    x_mm: float
    y_mm: float
    true: Kind | None = None
    turned_deg: float = 0.0


class MisreadingExplanation(NamedTuple):
    """A table with some pieces read differently, and its verdict."""

    misread: tuple[Misread, ...]
    table: Observation
    verdict: Verdict

    @property
    def moves(self) -> tuple[str, ...]:
        """Moves of the verdict, if they are legal."""
        return self.verdict.moves if isinstance(self.verdict, Accepted) else ()


def kind_of(piece: SeenPiece) -> Kind:
    """Kind that the piece was read as."""
    return Kind(piece.colour, piece.size, piece.pose)


def misreadings_data(misread: Iterable[Misread]) -> list[JsonObject]:
    """Convert misreadings to plain data for a record's evidence."""
    return [msgspec.to_builtins(one) for one in misread]


def read_misread(document: object) -> tuple[Misread, ...]:
    """Parse the misreadings in a record's evidence; none if the format is different."""
    try:
        return convert(document, tuple[Misread, ...], "misread")
    except InputError:
        return ()


class CorrectedTable(NamedTuple):
    """A table with people's corrections.

    `there` are the misread pieces on it, at their current places; `lost` are those that have left
    their places.
    """

    table: Observation
    there: tuple[Misread, ...]
    lost: tuple[Misread, ...]


def apply_corrections(
    seen: Observation, misread: Sequence[Misread], colours: Mapping[str, str], setup: Setup
) -> CorrectedTable:
    """Apply people's corrections to the pieces that are still in place.

    `colours` maps colours that nobody plays to the true ones.
    """
    there: dict[int, Misread] = {}
    lost: list[Misread] = []
    for one in misread:
        if one.true is not None and (
            one.true.size not in setup.pieces or one.true.pose == "leaning"
        ):
            continue  # from another program or another table
        near = [
            k
            for k, piece in enumerate(seen.pieces)
            if k not in there
            and _may_be_misread(piece, one)
            and _distance_mm(piece, one) <= CARRIED_MM
        ]
        if near:
            k = min(near, key=lambda k: _distance_mm(seen.pieces[k], one))
            x_mm, y_mm = map(float, seen.pieces[k].base_mm)
            there[k] = msgspec.structs.replace(one, x_mm=x_mm, y_mm=y_mm)
        else:
            lost.append(one)
    wrongly = {k: one for k, one in there.items() if kind_of(seen.pieces[k]) == one.read}
    table = _with_pieces(
        seen, {k: true_piece(seen.pieces[k], one, setup) for k, one in wrongly.items()}
    )
    pieces = tuple(
        replace(piece, colour=colours.get(piece.colour, piece.colour)) for piece in table.pieces
    )
    table = replace(table, pieces=pieces) if colours else table
    return CorrectedTable(table, tuple(there.values()), tuple(lost))


def true_piece(piece: SeenPiece, misread: Misread, setup: Setup) -> SeenPiece | None:
    """Return the true piece at the place of the misread one; None if nothing is there."""
    true = misread.true
    if true is None:
        return None
    piece = replace(
        piece,
        colour=true.colour,
        colour_probability=1.0,
        size_probability=1.0,
        pose_probability=1.0,
        rivals=(),
    )
    if (true.size, true.pose) == (piece.size, piece.pose) and not misread.turned_deg:
        return piece
    heading_deg, base_mm = piece.heading_deg + misread.turned_deg, piece.base_mm
    size = setup.pieces[true.size]
    if piece.pose == true.pose == "lying" and misread.turned_deg:
        base_mm = piece.tip_mm
    elif piece.pose != true.pose:
        half_mm = setup.pieces[piece.size].slant_mm / 2
        way_deg = piece.heading_deg if true.pose == "upright" else heading_deg
        ahead_mm = half_mm * np.array([np.cos(np.deg2rad(way_deg)), np.sin(np.deg2rad(way_deg))])
        base_mm = base_mm + ahead_mm if true.pose == "upright" else base_mm - ahead_mm
    z_mm = max(0.0, float(piece.solid.vertices_mm[:, 2].min()))
    x_mm, y_mm = map(float, base_mm)
    solid = (lying if true.pose == "lying" else upright)(size, x_mm, y_mm, heading_deg, z_mm)
    return replace(
        piece, size=true.size, pose=true.pose, base_mm=base_mm, heading_deg=heading_deg, solid=solid
    )


def _with_pieces(seen: Observation, instead: Mapping[int, SeenPiece | None]) -> Observation:
    """Replace some pieces by index; None removes the piece."""
    if not instead:
        return seen
    left = [k for k in range(len(seen.pieces)) if instead.get(k, seen.pieces[k]) is not None]
    now = {old: new for new, old in enumerate(left)}
    pieces = [(instead.get(k) or seen.pieces[k], seen.pieces[k].on) for k in left]
    return replace(
        seen,
        pieces=tuple(
            piece if on is None or now.get(on) == on else replace(piece, on=now.get(on))
            for piece, on in pieces
        ),
    )


def _distance_mm(piece: SeenPiece, one: Misread) -> float:
    return float(np.hypot(*(piece.base_mm - (one.x_mm, one.y_mm))))


def _may_be_misread(piece: SeenPiece, one: Misread) -> bool:
    """True if the piece is read as that one was, or, this time, correctly."""
    return kind_of(piece) in (one.read, one.true)


def rank(verdict: Verdict) -> int:
    """Return how well a verdict explains its table.

    4: a legal act, or the start. 3: nothing new. 2: half done, or ambiguous. 1: refused. 0: not at
    all.
    """
    match verdict:
        case Accepted():
            return ALLOWED
        case Waiting():
            return 3 if verdict.as_recorded else 0 if verdict.differences or verdict.asks else 2
        case Ambiguous():
            return 2
        case Refused():
            return 1
        case _:
            return 0


def contradicts_record(
    verdict: Verdict, seen: Observation, before: Observation | None, colours: Container[str]
) -> bool:
    """True if the table does not match the record.

    A refused act may be a misreading if no table was ruled on `before`, or if a piece has none of
    the game's `colours`.
    """
    if isinstance(verdict, Refused):
        return before is None or any(piece.colour not in colours for piece in seen.pieces)
    return isinstance(verdict, Unsettled) and rank(verdict) < EXPLAINS


def is_half_done(verdict: Verdict) -> bool:
    """True if the table shows a part of an act, and the game waits for the rest."""
    return isinstance(verdict, Waiting) and not verdict.differences


def _differences(verdict: Verdict) -> float:
    return (
        len(verdict.differences)
        if isinstance(verdict, OutOfSync | Waiting) and verdict.differences
        else np.inf
    )


def new_piece_indexes(seen: Observation, before: Observation | None) -> list[int]:
    """Indexes of the pieces that are new since the last ruling."""
    were = before.pieces if before is not None else ()
    return [
        k
        for k, piece in enumerate(seen.pieces)
        if not any(kind_of(was) == kind_of(piece) and not moved(was, piece) for was in were)
    ]


Judge = Callable[[Observation], Verdict]


def explanations(
    judge: Judge,
    verdict: Verdict,
    seen: Observation,
    before: Observation | None,
    colours: Sequence[str],
    setup: Setup,
) -> list[MisreadingExplanation]:
    """Return the readings that explain a table with the fewest changed pieces.

    A greedy search. Pieces that lie as before keep their readings. In each step one other piece is
    changed so that the fewest differences remain. Empty if no explained table is reached.
    """
    found = MisreadingExplanation((), seen, verdict)
    as_read = {
        id(seen.pieces[k])
        for k in new_piece_indexes(seen, before)
        if seen.pieces[k].pose != "leaning"
    }
    while len(found.misread) < MOST_MISREAD:
        open_to_doubt = [k for k, piece in enumerate(found.table.pieces) if id(piece) in as_read]
        corrected = [
            one
            for one in _with_another_misreading(found, open_to_doubt, judge, colours, setup)
            if _are_likely_together(one.misread)
        ]
        if explained := [one for one in corrected if rank(one.verdict) >= EXPLAINS]:
            return explained
        nearer = min(corrected, key=lambda one: _differences(one.verdict), default=found)
        if _differences(nearer.verdict) >= _differences(found.verdict):
            return []
        found = nearer
    return []


def likest(
    judge: Judge, verdict: Verdict, seen: Observation, colours: Sequence[str], setup: Setup
) -> MisreadingExplanation:
    """Return the reading with the fewest differences, however many pieces it changes.

    A greedy search: each piece is tried once, unchanged or in the way that leaves the fewest
    differences.
    """
    found = MisreadingExplanation((), seen, verdict)
    for piece in seen.pieces:
        k = next((k for k, one in enumerate(found.table.pieces) if one is piece), None)
        if k is not None and piece.pose != "leaning" and rank(found.verdict) < EXPLAINS:
            others = _with_another_misreading(found, [k], judge, colours, setup)
            found = min(
                (found, *others),
                key=lambda one: (
                    -1.0 if rank(one.verdict) >= EXPLAINS else _differences(one.verdict)
                ),
            )
    return found


def _are_likely_together(misread: Sequence[Misread]) -> bool:
    """True for misreadings that are plausible together.

    One or two pieces may be misread in any way, more only if all are misread in the same way. At
    most one piece may be absent.
    """
    kinds, gone = (
        {(one.read, one.true, one.turned_deg) for one in misread},
        sum(one.true is None for one in misread),
    )
    return gone <= 1 and (len(misread) <= 2 or len(kinds) == 1)


def _with_another_misreading(
    found: MisreadingExplanation,
    pieces: Iterable[int],
    judge: Judge,
    colours: Sequence[str],
    setup: Setup,
) -> Iterator[MisreadingExplanation]:
    """Yield the table with one more of these pieces read differently, in every way."""
    for k in pieces:
        piece = found.table.pieces[k]
        for one in _other_readings(piece, colours, setup):
            table = _with_pieces(found.table, {k: true_piece(piece, one, setup)})
            yield MisreadingExplanation((*found.misread, one), table, judge(table))


def _other_readings(piece: SeenPiece, colours: Sequence[str], setup: Setup) -> Iterator[Misread]:
    """Yield every way to misread one property of a piece, the likeliest first."""
    read, change = kind_of(piece), msgspec.structs.replace
    gone = Misread(read=read, x_mm=float(piece.base_mm[0]), y_mm=float(piece.base_mm[1]))
    yield from (
        change(gone, true=change(read, colour=colour))
        for colour in colours
        if colour != piece.colour
    )
    yield from (
        change(gone, true=change(read, size=size))
        for size in setup.game.sizes
        if size != piece.size
    )
    if piece.pose == "lying":
        yield change(gone, true=read, turned_deg=180.0)
        yield change(gone, true=change(read, pose="upright"))
    else:
        turns = np.arange(0.0, 360.0, REPEATS_DEG["upright"])
        yield from (
            change(gone, true=change(read, pose="lying"), turned_deg=float(turn)) for turn in turns
        )
    yield gone


class Followed(NamedTuple):
    """Explanation of a table with corrected pieces at their current places.

    `rival` explains the table equally well, with one of these pieces now read correctly.
    """

    best: MisreadingExplanation
    rival: MisreadingExplanation | None = None


def follow_corrections(
    judge: Judge,
    plainly: MisreadingExplanation,
    lost: Iterable[Misread],
    before: Observation | None,
    setup: Setup,
) -> Followed:
    """Move corrections with pieces that have left their places.

    A correction moves if that explains the table better, or equally well by a legal act. Otherwise
    the table stays as read. The piece must be read as before, and exactly one new piece may explain
    the table best.
    """
    best, rival, nowhere = plainly, None, list(lost)
    for one in lost:
        table = best.table
        there = [
            k for k in new_piece_indexes(table, before) if kind_of(table.pieces[k]) == one.read
        ]
        if one.true is None or not there:
            continue
        ways = []
        for k in there:
            x_mm, y_mm = map(float, table.pieces[k].base_mm)
            moved_there = msgspec.structs.replace(one, x_mm=x_mm, y_mm=y_mm)
            then = _with_pieces(table, {k: true_piece(table.pieces[k], moved_there, setup)})
            ways.append(MisreadingExplanation((*best.misread, moved_there), then, judge(then)))
        most = max(rank(way.verdict) for way in ways)
        likeliest = [way for way in ways if rank(way.verdict) == most]
        if len(likeliest) != 1 or most < rank(best.verdict):
            continue
        if most == ALLOWED == rank(best.verdict) and likeliest[0].moves != best.moves:
            rival = best
        if most > rank(best.verdict) or most == ALLOWED:
            best = likeliest[0]
            nowhere.remove(one)
    return Followed(best if rival else _with_moved_corrections(best, nowhere, before), rival)


def _with_moved_corrections(
    found: MisreadingExplanation, lost: Iterable[Misread], before: Observation | None
) -> MisreadingExplanation:
    """Add the corrections of pieces that have moved and are now read correctly.

    They may be misread again. A piece has moved there if it is the only new one of its kind.
    """
    for one in lost:
        there = [
            found.table.pieces[k]
            for k in new_piece_indexes(found.table, before)
            if kind_of(found.table.pieces[k]) == one.true != one.read
        ]
        if len(there) == 1:
            x_mm, y_mm = map(float, there[0].base_mm)
            found = found._replace(
                misread=(*found.misread, msgspec.structs.replace(one, x_mm=x_mm, y_mm=y_mm))
            )
    return found
