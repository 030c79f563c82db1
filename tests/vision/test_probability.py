"""Functions of probability agree with SciPy's."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import special

from vision.probability import expit, logit, logsumexp, normal_cdf, normal_quantile, softmax

LOGS = np.array([[-900.0, -3.0, 0.0, 2.5], [700.0, 701.0, -np.inf, 1.0]])
CHANCES = np.array([1e-300, 1e-9, 0.2, 0.5, 1 - 1e-9])


@pytest.mark.parametrize(
    ("ours", "theirs", "given"),
    [
        (logit, special.logit, np.array([0.0, *CHANCES, 1.0])),
        (expit, special.expit, np.array([-np.inf, -800.0, -3.0, 0.0, 40.0, 800.0, np.inf])),
        (softmax, lambda logs: special.softmax(logs, axis=-1), LOGS),
        (logsumexp, special.logsumexp, LOGS[1]),
        (normal_cdf, special.ndtr, np.linspace(-36, 9, 200)),
        (normal_quantile, special.ndtri, CHANCES),
    ],
)
def test_values_are_those_of_scipy(ours, theirs, given):
    np.testing.assert_allclose(ours(given), theirs(given), rtol=1e-9)
