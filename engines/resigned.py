"""Players who gave a game up while others play on: how a state names them.  Turns and votes pass
over them; their pieces stay.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from engines.errors import InvalidNotation

RESIGNED = "resigned"
"""A key of a state's line that only stands where somebody has resigned."""


def write_resigned(resigned: Sequence[str]) -> dict[str, str]:
    """What a state's line says of them: nothing where there are none."""
    return {RESIGNED: " ".join(resigned)} if resigned else {}


def read_resigned(words: Mapping[str, str], players: Sequence[str]) -> tuple[str, ...]:
    """They, from the words of a state's line; raises InvalidNotation unless they are some of the
    players, in turn order, and not all.
    """
    resigned = tuple(words[RESIGNED].split(" ")) if RESIGNED in words else ()
    if resigned != in_order(players, resigned) or len(resigned) >= len(players):
        raise InvalidNotation(
            f"expected some of the players, in turn order, who resigned, got {words[RESIGNED]!r}"
        )
    return resigned


def in_order(players: Sequence[str], some: Sequence[str]) -> tuple[str, ...]:
    """Some of the players, in turn order."""
    return tuple(player for player in players if player in some)


def next_left(players: Sequence[str], resigned: Sequence[str], player: str) -> str:
    """The first in turn order, from this player on, who has not resigned; somebody has not."""
    here = players.index(player)
    return next(other for other in (*players[here:], *players[:here]) if other not in resigned)
