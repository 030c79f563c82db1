"""The default table of Icebreaker, and its printed sheet."""

from __future__ import annotations

from table.boards import Hex
from table.game_facts import BoardPrint, DefaultTable
from table.table_config import Counters

TABLE = DefaultTable(
    board=lambda cell_mm: Hex(size=5, cell_mm=cell_mm),
    sizes=("medium",),
    cell_mm=28.0,
    cells_mm=(20.0, 60.0),
    counters=Counters(colour="white", diameter_mm=22.0),
    sheet=BoardPrint(
        "hex",
        "Icebreaker: 61 cells",
        "Icebreaker is played on this board: ships start on the corners in turn, an iceberg on"
        " every other cell.",
        "cells of {mm} mm from flat to flat, five a side",
    ),
)
