"""Photographs in, pieces out: on made-up cases with exact truth, on empty tables, and on pictures
of nothing.
"""

from __future__ import annotations

import json
from dataclasses import replace

import cv2
import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from simulation.generate.cases import random_case, resized, truth_document
from simulation.generate.throws import Thrower, is_clear_of_cards
from simulation.render.ground import table_z_mm
from simulation.render.renderer import Renderer
from simulation.render.scene import Scene, look_at
from table.observation import Observation, Unusable, observation_document
from table.solids import lying
from table.table_config import load_table
from tests.support.paths import SHARED
from vision.background.residuals import RIM_CELLS, unexplained_places
from vision.cameras.frame import Frame
from vision.cameras.image_files import read_image
from vision.change_gate import MOST_REREADS, Watch
from vision.geometry.piece_pose import Hypothesis
from vision.geometry.rectified_view import Photo
from vision.networks.detector import search, view_of
from vision.observe import observe

pytestmark = pytest.mark.slow

BENCH = SHARED / "bench" / "cases"


def drawn(kind, seed, empty=False):
    case = random_case(kind, seed)
    scene = Scene(case.stage) if empty else case.scene()
    return case, Frame(
        0, 0, Renderer(case.setup, case.camera).picture(scene, np.random.default_rng(seed))
    )


def pairs(truth_mm, seen_mm):
    apart = np.hypot(*(np.array(truth_mm)[:, None] - np.array(seen_mm)[None]).transpose(2, 0, 1))
    rows, columns = linear_sum_assignment(apart)
    return [(i, j, apart[i, j]) for i, j in zip(rows, columns, strict=True)]


@pytest.fixture(
    scope="module",
    params=[("boule", 9101), ("storm", 9102)],
    ids=lambda made: f"{made[0]}-{made[1]}",
)
def read(request):
    case, frame = drawn(*request.param)
    return case, frame, observe(frame, case.setup)


def test_a_made_up_table_is_read_right(read):
    case, _, seen = read
    truth = truth_document(case)["pieces"]
    assert isinstance(seen, Observation)
    plan = [np.mean(np.array(piece["vertices_mm"])[:, :2], axis=0) for piece in truth]
    got = [piece.solid.vertices_mm[:, :2].mean(axis=0) for piece in seen.pieces]
    matched = [(i, j) for i, j, apart in pairs(plan, got) if apart < 8]
    assert len(matched) >= 0.95 * len(truth)
    assert len(seen.pieces) <= len(truth) + 1
    flat = [(i, j) for i, j in matched if truth[i]["pose"] != "leaning"]
    right = [
        tuple(truth[i][key] == getattr(seen.pieces[j], key) for key in ("colour", "size", "pose"))
        == (True,) * 3
        for i, j in flat
    ]
    assert np.mean(right) >= 0.95
    errors = [
        float(np.hypot(*(seen.pieces[j].base_mm - truth[i]["base_mm"])))
        for (i, j), ok in zip(flat, right, strict=True)
        if ok
    ]
    assert np.median(errors) < 0.5


def test_what_no_piece_explains_is_told(read):
    """Take one piece away from what was read: what lies there is something unread, there and
    nowhere else.
    """
    case, frame, seen = read
    photo = Photo(frame.image, seen.camera, case.setup)
    sight = search(view_of(photo), case.setup.colours)
    guesses = [
        Hypothesis(size_of(case, one), one.pose, *one.base_mm, one.heading_deg)
        for one in seen.pieces + seen.off_board
        if one.pose != "leaning"
    ]
    unexplained = {tuple(place) for place in unexplained_places(sight, guesses, photo)}
    found = 0
    for k in range(min(4, len(seen.pieces))):
        more = [
            place
            for place in unexplained_places(sight, guesses[:k] + guesses[k + 1 :], photo)
            if tuple(place) not in unexplained
        ]
        found += len(more)
        assert len(more) <= 1
        assert all(
            np.hypot(*(place - guesses[k].solid.vertices_mm[:, :2].mean(axis=0)))
            < guesses[k].size.slant_mm
            for place in more
        )
    assert found >= 2


def test_the_rim_of_a_shadow_is_nothing_unread(read):
    case, frame, seen = read
    photo = Photo(frame.image, seen.camera, case.setup)
    sight = search(view_of(photo), case.setup.colours)

    def unread_count(width, rim_cells):
        cells = np.zeros_like(sight.pieces)
        cells[5 : 5 + width, 4:28] = True
        cells[5:29, 4 : 4 + width] = True
        return len(unexplained_places(replace(sight, pieces=cells), [], photo, rim_cells))

    assert [unread_count(1, 0), unread_count(1, RIM_CELLS), unread_count(2, RIM_CELLS)] == [1, 0, 1]


def size_of(case, piece):
    return next(size for size in case.setup.sizes if size.name == piece.size)


def test_every_piece_carries_an_honest_looking_covariance(read):
    _, _, seen = read
    for piece in seen.pieces:
        assert np.allclose(piece.covariance, piece.covariance.T)
        assert np.linalg.eigvalsh(piece.covariance[:2, :2]).min() > 0.03**2
        assert piece.covariance[2, 2] > 0
        assert 0 < piece.colour_probability <= 1
        assert 0 < piece.pose_probability <= 1


def test_the_document_is_plain_json(read):
    _, _, seen = read
    document = json.loads(json.dumps(observation_document(seen), allow_nan=False))
    assert document["format"] == "rinkside-observation/1"
    assert len(document["pieces"]) == len(seen.pieces)


def test_reading_twice_says_the_same(read):
    case, frame, seen = read
    again = observe(frame, case.setup)
    assert observation_document(again) == observation_document(seen)


@pytest.mark.parametrize("kind", ["boule", "storm"])
def test_an_empty_table_has_no_pieces(kind):
    case, frame = drawn(kind, 9107, empty=True)
    seen = observe(frame, case.setup)
    assert isinstance(seen, Observation)
    assert seen.pieces == ()


def test_the_picture_of_the_empty_table_may_be_given(read):
    case, frame, seen = read
    bare = Frame(
        0, 0, Renderer(case.setup, case.camera).picture(Scene(case.stage), np.random.default_rng(7))
    )
    helped = observe(frame, case.setup, bare)
    assert isinstance(helped, Observation)
    assert abs(len(helped.pieces) - len(seen.pieces)) <= 1


def nothing(kind, shape, rng):
    if kind == "noise":
        return rng.integers(0, 256, shape, dtype=np.uint8)
    if kind == "black":
        return np.zeros(shape, np.uint8)
    slope = np.linspace(0, 255, shape[1], dtype=np.uint8)
    return np.broadcast_to(slope[None, :, None], shape).copy()


@pytest.mark.parametrize("kind", ["noise", "black", "slope"])
def test_a_picture_of_nothing_is_unusable_with_the_reason(kind):
    setup = random_case("boule", 9101).setup
    image = nothing(kind, (setup.camera.height, setup.camera.width, 3), np.random.default_rng(1))
    seen = observe(Frame(3, 40, image), setup)
    assert isinstance(seen, Unusable)
    assert not seen
    assert (seen.frame_seq, seen.at_ms) == (3, 40)
    assert "marker" in seen.reason


def test_a_picture_of_another_size_is_unusable():
    setup = random_case("boule", 9101).setup
    seen = observe(Frame(0, 0, np.zeros((480, 640, 3), np.uint8)), setup)
    assert isinstance(seen, Unusable)
    assert "640x480" in seen.reason
    assert f"{setup.camera.width}x{setup.camera.height}" in seen.reason


def test_watching_reads_a_resting_table_once(read):
    case, frame, _ = read
    rng = np.random.default_rng(11)
    reads = []

    def noisy(k):
        image = frame.image.astype(np.int16) + rng.normal(0, 1.5, frame.image.shape).round().astype(
            np.int16
        )
        return Frame(k, 250 * k, np.clip(image, 0, 255).astype(np.uint8))

    watch = Watch()
    for k in range(MOST_REREADS + 3):
        reads.append(watch(noisy(k), case.setup))
    assert all(isinstance(one, Observation) for one in reads)
    assert all(one.pieces is reads[-1].pieces for one in reads[MOST_REREADS:])
    assert [one.at_ms for one in reads] == [0, 250, 500, 750, 1000]
    covered = noisy(5)
    cv2.circle(
        covered.image,
        (covered.image.shape[1] // 2, covered.image.shape[0] // 2),
        80,
        (180, 120, 90),
        -1,
    )
    moving = watch(covered, case.setup)
    assert isinstance(moving, Observation)
    assert moving.moving
    assert moving.pieces is reads[-1].pieces
    back = watch(noisy(6), case.setup)
    assert not back.moving
    assert back.pieces is reads[-1].pieces
    watch(Frame(7, 1750, covered.image), case.setup)
    rests = watch(Frame(8, 2000, covered.image), case.setup)
    assert (rests.moving, rests.still_ms, rests.at_ms) == (False, 250, 2000), (
        "it is read one picture after it came to rest"
    )


def test_a_camera_that_moved_between_two_readings_is_noticed():
    case = random_case("icebreaker", 60001)
    eye = case.camera.eye_mm
    target = np.array(
        [*(eye[:2] - eye[2] / case.camera.rotation[2, 2] * case.camera.rotation[2, :2]), 0.0]
    )
    watch, notes = Watch(), []
    for k, away in enumerate([np.zeros(3), np.array([9.0, 0.0, 12.0]), np.array([9.0, 0.0, 12.0])]):
        camera = look_at(eye + away, target)
        frame = Frame(
            k,
            1000 * k,
            Renderer(case.setup, camera).picture(Scene(case.stage), np.random.default_rng(k)),
        )
        watch(frame, case.setup)
        seen = watch(frame, case.setup)
        assert isinstance(seen, Observation)
        notes.append([note for note in seen.notes if "camera" in note])
    assert notes[0] == []
    assert notes[1] == ["the camera has moved 2.3 mm over the board since the last reading"]


@pytest.mark.skipif(not BENCH.is_dir(), reason="the photographs of ../shared/bench are not here")
@pytest.mark.parametrize("name", ["boule-0005", "boule-0006", "boule-0007"])
def test_photographs_that_this_project_did_not_draw(name):
    setup = load_table(BENCH / name / "table.json")
    truth = json.loads((BENCH / name / "truth.json").read_text())["pieces"]
    seen = observe(read_image(BENCH / name / "image.jpg", setup), setup)
    assert isinstance(seen, Observation)
    assert sorted((p["colour"], p["size"], p["pose"]) for p in truth) == sorted(
        (p.colour, p.size, p.pose) for p in seen.pieces
    )
    errors = [
        apart
        for _, _, apart in pairs([p["base_mm"] for p in truth], [p.base_mm for p in seen.pieces])
    ]
    assert np.median(errors) < 0.3
    standing = [(p.colour, seen.pieces[p.on].colour) for p in seen.pieces if p.on is not None]
    assert standing == [(p["colour"], setup.game.target) for p in truth if p.get("on") == "target"]


@pytest.mark.parametrize(("kind", "seed"), [("boule", 91001), ("storm", 91010)])
def test_one_that_lies_with_its_base_to_the_camera_is_not_taken_for_one_that_stands(kind, seed):
    case, frame = drawn(kind, seed)
    seen = observe(frame, case.setup)
    truth = truth_document(case)["pieces"]
    plan = [np.mean(np.array(piece["vertices_mm"])[:, :2], axis=0) for piece in truth]
    matched = [
        (i, j)
        for i, j, apart in pairs(
            plan, [piece.solid.vertices_mm[:, :2].mean(axis=0) for piece in seen.pieces]
        )
        if apart < 8
    ]
    assert not [
        (i, j)
        for i, j in matched
        if (truth[i]["pose"], seen.pieces[j].pose) == ("lying", "upright")
    ]


def test_a_throw_that_rolled_far_off_the_chessboard_is_seen():
    case, _ = drawn("storm", 9102, empty=True)
    thrower, (low, high) = (
        Thrower(case.setup, np.random.default_rng(3)),
        (corner(case.setup.outline_mm(), axis=0) for corner in (np.min, np.max)),
    )
    spots = [
        np.array([low[0] + (high[0] - low[0]) * share, high[1] + 72.0])
        for share in (0.2, 0.35, 0.5, 0.65, 0.8)
    ]
    spot = next(
        spot for spot in spots if is_clear_of_cards(case.setup, spot, thrower.size.slant_mm)
    )
    solid = lying(thrower.size, *spot, 30.0, table_z_mm(case.setup))
    colour = case.setup.colours[0]
    picture = Renderer(case.setup, case.camera).picture(
        Scene(case.stage, (thrower.piece(colour, solid, thrower.size),)), np.random.default_rng(3)
    )
    seen = observe(Frame(0, 0, picture), case.setup)
    assert isinstance(seen, Observation)
    assert [piece.colour for piece in seen.off_board] == [colour]
    assert np.hypot(*(seen.off_board[0].base_mm - spot)) < 5.0, (
        "it lies lower than the board that it is measured on"
    )


@pytest.mark.parametrize("seed", [78002, 78023])
def test_what_only_its_left_over_parts_told_of_is_looked_at_from_all_sides(seed):
    """One look at a part may take a piece that lies for one that stands, or see another one beside
    it.
    """
    case = random_case("storm", seed)
    setup = resized(case.setup, 1640)
    seen = observe(
        Frame(0, 0, Renderer(setup, case.camera).picture(case.scene(), np.random.default_rng(2))),
        setup,
    )
    truth = {(piece["pose"], piece["colour"]): [] for piece in truth_document(case)["pieces"]}
    for piece in truth_document(case)["pieces"]:
        truth[piece["pose"], piece["colour"]].append(
            np.mean(np.array(piece["vertices_mm"])[:, :2], axis=0)
        )
    wrong = [
        str(piece)
        for piece in seen.pieces
        if min(
            np.hypot(*(piece.solid.vertices_mm[:, :2].mean(axis=0) - at))
            for at in truth.get((piece.pose, piece.colour), [[1e6, 0]])
        )
        > 5
    ]
    assert not wrong


@pytest.mark.parametrize("quality", [None, 40])
def test_a_picture_without_colours_is_refused_and_not_read_in_wrong_ones(quality):
    case, frame = drawn("boule", 9101)
    grey = cv2.cvtColor(cv2.cvtColor(frame.image, cv2.COLOR_RGB2GRAY), cv2.COLOR_GRAY2RGB)
    if quality:
        _, code = cv2.imencode(".jpg", grey, [cv2.IMWRITE_JPEG_QUALITY, quality])
        grey = cv2.imdecode(code, cv2.IMREAD_COLOR)
    seen = observe(Frame(0, 0, grey), case.setup)
    assert isinstance(seen, Unusable)
    assert seen.reason.startswith("the picture has no colours")


def test_a_play_area_that_is_burnt_out_is_said():
    case, frame = drawn("boule", 9101)
    seen = observe(frame, case.setup)
    assert not any("too bright" in note for note in seen.notes)
    lit = np.clip(frame.image * 4.0, 0, 255).astype(np.uint8)
    (note,) = [note for note in observe(Frame(0, 0, lit), case.setup).notes if "too bright" in note]
    assert "percent of the play area" in note


def test_a_hardly_lit_picture_keeps_its_colours():
    case, frame = drawn("boule", 9101)
    seen = observe(Frame(0, 0, (frame.image * 0.3).astype(np.uint8)), case.setup)
    assert isinstance(seen, Observation)
