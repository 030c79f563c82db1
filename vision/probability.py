"""Probability functions for reading a photograph.

SciPy has them too, but importing it takes 25 MB of memory and a quarter of a second.
"""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike

from table.solids import Array

_below = np.vectorize(lambda x: math.erfc(-x / math.sqrt(2)) / 2, [float])
_quantile = np.vectorize(NormalDist().inv_cdf, [float])


def logit(chance: ArrayLike) -> Array:
    """Log odds of probabilities; -inf of 0 and inf of 1."""
    p = np.asarray(chance, float)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(p) - np.log1p(-p))


def expit(log_odds: ArrayLike) -> Array:
    """Probabilities of log odds."""
    return np.asarray(np.exp(-np.logaddexp(0.0, -np.asarray(log_odds, float))))


def logsumexp(logs: ArrayLike) -> float:
    """Logarithm of the sum of the exponentials; -inf contributes nothing."""
    return float(np.logaddexp.reduce(np.asarray(logs, float)))


def softmax(logs: ArrayLike) -> Array:
    """Exponentials normalized to a sum of 1, along the last axis."""
    x = np.asarray(logs, float)
    shares = np.exp(x - x.max(axis=-1, keepdims=True))
    return np.asarray(shares / shares.sum(axis=-1, keepdims=True))


def normal_cdf(x: ArrayLike) -> Array:
    """Probability that a standard normal variable is below x."""
    return np.asarray(_below(x))


def normal_quantile(chance: ArrayLike) -> Array:
    """Quantile of the standard normal distribution."""
    return np.asarray(_quantile(chance))
