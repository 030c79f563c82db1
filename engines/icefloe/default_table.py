"""The default table of IceFloe, and its printed sheet."""

from __future__ import annotations

from engines.icefloe.board import LETTERS, PLACES, SUITS, VALUES, starting_board
from table.boards import Tiles
from table.game_facts import BoardPrint, CellPrint, DefaultTable

COLOUR_OF = {"S": "red", "M": "black", "C": "yellow", "A": "blue"}
"""The ink of a suit on its tiles."""
TILE_MM, TILE_THICK_MM = 50.8, 6.35
"""Side and thickness of a piecepack's tiles."""


def _cell_prints() -> dict[str, CellPrint | None]:
    """What is printed at the place of each tile; there is no tile in the middle."""
    tiles = {floe.place: floe.tile for floe in starting_board(4).floes}
    return {
        place: CellPrint(COLOUR_OF[tile[0]], VALUES[tile[1]], SUITS[tile[0]])
        if (tile := tiles.get(place))
        else None
        for place in PLACES
    }


TABLE = DefaultTable(
    board=lambda cell_mm: Tiles(cell_mm=cell_mm),
    sizes=tuple(LETTERS),
    colours=tuple(COLOUR_OF.values()),
    cell_mm=51.0,
    cells_mm=(50.8, 60.0),
    pieces="piecepack",
    sheet=BoardPrint(
        "tiles",
        "IceFloe: places for 24 tiles",
        "IceFloe is played on these places: lay a piecepack's tiles as named here, none in the"
        " middle.",
        f"5 x 5 places {{mm}} mm apart, for tiles of {TILE_MM:g} x {TILE_MM:g} x {TILE_THICK_MM:g}"
        " mm",
        cells=_cell_prints(),
        z_mm=-TILE_THICK_MM,
    ),
)
