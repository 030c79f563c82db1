"""Lessons in IceFloe, for three players."""

from __future__ import annotations

from collections.abc import Sequence

from engines.lessons import Lesson
from table.messages import msg

PLACED = (
    "AS:e4 AM:c1 AC:d1 BS:e3 BM:a2 BC:d5 CS:c2 CM:e2 CC:b2 DS:d4 DM:a3 DC:b3 ES:b1 EM:b5 EC:c5"
    " FS:b4 FM:d3 FC:d2"
)
"""First places of the pyramids of suns, moons and crowns."""


def lessons(players: Sequence[str]) -> tuple[Lesson, ...]:
    """See `engines.lessons.Lessons`."""
    placed = tuple(PLACED.split())
    return (*_moving(players[0], players[1], placed), *_voting(players[:3], placed))


def _moving(first: str, second: str, placed: tuple[str, ...]) -> tuple[Lesson, ...]:
    return (
        Lesson(
            title=msg("Move a pyramid"),
            task=msg(
                "{player} begins. Drag the large {colour} pyramid from b4 to b3.",
                player=first,
                colour=first,
            ),
            learned=msg("A pyramid makes one or two actions: steps, and at most one jump."),
            example="FS:b4-b3",
            position=placed,
            moves="FS:.*",
        ),
        Lesson(
            title=msg("Slide a tile"),
            task=msg(
                "Slide the tile on b1 to the empty place a1: drag it by its edge. One of {player}'s"
                " pyramids stands on it.",
                player=first,
            ),
            learned=msg("A tile slides straight to an empty place, with all that stands on it."),
            example="s:b1-a1",
            position=placed,
            moves="s:.*",
        ),
        Lesson(
            title=msg("Not your pyramid"),
            task=msg(
                "It is {player}'s move. Try to move the {colour} pyramid from a3 to a4.",
                player=first,
                colour=second,
            ),
            learned=msg("Everybody moves their own pyramids. The referee knows whose turn it is."),
            example="DM:a3-a4",
            position=placed,
            refused=True,
        ),
        Lesson(
            title=msg("Too heavy"),
            task=msg(
                "Two large pyramids are too heavy for one tile. Drag the {colour} pyramid from b4"
                " to d3, then take the tile on d3 away.",
                colour=first,
            ),
            learned=msg("A tile carries a weight of 5. With more it sinks, and all on it."),
            example="FS:b4-d3",
            position=placed,
            moves="FS:b4-d3",
        ),
    )


def _voting(players: Sequence[str], placed: tuple[str, ...]) -> tuple[Lesson, ...]:
    moved = (*placed, "FS:b4-b3", "FM:d3-d4", "FC:d2-d1")
    voted = tuple(
        move
        for value in ("n", "S")
        for move in (
            *(f"vote {player} {value}" for player in players),
            *(f"done {player}" for player in players),
        )
    )
    return (
        Lesson(
            title=msg("Vote"),
            task=msg(
                "All have moved. Vote on the value of a tile, for {players}. The buttons are"
                " beside the table.",
                players=players,
            ),
            learned=msg("Votes are secret until all are in. At the table, phones are for that."),
            example=f"vote {players[0]} n",
            position=moved,
            moves="vote .*",
            times=3,
        ),
        Lesson(
            title=msg("A tile goes"),
            task=msg("The vote is for the tile on d3. Take it off, with all that stands on it."),
            learned=msg("From the fourth round on, tiles score as well. You know the game now."),
            example="remove Sn",
            position=(*moved, *voted),
            moves="remove .*",
        ),
    )
