"""Rows and columns are paired at the least total cost, as SciPy's solver does it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from scipy.optimize import linear_sum_assignment

from table.assignment import least_cost_pairs

COSTS = arrays(
    float,
    array_shapes(min_dims=2, max_dims=2, min_side=0, max_side=9),
    elements=st.one_of(st.floats(-1e3, 1e3), st.sampled_from([0.0, 1.0, 1e6]), st.floats(0, 1e12)),
)


@given(COSTS)
def test_as_many_pairs_as_can_be_cost_as_little_as_can_be(cost):
    rows, columns = least_cost_pairs(cost)
    assert list(rows) == sorted(set(rows))
    assert len(set(columns)) == len(rows) == min(cost.shape)
    least = cost[linear_sum_assignment(cost)].sum()
    assert cost[rows, columns].sum() == pytest.approx(least, rel=1e-9, abs=1e-9 * cost.size)


def test_costs_that_mean_never_do_not_hide_small_ones():
    never = 1e6
    cost = np.array([[never, 2.0, 1.0], [never, never, 3.0], [1.0, never, never]])
    assert [row.tolist() for row in least_cost_pairs(cost)] == [[0, 1, 2], [1, 2, 0]]


@pytest.mark.parametrize("wrong", [np.inf, -np.inf, np.nan])
def test_a_cost_that_is_not_finite_is_refused(wrong):
    with pytest.raises(ValueError, match="expected finite costs"):
        least_cost_pairs(np.array([[1.0, wrong]]))
