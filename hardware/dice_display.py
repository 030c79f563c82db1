"""Dice shown by seven lamps each."""

from __future__ import annotations

from collections.abc import Iterator

from hardware.interfaces import Dice, Faces
from hardware.step_player import StepPlayer

PIPS: dict[int, tuple[int, ...]] = {
    0: (0, 0, 0, 0, 0, 0, 0),
    1: (0, 0, 0, 1, 0, 0, 0),
    2: (1, 0, 0, 0, 0, 0, 1),
    3: (1, 0, 0, 1, 0, 0, 1),
    4: (1, 0, 1, 0, 1, 0, 1),
    5: (1, 0, 1, 1, 1, 0, 1),
    6: (1, 1, 1, 0, 1, 1, 1),
}
"""Lamps of each value: top left, middle left, bottom left, centre, top right, middle right, bottom
right. 0 is dark.
"""
_PLACES = ((0, 0), (1, 0), (2, 0), (1, 1), (0, 2), (1, 2), (2, 2))


def tumble(values: tuple[int, ...]) -> Iterator[tuple[Faces, int]]:
    """Sequence of faces that ends with `values`, each with its duration in ms.

    It slows down. The last faces have duration 0, and stay. The sequence is computed from the
    values: only they are random.
    """
    for turns_left, hold_ms in zip(
        range(8, 0, -1), (40, 50, 60, 75, 95, 120, 155, 200), strict=True
    ):
        yield (
            tuple(
                (value - 1 + turns_left * (1 + 4 * (die % 2))) % 6 + 1
                for die, value in enumerate(values)
            ),
            hold_ms,
        )
    yield values, 0


def picture(values: tuple[int, ...]) -> str:
    """Draw dice side by side as text, for a terminal."""
    edge = ["+-------+"] * len(values)
    rows = [[_row(value, row) for value in values] for row in range(3)]
    return "\n".join("   ".join(cells) for cells in (edge, *rows, edge))


def _row(value: int, row: int) -> str:
    lit = {place for place, pip in zip(_PLACES, PIPS[value], strict=True) if pip}
    return f"| {' '.join('o' if (row, column) in lit else ' ' for column in range(3))} |"


class Tumbler(StepPlayer[Faces]):
    """Animate dice towards values that were drawn and recorded before.

    Runs in its own thread; a new roll replaces the current one.
    """

    def __init__(self, dice: Dice) -> None:
        """Closing leaves the dice as they are."""
        super().__init__("dice", dice.show)
        self._count = dice.count

    def show(self, values: tuple[int, ...]) -> None:
        """Animate, then show these values; returns at once.

        With fewer dice than values, the dice stay unchanged.
        """
        if 0 < len(values) <= self._count:
            dark = (None,) * (self._count - len(values))
            self.begin([(faces + dark, hold_ms) for faces, hold_ms in tumble(values)])
