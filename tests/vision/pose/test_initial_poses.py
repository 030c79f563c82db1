"""Solids laid on vertices that were seen."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from table.pieces import load_piece_set
from table.solids import POSES
from vision.geometry.piece_pose import Hypothesis, project_to_table
from vision.networks.keypoints import KeypointEstimate
from vision.pose.initial_poses import (
    INSIDE_OUT,
    LYING_SIGMAS,
    MOST_AGAINST,
    MOST_UNCERTAIN,
    initial_poses,
    lying_on_its_side,
    uncertain_poses,
)

SIZES = load_piece_set("looney").sizes
EYE = np.array([120.0, -200.0, 900.0])
EVEN = np.full(3, 1 / 3)


def looked_at(truth, noise_mm=0.0, poses=EVEN, base_sigma=0.3, seed=0):
    flat = project_to_table(truth.solid.vertices_mm, EYE)
    seen = flat + np.random.default_rng(seed).normal(0, 1, flat.shape) * noise_mm
    return KeypointEstimate(
        1.0,
        np.asarray(poses),
        np.ones(1),
        float(np.log(truth.size.base_mm)),
        base_sigma,
        seen,
        np.full(5, max(noise_mm, 0.3)),
    )


@given(
    st.sampled_from(SIZES),
    st.sampled_from(POSES),
    st.floats(-200, 200),
    st.floats(-200, 200),
    st.floats(0, 360),
    st.floats(8, 45),
    st.integers(0, 3),
)
def test_exact_vertices_give_back_the_piece(size, pose, x, y, heading, tilt, turn):
    truth = Hypothesis(size, pose, x, y, heading, tilt if pose == "leaning" else 0.0)
    looked = looked_at(truth, poses=[0.01 + (pose == one) for one in POSES])
    if pose == "upright":
        order = [(k + turn) % 4 for k in range(4)] + [4]
        looked = KeypointEstimate(
            *(
                looked.presence,
                looked.poses,
                looked.colours,
                looked.log_base,
                0.3,
                looked.vertices_mm[order],
                looked.sigma_mm,
            )
        )
    best = initial_poses([looked], SIZES, EVEN, EYE, [0.0])[0][0]
    assert (best.guess.pose, best.guess.size) == (pose, size)
    place_mm, turn_deg = (
        (0.05, 0.3) if pose != "leaning" else (1.0, 2.0)
    )  # of tilt something is known before
    assert np.abs(best.guess.away_from(truth)[:2]).max() < place_mm
    assert abs(best.guess.away_from(truth)[2]) < turn_deg
    assert np.linalg.eigvalsh(best.covariance).min() > 0


@given(st.sampled_from(SIZES), st.floats(0, 360), st.floats(33, 45))
def test_a_base_seen_inside_out_is_turned_where_the_tip_would_be_in_the_table(size, heading, tilt):
    """From straight above, the upper edge of the base is where the lower one of a piece that is
    tipped down by as much would be.
    """
    truth = Hypothesis(size, "leaning", EYE[0], EYE[1], heading, tilt)
    looked = looked_at(truth, poses=[1e-6, 1e-6, 1.0])
    for order in (list(range(5)), INSIDE_OUT):
        best = initial_poses(
            [dataclasses.replace(looked, vertices_mm=looked.vertices_mm[order])],
            [size],
            EVEN,
            EYE,
            [0.0],
        )[0][0]
        assert best.guess.pose == "leaning"
        assert np.abs(best.guess.away_from(truth)[:2]).max() < 2.0
        assert best.guess.tilt_deg == pytest.approx(tilt, abs=5.0)


@given(st.sampled_from(SIZES), st.floats(-150, 150), st.floats(100, 300), st.floats(-25, 25))
def test_a_lying_piece_with_its_base_to_the_camera_is_among_four_guesses_for_a_standing_one(
    size, x, y, aside
):
    away_deg = float(np.degrees(np.arctan2(y - EYE[1], x - EYE[0])))
    truth = Hypothesis(size, "lying", x, y, away_deg + aside)
    middle = project_to_table(truth.solid.vertices_mm, EYE)[:4].mean(axis=0)
    looked = looked_at(truth, poses=[1.0, 1e-6, 1e-6])
    stands = initial_poses([looked], [size], np.array([1.0, 1e-6, 1e-6]), EYE, [0.0])[0][0]
    stands = dataclasses.replace(
        stands,
        guess=dataclasses.replace(
            stands.guess,
            x_mm=float(middle[0]),
            y_mm=float(middle[1]),
            heading_deg=truth.heading_deg,
        ),
    )
    ways = lying_on_its_side(stands)
    assert len(ways) == 4
    assert min(np.abs(way.guess.away_from(truth) / LYING_SIGMAS).max() for way in ways) < 4
    assert all(way.evidence < stands.evidence for way in ways)


@pytest.mark.parametrize("pose", ["upright", "lying"])
def test_the_covariance_is_as_large_as_errors_are(pose):
    truth = Hypothesis(SIZES[2], pose, 40.0, 60.0, 33.0)
    poses = [0.01 + (pose == one) for one in POSES]
    found = [
        initial_poses([looked_at(truth, 0.6, poses, seed=seed)], [SIZES[2]], EVEN, EYE, [0.0])[0][0]
        for seed in range(200)
    ]
    off = np.array([one.guess.away_from(truth) for one in found])
    squared = [
        row @ np.linalg.solve(one.covariance, row) for row, one in zip(off, found, strict=True)
    ]
    assert (
        0.7 < np.mean(squared) < 3.5
    )  # 3 where vertices err apart; the covariance allows for their erring together


def test_what_a_game_knows_of_its_pieces_decides_what_is_open():
    looked = looked_at(Hypothesis(SIZES[0], "upright", 10.0, 20.0, 0.0), poses=[0.5, 0.5, 0.0])
    stands, lies = (
        initial_poses([looked], SIZES[:1], np.array(habit), EYE, [0.0])[0]
        for habit in ([1.0, 1e-6, 1e-6], [1e-6, 1.0, 1e-6])
    )
    assert {one.guess.pose for one in stands} == {"upright"}
    assert {one.guess.pose for one in lies} == {"lying"}


def test_what_stands_higher_is_seen_larger_and_farther_out():
    truth = Hypothesis(SIZES[2], "upright", 200.0, 100.0, 10.0, z_mm=12.0)
    looked = looked_at(truth, poses=[1.0, 0.0, 0.0])
    raised, flat = (
        initial_poses([looked], [SIZES[2]], np.array([1.0, 0.0, 0.0]), EYE, [z])[0][0]
        for z in (12.0, 0.0)
    )
    assert np.hypot(*raised.guess.away_from(truth)[:2]) < 0.05
    assert raised.evidence > flat.evidence
    assert np.hypot(flat.guess.x_mm - EYE[0], flat.guess.y_mm - EYE[1]) > np.hypot(
        truth.x_mm - EYE[0], truth.y_mm - EYE[1]
    )


@given(st.sampled_from(SIZES), st.floats(0, 360), st.integers(0, 50))
def test_what_is_seen_badly_may_be_several_things_but_not_too_many(size, heading, seed):
    looked = looked_at(
        Hypothesis(size, "lying", 30.0, -20.0, heading),
        noise_mm=2.0,
        poses=[1e-6, 1.0, 1e-6],
        base_sigma=0.05,
        seed=seed,
    )
    likely, doubted = (
        initial_poses([looked], SIZES, EVEN, EYE, [0.0])[0],
        uncertain_poses(looked, SIZES, EVEN, EYE, 0.0),
    )
    assert (doubted[0].guess.size, doubted[0].guess.pose) == (
        likely[0].guess.size,
        likely[0].guess.pose,
    )
    *doubted, turned = doubted
    assert (
        len({(one.guess.size, one.guess.pose) for one in doubted}) == len(doubted) == MOST_UNCERTAIN
    )
    (there,) = (
        one.guess
        for one in doubted
        if (one.guess.size, one.guess.pose) == (turned.guess.size, "lying")
    )
    assert (turned.guess.heading_deg - there.heading_deg) % 360 == pytest.approx(180)
    assert (
        np.hypot(*(turned.guess.solid.vertices_mm[4, :2] - [there.x_mm, there.y_mm]))
        < 0.1 * size.height_mm
    )
    assert all(0 <= doubted[0].evidence - one.evidence <= MOST_AGAINST + 1e-9 for one in doubted)


@given(
    st.lists(
        st.tuples(
            st.sampled_from(SIZES), st.sampled_from(POSES), st.floats(0, 360), st.integers(0, 50)
        ),
        min_size=1,
        max_size=5,
    )
)
def test_several_laid_together_are_laid_as_each_alone(pieces):
    looked = [
        looked_at(
            Hypothesis(size, pose, 30.0, -20.0, heading, 20.0 if pose == "leaning" else 0.0),
            1.0,
            seed=seed,
        )
        for size, pose, heading, seed in pieces
    ]
    heights = [3.0 * k for k in range(len(looked))]
    together = initial_poses(looked, SIZES, EVEN, EYE, heights)
    alone = [
        initial_poses([one], SIZES, EVEN, EYE, [z])[0]
        for one, z in zip(looked, heights, strict=True)
    ]
    for some, others in zip(together, alone, strict=True):
        for one, other in zip(some, others, strict=True):
            assert (one.guess.size, one.guess.pose, one.guess.z_mm) == (
                other.guess.size,
                other.guess.pose,
                other.guess.z_mm,
            )
            np.testing.assert_allclose(
                one.guess.parameters, other.guess.parameters, rtol=1e-9, atol=1e-9
            )
            np.testing.assert_allclose(one.covariance, other.covariance, rtol=1e-6, atol=1e-12)
            assert one.evidence == pytest.approx(other.evidence, abs=1e-9)


@pytest.mark.parametrize(("between", "tried"), [(0.0, 1), (0.3, 2)])
def test_a_size_that_was_read_between_two_is_not_taken_for_the_nearer_one_without_trying_the_other(
    between, tried
):
    """However sure the keypoint network is: it errs by many of its sigmas now and then."""
    *_, medium, large = SIZES
    looked = looked_at(
        Hypothesis(large, "lying", 0.0, 0.0, 0.0), base_sigma=0.037, poses=[0.0, 1.0, 0.0]
    )
    log_base = (1 - between) * np.log(large.base_mm) + between * np.log(medium.base_mm)
    candidates = initial_poses(
        [dataclasses.replace(looked, log_base=float(log_base))], SIZES, EVEN, EYE, [0.0]
    )[0]
    assert [one.guess.size for one in candidates] == [large, medium][:tried]
