"""Places in standings; players with equal tie-breaks share a place."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

import msgspec


class Line(msgspec.Struct, frozen=True, kw_only=True):
    """A row of standings; `place` 1 is best, and equal tie-breaks share a place."""

    place: int


AnyLine = TypeVar("AnyLine", bound=Line)


def placed(lines: Iterable[AnyLine], tie_breaks: Sequence[str]) -> list[AnyLine]:
    """Sort rows, best first, and set their places.

    `tie_breaks` are names of fields; higher is better. Equal rows keep their order.
    """

    def worth(line: AnyLine) -> tuple[float, ...]:
        return tuple(getattr(line, name) for name in tie_breaks)

    done: list[AnyLine] = []
    for number, line in enumerate(sorted(lines, key=worth, reverse=True), 1):
        shared = done and worth(done[-1]) == worth(line)
        place = done[-1].place if shared else number
        done.append(msgspec.structs.replace(line, place=place))
    return done
