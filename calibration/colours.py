"""Learn a table's piece colours under its own light, from an image of one piece of each colour.

A learned colour is the light of its plastic, in the model that reads colours
(`vision.assignment.colour`), with the palette as the prior. The probability of confusing two
learned colours follows from that model too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise

import msgspec
import numpy as np

from table.assignment import least_cost_pairs
from table.boards import within
from table.errors import InputError
from table.messages import Message, in_a_row, msg, phrase
from table.observation import Camera
from table.optimize import minimize
from table.solids import Array
from table.table_config import LearnedColour, Setup
from vision.assignment.colour import (
    DRAWN_DYES,
    FLOOR,
    LOOKS,
    MOST_APART,
    Body,
    bare_ground,
    bodies_of,
    body_models,
    colour_distances,
    light_score,
    palette_body,
    piece_light,
)
from vision.background.residuals import hand_is_over
from vision.cameras.frame import Image
from vision.geometry.rectified_view import Photo
from vision.localization.fiducials import locate
from vision.localization.fiducials_seen import expect_every_fiducial
from vision.networks.detector import Detections, search, view_of
from vision.pipeline import propose_candidates
from vision.pose.candidates import SURE_CHANCE, PieceEstimate, align_all

PALETTE_CHROMA_SIGMA, PALETTE_LEVEL_SIGMA = 0.5, 0.5
"""Standard deviations, in natural logarithms, of real dyes from the palette: in chromaticity and in
level.
"""
LEAST_LIGHT = 1e-4
"""Least light of a learned colour, relative to white paper."""
SURE_MARGIN = 5.0
"""Least lead in log-likelihood of a certain assignment of colours to pieces over the next best."""
ALIKE_MARGIN = 4.0
"""Lead in log-likelihood of another piece's colour over a piece's own above which both pieces have
the same colour.
"""
UNLIKE_MARGIN = 25.0
"""Lead in log-likelihood of another colour above which a piece contradicts its stated colour."""
APART_MM = 8.0
"""Least distance in x between pieces that are ordered from left to right."""
DRAWS = 4000
CLOSE_SHARE, SAME_SHARE = 0.01, 0.33
"""Shares of confused pieces from which two colours are close, and from which they are the same."""


@dataclass(frozen=True, slots=True, eq=False)
class MeasuredPiece:
    """A piece in an image, with its measured light.

    `place_mm` is (2,) from above. `light` (n, 3) is that of n of its pixels. `ground` (2, 3) is the
    light of the ground beside it and of the whole table. Both are relative to white paper.
    `keypoint_colours` (c,) are the probabilities of the table's colours by the keypoint network.
    """

    place_mm: Array
    light: Array
    ground: Array
    keypoint_colours: Array

    def __str__(self) -> str:
        return f"({self.place_mm[0]:.0f}, {self.place_mm[1]:.0f}) mm"


@dataclass(frozen=True, slots=True)
class SimilarColours:
    """Two colours and the share of their pieces that are confused by their light alone."""

    one: str
    other: str
    share: float

    @property
    def message(self) -> Message:
        """Similarity of the two colours, as a part of a sentence."""
        return phrase(
            "{colour} and {colour2} look alike here: {n} of 100 pieces would be mistaken"
            " for the other",
            colour=self.one,
            colour2=self.other,
            n=f"{100 * self.share:.0f}",
        )

    def __str__(self) -> str:
        return str(self.message)


def measure_pieces(image: Image, setup: Setup) -> list[MeasuredPiece]:
    """The pieces on the board, from left to right.

    Raises InputError if the table cannot be seen well enough to learn from it.
    """
    photo, detections = photo_of_pieces(image, setup)
    sure = [one for one in propose_candidates(detections, photo) if one.chance > SURE_CHANCE]
    estimates = list(align_all(sure, photo, {}).values())
    return [looks for _, looks in measure_light(estimates, detections, photo)]


def photo_of_pieces(image: Image, setup: Setup) -> tuple[Photo, Detections]:
    """A photograph of pieces on the board, and the detector's output for it.

    Raises InputError if a fiducial is not seen, or a hand is over the board.
    """
    camera = locate(image, setup)
    if not isinstance(camera, Camera):
        raise InputError(camera.reason)
    expect_every_fiducial(camera, setup)
    photo = Photo(image, camera, setup)
    detections = search(view_of(photo), setup.colours)
    if hand_is_over(detections, setup):
        raise InputError(
            msg(
                "expected only pieces, but a hand or an arm is over the board; take another picture"
            )
        )
    return photo, detections


def measure_light(
    estimates: Sequence[PieceEstimate], detections: Detections, photo: Photo
) -> list[tuple[PieceEstimate, MeasuredPiece]]:
    """The visible pieces on the board, with their light, from left to right."""
    bare = bare_ground(detections, [estimate.best for estimate in estimates], photo)
    outline = photo.setup.outline_mm()
    shown = [
        (estimate, MeasuredPiece(estimate.middle_mm, *light, estimate.keypoints.colours))
        for estimate in estimates
        if within(outline, estimate.middle_mm)
        and (light := piece_light(estimate, bare, detections, photo)) is not None
    ]
    return sorted(shown, key=lambda one: float(one[1].place_mm[0]))


def assign_by_order(
    shown: Sequence[MeasuredPiece], order: Sequence[str], setup: Setup
) -> dict[str, MeasuredPiece]:
    """Assign colours to pieces from left to right, in the order that the players give.

    Raises InputError if the pieces have no clear order from left to right, or one contradicts the
    colour given for it.
    """
    _check_count(shown, order)
    for left, right in pairwise(shown):
        if right.place_mm[0] - left.place_mm[0] < APART_MM:
            behind = phrase(
                "the pieces at {raw} and {raw2} are one behind the other", raw=left, raw2=right
            )
            raise InputError(
                msg(
                    "expected pieces side by side, but {text}; move one to the side and"
                    " take another picture",
                    text=behind,
                )
            )
    for one, colour, score in zip(shown, order, _palette_score(shown, setup), strict=True):
        looks = int(score.argmax())
        if score[looks] - score[setup.colours.index(colour)] > UNLIKE_MARGIN:
            raise InputError(
                msg(
                    "expected pieces in the order of --order, but the one at {raw} should"
                    " be {colour} and looks {colour2}",
                    raw=one,
                    colour=colour,
                    colour2=setup.colours[looks],
                )
            )
    return dict(zip(order, shown, strict=True))


def assign_by_palette(shown: Sequence[MeasuredPiece], setup: Setup) -> dict[str, MeasuredPiece]:
    """Assign each colour to one piece by the palette.

    Raises InputError if the assignment is not certain.
    """
    _check_count(shown, setup.colours)
    score = _palette_score(shown, setup)
    given = _best_assignment(score)
    for k, colour in enumerate(given):
        looks = int(score[k].argmax())
        if score[k, looks] - score[k, colour] > ALIKE_MARGIN:
            other = shown[given.index(looks)]
            raise InputError(
                msg(
                    "expected one piece of each colour, but {raw} and {raw2} both"
                    " look {colour}, and none looks {colour2}; if all are there,"
                    " use --order",
                    raw=shown[k],
                    raw2=other,
                    colour=setup.colours[looks],
                    colour2=setup.colours[colour],
                )
            )
    total = score[range(len(given)), given].sum()
    for k, colour in enumerate(given):
        others = score.copy()
        others[k, colour] -= 1e6
        rival = _best_assignment(others)
        if total - others[range(len(rival)), rival].sum() < SURE_MARGIN:
            raise InputError(
                msg(
                    "expected colours that can be told apart, but the piece at {raw} may"
                    " be {colour} or {colour2}; give the order from left to right: --order",
                    raw=shown[k],
                    colour=setup.colours[colour],
                    colour2=setup.colours[rival[k]],
                )
            )
    return {setup.colours[colour]: one for colour, one in zip(given, shown, strict=True)}


def _palette_score(shown: Sequence[MeasuredPiece], setup: Setup) -> Array:
    """Log-likelihoods (n, c) of the table's colours by the palette."""
    return colour_scores(shown, tuple(palette_body(name) for name in setup.colours))


def colour_scores(shown: Sequence[MeasuredPiece], bodies: tuple[Body, ...]) -> Array:
    """Log-likelihoods (n, c) of the table's colours, by light and by the keypoint network."""
    return np.array(
        [
            light_score(one.light, one.ground, bodies)
            + DRAWN_DYES * np.log(one.keypoint_colours + 1e-9)
            for one in shown
        ]
    )


def _best_assignment(score: Array) -> list[int]:
    """The column of each row, no column twice, with the greatest sum."""
    return [int(column) for column in least_cost_pairs(-score)[1]]


def _check_count(shown: Sequence[MeasuredPiece], colours: Sequence[str]) -> None:
    if len(shown) != len(colours):
        wanted: dict[str, object] = {"n": len(colours), "players": in_a_row(colours, "colour")}
        raise InputError(
            msg(
                "expected one piece of each of {n} colours ({players}) on the board,"
                " found {n2}: at {raw}",
                n2=len(shown),
                raw=", ".join(map(str, shown)),
                **wanted,
            )
            if shown
            else msg(
                "expected one piece of each of {n} colours ({players}) on the board, found none",
                **wanted,
            )
        )


def learn(name: str, looks: Sequence[MeasuredPiece]) -> LearnedColour:
    """Learn a colour from pieces of it: the most probable light, with the palette as the prior."""
    palette = palette_body(name)
    sold = np.log(palette.light)

    def cost(off: Array) -> float:
        body = palette._replace(light=np.maximum(np.exp(sold + off), LEAST_LIGHT))
        apart = sum(
            float(np.minimum(colour_distances(one.light, one.ground, (body,)), MOST_APART).mean())
            for one in looks
        )
        level = float(off.mean())
        return (
            LOOKS * apart
            + float(((off - level) ** 2).sum()) / PALETTE_CHROMA_SIGMA**2
            + (level / PALETTE_LEVEL_SIGMA) ** 2
        )

    found = minimize(
        cost,
        np.zeros(3),
        method="Nelder-Mead",
        options={"xatol": 1e-3, "fatol": 1e-3, "maxiter": 400},
    )
    red, green, blue = (
        float(f"{level:.4g}") for level in np.clip(np.exp(sold + found.x), LEAST_LIGHT, 4.0)
    )
    return LearnedColour(colour=name, light=(red, green, blue))


def learned_setup(setup: Setup, learned: Sequence[LearnedColour]) -> Setup:
    """The table with these colours learned; other learned colours stay."""
    names = [one.colour for one in learned]
    kept = [one for one in setup.learned_colours if one.colour not in names]
    return msgspec.structs.replace(setup, learned_colours=(*kept, *learned))


def close_pairs(setup: Setup, ground: Array) -> list[SimilarColours]:
    """The pairs of colours that may be confused over a ground (2, 3), the closest first.

    Raises InputError if two are the same by their light.
    """
    rng = np.random.default_rng(1)
    named = list(zip(setup.colours, bodies_of(setup), strict=True))
    pairs = []
    for (one, first), (other, second) in combinations(named, 2):
        share = (
            _confusion_share(first, second, ground, rng)
            + _confusion_share(second, first, ground, rng)
        ) / 2
        if share > SAME_SHARE:
            raise InputError(
                msg(
                    "expected one piece of each colour, but {colour} and {colour2}"
                    " look alike ({n} of 100 would be confused); do two pieces"
                    " have the same colour?",
                    colour=one,
                    colour2=other,
                    n=f"{100 * share:.0f}",
                )
            )
        if share >= CLOSE_SHARE:
            pairs.append(SimilarColours(one, other, share))
    return sorted(pairs, key=lambda pair: -pair.share)


def _confusion_share(true: Body, other: Body, ground: Array, rng: np.random.Generator) -> float:
    """Share of pieces of one colour that their light makes more probable in another, by simulation.

    Light is drawn from the same model that reads colours.
    """
    (models,), (costs,) = body_models((true,), ground)
    ways = np.exp(-0.5 * costs)
    looks = round(LOOKS)
    centre = models[rng.choice(len(models), DRAWS, p=ways / ways.sum())]
    chroma = rng.normal(0, true.chroma_sigma, (DRAWS, looks, 3))
    chroma -= chroma.mean(axis=2, keepdims=True)
    level = rng.normal(0, true.level_sigma, (DRAWS, looks, 1))
    light = np.exp(centre[:, None] + chroma + level) - FLOOR
    apart = (
        np.minimum(colour_distances(light.reshape(-1, 3), ground, (true, other)), MOST_APART)
        .reshape(DRAWS, looks, 2)
        .sum(axis=1)
    )
    return float((apart[:, 1] < apart[:, 0]).mean())
