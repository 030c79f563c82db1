"""All pieces of a game are of one size (ruling ice_storm.13): which one that is, and what is said
of a piece of another.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

from engines.ice_storm.matching import Look
from engines.ice_storm.state import ANY_SIZE, SAME_SIZE
from engines.occlusion import NOT_SO
from engines.verdict import Ambiguous, Choice, OutOfSync
from table.listing import listed
from table.observation import SURE, SeenPiece

ONE_SIZE = "ruling ice_storm.13"
CODE = "storm.size"


def size_in_force(look: Look) -> str | None:
    """The size that was named before play, or that of most pieces of the record that are surely
    read; None: any will do, or nobody knows.
    """
    named = dict(look.state.rulings)["size"]
    if named != SAME_SIZE:
        return None if named == ANY_SIZE else named
    sizes = Counter(piece.size for piece in look.found.values() if piece.size_probability >= SURE)
    return sizes.most_common(1)[0][0] if sizes else None


def of_another_size(look: Look, piece: SeenPiece) -> str | None:
    """The size that a piece should have, where it is read as one of another; None where nothing is
    amiss.
    """
    size = size_in_force(look)
    return None if piece.size == size else size


def as_of_size(piece: SeenPiece, size: str) -> SeenPiece:
    """A piece as it lies if it is of a size that the picture holds less likely."""
    rivals = (rival for rival in piece.rivals if rival.size == size and rival.pose == piece.pose)
    lies = next(rivals, piece)
    return replace(
        lies,
        colour=piece.colour,
        colour_probability=piece.colour_probability,
        on=piece.on,
        rivals=(),
    )


def told(size: str, wanted: str, look: Look) -> str:
    """What is wrong about a piece of a size, in words that follow its name: `is medium, and the
    others are small`.
    """
    named = dict(look.state.rulings)["size"] != SAME_SIZE
    return (
        f"is {size}, and"
        f" {f'this game is played with {wanted} pieces' if named else f'the others are {wanted}'}"
    )


def new_of_another_size(look: Look) -> list[str]:
    """A sentence for each new piece on the board that is surely of another size than the game's."""
    odd = [
        (piece, of_another_size(look, piece))
        for piece in look.new
        if piece.size_probability >= SURE
    ]
    return [
        f"A {piece.colour} piece on {look.touches(piece).place} {told(piece.size, size, look)}."
        for piece, size in odd
        if size
    ]


def exchanged(look: Look) -> OutOfSync | None:
    """Pieces of the record that are surely of another size than the game's, and were not read so
    when the table was ruled on last.
    """
    wanted = size_in_force(look)
    if wanted is None or look.before is None:
        return None
    were = Counter((piece.colour, piece.size) for piece in look.lay.values())
    odd: dict[str, SeenPiece] = {}
    for name, piece in look.found.items():
        if (
            piece.size != wanted
            and piece.size_probability >= SURE
            and not were[piece.colour, piece.size]
        ):
            odd[name] = piece
    if not odd:
        return None
    names = listed(odd, "and")
    player = look.state.next or look.state.attacker
    differences = tuple(f"{name} {told(piece.size, wanted, look)}." for name, piece in odd.items())
    right = Choice(f"{names} is {wanted}: all lies as it is recorded", (), holds=True)
    asked = f"Is {names} of the size of this game, {wanted}?"
    common: dict[str, Any] = {"code": CODE, "rests_on": ONE_SIZE, "player": player}
    asks = Ambiguous(said=asked, choices=(right, NOT_SO), until_moved=True, **common)
    said = (
        "All pieces of a game are of one size. Take away what is of another, and put the right"
        " piece there."
    )
    return OutOfSync(said=said, differences=differences, asks=asks, **common)
