"""Where pieces may lie: foreign pixels, matched with the silhouettes of every size, pose and heading.

Foreign pixels come in blobs.  In each blob the silhouette that covers most of what is foreign, and least of what is not, is
taken and its pixels are given away; so on until what is left is too small for a piece.  Colours are kept apart, so that
touching pieces of different colours do not melt into one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product

import cv2
import numpy as np
from numpy.typing import NDArray

from table.setup import Setup
from table.solids import Array, Pose
from vision.background import FOREIGN, Background, Mask
from vision.colours import NEUTRAL, colour_distances, shadow_distances
from vision.hypothesis import Hypothesis, silhouette
from vision.tableview import TableView

SEARCH_MM = 1.0
"""Pixel of the search."""
RING, RING_WEIGHT = 2, 0.3
"""Pixels around a silhouette that ought to be plain ground, and what they count against those inside."""
HEADINGS: dict[Pose, Array] = {"lying": np.arange(0.0, 360.0, 12.0), "upright": np.arange(0.0, 90.0, 15.0)}
SMALLEST_SHARE = 0.45
"""A silhouette that finds less than this share of itself foreign is no piece."""
OTHER_COLOUR, SHADE, NOTHING = -0.35, -0.35, -1.0
"""Worth of a pixel under a silhouette: another colour, shadow on the ground, and plain ground; of its own colour up to 1."""
FAINT, ENCLOSE, ALIKE = 0.8, 7, 3.0
"""A piece on ground of its own colour: worth of its pixels, the gap in pixels that its edges may enclose, and the squared
distance within which piece and ground are of that colour."""
FULL_WORTH = 4.0
"""A pixel is fully worth a colour that is nearer than shadow by this squared distance."""
LIKE_COLOUR = 9.0
"""A pixel may be of a colour if its squared distance is within this of the best colour's."""


CARD = 1.4
"""A fiducial's card, its white margin included, against the printed square."""
HAND_MM, HAND_BASES = 18.0, 1.0
"""A patch, shadows left out, that holds a disc of this radius, in mm and in bases of the largest piece, is a hand or an arm."""
RIVALS = 4
"""Other sizes, poses and headings that are tried at a place beside the best silhouette."""
RIVAL_SHARE, RIVAL_TURN_DEG = 0.7, 25.0
"""What a rival must score against the best, and how far it must be turned from others of its kind."""

Field = NDArray[np.float32]
Blob = tuple[slice, slice, Mask]


@dataclass(frozen=True, slots=True, eq=False)
class Template:
    """A silhouette as weights (h, w), 1 inside; `offset_mm` (2,) leads from its middle to the piece's base_mm."""

    mask: Field
    guess: Hypothesis
    offset_mm: Array


@dataclass(frozen=True, slots=True)
class Candidate:
    """A place where a piece may be: what may stand there, best first, what foreign area each covers on balance, in mm2, and
    the share of the best silhouette that is foreign."""

    guesses: tuple[Hypothesis, ...]
    worth_mm2: tuple[float, ...]
    share: float


@dataclass(frozen=True, slots=True, eq=False)
class Search:
    """All candidates, and whether a hand or an arm is over the table."""

    found: tuple[Candidate, ...]
    hand: bool


def candidates(view: TableView, ground: Background, setup: Setup, paper: Array) -> Search:
    """Places where pieces may be; none overlaps another by more than a little."""
    foreign, worth, faint = _worth(view, ground, setup, paper)
    blobs = _blobs(foreign, setup)
    widest = max(HAND_MM, HAND_BASES * max(piece.base_mm for piece in setup.sizes))
    lit = worth.max(axis=0) > SHADE
    patches = [blob for blob in blobs if _widest_mm(blob[2] & lit[blob[0], blob[1]]) <= widest]
    found = []
    for rows, columns, mask in patches:
        own = np.where(mask, worth[:, rows, columns], np.float32(NOTHING))
        some, rest = _take(own, (rows, columns, mask), view, setup)
        faint[rows, columns] &= rest | ~mask
        found += some
    # Of a white piece on white only edges differ: what they enclose is looked at as a whole.
    whole = cv2.morphologyEx(faint.astype(np.uint8), cv2.MORPH_CLOSE, cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (ENCLOSE, ENCLOSE))) > 0
    for rows, columns, mask in _blobs(whole, setup):
        if _widest_mm(mask) <= widest:
            found += _take(np.where(mask, np.float32(FAINT), np.float32(NOTHING))[None], (rows, columns, mask), view, setup)[0]
    return Search(tuple(found), len(patches) < len(blobs))


def _widest_mm(mask: Mask) -> float:
    return float(cv2.distanceTransform(np.pad(mask, 1).astype(np.uint8), cv2.DIST_L2, 5).max()) * SEARCH_MM


def _worth(view: TableView, ground: Background, setup: Setup, paper: Array) -> tuple[Mask, Field, Mask]:
    """What is foreign (h, w), what each pixel is worth to each colour (c, h, w), and where a piece may lie on ground of its
    own neutral colour (h, w), from which it differs no more than a shadow would; at SEARCH_MM a pixel."""
    h, w = view.light.shape[:2]
    size = (round(w * view.step_mm / SEARCH_MM), round(h * view.step_mm / SEARCH_MM))
    distance = np.where(_fiducials(view, setup), 0, ground.distance)
    share = cv2.resize((distance > FOREIGN).astype(np.float32), size, interpolation=cv2.INTER_AREA)
    foreign = np.asarray(cv2.morphologyEx((share > 0.4).astype(np.uint8), cv2.MORPH_OPEN, np.ones((2, 2), np.uint8)) > 0)
    light = cv2.resize(view.light, size, interpolation=cv2.INTER_AREA)
    under = cv2.resize(ground.light, size, interpolation=cv2.INTER_AREA)
    worth = np.full((len(setup.colours), *foreign.shape), NOTHING, np.float32)
    seen, bare = light[foreign].astype(float), under[foreign].astype(float)
    distances = colour_distances(seen, bare, paper, setup.colours)
    shade = shadow_distances(seen, bare, paper)[:, None]
    gain = np.clip((shade - distances) / FULL_WORTH, SHADE, 1.0)
    like = distances < distances.min(axis=1, keepdims=True) + LIKE_COLOUR
    worth[:, foreign] = np.where(like, gain, OTHER_COLOUR).T
    neutral = tuple(colour for colour in setup.colours if colour in NEUTRAL)
    of_it = colour_distances(seen, bare, paper, neutral)
    on_it = colour_distances(bare, bare, paper, neutral) < ALIKE
    faint = np.zeros(foreign.shape, bool)
    faint[foreign] = ((of_it < ALIKE) & (on_it | (shade - of_it > FULL_WORTH))).any(axis=1)
    return foreign, worth, faint


def _fiducials(view: TableView, setup: Setup) -> Mask:
    """Pixels (h, w) of the fiducials and their white margin."""
    mask = np.zeros(view.light.shape[:2], np.uint8)
    for marker in setup.fiducials.markers:
        corners = np.array(marker.corners_mm)
        card = corners.mean(axis=0) + (corners - corners.mean(axis=0)) * CARD
        cv2.fillConvexPoly(mask, np.rint(view.pixels(card) * 16).astype(np.int32), 1, shift=4)
    return mask > 0


def _blobs(foreign: Mask, setup: Setup) -> list[Blob]:
    """Connected patches that are large enough for a piece: window and mask of each."""
    joined = cv2.morphologyEx(foreign.astype(np.uint8), cv2.MORPH_CLOSE, np.ones((3, 3), np.uint8))
    count, labels, stats, _ = cv2.connectedComponentsWithStats(joined, connectivity=8)
    reach = int(max(piece.slant_mm for piece in setup.sizes) / SEARCH_MM)
    blobs = []
    for label in range(1, count):
        x, y, w, h, area = (int(value) for value in stats[label])
        if area * SEARCH_MM**2 >= _least_mm2(setup):
            rows, columns = slice(max(0, y - reach), y + h + reach), slice(max(0, x - reach), x + w + reach)
            blobs.append((rows, columns, np.asarray(labels[rows, columns] == label)))
    return blobs


def _least_mm2(setup: Setup) -> float:
    """The smallest patch that can be a piece: a good part of the smallest base."""
    return 0.3 * min(piece.base_mm for piece in setup.sizes) ** 2


def _take(own: Field, blob: Blob, view: TableView, setup: Setup) -> tuple[list[Candidate], Mask]:
    """Take silhouettes out of a blob, the best first, until too little is left; also what is left (h, w)."""
    rows, columns, mask = blob
    if mask.sum() * SEARCH_MM**2 <= _least_mm2(setup):
        return [], mask
    corner = np.array([view.left_mm + columns.start * SEARCH_MM, view.top_mm - rows.start * SEARCH_MM])
    middle = np.argwhere(mask).mean(axis=0)
    templates = _templates(view, setup, corner + SEARCH_MM * middle[::-1] * [1, -1])
    found: list[Candidate] = []
    scores = np.stack(_scores(own, templates))
    while mask.sum() * SEARCH_MM**2 > _least_mm2(setup):
        values = scores.max(axis=(1, 2))
        best = int(values.argmax())
        share = float(values[best] / np.abs(templates[best].mask).sum())
        if share < SMALLEST_SHARE:
            break
        row, column = np.unravel_index(int(scores[best].argmax()), scores[best].shape)
        places = _rivals(scores, templates, best, (int(row), int(column)))
        guesses, worth_mm2 = [], []
        for k, (i, j) in places:
            x, y = corner + SEARCH_MM * np.array([j, -i]) + templates[k].offset_mm
            guesses.append(replace(templates[k].guess, x_mm=float(x), y_mm=float(y)))
            worth_mm2.append(float(scores[k, i, j]) * SEARCH_MM**2)
        found.append(Candidate(tuple(guesses), tuple(worth_mm2), share))
        taken = _stamp(templates[best].mask, int(row), int(column), mask.shape)
        own[:, taken] = NOTHING
        mask = mask & ~taken
        # Only places whose silhouettes reach what was taken change their score.
        reach = max(max(template.mask.shape) for template in templates) // 2 + 2
        near = tuple(slice(max(0, int(at.min()) - reach), int(at.max()) + reach + 1) for at in np.nonzero(taken))
        wide = tuple(slice(max(0, part.start - reach), part.stop + reach) for part in near)
        fresh = np.stack(_scores(own[:, *wide], templates))
        inner = tuple(slice(part.start - outer.start, part.stop - outer.start) for part, outer in zip(near, wide, strict=True))
        scores[:, *near] = fresh[:, *inner]
    return found, mask


def _scores(own: Field, templates: list[Template]) -> list[Field]:
    """For every template, what it is worth (h, w) with its middle at each place, in its best colour."""
    present = [worth for worth in own if (worth > 0.5).sum() >= 8]
    if not present:
        return [np.full(own.shape[1:], -np.inf, np.float32) for _ in templates]
    scores = []
    for template in templates:
        in_colours = [cv2.filter2D(worth, cv2.CV_32F, template.mask, borderType=cv2.BORDER_CONSTANT) for worth in present]
        scores.append(np.asarray(np.max(in_colours, axis=0), np.float32))
    return scores


def _rivals(scores: Field, templates: list[Template], best: int, place: tuple[int, int]) -> list[tuple[int, tuple[int, int]]]:
    """The best template at its place, and others that score nearly as well around it, each kind and heading once."""
    reach = int(0.5 * templates[best].guess.size.slant_mm / SEARCH_MM)
    rows = slice(max(0, place[0] - reach), place[0] + reach + 1)
    columns = slice(max(0, place[1] - reach), place[1] + reach + 1)
    values = scores[:, rows, columns].max(axis=(1, 2))
    chosen = [best]
    for k in np.argsort(-values):
        if len(chosen) > RIVALS or values[k] < RIVAL_SHARE * values[best]:
            break
        if all(_differ(templates[k].guess, templates[other].guess) for other in chosen):
            chosen.append(int(k))
    places = []
    for k in chosen:
        near = scores[k][rows, columns]
        i, j = np.unravel_index(int(near.argmax()), near.shape)
        places.append((k, (rows.start + int(i), columns.start + int(j))))
    return places


def _differ(a: Hypothesis, b: Hypothesis) -> bool:
    if a.pose != b.pose or a.size != b.size:
        return True
    period = 90.0 if a.pose == "upright" else 360.0
    turn = abs(a.heading_deg - b.heading_deg) % period
    return min(turn, period - turn) > RIVAL_TURN_DEG


def _stamp(template: Field, row: int, column: int, shape: tuple[int, ...]) -> Mask:
    """A mask of the given shape with the template's middle at (row, column), grown by a pixel."""
    canvas = np.zeros((shape[0] + 2 * template.shape[0], shape[1] + 2 * template.shape[1]), np.uint8)
    top, left = row + template.shape[0] - template.shape[0] // 2, column + template.shape[1] - template.shape[1] // 2
    canvas[top : top + template.shape[0], left : left + template.shape[1]] = template > 0.5
    grown = cv2.dilate(canvas, np.ones((3, 3), np.uint8))
    return np.asarray(grown[template.shape[0] : -template.shape[0], template.shape[1] : -template.shape[1]] > 0)


def _templates(view: TableView, setup: Setup, about_mm: Array) -> list[Template]:
    """Silhouettes of every size, pose and heading as they look near a table point (2,)."""
    templates = []
    for size, (pose, headings) in product(setup.sizes, HEADINGS.items()):
        for heading in headings:
            guess = Hypothesis(size, pose, float(about_mm[0]), float(about_mm[1]), float(heading))
            outline = silhouette(guess.solid, view.eye_mm)
            middle = (outline.min(axis=0) + outline.max(axis=0)) / 2
            half = np.ceil((outline.max(axis=0) - outline.min(axis=0)) / 2 / SEARCH_MM).astype(int) + 1
            half += RING
            mask = np.zeros((2 * half[1] + 1, 2 * half[0] + 1), np.uint8)
            corners = ((outline - middle) * [1, -1] / SEARCH_MM + half) * 16
            cv2.fillConvexPoly(mask, np.rint(corners).astype(np.int32), 1, shift=4)
            ring = cv2.dilate(mask, np.ones((2 * RING + 1, 2 * RING + 1), np.uint8)) - mask
            templates.append(Template(mask - RING_WEIGHT * ring.astype(np.float32), guess, about_mm - middle))
    return templates
