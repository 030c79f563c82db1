"""Check before play that a table's pieces suit the board and the rulings."""

from __future__ import annotations

from collections.abc import Mapping

from engines import facts_of
from table.table_config import Setup


def check_pieces(game: str, rulings: Mapping[str, str], setup: Setup) -> None:
    """Raise InputError if the pieces do not suit a game."""
    facts_of(game).check_pieces(rulings, setup)
