"""What the house knows of Icebreaker beside its rules."""

from __future__ import annotations

import numpy as np

from engines.game import GameFacts, Printed
from table.boards import Hex
from table.game_facts import BoardPrint, DefaultTable, PiecePrior, TableFacts
from table.table_config import Counters

PIECES = PiecePrior(np.array([0.99, 0.008, 0.002]), 3, apart=True)

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

FACTS = GameFacts(
    title="Icebreaker",
    table=TableFacts(pieces=PIECES, default=TABLE),
    first_player=Printed("hand", "Rules", ways=("hand",), rests_on_it=("hand",)),
)
