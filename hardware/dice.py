"""Dice: values drawn from the operating system's randomness, shown by seven lamps each."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from random import SystemRandom
from time import sleep

from hardware.ports import Dice, Faces

PIPS: dict[int, tuple[int, ...]] = {
    0: (0, 0, 0, 0, 0, 0, 0),
    1: (0, 0, 0, 1, 0, 0, 0),
    2: (1, 0, 0, 0, 0, 0, 1),
    3: (1, 0, 0, 1, 0, 0, 1),
    4: (1, 0, 1, 0, 1, 0, 1),
    5: (1, 0, 1, 1, 1, 0, 1),
    6: (1, 1, 1, 0, 1, 1, 1),
}
"""Lamps of a die: top left, middle left, bottom left, centre, top right, middle right, bottom right; 0: dark."""
_PLACES = ((0, 0), (1, 0), (2, 0), (1, 1), (0, 2), (1, 2), (2, 2))

Draw = Callable[[], int]
"""A value of 1 to 6."""

_system = SystemRandom()


def draw() -> int:
    """A value from the operating system's randomness, which nobody can foresee or seed."""
    return _system.randint(1, 6)


def tumble(values: tuple[int, ...]) -> Iterator[tuple[Faces, int]]:
    """What dice show until they lie still, and for how many ms each: ever slower, the drawn values last, which stay.

    The way there follows from the values: nothing but they are chance.
    """
    for turns_left, hold_ms in zip(range(8, 0, -1), (40, 50, 60, 75, 95, 120, 155, 200), strict=True):
        yield tuple((value - 1 + turns_left * (1 + 4 * (die % 2))) % 6 + 1 for die, value in enumerate(values)), hold_ms
    yield values, 0


def picture(values: tuple[int, ...]) -> str:
    """Dice in signs, side by side, for a terminal."""
    edge = ["+-------+"] * len(values)
    rows = [[_row(value, row) for value in values] for row in range(3)]
    return "\n".join("   ".join(cells) for cells in (edge, *rows, edge))


def _row(value: int, row: int) -> str:
    lit = {place for place, pip in zip(_PLACES, PIPS[value], strict=True) if pip}
    return f"| {' '.join('o' if (row, column) in lit else ' ' for column in range(3))} |"


class Roller:
    """Rolls electronic dice: values are drawn and told of first, then the dice are seen to tumble, in a thread of their own.

    One roll at a time; who asks while dice tumble is not heard.
    """

    def __init__(self, dice: Dice, tell: Callable[[tuple[int, ...]], None], pause: Callable[[float], object] = sleep, draw: Draw = draw) -> None:
        """`tell` is given the values before anything is shown, to keep them; `pause(seconds)` waits while dice tumble."""
        self._dice, self._tell, self._pause, self._draw = dice, tell, pause, draw
        self._lying = threading.Event()
        self._lying.set()

    def roll(self, count: int | None = None) -> tuple[int, ...] | None:
        """The values of so many dice (None: all), once they are told; None where dice tumble already.

        Raises what `tell` raises, and then nothing is shown.  Not to be called from several threads.
        """
        if not self._lying.is_set():
            return None
        values = tuple(self._draw() for _ in range(count or self._dice.count))
        self._tell(values)
        self._lying.clear()
        threading.Thread(target=self._tumble, args=(values,), name="dice", daemon=True).start()
        return values

    def wait(self, timeout_s: float | None = None) -> bool:
        """Wait until the dice lie still; False where the time is over first."""
        return self._lying.wait(timeout_s)

    def _tumble(self, values: tuple[int, ...]) -> None:
        dark = (None,) * (self._dice.count - len(values))
        try:
            for faces, hold_ms in tumble(values):
                self._dice.show(faces + dark)
                self._pause(hold_ms / 1000)
        finally:
            self._lying.set()
