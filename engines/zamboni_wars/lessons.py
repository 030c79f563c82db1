"""Lessons in Zamboni Wars, for two players in opposite corners."""

from __future__ import annotations

from collections.abc import Sequence

from engines.lessons import Lesson
from table.messages import msg


def lessons(players: Sequence[str]) -> tuple[Lesson, ...]:
    """See `engines.lessons.Lessons`."""
    first, second = players[:2]
    return (*_driving(first), *_firing(first, second))


def _driving(first: str) -> tuple[Lesson, ...]:
    return (
        Lesson(
            title=msg("Roll"),
            task=msg("{player} begins. Tap the die and roll it.", player=first),
            learned=msg("The camera reads the die. Each point is one space forward or one turn."),
            example="roll 4",
            moves="roll .*",
        ),
        Lesson(
            title=msg("Drive"),
            task=msg(
                "{player} rolled a 4. Drag the {colour} Zamboni to b5 and turn it until it"
                " points down to the right.",
                player=first,
                colour=first,
            ),
            learned=msg("All points are used. Other ends are possible; see the list below."),
            example="b5 SE",
            position=("roll 4",),
            moves=".* [NESW]+",
        ),
        Lesson(
            title=msg("Too far"),
            task=msg(
                "{player} rolled a 1. Drag the {colour} Zamboni three spaces far.",
                player=first,
                colour=first,
            ),
            learned=msg("The referee says what is wrong, and which end would be the nearest."),
            example="d6 E",
            position=("roll 1",),
            refused=True,
        ),
    )


def _firing(first: str, second: str) -> tuple[Lesson, ...]:
    fired = ("roll 4", "b5 SE", f"fire {second}", "die 5")
    last_piece = (
        *("roll 5", "c6 W", "roll 6", "c3 N", f"fire {first}", "die 5", f"take {first}"),
        *("roll 3", "d6 S", "roll 4", "d4 N", f"fire {first}", "die 4", f"take {first}"),
        *("roll 4", "b6 NE", "roll 5", "c3 SW", "roll 2", "c6 E", "roll 1", "c3 N"),
        f"fire {first}",
    )
    return (
        Lesson(
            title=msg("Fire"),
            task=msg(
                "The {colour} Zamboni points at the other one. Tap the die and roll for the shot.",
                colour=first,
            ),
            learned=msg("Three pieces are hit by a 5 or 6, two by a 4 as well, the last always."),
            example=f"fire {second}",
            position=("roll 4", "b5 SE"),
            moves="fire .*",
        ),
        Lesson(
            title=msg("Take the armour off"),
            task=msg(
                "It was a 5: a hit. Tap the {colour} Zamboni and take its outer piece away.",
                colour=second,
            ),
            learned=msg("The piece that is left drives on. It is easier to hit now."),
            example=f"take {second}",
            position=fired,
            moves="take .*",
        ),
        Lesson(
            title=msg("Win the game"),
            task=msg("The last {colour} piece was hit. Take it off the table.", colour=first),
            learned=msg("The last Zamboni wins. You know the game now."),
            example=f"take {first}",
            position=last_piece,
            moves="take .*",
        ),
    )
