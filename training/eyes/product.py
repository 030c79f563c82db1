"""Constants shared with the product, without importing it.

A rented GPU machine has PyTorch and OpenCV and little else. Tests hold these figures to those of
`table.pieces` and `vision.networks.detector`.
"""

from __future__ import annotations

import tomllib
from pathlib import Path

COLOURS = (
    *("red", "yellow", "green", "blue", "black", "purple"),
    *("orange", "cyan", "white", "clear", "pink", "grey"),
)
"""Colours of commercial pyramids."""
BRIGHTEST = 1.2
"""Light relative to white paper that is encoded as white."""
HILL_CELLS = 0.7
"""Standard deviation of the network's Gaussian target around each middle."""
SETS = Path(__file__).parents[2] / "table" / "data"


def sizes_of(name: str) -> list[tuple[float, float]]:
    """Bases and heights, mm, of the set of pieces `name`, the smallest first."""
    rows = tomllib.loads((SETS / f"{name}.toml").read_text(encoding="utf-8"))["sizes"].values()
    return sorted((float(row["base_mm"]), float(row["height_mm"])) for row in rows)
