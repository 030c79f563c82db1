"""Pieces that lie on ground of their own colour, where printed squares look like their bases."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from simulation.generate.cases import random_case
from simulation.generate.throws import Thrower
from simulation.render.renderer import Renderer
from simulation.render.scene import Scene, ScenePiece, look_at
from simulation.tables import demo_table, game_table
from table.observation import SURE
from training.boards import photographs
from vision.cameras.frame import Frame
from vision.geometry.piece_pose import Hypothesis, move_silhouette_to, seen_middle_mm
from vision.geometry.rectified_view import Photo
from vision.localization.fiducials import locate
from vision.networks.detector import search, view_of
from vision.networks.pose_verifier import evidence
from vision.observe import observe
from vision.pipeline import TableReader, propose_candidates
from vision.pose.candidates import MISFIT_LOG_ODDS, align_all, raise_where_verified
from vision.pose.initial_poses import InitialPose
from vision.pose.pose_search import FITS, larger_alternatives, lying_piece_at, search_lying_poses

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def green_on_green():
    """A small green nest on a green space, and its photograph."""
    table = game_table("zamboni_wars", 100)
    small = min(table.setup.sizes, key=lambda size: size.base_mm)
    nest = Hypothesis(small, "lying", 128.0, 49.3, 181.6)
    picture = Renderer(table.setup, table.place).picture(
        Scene(table.stage, (ScenePiece(nest.solid, "green"),)), np.random.default_rng(0)
    )
    return table, nest, Photo(picture, locate(picture, table.setup), table.setup)


@pytest.mark.parametrize("off_mm", [(0.0, 0.0), (3.0, 2.0), (-3.0, 3.0)])
def test_a_piece_is_found_as_it_lies_by_whoever_knows_about_where(green_on_green, off_mm):
    _, nest, photo = green_on_green
    seen_mm = seen_middle_mm(nest.solid, photo.camera.eye_mm)
    found = lying_piece_at(np.add(seen_mm, off_mm), photo)
    assert found.size == nest.size
    assert np.abs(found.away_from(nest)).max() < 3.0


def test_nothing_lies_where_only_a_square_is_printed(green_on_green):
    _, nest, photo = green_on_green
    assert lying_piece_at(np.add(nest.middle_mm, (0.0, 68.0)), photo) is None
    assert len(search_lying_poses([np.add(nest.middle_mm, (0.0, 68.0))], 0.0, photo)) <= 3


def test_a_place_is_searched_once_a_photograph(green_on_green):
    _, nest, seen = green_on_green
    photo, other = (Photo(seen.image, seen.camera, seen.setup) for _ in range(2))
    middle_mm = seen_middle_mm(nest.solid, photo.camera.eye_mm)
    found, again, elsewhere = (
        {id(look) for look in search_lying_poses([place_mm], 0.0, where)}
        for place_mm, where in (
            (middle_mm, photo),
            (np.add(middle_mm, (0.5, 0.5)), photo),
            (middle_mm, other),
        )
    )
    assert found == again
    assert not found & elsewhere


@pytest.mark.parametrize("azimuth_deg", [20.0, 200.0])
def test_from_a_steep_camera_a_lying_piece_is_found_where_it_seems_to_stand(azimuth_deg):
    table = game_table("ice_storm", 24)
    (size,) = table.setup.sizes
    lies = Hypothesis(size, "lying", 186.0, 162.0, azimuth_deg + 150.0)
    away = np.radians(azimuth_deg)
    middle_mm = np.append(table.setup.outline_mm().mean(axis=0), 0.0)
    eye_mm = middle_mm + 800.0 * np.array([np.cos(away), np.sin(away), 1.1])
    camera = look_at(eye_mm, middle_mm)
    picture = Renderer(table.setup, camera).picture(
        Scene(table.stage, (ScenePiece(lies.solid, "orange"),)), np.random.default_rng(2)
    )
    photo = Photo(picture, locate(picture, table.setup), table.setup)
    (seen,) = observe(Frame(1, 0, picture), table.setup).pieces
    assert seen.pose == "lying"
    stands = Hypothesis(size, "upright", 186.0, 162.0, 0.0)
    off_mm = seen_middle_mm(stands.solid, eye_mm) - seen_middle_mm(lies.solid, eye_mm)
    stands = stands.at(stands.parameters - [*off_mm, 0.0])
    (found, _), *_ = search_lying_poses([seen_middle_mm(stands.solid, eye_mm)], 0.0, photo)
    assert np.abs(found.away_from(lies)).max() < 2.0


def test_a_nest_that_looks_like_its_space_is_found(green_on_green):
    """Until something has changed there: without a picture of the empty table nobody asks."""
    table, nest, photo = green_on_green
    assert observe(Frame(1, 0, photo.image), table.setup).pieces == ()
    (seen,) = observe(Frame(1, 0, photo.image), table.setup, table.empty).pieces
    assert (seen.colour, seen.pose, seen.size) == ("green", "lying", nest.size.name)
    assert (
        np.hypot(
            seen.base_mm[0] - nest.solid.vertices_mm[:4, 0].mean(),
            seen.base_mm[1] - nest.solid.vertices_mm[:4, 1].mean(),
        )
        < 2.0
    )


def test_a_doubtful_piece_that_fits_is_surer_and_a_known_one_is_not_asked_about():
    case = random_case("boule", 60000)
    picture = Renderer(case.setup, case.camera).picture(
        replace(case.scene(), limbs=()), np.random.default_rng(0)
    )
    photo = Photo(picture, locate(picture, case.setup), case.setup)
    doubtful = [
        replace(one, chance=0.6)
        for one in propose_candidates(search(view_of(photo), case.setup.colours), photo)
    ]
    assert len(doubtful) >= 4
    assert min(one.chance for one in raise_where_verified(doubtful, (), photo)) > SURE
    assert raise_where_verified(doubtful, doubtful, photo) == doubtful
    twice = [*doubtful, replace(doubtful[0], chance=0.55)]
    assert raise_where_verified(twice, (), photo)[-1] is twice[-1], "another one is in that place"


@pytest.mark.parametrize(
    ("seed", "colour", "size", "lies"),
    [(27, "yellow", "large", (16.2, 164.1, -86.0)), (45, "green", "medium", (14.9, 202.3, -88.3))],
)
def test_of_a_nest_on_its_own_colour_only_what_is_true_is_told_surely(seed, colour, size, lies):
    """In games these were told to lean on nothing, or as a smaller nest within: layers seemed to be
    gone.
    """
    table = game_table("zamboni_wars", seed)
    size = next(one for one in table.setup.sizes if one.name == size)
    nest = Hypothesis(size, "lying", *lies)
    renderer, layers, sure = (
        Renderer(table.setup, table.place),
        table.setup.sizes.index(size) + 1,
        [],
    )
    for make in range(8, 16):
        piece = Thrower(table.setup, np.random.default_rng(make)).piece(
            colour, nest.solid, size, layers
        )
        picture = renderer.picture(Scene(table.stage, (piece,)), np.random.default_rng(make))
        read = observe(Frame(1, 0, picture), table.setup, table.empty)
        assert {seen.pose for seen in read.pieces if seen.pose_probability >= SURE} <= {"lying"}
        sure += [
            seen
            for seen in read.pieces
            if min(seen.pose_probability, seen.size_probability) >= SURE
        ]
    assert len(sure) >= 5
    assert {(seen.size, seen.pose) for seen in sure} == {(size.name, "lying")}
    assert max(np.abs(seen.tip_mm - nest.solid.tip_mm[:2]).max() for seen in sure) < 3.0


@pytest.mark.parametrize(
    ("size", "larger"), [("small", ()), ("medium", ("medium",)), ("large", ("large",))]
)
def test_a_smaller_piece_within_may_be_the_larger_one_that_is_there(size, larger):
    table = game_table("zamboni_wars", 12)
    there = next(one for one in table.setup.sizes if one.name == size)
    nest = Hypothesis(there, "lying", 80.0, 90.0, 40.0)
    picture = Renderer(table.setup, table.place).picture(
        Scene(table.stage, (ScenePiece(nest.solid, "red", True),)), np.random.default_rng(0)
    )
    photo = Photo(picture, locate(picture, table.setup), table.setup)
    within = replace(nest, size=min(table.setup.sizes, key=lambda one: one.base_mm))
    x_mm, y_mm = (nest.solid.tip_mm - within.solid.tip_mm)[:2]
    within = replace(within, x_mm=within.x_mm + float(x_mm), y_mm=within.y_mm + float(y_mm))
    found = [
        guess
        for guess, _ in larger_alternatives(within, float(evidence([within], photo)[0]), photo)
        if guess.size == there
    ]
    assert tuple(guess.size.name for guess in found) == larger
    assert all(np.hypot(*(guess.middle_mm - nest.middle_mm)) < 2.0 for guess in found)


def test_a_nest_is_told_as_large_as_it_is_though_a_smaller_one_is_seen_in_it():
    made = photographs("zamboni", 9250, (1280, 1640), np.random.default_rng([9250, 77]))
    for photo, layout, _ in made:
        sure = [
            one.guess
            for one in TableReader()(photo).pieces
            if min(one.probability, one.size_probability) >= SURE
        ]
        for one in layout.placed:
            corners = one.piece.vertices_mm
            here = [
                guess
                for guess in sure
                if np.hypot(*(guess.middle_mm - corners[:, :2].mean(axis=0))) < 20.0
            ]
            assert all(
                guess.size.base_mm
                == pytest.approx(np.linalg.norm(corners[1] - corners[0]), abs=0.1)
                for guess in here
            )


def test_the_earlier_pose_of_a_piece_that_leaned_is_no_reading_of_one_that_lies():
    """Refinement knows no leaning pieces: such a pose once ended the refereeing."""
    photo = next(photographs("storm", 861093, (1100, 1700), np.random.default_rng([861093, 9])))[0]
    found = propose_candidates(search(view_of(photo), photo.setup.colours), photo)
    leans, before = next(
        (company[0], estimate)
        for company, estimate in align_all(found, photo, {}).items()
        if estimate.best.pose == "leaning" and evidence([estimate.best], photo)[0] > FITS
    )
    eye_mm, there_mm = photo.camera.eye_mm, seen_middle_mm(before.best.solid, photo.camera.eye_mm)
    wrong = Hypothesis(leans.best.size, "lying", 0.0, 0.0, before.best.heading_deg + 180.0)
    wrong = move_silhouette_to(wrong, there_mm, eye_mm)
    assert evidence([wrong], photo)[0] < MISFIT_LOG_ODDS
    rivals = [InitialPose(wrong, np.diag([1.0, 1.0, 4.0]), leans.rivals[0].evidence)]
    misplaced = replace(leans, rivals=rivals)

    (again,) = align_all([misplaced], photo, {(misplaced, replace(leans)): before}).values()

    assert again.best.size == leans.best.size


def test_a_piece_whose_neighbour_is_taken_keeps_its_pose_where_nothing_else_fits():
    """Keypoints misplace a red piece across a red and a grey square; the pose before still fits."""
    table = demo_table("ice_storm", 32)
    (size,) = table.setup.sizes
    lies = Hypothesis(size, "lying", 182.8, 249.8, 310.0)
    picture = Renderer(table.setup, table.place).picture(
        Scene(table.stage, (ScenePiece(lies.solid, "red"),)), np.random.default_rng(1)
    )
    photo = Photo(picture, locate(picture, table.setup), table.setup)
    (found,) = propose_candidates(search(view_of(photo), table.setup.colours), photo)
    (before,) = align_all([found], photo, {}).values()
    wrong = Hypothesis(size, "lying", 175.0, 242.0, -27.0)
    misplaced = replace(found, rivals=[replace(found.rivals[0], guess=wrong)])
    neighbour = replace(found)

    (again,) = align_all([misplaced], photo, {(misplaced, neighbour): before}).values()

    assert np.abs(again.best.away_from(lies)[:2]).max() < 1.0
    assert (again.best.heading_deg - lies.heading_deg + 180.0) % 360.0 == pytest.approx(
        180.0, abs=3.0
    )
