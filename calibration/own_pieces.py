"""Measure a user's own pieces from two photographs: all of them standing, and all of them lying.

Each size and colour is there once. Each size is fitted to the edges of all its pieces together. The
palette or `calibration.colours` identifies the pieces by their colours.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import msgspec
import numpy as np

from calibration.colours import (
    ALIKE_MARGIN,
    MeasuredPiece,
    colour_scores,
    learn,
    learned_setup,
    measure_light,
    photo_of_pieces,
)
from table.assignment import least_cost_pairs
from table.boards import within
from table.errors import InputError
from table.messages import in_a_row, msg
from table.observation import Observation
from table.optimize import minimize
from table.pieces import PieceSet, PieceSize
from table.solids import POSES, TIP, Array
from table.table_config import Setup
from vision.assignment.colour import bodies_of
from vision.cameras.frame import Frame, Image
from vision.geometry.piece_pose import Hypothesis
from vision.geometry.rectified_view import Photo
from vision.networks.detector import Detections
from vision.networks.keypoints import KeypointEstimate, crop_of, estimate_keypoints_twice
from vision.observe import observe
from vision.pose.candidates import (
    DOUBTED_CHANCE,
    PieceEstimate,
    align_all,
    fit_candidates,
    without_duplicates,
)
from vision.pose.edge_alignment import align_to_edges
from vision.pose.region_likelihood import Area, area

Shown = Literal["upright", "lying"]
"""How all pieces of a photograph stand or lie."""

LADDER_FROM, LADDER_TO, LADDER_STEP = 0.7, 1.45, 1.1
"""Sizes with which pieces are searched for: multiples of the table's smallest size for the first
one, and of its largest for the last one; factor from each size to the next.
"""
EXPECTED_POSE = 0.98
"""Prior probability of the pose, standing or lying, that the photograph is said to show."""
POSE_SIGMA = np.array([1.0, 1.0, 3.0])
"""Prior standard deviations of the pose in edge alignment: mm, mm, degrees."""
STARTS = (0.95, 1.05)
"""Multiples of the first estimate of a size at which the fit starts. The better result is used."""
FIRST_STEP, LAST_STEP, LEAST_GAIN = 0.06, 5e-4, 0.02
"""Fit of a size: first and last step, in natural logarithms, and least gain in nats."""
DERIVATIVE_STEP = 0.01
"""Step, in natural logarithms, for numerical derivatives of the fit."""
NOT_READ = -60.0
"""Evidence, in nats, for a size with which a piece's edges cannot be measured."""
MODEL_MM = np.array([0.15, 0.35])
"""Standard deviations of measured bases and heights by the model: rounded edges and blunt tips. The
scatter between pieces is added.
"""
MODEL_SHARE = 0.005
"""Further standard deviation, as a share of the length: the scale of the printed table."""
NEAR_BASES = 0.5
"""Largest distance of a reading from the measured piece, as a share of its base."""


@dataclass(frozen=True, slots=True, eq=False)
class OwnPiece:
    """A piece in one of the photographs.

    `pose` has a size of the ladder; `first_mm` (2,) are first estimates of base and height.
    """

    photo: Photo
    pose: Hypothesis
    looks: MeasuredPiece
    first_mm: Array


@dataclass(frozen=True, slots=True)
class MeasuredSize:
    """A size in mm, measured on `pieces` pieces, with its 95 % uncertainties."""

    name: str
    base_mm: float
    height_mm: float
    base_error_mm: float
    height_error_mm: float
    pieces: int

    def size(self, wall_mm: float) -> PieceSize:
        """The size, rounded to a hundredth of a mm, as it is stored."""
        return PieceSize(
            self.name,
            round(self.base_mm, 2),
            round(self.height_mm, 2),
            wall_mm,
            round(self.base_error_mm, 2),
            round(self.height_error_mm, 2),
        )


@dataclass(frozen=True, slots=True)
class NamedPiece:
    """A piece of known size and colour."""

    piece: OwnPiece
    size: str
    colour: str


@dataclass(frozen=True, slots=True)
class CheckedPiece:
    """A piece of a photograph, and its reading now; None if there is none."""

    named: NamedPiece
    read: tuple[str, str, str] | None
    """Colour, size and pose."""

    @property
    def right(self) -> bool:
        """True if the reading is right."""
        named = self.named
        return self.read == (named.colour, named.size, named.piece.pose.pose)


def read_own_pieces(image: Image, setup: Setup, shown: Shown) -> list[OwnPiece]:
    """The pieces of a photograph on which all stand, or all lie, from left to right.

    Raises InputError if the table cannot be seen well enough, or nothing is on it.
    """
    photo, detections = photo_of_pieces(image, with_size_ladder(setup))
    habit = np.full(len(POSES), (1 - EXPECTED_POSE) / (len(POSES) - 1))
    habit[POSES.index(shown)] = EXPECTED_POSE
    candidates = without_duplicates(
        fit_candidates(_keypoints(detections, setup), habit, photo, detections)
    )
    likely = [one for one in candidates if one.chance > DOUBTED_CHANCE]
    estimates = _best_at_each_place(list(align_all(likely, photo, {}).values()))
    found = []
    for estimate, looks in measure_light(estimates, detections, photo):
        if estimate.best.pose != shown:
            raise InputError(
                msg("expected all pieces to stand, but the one at {raw} does not", raw=looks)
                if shown == "upright"
                else msg("expected all pieces to lie, but the one at {raw} does not", raw=looks)
            )
        first_mm = _first_mm(estimate.keypoints, estimate.best)
        found.append(OwnPiece(photo, estimate.best, looks, first_mm))
    if not found:
        raise InputError(msg("expected pieces on the board, found none"))
    return found


def with_size_ladder(setup: Setup) -> Setup:
    """The table with a range of sizes about its own, all with the proportions of its smallest."""
    smallest, largest = min(setup.sizes, key=_base_mm), max(setup.sizes, key=_base_mm)
    ratio = smallest.height_mm / smallest.base_mm
    low, high = LADDER_FROM * smallest.base_mm, LADDER_TO * largest.base_mm
    bases = low * LADDER_STEP ** np.arange(math.ceil(math.log(high / low, LADDER_STEP)) + 1)
    sizes = tuple(PieceSize(f"{base:.1f} mm", float(base), float(ratio * base)) for base in bases)
    return msgspec.structs.replace(
        setup,
        pieces=PieceSet("", sizes),
        game=msgspec.structs.replace(setup.game, sizes=tuple(size.name for size in sizes)),
    )


def _base_mm(size: PieceSize) -> float:
    return size.base_mm


def _keypoints(detections: Detections, setup: Setup) -> list[KeypointEstimate]:
    outline = setup.outline_mm()
    return estimate_keypoints_twice(
        [
            crop_of(one, detections.view)
            for one in detections.objects
            if not one.is_disc and within(outline, one.middle_mm)
        ],
        detections.view,
        setup.colours,
    )


def _best_at_each_place(estimates: Sequence[PieceEstimate]) -> list[PieceEstimate]:
    """The best fitting estimate of each place, if it fits.

    Places are separate if their distance exceeds the bases of both pieces.
    """
    kept: list[PieceEstimate] = []
    for one in sorted(estimates, key=_fit_log_odds, reverse=True):
        if _fit_log_odds(one) > 0 and all(
            math.dist(one.middle_mm, other.middle_mm)
            > max(one.best.size.base_mm, other.best.size.base_mm)
            for other in kept
        ):
            kept.append(one)
    return kept


def _fit_log_odds(estimate: PieceEstimate) -> float:
    """Weighted log odds of the verification of its best reading."""
    return estimate.hypotheses[0].fit or 0.0


def _first_mm(keypoints: KeypointEstimate, pose: Hypothesis) -> Array:
    """Base and height (2,) mm; the height of a lying piece is from its slant as seen from above."""
    base = math.exp(keypoints.log_base)
    height = base * pose.size.height_mm / pose.size.base_mm
    if pose.pose == "lying":
        seen = keypoints.vertices_mm
        slant = float(np.hypot(*(seen[TIP] - seen[1:3].mean(axis=0))))
        height = math.sqrt(max(slant**2 - (base / 2) ** 2, (base / 2) ** 2))
    return np.array([base, height])


def named_pieces(
    pieces: Sequence[OwnPiece], setup: Setup, sizes: Sequence[str]
) -> list[NamedPiece]:
    """Identify the pieces of one photograph, which shows one of each size and colour.

    `sizes` are names, the smallest first. Raises InputError if the count or a colour is wrong.
    """
    colours = setup.colours
    wanted = len(colours) * len(sizes)
    if len(pieces) != wanted:
        raise InputError(
            msg(
                "expected {n} pieces: {raw} of each of {players}; found {n2}, at {raw2}",
                n=wanted,
                raw=", ".join(sizes),
                players=in_a_row(colours, "colour"),
                n2=len(pieces),
                raw2=", ".join(str(one.looks) for one in pieces),
            )
        )
    given = _colours_of(pieces, setup, len(sizes))
    named = []
    for number, colour in enumerate(colours):
        same = [piece for piece, index in zip(pieces, given, strict=True) if index == number]
        by_size = sorted(same, key=lambda piece: float(np.log(piece.first_mm).sum()))
        named += [
            NamedPiece(piece, size, colour) for piece, size in zip(by_size, sizes, strict=True)
        ]
    return named


def _colours_of(pieces: Sequence[OwnPiece], setup: Setup, each: int) -> list[int]:
    """The colour of each piece, as an index; `each` pieces have the same colour."""
    score = colour_scores([one.looks for one in pieces], bodies_of(setup))
    places = np.repeat(np.arange(len(setup.colours)), each)
    given = [int(places[k]) for k in least_cost_pairs(-score[:, places])[1]]
    for k, colour in enumerate(given):
        looks = int(score[k].argmax())
        if score[k, looks] - score[k, colour] > ALIKE_MARGIN:
            raise InputError(
                msg(
                    "expected {n} of each colour, but the piece at {raw} looks {colour} and not"
                    " {colour2}. Is one missing? Else learn the colours first: rinkside calibrate"
                    " colours --order",
                    n=each,
                    raw=pieces[k].looks,
                    colour=setup.colours[looks],
                    colour2=setup.colours[colour],
                )
            )
    return given


def measure_size(name: str, pieces: Sequence[OwnPiece]) -> MeasuredSize:
    """Base and height of pieces of one size, by maximum likelihood of all their edges.

    The errors are the larger ones of two estimates: by the curvature at the maximum, and by the
    scatter between pieces (Huber 1967, "sandwich").
    """
    edges = [_Edges(piece) for piece in pieces]

    def evidence(logs: Array) -> Array:
        base, height = (float(value) for value in np.exp(logs))
        return np.array([one.evidence(PieceSize("", base, height)) for one in edges])

    first = np.log(np.median([piece.first_mm for piece in _clearest_pieces(pieces)], axis=0))
    fits = [
        minimize(
            lambda logs: -float(evidence(logs).sum()),
            start,
            method="Nelder-Mead",
            options={
                "initial_simplex": start + FIRST_STEP * np.array([[0, 0], [1, 0], [0, 1]]),
                "xatol": LAST_STEP,
                "fatol": LEAST_GAIN,
                "maxiter": 120,
            },
        )
        for start in (first + math.log(share) for share in STARTS)
    ]
    best: Array = min(fits, key=lambda fit: float(fit.fun)).x
    base, height = (float(value) for value in np.exp(best))
    sigma = np.exp(best) * _log_sigma(evidence, best)
    model = np.hypot(MODEL_MM, MODEL_SHARE * np.exp(best))
    base_error, height_error = (float(value) for value in 2 * np.hypot(sigma, model))
    return MeasuredSize(name, base, height, base_error, height_error, len(pieces))


def _clearest_pieces(pieces: Sequence[OwnPiece]) -> Sequence[OwnPiece]:
    """The lying pieces, if there are any: from above a standing piece hardly shows its height."""
    return [piece for piece in pieces if piece.pose.pose == "lying"] or pieces


class _Edges:
    """The edges of a piece in its photograph, for candidate sizes."""

    def __init__(self, piece: OwnPiece) -> None:
        self._piece = piece
        self._area: Area | None = area(piece.pose.solid, piece.photo, [])

    def evidence(self, size: PieceSize) -> float:
        """Log evidence of the size, with the pose marginalized."""
        placed = align_to_edges(
            replace(self._piece.pose, size=size),
            np.diag(POSE_SIGMA**2),
            self._piece.photo,
            [],
            self._area,
        )
        return NOT_READ if placed is None else placed.evidence


def _log_sigma(evidence: Callable[[Array], Array], best: Array) -> Array:
    """Standard deviations (2,) of the logarithms of base and height at the maximum."""
    moves = DERIVATIVE_STEP * np.eye(2)
    up, down = (np.array([evidence(best + sign * move) for move in moves]) for sign in (1, -1))
    here, across = evidence(best).sum(), evidence(best + moves[0] + moves[1]).sum()
    gradient = (up - down) / (2 * DERIVATIVE_STEP)
    ups, downs = up.sum(axis=1), down.sum(axis=1)
    curve = np.diag(-(ups + downs - 2 * here)) / DERIVATIVE_STEP**2
    curve[0, 1] = curve[1, 0] = -(across - ups[0] - ups[1] + here) / DERIVATIVE_STEP**2
    if np.linalg.eigvalsh(curve).min() <= 0:
        return np.full(2, FIRST_STEP)
    inverse = np.linalg.inv(curve)
    count = gradient.shape[1]
    scatter = gradient @ gradient.T * count / max(count - 1, 1)
    sandwich = inverse @ scatter @ inverse
    return np.sqrt(np.maximum(np.diag(inverse), np.diag(sandwich)))


def with_own_pieces(setup: Setup, named: Sequence[NamedPiece], pieces: PieceSet) -> Setup:
    """The table with measured sizes, and the colours of the measured pieces."""
    return learned_setup(
        msgspec.structs.replace(setup, pieces=pieces),
        [
            learn(colour, [one.piece.looks for one in named if one.colour == colour])
            for colour in setup.colours
        ],
    )


def check_reading(
    named: Sequence[NamedPiece], setup: Setup, images: Sequence[Image]
) -> Iterator[CheckedPiece]:
    """Read photographs with the present table, and compare each of their pieces.

    `named` are the pieces of all of `images`. Raises InputError if a photograph cannot be read.
    """
    for image in images:
        seen = observe(Frame(0, 0, image), setup)
        if not isinstance(seen, Observation):
            raise InputError(seen.reason)
        places = np.array([one.solid.vertices_mm.mean(axis=0)[:2] for one in seen.pieces])
        for one in named:
            if one.piece.photo.image is not image:
                continue
            middle_mm, nearest = one.piece.pose.middle_mm, None
            if len(places):
                away_mm = np.hypot(*(places - middle_mm).T)
                k = int(away_mm.argmin())
                if away_mm[k] < NEAR_BASES * setup.pieces[one.size].base_mm:
                    nearest = seen.pieces[k]
            read = None if nearest is None else (nearest.colour, nearest.size, nearest.pose)
            yield CheckedPiece(one, read)
