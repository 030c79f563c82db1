"""What stood there when the table was called empty is part of the table."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import numpy as np
import pytest

from simulation.generate.cases import random_case
from simulation.render.renderer import Renderer
from simulation.render.scene import Scene, ScenePiece
from simulation.tables import game_table
from table.observation import Observation
from table.solids import lying
from table.table_config import CoverDice
from vision.background.background_model import (
    EmptyTable,
    empty_table,
    weigh_by_change,
    without_unchanged,
)
from vision.cameras.frame import Frame
from vision.geometry.rectified_view import Photo
from vision.localization.fiducials import locate
from vision.networks.detector import search, view_of
from vision.observe import observe
from vision.pipeline import propose_candidates

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("kind", ["boule", "icebreaker"])
def test_what_was_there_before_play_is_no_piece_and_what_came_is(kind):
    case = random_case(kind, 60000)
    pieces = case.scene().pieces
    scenes = [
        replace(case.scene(), pieces=pieces[:count], limbs=())
        for count in (len(pieces) // 2, len(pieces))
    ]
    before, after = (
        Frame(0, 0, Renderer(case.setup, case.camera).picture(scene, np.random.default_rng(k)))
        for k, scene in enumerate(scenes)
    )
    plain, same, helped = (
        observe(after, case.setup),
        observe(before, case.setup, before),
        observe(after, case.setup, before),
    )
    assert all(isinstance(one, Observation) for one in (plain, same, helped))
    assert (same.pieces, same.off_board, same.unread_mm) == ((), (), ())
    new = len(plain.pieces) + len(plain.off_board) - len(helped.pieces) - len(helped.off_board)
    assert abs(new - len(scenes[0].pieces)) <= 1


def test_a_reference_of_another_size_is_not_used():
    case = random_case("boule", 60000)
    frame = Frame(
        0, 0, Renderer(case.setup, case.camera).picture(case.scene(), np.random.default_rng(0))
    )
    small = Frame(0, 0, frame.image[:100, :100])
    with_it, without = observe(frame, case.setup, small), observe(frame, case.setup)
    assert len(with_it.pieces) == len(without.pieces) > 0


def test_what_looked_like_an_arm_on_the_empty_table_is_no_hand():
    case = random_case("boule", 60000)
    empty, played = (
        Renderer(case.setup, case.camera).picture(
            replace(case.scene(), pieces=pieces, limbs=()), np.random.default_rng(k)
        )
        for k, pieces in enumerate(((), case.scene().pieces))
    )
    photo = Photo(played, locate(played, case.setup), case.setup)
    sight = search(view_of(photo), case.setup.colours)
    everywhere = replace(sight, arms=np.ones_like(sight.arms))
    before = empty_table(Frame(0, 0, empty), photo)
    seen = without_unchanged(everywhere, before)
    assert 0 < seen.arms.mean() < 0.3, "arms are left only where something has changed"


def test_a_disc_that_hardly_differs_from_the_ground_is_seen_where_the_empty_table_had_none():
    case = random_case("icebreaker", 60000)
    picture = Renderer(case.setup, case.camera).picture(case.scene(), np.random.default_rng(0))
    photo = Photo(picture, locate(picture, case.setup), case.setup)
    sight = search(view_of(photo), case.setup.colours)
    discs = tuple(one for one in sight.objects if one.is_disc)
    assert len(discs) > 5
    assert without_unchanged(sight, EmptyTable(photo, sight.view.code)).objects == discs
    assert (
        without_unchanged(sight, EmptyTable(photo, sight.view.code, discs[2:])).objects == discs[:2]
    )


def test_a_piece_is_surer_where_it_hides_what_has_changed():
    case = random_case("icebreaker", 60000)
    scene, renderer = replace(case.scene(), limbs=()), Renderer(case.setup, case.camera)
    empty, played = (
        renderer.picture(one, np.random.default_rng(0))
        for one in (replace(scene, pieces=()), scene)
    )
    photo = Photo(played, locate(played, case.setup), case.setup)
    plain = search(view_of(photo), case.setup.colours)
    sight = without_unchanged(plain, empty_table(Frame(0, 0, empty), photo))
    doubtful = [replace(one, chance=0.5) for one in propose_candidates(plain, photo)]
    assert len(doubtful) >= 4

    def chances(laid, known=(), sight=sight, photo=photo):
        return [one.chance for one in weigh_by_change(laid, known, sight, photo)]

    assert min(chances(doubtful)) > 0.9
    assert (
        chances(doubtful, known=doubtful) == chances(doubtful, sight=plain) == [0.5] * len(doubtful)
    ), "it is known, or nobody saw the empty table"
    assert chances(doubtful, sight=replace(sight, changed=np.zeros_like(sight.changed))) == [
        0.5
    ] * len(doubtful), "nothing has changed"
    assert chances(doubtful, sight=replace(sight, arms=np.ones_like(sight.arms))) == [0.5] * len(
        doubtful
    ), "an arm has changed it"
    dice = msgspec.structs.replace(case.setup, cover_dice=CoverDice())
    assert chances(doubtful, photo=replace(photo, setup=dice)) == [0.5] * len(doubtful), (
        "it may be a die"
    )
    again = [doubtful[0], replace(doubtful[0], chance=0.4)]
    assert chances(again)[1] == pytest.approx(0.4), "the surer one explains it"


def test_a_shadow_speaks_against_a_piece_that_would_look_otherwise():
    case = random_case("icebreaker", 60000)
    scene, renderer = replace(case.scene(), limbs=()), Renderer(case.setup, case.camera)
    empty, played = (
        renderer.picture(one, np.random.default_rng(0))
        for one in (replace(scene, pieces=()), scene)
    )
    photo = Photo(played, locate(played, case.setup), case.setup)
    sight = without_unchanged(
        search(view_of(photo), case.setup.colours), empty_table(Frame(0, 0, empty), photo)
    )
    laid, *_ = propose_candidates(sight, photo)
    shade = np.ones_like(sight.shaded)

    def chance(colour, level=None, shaded=shade):
        colours = (*dict.fromkeys((colour, "black", "clear", "red")),)
        game = msgspec.structs.replace(case.setup.game, colours=colours)
        photo_of_it = replace(photo, setup=msgspec.structs.replace(case.setup, game=game))
        chances = np.array([float(name == colour) for name in colours])
        code = sight.view.code if level is None else np.full_like(sight.view.code, level)
        seen = replace(sight, shaded=shaded, view=replace(sight.view, code=code))
        doubtful = replace(laid, keypoints=replace(laid.keypoints, colours=chances), chance=0.5)
        one = weigh_by_change([doubtful], (), seen, photo_of_it)
        return one[0].chance if one else 0.0

    assert min(chance(colour, shaded=~shade) for colour in ("red", "white", "black", "clear")) > 0.9
    assert chance("red") == chance("black", level=150) == 0.0, (
        "it is so unlikely that it is left out"
    )
    assert chance("white") == 0.5, "white pieces on white squares are as shadows are"
    assert (
        min(chance("black", level=50), chance("black", level=120), chance("clear", level=150)) > 0.9
    )


BESIDE_SHADOWS = (
    (12, (("green", 186.5, 213.2, 222.8),)),
    (
        12,
        (
            ("purple", 254.8, 197.5, 35.4),
            ("green", 264.3, 254.0, 327.1),
            ("orange", 252.0, 228.0, 165.0),
        ),
    ),
    (
        14,
        (
            ("white", 73.8, 285.3, 37.5),
            ("white", 113.5, 231.0, 237.0),
            ("red", 95.5, 239.5, 128.0),
            ("red", 52.1, 187.7, 305.5),
            ("black", 139.8, 183.7, 90.7),
        ),
    ),
)


@pytest.mark.parametrize(("seed", "lie"), BESIDE_SHADOWS)
def test_a_shadow_beside_a_piece_is_no_piece(seed, lie):
    """The keypoint network takes some for pieces on brown or white squares; nothing but the light
    differs from the empty table there, and where others throw their shadows it does not make a
    white piece likelier, either.
    """
    table = game_table("ice_storm", seed)
    (size,) = table.setup.sizes
    pieces = tuple(ScenePiece(lying(size, *place), colour) for colour, *place in lie)
    picture = Renderer(table.setup, table.place).picture(
        Scene(table.stage, pieces), np.random.default_rng(0)
    )
    seen = observe(Frame(1, 0, picture), table.setup, table.empty)
    assert sorted(piece.colour for piece in seen.pieces) == sorted(piece.colour for piece in pieces)


def test_a_piece_on_ground_of_its_own_colour_is_found_by_what_has_changed():
    """The detector misses it until everything unchanged is masked out."""
    table = game_table("zamboni_wars", 3)
    small = min(table.setup.sizes, key=lambda size: size.base_mm)
    nest = ScenePiece(lying(small, 122.0, 109.0, 90.0), "yellow")
    picture = Renderer(table.setup, table.place).picture(
        Scene(table.stage, (nest,)), np.random.default_rng(0)
    )
    assert observe(Frame(1, 0, picture), table.setup).pieces == ()
    (seen,) = observe(Frame(1, 0, picture), table.setup, table.empty).pieces
    assert (seen.colour, seen.size, seen.pose) == ("yellow", small.name, "lying")
    assert np.hypot(seen.base_mm[0] - 122.0, seen.base_mm[1] - 109.0) < 2.0


def test_a_nest_whose_shaded_faces_are_as_its_space_is_in_shadow_is_seen():
    """The shadow of something else would look so too: it does not speak against a green nest on a
    green space.
    """
    table = game_table("zamboni_wars", 108)
    small, medium, _ = table.setup.sizes
    lie = (
        ("green", small, 10.6, 121.0, -8.3),
        ("blue", medium, 45.2, 73.6, 55.9),
        ("yellow", medium, 175.0, 53.4, 5.8),
        ("red", small, 180.5, 120.1, 10.5),
    )
    scene = Scene(
        table.stage, tuple(ScenePiece(lying(size, *place), colour) for colour, size, *place in lie)
    )
    seen = observe(
        Frame(1, 0, Renderer(table.setup, table.place).picture(scene, np.random.default_rng(1))),
        table.setup,
        table.empty,
    )
    assert sorted(piece.colour for piece in seen.pieces) == ["blue", "green", "red", "yellow"]


def test_shadows_and_coloured_light_beside_pieces_are_no_pieces():
    case = random_case("storm", 97014)
    scene, renderer = replace(case.scene(), limbs=()), Renderer(case.setup, case.camera)
    empty, played = (
        Frame(k, 0, renderer.picture(one, np.random.default_rng(1 - k)))
        for k, one in enumerate((replace(scene, pieces=()), scene))
    )
    seen = observe(played, case.setup, empty)
    lie = [piece.solid.vertices_mm[:, :2].mean(axis=0) for piece in scene.pieces]
    for piece in (*seen.pieces, *seen.off_board):
        assert (
            min(np.hypot(*(piece.solid.vertices_mm[:, :2].mean(axis=0) - place)) for place in lie)
            < 10.0
        ), piece
