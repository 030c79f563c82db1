"""Boards with print on them: pieces, counters and tiles of made-up tables, and what is not
there.
"""

from __future__ import annotations

from functools import cache

import cv2
import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from engines import icefloe
from simulation.generate.cases import random_case, truth_document
from simulation.players.icefloe import IcefloePlay
from simulation.render.renderer import Renderer
from simulation.render.scene import Scene, Slab
from simulation.tables import game_table
from table.observation import Observation, observation_document
from vision.cameras.frame import Frame
from vision.geometry.rectified_view import Photo
from vision.observe import observe
from vision.pipeline import TableReader

pytestmark = pytest.mark.slow

MADE = [
    ("icebreaker", 60000),
    ("icebreaker", 60001),
    ("icefloe", 60000),
    ("icefloe", 60003),
    ("zamboni", 60001),
    ("zamboni", 60002),
]


@cache
def read(kind, seed):
    case = random_case(kind, seed)
    frame = Frame(
        0, 0, Renderer(case.setup, case.camera).picture(case.scene(), np.random.default_rng(seed))
    )
    return case, truth_document(case), observe(frame, case.setup)


def paired(truth, seen):
    apart = np.hypot(*(np.array(truth)[:, None] - np.array(seen)[None]).transpose(2, 0, 1))
    rows, columns = linear_sum_assignment(apart)
    return [(i, j) for i, j in zip(rows, columns, strict=True) if apart[i, j] < 8], apart


@pytest.mark.parametrize(("kind", "seed"), MADE)
def test_pieces_on_printed_boards_are_found_and_nothing_else(kind, seed):
    _, truth, seen = read(kind, seed)
    assert isinstance(seen, Observation)
    there = [np.mean(np.array(piece["vertices_mm"])[:, :2], axis=0) for piece in truth["pieces"]]
    message = [piece.solid.vertices_mm[:, :2].mean(axis=0) for piece in seen.pieces]
    matched, _ = paired(there, message)
    assert len(matched) >= 0.9 * len(there)
    assert len(message) <= len(matched) + 1
    assert np.mean([truth["pieces"][i]["pose"] == seen.pieces[j].pose for i, j in matched]) == 1
    assert (
        np.mean([truth["pieces"][i]["colour"] == seen.pieces[j].colour for i, j in matched]) >= 0.9
    )


def test_standing_pieces_are_placed_to_a_fraction_of_a_millimetre():
    errors = []
    for kind, seed in MADE[:4]:
        _, truth, seen = read(kind, seed)
        matched, apart = paired(
            [piece["base_mm"] for piece in truth["pieces"]],
            [piece.base_mm for piece in seen.pieces],
        )
        errors += [apart[i, j] for i, j in matched]
    assert np.median(errors) < 0.3


@pytest.mark.parametrize(("kind", "seed"), MADE[:2])
def test_counters_are_counted_and_placed(kind, seed):
    _, truth, seen = read(kind, seed)
    matched, apart = paired(
        [[c["x_mm"], c["y_mm"]] for c in truth["counters"]],
        [[c.x_mm, c.y_mm] for c in seen.counters],
    )
    assert len(matched) == len(truth["counters"]) == len(seen.counters)
    assert np.median([apart[i, j] for i, j in matched]) < 1.5


@pytest.mark.parametrize(("kind", "seed"), MADE[2:4])
def test_tiles_that_stand_and_places_that_are_bare_are_told(kind, seed):
    _, truth, seen = read(kind, seed)
    assert seen.tiles == truth["board_state"]
    assert observation_document(seen)["board_state"] == truth["board_state"]


def test_a_table_without_tiles_has_none():
    for seed in (60000, 60003, 60007):
        case = random_case("icefloe", seed)
        seen = observe(
            Frame(
                0,
                0,
                Renderer(case.setup, case.camera).picture(
                    Scene(case.stage), np.random.default_rng(1)
                ),
            ),
            case.setup,
        )
        assert not any(seen.tiles.values())


def test_tiles_are_told_where_light_falls_off_over_the_table():
    """What a tile looks like at the bright end is what the bare table looks like at the other."""
    case, truth, _ = read("icefloe", 60003)
    picture = Renderer(case.setup, case.camera).picture(case.scene(), np.random.default_rng(60003))
    fall = np.linspace(1.0, 0.55, picture.shape[1])[None, :, None]
    seen = observe(Frame(0, 0, (picture * fall).astype(np.uint8)), case.setup)
    assert seen.tiles == truth["board_state"]


def test_a_pond_that_is_laid_out_while_the_camera_watches_is_read():
    case, truth, alone = read("icefloe", 60000)
    reader = TableReader()
    for scene in (Scene(case.stage), case.scene()):
        frame = Frame(
            0, 0, Renderer(case.setup, case.camera).picture(scene, np.random.default_rng(60000))
        )
        seen = observe(frame, case.setup, None, reader)
    assert seen.tiles == truth["board_state"]
    assert len(seen.pieces) == len(alone.pieces)


@pytest.mark.parametrize(("kind", "seed"), MADE[::2])
def test_no_colour_has_more_pieces_than_the_game_gives_it(kind, seed):
    case, _, seen = read(kind, seed)
    most = {"icebreaker": 3, "icefloe": 6, "zamboni": 1}[kind]
    assert all(
        sum(piece.colour == colour for piece in seen.pieces) <= most
        for colour in case.setup.colours
    )
    if kind == "icefloe":
        named = [(piece.colour, piece.size) for piece in seen.pieces]
        assert len(set(named)) == len(named)


@pytest.mark.parametrize("kind", ["icebreaker", "icefloe", "zamboni"])
def test_a_bare_printed_board_has_no_pieces(kind):
    case = random_case(kind, 60007)
    bare = Scene(case.stage, slabs=case.layout.slabs if kind == "icefloe" else ())
    seen = observe(
        Frame(0, 0, Renderer(case.setup, case.camera).picture(bare, np.random.default_rng(1))),
        case.setup,
    )
    assert isinstance(seen, Observation)
    assert seen.pieces == ()
    assert seen.counters == ()


@pytest.mark.parametrize("seed", [1, 2, 7])
def test_tiles_are_told_from_wood_of_their_own_brightness_however_few_there_are(seed):
    table = game_table("icefloe", seed)
    bodies = (
        IcefloePlay(table.setup, np.random.default_rng([seed, 6]))
        .begin(icefloe.start(table.setup.game.colours, {}))
        .bodies
    )
    tiles = [body for body in bodies.values() if isinstance(body, Slab)]
    board, renderer = table.setup.board, Renderer(table.setup, table.place)
    for count in (18, 9, 4):
        floating = tuple(tiles[:count])
        seen = observe(
            Frame(
                0,
                0,
                renderer.picture(Scene(table.stage, slabs=floating), np.random.default_rng(seed)),
            ),
            table.setup,
        )
        places = np.floor(
            (np.array([tile.outline_mm.mean(axis=0) for tile in floating]) - board.origin_mm)
            / board.cell_mm
        ).astype(int)
        assert {name for name, there in seen.tiles.items() if there} == {
            f"{'abcde'[column]}{row + 1}" for column, row in places
        }


def test_a_tile_that_is_mostly_covered_by_print_in_the_tables_colours_is_one():
    """Its median is then a mixture that no tile has: what counts is how much of it shows."""
    table = game_table("icefloe", 1)
    bodies = (
        IcefloePlay(table.setup, np.random.default_rng([1, 6]))
        .begin(icefloe.start(table.setup.game.colours, {}))
        .bodies
    )
    tiles = tuple(body for body in bodies.values() if isinstance(body, Slab))
    picture = Renderer(table.setup, table.place).picture(
        Scene(table.stage, slabs=tiles), np.random.default_rng(1)
    )
    photo = Photo(picture, table.place, table.setup)
    tile = tiles[0]
    middle = tile.outline_mm.mean(axis=0)
    around = np.append(middle, tile.top_mm) + 0.4 * table.setup.board.tile_mm * np.array(
        [[-1, -1, 0], [0.3, -1, 0], [0.3, 1, 0], [-1, 1, 0]]
    )
    ((x, y),) = photo.pixels(np.append(table.setup.outline_mm().mean(axis=0), 0.0)[None]).astype(
        int
    )
    bare = picture[y - 8 : y + 8, x - 8 : x + 8].reshape(-1, 3).mean(axis=0)  # the empty middle
    cv2.fillPoly(picture, [np.rint(photo.pixels(around)).astype(np.int32)], bare.tolist())
    seen = observe(Frame(0, 0, picture), table.setup)
    column, row = np.floor(
        (middle - table.setup.board.origin_mm) / table.setup.board.cell_mm
    ).astype(int)
    assert seen.tiles[f"{'abcde'[column]}{row + 1}"]
