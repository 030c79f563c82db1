"""A die in the dice corner: read where it lies flat, refused where it does not, told once a roll."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import numpy as np
import pytest

from referee.command import Hear, Undo
from referee.events import SessionStarted
from referee.log import Log
from referee.rolled import dice_corner_watch
from referee.session import Session
from referee.simulated_tables import game_table
from table.setup import load_table, save_table
from vision.dice import Die, NoDie, read_dice
from vision.frame import Frame
from vision.photo import Photo
from vision.render import Renderer
from vision.scene import Scene, SceneDie
from vision.scene_dice import die_at
from vision.scene_ground import table_z_mm

TABLE = game_table("zamboni_wars", 3)
CORNER = TABLE.setup.dice_corner
MIDDLE = np.array(CORNER.outline_mm).mean(axis=0)
RENDERER = Renderer(TABLE.setup, TABLE.place)
IVORY, BLACK = (0.75, 0.74, 0.70), (0.02, 0.02, 0.02)


def die(top, beside=(0.0, 0.0), turn_deg=20.0, tilt_deg=0.0, rgb=IVORY, ink=BLACK):
    x, y = MIDDLE + beside
    at, rotation = die_at(top, (float(x), float(y)), turn_deg, CORNER.edge_mm, table_z_mm(TABLE.setup), tilt_deg, 65.0)
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


@pytest.mark.parametrize("tilt_deg", [15.0, 28.0, 40.0])
def test_a_cocked_die_is_refused(tilt_deg):
    seen = read(die(4, tilt_deg=tilt_deg))
    assert isinstance(seen, NoDie)
    assert seen.reason


def test_two_dice_are_refused_and_an_empty_corner_is_empty():
    assert read(die(2, (-12.0, 5.0)), die(2, (12.0, -8.0))) == NoDie("more than one die may lie there")
    assert read() == NoDie()


def test_the_die_of_treehouse_shows_no_number():
    assert not read(replace(die(2), worded=True))


def test_a_table_without_a_dice_corner_has_no_die_to_read():
    with pytest.raises(ValueError, match="no dice corner"):
        read_dice(Photo(picture(), TABLE.place, msgspec.structs.replace(TABLE.setup, dice_corner=None)))


def test_a_dice_corner_is_kept_in_table_json(tmp_path):
    save_table(TABLE.setup, tmp_path / "table.json")
    assert load_table(tmp_path / "table.json").dice_corner == CORNER


def test_a_roll_is_told_once_and_what_lay_there_before_is_none(tmp_path):
    watch = dice_corner_watch(TABLE.setup)
    with Log(tmp_path / "log.sqlite") as log:
        session = Session.begin(log, SessionStarted(game="zamboni_wars", players=TABLE.setup.game.colours))
        first = session.ledger.state.to_move

        def look(*dice):
            return watch.look(Frame(0, 0, picture(*dice)), TABLE.place, session.ledger)

        lay, rolled = die(3), die(6, (9.0, 7.0), turn_deg=70.0)
        assert look(lay) == ""
        assert look(rolled) == {"player": first, "die": 6}
        assert look(rolled) == ""
        assert look(die(6, (9.4, 7.3), turn_deg=72.0)) == "", "it was not touched, whatever else looks otherwise"
        assert look(die(6, (11.0, 7.0), turn_deg=75.0)).startswith("The die cannot be read: it lies much as it did before.")
        assert look(die(1, tilt_deg=30.0)).startswith("The die cannot be read: ")
        session.command(Hear(said={"player": first, "die": 6}))
        assert look(lay) == "", "nobody is to roll while a Zamboni is to drive"
        cocked = die(1, tilt_deg=30.0)
        assert look(cocked) == ""
        session.command(Undo())
        assert look(cocked) == "", "it lay there before anybody was to roll"
        assert look(die(1, (5.0, 5.0), tilt_deg=30.0)).startswith("The die cannot be read: ")
        session.close()
