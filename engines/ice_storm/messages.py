"""Sentences for people, as a calm umpire would say them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from engines.ice_storm.fire import Shot
from engines.ice_storm.moves import Throw
from engines.ice_storm.place import Piece, Place
from engines.ice_storm.state import State
from table.listing import listed


def place(lies: Place) -> str:
    """How a piece lies: `within b3`, `on b3 and b4, its tip in b4`, `upright on b3`."""
    clear = listed(sorted(lies.clear), none="no square for sure")
    if not lies.tips:
        said = f"upright on {clear}"
    elif len(lies.squares) == 1:
        said = f"within {listed(lies.squares)}"
    else:
        said = f"on {clear}, its tip in {listed(sorted(lies.tips), 'or')}"
    doubtful = listed(sorted(lies.doubtful), "or")
    return said + f" (whether it touches {doubtful} is too close to call)" * bool(lies.doubtful)


def named(pieces: Iterable[Piece]) -> str:
    """The names of pieces; empty where there are none."""
    return listed((piece.name for piece in pieces), none="")


def throw(before: State, move: Throw) -> str:
    """Where a throw came to rest, and what it moved and knocked off the board."""
    owner = move.player.capitalize()
    landed = (
        f"{owner}'s piece lies {place(move.place)}."
        if move.place
        else f"{owner}'s piece is off the board, or partly off: it is wasted."
    )
    moved = [
        f"It moved {change.name} to lie {place(change.place)}."
        for change in move.changes
        if change.place
    ]
    off = [
        piece
        for change in move.changes
        if change.place is None and (piece := before.named(change.name))
    ]
    own, enemies = (
        [piece for piece in off if (piece.colour == move.player) is mine] for mine in (True, False)
    )
    said = [
        landed,
        *moved,
        _knocked_off(before, move.player, enemies),
        (
            f"It knocked {named(own)} off the board, {'its' if len(own) == 1 else 'all of its'}"
            " own: wasted."
            if own
            else ""
        ),
    ]
    return " ".join(filter(None, said))


def _knocked_off(before: State, thrower: str, enemies: Sequence[Piece]) -> str:
    """Of enemy pieces, and whose they are now."""
    if not enemies:
        return ""
    are = "is" if len(enemies) == 1 else "are"
    whose = f"{thrower}'s at once" if before.scores_knocked else "nobody's"
    return f"It knocked {named(enemies)} off the board, which {are} {whose}."


def capture(attacker: str, target: Piece, shots: Iterable[Shot]) -> str:
    """Who took what, from which piece and along which line."""
    sure = [shot for shot in shots if shot.target == target.name and shot.certain]
    how = listed(
        [f"{shot.shooter} fires {shot.line}" for shot in sure],
        "or",
        none="some line hits it however it lies",
    )
    return f"{attacker.capitalize()} takes {target.name}, which lies {place(target.place)}: {how}."
