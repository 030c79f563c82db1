"""A piece of which it is in doubt how it lies, or its size, is measured as each thing that it may
be.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from engines.ice_boule.measure import measure
from engines.verdict import Accepted, Ambiguous
from table.observation import LEANED_ON_MM
from tests.support.ice_boule import Tables


def doubtful(tables, gap_mm, other_mm, chance=0.6, known=1.0, sigma_mm=0.1, **other):
    """A blue piece that lies `gap_mm` away by `chance`, and else is another reading, `other_mm`
    away; both together as likely as `known`.

    What is told of its place covers both.
    """
    piece, rival = (
        tables.beside("blue", mm, sigma_mm=sigma_mm, pose_probability=p)
        for mm, p in ((gap_mm, chance), (other_mm, known - chance))
    )
    wide = piece.covariance + (abs(other_mm - gap_mm) + 8.0) ** 2 * np.eye(3)
    return replace(
        piece,
        covariance=wide,
        if_right=piece.covariance,
        rivals=(replace(rival, pose="leaning", **other),),
    )


def nearer(tables, piece, yellow_mm):
    """Is the blue piece clearly nearer than a yellow one, and the yellow one than the blue one?"""
    found = measure(
        tables.seen(tables.target(), piece, tables.beside("yellow", yellow_mm, 180)), "green"
    )
    blue, yellow = sorted(range(2), key=lambda k: found.gaps[k].piece.colour)
    return found.nearer(blue, yellow), found.nearer(yellow, blue)


@pytest.mark.parametrize(
    ("other_mm", "yellow_mm", "expected"),
    [
        (5.0, 12.0, (True, False)),  # both ways
        (11.9, 12.0, (False, False)),  # too close in one of them
        (20.0, 12.0, (False, False)),  # nearer in one, farther in the other
        (20.0, 3.0, (False, True)),
    ],
)
def test_a_call_stands_that_stands_in_every_way(tables, other_mm, yellow_mm, expected):
    assert nearer(tables, doubtful(tables, 6.0, other_mm), yellow_mm) == expected


def test_where_not_all_is_known_that_it_may_be_it_may_lie_anyhow(tables):
    assert nearer(tables, doubtful(tables, 6.0, 5.0, known=0.95), 12.0) == (False, False)
    (gap,) = measure(
        tables.seen(tables.target(), doubtful(tables, 6.0, 5.0, known=0.95)), "green"
    ).gaps
    assert gap.reach_mm > 20


def test_what_its_size_may_be_must_be_known_too(tables):
    unsure = replace(
        doubtful(tables, 6.0, 5.0), size_probability=0.7
    )  # of another size nothing is told
    assert nearer(tables, unsure, 12.0) == (False, False)


def test_that_it_stands_on_the_target_is_not_taken_for_one_of_several_ways(tables):
    """Nearer than all others it is only if it does."""
    target = tables.target()
    above = tables.on("blue", target, 0, pose_probability=0.6)
    beside = replace(above, solid=tables.beside("blue", 30.0).solid, pose_probability=0.4)
    seen = tables.seen(
        target,
        replace(above, if_right=above.covariance, rivals=(beside,)),
        tables.beside("yellow", 12.0, 180),
    )
    found = measure(seen, "green")
    assert found.gaps[0].on_target
    assert found.too_close


@given(st.floats(0.5, 40), st.floats(0.5, 40), st.floats(0.05, 2.0))
def test_its_uncertainty_holds_every_way(gap_mm, other_mm, sigma_mm):
    (gap,) = measure(
        Tables.seen(Tables.target(), doubtful(Tables, gap_mm, other_mm, sigma_mm=sigma_mm)), "green"
    ).gaps
    assume(abs(other_mm - LEANED_ON_MM) > 1e-6)
    leaning_mm = (
        0.0 if other_mm < LEANED_ON_MM else other_mm
    )  # what leans so near touches the target
    assert {round(way.mm, 6) for way in gap.ways} == {round(gap_mm, 6), round(leaning_mm, 6)}
    for way in gap.ways:
        assert abs(way.mm - gap.mm) + way.sigma_mm <= 2**0.5 * gap.sigma_mm + 1e-9
    assert max(way.sigma_mm for way in gap.ways) <= gap.sigma_mm


@pytest.mark.parametrize(("other_mm", "kind"), [(2.0, Accepted), (61.0, Ambiguous)])
def test_people_are_asked_only_where_it_may_lie_so_that_it_does_not_lead(
    new_game, tables, other_mm, kind
):
    game = new_game(players=("blue", "yellow"))
    game.see(tables.target())
    game.add(tables.beside("blue", 90.0, 90))
    game.add(tables.beside("yellow", 60.0, 180))
    verdict = game.add(doubtful(tables, 6.0, other_mm))
    assert isinstance(verdict, kind), verdict
