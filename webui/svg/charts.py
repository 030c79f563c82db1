"""Geometry of statistics charts: distances by player, and places where throws came to rest.

Templates render it as SVG.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median, quantiles

from referee.statistics.throws import Landing

WIDTH, LEFT, ROW, TOP = 640.0, 8.0, 46.0, 8.0
"""Sizes of the plot of distances, in its own units."""
BINS = 7
"""Number of cells from the middle of the landing map to its edge."""
SIDE = 8
STEPS_MM = (5, 10, 20, 25, 50, 100, 200, 250, 500)


@dataclass(frozen=True, slots=True)
class Strip:
    """One player's distances: dots, interquartile range and median."""

    player: str
    y: float
    dots: tuple[tuple[float, float], ...]
    low: float
    high: float
    median: float
    median_mm: float
    count: int


@dataclass(frozen=True, slots=True)
class Strips:
    """Distances of several players on one scale; `ticks` are (x, mm)."""

    width: float
    height: float
    strips: tuple[Strip, ...]
    ticks: tuple[tuple[float, int], ...]


@dataclass(frozen=True, slots=True)
class HeatCell:
    """One map cell of side 1: its count, and its share of the largest count."""

    x: float
    y: float
    count: int
    share: float


@dataclass(frozen=True, slots=True)
class HeatMap:
    """The non-empty cells of a map, of `side_mm` mm (0: squares of a board).

    `half` is the number of cells from the middle to the edge; `rings` are (radius, mm).
    """

    cells: tuple[HeatCell, ...]
    half: float
    side_mm: int
    rings: tuple[tuple[float, int], ...]
    beyond: int


def strips(gaps_mm: Mapping[str, Sequence[float]]) -> Strips | None:
    """Chart of distances by player, one dot per throw; None without any distance."""
    players = {player: sorted(gaps) for player, gaps in gaps_mm.items() if gaps}
    if not players:
        return None
    step = next(
        (mm for mm in STEPS_MM if mm * 8 >= max(gaps[-1] for gaps in players.values())),
        STEPS_MM[-1],
    )
    most = step * max(1, math.ceil(max(gaps[-1] for gaps in players.values()) / step))
    scale = (WIDTH - 2 * LEFT) / most
    rows = tuple(
        _strip(player, gaps, TOP + ROW * place, scale)
        for place, (player, gaps) in enumerate(players.items())
    )
    ticks = tuple((round(LEFT + scale * mm, 1), mm) for mm in range(0, most + 1, step))
    return Strips(WIDTH, TOP + ROW * len(rows) + 22, rows, ticks)


def _strip(player: str, gaps: list[float], y: float, scale: float) -> Strip:
    """One player's strip; overlapping dots are stacked, at most five high."""
    stacked: Counter[int] = Counter()
    dots = []
    for mm in gaps:
        x = LEFT + scale * mm
        slot = round(x / 5)
        dots.append((round(x, 1), round(y + ROW / 2 - 4 * (stacked[slot] % 5) + 6, 1)))
        stacked[slot] += 1
    low, middle, high = (
        round(LEFT + scale * mm, 1)
        for mm in (quantiles(gaps, n=4, method="inclusive") if len(gaps) > 1 else gaps * 3)
    )
    return Strip(player, y, tuple(dots), low, high, middle, median(gaps), len(gaps))


def around_target(landings: Mapping[str, Sequence[Landing]]) -> dict[str, HeatMap]:
    """Maps of landings around the target by player, at one scale, north away from the players.

    Players without landings have no map.
    """
    landed = {player: each for player, each in landings.items() if each}
    far = sorted(max(abs(one.x_mm), abs(one.y_mm)) for each in landed.values() for one in each)
    reach_mm = far[min(len(far) - 1, math.floor(0.95 * len(far)))] if far else 0.0
    side_mm = next((mm for mm in STEPS_MM if mm * BINS >= reach_mm), STEPS_MM[-1])
    return {player: _map(each, side_mm) for player, each in landed.items()}


def _map(landings: Sequence[Landing], side_mm: int) -> HeatMap:
    bins = Counter(
        (math.floor(one.x_mm / side_mm), math.floor(one.y_mm / side_mm)) for one in landings
    )
    inside = {at: count for at, count in bins.items() if all(-BINS <= k < BINS for k in at)}
    most = max(inside.values(), default=1)
    cells = tuple(
        HeatCell(x, -y - 1, count, count / most) for (x, y), count in sorted(inside.items())
    )
    rings = tuple((k, k * side_mm) for k in range(2, BINS + 1, 2))
    return HeatMap(cells, BINS, side_mm, rings, len(landings) - sum(inside.values()))


def squares_map(counts: Iterable[Mapping[str, int]]) -> HeatMap | None:
    """Map of touched squares, a1 at the near left; None if no throw touched any."""
    total: Counter[str] = Counter()
    for each in counts:
        total.update(each)
    if not total:
        return None
    most = max(total.values())
    cells = (
        HeatCell(
            ord(square[0]) - ord("a") - SIDE / 2, SIDE / 2 - int(square[1]), count, count / most
        )
        for square, count in sorted(total.items())
    )
    return HeatMap(tuple(cells), SIDE / 2, 0, (), 0)
