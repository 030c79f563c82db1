"""Do the pieces that a table has suit the board and what was ruled about them?  Told before
play.
"""

from __future__ import annotations

from collections.abc import Mapping

from engines import facts_of
from table.table_config import Setup


def check_pieces(game: str, rulings: Mapping[str, str], setup: Setup) -> None:
    """Raises InputError where a game says that they do not."""
    facts_of(game).check_pieces(rulings, setup)
