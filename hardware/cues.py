"""Cues for lamps, as plain data.

Signals differ in rhythm as well as in colour, so that colour vision is not needed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from table.messages import Message, msg

Signal = Literal[
    "dark",
    "turn",
    "accepted",
    "refused",
    "too close",
    "asking",
    "choice",
    "measure",
    "cannot see",
    "out of sync",
    "camera lost",
    "hand",
    "settling",
    "paused",
    "over",
]
SIGNALS: tuple[Signal, ...] = get_args(Signal)
Rgb = tuple[int, int, int]
Point = tuple[float, float]

LAMP_RGB: dict[str, Rgb] = {
    "red": (255, 0, 0),
    "yellow": (255, 170, 0),
    "green": (0, 255, 0),
    "blue": (0, 0, 255),
    "black": (70, 40, 20),
    "purple": (130, 0, 255),
    "orange": (255, 70, 0),
    "cyan": (0, 220, 220),
    "white": (255, 255, 255),
    "clear": (140, 170, 170),
    "pink": (255, 60, 120),
    "grey": (90, 90, 90),
}
"""Lamp colour of each piece colour, 0 to 255. Black pieces have a dim warm white, as light cannot
be black.
"""


@dataclass(frozen=True, slots=True)
class Rhythm:
    """A repeating sequence of (level from 0 to 1, duration in ms).

    `fade_ms` is the duration of a change of level.
    """

    steps: tuple[tuple[float, int], ...]
    fade_ms: int = 0

    @property
    def period_ms(self) -> int:
        """Duration of one repetition."""
        return sum(hold_ms for _, hold_ms in self.steps)

    def level(self, at_ms: float) -> float:
        """Level at a time after the cue began."""
        left_ms = at_ms % self.period_ms
        before = self.steps[-1][0]
        for level, hold_ms in self.steps:
            if left_ms < hold_ms:
                break
            left_ms -= hold_ms
            before = level
        return (
            level if left_ms >= self.fade_ms else before + (level - before) * left_ms / self.fade_ms
        )


@dataclass(frozen=True, slots=True)
class Tune:
    """Look of a signal: its description, rhythm, colour and duration.

    Without a colour, those of the players concerned. Without a duration, until the next signal.
    """

    words: Message
    rhythm: Rhythm
    rgb: Rgb | None = None
    lasts_ms: int | None = None


_SHORT, _GAP = (1.0, 170), (0.0, 170)
TUNES: dict[Signal, Tune] = {
    "dark": Tune(msg("all dark"), Rhythm(((0.0, 1000),)), (0, 0, 0)),
    "turn": Tune(msg("slowly bright and dim"), Rhythm(((1.0, 1800), (0.4, 1800)), fade_ms=1800)),
    "accepted": Tune(
        msg("one long flash"), Rhythm(((1.0, 900), (0.0, 300))), (0, 255, 60), lasts_ms=1200
    ),
    "refused": Tune(
        msg("three short flashes"),
        Rhythm((_SHORT, _GAP, _SHORT, _GAP, _SHORT, (0.0, 650))),
        (255, 0, 0),
        lasts_ms=6500,
    ),
    "too close": Tune(msg("the two take turns"), Rhythm(((1.0, 700), (0.0, 700)))),
    "asking": Tune(
        msg("short, short, long"),
        Rhythm((_SHORT, _GAP, _SHORT, _GAP, (1.0, 520), (0.0, 650))),
        (255, 255, 255),
    ),
    "choice": Tune(
        msg("as many flashes as its place, then a rest"), Rhythm(((1.0, 450), (0.0, 1650)))
    ),
    "measure": Tune(msg("short ticks"), Rhythm(((1.0, 90), (0.0, 410)))),
    "cannot see": Tune(
        msg("lit, with short gaps"), Rhythm(((1.0, 1300), (0.0, 300))), (255, 120, 0)
    ),
    "out of sync": Tune(
        msg("long, short"), Rhythm(((1.0, 520), (0.0, 130), _SHORT, (0.0, 500))), (255, 120, 0)
    ),
    "camera lost": Tune(
        msg("three short, two long"),
        Rhythm(
            (_SHORT, _GAP, _SHORT, _GAP, _SHORT, _GAP, (1.0, 400), _GAP, (1.0, 400), (0.0, 900))
        ),
        (255, 0, 160),
    ),
    "hand": Tune(msg("dim, steady"), Rhythm(((0.15, 1000),)), (255, 255, 255)),
    "settling": Tune(msg("quick dim shimmer"), Rhythm(((0.3, 220), (0.08, 220))), (120, 160, 255)),
    "paused": Tune(
        msg("very slow, dim"), Rhythm(((0.25, 2600), (0.0, 1400)), fade_ms=1000), (120, 120, 255)
    ),
    "over": Tune(
        msg("two flashes, over and over"), Rhythm(((1.0, 260), (0.2, 160), (1.0, 260), (0.2, 900)))
    ),
}
"""Every signal's look; that of `choice` is the first answer's (`Cue.rhythm`).

No two rhythms are alike, and none flashes more than three times in any second (WCAG 2.3.1).
"""


@dataclass(frozen=True, slots=True)
class Mark:
    """Something to point at, mm, table frame: a line through two points, or a spot."""

    kind: Literal["line", "spot"]
    points_mm: tuple[Point, ...]


@dataclass(frozen=True, slots=True)
class Cue:
    """What the lamps should show.

    `players` are colours in turn order. `of` are the players concerned: whose turn it is, between
    whom it is too close, who won. `leader` leads now. `count` is the place of the answer that a
    button points at, 1 for the first. `then` follows a signal of limited duration. `news` is the
    number of the record shown, so that equal news of two records are both shown.
    """

    signal: Signal
    players: tuple[str, ...] = ()
    of: tuple[str, ...] = ()
    leader: str | None = None
    marks: tuple[Mark, ...] = ()
    then: Cue | None = None
    news: int = 0
    count: int = 1

    @property
    def rhythm(self) -> Rhythm:
        """The signal's rhythm; for `choice`, `count` flashes and a rest."""
        if self.signal != "choice":
            return TUNES[self.signal].rhythm
        return Rhythm((*((1.0, 450), (0.0, 250)) * (self.count - 1), (1.0, 450), (0.0, 1650)))

    def at(self, since_ms: float) -> tuple[Cue, float]:
        """Return the cue shown `since_ms` after this one began, and its own elapsed time."""
        lasts_ms = TUNES[self.signal].lasts_ms
        if self.then is None or lasts_ms is None or since_ms < lasts_ms:
            return self, since_ms
        return self.then.at(since_ms - lasts_ms)


DARK = Cue("dark")
