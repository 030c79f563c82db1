"""Figures of samples, which are None where there is nothing to tell."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np


def percentiles(values: Iterable[float | None], *percents: float) -> tuple[float, ...] | None:
    """Percentiles of the known values; None if there are none."""
    known = [value for value in values if value is not None]
    return tuple(float(value) for value in np.percentile(known, percents)) if known else None


def median(values: Iterable[float | None]) -> float | None:
    """The median of the known values; None if there are none."""
    found = percentiles(values, 50)
    return found[0] if found else None
