"""A strip of lamps around the board, each lamp with its own colour."""

from __future__ import annotations

from functools import lru_cache
from typing import Literal

import numpy as np
import numpy.typing as npt

from hardware.cues import LAMP_RGB, TUNES, Cue, Mark, Rhythm
from hardware.lamp_levels import phase_ms
from table.solids import Array

Frame = npt.NDArray[np.uint8]
"""Colours of all lamps: (n, 3), red, green, blue, 0 to 255."""
Corner = Literal["near left", "near right", "far right", "far left"]
_CORNERS: tuple[Corner, ...] = ("near left", "near right", "far right", "far left")
"""Counter-clockwise, as seen from above."""
_MARK = Rhythm(((1.0, 240), (0.15, 240)))
_WHITE = np.array((255.0, 255.0, 255.0))
LEADER_LEVEL = 0.5


class Strip:
    """Lamps spaced evenly around the bounding rectangle of a board."""

    def __init__(
        self, leds: int, outline_mm: Array, starts: Corner = "near left", clockwise: bool = False
    ) -> None:
        """`outline_mm` (k, 2) is the board's outline in the table frame.

        The first lamp is at the corner `starts`. `clockwise` is the direction of the others, seen
        from above.
        """
        self._low, self._high = outline_mm.min(axis=0), outline_mm.max(axis=0)
        (x0, y0), (x1, y1) = self._low, self._high
        around = np.array([(x0, y0), (x1, y0), (x1, y1), (x0, y1)])
        first = _CORNERS.index(starts)
        corners = (
            np.roll(around, -first, axis=0)
            if not clockwise
            else np.roll(around[::-1], first + 1, axis=0)
        )
        closed = np.vstack([corners, corners[:1]])
        ends_mm = np.concatenate([[0.0], np.linalg.norm(np.diff(closed, axis=0), axis=1).cumsum()])
        along_mm = (np.arange(leds) + 0.5) / leds * ends_mm[-1]
        self.places_mm: Array = np.column_stack(
            [np.interp(along_mm, ends_mm, closed[:, axis]) for axis in (0, 1)]
        )
        """Position of each lamp, (n, 2) in mm, table frame."""
        self._at = np.arange(leds)
        self.marked = lru_cache(maxsize=256)(self._marked)
        """Indexes of the lamps that show a mark: both ends of a line, or a spot's file and row.
        Cached, as every frame needs them.
        """
        self._by_corner = np.isin(
            self._at, [led for corner in corners for led in self._near(corner, max(1, leds // 40))]
        )

    @property
    def leds(self) -> int:
        """Number of lamps."""
        return len(self._at)

    def _near(self, point: Array, reach: int) -> npt.NDArray[np.intp]:
        """Indexes of the lamp nearest to a point, and of `reach` lamps on either side."""
        nearest = int(np.argmin(((self.places_mm - point) ** 2).sum(axis=1)))
        return (nearest + np.arange(-reach, reach + 1)) % self.leds

    def _marked(self, mark: Mark) -> npt.NDArray[np.intp]:
        points = np.array(mark.points_mm, float)
        if mark.kind == "line":
            ends = self._ends(points[0], points[1])
        else:
            (x, y), (x0, y0), (x1, y1) = points[0], self._low, self._high
            ends = np.array([(x, y0), (x, y1), (x0, y), (x1, y)])
        return np.unique(np.concatenate([self._near(end, 1) for end in ends]))

    def _ends(self, one: Array, other: Array) -> Array:
        """Intersections of the line through two points with the rectangle, (2, 2).

        For identical points, the points themselves.
        """
        way = other - one
        with np.errstate(divide="ignore", invalid="ignore"):
            times = np.sort(np.array([(self._low - one) / way, (self._high - one) / way]), axis=0)
        times = times[:, way != 0]
        return (
            one + np.array([[times[0].max()], [times[1].min()]]) * way
            if times.size
            else np.array([one, other])
        )

    def frame(self, cue: Cue, since_ms: float) -> Frame:
        """Colours of all lamps at a time after the cue began."""
        cue, at_ms = cue.at(since_ms)
        tune = TUNES[cue.signal]
        lit = np.zeros((self.leds, 3))
        if tune.rgb is not None:
            lit[:] = np.array(tune.rgb) * cue.rhythm.level(at_ms)
        elif cue.signal == "choice":
            lit[self._dashes(cue.count)] = np.array(
                LAMP_RGB[cue.of[0]] if cue.of else _WHITE
            ) * cue.rhythm.level(at_ms)
        else:
            for colour in cue.of:
                lit[self._share(cue, colour)] = np.array(LAMP_RGB[colour]) * cue.rhythm.level(
                    at_ms + phase_ms(cue, colour)
                )
        if cue.signal == "turn" and cue.leader:
            lit[self._by_corner] = np.array(LAMP_RGB[cue.leader]) * LEADER_LEVEL
        for mark in cue.marks:
            lit[self.marked(mark)] = _WHITE * _MARK.level(at_ms)
        return lit.astype(np.uint8)

    def _dashes(self, count: int) -> npt.NDArray[np.bool_]:
        """Mask of `count` evenly spaced lit parts.

        Each is an eighth of the strip; together they are at most six eighths.
        """
        middle = (self._at / self.leds * count) % 1 - 0.5
        dashes: npt.NDArray[np.bool_] = np.abs(middle) < min(count, 6) / 16
        return dashes

    def _share(self, cue: Cue, colour: str) -> npt.NDArray[np.bool_]:
        """Mask of one player's lamps.

        For a turn or a measurement, as many dashes as the player's place in turn order. Otherwise
        an equal share of the strip.
        """
        if cue.signal in ("turn", "measure") and colour in cue.players:
            return self._dashes(cue.players.index(colour) + 1)
        eighth: npt.NDArray[np.bool_] = (self._at / self.leds * 8).astype(int) % len(
            cue.of
        ) == cue.of.index(colour)
        return eighth
