"""What the house knows of Zamboni Wars beside its rules."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
import numpy as np

from engines.board_marks import Mark, mark
from engines.game import Document, GameFacts, OnBoard, Presentation, Sound
from engines.zamboni_wars.board import USUAL
from table.boards import Coasters
from table.game_facts import BoardPrint, DefaultTable, PiecePrior, TableFacts
from table.table_config import CoverDice, Setup

PIECES = PiecePrior(np.array([0.03, 0.96, 0.01]), 1)


def _marks(document: Document) -> tuple[Mark, ...]:
    """The space that a Zamboni is to leave."""
    mover = document.get("zambonis", {}).get(document.get("to_move"))
    moving = mover and document.get("phase") == "move"
    return mark("here", (mover["space"],)) if moving else ()


def _sound(code: str, _document: Document) -> Sound:
    return "hit" if code == "zamboni.hit" else ""


def _on_board(document: Document) -> OnBoard:
    """The cover dice."""
    return OnBoard(dice=tuple(document.get("dice", ())))


def _as_played(setup: Setup, rulings: Mapping[str, str]) -> Setup:
    """`cover=on` lays cover dice, of the usual size where `table.json` tells of none."""
    wanting = rulings.get("cover") == "on" and setup.cover_dice is None
    return msgspec.structs.replace(setup, cover_dice=CoverDice()) if wanting else setup


def _next_button(document: Document) -> Mapping[str, Any] | None:
    """Who might fire holds fire."""
    sayings = (one["said"] for one in document.get("may_say", ()))
    return next((said for said in sayings if said.get("hold")), None)


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

FACTS = GameFacts(
    title="Zamboni Wars",
    table=TableFacts(pieces=PIECES, default=TABLE),
    presentation=Presentation(
        verbs={
            "roll-off": "rolls",
            "roll": "rolls",
            "fire": "may fire",
            "shot": "rolls for the shot",
            "hit": "hits",
        },
        marks=_marks,
        sound=_sound,
        on_board=_on_board,
    ),
    as_played=_as_played,
    next_button=_next_button,
)
