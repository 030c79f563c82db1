"""Lessons in Ice Boule: an end from its first throw on."""

from __future__ import annotations

from collections.abc import Sequence

from engines.lessons import Lesson
from table.messages import msg


def lessons(players: Sequence[str]) -> tuple[Lesson, ...]:
    """See `engines.lessons.Lessons`."""
    first, second = players[:2]
    return (
        Lesson(
            title=msg("The target"),
            task=msg(
                "Drag the target on to the mat: it is thrown there. If it lies, tap it and stand it"
                " up."
            ),
            learned=msg("All throws of this end are measured to the target."),
            example="target yellow",
            moves="target .*",
        ),
        Lesson(
            title=msg("The first throw"),
            task=msg(
                "{player} throws first. Drag one of {player2}'s pieces on to the mat, near the"
                " target.",
                player=first,
                player2=first,
            ),
            learned=msg("The gap is the shortest way between the two solids, with its ±."),
            example=f"throw {first}",
            position=None,
            moves=f"throw {first} .*",
        ),
        Lesson(
            title=msg("The other player"),
            task=msg("Now {player} throws, until a piece is nearer. Throw one.", player=second),
            learned=msg("Who is not nearest throws next. The ranking shows all gaps."),
            example=f"throw {second}",
            position=None,
            moves=f"throw {second} .*",
        ),
        Lesson(
            title=msg("To the end"),
            task=msg("Throw four more pieces. The referee says whose turn it is."),
            learned=msg("When all are thrown, each piece nearer than the others' best is a point."),
            example="throw",
            position=None,
            moves="throw .*",
            times=4,
        ),
    )
