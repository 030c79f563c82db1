"""The default table of Zamboni Wars, and its printed sheet."""

from __future__ import annotations

from engines.zamboni_wars.board import USUAL
from table.boards import Coasters
from table.game_facts import BoardPrint, DefaultTable

COASTER_MM = 101.6
CELL_MM = 2 * COASTER_MM / 6
COLOURS = USUAL.colours
LAYOUT = (COLOURS["NW"], COLOURS["NE"]), (COLOURS["SW"], COLOURS["SE"])
TABLE = DefaultTable(
    board=lambda _: Coasters(cell_mm=CELL_MM, coaster_mm=COASTER_MM, layout=LAYOUT),
    sizes=("small", "medium", "large"),
    cell_mm=CELL_MM,
    sheet=BoardPrint(
        "coasters",
        "Zamboni Wars: four coasters",
        "Zamboni Wars is driven on this board: a space may be left only where an arrow leads out"
        " of it.",
        f"four coasters of {COASTER_MM:g} mm, spaces {CELL_MM:.2f} mm apart",
        exits={str(space): tuple(sorted(ways)) for space, ways in USUAL.arrows.items()},
    ),
)
