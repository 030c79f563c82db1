"""Lessons in Convoy, on the usual board."""

from __future__ import annotations

from collections.abc import Sequence

from engines.lessons import Lesson
from table.messages import msg

FACE_TO_FACE = "c1-c2 c6-c5 c2-c3 c5-c4"
"""After these moves a pyramid on c3 faces one on c4."""
IN_LINE = f"{FACE_TO_FACE} b1-c2 a6-a5"
"""After these moves another one stands behind it."""
NEARLY_WON = (
    "e1-d2 a6-a5 b1-c2 e6-e5 d2-c3 b6-c5 a1-a2 c5-d4 a2-b3 d4-d3 b3-c4 d3-e2 c3-c4 e5-e4 c4-c5"
    " d6-d5"
)
"""After these moves the first player needs one more point, and can have it from c5."""


def lessons(players: Sequence[str]) -> tuple[Lesson, ...]:
    """See `engines.lessons.Lessons`."""
    first = players[0]
    return (
        Lesson(
            title=msg("A step forward"),
            task=msg(
                "{player} begins. Drag one of {player2}'s pyramids one square forward.",
                player=first,
                player2=first,
            ),
            learned=msg("A pyramid goes forward only, straight or diagonally."),
            example="b1-b2",
        ),
        Lesson(
            title=msg("Too weak to push"),
            task=msg(
                "One faces one. Try to push: drag the pyramid on c4 to c5, then yours from c3 to"
                " c4. See what the referee says."
            ),
            learned=msg("It takes more than the other player has in line. Now bring a second one."),
            example="c3-c4",
            position=tuple(FACE_TO_FACE.split()),
            refused=True,
        ),
        Lesson(
            title=msg("Push in line"),
            task=msg(
                "Two stand in line now. Push: drag the pyramid on c4 to c5, then c3 to c4 and c2 to"
                " c3."
            ),
            learned=msg("Two push one. A pyramid that is pushed over the edge counts a point."),
            example="c2-c3",
            position=tuple(IN_LINE.split()),
            moves="c2-c3",
        ),
        Lesson(
            title=msg("Win the game"),
            task=msg("{player} needs one more point. Step from c5 to the far rank.", player=first),
            learned=msg("Three points win. You know the game now."),
            example="c5-d6",
            position=tuple(NEARLY_WON.split()),
            moves="c5-.*",
        ),
    )
