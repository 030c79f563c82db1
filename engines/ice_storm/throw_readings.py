"""All interpretations of a throw: possible places of its piece and of moved pieces."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import product
from typing import NamedTuple

from engines.ice_storm import messages
from engines.ice_storm.matching import DOUBTFUL_OVERLAP, TableMatch, overlap
from engines.ice_storm.moves import LEANING, Change, Throw, Void
from engines.ice_storm.place import Piece, Place
from engines.ice_storm.sizes import expected_size, size_in_force, with_size
from table.clearance import clearance
from table.messages import NOTHING, Message, msg, phrases
from table.motion import moved
from table.observation import SURE, SeenPiece
from table.solids import Solid

LEAN_MM = 3.0
"""Largest distance in mm between readings of pieces that may touch."""
DOUBTFUL_LEAN_MM = 6.0
"""The same if it is doubtful whether one leans: then its place is doubtful too."""
TIP_MM = 4.7
"""Largest distance in mm from the tip to the other piece at which a slightly leaning piece looks as
if it lay.
"""
LIE_NEAR = 0.05
"""Share of lying pieces that are this near to another; a leaning one always is."""


Reading = tuple[Message, Throw]
"""A possible throw, with its description for people."""


class RestingPlace(NamedTuple):
    """One possible resting place of a piece.

    `place` None: off the board; `leans`: on another piece.
    """

    place: Place | None
    leans: bool = False

    def thrown_piece_text(self, player: str) -> Message:
        """Describe the piece that a player threw."""
        if self.leans:
            return messages.leaning(player)
        if self.place is None:
            return msg("{player}'s piece lies fully or partly off the board", player=player)
        lies = messages.place(self.place)
        return msg("{player}'s piece lies on the board, {text}", player=player, text=lies)

    def moved_piece_text(self, name: str) -> Message:
        """Describe a piece that the throw moved, as a phrase."""
        if self.place is None:
            return msg("{piece} lies fully or partly off the board", piece=name)
        lies = messages.place(self.place)
        return msg("{piece} lies on the board, {text}", piece=name, text=lies)


def moved_piece_phrases(changes: Iterable[Change]) -> list[Message]:
    """Describe the new places of moved pieces, a phrase each."""
    return [RestingPlace(change.place).moved_piece_text(change.name) for change in changes]


def other_thrown_piece_readings(
    match: TableMatch, player: str, piece: SeenPiece | None = None
) -> Iterator[Reading]:
    """Interpretations in which another piece of the player's was thrown instead of `piece`.

    That other piece moved, or is not known to lie still, and one of the two leans. Pieces of one
    colour look alike, so it only matters then: in one case the throw is repeated.
    """
    leans = piece is not None and leans_on_another(match, piece) is not False
    for known in (
        known
        for known in match.pieces
        if known.colour == player and known.name in match.located_pieces
    ):
        other = match.located_pieces[known.name]
        if (leans and known in match.moved_pieces) or (
            _may_have_moved(match, known) and leans_on_another(match, other) is not False
        ):
            swapped = TableMatch(
                match.state, match.now, match.before, match.board, assumed_new=other
            )
            yield from readings_of(swapped, player, other)


def _may_have_moved(match: TableMatch, known: Piece) -> bool:
    """True if a recorded piece may have another place than at its verdict, or was unseen then."""
    was = match.earlier_pieces.get(known.name)
    return (
        was is None or known in match.moved_pieces or moved(was, match.located_pieces[known.name])
    )


def _distinguished(read: list[Reading]) -> Iterator[Reading]:
    """Add what each interpretation moved to those with equal descriptions."""
    alike = Counter(text for text, _ in read)
    for text, throw in dict.fromkeys(read):
        lie = moved_piece_phrases(change for change in throw.changes if change.place)
        yield phrases(text, *lie) if alike[text] > 1 else text, throw


def lost_or_hidden_readings(read: list[Reading], lost: list[Piece]) -> list[Reading]:
    """Return every interpretation with the lost pieces knocked off, then with them hidden.

    Unchanged if nothing is lost.
    """
    read = list(_distinguished(read))
    if not lost:
        return read
    names = messages.piece_names(lost)
    there = [
        (
            msg("{text}; still in place, but not visible: {pieces}", text=text, pieces=names),
            _without_changes_of(throw, lost),
        )
        for text, throw in read
    ]
    return [
        (msg("{text}; knocked off: {pieces}", text=text, pieces=names), throw)
        for text, throw in read
    ] + there


def thrown_moved_piece_readings(match: TableMatch, player: str) -> Iterator[Reading]:
    """Interpretations in which a seemingly moved piece of the player's is the thrown one.

    The recorded piece that it was taken for is hidden in its place, or was knocked off.
    """
    for known in match.moved_pieces:
        if known.colour != player:
            continue
        other = match.located_pieces[known.name]
        thrown = TableMatch(match.state, match.now, match.before, match.board, assumed_new=other)
        if known.name not in thrown.located_pieces:
            yield from lost_or_hidden_readings(readings_of(thrown, player, other), [known])


def moved_lost_piece_readings(
    match: TableMatch, player: str, lost: list[Piece]
) -> Iterator[Reading]:
    """Interpretations in which a lost piece was moved to where it is hardly read."""
    colours = {piece.colour for piece in lost}
    there = set(map(id, match.sure_pieces))
    for piece in match.observed_pieces:
        if id(piece) in there or piece.colour not in colours or piece.colour_probability < SURE:
            continue
        other = match.with_reading(piece, replace(piece, pose_probability=1.0))
        found = {one.name for one in lost} - {one.name for one in other.missing_pieces}
        if not found or [new.colour for new in other.new] != [player]:
            continue
        for text, throw in readings_of(other, player, other.new[0]):
            where = moved_piece_phrases(change for change in throw.changes if change.name in found)
            yield phrases(text, *where), throw


def _without_changes_of(throw: Throw, lost: list[Piece]) -> Throw:
    names = {piece.name for piece in lost}
    return replace(
        throw, changes=tuple(change for change in throw.changes if change.name not in names)
    )


def counted(throw: Throw) -> tuple[str, ...]:
    """Moves of a throw that count: itself or, if it is repeated, what it moved."""
    if not throw.again:
        return (str(throw),)
    return (str(Void(throw.player, throw.changes)),) if throw.changes else ()


def lying_readings(match: TableMatch, player: str, piece: SeenPiece) -> list[Reading]:
    """Return the throw if the piece only looks leaning, for people who saw that it is not."""
    return [
        (phrases(rest.thrown_piece_text(player), message), Throw(player, rest.place, changes))
        for rest in resting_places(match.touches(piece).place)
        for message, changes in possible_changes(match)
    ]


def readings_of(match: TableMatch, player: str, piece: SeenPiece) -> list[Reading]:
    """Return every throw that the table may show, with a description of what is in question."""
    found = []
    for rest in thrown_resting_places(match, piece):
        for message, changes in possible_changes(match):
            throw = Throw(player, rest.place, changes, LEANING if rest.leans else "")
            found.append((phrases(rest.thrown_piece_text(player), message), throw))
    return found


def thrown_resting_places(match: TableMatch, piece: SeenPiece) -> list[RestingPlace]:
    """Possible resting places of the thrown piece."""
    leans = leans_on_another(match, piece)
    rests = [] if leans is False else [RestingPlace(None, leans=True)]
    if leans is not True:
        places = [match.touches(pose).place for pose in _possible_poses(match, piece)]
        rests += [rest for place in places for rest in resting_places(place)]
    return list(dict.fromkeys(rests))


def resting_places(place: Place | None) -> Iterator[RestingPlace]:
    """Resting places on the board, off it or, if that is too close to call, both."""
    if place:
        yield RestingPlace(replace(place, off_doubtful=False))
    if place is None or place.off_doubtful:
        yield RestingPlace(None)


def possible_changes(match: TableMatch) -> Iterator[tuple[Message, tuple[Change, ...]]]:
    """All combinations of what the throw moved, with descriptions of what is in question."""
    off = tuple(Change(piece.name, None) for piece in match.missing_pieces)
    for rests in product(*_resting_places_of_moved(match)):
        message = phrases(*(text for text, _ in rests))
        yield message, (*off, *(change for _, change in rests if change is not None))


def _resting_places_of_moved(match: TableMatch) -> Iterator[list[tuple[Message, Change | None]]]:
    """Possible resting places of each moved piece, described if in question; None: as recorded."""
    for piece in match.moved_pieces:
        rests: dict[RestingPlace, Change | None] = {}
        for pose in _possible_poses(match, match.located_pieces[piece.name]):
            place = match.touches(pose).place
            for rest in resting_places(place) if place else ():
                rests[rest] = None if place == piece.place else Change(piece.name, rest.place)
        if len(rests) > 1:
            yield [(rest.moved_piece_text(piece.name), change) for rest, change in rests.items()]
        elif any(rests.values()):
            yield [(NOTHING, change) for change in rests.values()]


def _possible_poses(match: TableMatch, piece: SeenPiece) -> list[SeenPiece]:
    """Possible poses of the piece with their places, the likeliest first.

    It has the game's size, unless it surely has another. While no size is in force, it may have
    each that it is read in.
    """
    wanted = expected_size(match, piece)
    if wanted is not None and piece.size_probability < SURE:
        piece = with_size(piece, wanted)
    any_size = piece.size_probability < SURE and size_in_force(match) is None
    others = [
        rival
        for rival in piece.rivals
        if rival.pose != "leaning" and (any_size or rival.size == piece.size)
    ]
    if not others or (piece.pose_probability >= SURE and not any_size):
        return [piece]
    return [piece.as_read, *others]


def leans_on_another(match: TableMatch, piece: SeenPiece) -> bool | None:
    """True if a piece leans on another or lies on one; None: too close to call.

    A piece cannot lean on nothing, and two pieces cannot be in one place: that decides where the
    picture does not. A reading as leaning near another piece is sure from a probability of 0.71 on,
    as few lying pieces are so near. If the pose is unsure, a possibly leaning piece has to be near
    what its alternative reading would lean on. A lying piece whose tip is near another may always
    lean on it, also if that one is hidden now.
    """
    others = [other.solid for other in match.sure_pieces if other is not piece]
    doubtful = piece.pose_probability < SURE
    if piece.on is not None or any(overlap(piece.solid, other) for other in others):
        return True
    if piece.pose == "leaning":
        near = _nearest_mm([piece.solid], others) <= LEAN_MM
        lies = LIE_NEAR * (1 - piece.pose_probability)
        return True if near and lies <= (1 - SURE) * (lies + piece.pose_probability) else None
    hidden = [
        match.earlier_pieces[one.name].solid
        for one in match.hidden
        if one.name in match.earlier_pieces
    ]
    supports = [*others, *hidden]
    leaning = [rival.solid for rival in piece.rivals if rival.pose == "leaning"]
    tip = [_tip_part(piece.solid)] if piece.pose == "lying" else []
    may_lean = (
        (doubtful and _nearest_mm([piece.solid, *leaning], supports) <= DOUBTFUL_LEAN_MM)
        or _nearest_mm(tip, supports) <= TIP_MM
        or any(
            overlap(piece.solid, other, DOUBTFUL_OVERLAP)
            or overlap(other, piece.solid, DOUBTFUL_OVERLAP)
            for other in supports
        )
    )
    return None if may_lean else False


def _tip_part(solid: Solid) -> Solid:
    """The fiftieth part of a piece at its tip."""
    return Solid(solid.tip_mm + (solid.vertices_mm - solid.tip_mm) / 50)


def _nearest_mm(solids: Sequence[Solid], others: Sequence[Solid]) -> float:
    """Least distance between the first solids and the others; inf without any."""
    return min((clearance(one, other).mm for one in solids for other in others), default=math.inf)


def readings_in_colour(
    match: TableMatch, piece: SeenPiece, colour: str, player: str
) -> list[Reading]:
    """Possible throws of the player, with descriptions, if a misread piece has this colour.

    One of the player's own colour is the thrown one.
    """
    misread = replace(piece, colour=colour)
    other = match.with_reading(piece, misread, misread if colour == player else None)
    read = (
        readings_of(other, player, other.new[0])
        if [new.colour for new in other.new] == [player]
        else []
    )
    return [
        (msg("It is {player}: {text}", player=colour, text=text), throw) for text, throw in read
    ]
