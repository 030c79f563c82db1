"""The renderer: exact in place, plausible in light, the same for the same seed."""

from __future__ import annotations

import json
from dataclasses import replace

import cv2
import numpy as np
import pytest

from simulation.generate.cases import random_case, truth_document, write_case
from simulation.render.renderer import Renderer, render
from simulation.render.scene import (
    NO_NOISE,
    Lamp,
    Limb,
    Scene,
    ScenePiece,
    Sensor,
    Stage,
    Surface,
    look_at,
    reaching_arm,
)
from simulation.render.shadows import shadow_of
from table.clearance import clearance
from table.errors import InputError
from table.solids import SIDES, lying, on_top, upright
from table.table_config import load_table, parse_table
from vision.cameras.image_files import read_image
from vision.geometry.camera_model import on_plane, project
from vision.geometry.srgb import linear

pytestmark = pytest.mark.slow

SQUARE = 40.0
GREY = Surface("paper", (0.4, 0.4, 0.4), contrast=0.0)
EVEN = Stage(GREY, (), NO_NOISE, ambient=1.0)
LAMPS = Stage(GREY, (Lamp((100.0, 500.0, 900.0), 0.7),), NO_NOISE, ambient=0.3)


def setup_of(board, z_mm=0.15, width=800, height=600):
    middles = [(-60, 220), (300, 220), (300, -60), (-60, -60)]
    markers = [
        {
            "id": id_,
            "corners_mm": [[x - 18, y + 18], [x + 18, y + 18], [x + 18, y - 18], [x - 18, y - 18]],
        }
        for id_, (x, y) in enumerate(middles)
    ]
    matrix = [[900.0, 0, 403.2], [0, 901.0, 297.4], [0, 0, 1]]
    return parse_table(
        {
            "format": "rinkside-table/1",
            "camera": {
                "width": width,
                "height": height,
                "matrix": matrix,
                "distortion": [-0.08, 0.02, 4e-4, -3e-4, 0.0],
            },
            "fiducials": {"dictionary": "DICT_4X4_50", "z_mm": z_mm, "markers": markers},
            "board": board,
            "game": {
                "name": "ice_boule",
                "colours": ["red", "blue"],
                "target": "yellow",
                "sizes": ["medium", "large"],
                "pieces": "looney",
            },
        }
    )


OPEN = setup_of({"kind": "open", "outline_mm": [[-40, -40], [280, -40], [280, 200], [-40, 200]]})
CHESS = setup_of({"kind": "chessboard", "square_mm": SQUARE, "files": 6, "ranks": 4}, z_mm=-2.35)
PLACE = look_at(np.array([150.0, -140.0, 560.0]), np.array([120.0, 80.0, 0.0]), roll_deg=7.0)
LARGE = OPEN.pieces["large"]


def fine(box, count=8):
    """Sub-pixel positions of a box of pixels, (rows * count * columns * count, 2), and how to
    average them again.
    """
    v0, v1, u0, u1 = box
    offsets = (np.arange(count) + 0.5) / count - 0.5
    us, vs = (
        (np.arange(u0, u1)[:, None] + offsets).ravel(),
        (np.arange(v0, v1)[:, None] + offsets).ravel(),
    )
    uu, vv = np.meshgrid(us, vs)
    return np.column_stack([uu.ravel(), vv.ravel()]), lambda values: values.reshape(
        v1 - v0, count, u1 - u0, count
    ).mean(axis=(1, 3))


def around(points_mm, pad=4):
    pixels = project(points_mm, PLACE, OPEN.camera)
    (u0, v0), (u1, v1) = (
        np.floor(pixels.min(axis=0)).astype(int) - pad,
        np.ceil(pixels.max(axis=0)).astype(int) + pad + 1,
    )
    return v0, v1, u0, u1


def test_squares_of_a_chessboard_cover_pixels_as_many_rays_do():
    """Slow and obvious: 64 rays a pixel, each either on a dark or a light square."""
    stage = replace(EVEN, table=replace(GREY, contrast=0.0))
    light = Renderer(CHESS, PLACE).light(Scene(stage))[..., 1]
    box = around(np.array([[70.0, 70, 0], [130, 110, 0]]))
    rays, mean = fine(box)
    squares = np.floor(on_plane(rays, PLACE, CHESS.camera) / SQUARE).astype(int).sum(axis=1) % 2
    dark, bright = (colour[1] for colour in stage.squares)
    drawn = light[box[0] : box[1], box[2] : box[3]]
    share = (drawn - dark) / (bright - dark)
    assert np.abs(share - mean(squares)).max() < 0.25  # paper has a grain of some per cent
    assert abs(np.mean(share - mean(squares))) < 0.01


def test_corners_of_a_chessboard_are_where_they_belong():
    light = cv2.GaussianBlur(Renderer(CHESS, PLACE).light(Scene(EVEN)), (0, 0), 0.7)[..., 1]
    corners = np.array(
        [[SQUARE * file, SQUARE * rank, 0.0] for file in range(1, 6) for rank in range(1, 4)]
    )
    pixels = project(corners, PLACE, CHESS.camera)
    start = pixels.astype(np.float32).reshape(-1, 1, 2).copy()
    stop = (cv2.TERM_CRITERIA_EPS + cv2.TERM_CRITERIA_MAX_ITER, 100, 1e-4)
    error = (
        np.asarray(cv2.cornerSubPix(light, start, (5, 5), (-1, -1), stop)).reshape(-1, 2) - pixels
    )
    assert np.abs(error).max() < 0.12
    assert np.abs(error.mean(axis=0)).max() < 0.02


def test_edges_of_fiducials_are_where_they_belong():
    """The half-way level across the black borders, in linear light, on average and everywhere."""
    light = cv2.GaussianBlur(Renderer(OPEN, PLACE).light(Scene(EVEN)), (0, 0), 0.7)[..., 1]
    offsets = []
    for marker in OPEN.fiducials.markers:
        corners = np.array(marker.corners_mm)
        for start, end in zip(corners, np.roll(corners, -1, axis=0), strict=True):
            outward = (start + end) / 2 - corners.mean(axis=0)
            outward /= np.linalg.norm(outward)
            for share in np.linspace(0.15, 0.85, 20):
                line = start + share * (end - start) + np.linspace(-3, 3, 241)[:, None] * outward
                pixels = project(
                    np.column_stack([line, np.full(len(line), OPEN.fiducials.z_mm)]),
                    PLACE,
                    OPEN.camera,
                )
                if not ((pixels > 4) & (pixels < (795, 595))).all():
                    continue
                profile = cv2.remap(
                    light,
                    pixels[:, 0].astype(np.float32),
                    pixels[:, 1].astype(np.float32),
                    cv2.INTER_CUBIC,
                ).ravel()
                along = np.hypot(*(pixels - pixels[120]).T) * np.sign(np.linspace(-1, 1, 241))
                half = (profile[:20].mean() + profile[-20:].mean()) / 2
                crossing = int(np.argmax(profile > half))
                offsets.append(
                    np.interp(
                        half,
                        profile[crossing - 1 : crossing + 1],
                        along[crossing - 1 : crossing + 1],
                    )
                )
    assert len(offsets) > 200
    assert abs(np.mean(offsets)) < 0.01
    assert np.abs(offsets).max() < 0.05


@pytest.mark.parametrize(
    "solid", [upright(LARGE, 130, 90, 31), lying(LARGE, 100, 60, 77), lying(LARGE, 180, 120, 260)]
)
def test_a_piece_covers_pixels_as_many_rays_do(solid):
    """Slow and obvious: 64 rays a pixel, each cut with the planes of all faces.  A white piece on a
    black table.
    """
    black = replace(EVEN, table=Surface("paper", (0.0, 0.0, 0.0), contrast=0.0))
    box = around(solid.vertices_mm)
    drawn = Renderer(OPEN, PLACE).light(Scene(black, (ScenePiece(solid, "white"),)))[
        box[0] : box[1], box[2] : box[3], 1
    ]
    rays, mean = fine(box)
    flat = np.asarray(
        cv2.undistortPoints(
            rays.reshape(-1, 1, 2), np.array(OPEN.camera.matrix), np.array(OPEN.camera.distortion)
        )
    ).reshape(-1, 2)
    directions = np.column_stack([flat, np.ones(len(flat))]) @ PLACE.rotation
    near, far = np.zeros(len(rays)), np.full(len(rays), np.inf)
    for face in ((0, 3, 2), *SIDES):
        a, b, c = solid.vertices_mm[list(face)]
        outward = np.cross(b - a, c - a)
        meets, falls = (a - PLACE.eye_mm) @ outward, directions @ outward
        near = np.where(falls < 0, np.maximum(near, meets / falls), near)
        far = np.where(falls > 0, np.minimum(far, meets / falls), far)
    covered = mean(near < far)
    inside, outside = covered == 1, covered == 0
    assert drawn[outside].max() < 0.05 * drawn[inside].max()
    assert drawn[inside].min() > 0.02
    rim = ~inside & ~outside
    assert (drawn[rim & (covered > 0.1)] > 0).all()
    level = cv2.dilate(np.where(inside, drawn, 0), np.ones((3, 3)))
    area = inside.sum() + np.clip(drawn[rim] / np.maximum(level[rim], 1e-6), 0, 1).sum()
    assert area == pytest.approx(covered.sum(), rel=0.01)


def test_a_piece_moved_by_a_millimetre_moves_in_the_picture_by_as_much():
    black = replace(EVEN, table=Surface("paper", (0.0, 0.0, 0.0), contrast=0.0))
    renderer = Renderer(OPEN, PLACE)

    def drawn(x_mm):
        light = renderer.light(Scene(black, (ScenePiece(upright(LARGE, x_mm, 90, 20), "white"),)))[
            ..., 1
        ]
        v, u = np.mgrid[: light.shape[0], : light.shape[1]]
        bright = light.astype(float) * (np.hypot(u - centre[0], v - centre[1]) < 60)
        return np.array([(bright * u).sum(), (bright * v).sum()]) / bright.sum()

    def truth(x_mm):
        outline = cv2.convexHull(
            project(upright(LARGE, x_mm, 90, 20).vertices_mm, PLACE, OPEN.camera).astype(np.float32)
        )
        moments = cv2.moments(outline)
        return np.array([moments["m10"], moments["m01"]]) / moments["m00"]

    centre = project(np.array([[130.0, 90, 15]]), PLACE, OPEN.camera)[0]
    assert drawn(131.0) - drawn(130.0) == pytest.approx(truth(131.0) - truth(130.0), abs=0.02)


def test_the_same_seed_gives_the_same_picture_and_another_only_other_noise():
    sensor = Sensor()
    scene = Scene(
        replace(LAMPS, sensor=sensor),
        (ScenePiece(upright(LARGE, 100, 80, 12), "green", see_through=True),),
    )
    one, again, other = (
        render(scene, OPEN, PLACE, np.random.default_rng(seed)) for seed in (1, 1, 2)
    )
    assert one.shape == (600, 800, 3)
    assert one.dtype == np.uint8
    assert np.array_equal(one, again)
    difference = one.astype(float) - other
    assert np.abs(difference.mean()) < 0.02
    light = linear(one)[20:120, 200:600, 1]
    expected = np.sqrt(sensor.read_noise**2 + sensor.shot_noise**2 * light.mean())
    seen = (light - linear(other)[20:120, 200:600, 1]).std() / np.sqrt(2)
    assert seen == pytest.approx(expected, rel=0.1)


def test_a_fresh_renderer_draws_what_one_with_a_past_draws():
    pieces = (
        ScenePiece(upright(LARGE, 100, 80, 12), "red", True),
        ScenePiece(lying(LARGE, 170, 60, 200), "blue"),
    )
    arm = reaching_arm(np.array([150.0, 60, 20]), 95.0)
    used = Renderer(OPEN, PLACE)
    moments = [
        Scene(LAMPS, pieces[:1]),
        Scene(LAMPS, pieces, arm),
        Scene(LAMPS, pieces),
        Scene(EVEN, pieces),
        Scene(LAMPS, pieces, arm),
        Scene(LAMPS),
    ]
    for scene in moments:
        fresh = Renderer(OPEN, PLACE).picture(scene, np.random.default_rng(3))
        assert np.array_equal(used.picture(scene, np.random.default_rng(3)), fresh)


def test_one_sees_the_board_through_see_through_plastic_only():
    squares = [(0.02, 0.02, 0.02), (0.7, 0.7, 0.7)]
    piece = upright(CHESS.pieces["large"], 2 * SQUARE, 2 * SQUARE - 9, 45)
    at = np.round(
        project(
            np.array([[2 * SQUARE + side, 2 * SQUARE - 5, 8.0] for side in (-6, 6)]),
            PLACE,
            CHESS.camera,
        )
    ).astype(int)

    def contrast(see_through):
        light = Renderer(CHESS, PLACE).light(
            Scene(
                replace(EVEN, squares=tuple(squares)),
                (ScenePiece(piece, "yellow", see_through, gloss=0.0),),
            )
        )
        patches = [cv2.blur(light, (5, 5))[v, u] for u, v in at]
        return np.abs(patches[0] - patches[1])

    assert contrast(False)[0] < 0.02
    assert contrast(True)[0] > 0.1
    assert contrast(True)[2] < 0.5 * contrast(True)[0], (
        "yellow plastic lets less blue through than red"
    )


def test_grain_bent_light_and_rims_change_how_see_through_plastic_looks_and_not_where_it_is():
    piece = ScenePiece(upright(LARGE, 100, 80, 20), "green", see_through=True, gloss=0.0)
    opaque, plain = (
        Renderer(OPEN, PLACE).light(Scene(EVEN, (one,)))
        for one in (replace(piece, see_through=False), piece)
    )
    bare = Renderer(OPEN, PLACE).light(Scene(EVEN))
    for otherwise in ({"grain": 0.5}, {"bent": 0.6}, {"rims": 0.0}):
        light = Renderer(OPEN, PLACE).light(Scene(EVEN, (replace(piece, **otherwise),)))
        again = Renderer(OPEN, PLACE).light(Scene(EVEN, (replace(piece, **otherwise),)))
        assert np.array_equal(light, again)
        changed = np.abs(light - plain).max(axis=2) > 0.01
        assert changed.sum() > 50
        assert not (changed & (np.abs(opaque - bare).max(axis=2) < 1e-3)).any(), (
            "nothing changes beside the piece and its shadow"
        )
        same = replace(piece, see_through=False, **otherwise)
        assert np.array_equal(Renderer(OPEN, PLACE).light(Scene(EVEN, (same,))), opaque), (
            "opaque plastic has none of it"
        )


def test_shadows_fall_away_from_the_lamp_and_are_lighter_under_see_through_plastic():
    solid = upright(LARGE, 100, 80, 0)
    at = [
        np.round(project(np.array([[x, y, 0.0]]), PLACE, OPEN.camera)[0]).astype(int)
        for x, y in ((100, 60), (100, 105))
    ]
    near_lamp = Lamp((100.0, 600.0, 500.0), 0.9, radius_mm=10.0)
    stage = replace(LAMPS, lamps=(near_lamp,))

    def shaded(*pieces):
        light = Renderer(OPEN, PLACE).light(Scene(stage, pieces))
        return [light[v - 3 : v + 4, u - 3 : u + 4].mean() for u, v in at]

    bare, opaque, through = (
        shaded(),
        shaded(ScenePiece(solid, "white")),
        shaded(ScenePiece(solid, "clear", True)),
    )
    assert opaque[0] < 0.6 * bare[0]
    assert opaque[0] < through[0] < bare[0]
    assert opaque[1] > 0.8 * bare[1]


def test_a_shadow_covers_what_a_small_lamp_cannot_see():
    """Its area and its middle against the hull of the corners thrown on the table from the lamp's
    middle.
    """
    solid, lamp = lying(LARGE, 100, 80, 33), Lamp((300.0, 400.0, 500.0), 0.9, radius_mm=1.0)
    corners = solid.vertices_mm
    thrown = (
        np.array(lamp.at_mm)
        + (corners - lamp.at_mm) * (lamp.at_mm[2] / (lamp.at_mm[2] - corners[:, 2]))[:, None]
    )
    hull = cv2.moments(cv2.convexHull(thrown[:, :2].astype(np.float32)))
    shadow = shadow_of(corners, replace(LAMPS, lamps=(lamp,), ambient=0.0), 0.0)
    lost = shadow.lost[..., 1].astype(float)
    assert lost.max() == pytest.approx(1.0, abs=0.01)
    assert lost.sum() * shadow.texel_mm**2 == pytest.approx(hull["m00"], rel=0.02)
    rows, columns = np.mgrid[: lost.shape[0], : lost.shape[1]]
    middle = (
        shadow.corner_mm
        + shadow.texel_mm * np.array([(lost * columns).sum(), (lost * rows).sum()]) / lost.sum()
    )
    assert middle == pytest.approx(np.array([hull["m10"], hull["m01"]]) / hull["m00"], abs=0.15)


def test_see_through_plastic_tints_its_shadow():
    solid, beside = (
        upright(LARGE, 100, 80, 0),
        np.round(project(np.array([[100.0, 63.0, 0.0]]), PLACE, OPEN.camera)[0]).astype(int),
    )
    light = Renderer(OPEN, PLACE).light(Scene(LAMPS, (ScenePiece(solid, "red", True),)))
    shade = light[beside[1] - 2 : beside[1] + 3, beside[0] - 2 : beside[0] + 3].mean(axis=(0, 1))
    assert shade[0] > 1.2 * shade[1]


def test_polished_faces_mirror_the_ground_and_rough_ones_do_not():
    solid = upright(LARGE, 130, 90, 31)
    spot = np.round(
        project(solid.vertices_mm[[0, 1, 4]].mean(axis=0)[None], PLACE, OPEN.camera)[0]
    ).astype(int)

    def seen(ground, gloss):
        stage = replace(EVEN, table=Surface("paper", ground, contrast=0.0))
        return Renderer(OPEN, PLACE).light(
            Scene(stage, (ScenePiece(solid, "black", gloss=gloss),))
        )[spot[1], spot[0]]

    green, grey = (0.05, 0.6, 0.05), (0.2333, 0.2333, 0.2333)
    assert seen(green, 1.0)[1] > 1.3 * seen(grey, 1.0)[1]
    assert seen(green, 0.0)[1] < 1.2 * seen(grey, 0.0)[1]


def test_pieces_hide_what_is_behind_them_in_whatever_order_they_are_named():
    lower, upper = upright(LARGE, 100, 80, 0), on_top(LARGE, upright(LARGE, 100, 80, 0), 30)
    apart = lying(LARGE, 100, 110, 270)
    pieces = [ScenePiece(lower, "red"), ScenePiece(upper, "blue"), ScenePiece(apart, "white")]
    first = Renderer(OPEN, PLACE).light(Scene(EVEN, tuple(pieces)))
    assert np.allclose(
        first, Renderer(OPEN, PLACE).light(Scene(EVEN, tuple(pieces[::-1]))), atol=1e-5
    )
    u, v = np.round(project(upper.tip_mm[None] - (0, 0, 8.0), PLACE, OPEN.camera)[0]).astype(int)
    assert first[v, u].argmax() == 2, "the blue piece on top hides the red one"


def test_a_limb_covers_what_is_under_it():
    limb = Limb((120.0, 80.0, 60.0), (120.0, -300.0, 90.0), 25.0, 35.0, (0.5, 0.3, 0.2))
    light = Renderer(OPEN, PLACE).light(Scene(EVEN, (), (limb,)))
    u, v = np.round(project(np.array([[120.0, 70.0, 85.0]]), PLACE, OPEN.camera)[0]).astype(int)
    assert light[v, u, 0] > 1.3 * light[v, u, 1]
    assert light[20, 20, 0] == pytest.approx(light[20, 20, 1], rel=0.02)


@pytest.mark.parametrize("kind", ["boule", "storm"])
def test_thrown_pieces_never_share_space(kind):
    for seed in range(12):
        case = random_case(kind, seed)
        placed = [place for place in case.placed if not place.on_target]
        for index, a in enumerate(placed):
            low = a.piece.solid.vertices_mm[:, 2].min()
            assert low == pytest.approx(
                (
                    0.0
                    if a.role in ("target", "projectile", "thrown", "reserve")
                    else case.setup.fiducials.z_mm - 0.15
                ),
                abs=1e-6,
            )
            for b in placed[index + 1 :]:
                assert clearance(a.piece.solid, b.piece.solid).mm > 0.005, (kind, seed, a, b)


def test_leaning_pieces_rest_on_the_table_and_on_another():
    leaning = 0
    for seed in range(40):
        case = random_case("storm", seed)
        for place in case.placed:
            if place.pose == "leaning":
                leaning += 1
                others = [other.piece.solid for other in case.placed if other is not place]
                assert min(clearance(place.piece.solid, other).mm for other in others) < 0.1
                assert np.sort(place.piece.solid.vertices_mm[:, 2])[:2] == pytest.approx(
                    [0.0, 0.0], abs=1e-6
                )
                assert place.piece.solid.tip_mm[2] > 1.0
    assert leaning >= 5


def test_a_case_has_the_benchmarks_layout(tmp_path):
    write_case(tmp_path / "boule-0003", "boule", 3)
    setup = load_table(tmp_path / "boule-0003" / "table.json")
    for name in ("image.jpg", "empty.jpg"):
        read_image(tmp_path / "boule-0003" / name, setup)
    truth = json.loads((tmp_path / "boule-0003" / "truth.json").read_text())
    assert {
        "kind",
        "seed",
        "camera_pose",
        "pieces",
        "off_board",
        "covered_fiducials",
        "counters",
        "gaps",
    } == truth.keys()
    assert {
        "colour",
        "size",
        "pose",
        "base_mm",
        "tip_mm",
        "heading_deg",
        "footprint_mm",
        "vertices_mm",
        "role",
    } <= truth["pieces"][0].keys()
    assert len(truth["gaps"]) == sum(piece["role"] == "projectile" for piece in truth["pieces"])


def test_cases_are_the_same_for_the_same_seed_and_differ_otherwise():
    documents = [json.dumps(truth_document(random_case("boule", seed))) for seed in (5, 5, 6)]
    assert documents[0] == documents[1] != documents[2]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: ScenePiece(upright(LARGE, 0, 0, 0), "mauve"),
            r"expected a colour \(red, .*got 'mauve'",
        ),
        (
            lambda: ScenePiece(upright(LARGE, float("nan"), 0, 0), "red"),
            "expected five finite vertices in mm",
        ),
        (
            lambda: look_at(np.zeros(3), np.zeros(3)),
            "expected the eye and its target in different places",
        ),
        (
            lambda: random_case("chess", 1),
            "expected boule, storm, zamboni, icebreaker or icefloe, got 'chess'",
        ),
    ],
)
def test_what_cannot_be_drawn_is_said_in_one_line(make, message):
    with pytest.raises(InputError, match=message) as error:
        make()
    assert "\n" not in str(error.value)
