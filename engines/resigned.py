"""Players who resigned while others play on, in a state's notation.

Turns and votes skip them; their pieces stay.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from engines.errors import InvalidNotation

RESIGNED = "resigned"
"""A key of a state's line, present only if somebody has resigned."""


def write_resigned(resigned: Sequence[str]) -> dict[str, str]:
    """Format players who resigned for a state's line; empty without any."""
    return {RESIGNED: " ".join(resigned)} if resigned else {}


def read_resigned(words: Mapping[str, str], players: Sequence[str]) -> tuple[str, ...]:
    """Parse the players who resigned from a state's line.

    Raises InvalidNotation unless they are some of the players, in turn order, and not all.
    """
    resigned = tuple(words[RESIGNED].split(" ")) if RESIGNED in words else ()
    if resigned != in_turn_order(players, resigned) or len(resigned) >= len(players):
        raise InvalidNotation(
            f"expected some of the players, in turn order, who resigned, got {words[RESIGNED]!r}"
        )
    return resigned


def in_turn_order(players: Sequence[str], some: Sequence[str]) -> tuple[str, ...]:
    """Sort some of the players in turn order."""
    return tuple(player for player in players if player in some)


def next_remaining_player(players: Sequence[str], resigned: Sequence[str], player: str) -> str:
    """First player in turn order, from `player` on, who has not resigned; there is one."""
    here = players.index(player)
    return next(other for other in (*players[here:], *players[:here]) if other not in resigned)
