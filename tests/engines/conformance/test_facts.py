"""The facts of every game, by the suite that packages with games of their own run too; and what
holds of this project's games together.
"""

from random import Random

import numpy as np
import pytest

from conformance.facts import *  # noqa: F403
from engines import GAMES, facts_of
from engines.statistics import Step
from simulation.players.policies import RandomPlayer, playout
from simulation.tables import installed_players
from table.boards import Open
from table.games import all_table_facts, default_game_on, measuring, table_facts, usual_game

THROWS = {"ice_boule": ("blue", "yellow"), "ice_storm": ("red", "yellow", "blue")}


def played(name):
    """The first steps of a game that chance plays."""
    game, steps = GAMES[name], []
    before = game.start(THROWS[name], {})
    player = RandomPlayer(game, Random(7))
    for number, (move, after) in zip(
        range(150), playout(game, before, player.choose), strict=False
    ):
        steps.append(Step(number, 1000 * number, before, move, after, None, False))
        before = after
    return steps


@pytest.mark.parametrize("name", GAMES)
def test_a_board_of_a_kind_is_first_that_of_the_project(name):
    default = table_facts(name).default
    assert default_game_on(default.kind) == (name, default)


def test_a_game_that_is_not_installed_has_defaults():
    defaults = facts_of("pegs_and_holes")
    assert defaults.title == "Pegs And Holes"
    assert defaults.presentation.marks({}) == ()
    assert table_facts("pegs_and_holes").pieces.most == 100


def test_one_game_measures_and_one_needs_no_board():
    title, ruler = measuring()
    (name,) = [name for name, one in all_table_facts().items() if one.measuring is ruler]
    assert title == facts_of(name).title
    assert ruler.z == pytest.approx(1.96)
    default = table_facts(usual_game()).default
    assert isinstance(default.board(default.cell_mm), Open)


def test_every_game_has_simulated_players():
    assert installed_players().keys() == GAMES.keys()


def test_a_throw_that_nobody_measured_has_no_sigma():
    """The facts of a throw come from its move; what the camera saw may be gone."""
    for name in THROWS:
        for thrown in facts_of(name).statistics.throws(played(name)):
            assert thrown.sigma_mm is None
            assert thrown.lie is None or np.isfinite(thrown.lie.gap_mm)
