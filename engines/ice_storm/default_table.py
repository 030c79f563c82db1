"""The default table of Ice Storm, and its printed sheet."""

from __future__ import annotations

from table.boards import Chessboard
from table.game_facts import BoardPrint, DefaultTable

TABLE = DefaultTable(
    board=lambda cell_mm: Chessboard(square_mm=cell_mm),
    sizes=("medium",),
    colours=("red", "yellow", "blue"),
    cell_mm=45.0,
    cells_mm=(20.0, 100.0),
    sheet=BoardPrint(
        "chessboard",
        "Ice Storm: chessboard",
        "Ice Storm is thrown on this board. Its squares should be a little longer than a lying"
        " piece.",
        "8 x 8 squares of {mm} mm",
    ),
)
