"""Read a six-sided die in the dice corner: its place and pips, or why nothing is read.

The corner is rectified in the plane of the die's top, and searched for the visible edges of a cube
of known size. Where they agree with the image, a small network decides whether a die lies flat, and
how many pips it shows. An ambiguous face is not read.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import product

import cv2
import numpy as np
from numpy.typing import NDArray

from table.messages import phrase
from table.observation import SURE
from table.solids import Array
from table.table_config import DiceCorner
from vision.dice.classifier import classify_cubes
from vision.dice.cube_fit import (
    BESIDE,
    REACHES_PX,
    SIDE_SHARE,
    Cube,
    EdgeMap,
    edge_map,
    fit_cube,
    fit_cube_from_several_starts,
)
from vision.dice.top_view import TopView, level_mm, top_view
from vision.geometry.change_mask import shadow_mask
from vision.geometry.rectified_view import Photo
from vision.geometry.uncertainty import SIGMAS_A_MEDIAN
from vision.probability import logit

COARSE, FINE = 20, 40
"""Pixels of the rectified view per edge of the die: for detection, and for measurement."""
TURN_STEP_DEG = 6
ALIKE = 5
"""Size, in edges, of regions in which dice are seen from nearly the same direction."""
MOST_CANDIDATES, APART = 4, 0.15
"""Number of candidate places that are fitted. Places closer than the second, in edges of the die,
are the same.
"""
LEAST_NEAR_AGREEMENT = 0.4
"""Least edge agreement, 0 to 1, in the neighbourhood of a place that is fitted."""
LEAST_AGREEMENT = 0.4
"""Least edge agreement, 0 to 1, for a die to be classified."""
EDGES_COUNT, USUAL = 8.0, 0.75
"""Weight of the edge agreement above USUAL, added to the network's log odds that a die lies flat. A
positive sum means that it does.
"""
AROUND = tuple(way for way in product((-BESIDE, 0.0, BESIDE), repeat=2) if any(way))
"""Offsets, in edges, from the best place at which the network is tried if no die lies flat there. A
shadow's edges may be sharper than the die's.
"""
ANOTHER = 0.5
"""Least distance between two dice, in edges."""
STRANGE, STRANGE_SPREADS, STRANGE_SHARE = 0.12, 4.0, 0.25
"""An object lies in the corner if an area differs from it in colour. Least difference, 1 from black
to white; the same in spreads of the corner itself; least area as a share of a die's top.
"""
SHADE = 0.5
"""Margin around a die, in edges, in which its shadow is not taken for another die."""


@dataclass(frozen=True, slots=True, eq=False)
class Die:
    """A die that lies flat: the pips on its top, the middle of its base (2,) mm and its heading.

    `turn_deg` is 0 to 90 degrees.
    """

    pips: int
    middle_mm: Array
    turn_deg: float


@dataclass(frozen=True, slots=True)
class NoDie:
    """A falsy result: no die was read. The reason is empty if nothing lies there."""

    reason: str = ""

    def __bool__(self) -> bool:
        return False


def read_dice(photo: Photo) -> Die | NoDie:
    """Read the die in the dice corner of a photograph.

    Raises ValueError for a table without such a corner.
    """
    corner = photo.setup.dice_corner
    if corner is None:
        raise ValueError("table.json tells of no dice corner")
    cubes, edges, fine = flat_candidates(photo, corner)
    likely, flat = _classify(cubes, edges, fine)
    if cubes and not (flat > 0).any():
        cubes = [cubes[0].beside(*way) for way in AROUND]
        likely, flat = _classify(cubes, edges, fine)
    there = [k for k in np.argsort(-flat) if flat[k] > 0]
    if not there:
        return NoDie(
            phrase("there is something, but no die that lies flat and shows its pips")
            if _holds_something(fine, corner)
            else ""
        )
    best, *others = there
    apart = any(
        np.hypot(*(cubes[best].middle_mm - cubes[k].middle_mm)) > ANOTHER * corner.edge_mm
        for k in others
    )
    if apart or _holds_something(fine, corner, cubes[best]):
        return NoDie(phrase("there may be more than one die"))
    pips = int(likely[best, 1:].argmax()) + 1
    if likely[best, pips] < SURE * (1 - likely[best, 0]):
        return NoDie(phrase("its pips are not clear"))
    return Die(pips, cubes[best].middle_mm, cubes[best].turn_deg % 90)


def _classify(cubes: list[Cube], edges: EdgeMap, view: TopView) -> tuple[Array, Array]:
    """The network's probabilities (n, 7) for places, and the log odds (n,) that a die lies flat."""
    likely = classify_cubes(cubes, view)
    return likely, logit(1 - likely[:, 0]) + EDGES_COUNT * (
        np.array([cube.agreement(edges) for cube in cubes]) - USUAL
    )


def flat_candidates(photo: Photo, corner: DiceCorner) -> tuple[list[Cube], EdgeMap, TopView]:
    """Candidate dice that lie flat in a corner, the corner's edges, and its view."""
    coarse, fine = (top_view(photo, corner, corner.edge_mm / pixels) for pixels in (COARSE, FINE))
    edges = edge_map(fine)
    return (
        fit_flat_dice(
            likely_cubes(coarse, photo, corner),
            edges,
            LEAST_AGREEMENT,
            fit_cube_from_several_starts,
        ),
        edges,
        fine,
    )


def fit_flat_dice(
    cubes: Iterable[Cube],
    edges: EdgeMap,
    agrees: float,
    lay: Callable[[Cube, EdgeMap], Cube] = fit_cube,
) -> list[Cube]:
    """Dice fitted to the edges of an image, without duplicates, the most probable first.

    Only those with an agreement of at least `agrees`, 0 to 1.
    """
    candidates = [
        lay(cube, edges)
        for cube in cubes
        if cube.agreement(edges, REACHES_PX[0]) >= LEAST_NEAR_AGREEMENT
    ]
    agreed = sorted(((cube.agreement(edges), k) for k, cube in enumerate(candidates)), reverse=True)
    accepted: list[Cube] = []
    for agreement, k in agreed:
        if agreement >= agrees and all(
            np.hypot(*(candidates[k].middle_mm - other.middle_mm)) > APART * candidates[k].edge_mm
            for other in accepted
        ):
            accepted.append(candidates[k])
    return accepted


def likely_cubes(view: TopView, photo: Photo, corner: DiceCorner) -> list[Cube]:
    """Candidate places of a die in a corner, the most probable first, by its visible edges."""
    where = corner_mask(view, corner)
    lines, z_mm, eye_mm = line_responses(view), level_mm(photo, corner), photo.camera.eye_mm
    h, w = where.shape
    best, turns = np.zeros((h, w), np.float32), np.zeros((h, w), np.float32)
    for top, left in product(range(0, h, ALIKE * COARSE), range(0, w, ALIKE * COARSE)):
        here = np.s_[top : top + ALIKE * COARSE, left : left + ALIKE * COARSE]
        if not where[here].any():
            continue
        rows, columns = where[here].shape
        middle_mm = view.start_mm + view.step_mm * np.array([left + columns / 2, -top - rows / 2])
        for turn_deg in range(0, 90, TURN_STEP_DEG):
            cube = Cube(middle_mm, float(turn_deg), corner.edge_mm, z_mm, eye_mm)
            score = _edge_score(cube, lines, view.step_mm, (left, top), (columns, rows))
            turns[here], best[here] = (
                np.where(score > best[here], np.float32(turn_deg), turns[here]),
                np.maximum(score, best[here]),
            )
    return dice_at_maxima(best, turns, where, view, photo, corner)[:MOST_CANDIDATES]


def dice_at_maxima(
    score: NDArray[np.float32],
    turns_deg: NDArray[np.float32],
    where: NDArray[np.bool_],
    view: TopView,
    photo: Photo,
    corner: DiceCorner,
) -> list[Cube]:
    """Dice at the local maxima of a score (h, w), the highest first.

    `turns_deg` (h, w) is their heading.
    """
    rows, columns = np.nonzero((score == cv2.dilate(score, np.ones((5, 5)))) & where)
    order = np.argsort(-score[rows, columns])
    places = view.start_mm + view.step_mm * np.column_stack([columns, -rows])[order]
    z_mm, eye_mm = level_mm(photo, corner), photo.camera.eye_mm
    return [
        Cube(place, float(turns_deg[rows[k], columns[k]]), corner.edge_mm, z_mm, eye_mm)
        for k, place in zip(order, places, strict=True)
    ]


def _edge_score(
    cube: Cube,
    lines: dict[int, NDArray[np.float32]],
    step_mm: float,
    start_px: tuple[int, int],
    size_px: tuple[int, int],
) -> NDArray[np.float32]:
    """Score of a die's edges for each pixel of a part of a view, as the die's middle.

    Edges between faces of equal brightness are hardly visible: the weakest do not count.
    """
    starts, ends = cube.seen_edges()
    seen = []
    for start, end in zip(starts, ends, strict=True):
        across, up = ((start + end) / 2 - cube.middle_mm) / step_mm
        normal_deg = math.degrees(math.atan2(*(end - start)[::-1])) + 90
        line = lines[round(normal_deg / TURN_STEP_DEG) * TURN_STEP_DEG % 180]
        moved = np.array([[1, 0, start_px[0] + across], [0, 1, start_px[1] - up]], np.float32)
        seen.append(
            cv2.warpAffine(line, moved, size_px, flags=cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP)
        )
    return np.asarray(np.sort(np.stack(seen), axis=0)[len(seen) // 4 :].mean(axis=0), np.float32)


def line_responses(view: TopView) -> dict[int, NDArray[np.float32]]:
    """Line responses (h, w) 0..1 by the direction across the line in degrees.

    Mean edge strength along a line about each pixel, as long as the sampled part of a die's edge.
    """
    length = round(SIDE_SHARE * COARSE)
    xx, xy, yy = (
        (one * other).sum(axis=2)
        for one, other in (
            (view.along_x, view.along_x),
            (view.along_x, view.along_y),
            (view.along_y, view.along_y),
        )
    )
    lines = {}
    for turn_deg in range(0, 180, TURN_STEP_DEG):
        c, s = math.cos(math.radians(turn_deg)), math.sin(math.radians(turn_deg))
        squared = c * c * xx + 2 * c * s * xy + s * s * yy
        steep = np.sqrt(np.clip(squared, 0, 1)).astype(np.float32)
        kernel = np.zeros((length + 2, length + 2), np.float32)
        middle, reach = (length + 1) / 2, length / 2
        ends = [
            (round(16 * (middle - side * reach * s)), round(16 * (middle - side * reach * c)))
            for side in (1, -1)
        ]
        cv2.line(kernel, ends[0], ends[1], 1.0, 1, cv2.LINE_8, 4)
        lines[turn_deg] = np.asarray(cv2.filter2D(steep, -1, kernel / kernel.sum()), np.float32)
    return lines


def corner_mask(view: TopView, corner: DiceCorner) -> NDArray[np.bool_]:
    """Pixels (h, w) inside the corner's outline."""
    mask = np.zeros(view.shown.shape[:2], np.uint8)
    cv2.fillPoly(mask, [np.rint(view.pixels(np.array(corner.outline_mm))).astype(np.int32)], 1)
    return mask > 0


def _holds_something(view: TopView, corner: DiceCorner, beside: Cube | None = None) -> bool:
    """True if an area comparable to a die's top differs in colour from the corner.

    With `beside`, a die that is ignored, shadows are ignored too.
    """
    here = corner_mask(view, corner)
    if beside is not None:
        die = np.zeros(here.shape, np.uint8)
        for face in (beside.top(), *beside.sides()):
            cv2.fillConvexPoly(die, np.rint(view.pixels(face)).astype(np.int32), 1)
        shade = 2 * round(SHADE * FINE) + 1
        here = here & (cv2.dilate(die, np.ones((shade, shade), np.uint8)) == 0)
    usual = np.median(view.shown[here], axis=0)
    apart = np.linalg.norm(view.shown - usual, axis=2)
    spread = SIGMAS_A_MEDIAN * float(np.median(apart[here]))
    strange = here & (apart > max(STRANGE, STRANGE_SPREADS * spread))
    if beside is not None:
        bare = np.broadcast_to(usual, view.shown.shape)
        strange &= ~shadow_mask(*(np.asarray(255 * each, np.uint8) for each in (view.shown, bare)))
    return bool(np.count_nonzero(strange) > STRANGE_SHARE * FINE**2)
