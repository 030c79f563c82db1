"""Places in a table of standings, shared by those who are equal in all tie-breaks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

import msgspec


class Line(msgspec.Struct, frozen=True, kw_only=True):
    """A line with its `place`, 1 the best; who shares a place is equal in all tie-breaks."""

    place: int


AnyLine = TypeVar("AnyLine", bound=Line)


def placed(lines: Iterable[AnyLine], tie_breaks: Sequence[str]) -> list[AnyLine]:
    """The lines with their places, the best first.

    `tie_breaks` are fields, of which more is better. Lines that are equal keep their order.
    """

    def worth(line: AnyLine) -> tuple[float, ...]:
        return tuple(getattr(line, name) for name in tie_breaks)

    done: list[AnyLine] = []
    for number, line in enumerate(sorted(lines, key=worth, reverse=True), 1):
        shared = done and worth(done[-1]) == worth(line)
        place = done[-1].place if shared else number
        done.append(msgspec.structs.replace(line, place=place))
    return done
