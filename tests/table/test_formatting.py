"""Numbers beside a limit never look equal to it, or beyond it, when they are not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from table.formatting import beside


@pytest.mark.parametrize(
    ("value", "limit", "decimals", "shown"),
    [
        (0.15004, 0.15, 2, "0.16"),
        (0.14996, 0.15, 2, "0.14"),
        (0.15, 0.15, 2, "0.15"),
        (0.3, 0, 0, "1"),
        (3.14, 2.5, 1, "3.1"),
        (2.501, 2.5, 1, "2.6"),
    ],
)
def test_a_number_is_rounded_away_from_its_limit(
    value: float, limit: float, decimals: int, shown: str
) -> None:
    assert beside(value, limit, decimals) == shown


@given(st.floats(0, 1e4), st.integers(1, 1000), st.integers(0, 3))
def test_what_is_shown_is_on_the_same_side_and_less_than_a_step_and_a_half_off(
    value: float, hundredths: int, decimals: int
) -> None:
    limit = hundredths * 10.0 ** (2 - decimals)
    shown, edge = float(beside(value, limit, decimals)), float(f"{limit:.{decimals}f}")
    assert (shown > edge, shown < edge) == (value > limit, value < limit)
    assert abs(shown - value) < 1.5 * 10.0**-decimals + 1e-9
