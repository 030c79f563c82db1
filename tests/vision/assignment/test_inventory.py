"""What a game knows of its pieces: one target, no letter twice, so many of a colour."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulation.generate.cases import random_case
from simulation.render.renderer import Renderer
from table.clearance import clearance
from table.observation import SURE
from table.pieces import load_piece_set
from table.solids import Solid
from vision.assignment.inventory import (
    apply_piece_inventory,
    assign_unique_colours,
    assign_unique_pairs,
    assign_unique_sizes,
    doubt_for_missing_colours,
    put_surplus_last,
    split_surplus,
    try_missing_sizes,
)
from vision.cameras.frame import Frame
from vision.geometry.piece_pose import Hypothesis
from vision.geometry.rectified_view import Photo
from vision.localization.fiducials import locate
from vision.networks.detector import search, view_of
from vision.networks.keypoints import KeypointEstimate
from vision.observe import observe
from vision.pipeline import SURE_CHANCE, propose_candidates
from vision.pose.candidates import (
    CORE,
    SAME_BASES,
    Candidate,
    PieceEstimate,
    PoseHypothesis,
    align_all,
    without_duplicates,
)
from vision.pose.initial_poses import InitialPose

pytestmark = pytest.mark.slow

PIECEPACK, LOONEY = (load_piece_set(name).sizes for name in ("piecepack", "looney"))


def spot(x_mm, colour, evidence):
    """A place of one colour of two, with what speaks for each letter."""
    looked = KeypointEstimate(
        1.0, np.array([1.0, 0.0, 0.0]), np.ones(2) / 2, 3.0, 0.1, np.zeros((5, 2)), np.ones(5)
    )
    hypotheses = [
        PoseHypothesis(Hypothesis(size, "upright", x_mm, 0.0, 0.0), np.eye(3), evidence[size.name])
        for size in PIECEPACK
        if size.name in evidence
    ]
    return PieceEstimate(
        looked, tuple(sorted(hypotheses, key=lambda one: -one.evidence)), np.eye(2)[colour]
    )


def letters(spots):
    return [one.best.size.name for one in spots]


def laid_out(kind, seed):
    """A drawn table that no arm is over, and what may lie on it, the surest first."""
    case = random_case(kind, seed)
    picture = Renderer(case.setup, case.camera).picture(
        replace(case.scene(), limbs=()), np.random.default_rng(1)
    )
    photo = Photo(picture, locate(picture, case.setup), case.setup)
    return photo, propose_candidates(search(view_of(photo), case.setup.colours), photo)


def test_the_likeliest_way_to_give_letters_gives_none_twice():
    spots = [
        spot(0, 0, {"A": 0.0, "B": -1.0}),
        spot(50, 0, {"A": -0.5, "B": -4.0}),
        spot(100, 1, {"A": 0.0, "B": -9.0}),
    ]
    assert letters(assign_unique_sizes(spots, ("red", "blue"))) == ["B", "A", "A"]


def in_colours(one, *chances):
    return replace(one, colours=np.array([*chances, *np.zeros(4 - len(chances))]))


def looks(one, *apart):
    return replace(one, colour_distances=np.array(apart))


def test_what_fits_its_colour_poorly_may_be_of_a_colour_that_seems_to_be_missing(pond):
    fits, poor, far = (
        looks(in_colours(spot(x, 0, {"A": 0.0}), 1.0), *apart, 40.0, 40.0)
        for x, apart in ((0.0, (0.8, 5.0)), (30.0, (4.0, 7.0)), (60.0, (4.0, 20.0)))
    )
    doubted = doubt_for_missing_colours([fits, poor, far], pond)
    assert doubted[0] is fits
    assert doubted[2] is far
    assert doubted[1].colours[0] < SURE
    assert doubted[1].colours.argmax() == 0, "it is still the likeliest"
    assert doubted[1].colours.sum() == pytest.approx(1)
    shown = [in_colours(spot(90.0 * k, 0, {"A": 0.0}), *np.eye(4)[k]) for k in range(4)]
    assert doubt_for_missing_colours([*shown, poor], pond)[-1] is poor, "none is missing"


@pytest.fixture(scope="module")
def pond():
    return random_case("icefloe", 60001).setup


def test_what_is_read_as_a_pyramid_that_another_surely_is_has_the_other_colour_that_it_may_have(
    pond,
):
    """Black plastic mirrors a blue table."""
    doubtful = in_colours(spot(20, 0, {"C": 0.0, "D": -9.0}), 0.99, 0.01)
    resolved, sure = assign_unique_pairs([doubtful, in_colours(spot(60, 0, {"C": 0.0}), 1.0)], pond)
    assert resolved.colours[1] > SURE
    assert sure.colours.tolist() == [1.0, 0.0, 0.0, 0.0]


def test_a_colour_in_doubt_stays_as_doubtful_where_both_such_pyramids_are_missing(pond):
    doubtful = in_colours(spot(20, 0, {"C": 0.0}), 0.9, 0.1)
    resolved, _ = assign_unique_pairs([doubtful, in_colours(spot(60, 0, {"D": 0.0}), 1.0)], pond)
    np.testing.assert_allclose(resolved.colours, doubtful.colours, atol=1e-9)


def test_two_that_are_surely_one_colour_and_size_keep_their_colour(pond):
    """Somebody brought a pyramid of another set: it is for the judge to say so."""
    both = [in_colours(spot(x, 0, {"C": 0.0}), 0.9995, 0.0005) for x in (20, 60)]
    assert all(one.colours.argmax() == 0 for one in assign_unique_pairs(both, pond))


def test_pyramids_beside_the_pond_say_nothing_of_those_on_it(pond):
    doubtful = in_colours(spot(20, 0, {"C": 0.0}), 0.9, 0.1)
    away = [in_colours(spot(-90, 0, {"C": 0.0}), 1.0), in_colours(spot(60, 0, {"D": 0.0}), 1.0)]
    resolved, *_ = assign_unique_pairs([doubtful, *away], pond)
    np.testing.assert_allclose(resolved.colours, doubtful.colours, atol=1e-9)


def test_a_letter_that_another_piece_surely_has_is_left_out_of_the_doubt():
    """A is surely the other one's: what is left to the doubtful one is B, by as much as the other
    is sure of A.
    """
    one_of_two = {"A": 0.0, "B": -1.0}
    doubtful, _ = assign_unique_sizes(
        [spot(0, 0, one_of_two), spot(50, 0, {"A": 0.0, "B": -8.0})], ("red", "blue")
    )
    best, other = doubtful.hypotheses
    assert (best.guess.size.name, other.guess.size.name) == ("B", "A")
    assert best.evidence - other.evidence == pytest.approx(8.0 - 1.0)


def test_two_of_one_letter_are_tried_as_the_letters_that_are_left():
    """One is cut short, as if it had only been tried as what another one of its colour is."""
    photo, every = laid_out("icefloe", 60002)
    sure = [one for one in every if one.chance > SURE_CHANCE]
    spots = list(align_all(sure, photo, {}).values())
    colours = [int(one.colours.argmax()) for one in spots]
    k, other = next(
        (k, j)
        for k, mine in enumerate(colours)
        for j, its in enumerate(colours)
        if k != j and mine == its
    )
    (true, *_), (taken, *_) = spots[k].hypotheses, spots[other].hypotheses
    short = replace(true, guess=replace(true.guess, size=taken.guess.size))
    retried = try_missing_sizes(
        [replace(one, hypotheses=(short,)) if one is spots[k] else one for one in spots], photo
    )
    uncut = assign_unique_sizes(spots, photo.setup.colours)
    assert [one.best.size.name for one in assign_unique_sizes(retried, photo.setup.colours)] == [
        one.best.size.name for one in uncut
    ]
    assert uncut[k].best.size == true.guess.size


def test_more_pieces_than_letters_are_left_as_they_were_read():
    spots = [spot(50 * k, 0, {"A": 0.0, "B": -1.0 - k}) for k in range(3)]
    assert letters(assign_unique_sizes(spots, ("red", "blue"))) == ["A", "A", "A"]


@pytest.fixture(scope="module")
def zambonis():
    """A table with one Zamboni of each colour, and what is read of it."""
    return laid_out("zamboni", 91001)


def misread(one, x_mm, y_mm):
    """A surer reading of a piece, somewhere else and the other way round."""
    guess = replace(one.best, x_mm=x_mm, y_mm=y_mm, heading_deg=one.best.heading_deg + 180)
    return replace(one, rivals=[replace(one.rivals[0], guess=guess)], chance=0.995)


def test_of_readings_of_one_zamboni_the_one_that_looks_like_it_is_told(zambonis):
    photo, (first, *others) = zambonis
    true = replace(first, chance=0.7)
    wrong = misread(true, true.best.x_mm + true.best.size.base_mm / 3, true.best.y_mm)
    assert put_surplus_last([wrong, *others, true], photo) == [*others, true]


def test_a_second_zamboni_of_a_colour_elsewhere_is_not_forgotten(zambonis):
    photo, laid = zambonis
    away = misread(laid[0], laid[1].best.x_mm, laid[1].best.y_mm)
    assert put_surplus_last([away, *laid], photo) == [*laid, away]


def test_pieces_beyond_those_that_a_colour_has_are_not_told():
    case = random_case("zamboni", 60001)
    spots = [spot(40.0 + 30 * k, 0, {"A": 0.0}) for k in range(3)]
    kept, beyond = split_surplus(spots, case.setup)
    assert kept == spots[:1]
    assert beyond == spots[1:]


def test_a_zamboni_of_a_doubtful_colour_is_of_the_one_that_no_other_has(zambonis):
    photo, _ = zambonis
    doubtful, sure = (
        replace(spot(x_mm, 0, {"A": 0.0}), colours=np.array(its))
        for x_mm, its in ((40.0, (0.96, 0.04, 0.0)), (80.0, (1.0, 0.0, 0.0)))
    )
    (resolved, other), beyond = apply_piece_inventory([doubtful, sure], photo)
    assert (other.colours.argmax(), beyond) == (0, [])
    assert 0.8 < resolved.colours[1] < 0.9, "it may still be one too many"
    resolved, _ = assign_unique_colours([doubtful, replace(sure, chance=0.5)], photo.setup)
    assert resolved is doubtful, "what may not be there says nothing"


def test_two_zambonis_that_are_surely_of_one_colour_keep_it(zambonis):
    photo, _ = zambonis
    both = [replace(spot(x_mm, 0, {"A": 0.0}), colours=np.eye(3)[0]) for x_mm in (40.0, 80.0)]
    kept, beyond = apply_piece_inventory(both, photo)
    assert [one.colours.argmax() for one in (*kept, *beyond)] == [0, 0]
    assert len(kept) == 1


def test_a_ship_too_many_is_told_if_it_is_surely_one():
    case = random_case("icebreaker", 60001)
    spots = [spot(20.0 * k, 0, {"A": 0.0}) for k in range(5)]
    doubtful = replace(spots[4], chance=0.9)
    kept, beyond = split_surplus([*spots[:4], doubtful], case.setup)
    assert kept == spots[:4]
    assert beyond == [doubtful]


def test_a_ship_of_a_doubtful_colour_is_of_the_colour_that_has_one_left():
    case = random_case("icebreaker", 60001)
    doubtful = replace(spot(0.0, 0, {"A": 0.0}), colours=np.array([0.6, 0.4]))
    kept, beyond = split_surplus(
        [doubtful, *(spot(20.0 * k, 0, {"A": 0.0}) for k in range(1, 4))], case.setup
    )
    assert not beyond
    assert sorted(
        (float(one.middle_mm[0]), int(one.colours.argmax()), float(one.colours.max()))
        for one in kept
    )[0] == (0.0, 1, 0.4)


def table_with_a_stack(seed):
    """What is seen of a drawn table on which a piece stands on the target, and that piece as it
    truly is.
    """
    case = random_case("boule", seed)
    picture = Renderer(case.setup, case.camera).picture(case.scene(), np.random.default_rng(seed))
    (truth,) = (place for place in case.layout.placed if place.on_target)
    return observe(Frame(0, 0, picture), case.setup), truth, case.setup.game.target


@pytest.mark.parametrize("seed", [60040, 60086, 60114])
def test_a_piece_that_stands_on_the_target_is_told_with_the_target_under_it(seed):
    seen, truth, target = table_with_a_stack(seed)
    (above,) = (piece for piece in seen.pieces if piece.on is not None)
    below = seen.pieces[above.on]
    assert above.colour == truth.piece.colour
    assert below.colour == target
    assert np.hypot(*(above.base_mm - truth.base_mm)) < 1.0
    assert below.base_mm.tolist() == above.base_mm.tolist()
    assert below.heading_deg == above.heading_deg, "square shells sit flush"


def test_that_a_piece_stands_on_the_target_is_sure_where_the_rim_below_shows_its_colour():
    seen, _, _ = table_with_a_stack(60086)
    (above,) = (piece for piece in seen.pieces if piece.on is not None)
    assert above.pose_probability > SURE


def test_where_no_rim_shows_under_several_that_stand_people_are_asked():
    seen, _, _ = table_with_a_stack(60122)
    doubtful = [piece for piece in seen.pieces if piece.on is not None]
    assert doubtful
    assert all(piece.pose_probability < SURE for piece in doubtful)
    assert all(seen.pieces[piece.on].pose_probability < SURE for piece in doubtful)


def test_what_looks_like_the_target_may_be_a_dyed_piece_on_it(monkeypatch):
    """From straight above the edges of both are alike; only the light may tell."""
    case = random_case("boule", 60002)
    picture = Renderer(case.setup, case.camera).picture(case.scene(), np.random.default_rng(2))
    target = case.setup.game.target
    colours = case.setup.colours

    def read(ratio):
        over = np.full(len(colours), -np.inf)
        over[(colours.index(target) + 1) % len(colours)] = ratio
        monkeypatch.setattr("vision.assignment.colour.over_target", lambda *_: over)
        monkeypatch.setattr("vision.assignment.inventory._lifted_readings", level_with_the_table)
        return observe(Frame(0, 0, picture), case.setup).pieces

    def probability(pieces):
        (found,) = (piece for piece in pieces if piece.colour == target)
        return found.colour_probability

    assert probability(read(-20.0)) > SURE
    assert 0.5 < probability(read(3.0)) < SURE, "people are asked"
    stack = read(12.0)
    (above,) = (piece for piece in stack if piece.on is not None)
    assert stack[above.on].colour == target


def level_with_the_table(spot, _target, _photo, _occluders):
    """Readings over the target that fit as well as those on the table."""
    return tuple(
        replace(one, guess=replace(one.guess, z_mm=one.guess.size.stack_step_mm))
        for one in spot.hypotheses[:1]
    )


def laid(size, pose, x_mm, y_mm, heading_deg, chance):
    looked = KeypointEstimate(
        1.0, np.ones(3) / 3, np.ones(2) / 2, 3.0, 0.1, np.zeros((5, 2)), np.ones(5)
    )
    return Candidate(
        looked,
        [InitialPose(Hypothesis(size, pose, x_mm, y_mm, heading_deg), np.eye(3), 0.0)],
        chance,
    )


def test_a_second_body_in_the_same_place_is_not_told():
    size = LOONEY[0]
    near, far = 100.0 + 0.7 * size.base_mm, 100.0 + 1.1 * size.slant_mm
    distinct = without_duplicates(
        [
            laid(size, "lying", x, 100.0, 0.0, chance)
            for x, chance in ((near, 0.8), (100.0, 0.9), (far, 0.7))
        ]
    )
    assert [one.best.x_mm for one in distinct] == [100.0, far]
    again = without_duplicates(
        [laid(size, "lying", near, 100.0, 0.0, chance) for chance in (0.8, 0.95)], distinct
    )
    assert again[0].best.x_mm == near, "of what is new the surest stands against the others"


def inside_of(one):
    vertices = one.best.solid.vertices_mm
    return Solid(vertices.mean(axis=0) + CORE * (vertices - vertices.mean(axis=0)))


@given(
    st.lists(
        st.tuples(
            st.sampled_from(LOONEY),
            st.sampled_from(["upright", "lying"]),
            *[st.floats(-40, 40)] * 2,
            st.floats(0, 360),
            st.floats(0.1, 1),
        ),
        min_size=2,
        max_size=8,
    )
)
def test_pieces_do_not_intersect_and_one_left_out_overlaps_a_surer_one(pieces):
    every = [laid(*piece) for piece in pieces]
    distinct = without_duplicates(every)
    kept = []
    for one in sorted(every, key=lambda one: -one.chance):
        middles = (
            np.linalg.norm((one.best.solid.vertices_mm - other.best.solid.vertices_mm).mean(axis=0))
            for other in kept
        )
        if all(away >= SAME_BASES * one.best.size.base_mm for away in middles) and all(
            clearance(inside_of(one), inside_of(other)).mm > 0 for other in kept
        ):
            kept.append(one)
    assert distinct == kept
