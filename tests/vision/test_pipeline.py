"""Reading one photograph after the other says what reading each alone says."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import numpy as np
import pytest

from simulation.generate.cases import random_case
from simulation.render.renderer import Renderer
from simulation.render.scene import Scene, ScenePiece, look_at
from simulation.tables import game_table
from table.solids import lying
from vision.cameras.frame import Frame
from vision.geometry.rectified_view import Photo
from vision.localization.fiducials import locate
from vision.networks.detector import DISC, search, view_of
from vision.observe import observe
from vision.pipeline import TableReader

pytestmark = pytest.mark.slow


def photo_of(case, pieces, seed, camera=None):
    camera = camera or case.camera
    picture = Renderer(case.setup, camera).picture(
        replace(case.scene(), pieces=tuple(pieces), limbs=()), np.random.default_rng(seed)
    )
    return Photo(picture, locate(picture, case.setup), case.setup)


def rounded_pieces(read):
    return sorted(
        (
            round(one.guess.x_mm),
            round(one.guess.y_mm),
            one.guess.pose,
            one.guess.size.name,
            int(one.chances.argmax()),
        )
        for one in read.pieces
    )


def places(read):
    return np.array([one.guess.solid.vertices_mm.mean(axis=0) for one in read.pieces])


@pytest.fixture(
    scope="module", params=[("storm", 60004), ("icebreaker", 60000)], ids=lambda made: made[0]
)
def film(request):
    """A table, the same once more, one with a piece less, and that with the piece back."""
    case = random_case(*request.param)
    pieces = case.scene().pieces
    gone = next(k for k, place in enumerate(case.layout.placed) if place.pose != "leaning")
    fewer = [piece for k, piece in enumerate(pieces) if k != gone]
    return [
        photo_of(case, *shown) for shown in ((pieces, 1), (pieces, 2), (fewer, 3), (pieces, 4))
    ], pieces[gone]


def test_a_film_is_read_as_its_pictures_are(film):
    photos, _ = film
    reader = TableReader()
    for photo in photos:
        quick, alone = reader(photo), TableReader()(photo)
        assert len(quick.pieces) == len(alone.pieces)
        away = np.linalg.norm(places(quick)[:, None] - places(alone)[None], axis=2)
        assert away.min(axis=1).max() < 1.5
        assert len(quick.unread_mm) == len(alone.unread_mm)


def test_what_lies_still_is_told_as_it_was_and_what_changes_is_seen(film):
    photos, gone = film
    reader = TableReader()
    first, again, fewer, back = (reader(photo) for photo in photos)
    assert set(rounded_pieces(first)) >= set(rounded_pieces(again))
    still = {one.guess for one in first.pieces} & {one.guess for one in fewer.pieces}
    assert len(still) >= len(first.pieces) // 2, (
        "what lies far from the change is not measured again"
    )
    middle = gone.solid.vertices_mm.mean(axis=0)
    reach = 0.5 * np.linalg.norm(gone.solid.vertices_mm[1] - gone.solid.vertices_mm[0])
    there = [
        bool((np.linalg.norm(places(read) - middle, axis=1) < reach).any())
        for read in (first, fewer, back)
    ]
    assert there == [True, False, True]


def test_after_the_camera_has_moved_everything_is_measured_anew():
    case = random_case("boule", 60001)
    pieces = case.scene().pieces
    eye = case.camera.eye_mm
    ahead = eye[:2] - eye[2] / case.camera.rotation[2, 2] * case.camera.rotation[2, :2]
    nudged = look_at(eye + np.array([6.0, -4.0, 3.0]), np.array([*ahead, 0.0]), 0.0)
    reader = TableReader()
    first, second = (
        reader(photo_of(case, pieces, 5, camera))
        for camera in (look_at(eye, np.array([*ahead, 0.0]), 0.0), nudged)
    )
    assert len(first.pieces) == len(second.pieces) > 0
    assert not {one.guess for one in first.pieces} & {one.guess for one in second.pieces}


def test_the_detector_finds_in_windows_what_it_finds_in_the_whole_view(film):
    (first, _, fewer, _), _ = film
    colours = first.setup.colours
    before = search(view_of(first), colours)
    quick, whole = search(view_of(fewer), colours, before), search(view_of(fewer), colours)
    assert 0 < quick.fresh.mean() < 0.3
    assert (quick.answer != before.answer).any()
    likely = whole.answer[:DISC] > 0.5
    assert ((quick.answer[:DISC] > 0.5) == likely).mean() > 0.9999
    assert np.abs(quick.answer[:DISC] - whole.answer[:DISC])[likely].max() < 0.2
    assert (quick.pieces == whole.pieces).mean() > 0.99


def test_what_changes_little_by_little_is_seen_in_the_end(film):
    (first, _, fewer, _), gone = film
    reader = TableReader()
    for share in np.linspace(0, 1, 9):
        mixed = np.rint((1 - share) * first.image + share * fewer.image).astype(np.uint8)
        read = reader(replace(first, image=mixed))
    middle = gone.solid.vertices_mm.mean(axis=0)
    assert np.linalg.norm(places(read) - middle, axis=1).min() > 0.5 * np.linalg.norm(
        gone.solid.vertices_mm[1] - gone.solid.vertices_mm[0]
    )


def test_a_piece_whose_tip_is_behind_another_is_read_as_it_lies():
    """The keypoints are those of a piece that lies across; the verification rejects that."""
    table = game_table("ice_storm", 24)
    (size,) = table.setup.sizes
    pieces = (
        ScenePiece(lying(size, 186.0, 162.0, 350.0), "orange"),
        ScenePiece(lying(size, 207.0, 133.0, 3.0), "blue"),
    )
    picture = Renderer(table.setup, table.place).picture(
        Scene(table.stage, pieces), np.random.default_rng(4)
    )
    seen = {
        piece.colour: piece
        for piece in observe(Frame(1, 0, picture), table.setup, table.empty).pieces
    }
    assert {
        colour: (piece.pose, round(piece.heading_deg / 5)) for colour, piece in seen.items()
    } == {"orange": ("lying", 70), "blue": ("lying", 1)}


def test_a_thing_whose_light_is_none_of_the_tables_colours_is_unread():
    table = game_table("ice_storm", 24)
    (size,) = table.setup.sizes
    lime = ScenePiece(lying(size, 186.0, 162.0, 350.0), "green", dye=(0.35, 0.75, 0.03))
    picture = Renderer(table.setup, table.place).picture(
        Scene(table.stage, (lime,)), np.random.default_rng(4)
    )
    game = msgspec.structs.replace(table.setup.game, colours=("red", "blue", "white"))
    seen = observe(Frame(1, 0, picture), msgspec.structs.replace(table.setup, game=game))
    assert seen.pieces == ()
    (unread_mm,) = seen.unread_mm
    assert np.hypot(*(unread_mm - lime.solid.vertices_mm[:, :2].mean(axis=0))) < 15


def test_what_is_hardly_a_piece_is_unread():
    """A printed sign, half under two pieces, which no size and pose of a piece explains."""
    case = random_case("icefloe", 97007)
    picture = Renderer(case.setup, case.camera).picture(case.scene(), np.random.default_rng(1))
    seen = observe(Frame(1, 0, picture), case.setup)
    sign_mm = np.array([188.0, 186.0])
    solids = [place.piece.solid for place in case.layout.placed]
    assert min(np.hypot(*(one.vertices_mm[4, :2] - sign_mm)) for one in solids) > 10
    assert all(np.hypot(*(piece.base_mm - sign_mm)) > 10 for piece in seen.pieces)
    assert any(np.hypot(*(place - sign_mm)) < 10 for place in seen.unread_mm)
