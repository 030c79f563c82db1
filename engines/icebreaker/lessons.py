"""Lessons in Icebreaker, on the usual board."""

from __future__ import annotations

from collections.abc import Sequence

from engines.lessons import Lesson
from table.messages import msg

FAR = "E9-D8 I9-H8 A1-B1 A5-B5 D8-E8 B5-C6 E8-D7 C6-B6 D7-C7 B6-C6"
"""Moves after which no iceberg is beside the ship on C7."""
NEARLY_WON = (
    "A1-B2 I9-H8 I5-H5 E1-E2 E9-E8 E2-E3 B2-C3 A5-B5 H5-G5 B5-C5 E8-E7 H8-G7 C3-D4 G7-G6 D4-D3"
    " C5-D6 E7-D7 E3-D2 D3-C2 D2-C1 D7-C6 G6-H6 G5-F4 D6-E6 C2-B1 C1-D1 F4-F3 D1-E1 B1-B2 E1-F2"
    " F3-G3 F2-F3 G3-G4 F3-F4 B2-B3 F4-F5 C6-C7 F5-E5 C7-D8 E6-F7 D8-E8 F7-F8 E8-F9 F8-G9 B3-C4"
    " H6-I7 C4-D5 G9-G8 D5-C4 G8-H9 C4-B4 E5-E4 G4-H4 H9-H8 H4-H5 I7-I6 H5-H6 H8-H7 H6-G6 H7-I8"
    " B4-A3 E4-E5 G6-F6 E5-D4 A3-A4 D4-C4 A4-A3 C4-B3"
)
"""Moves after which the first player takes the last iceberg needed."""


def lessons(players: Sequence[str]) -> tuple[Lesson, ...]:
    """See `engines.lessons.Lessons`."""
    first = players[0]
    return (
        Lesson(
            title=msg("Take an iceberg"),
            task=msg(
                "{player} begins. Drag one of {player2}'s ships on to an iceberg beside it.",
                player=first,
                player2=first,
            ),
            learned=msg("The iceberg goes and counts one point. Next to ice you must take some."),
            example="A1-B2",
        ),
        Lesson(
            title=msg("A move that is not allowed"),
            task=msg(
                "Try to cheat: drag one of {player}'s ships three cells far. See what the referee"
                " says.",
                player=first,
            ),
            learned=msg(
                "A ship moves one cell. Open the rule under the ruling to read it, then go on."
            ),
            example="A1-D1",
            refused=True,
        ),
        Lesson(
            title=msg("Towards the ice"),
            task=msg("No ice is next to the {colour} ship on C7. Move it closer.", colour=first),
            learned=msg("A move has to lead closer to the nearest ice. The referee counts cells."),
            example="C7-D7",
            position=tuple(FAR.split()),
            moves="C7-D7",
        ),
        Lesson(
            title=msg("Win the game"),
            task=msg("{player} needs one more iceberg. Take it with the ship on A3.", player=first),
            learned=msg("More than half of the ice wins. You know the game now."),
            example="A3-A2",
            position=tuple(NEARLY_WON.split()),
            moves="A3-.*",
        ),
    )
