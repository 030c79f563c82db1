"""What the house knows of IceFloe beside its rules."""

from __future__ import annotations

import numpy as np

from engines.board_marks import Mark
from engines.game import Document, GameFacts, NamedPiece, OnBoard, Presentation, Printed, Sound
from engines.icefloe.board import LETTERS, PLACES, SUITS, VALUES, WEIGHT_MOST, laid_out
from table.boards import Tiles
from table.game_facts import BoardPrint, CellPrint, DefaultTable, PiecePrior, TableFacts

SUIT_OF = {"red": "S", "black": "M", "yellow": "C", "green": "C", "blue": "A"}
"""The suit that pyramids of a colour have."""
COLOUR_OF = {"S": "red", "M": "black", "C": "yellow", "A": "blue"}
"""The ink of a suit on its tiles."""
TILE_MM, TILE_THICK_MM = 50.8, 6.35
"""Of a piecepack's tiles."""
PIECES = PiecePrior(np.array([0.99, 0.005, 0.005]), 6)


def _marks(document: Document) -> tuple[Mark, ...]:
    """Tiles that carry all that they can (ruling icefloe.3), and the one that is to go."""
    heavy = (
        place
        for place, floe in document.get("board", {}).items()
        if floe["weight"] >= WEIGHT_MOST or floe["tile"] == document.get("tile")
    )
    return tuple(Mark("here", (place,)) for place in heavy)


def _sound(code: str, document: Document) -> Sound:
    sinks = document.get("sunk") or code in ("icefloe.removed", "icefloe.removed_empty")
    return "sink" if sinks else ""


def _on_board(document: Document) -> OnBoard:
    """Tiles, and the letters of pyramids."""
    board, players = document.get("board", {}), [*document.get("left", ())]
    pieces = tuple(
        NamedPiece(player, name[0], (place,))
        for place, floe in board.items()
        for name in floe["pyramids"]
        for player in players
        if SUIT_OF.get(player) == name[1]
    )
    return OnBoard(pieces, tiles={place: floe["tile"] for place, floe in board.items()})


def _printed() -> dict[str, CellPrint | None]:
    """What is printed where each tile is to be laid; no tile lies in the middle."""
    tiles = {floe.place: floe.tile for floe in laid_out(4).floes}
    return {
        place: CellPrint(COLOUR_OF[tile[0]], VALUES[tile[1]], SUITS[tile[0]])
        if (tile := tiles.get(place))
        else None
        for place in PLACES
    }


TABLE = DefaultTable(
    board=lambda cell_mm: Tiles(cell_mm=cell_mm),
    sizes=tuple(LETTERS),
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
        cells=_printed(),
        z_mm=-TILE_THICK_MM,
    ),
)

FACTS = GameFacts(
    title="IceFloe",
    table=TableFacts(pieces=PIECES, default=TABLE),
    first_player=Printed("roll", "Roll The Die", rests_on_it=("roll",), has_null=True),
    presentation=Presentation(
        verbs={
            "place": "places",
            "decide": "decides",
            "remove": "removes a tile",
            "extra": "may remove a tile",
            "score": "scores",
            "torch": "hands on the torch",
            "name": "names the winner",
        },
        marks=_marks,
        sound=_sound,
        on_board=_on_board,
    ),
)
