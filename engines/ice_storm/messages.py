"""Sentences for people, in the tone of a calm umpire."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from engines.ice_storm.fire import Shot
from engines.ice_storm.moves import Throw
from engines.ice_storm.place import Piece, Place
from engines.ice_storm.state import State
from table.messages import NOTHING, Listing, Message, all_of, any_of, msg, sentences


def place(lies: Place) -> Message:
    """Describe a place: `within b3`, `on b3 and b4, its tip in b4`, `upright on b3`."""
    clear = sorted(lies.clear)
    tips = any_of(sorted(lies.tips), "cell")
    if not lies.tips and clear:
        message = msg("upright on {cells}", cells=clear)
    elif not lies.tips:
        message = msg("upright, but not certainly on any square")
    elif len(lies.squares) == 1:
        message = msg("within {cells}", cells=lies.squares)
    elif clear:
        message = msg("on {cells}, with its tip in {cells2}", cells=clear, cells2=tips)
    else:
        message = msg("not certainly on any square, with its tip in {cells}", cells=tips)
    if not lies.doubtful:
        return message
    return msg(
        "{text} (touching {cells}: too close to call)",
        text=message,
        cells=any_of(sorted(lies.doubtful), "cell"),
    )


def piece_names(pieces: Iterable[Piece]) -> Listing:
    """Names of pieces."""
    return all_of((piece.name for piece in pieces), "piece")


def leaning(player: str) -> Message:
    """Describe a throw that came to lean on another piece."""
    return msg("{player}'s piece leans on another piece and is thrown again", player=player)


def throw(before: State, move: Throw) -> Message:
    """Describe where a throw came to rest, and what it moved and knocked off the board."""
    if move.place is None:
        landed = msg(
            "{player}'s piece is fully or partly off the board: it is wasted.", player=move.player
        )
    elif move.place.tips:
        landed = msg("{player}'s piece lies {text}.", player=move.player, text=place(move.place))
    else:
        landed = msg("{player}'s piece stands {text}.", player=move.player, text=place(move.place))
    moved = [
        msg("It moved {piece}, which now lies {text}.", piece=change.name, text=place(change.place))
        if change.place.tips
        else msg(
            "It moved {piece}, which now stands {text}.",
            piece=change.name,
            text=place(change.place),
        )
        for change in move.changes
        if change.place
    ]
    off = [
        piece
        for change in move.changes
        if change.place is None and (piece := before.piece_named(change.name))
    ]
    own, enemies = (
        [piece for piece in off if (piece.colour == move.player) is mine] for mine in (True, False)
    )
    return sentences(
        landed, *moved, _knock_off_text(before, move.player, enemies), _own_knocked_off(own)
    )


def _own_knocked_off(own: Sequence[Piece]) -> Message:
    if not own:
        return NOTHING
    if len(own) == 1:
        return msg(
            "It knocked the thrower's own {pieces} off the board: it is wasted.",
            pieces=piece_names(own),
        )
    return msg(
        "It knocked the thrower's own {pieces} off the board: they are wasted.",
        pieces=piece_names(own),
    )


def _knock_off_text(before: State, thrower: str, enemies: Sequence[Piece]) -> Message:
    """Describe the enemy pieces knocked off, and whose they are now."""
    names, one = piece_names(enemies), len(enemies) == 1
    if not enemies:
        return NOTHING
    if not before.scores_knocked:
        if one:
            return msg("It knocked {pieces} off the board; it scores for nobody.", pieces=names)
        return msg("It knocked {pieces} off the board; they score for nobody.", pieces=names)
    if one:
        return msg(
            "It knocked {pieces} off the board; {player} scores it at once.",
            pieces=names,
            player=thrower,
        )
    return msg(
        "It knocked {pieces} off the board; {player} scores them at once.",
        pieces=names,
        player=thrower,
    )


def capture(attacker: str, target: Piece, shots: Iterable[Shot]) -> Message:
    """Describe a capture: by whom, from which piece and along which line."""
    sure = [shot for shot in shots if shot.target == target.name and shot.certain]
    lines = [
        msg("{piece} fires {lines}", piece=shot.shooter, lines=shot.line.message) for shot in sure
    ]
    return msg(
        "{player} takes {piece} ({text}): {text2}.",
        player=attacker,
        piece=target.name,
        text=place(target.place),
        text2=any_of(lines) if lines else msg("at least one line hits it, whichever way it lies"),
    )
