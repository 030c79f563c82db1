"""Lessons in Ice Storm, for three players."""

from __future__ import annotations

from collections.abc import Sequence

from engines.ice_storm.state import PIECES
from engines.lessons import Lesson
from table.messages import msg


def lessons(players: Sequence[str]) -> tuple[Lesson, ...]:
    """See `engines.lessons.Lessons`."""
    first, second, third = players[:3]
    on_board = {
        f"{first} 1": "d3-d4>d4",
        f"{second} 1": "d6-d7>d7",
        f"{third} 1": "f4-f5-g4-g5>f5",
        f"{second} 2": "b2^",
        f"{third} 2": "b5-b6>b6",
    }
    thrown = tuple(
        f"throw {player} {on_board.get(f'{player} {number}', 'off')}"
        for number in range(1, PIECES + 1)
        for player in players[:3]
    )
    return (*_throwing(first, second, thrown), *_firing(first, second, third, thrown))


def _throwing(first: str, second: str, thrown: tuple[str, ...]) -> tuple[Lesson, ...]:
    return (
        Lesson(
            title=msg("Throw"),
            task=msg(
                "{player} begins. Drag one of {player2}'s pieces on to the board: it is thrown"
                " there.",
                player=first,
                player2=first,
            ),
            learned=msg("The referee says on which squares the piece lies, and where its tip is."),
            example=f"throw {first} d4",
            moves=f"throw {first} .*",
        ),
        Lesson(
            title=msg("In turn"),
            task=msg("Now throw a piece for {player}.", player=second),
            learned=msg("Each player throws five pieces, one at a time."),
            example=f"throw {second} e5",
            position=thrown[:1],
            moves=f"throw {second} .*",
        ),
    )


def _firing(first: str, second: str, third: str, thrown: tuple[str, ...]) -> tuple[Lesson, ...]:
    hit = f"capture {second}1"
    return (
        Lesson(
            title=msg("Who can be hit?"),
            task=msg(
                "All have thrown, and {player} fires. Try to take the {colour} piece on f5.",
                player=first,
                colour=third,
            ),
            learned=msg("No line leads there. A piece on two squares fires straight to its tip."),
            example=f"capture {third}1",
            position=thrown,
            refused=True,
        ),
        Lesson(
            title=msg("Fire"),
            task=msg("Take the {colour} piece that {player} hits.", player=first, colour=second),
            learned=msg("A captured piece is a point. Its owner fires next."),
            example=hit,
            position=thrown,
            moves=hit,
        ),
        Lesson(
            title=msg("Fire back"),
            task=msg(
                "{player} fires. The piece within one square fires in all directions: take what it"
                " hits.",
                player=second,
            ),
            learned=msg("When nobody can fire, pieces on the board count too. You know the game."),
            example=f"capture {third}2",
            position=(*thrown, hit),
            moves="capture .*",
        ),
    )
