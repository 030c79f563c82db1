"""Boards that have a colour in play are named before play."""

import msgspec
import pytest

from calibration.table.ground_colours import colour_warnings
from simulation.tables import game_table
from vision.localization.fiducials import locate


@pytest.fixture(scope="module")
def tables():
    """Empty tables of games, by game and seed."""
    return {
        (game, seed): game_table(game, seed)
        for game, seed in (
            ("ice_storm", 219),
            ("ice_storm", 206),
            ("icebreaker", 220),
            ("icebreaker", 206),
            ("zamboni_wars", 202),
        )
    }


@pytest.mark.parametrize(
    ("table", "colour"),
    [
        pytest.param(("ice_storm", 219), "red", id="red squares"),
        pytest.param(("icebreaker", 220), "black", id="a black board"),
        pytest.param(("ice_storm", 206), None, id="squares of no colour in play"),
        pytest.param(("icebreaker", 206), None, id="a pale board"),
        pytest.param(("zamboni_wars", 202), None, id="coasters in the players' colours"),
    ],
)
def test_pieces_of_the_colour_of_the_board_are_hard_to_see(tables, table, colour):
    shown = tables[table]
    camera = locate(shown.empty.image, shown.setup)
    messages = colour_warnings(shown.empty.image, camera, shown.setup)
    assert len(messages) == (colour is not None)
    for message in messages:
        assert f"is {colour}, so {colour} pieces are easily missed or misread." in message


def test_a_colour_that_nobody_plays_is_not_named(tables):
    shown = tables["ice_storm", 219]
    others = tuple(colour for colour in shown.setup.game.colours if colour != "red")
    setup = msgspec.structs.replace(
        shown.setup, game=msgspec.structs.replace(shown.setup.game, colours=others)
    )
    camera = locate(shown.empty.image, setup)
    assert colour_warnings(shown.empty.image, camera, setup) == ()
