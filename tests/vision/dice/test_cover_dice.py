"""Cover dice on the coasters: found where they lie, whatever is on them, and never where there are
none.
"""

from __future__ import annotations

from dataclasses import replace

import msgspec
import numpy as np
import pytest

from engines import GAMES
from simulation.render.ground import table_z_mm
from simulation.render.renderer import Renderer
from simulation.render.scene import Scene, SceneDie, ScenePiece
from simulation.tables import board_players, game_table
from table.solids import upright
from table.table_config import load_table, save_table
from vision.cameras.frame import Frame
from vision.observe import observe
from vision.pipeline import TableReader

pytestmark = pytest.mark.slow


def after_drives(seed, rng, count):
    """A table after so many drives: what draws it, where its cover dice lie, and the state of the
    game.
    """
    table = game_table("zamboni_wars", seed)
    play, game = board_players()["zamboni_wars"].play(table.setup, rng), GAMES["zamboni_wars"]
    state = game.set_up(table.setup.game.colours, table.rulings, table.setup.board)
    act, drives = play.begin(state), 0
    while drives < count:
        for move in act.moves:
            state = game.play(state, game.parse_move(move))
        drives += act.name == "drive"
        bodies, act = act.bodies, play.turn(state, act.bodies)
    scene = Scene(
        table.stage,
        tuple(body for body in bodies.values() if isinstance(body, ScenePiece)),
        dice=tuple(body for body in bodies.values() if isinstance(body, SceneDie)),
    )
    lie = [body.middle_mm[:2] for name, body in bodies.items() if name.startswith("cover ")]
    return table, scene, Renderer(table.setup, table.place), lie, state


@pytest.fixture(scope="module")
def drawn():
    """Four nests and two cover dice after some drives."""
    return after_drives(1, np.random.default_rng([1, 6]), 4)


def test_the_base_of_a_nest_is_not_taken_for_a_die():
    """It is as large as one here, and as light."""
    rng = np.random.default_rng([4, 10])
    table, scene, renderer, lie, state = after_drives(9, rng, 1)
    seen = observe(Frame(1, 0, renderer.picture(scene, rng)), table.setup, table.empty)
    assert len(seen.dice) == len(lie) == 1
    assert sorted(piece.colour for piece in seen.pieces) == sorted(state.remaining_zambonis)


def test_no_die_lies_where_a_nest_touches_the_table():
    """The edges of one nest look like a die here."""
    rng = np.random.default_rng([19, 77, 5])
    table, scene, renderer, lie, _ = after_drives(19, rng, 5)
    seen = observe(Frame(1, 0, renderer.picture(scene, rng)), table.setup, table.empty)
    assert all(min(np.hypot(die.x_mm - x, die.y_mm - y) for x, y in lie) < 2.0 for die in seen.dice)


def test_a_die_is_seen_where_it_lies_and_not_where_a_square_of_its_size_is_printed_beside_it():
    """The black die leaves enough of the square to be seen to make up another one."""
    table = game_table("zamboni_wars", 129)
    edge_mm, at = table.setup.cover_dice.edge_mm, np.array([157.113, 48.786])
    rotation = np.array([[0.0, 0.6542, -0.7563], [0.0, 0.7563, 0.6542], [1.0, 0.0, 0.0]])
    die = SceneDie(
        np.append(at, edge_mm / 2),
        rotation,
        edge_mm,
        (0.02, 0.02, 0.025),
        (0.8, 0.8, 0.78),
        worded=True,
    )
    picture = Renderer(table.setup, table.place).picture(
        Scene(table.stage, dice=(die,)), np.random.default_rng(0)
    )
    (seen,) = observe(Frame(1, 0, picture), table.setup, table.empty).dice
    assert np.hypot(*(np.array([seen.x_mm, seen.y_mm]) - at)) < 1.5


def test_dice_are_found_where_they_lie_and_are_no_pieces(drawn):
    table, scene, renderer, lie, state = drawn
    seen = observe(
        Frame(1, 0, renderer.picture(scene, np.random.default_rng(1))), table.setup, table.empty
    )
    assert len(seen.dice) == len(lie) == len(state.dice) == 2
    for die in seen.dice:
        assert min(np.hypot(die.x_mm - x, die.y_mm - y) for x, y in lie) < 2.0
    assert sorted(piece.colour for piece in seen.pieces) == sorted(state.remaining_zambonis)
    assert {piece.pose for piece in seen.pieces} == {"lying"}


def test_dice_are_looked_for_again_only_where_the_board_has_changed(drawn):
    """Exactly the same places, to the last digit, though the pictures' noise is another."""
    table, scene, renderer, lie, _ = drawn
    reader = TableReader()

    def dice(scene, seed):
        return observe(
            Frame(seed, 0, renderer.picture(scene, np.random.default_rng(seed))),
            table.setup,
            table.empty,
            reader,
        ).dice

    cover = tuple(
        die
        for die in scene.dice
        if min(np.hypot(*(die.middle_mm[:2] - place)) for place in lie) < 1
    )
    (rolled,) = (die for die in scene.dice if die not in cover)
    first = dice(scene, 1)
    assert (
        dice(
            replace(
                scene,
                dice=(*cover, replace(rolled, middle_mm=np.add(rolled.middle_mm, (5.0, 4.0, 0.0)))),
            ),
            2,
        )
        == first
    )
    assert len(dice(replace(scene, dice=(*cover[1:], rolled)), 3)) == 1


def test_nothing_is_taken_for_a_piece_where_dice_are_rolled(drawn):
    """A die has a player's colour, and shape enough for a piece; here a piece stands for it, as
    that is read everywhere else.
    """
    table, scene, renderer, _, state = drawn
    x, y = np.mean(table.setup.dice_corner.outline_mm, axis=0)
    piece = replace(
        scene.pieces[0], solid=upright(table.setup.sizes[0], x, y, 20.0, table_z_mm(table.setup))
    )
    seen = observe(
        Frame(
            1,
            0,
            renderer.picture(
                replace(scene, pieces=(*scene.pieces, piece)), np.random.default_rng(1)
            ),
        ),
        table.setup,
        table.empty,
    )
    assert sorted(piece.colour for piece in seen.pieces) == sorted(state.remaining_zambonis)
    assert not seen.off_board


def test_where_no_dice_lie_none_are_seen(drawn):
    table, scene, renderer, _, _ = drawn
    seen = observe(
        Frame(1, 0, renderer.picture(replace(scene, dice=()), np.random.default_rng(1))),
        table.setup,
        table.empty,
    )
    assert seen.dice == ()


def test_nobody_looks_for_dice_without_a_picture_of_the_empty_board_or_where_there_are_none(drawn):
    table, scene, renderer, _, _ = drawn
    frame = Frame(1, 0, renderer.picture(scene, np.random.default_rng(1)))
    assert observe(frame, table.setup).dice is None
    assert (
        observe(frame, msgspec.structs.replace(table.setup, cover_dice=None), table.empty).dice
        is None
    )


def test_cover_dice_are_kept_in_table_json(tmp_path, drawn):
    table, *_ = drawn
    save_table(table.setup, tmp_path / "table.json")
    assert load_table(tmp_path / "table.json").cover_dice == table.setup.cover_dice
    save_table(msgspec.structs.replace(table.setup, cover_dice=None), tmp_path / "table.json")
    assert b"cover_dice" not in (tmp_path / "table.json").read_bytes()
