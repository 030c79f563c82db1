"""Moving a solid on to the edges of a picture: drawn tables, where its place is known exactly."""

from __future__ import annotations

from importlib import resources

import numpy as np
import pytest
from scipy.stats import qmc

from table.pieces import load_piece_set
from vision.geometry.piece_pose import Hypothesis
from vision.pose.edge_alignment import (
    PLACE_PX,
    POOL,
    REACH_PX,
    align_to_edges,
    edge_log_likelihood,
    samples,
)

PIECES = load_piece_set("looney")
SIGMA = np.array([1.0, 1.0, 4.0, 6.0])
KNOWN = np.diag(SIGMA[:3] ** 2)


@pytest.mark.parametrize(
    "truth",
    [
        Hypothesis(PIECES["medium"], "upright", 12.3, -20.4, 31.0),
        Hypothesis(PIECES["small"], "upright", -60.0, 40.0, 77.0),
        Hypothesis(PIECES["large"], "lying", 20.0, 10.0, 200.0),
        Hypothesis(PIECES["medium"], "lying", -30.0, -30.0, 75.0),
        Hypothesis(PIECES["large"], "leaning", 0.0, 0.0, 120.0, 18.0),
    ],
    ids=lambda guess: f"{guess.size} {guess.pose}",
)
def test_a_misplaced_solid_finds_its_edges(truth, photo_of):
    photo = photo_of(truth)
    sigma = SIGMA[: len(truth.parameters)]
    away = []
    for k in range(4):
        start = truth.at(
            truth.parameters + 0.7 * sigma * np.random.default_rng(k).uniform(-1, 1, len(sigma))
        )
        placed = align_to_edges(start, np.diag(sigma**2), photo, [], None)
        assert placed is not None
        away.append(placed.guess.parameters - truth.parameters)
        assert np.linalg.eigvalsh(placed.covariance).min() > 0
    # A pixel shows 0.47 mm of the table here.
    assert np.abs(np.median(away, axis=0))[:2].max() < 0.23
    assert abs(np.median(away, axis=0)[2]) < 0.8


def test_the_right_size_has_the_most_evidence(photo_of):
    truth = Hypothesis(PIECES["medium"], "upright", 5.0, 8.0, 20.0)
    photo = photo_of(truth)
    evidence = {}
    for size in PIECES.sizes:
        placed = align_to_edges(Hypothesis(size, "upright", 5.0, 8.0, 20.0), KNOWN, photo, [], None)
        assert placed is not None
        evidence[size.name] = placed.evidence
    assert max(evidence, key=evidence.get) == "medium"


def test_edges_that_are_hidden_are_not_read(photo_of):
    truth = Hypothesis(PIECES["medium"], "lying", 0.0, 0.0, 40.0)
    photo = photo_of(truth)
    around = photo.silhouette(truth.solid)
    middle = around.mean(axis=0)
    assert align_to_edges(truth, KNOWN, photo, [middle + 1.5 * (around - middle)], None) is None


def test_on_bare_ground_nothing_speaks_for_a_piece(photo_of):
    guess = Hypothesis(PIECES["medium"], "lying", 0.0, 0.0, 40.0)
    placed, there = (
        align_to_edges(guess, KNOWN, photo_of(), [], None),
        align_to_edges(guess, KNOWN, photo_of(guess), [], None),
    )
    assert placed is not None
    assert there is not None
    assert placed.evidence < 3 < there.evidence


@pytest.mark.parametrize("pose", ["upright", "lying"])
def test_the_draws_agree_with_every_place_of_a_grid(pose, photo_of):
    """The slow way: what all places of a fine grid are worth, by the same votes, and the mean and
    spread of that.
    """
    truth = Hypothesis(PIECES["medium"], pose, 5.0, 8.0, 20.0)
    photo, start = photo_of(truth), truth.at(truth.parameters + np.array([0.4, -0.3, 1.0]))
    placed = align_to_edges(start, KNOWN, photo, [], None)
    points = samples(start, photo, [])
    table = edge_log_likelihood(points, photo) / POOL
    spread = np.sqrt(np.diag(placed.covariance))
    steps = (
        np.stack(np.meshgrid(*[np.linspace(-4, 4, 33)] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
        * spread
    )
    moves = steps + placed.guess.parameters - start.parameters
    place = np.clip((points.jacobian @ moves.T + REACH_PX) / PLACE_PX, 0, table.shape[1] - 1.001)
    left = place.astype(int)
    row = np.arange(len(table))[:, None]
    worth = (table[row, left] * (1 - place + left) + table[row, left + 1] * (place - left)).sum(
        axis=0
    )
    worth -= 0.5 * (moves**2 / np.diag(KNOWN)).sum(axis=1)
    weight = np.exp(worth - worth.max())
    weight /= weight.sum()
    mean = weight @ steps
    assert np.abs(mean / spread).max() < 0.35
    by_grid = np.sqrt(weight @ (steps - mean) ** 2)
    np.testing.assert_allclose(spread, by_grid, rtol=0.35)


@pytest.mark.parametrize("p", [1, 2, 3, 4])
def test_the_points_that_are_shipped_are_scrambled_sobol_points(p):
    with resources.files("vision").joinpath("data/sobol.npz").open("rb") as file:
        shipped = np.load(file)[str(p)]
    drawn = qmc.Sobol(p, scramble=True, rng=np.random.default_rng(1)).random(len(shipped))
    assert (drawn * 2**30 == shipped).all()
