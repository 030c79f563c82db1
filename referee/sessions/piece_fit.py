"""Do the pieces that a table has suit the board and what was ruled about them?  Told before
play.
"""

from __future__ import annotations

from collections.abc import Mapping

from engines import ice_storm
from engines.ice_storm.state import ANY_SIZE, SAME_SIZE
from engines.ice_storm.touches import check_setup
from table.errors import InputError
from table.table_config import Setup


def check_pieces(game: str, rulings: Mapping[str, str], setup: Setup) -> None:
    """Raises InputError for a game of Ice Storm whose pieces are too large for the squares, or
    whose size the table has none of (rulings ice_storm.6 and ice_storm.13); where the players have
    not named a size, one of the table's has to fit.
    """
    if game != ice_storm.NAME:
        return
    named = rulings.get("size", SAME_SIZE)
    sizes = setup.sizes
    if named not in (SAME_SIZE, ANY_SIZE):
        sizes = tuple(size for size in setup.sizes if size.name == named)
        if not sizes:
            raise InputError(
                f"rulings.size: expected a size of table.json ({', '.join(setup.game.sizes)}), or"
                f" {SAME_SIZE}, got {named!r}"
            )
    fitting = (
        max(sizes, key=lambda size: size.base_mm)
        if named == ANY_SIZE
        else min(sizes, key=lambda size: size.base_mm)
    )
    check_setup(setup.board, fitting)
