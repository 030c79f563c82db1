"""Pieces that lean rest on what they lean on."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from simulation.generate.rest_poses import lean_against
from table.clearance import clearance
from table.observation import LEANED_ON_MM
from table.pieces import load_piece_set
from table.solids import Solid, lying, upright
from vision.geometry.piece_pose import Hypothesis
from vision.pose.contact import Support, update_by_contact

SIZES = load_piece_set("looney").sizes
KNOWN = np.diag([1.5, 1.5, 2.0, 8.0]) ** 2
EXACT_MM = 0.05


def fallen(size, support, away_mm, bearing_deg, aside_deg):
    """A piece that has fallen on to a support from `away_mm` beside it, as a hypothesis; None where
    it falls past.
    """
    heading_deg = bearing_deg + 180 + aside_deg
    turn = np.radians(bearing_deg)
    edge = support.vertices_mm[:, :2].mean(axis=0) + away_mm * np.array(
        [np.cos(turn), np.sin(turn)]
    )
    solid = lean_against(size, edge, heading_deg, support)
    if solid is None:
        return None
    ahead = solid.vertices_mm[4] - solid.vertices_mm[1:3].mean(axis=0)
    flat = lying(size, 0.0, 0.0, 0.0).vertices_mm
    lies = flat[4] - flat[1:3].mean(axis=0)
    tilt_deg = np.degrees(np.arctan2(ahead[2], np.hypot(*ahead[:2])) - np.arctan2(lies[2], lies[0]))
    return Hypothesis(size, "leaning", float(edge[0]), float(edge[1]), heading_deg, float(tilt_deg))


SUPPORTS = st.one_of(
    st.builds(
        lambda size, turn: upright(size, 20.0, -10.0, turn),
        st.sampled_from(SIZES),
        st.floats(0, 90),
    ),
    st.builds(
        lambda size, turn: lying(size, 20.0, -10.0, turn), st.sampled_from(SIZES), st.floats(0, 360)
    ),
)


@st.composite
def leaning(draw):
    support = draw(SUPPORTS)
    truth = fallen(
        draw(st.sampled_from(SIZES)),
        support,
        draw(st.floats(20, 60)),
        draw(st.floats(0, 360)),
        draw(st.floats(-30, 30)),
    )
    assume(truth is not None)
    return truth, support, np.array(draw(st.tuples(*[st.floats(-1, 1)] * 4)))


@settings(max_examples=40)
@given(leaning())
def test_it_touches_and_is_known_better(case):
    truth, support, off = case
    read = truth.at(truth.parameters + off * [1.0, 1.0, 2.0, 6.0])
    assume(clearance(read.solid, support).mm <= LEANED_ON_MM)
    found, covariance = update_by_contact(read, KNOWN, [Support(support, EXACT_MM)])
    assume(found != read)
    lifted = found.at(found.parameters + np.array([0.0, 0.0, 0.0, 1.5]))
    assert clearance(found.solid, support).mm < 2.0, (
        "where it touches in two places, it may stay a little above one"
    )
    assert clearance(lifted.solid, support).mm > 0, "reaches in by more than a degree and a half"
    assert np.linalg.eigvalsh(KNOWN - covariance).min() > -1e-9
    assert np.linalg.eigvalsh(covariance).min() > 0


def test_pieces_are_nearer_to_where_they_are_and_as_well_known_as_is_told():
    rng, before, after, squared = np.random.default_rng(7), [], [], []
    while len(after) < 80:
        size, support = (
            rng.choice(SIZES),
            upright(rng.choice(SIZES), 20.0, -10.0, rng.uniform(0, 90)),
        )
        truth = fallen(
            size, support, rng.uniform(20, 60), rng.uniform(0, 360), rng.uniform(-30, 30)
        )
        if truth is None:
            continue
        read = truth.at(rng.multivariate_normal(truth.parameters, KNOWN))
        found, covariance = update_by_contact(read, KNOWN, [Support(support, EXACT_MM)])
        if found == read:
            continue
        off = found.parameters - truth.parameters
        before.append(read.parameters - truth.parameters)
        after.append(off)
        squared.append(off @ np.linalg.solve(covariance, off))
    spread_before, spread_after = (
        np.sqrt(np.square(some).mean(axis=0)) for some in (before, after)
    )
    assert spread_after[3] < 0.8 * spread_before[3]
    assert (spread_after < 1.05 * spread_before).all()
    assert 2.5 < np.mean(squared) < 5.5  # 4 numbers


def test_where_nothing_is_near_or_nothing_can_be_leaned_on_it_is_as_it_was_read():
    read = Hypothesis(SIZES[0], "leaning", 0.0, 0.0, 0.0, 20.0)
    far = Support(upright(SIZES[0], 200.0, 0.0, 0.0), EXACT_MM)
    around = Support(Solid(read.solid.vertices_mm * [3.0, 3.0, 9.0] - [30.0, 0.0, 9.0]), EXACT_MM)
    for supports in ([], [far], [around]):
        found, covariance = update_by_contact(read, KNOWN, supports)
        assert found == read
        assert covariance == pytest.approx(KNOWN)
