"""Doubt that is told grows with what edges leave of it, and says what they left."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from table.observation import SURE
from table.pieces import load_piece_set
from vision.geometry.uncertainty import (
    FLOOR_DEG,
    FLOOR_MM,
    MOST_TIMES,
    edge_sigma_mm,
    inflate_covariance,
    most_size_probability,
)

SIGMAS_MM = st.floats(0.001, 5.0)


@given(SIGMAS_MM, SIGMAS_MM, st.floats(0.01, 20.0), st.floats(-0.9, 0.9))
def test_what_edges_left_is_found_again(x_mm, y_mm, heading_deg, correlation):
    left = np.diag([x_mm**2, y_mm**2, heading_deg**2])
    left[0, 1] = left[1, 0] = correlation * x_mm * y_mm
    inflated = inflate_covariance(left)
    assert np.linalg.eigvalsh(inflated - left).min() > -1e-9, "never less doubt than edges leave"
    most = MOST_TIMES**2 * left + np.diag([FLOOR_MM, FLOOR_MM, FLOOR_DEG]) ** 2
    assert np.linalg.eigvalsh(most - inflated).min() > -1e-9, (
        "nor so much that a piece would be anywhere"
    )
    assert edge_sigma_mm(inflated) == pytest.approx(np.sqrt((x_mm**2 + y_mm**2) / 2), rel=1e-6)


def test_clear_edges_leave_what_the_model_leaves_out():
    assert np.sqrt(np.diag(inflate_covariance(np.zeros((3, 3))))).tolist() == pytest.approx(
        [FLOOR_MM, FLOOR_MM, FLOOR_DEG]
    )
    assert edge_sigma_mm(np.zeros((2, 2))) == 0.0


def test_sizes_are_told_apart_as_well_as_edges_are_known():
    letters = load_piece_set("piecepack").sizes
    probabilities = [
        most_size_probability(letters[2], letters, np.diag([sigma_mm**2, sigma_mm**2, 1.0]))
        for sigma_mm in (0.1, 0.3, 0.5, 2.0)
    ]
    assert probabilities == sorted(probabilities, reverse=True)
    assert min(probabilities[:2]) > SURE > max(probabilities[2:])
    assert most_size_probability(letters[2], letters[2:3], np.eye(3)) == 1.0, "there is no other"
