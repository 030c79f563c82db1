"""Made-up boards with counters, tiles and nests: what is drawn is what the truth says, and no two
boards look alike.
"""

from __future__ import annotations

import importlib.util
import json
import math
from dataclasses import replace

import cv2
import msgspec
import numpy as np
import pytest

from simulation.generate.cases import random_case, random_view, truth_document, write_case
from simulation.generate.tables import KINDS, random_setup
from simulation.render.board_art import counter
from simulation.render.renderer import Renderer
from simulation.render.scene import (
    NO_NOISE,
    Lamp,
    Print,
    Scene,
    ScenePiece,
    Slab,
    Stage,
    Surface,
    look_at,
)
from simulation.render.textures import Sheet
from table.boards import within
from table.clearance import clearance
from table.errors import InputError
from table.solids import upright
from table.table_config import load_table, parse_table
from tests.support.paths import SHARED
from vision.cameras.image_files import read_image
from vision.geometry.camera_model import project

pytestmark = pytest.mark.slow

SCORE = SHARED / "bench" / "score.py"
BLACK = Surface("paper", (0.0, 0.0, 0.0), contrast=0.0)
EVEN = Stage(BLACK, (), NO_NOISE, ambient=1.0)
PLACE = look_at(np.array([60.0, -230.0, 520.0]), np.array([10.0, 10.0, 0.0]), roll_deg=5.0)
SMALL_PX = 640


def bare_table(board=None, z_mm=0.15):
    """A table whose cards are out of the picture."""
    side = [[-18, 18], [18, 18], [18, -18], [-18, -18]]
    markers = [
        {"id": i, "corners_mm": [[x + dx, y + dy] for dx, dy in side]}
        for i, (x, y) in enumerate([(-900, 900), (900, 900), (900, 700)])
    ]
    return parse_table(
        {
            "format": "rinkside-table/1",
            "camera": {
                "width": 640,
                "height": 480,
                "matrix": [[800.0, 0, 322], [0, 800.0, 238], [0, 0, 1]],
                "distortion": [-0.05, 0.02, 0, 0, 0],
            },
            "fiducials": {"z_mm": z_mm, "markers": markers},
            "board": (
                board
                or {
                    "kind": "open",
                    "outline_mm": [[-500, -500], [500, -500], [500, 500], [-500, 500]],
                }
            ),
            "game": {"name": "ice_boule", "colours": ["red"], "target": "blue", "sizes": ["large"]},
        }
    )


TABLE = bare_table()
LARGE = TABLE.pieces["large"]


def small(setup):
    return msgspec.structs.replace(setup, camera=TABLE.camera)


def centroid(light):
    v, u = np.mgrid[: light.shape[0], : light.shape[1]]
    return np.array([(light * u).sum(), (light * v).sum()]) / light.sum()


def pixel(x, y, z=0.0, setup=TABLE, camera=PLACE):
    return project(np.array([[x, y, z]]), camera, setup.camera)[0]


def seen(light, place):
    """Light at the pixel nearest to a place in the picture."""
    u, v = np.round(place).astype(int)
    return light[v, u]


@pytest.mark.parametrize("turn", [0.0, 90.0, -33.0])
def test_what_is_printed_is_seen_where_it_is(turn):
    sheet = Sheet(60.0, 40.0, (0.0, 0.0, 0.0), 0.2)
    sheet.disc((17.3, -8.1), 3.0, (0.5, 0.5, 0.5))
    c, s = math.cos(math.radians(turn)), math.sin(math.radians(turn))
    middle = np.array([21.0, 14.0])
    outline = middle + 45 * np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]])
    light = Renderer(TABLE, PLACE).light(
        Scene(EVEN, slabs=(Slab(outline, 0.0, 0.0, (0, 0, 0), sheet.print((21.0, 14.0), turn)),))
    )[..., 0]
    x, y = middle + np.array([[c, -s], [s, c]]) @ (17.3, -8.1)
    assert centroid(light.astype(float)) == pytest.approx(pixel(x, y), abs=0.06)


def test_what_is_filled_has_its_area():
    for outline in ([(-20, -10), (20, -10), (20, 10), (-20, 10)], [(0, -15), (14, 9), (-11, 12)]):
        sheet = Sheet(60.0, 60.0, (0.0, 0.0, 0.0), 0.2)
        sheet.fill(outline, (0.5, 0.5, 0.5))
        area = cv2.contourArea(np.array(outline, np.float32))
        assert sheet.print().rgb[..., 0].sum() / 0.5 * 0.2**2 == pytest.approx(area, rel=0.01)


def test_a_sheet_is_read_from_the_near_side():
    sheet = Sheet(60.0, 60.0, (0.0, 0.0, 0.0), 0.2)
    sheet.fill([(10, 10), (20, 10), (20, 20), (10, 20)], (0.3, 0.3, 0.3))
    sheet.line([(-20, 0), (-20, 20)], 2.0, (0.3, 0.3, 0.3))
    light = Renderer(TABLE, PLACE).light(
        Scene(
            EVEN,
            slabs=(
                Slab(
                    30 * np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]),
                    0,
                    0,
                    (0, 0, 0),
                    sheet.print(),
                ),
            ),
        )
    )
    assert seen(light, pixel(15, 15))[0] == pytest.approx(0.3, rel=0.01)
    assert seen(light, pixel(-20, 10))[0] == pytest.approx(0.3, rel=0.05)
    assert seen(light, pixel(15, -15))[0] == seen(light, pixel(-15, 15))[0] == 0


def test_the_top_of_a_counter_covers_what_it_should():
    """Its area and its middle, at the height of its top; the rim is black."""
    disc = counter(np.array([20.0, -15.0]), 30.0, 5.0, (0.0, 0.0, 0.0))
    white = Print(np.full((200, 200, 3), 0.6, np.float32), 0.2, (20.0, -15.0))
    light = (
        Renderer(TABLE, PLACE)
        .light(Scene(EVEN, slabs=(replace(disc, face=white),)))[..., 0]
        .astype(float)
    )
    turns = np.linspace(0, 2 * np.pi, 720, endpoint=False)
    rim = np.column_stack([20 + 15 * np.cos(turns), -15 + 15 * np.sin(turns), np.full(720, 5.0)])
    outline = project(rim, PLACE, TABLE.camera).astype(np.float32)
    moments = cv2.moments(outline)
    assert light.sum() / 0.6 == pytest.approx(moments["m00"], rel=0.01)
    assert centroid(light) == pytest.approx(
        np.array([moments["m10"], moments["m01"]]) / moments["m00"], abs=0.02
    )


def test_counters_have_a_rim_and_throw_a_shadow():
    stage = replace(
        EVEN,
        table=Surface("paper", (0.4, 0.4, 0.4), contrast=0.0),
        lamps=(Lamp((0.0, 500.0, 600.0), 0.8, 5.0),),
        ambient=0.2,
    )
    disc = counter(np.zeros(2), 30.0, 6.0, (0.6, 0.6, 0.6))
    bare, light = (
        Renderer(TABLE, PLACE).light(Scene(stage, slabs=slabs)) for slabs in ((), (disc,))
    )
    top, rim = seen(light, pixel(0, 0, 6.0)), seen(light, pixel(0, -15, 3.0))
    assert top[1] == pytest.approx(0.6 / 0.4 * seen(bare, pixel(0, 0))[1], rel=0.05)
    assert rim[1] < 0.5 * top[1], "the rim on this side is in the shade"
    assert seen(light, pixel(0, -17.5))[1] < 0.6 * seen(bare, pixel(0, -17.5))[1]
    assert seen(light, pixel(0, 60))[1] == pytest.approx(seen(bare, pixel(0, 60))[1], rel=1e-3)


def test_shadows_fall_on_tops_where_these_are():
    """A piece on a tile darkens the tile's top at its height, and the table beside at the
    table's.
    """
    stage = replace(
        EVEN,
        table=Surface("paper", (0.4, 0.4, 0.4), contrast=0.0),
        lamps=(Lamp((0.0, 400.0, 400.0), 0.9, 5.0),),
        ambient=0.1,
    )
    tile = Slab(25 * np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]), -8.0, 0.0, (0.4, 0.4, 0.4))
    thick = bare_table({"kind": "tiles", "cell_mm": 60.0}, z_mm=-7.85)
    piece = ScenePiece(upright(LARGE, 0.0, -12.0, 0.0), "white")
    without, light = (
        Renderer(thick, PLACE).light(Scene(stage, pieces, slabs=(tile,)))
        for pieces in ((), (piece,))
    )
    on_tile, on_table = pixel(0, -24.8, 0.0), pixel(0, -52.0, -8.0)
    assert seen(light, on_tile)[1] < 0.4 * seen(without, on_tile)[1]
    assert seen(light, on_table)[1] < 0.4 * seen(without, on_table)[1]


def test_pieces_and_counters_hide_what_is_behind_them():
    piece = ScenePiece(upright(LARGE, 0.0, 0.0, 0.0), "red")
    behind, before = (
        counter(np.array([0.0, y]), 24.0, 6.0, (0.1, 0.1, 0.8)) for y in (26.0, -26.0)
    )
    light = Renderer(TABLE, PLACE).light(Scene(EVEN, (piece,), slabs=(behind, before)))
    assert seen(light, pixel(0, 0, 43.0)).argmax() == 0, "the tip stands before the counter behind"
    assert seen(light, pixel(0, -15.5, 6.0)).argmax() == 2, (
        "the counter on this side covers the foot of the piece"
    )


def test_a_renderer_with_a_past_draws_slabs_as_a_fresh_one_does():
    case = random_case("icefloe", 4)
    setup, camera = small(case.setup), case.camera
    whole = case.scene()
    used = Renderer(setup, camera)
    for scene in (
        whole,
        replace(whole, slabs=whole.slabs[3:], pieces=whole.pieces[2:]),
        Scene(case.stage),
        whole,
    ):
        drawn = used.picture(scene, np.random.default_rng(1))
        fresh = Renderer(setup, camera).picture(scene, np.random.default_rng(1))
        assert np.abs(drawn.astype(int) - fresh).max() <= 1


@pytest.fixture(
    scope="module",
    params=[("zamboni", 3), ("icebreaker", 2), ("icefloe", 4)],
    ids=lambda made: made[0],
)
def written(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("cases") / f"{request.param[0]}-{request.param[1]:04d}"
    write_case(folder, *request.param, width_px=SMALL_PX)
    return folder


def test_a_case_can_be_read_back(written):
    setup = load_table(written / "table.json")
    assert read_image(written / "image.jpg", setup).image.shape[1] == SMALL_PX
    kind = written.name.split("-")[0]
    assert (written / "empty.jpg").exists() == (kind != "icefloe")
    truth = json.loads((written / "truth.json").read_text())
    assert {
        "kind",
        "seed",
        "camera_pose",
        "pieces",
        "off_board",
        "covered_fiducials",
        "counters",
    } <= truth.keys()
    assert {"zamboni": "zambonis", "icebreaker": "cells", "icefloe": "board_state"}[kind] in truth


@pytest.mark.skipif(not SCORE.is_file(), reason="the scoring of ../shared/bench is not here")
def test_an_observer_that_says_the_truth_scores_full_marks(written):
    spec = importlib.util.spec_from_file_location("score", SCORE)
    score = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(score)
    truth = json.loads((written / "truth.json").read_text())
    row = score.score_case(written, truth)
    assert row["wrong"] == []
    assert row["truth"] == row["pred"] == row["matched"] > 0
    summary = score.summary([row])
    assert summary["tables_all_right"] == "1/1"


def test_nests_point_along_their_facing_in_the_middle_of_their_space():
    layers = set()
    for seed in range(15):
        case = random_case("zamboni", seed)
        document, cell_mm = truth_document(case), case.setup.board.cell_mm
        nests = [piece for piece in document["pieces"] if piece["role"] == "zamboni"]
        assert {piece["colour"] for piece in nests} == document["zambonis"].keys()
        for piece in nests:
            message = document["zambonis"][piece["colour"]]
            layers.add(message["layers"])
            assert piece["size"] == ("small", "medium", "large")[message["layers"] - 1]
            assert abs((piece["heading_deg"] - message["facing_deg"] + 180) % 360 - 180) < 20
            middle = (np.array(piece["base_mm"]) + piece["tip_mm"]) / 2
            assert np.floor(middle / cell_mm) == pytest.approx(message["cell"])
    assert layers == {1, 2, 3}


def test_ships_and_ice_stand_on_cells_of_their_own():
    for seed in range(12):
        case = random_case("icebreaker", seed)
        document, middles = truth_document(case), case.setup.board.middles()
        cells = document["cells"]
        held = [tuple(cell) for group in cells.values() for cell in group]
        assert len(held) == len(set(held))
        assert len(document["counters"]) == len(cells["ice"])
        places = [
            (np.array([c["x_mm"], c["y_mm"]]), cell)
            for c, cell in zip(document["counters"], cells["ice"], strict=True)
        ]
        places += [
            (place.base_mm, cell)
            for place, cell in zip(
                case.placed, _in_turn(cells, case.setup.game.colours), strict=True
            )
        ]
        for place, cell in places:
            nearest = min(middles, key=lambda name: np.hypot(*(middles[name] - place)))
            assert nearest == tuple(cell)
        for other in document["off_counters"]:
            assert not within(case.setup.outline_mm(), np.array([other["x_mm"], other["y_mm"]]))


def _in_turn(cells, colours):
    return [cells[colour][index] for index in range(3) for colour in colours]


def test_there_is_a_tile_where_the_truth_says_and_table_elsewhere():
    case = random_case("icefloe", 6)
    renderer, board = Renderer(case.setup, case.camera), case.setup.board
    bare, light = (
        renderer.light(Scene(case.stage)).copy(),
        renderer.light(Scene(case.stage, slabs=case.layout.slabs)),
    )
    state = truth_document(case)["board_state"]
    assert 0 < sum(state.values()) < 25
    for name, there in state.items():
        x, y = board.cell_mm * (np.array(["abcde".index(name[0]), int(name[1]) - 1]) + 0.5)
        places = [
            pixel(
                x + dx, y + dy, 0.0 if there else case.setup.fiducials.z_mm, case.setup, case.camera
            )
            for dx in (-9, 9)
            for dy in (-9, 9)
        ]
        changed = [
            np.abs(seen(light, place) / seen(bare, place) - 1).max() > 0.3 for place in places
        ]
        assert all(changed) if there else sum(changed) <= 2, name


def test_pyramids_are_each_there_once_and_stand_on_tiles():
    for seed in range(8):
        case = random_case("icefloe", seed)
        assert len({(place.piece.colour, place.size) for place in case.placed}) == len(case.placed)
        for place in case.placed:
            if place.role == "pyramid":
                assert any(within(slab.outline_mm, place.base_mm) for slab in case.layout.slabs)


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_shares_its_space(kind):
    for seed in range(6):
        case = random_case(kind, seed)
        solids = [place.piece.solid for place in case.placed if not place.on_target]
        assert all(
            clearance(a, b).mm > 0.005
            for index, a in enumerate(solids)
            for b in solids[index + 1 :]
        )
        discs = truth_document(case)["counters"]
        for index, one in enumerate(discs):
            others = discs[index + 1 :]
            assert all(
                math.hypot(one["x_mm"] - b["x_mm"], one["y_mm"] - b["y_mm"]) >= one["diameter_mm"]
                for b in others
            )


@pytest.mark.parametrize("kind", ["zamboni", "icebreaker", "icefloe"])
def test_no_two_tables_look_alike(kind):
    """The same place of two boards of the same sizes, made from two seeds."""
    tops = []
    for seed in (1, 2, 3):
        setup = small(random_setup(kind, np.random.default_rng(5)))
        stage = replace(random_case(kind, seed).stage, table=BLACK)
        layout = random_case(kind, seed).layout
        camera = look_at(np.array([100.0, 90.0, 700.0]), np.array([100.0, 100.0, 0.0]))
        tops.append(Renderer(setup, camera).light(Scene(stage, slabs=layout.slabs)))
    assert all(np.abs(a - b).mean() > 0.01 for a, b in ((tops[0], tops[1]), (tops[1], tops[2])))


@pytest.mark.parametrize("kind", KINDS)
def test_a_view_of_a_known_table_has_its_pieces(kind):
    setup = random_setup(kind, np.random.default_rng(3))
    camera, scene = random_view(setup, 7)
    assert scene.pieces
    assert {piece.colour for piece in scene.pieces} <= set(setup.colours)
    assert (
        project(np.array([[*setup.outline_mm().mean(axis=0), 0.0]]), camera, setup.camera) > 0
    ).all()


def test_a_game_on_a_board_that_is_not_its_own_is_said_in_one_line():
    setup = random_setup("zamboni", np.random.default_rng(3))
    other = random_setup("icefloe", np.random.default_rng(3))
    with pytest.raises(InputError, match=r"expected ice_boule, .* got 'icefloe' on 'coasters'$"):
        random_view(parse_table({**_plain(setup), "game": _plain(other)["game"]}), 1)


def _plain(setup):
    document = msgspec.to_builtins(setup)
    return {
        "format": "rinkside-table/1",
        **{key: document[key] for key in ("camera", "fiducials", "board", "game")},
    }


def test_arms_hide_what_is_said_and_no_piece():
    """In pictures: a covered card changes when the arm is taken away, all pieces stay."""
    covered, whole = 0, 0
    for kind, seed in [
        ("boule", 2),
        ("storm", 6),
        ("zamboni", 4),
        ("icebreaker", 4),
        ("icefloe", 2),
        ("icefloe", 3),
        ("zamboni", 9),
    ]:
        case = random_case(kind, seed)
        if not case.limbs:
            continue
        whole += 1
        covered += len(case.covered)
        setup = msgspec.structs.replace(case.setup, camera=scaled(case.setup.camera, 0.25))
        renderer = Renderer(setup, case.camera)
        with_arm, without = (
            renderer.light(replace(case.scene(), limbs=limbs)).copy() for limbs in (case.limbs, ())
        )
        for marker in setup.fiducials.markers:
            changed = [
                _changes(with_arm, without, (*corner, setup.fiducials.z_mm), setup, case.camera)
                for corner in marker.corners_mm
            ]
            if all(changed):
                assert marker.id in case.covered, (kind, seed)
        for place in case.placed:
            for vertex in place.piece.vertices_mm:
                assert not _changes(with_arm, without, vertex, setup, case.camera), (
                    kind,
                    seed,
                    place,
                )
    assert covered >= whole >= 2


def scaled(lens, scale):
    (fx, _, cx), (_, fy, cy), last = lens.matrix
    matrix = ((fx * scale, 0.0, cx * scale), (0.0, fy * scale, cy * scale), last)
    return msgspec.structs.replace(
        lens, width=round(lens.width * scale), height=round(lens.height * scale), matrix=matrix
    )


def _changes(one, other, point_mm, setup, camera):
    """Is a point in the picture, and is its light another one, not only less of it, as in
    shadow?
    """
    u, v = np.round(project(np.array([point_mm]), camera, setup.camera)[0]).astype(int)
    if not (0 <= u < one.shape[1] and 0 <= v < one.shape[0]):
        return False
    ratio = one[v, u] / np.maximum(other[v, u], 1e-6)
    return bool(ratio.max() > 1.1 or np.ptp(ratio) > 0.25)
