"""Classify a pyramid's colour from its light and the ground that may shine through it.

A piece's light is modelled as haze (gloss, the lamp's colour) plus sheen (the table, mirrored by
steep faces) plus body colour plus the ground seen through dyed plastic, all relative to white
paper.  Colours are compared by chromaticity, black, white and grey by level.  The body colour is
the palette's or, closer to reality, the one that was learned on this table.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray

from table.observation import Camera
from table.solids import Array
from table.table_config import Setup
from vision.cameras.frame import Image
from vision.geometry.piece_pose import Hypothesis, silhouette
from vision.geometry.rectified_view import SUB_BITS, Photo
from vision.networks.detector import STRIDE, Detections, light_of, view_of
from vision.pose.candidates import PieceEstimate

PALETTE: dict[str, tuple[float, float, float]] = {
    "red": (0.45, 0.03, 0.03),
    "orange": (0.58, 0.17, 0.03),
    "yellow": (0.75, 0.50, 0.05),
    "green": (0.04, 0.25, 0.08),
    "cyan": (0.06, 0.32, 0.42),
    "blue": (0.03, 0.07, 0.35),
    "purple": (0.18, 0.05, 0.30),
    "pink": (0.75, 0.25, 0.35),
    "white": (0.72, 0.72, 0.70),
    "clear": (0.60, 0.62, 0.62),
    "grey": (0.20, 0.20, 0.20),
    "black": (0.03, 0.03, 0.03),
}
"""Body colours in linear light relative to white paper."""
NEUTRAL, OPAQUE = ("white", "grey", "black", "clear"), ("white", "grey", "black")
FLOOR = 0.006
"""Constant background light (flare and noise); it limits the logarithms of dark pixels."""
CHROMA_SIGMA, LEVEL_SIGMA, NEUTRAL_LEVEL_SIGMA = 0.28, 1.1, 0.5
"""Standard deviations of real pieces about the model, in natural logarithms: in chromaticity, and
in level.
"""
LEARNED_CHROMA_SIGMA, LEARNED_LEVEL_SIGMA = 0.25, 0.7
"""Standard deviations for body colours learned on this table, in natural logarithms: in
chromaticity, and in level.
"""
HAZE = (0.0, 0.02, 0.08, 0.22)
"""Amounts of haze, white light from gloss, that are tried."""
SHEEN = (0.0, 0.04, 0.1)
"""Shares of the table's light that a face may reflect."""
THROUGH = (0.0, 0.4, 0.8)
"""Shares of the ground's light through a piece that are tried."""
TARGET_LIGHT = (0.5, 1.0)
"""Light of a target under another piece, as shares of that of its body. The upper piece keeps part
of the light away.
"""
MOST_APART, LOOKS = 40.0, 2.5
"""Clip of a pixel's squared distance, and effective number of independent pixels of a piece."""
DRAWN_DYES = 0.5
"""Exponent of the keypoint network's colour probabilities."""
PIXELS, RING_PX, LEAST_RING = 80, 13, 10
"""Largest number of a piece's pixels that are used; width in px of the window around it that
samples the ground; least number of ground pixels.
"""
EVERY_PX = 8
"""Subsampling step for the light of a whole table."""
GROUND_ALIKE, GROUND_SHARE = 1.0, 0.3
"""Squared distance, in sigmas, up to which ground has the colour of pieces, and the least share of
the play area with such ground that makes them hard to see.
"""


class BareGround(NamedTuple):
    """Pixels (h, w) of the view without pieces, and their usual light (3,) relative to paper."""

    shows: NDArray[np.bool_]
    light: Array


def bare_ground(detections: Detections, pieces: list[Hypothesis], photo: Photo) -> BareGround:
    """The ground without the detector's piece pixels and the outlines of `pieces`."""
    h, w = detections.view.code.shape[:2]
    shown = np.repeat(np.repeat(detections.pieces, STRIDE, axis=0), STRIDE, axis=1)[:h, :w].astype(
        np.uint8
    )
    for piece in pieces:
        cv2.fillConvexPoly(
            shown,
            detections.view.polygon(silhouette(piece.solid, photo.camera.eye_mm)),
            1,
            shift=SUB_BITS,
        )
    shows = np.asarray(shown == 0)
    few = light_of(detections.view.code[::EVERY_PX, ::EVERY_PX])[shows[::EVERY_PX, ::EVERY_PX]]
    return BareGround(shows, np.median(few, axis=0) if len(few) else np.ones(3))


class Body(NamedTuple):
    """A colour in the model.

    `light` (3,) is the linear light of its plastic relative to white paper, `opaque` is true if it
    is always opaque.  The sigmas are the spread of pieces about it, in natural logarithms.
    """

    light: Array
    opaque: bool
    chroma_sigma: float
    level_sigma: float


def palette_body(name: str) -> Body:
    """Colour with the palette's light and spread."""
    return Body(
        np.array(PALETTE[name]),
        name in OPAQUE,
        CHROMA_SIGMA,
        NEUTRAL_LEVEL_SIGMA if name in NEUTRAL else LEVEL_SIGMA,
    )


def learned_body(name: str, light: Array) -> Body:
    """A colour whose light (3,) was learned on this table."""
    palette = palette_body(name)
    return Body(
        light, palette.opaque, LEARNED_CHROMA_SIGMA, min(palette.level_sigma, LEARNED_LEVEL_SIGMA)
    )


def bodies_of(setup: Setup) -> tuple[Body, ...]:
    """The table's colours: the learned ones where there are any, else the palette's."""
    learned = {
        one.colour: learned_body(one.colour, np.array(one.light)) for one in setup.learned_colours
    }
    return tuple(learned.get(name) or palette_body(name) for name in setup.colours)


def estimate_colours(
    estimate: PieceEstimate, bare: BareGround, detections: Detections, photo: Photo
) -> PieceEstimate:
    """The estimate with probabilities of the table's colours, from its light and the ground's."""
    shown = piece_light(estimate, bare, detections, photo)
    if shown is None:
        return estimate
    setup, bodies = photo.setup, bodies_of(photo.setup)
    apart = mean_distances(*shown, bodies)
    score = -0.5 * LOOKS * apart + DRAWN_DYES * np.log(estimate.keypoints.colours + 1e-9)
    weight = np.exp(score - score.max())
    over = None
    if setup.game.target is not None:
        target = setup.colours.index(setup.game.target)
        if score.argmax() == target:
            over = over_target(*shown, bodies, target)
    return replace(
        estimate,
        colours=np.asarray(weight / weight.sum()),
        over_target=over,
        colour_distances=apart,
    )


def piece_light(
    estimate: PieceEstimate, bare: BareGround, detections: Detections, photo: Photo
) -> tuple[Array, Array] | None:
    """Light of some pixels (n, 3) of a piece, and of the bare ground (2, 3).

    The ground is that beside the piece, and that all over the table; all relative to white paper.
    None if the piece is not visible.
    """
    outline = detections.view.polygon(silhouette(estimate.best.solid, photo.camera.eye_mm))[:, 0]
    low = np.maximum((outline.min(axis=0) >> SUB_BITS) - RING_PX, 0)
    high = (outline.max(axis=0) >> SUB_BITS) + RING_PX + 2
    window = (slice(low[1], high[1]), slice(low[0], high[0]))
    part = np.zeros(bare.shows[window].shape, np.uint8)
    if part.size == 0:
        return None
    cv2.fillConvexPoly(part, outline - (low << SUB_BITS), 1, shift=SUB_BITS)
    inside = cv2.erode(part, np.ones((3, 3), np.uint8)) > 0
    ring = (cv2.dilate(part, np.ones((RING_PX, RING_PX), np.uint8)) > 0) & bare.shows[window]
    light = light_of(detections.view.code[window])
    body = light[inside]
    if not len(body):
        return None
    ground = np.median(light[ring], axis=0) if ring.sum() > LEAST_RING else np.ones(3)
    return body[:: len(body) // PIXELS + 1], np.array([ground, bare.light])


def colours_of_ground(image: Image, camera: Camera, setup: Setup) -> dict[str, int]:
    """Colours in play that the ground has too, and the percent of the play area that has them.

    Pieces of these colours are hard to see. A few pieces on the board make no difference.
    """
    view = view_of(Photo(image, camera, setup))
    inside = view.inside(setup.outline_mm())[::EVERY_PX, ::EVERY_PX]
    light = light_of(np.ascontiguousarray(view.code[::EVERY_PX, ::EVERY_PX]))[inside]
    if not len(light):
        return {}
    usual = np.median(light, axis=0)
    opaque = tuple(
        body._replace(opaque=True) for body in bodies_of(setup)
    )  # ground lies on nothing
    alike = colour_distances(light, np.array([usual, usual]), opaque) < GROUND_ALIKE
    shares = zip(setup.colours, alike.mean(axis=0), strict=True)
    return {colour: round(100 * share) for colour, share in shares if share >= GROUND_SHARE}


def light_score(light: Array, ground: Array, bodies: tuple[Body, ...]) -> Array:
    """Log-likelihoods (c,), up to a constant, of light (n, 3) over ground (2, 3) by colour."""
    return -0.5 * LOOKS * mean_distances(light, ground, bodies)


def mean_distances(light: Array, ground: Array, bodies: tuple[Body, ...]) -> Array:
    """Mean squared distances (c,), in sigmas, of light (n, 3) over ground (2, 3) from colours."""
    apart: Array = np.minimum(colour_distances(light, ground, bodies), MOST_APART).mean(axis=0)
    return apart


def over_target(light: Array, ground: Array, bodies: tuple[Body, ...], target: int) -> Array:
    """Log-likelihood ratios (c,) of light (n, 3): a piece of each colour on one of `target`.

    The alternative is the target alone, over ground (2, 3). Dyed plastic transmits the target's
    light, at any brightness of TARGET_LIGHT. The ratio is -inf for opaque colours, which hide the
    target, and for the target's own colour.
    """
    scores = [
        light_score(light, np.array([share * bodies[target].light, ground[1]]), bodies)
        for share in TARGET_LIGHT
    ]
    over: Array = np.max(scores, axis=0) - light_score(light, ground, (bodies[target],))
    return np.where([body.opaque or k == target for k, body in enumerate(bodies)], -np.inf, over)


def colour_distances(light: Array, ground: Array, bodies: tuple[Body, ...]) -> Array:
    """Squared distances (n, c), in sigmas, of the light (n, 3) of n pixels from each of c colours.

    The pieces stand over ground (2, 3). All light is relative to white paper.
    """
    seen = np.log(np.maximum(light, 0) + FLOOR)
    models, cost = body_models(bodies, ground)
    of_seen, of_models = seen.mean(axis=1), models.mean(axis=2)
    seen, models = seen - of_seen[:, None], models - of_models[..., None]
    both = np.einsum("nk,cmk->ncm", seen, models, optimize=True)
    chroma = (seen**2).sum(axis=1)[:, None, None] + (models**2).sum(axis=2) - 2 * both
    level = of_seen[:, None, None] - of_models
    chroma_sigma, level_sigma = np.array(
        [(body.chroma_sigma, body.level_sigma) for body in bodies]
    ).T[..., None]
    return np.asarray((chroma / chroma_sigma**2 + (level / level_sigma) ** 2 + cost).min(axis=2))


def body_models(bodies: tuple[Body, ...], ground: Array) -> tuple[Array, Array]:
    """Logarithms (c, m, 3) of each colour's modelled light over a ground, and their costs (c, m).

    The ground (2, 3) is the light beside a piece and the usual light of the bare table. Each of the
    m models is a combination of haze, sheen and transmission. Opaque colours transmit nothing.
    """
    beside, around = ground
    body, opaque = (
        np.array([one.light for one in bodies])[:, None],
        np.array([one.opaque for one in bodies])[:, None],
    )
    dye = (body / body.max(axis=2, keepdims=True)) ** 0.8
    haze, sheen, through = np.array(list(product(HAZE, SHEEN, THROUGH))).T
    through = np.where(opaque, 0.0, through)
    light = (
        haze[:, None]
        + sheen[:, None] * around
        + (1 - through)[..., None] * body
        + through[..., None] * dye * beside
    )
    return np.log(light + FLOOR), through + 12 * (haze + sheen)
