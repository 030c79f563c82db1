"""Before play: pieces that are too large for the squares, and sizes that the table has none of
(rulings ice_storm.6 and ice_storm.13).
"""

from __future__ import annotations

from datetime import UTC, datetime

import msgspec
import pytest

from referee.live.game_setup import playable
from referee.sessions.start import opening
from simulation.tables import game_table
from table.boards import Chessboard
from table.errors import InputError
from table.table_config import Setup

AT = datetime(2026, 11, 27, tzinfo=UTC)


def table(square_mm: float, *sizes: str) -> Setup:
    setup = game_table("ice_storm", 1, 320).setup
    return msgspec.structs.replace(
        setup,
        board=Chessboard(square_mm=square_mm),
        game=msgspec.structs.replace(setup.game, sizes=sizes),
    )


def begin(setup: Setup, **rulings: str) -> dict[str, str]:
    return opening("ice_storm", setup.game.colours[:3], rulings, setup, "folder", AT).rulings


@pytest.mark.parametrize(
    ("square_mm", "sizes", "size", "why"),
    [
        (
            30.0,
            ("large",),
            None,
            "board.square_mm: expected more than .* mm, the length of a large piece",
        ),
        (30.0, ("small", "large"), "large", "the length of a large piece"),
        (30.0, ("small", "large"), "any", "the length of a large piece"),
        (
            50.0,
            ("small", "large"),
            "medium",
            r"rulings.size: expected a size of table.json \(small, large\), or same, got 'medium'",
        ),
    ],
)
def test_what_does_not_fit_is_told_before_play(square_mm, sizes, size, why):
    with pytest.raises(InputError, match=why):
        begin(table(square_mm, *sizes), **({"size": size} if size else {}))


@pytest.mark.parametrize(
    ("square_mm", "sizes", "rulings"),
    [
        (30.0, ("small", "large"), {}),
        (30.0, ("small", "large"), {"size": "small"}),
        (50.0, ("small", "large"), {"size": "any"}),
    ],
)
def test_what_fits_begins(square_mm, sizes, rulings):
    assert begin(table(square_mm, *sizes), **rulings) == rulings


def test_the_page_where_games_are_set_up_says_it_too():
    assert playable(table(50.0, "large"))["ice_storm"] == ""
    assert (
        "the length of a large piece (house rule ice_storm.6)"
        in playable(table(30.0, "large"))["ice_storm"]
    )


def test_other_games_have_pieces_of_several_sizes():
    setup = game_table("icebreaker", 1, 320).setup
    assert (
        opening("icebreaker", setup.game.colours[:2], {}, setup, "folder", AT).game == "icebreaker"
    )
