"""A die in the dice corner: read where it lies flat, refused where it does not, told once a
roll.
"""

from __future__ import annotations

from dataclasses import replace

import msgspec
import numpy as np
import pytest

from benchmarks.suite.dice import read_table
from referee.live.dice_monitor import monitor_dice
from referee.sessions.commands import Hear, Undo
from referee.sessions.event_store import Log
from referee.sessions.events import SessionStarted
from referee.sessions.session import Session
from simulation.render.dice import die_at
from simulation.render.ground import table_z_mm
from simulation.render.renderer import Renderer
from simulation.render.scene import Scene, SceneDie
from simulation.tables import game_table
from table.table_config import load_table, save_table
from vision.cameras.frame import Frame
from vision.dice.reader import Die, NoDie, read_dice
from vision.geometry.rectified_view import Photo

pytestmark = pytest.mark.slow

TABLE = game_table("zamboni_wars", 3)
CORNER = TABLE.setup.dice_corner
MIDDLE = np.array(CORNER.outline_mm).mean(axis=0)
RENDERER = Renderer(TABLE.setup, TABLE.place)
IVORY, BLACK = (0.75, 0.74, 0.70), (0.02, 0.02, 0.02)


def die(top, beside=(0.0, 0.0), turn_deg=20.0, tilt_deg=0.0, rgb=IVORY, ink=BLACK, table=TABLE):
    x, y = np.array(table.setup.dice_corner.outline_mm).mean(axis=0) + beside
    at, rotation = die_at(
        top, (float(x), float(y)), turn_deg, CORNER.edge_mm, table_z_mm(table.setup), tilt_deg, 65.0
    )
    return SceneDie(at, rotation, CORNER.edge_mm, rgb, ink)


def picture(*dice, seed=1):
    return RENDERER.picture(Scene(TABLE.stage, dice=dice), np.random.default_rng(seed))


def read(*dice):
    return read_dice(Photo(picture(*dice), TABLE.place, TABLE.setup))


@pytest.mark.parametrize("top", range(1, 7))
def test_a_die_that_lies_flat_is_read_where_it_lies(top):
    seen = read(die(top, (5.0, -3.0), turn_deg=13.0 * top))
    assert isinstance(seen, Die)
    assert seen.pips == top
    assert np.hypot(*(seen.middle_mm - MIDDLE - (5.0, -3.0))) < 1.5
    assert abs((seen.turn_deg - 13.0 * top + 45) % 90 - 45) < 8


def test_light_pips_on_a_dark_die_are_pips_too():
    assert read(die(5, rgb=BLACK, ink=IVORY)).pips == 5


def test_edges_of_its_shadow_are_not_taken_for_its_own():
    """A light die on light cloth, whose shadow is sharper than the edge between its top and the
    side beside it.
    """
    table = game_table("zamboni_wars", 47)
    drawn = Renderer(table.setup, table.place).picture(
        Scene(table.stage, dice=(die(2, (2.07, 1.3), 72.9, table=table),)), np.random.default_rng(1)
    )
    assert read_dice(Photo(drawn, table.place, table.setup)).pips == 2


def test_a_long_shadow_beside_a_die_is_no_other_die():
    """In a whole game it kept 18 rolls from being read."""
    table = game_table("zamboni_wars", 239)
    drawn = Renderer(table.setup, table.place).picture(
        Scene(table.stage, dice=(die(5, (0.5, 7.5), 25.0, rgb=BLACK, ink=IVORY, table=table),)),
        np.random.default_rng(1),
    )
    assert read_dice(Photo(drawn, table.place, table.setup)).pips == 5


def test_a_die_that_no_edges_lead_to_is_found_beside_them():
    """Dark blue on red cloth: the other edges that a die here might show agree better than its
    own.
    """
    assert read_table(48, 2).counts == {"lies flat": {"right number": 2}}


@pytest.mark.parametrize("tilt_deg", [15.0, 28.0, 40.0])
def test_a_cocked_die_is_refused(tilt_deg):
    seen = read(die(4, tilt_deg=tilt_deg))
    assert isinstance(seen, NoDie)
    assert seen.reason


def test_two_dice_are_refused_and_an_empty_corner_is_empty():
    assert read(die(2, (-12.0, 5.0)), die(2, (12.0, -8.0))) == NoDie(
        "there may be more than one die"
    )
    assert read() == NoDie()


def test_the_die_of_treehouse_shows_no_number():
    assert not read(replace(die(2), worded=True))


def test_a_table_without_a_dice_corner_has_no_die_to_read():
    with pytest.raises(ValueError, match="no dice corner"):
        read_dice(
            Photo(picture(), TABLE.place, msgspec.structs.replace(TABLE.setup, dice_corner=None))
        )


def test_a_dice_corner_is_kept_in_table_json(tmp_path):
    save_table(TABLE.setup, tmp_path / "table.json")
    assert load_table(tmp_path / "table.json").dice_corner == CORNER


class Corner:
    """A dice corner that is watched while a game waits for a roll."""

    def __init__(self, session):
        self.session, self.watch = session, monitor_dice(TABLE.setup)

    def look(self, *dice):
        return self.watch.look(Frame(0, 0, picture(*dice)), TABLE.place, self.session.ledger)

    def glance(self, *dice, times=2):
        """Pictures in which something moves on the table, but not in the corner, if there are
        several.
        """
        for seed in range(times):
            self.watch.glance(
                Frame(0, 0, picture(*dice, seed=seed)), TABLE.place, self.session.ledger
            )


@pytest.fixture
def corner(tmp_path):
    with Log(tmp_path / "log.sqlite") as log:
        session = Session.begin(
            log, SessionStarted(game="zamboni_wars", players=TABLE.setup.game.colours)
        )
        yield Corner(session)
        session.close()


LAY, ROLLED = die(3), die(6, (9.0, 7.0), turn_deg=70.0)
NEARLY_THERE = die(6, (11.0, 7.0), turn_deg=75.0)
TOUCHED = "The die cannot be read: it lies much as it did before."


def test_a_roll_is_told_once_and_what_lay_there_before_is_none(corner):
    first = corner.session.ledger.state.to_move
    assert corner.look(LAY) == ""
    assert corner.look(ROLLED) == {"player": first, "die": 6}
    assert corner.look(ROLLED) == ""
    assert corner.look(die(6, (9.4, 7.3), turn_deg=72.0)) == "", (
        "it was not touched, whatever else looks otherwise"
    )
    assert corner.look(NEARLY_THERE).startswith(TOUCHED)
    assert corner.look(die(1, tilt_deg=30.0)).startswith("The die cannot be read: ")
    corner.session.command(Hear(heard={"player": first, "die": 6}))
    assert corner.look(LAY) == "", "nobody is to roll while a Zamboni is to drive"
    cocked = die(1, tilt_deg=30.0)
    assert corner.look(cocked) == ""
    corner.session.command(Undo())
    assert corner.look(cocked) == "", "it lay there before anybody was to roll"
    assert corner.look(die(1, (5.0, 5.0), tilt_deg=30.0)).startswith("The die cannot be read: ")


def test_a_die_that_was_picked_up_was_rolled_however_near_it_lies_again(corner):
    first = corner.session.ledger.state.to_move
    corner.look(ROLLED)
    corner.glance()
    assert corner.look(NEARLY_THERE) == {"player": first, "die": 6}
    assert corner.look(ROLLED).startswith(TOUCHED), "it was not picked up since"


@pytest.mark.parametrize(
    ("dice", "times"),
    [((), 1), ((die(6, tilt_deg=30.0),), 2)],
    ids=["an arm passes", "it is tipped over"],
)
def test_a_die_that_may_only_have_been_touched_was_not_rolled(corner, dice, times):
    corner.look(ROLLED)
    corner.glance(*dice, times=times)
    assert corner.look(NEARLY_THERE).startswith(TOUCHED)


def test_a_die_that_is_picked_up_while_nobody_is_to_roll_was_tidied_away(corner):
    first = corner.session.ledger.state.to_move
    corner.look(ROLLED)
    corner.session.command(Hear(heard={"player": first, "die": 6}))
    corner.glance()
    corner.session.command(Undo())
    assert corner.look(NEARLY_THERE).startswith(TOUCHED)


def test_a_die_that_could_not_be_seen_for_a_while_was_not_rolled(corner):
    corner.look(ROLLED)
    corner.glance()
    assert corner.look(ROLLED) == ""


def test_who_begins_is_rolled_in_the_corner_one_player_after_the_other(tmp_path):
    """The die is passed on clockwise: each new roll counts for the next who is yet to roll; what
    lay there first counts for nobody.
    """
    with Log(tmp_path / "log.sqlite") as log:
        players = TABLE.setup.game.colours
        session = Session.begin(
            log, SessionStarted(game="zamboni_wars", players=players, begins="roll")
        )
        corner = Corner(session)
        assert corner.look(LAY) == ""
        shown = (
            ROLLED,
            die(2, (-6.0, 4.0), turn_deg=10.0),
            *(die(pips, (7.0, -7.0 + pips)) for pips in range(1, len(players) - 1)),
        )
        for player, one, pips in zip(players, shown, (6, 2, 1, 2), strict=False):
            heard = corner.look(one)
            assert heard == {"player": player, "die": pips}
            session.hear(heard)
        assert session.ledger.state.players[0] == players[0]
        session.close()
