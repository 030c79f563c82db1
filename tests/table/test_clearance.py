"""Clearance against a method that shares nothing with it: the shortest vector of the Minkowski
difference, by least squares.
"""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import linprog, nnls
from scipy.spatial.transform import Rotation

from table.clearance import clearance
from table.pieces import PieceSize, load_piece_set
from table.solids import POSES, Array, Solid, leaning, lying, on_top, upright

SMALL, MEDIUM, LARGE = SIZES = load_piece_set("looney").sizes
NEAR_MM = 1e-6


def solid_of(
    size: PieceSize, pose: str, at_mm: Array, heading_deg: float, attitude: Array
) -> Solid:
    """A piece that stands or lies at (x, y), or one at any attitude (a quaternion, of any length)
    at (x, y, z).
    """
    if pose == "upright":
        return upright(size, at_mm[0], at_mm[1], heading_deg)
    if pose == "lying":
        return lying(size, at_mm[0], at_mm[1], heading_deg)
    return leaning(size, Rotation.from_quat(attitude).as_matrix(), at_mm)


def any_solid(rng: np.random.Generator, spread_mm: float) -> Solid:
    size, pose = SIZES[rng.integers(3)], POSES[rng.integers(3)]
    return solid_of(
        size,
        pose,
        rng.uniform(-spread_mm, spread_mm, 3),
        float(rng.uniform(0, 360)),
        rng.normal(size=4),
    )


def solids() -> st.SearchStrategy[Solid]:
    lengths = st.floats(-60, 60)
    turns = arrays(float, 4, elements=st.floats(-1, 1)).filter(lambda q: np.linalg.norm(q) > 0.1)
    return st.builds(
        solid_of,
        st.sampled_from(SIZES),
        st.sampled_from(POSES),
        arrays(float, 3, elements=lengths),
        st.floats(0, 360),
        turns,
    )


def slow_clearance_mm(a: Solid, b: Solid) -> float:
    """Distance from the origin to the hull of all differences of vertices, as a least-distance
    programme.

    Lawson and Hanson, Solving Least Squares Problems, chapter 23: the residual r of min |E u - (0,
    0, 0, 1)|, u >= 0, with the differences and a row of ones as E, has r^2 = d^2 / (1 + d^2).
    """
    differences = (a.vertices_mm[:, None] - b.vertices_mm[None]).reshape(-1, 3)
    _, residual = nnls(np.vstack([differences.T, np.ones(25)]), np.array([0.0, 0.0, 0.0, 1.0]))
    return float(residual / math.sqrt(1 - residual**2))


def share_a_point(a: Solid, b: Solid) -> bool:
    """Is some mixture of one's vertices a mixture of the other's?  (A linear programme.)"""
    equal = np.zeros((5, 10))
    equal[:3, :5], equal[:3, 5:] = a.vertices_mm.T, -b.vertices_mm.T
    equal[3, :5] = equal[4, 5:] = 1
    return bool(linprog(np.zeros(10), A_eq=equal, b_eq=[0, 0, 0, 1, 1]).status == 0)


def assert_exact(a: Solid, b: Solid) -> None:
    found = clearance(a, b)
    assert found.mm == pytest.approx(slow_clearance_mm(a, b), abs=NEAR_MM)
    assert np.linalg.norm(found.a_mm - found.b_mm) == pytest.approx(found.mm, abs=NEAR_MM)
    for point, solid in ((found.a_mm, a), (found.b_mm, b)):
        assert slow_clearance_mm(Solid(np.tile(point, (5, 1))), solid) <= NEAR_MM


@pytest.mark.parametrize("spread_mm", [200, 40, 15, 2], ids=lambda mm: f"within {mm} mm")
def test_equals_the_slow_method_on_random_pairs(spread_mm: float) -> None:
    rng = np.random.default_rng(int(spread_mm))
    for _ in range(1500):
        assert_exact(any_solid(rng, spread_mm), any_solid(rng, spread_mm))


def test_overlap_is_that_of_a_linear_programme() -> None:
    rng = np.random.default_rng(7)
    pairs = [(any_solid(rng, 14), any_solid(rng, 14)) for _ in range(300)]
    shared = [share_a_point(a, b) for a, b in pairs]
    assert 50 < sum(shared) < 250
    assert [clearance(a, b).mm == 0 for a, b in pairs] == shared


def brought_to_touch(rng: np.random.Generator) -> tuple[Solid, Solid]:
    """A pair of random attitudes, the second one moved along the shortest way until nothing is
    between them.
    """
    while True:
        a, b = any_solid(rng, 50), any_solid(rng, 50)
        gap = clearance(a, b)
        if gap.mm > 1:
            return a, Solid(b.vertices_mm + gap.a_mm - gap.b_mm)


def test_solids_that_touch() -> None:
    rng = np.random.default_rng(11)
    for _ in range(800):
        a, b = brought_to_touch(rng)
        assert clearance(a, b).mm == pytest.approx(0, abs=NEAR_MM)
        assert_exact(a, b)


@pytest.mark.parametrize("shift_mm", [1e-3, 1e-5, 1e-7, 1e-11, -1e-11, -1e-7, -1e-5, -1e-3])
def test_solids_that_nearly_touch(shift_mm: float) -> None:
    rng = np.random.default_rng(13)
    for _ in range(150):
        a, b = any_solid(rng, 50), any_solid(rng, 50)
        gap = clearance(a, b)
        if gap.mm > 1:
            way = (gap.a_mm - gap.b_mm) / gap.mm
            assert_exact(a, Solid(b.vertices_mm + way * (gap.mm - shift_mm)))


def test_solids_inside_each_other() -> None:
    rng = np.random.default_rng(17)
    for _ in range(500):
        outer = any_solid(rng, 30)
        within = rng.dirichlet(np.ones(5), 5) @ outer.vertices_mm
        centre = outer.vertices_mm.mean(axis=0)
        inner = Solid(
            centre + 0.1 * (outer.vertices_mm - centre) + 0.2 * (within.mean(axis=0) - centre)
        )
        for a, b in ((inner, outer), (outer, inner), (outer, outer)):
            assert clearance(a, b).mm == 0
            assert_exact(a, b)


@pytest.mark.parametrize("twist_deg", [0, 1e-13, 1e-10, 1e-8, 1e-6, 1e-4, 1e-2])
@pytest.mark.parametrize("gap_mm", [0, 1e-9, 0.02, 5])
def test_edges_and_faces_that_are_all_but_parallel(gap_mm: float, twist_deg: float) -> None:
    for size in (SMALL, LARGE):
        a = upright(MEDIUM, 0, 0, 0)
        b = upright(size, (MEDIUM.base_mm + size.base_mm) / 2 + gap_mm, 3, twist_deg)
        assert_exact(a, b)
        assert_exact(
            lying(MEDIUM, 0, 0, 90),
            lying(size, MEDIUM.base_mm / 2 + size.base_mm / 2 + gap_mm, 1, 90 + twist_deg),
        )
        assert_exact(b, a)


@pytest.mark.parametrize("twist_deg", [0, 1e-12, 1e-9, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1])
@pytest.mark.parametrize("gap_mm", [0, 1e-7, 1e-4, 0.02])
def test_two_edges_that_cross_in_their_middles(gap_mm: float, twist_deg: float) -> None:
    """Balanced on base edges, one on the other, all but along each other: the gap is where they
    cross, not at their ends.
    """
    edge_down = Solid(
        upright(LARGE, 0, LARGE.base_mm / 2, 0).vertices_mm
        @ Rotation.from_euler("x", 60, degrees=True).as_matrix().T
    )
    edge_up = Solid(
        edge_down.vertices_mm
        @ Rotation.from_euler("zx", [twist_deg, 180], degrees=True).as_matrix().T
    )
    found = clearance(Solid(edge_down.vertices_mm + np.array([0, 0, gap_mm])), edge_up)
    assert found.mm == pytest.approx(gap_mm, abs=1e-9)


def test_two_that_stand_side_by_side_are_as_far_apart_as_their_bases() -> None:
    gap = clearance(upright(MEDIUM, 0, 0, 0), upright(LARGE, 50, 0, 0))
    assert gap.mm == pytest.approx(50 - MEDIUM.base_mm / 2 - LARGE.base_mm / 2)
    assert gap.a_mm[[0, 2]] == pytest.approx([MEDIUM.base_mm / 2, 0])
    assert gap.b_mm[[0, 2]] == pytest.approx([50 - LARGE.base_mm / 2, 0])


def test_the_raised_corner_of_a_lying_piece_can_be_nearest() -> None:
    """Two lie side by side, head to tail: their bases lean towards each other and only the raised
    corners, 24.4 mm up, meet.
    """
    raised_mm, nearer_tip_mm = (
        LARGE.base_mm * LARGE.height_mm / LARGE.slant_mm,
        LARGE.base_mm**2 / 2 / LARGE.slant_mm,
    )
    a, b = lying(LARGE, 0, 0, 0), lying(LARGE, 2 * nearer_tip_mm, LARGE.base_mm + 6, 180)
    gap = clearance(a, b)
    assert gap.mm == pytest.approx(6)
    assert gap.a_mm == pytest.approx([nearer_tip_mm, LARGE.base_mm / 2, raised_mm])
    assert gap.b_mm == pytest.approx([nearer_tip_mm, LARGE.base_mm / 2 + 6, raised_mm])


def test_a_tip_over_a_face() -> None:
    """The foot of a tip on the inside of a face, by hand: the face of a lying piece that looks down
    is the board.
    """
    below = lying(LARGE, 0, 0, 0)
    pointing_up = upright(SMALL, 15, 0, 30, z_mm=-SMALL.height_mm - 4)
    gap = clearance(below, pointing_up)
    assert gap.mm == pytest.approx(4)
    assert gap.a_mm == pytest.approx([15, 0, 0], abs=1e-9)
    assert gap.b_mm == pytest.approx([15, 0, -4], abs=1e-9)


def test_one_on_another_has_no_gap() -> None:
    below = upright(MEDIUM, 3, 4, 20)
    assert clearance(below, on_top(MEDIUM, below, 65)).mm == 0


def test_flat_and_pointed_degenerate_solids() -> None:
    """A pyramid without height is still a square: nothing divides by its volume."""
    flat = PieceSize("flat", 20, 0)
    for x_mm, z_mm, expected_mm in ((0, 5, 5), (0, 0, 0), (25, 0, 5), (23, 4, 5), (20, 0, 0)):
        assert clearance(
            upright(flat, 0, 0, 0), upright(flat, x_mm, 0, 0, z_mm)
        ).mm == pytest.approx(expected_mm, abs=1e-9)
        assert_exact(upright(flat, 0, 0, 0), upright(flat, x_mm, 0, 0, z_mm))


def moved(solid: Solid, turn: Array, by: Array) -> Solid:
    return Solid(solid.vertices_mm @ turn.T + by)


@given(solids(), solids(), st.floats(0, 360), st.tuples(*[st.floats(-100, 100)] * 3))
def test_swapping_and_moving_the_table_changes_nothing(
    a: Solid, b: Solid, turn_deg: float, by: tuple[float, float, float]
) -> None:
    found = clearance(a, b)
    swapped = clearance(b, a)
    c, s = math.cos(math.radians(turn_deg)), math.sin(math.radians(turn_deg))
    turn = np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]])
    elsewhere = clearance(moved(a, turn, np.array(by)), moved(b, turn, np.array(by)))
    assert swapped.mm == pytest.approx(found.mm, abs=NEAR_MM)
    assert elsewhere.mm == pytest.approx(found.mm, abs=NEAR_MM)
