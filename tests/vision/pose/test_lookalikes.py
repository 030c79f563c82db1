"""Standing and lying pieces that look alike from a steep camera."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from table.observation import SURE
from table.pieces import load_piece_set
from training.boards import photographs
from vision.geometry.piece_pose import Hypothesis, seen_middle_mm, silhouette
from vision.pipeline import TableReader
from vision.pose.lookalikes import ALIKE, lookalike, overlap

SIZES = load_piece_set("looney").sizes
EYE = np.array([0.0, -500.0, 800.0])


def from_the_eye_deg(x_mm, y_mm):
    return float(np.degrees(np.arctan2(y_mm - EYE[1], x_mm - EYE[0])))


@given(st.sampled_from(SIZES), st.floats(-120, 120), st.floats(0, 120), st.floats(-10, 10))
def test_a_piece_that_lies_base_to_the_camera_has_a_standing_lookalike(size, x, y, aside_deg):
    lies = Hypothesis(size, "lying", x, y, from_the_eye_deg(x, y) + aside_deg)
    stands = lookalike(lies, EYE)
    assert stands is not None
    assert (stands.pose, stands.size) == ("upright", size)
    assert overlap(silhouette(lies.solid, EYE), silhouette(stands.solid, EYE)) > ALIKE
    off_mm = seen_middle_mm(stands.solid, EYE) - seen_middle_mm(lies.solid, EYE)
    assert np.hypot(*off_mm) < 0.1 * size.base_mm


@given(st.sampled_from(SIZES), st.floats(-120, 120), st.floats(0, 120), st.floats(0, 90))
def test_a_piece_that_stands_has_a_lying_lookalike(size, x, y, heading_deg):
    lies = lookalike(Hypothesis(size, "upright", x, y, heading_deg), EYE)
    assert lies is not None
    assert lies.pose == "lying"
    away_deg = (lies.heading_deg - from_the_eye_deg(x, y) + 180) % 360 - 180
    assert abs(away_deg) <= 60


@given(st.sampled_from(SIZES), st.sampled_from(["upright", "lying"]), st.floats(0, 360))
def test_from_above_nothing_looks_alike(size, pose, heading_deg):
    above = np.array([0.0, 0.0, 900.0])
    assert lookalike(Hypothesis(size, pose, 10.0, -20.0, heading_deg), above) is None


def test_a_leaning_piece_has_no_lookalike():
    assert lookalike(Hypothesis(SIZES[0], "leaning", 0.0, 0.0, 90.0, 30.0), EYE) is None


def read_at(seed, layout_of_table, seen_mm):
    """What is read on a drawn table of Ice Storm of the piece that is seen there."""
    made = photographs("storm", seed, (1100, 1700), np.random.default_rng([seed, 9]))
    photo = [photo for photo, _, _ in made][layout_of_table]
    eye_mm = photo.camera.eye_mm
    return min(
        TableReader()(photo).pieces,
        key=lambda one: np.hypot(*(seen_middle_mm(one.guess.solid, eye_mm) - seen_mm)),
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("seed", "layout_of_table", "seen_mm"),
    [
        pytest.param(820004, 2, (48.4, 186.2), id="taken to stand"),
        pytest.param(820020, 0, (167.4, 336.7), id="outlines nearly the same"),
        pytest.param(861028, 2, (73.9, 74.8), id="taken to lean, against the keypoints"),
    ],
)
def test_a_piece_that_lies_is_not_confidently_read_in_another_pose(seed, layout_of_table, seen_mm):
    read = read_at(seed, layout_of_table, seen_mm)
    assert read.guess.pose == "lying" or read.probability < SURE
    assert "lying" in {one.guess.pose for one in (read, *read.rivals)}
