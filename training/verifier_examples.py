"""Training examples for the pose verifier: places, and hypotheses about each of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from simulation.generate.layouts import Layout
from simulation.generate.tables import Kind
from table.solids import Array, Pose, Solid
from training.boards import photographs
from training.refiner_examples import WIDTHS_PX, network_input, picture_around
from vision.geometry.piece_pose import project_to_table
from vision.geometry.rectified_view import FlatView, Photo
from vision.networks.detector import search, view_of
from vision.networks.pose_refiner import BASE_PX, straight_crop
from vision.pipeline import propose_candidates
from vision.pose.candidates import PoseHypothesis, align_readings, with_all_readings
from vision.pose.initial_poses import VERTEX_ORDERS
from vision.pose.priors import habit_of

BOARDS: tuple[Kind, ...] = (
    "storm",
    "boule",
    "zamboni",
    "icebreaker",
    "storm",
    "icefloe",
    "zamboni",
    "boule",
)
RIGHT_BASES, WRONG_BASES = 0.12, 0.35
"""Error of the vertices, in bases, below which a hypothesis of the true size and pose is right, and
above which it is wrong. Hypotheses between the two are left out.
"""
SAME_BASES, OTHER_BASES = 0.5, 0.9
"""Distance, in bases, up to which a hypothesis is of a piece, and that from all pieces beyond which
it is of none.
"""
MOST = 6
"""Largest number of hypotheses of a place in a step."""


@dataclass(frozen=True, slots=True, eq=False)
class LabelledHypothesis:
    """A hypothesis, aligned with edges, and its correctness."""

    solid: Solid
    pose: Pose
    right: bool


@dataclass(frozen=True, slots=True, eq=False)
class AmbiguousPlace:
    """A place with several `hypotheses`, and the rectified picture around it.

    `eye_mm` (3,) is the camera's place; `blur` is the keypoints' uncertainty, in bases.
    """

    view: FlatView
    eye_mm: Array
    blur: float
    hypotheses: tuple[LabelledHypothesis, ...]


def board_places(seed: int) -> Iterator[AmbiguousPlace]:
    """Candidates of vision on one random table of a game."""
    rng = np.random.default_rng([seed, 29])
    for photo, layout, _ in photographs(BOARDS[seed % len(BOARDS)], seed, WIDTHS_PX, rng):
        yield from ambiguous_places(photo, layout)


def ambiguous_places(photo: Photo, layout: Layout) -> Iterator[AmbiguousPlace]:
    """Candidates of vision on a photograph."""
    detections, habit = search(view_of(photo), photo.setup.colours), habit_of(photo.setup).poses
    there = [(place.piece.solid, place.pose) for place in layout.placed]
    for one in (
        with_all_readings(candidate, habit, photo)
        for candidate in propose_candidates(detections, photo)
    ):
        true = _piece_at(one.best.solid, [solid for solid, _ in there], photo)
        if true is None:
            continue
        others = [photo.silhouette(solid) for k, (solid, _) in enumerate(there) if k != true]
        tried = align_readings(one.rivals, photo, others, None)
        solid, pose = there[true] if true >= 0 else (one.best.solid, one.best.pose)
        hypotheses = [
            _labelled(guess, there[true] if true >= 0 else None, photo.camera.eye_mm)
            for guess in tried
        ]
        view = picture_around(solid, pose, photo, photo.paper)
        if view is not None:
            yield AmbiguousPlace(
                view,
                photo.camera.eye_mm,
                one.keypoints.blur,
                tuple(known for known in hypotheses if known is not None),
            )


def _piece_at(solid: Solid, there: Sequence[Solid], photo: Photo) -> int | None:
    """Index of the piece of a hypothesis.

    -1 if it is of none, None if it is ambiguous.
    """
    guess, *cuts = (
        straight_crop(one, "upright", photo.camera.eye_mm) for one in (solid, *there)
    )  # only place and scale count, not the rotation
    away = [
        float(np.linalg.norm(cut.middle_mm - guess.middle_mm)) / (cut.step_mm * BASE_PX)
        for cut in cuts
    ]
    if not away or min(away) > OTHER_BASES:
        return -1
    return int(np.argmin(away)) if min(away) < SAME_BASES else None


def _labelled(
    tried: PoseHypothesis, true: tuple[Solid, Pose] | None, eye_mm: Array
) -> LabelledHypothesis | None:
    guess, solid = tried.guess, tried.guess.solid
    if true is None or guess.pose != true[1]:
        return LabelledHypothesis(solid, guess.pose, False)
    seen, guessed = (project_to_table(one.vertices_mm, eye_mm) for one in (true[0], solid))
    orders = VERTEX_ORDERS if guess.pose == "upright" else VERTEX_ORDERS[:1]
    off = (
        min(float(np.linalg.norm(guessed[order] - seen, axis=1).mean()) for order in orders)
        / guess.size.base_mm
    )
    same_size = abs(true[0].base_mm / guess.size.base_mm - 1) < 0.02
    if not same_size or off > WRONG_BASES:
        return LabelledHypothesis(solid, guess.pose, False)
    return LabelledHypothesis(solid, guess.pose, True) if off < RIGHT_BASES else None


def example(
    place: AmbiguousPlace, rng: np.random.Generator
) -> tuple[NDArray[np.uint8], NDArray[np.float32]]:
    """Inputs (n, 5, CROP_PX, CROP_PX) of a place's hypotheses, and which of them are right (n,)."""
    chosen = [one for one in place.hypotheses if one.right]
    wrong = [one for one in place.hypotheses if not one.right]
    chosen += [wrong[k] for k in rng.permutation(len(wrong))[: MOST - len(chosen)]]
    seen = [network_input(one.solid, one.pose, place.view, place.eye_mm, rng)[0] for one in chosen]
    return np.stack(seen), np.array([one.right for one in chosen], np.float32)


def loss(odds: Tensor, right: Tensor, place: Tensor) -> Tensor:
    """Negative log-likelihood of the right hypothesis of each place.

    `odds` (n,) are the log odds of hypotheses against an empty place. `right` (n,) is 1 for right
    ones; `place` (n,) is the index of their place.
    """
    count = int(place.max()) + 1
    level = odds.new_zeros(count).scatter_reduce(0, place, odds, "amax").detach()

    def chances(weights: Tensor) -> Tensor:
        return odds.new_zeros(count).scatter_add(0, place, torch.exp(odds - level[place]) * weights)

    nothing = torch.exp(-level)
    known = odds.new_zeros(count).scatter_reduce(0, place, right, "amax")
    right_chance = torch.where(known > 0, chances(right), nothing)
    return (
        torch.log(nothing + chances(torch.ones_like(odds)))
        - torch.log(right_chance.clamp(min=1e-20))
    ).mean()
