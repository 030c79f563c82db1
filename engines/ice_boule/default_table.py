"""The default table of Ice Boule, and its printed sheet."""

from __future__ import annotations

from table.boards import Open
from table.game_facts import BoardPrint, DefaultTable

WIDTH_MM, DEPTH_MM = 440.0, 360.0
TABLE = DefaultTable(
    board=lambda _: Open(
        outline_mm=((0.0, 0.0), (WIDTH_MM, 0.0), (WIDTH_MM, DEPTH_MM), (0.0, DEPTH_MM))
    ),
    sizes=("medium",),
    target=True,
    sheet=BoardPrint(
        "mat",
        "Ice Boule: open ground",
        "Ice Boule is thrown on this ground; what leaves the outline is out.",
        f"play area {WIDTH_MM:g} x {DEPTH_MM:g} mm",
    ),
)
