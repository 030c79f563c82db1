"""Tables, whole and checked, for tests that hand pictures or observations of their own to the
referee.
"""

from __future__ import annotations

import msgspec

from table.boards import Board
from table.table_config import Setup, parse_table

SIDE_MM = 1000


def setup_of(
    board: Board | None = None,
    colours: tuple[str, ...] = ("red", "blue"),
    target: str | None = None,
) -> Setup:
    """A table with this board (an open one without), the players' colours, and pieces of all
    sizes.
    """
    document = {
        "format": "rinkside-table/1",
        "camera": {
            "width": 96,
            "height": 80,
            "matrix": [[90, 0, 48], [0, 90, 40], [0, 0, 1]],
            "distortion": [0, 0, 0, 0, 0],
        },
        "fiducials": {"markers": [{"id": 0, "corners_mm": [[0, 40], [40, 40], [40, 0], [0, 0]]}]},
        "board": {
            "kind": "open",
            "outline_mm": [
                [-SIDE_MM, -SIDE_MM],
                [SIDE_MM, -SIDE_MM],
                [SIDE_MM, SIDE_MM],
                [-SIDE_MM, SIDE_MM],
            ],
        },
        "game": {
            "name": "ice_boule",
            "colours": list(colours),
            "target": target,
            "sizes": ["small", "medium", "large"],
        },
    }
    setup = parse_table(document)
    return setup if board is None else msgspec.structs.replace(setup, board=board)
