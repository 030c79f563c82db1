"""Test of a die for fairness: Pearson's chi-square against six equally likely values."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from scipy.special import chdtrc

SUSPICIOUS = 0.001
"""Significance level: a fair die falls below it once in a thousand tests."""
FEWEST = 30
"""Minimum number of rolls, so that the expected count of each value is at least five."""


@dataclass(frozen=True, slots=True)
class Fairness:
    """Result of a chi-square test of a die.

    `counts` are the frequencies of the values 1 to 6; `chi_square` has 5 degrees of freedom;
    `probability` is the p-value.
    """

    counts: tuple[int, ...]
    chi_square: float
    probability: float

    def __bool__(self) -> bool:
        return self.probability >= SUSPICIOUS


def judge_rolls(rolls: Iterable[int]) -> Fairness:
    """Test FEWEST rolls or more, with values of 1 to 6.

    Raises ValueError for fewer, or for other values.
    """
    counts = [0] * 6
    for value in rolls:
        if value not in range(1, 7):
            raise ValueError(f"expected values of 1 to 6, got {value}")
        counts[value - 1] += 1
    expected = sum(counts) / 6
    if sum(counts) < FEWEST:
        raise ValueError(f"expected {FEWEST} rolls or more, got {sum(counts)}")
    chi_square = sum((count - expected) ** 2 for count in counts) / expected
    return Fairness(tuple(counts), chi_square, float(chdtrc(5, chi_square)))
