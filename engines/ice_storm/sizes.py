"""The size of a game's pieces, and messages about pieces of another size.

All pieces of a game have one size (ruling ice_storm.13).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from engines.ice_storm.matching import TableMatch
from engines.ice_storm.state import ANY_SIZE, SAME_SIZE
from engines.occlusion import NOT_SO
from engines.verdict import Ambiguous, Choice, OutOfSync
from table.messages import Message, all_of, msg, sentences
from table.observation import SURE, SeenPiece

ONE_SIZE = "ruling ice_storm.13"
CODE = "storm.size"


def size_in_force(match: TableMatch) -> str | None:
    """Size declared before play, or that of most surely read recorded pieces.

    None: any size is allowed, or it is unknown.
    """
    named = dict(match.state.rulings)["size"]
    if named != SAME_SIZE:
        return None if named == ANY_SIZE else named
    sizes = Counter(
        piece.size for piece in match.located_pieces.values() if piece.size_probability >= SURE
    )
    return sizes.most_common(1)[0][0] if sizes else None


def expected_size(match: TableMatch, piece: SeenPiece) -> str | None:
    """Size that a piece should have, if it was read as another; else None."""
    size = size_in_force(match)
    return None if piece.size == size else size


def with_size(piece: SeenPiece, size: str) -> SeenPiece:
    """Return a piece as it lies if it has a less likely size."""
    rivals = (rival for rival in piece.rivals if rival.size == size and rival.pose == piece.pose)
    lies = next(rivals, piece)
    return replace(
        lies,
        colour=piece.colour,
        colour_probability=piece.colour_probability,
        on=piece.on,
        rivals=(),
    )


def is_size_agreed(match: TableMatch) -> bool:
    """True if the size was declared before play, and not inferred from the other pieces."""
    return dict(match.state.rulings)["size"] != SAME_SIZE


def wrong_size_sentences(match: TableMatch) -> list[Message]:
    """A sentence for each new piece on the board that surely has a wrong size."""
    odd = [
        (piece, expected_size(match, piece))
        for piece in match.new
        if piece.size_probability >= SURE
    ]
    message = []
    for piece, size in odd:
        if size is None:
            continue
        fields: dict[str, object] = {
            "colour": piece.colour,
            "cell": match.touches(piece).place,
            "size": piece.size,
            "size2": size,
        }
        message.append(
            msg(
                "A {colour} piece on {cell} is {size}, but this game is played with {size2}"
                " pieces.",
                **fields,
            )
            if is_size_agreed(match)
            else msg("A {colour} piece on {cell} is {size}, but the others are {size2}.", **fields)
        )
    return message


def exchanged_pieces(match: TableMatch) -> OutOfSync | None:
    """Recorded pieces that are now surely of a wrong size.

    They were not read so at the last verdict.
    """
    wanted = size_in_force(match)
    if wanted is None or match.before is None:
        return None
    were = Counter((piece.colour, piece.size) for piece in match.earlier_pieces.values())
    odd: dict[str, SeenPiece] = {}
    for name, piece in match.located_pieces.items():
        if (
            piece.size != wanted
            and piece.size_probability >= SURE
            and not were[piece.colour, piece.size]
        ):
            odd[name] = piece
    if not odd:
        return None
    player = match.state.next or match.state.attacker
    differences = tuple(
        msg(
            "{piece} is {size}, but this game is played with {size2} pieces.",
            piece=name,
            size=piece.size,
            size2=wanted,
        )
        if is_size_agreed(match)
        else msg(
            "{piece} is {size}, but the others are {size2}.",
            piece=name,
            size=piece.size,
            size2=wanted,
        )
        for name, piece in odd.items()
    )
    message = sentences(
        msg("All pieces in a game have the same size."),
        msg("Take away every piece of another size, and put the right one in its place."),
    )
    return OutOfSync(
        code=CODE,
        message=message,
        rests_on=ONE_SIZE,
        player=player,
        differences=differences,
        asks=_ask_size(odd, wanted, player),
    )


def _ask_size(odd: Iterable[str], wanted: str, player: str | None) -> Ambiguous:
    """Ask whether pieces that look to be of another size have the game's size."""
    names = all_of(odd, "piece")
    right = Choice(
        msg("{pieces}: {size}, everything as recorded", pieces=names, size=wanted),
        (),
        confirms_record=True,
    )
    asked = msg(
        "This game is played with {size} pieces. Is that right for {pieces}?",
        pieces=names,
        size=wanted,
    )
    return Ambiguous(
        code=CODE,
        message=asked,
        rests_on=ONE_SIZE,
        player=player,
        choices=(right, NOT_SO),
        withdrawn_if_table_changes=True,
    )
