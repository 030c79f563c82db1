"""A six-sided die in the dice corner: where it lies flat, and the pips on its top; or why nothing is read.

The corner is laid flat in the plane of the die's top, in which a die that lies flat shows a square of known size.  Such squares are
looked for by their edges; then all edges of the cube have to agree with the picture, better than those of a die that leans, and the
pips have to be where they are on every die.  Nothing is guessed: what is not plainly one of six is not read.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from table.setup import DiceCorner
from table.solids import Array
from vision.camera import mm_per_pixel
from vision.dice_cube import REACHES_PX, SIDE_SHARE, Cube, EdgeMap, edge_map, laid_flat, leans_by
from vision.dice_pips import PATCH, PATCH_SHARE, count_pips
from vision.photo import Photo

COARSE, FINE = 20, 40
"""Pixels of the flat view to an edge of the die: where squares are looked for, and where they are measured."""
TURN_STEP_DEG = 6
TRIED, APART = 6, 0.15
"""So many squares are measured, the likeliest; those nearer to one another than this, in edges of the die, are one."""
NOISES, LEAST_STEP = 3.5, 0.008
"""A brightness step a pixel that is so many times the usual one of the corner, and no less than this, is an edge for sure."""
SMOOTH = 0.03
"""Brightness is smoothed by this, in edges of the die, before its steps are taken."""
WORTH = 0.4
"""A square is not measured where less of a die's edges, 0 to 1, are seen near by."""
AGREES, LEANS_BETTER = 0.6, 1.5
"""How well a die that lies flat has to agree with the picture, 0 to 1, and by how much less evidence than that one that leans may do better."""
STRANGE, STRANGE_SPREADS, STRANGE_SHARE = 0.12, 4.0, 0.25
"""Something lies there if this share of a die's top or more differs from the corner by the first, of 1 from black to white, and by so many
times what the corner itself varies."""


@dataclass(frozen=True, slots=True, eq=False)
class Die:
    """A die that lies flat: the pips on its top, the middle of what it stands on, (2,) mm, and how it is turned, 0 to 90 degrees."""

    pips: int
    middle_mm: Array
    turn_deg: float


@dataclass(frozen=True, slots=True)
class NoDie:
    """No die was read, and why; no reason where nothing lies there.  It is false."""

    reason: str = ""

    def __bool__(self) -> bool:
        return False


@dataclass(frozen=True, slots=True, eq=False)
class TopView:
    """The corner in the plane of the die's top, (h, w, 3) 0..1, and how steeply its brightness changes along x and y, (h, w, 3) each;
    1 is an edge for sure.  `start_mm` (2,) is its upper left, `step_mm` a pixel."""

    shown: NDArray[np.float32]
    along_x: NDArray[np.float32]
    along_y: NDArray[np.float32]
    start_mm: Array
    step_mm: float

    def pixels(self, points_mm: Array) -> NDArray[np.float32]:
        """Pixels (n, 2), as (column, row), of points (n, 2) of the plane."""
        return np.asarray((points_mm - self.start_mm) / self.step_mm * (1, -1), np.float32)


def read_dice(photo: Photo) -> Die | NoDie:
    """The die in the dice corner of a photograph; raises ValueError for a table without such a corner."""
    corner = photo.setup.dice_corner
    if corner is None:
        raise ValueError("table.json tells of no dice corner")
    coarse, fine = (top_view(photo, corner, corner.edge_mm / pixels) for pixels in (COARSE, FINE))
    edges = edge_map(fine.along_x, fine.along_y, fine.start_mm, fine.step_mm)
    flat = lying_flat(squares(coarse, photo, corner, inside(coarse, corner), TRIED), edges)
    read = [(cube, pips) for cube in flat if (pips := count_pips(_top(cube, fine)))]
    if not read:
        return NoDie("something lies there, but no die that lies flat and shows its pips" if _holds_something(fine, corner) else "")
    if len(read) > 1:
        return NoDie("more than one die may lie there")
    ((cube, pips),) = read
    if leans_by(cube, edges) >= LEANS_BETTER:
        return NoDie("the die seems to lean")
    return Die(pips, cube.middle_mm, cube.turn_deg % 90)


def lying_flat(cubes: Iterable[Cube], edges: EdgeMap) -> list[Cube]:
    """Dice that lie flat, each once, moved on to the edges of a picture where these agree."""
    laid: list[Cube] = []
    for cube in (laid_flat(cube, edges) for cube in cubes if cube.agreement(edges, REACHES_PX[0]) >= WORTH):
        if all(np.hypot(*(cube.middle_mm - other.middle_mm)) > APART * cube.edge_mm for other in laid):
            laid.append(cube)
    return [cube for cube in laid if cube.agreement(edges) >= AGREES]


def level_mm(photo: Photo, corner: DiceCorner) -> float:
    """Height of what the die is rolled on."""
    return photo.setup.fiducials.z_mm if corner.z_mm is None else corner.z_mm


def top_view(photo: Photo, corner: DiceCorner, step_mm: float) -> TopView:
    """The corner, with room for a die that lies half over its edge."""
    outline, top_mm = np.array(corner.outline_mm), level_mm(photo, corner) + corner.edge_mm
    low, high = outline.min(axis=0) - corner.edge_mm, outline.max(axis=0) + corner.edge_mm
    w, h = np.ceil((high - low) / step_mm).astype(int)
    at = photo.plane_map(np.array([low[0], high[1]]), step_mm, (int(w), int(h)), top_mm)
    coarser = step_mm / mm_per_pixel(photo.camera, photo.setup.camera, outline.mean(axis=0))
    (u0, v0), (u1, v1) = (
        np.floor(at.min(axis=(0, 1)) - 3 * max(1.0, coarser)).astype(int),
        np.ceil(at.max(axis=(0, 1)) + 3 * max(1.0, coarser)).astype(int),
    )
    part = photo.image[max(0, v0) : max(1, v1), max(0, u0) : max(1, u1)]
    image = cv2.GaussianBlur(part, (0, 0), 0.4 * coarser) if coarser > 1.5 else part
    at -= np.maximum(0, [u0, v0]).astype(np.float32)
    shown = np.asarray(cv2.remap(image, at[..., 0], at[..., 1], cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE), np.float32)
    shown /= np.float32(255)
    smooth = cv2.GaussianBlur(shown, (0, 0), SMOOTH * corner.edge_mm / step_mm)
    along_x, along_y = cv2.Scharr(smooth, cv2.CV_32F, 1, 0) / 32, -cv2.Scharr(smooth, cv2.CV_32F, 0, 1) / 32
    sure = np.float32(max(LEAST_STEP, NOISES * float(np.median(np.sqrt((along_x**2 + along_y**2).sum(axis=2))))))
    return TopView(shown, np.asarray(along_x / sure, np.float32), np.asarray(along_y / sure, np.float32), np.array([low[0], high[1]]), step_mm)


def squares(view: TopView, photo: Photo, corner: DiceCorner, where: NDArray[np.bool_], most: int) -> list[Cube]:
    """Where the top of a die may be, of pixels (h, w), the likeliest first, so many at most: four lines at the right distance."""
    lines = _lines(view)
    h, w = view.shown.shape[:2]
    best, turns = np.zeros((h, w), np.float32), np.zeros((h, w), np.float32)
    for turn_deg in range(0, 90, TURN_STEP_DEG):
        sides = []
        for normal_deg in (turn_deg, turn_deg + 90):
            across = COARSE / 2 * np.array([np.cos(np.radians(normal_deg)), np.sin(np.radians(normal_deg))])
            for side in (1, -1):
                moved = np.array([[1, 0, -side * across[0]], [0, 1, side * across[1]]], np.float32)
                sides.append(cv2.warpAffine(lines[normal_deg], moved, (w, h)))
        # The side of a top towards another face that is as bright can hardly be seen: the weakest counts half.
        ordered = np.sort(np.stack(sides), axis=0)
        score = ordered[1:].sum(axis=0) + 0.5 * ordered[0]
        turns, best = np.where(score > best, np.float32(turn_deg), turns), np.maximum(score, best)
    peaks = (best == cv2.dilate(best, np.ones((5, 5)))) & where
    rows, columns = np.nonzero(peaks)
    order = np.argsort(-best[rows, columns])[:most]
    places = view.start_mm + view.step_mm * np.column_stack([columns, -rows])[order]
    z_mm, eye_mm = level_mm(photo, corner), photo.camera.eye_mm
    return [Cube(place, float(turns[rows[k], columns[k]]), corner.edge_mm, z_mm, eye_mm) for k, place in zip(order, places, strict=True)]


def _lines(view: TopView) -> dict[int, NDArray[np.float32]]:
    """By the direction across them in degrees: how much of a line as long as a die's edge runs through each pixel, (h, w) 0..1."""
    length = round(SIDE_SHARE * COARSE)
    lines = {}
    for turn_deg in range(0, 180, TURN_STEP_DEG):
        c, s = np.cos(np.radians(turn_deg)), np.sin(np.radians(turn_deg))
        steep = np.minimum(1.0, np.linalg.norm(view.along_x * c + view.along_y * s, axis=2)).astype(np.float32)
        kernel = np.zeros((length + 2, length + 2), np.float32)
        middle, reach = (length + 1) / 2, length / 2
        ends = [(round(16 * (middle - side * reach * s)), round(16 * (middle - side * reach * c))) for side in (1, -1)]
        cv2.line(kernel, ends[0], ends[1], 1.0, 1, cv2.LINE_8, 4)
        lines[turn_deg] = np.asarray(cv2.filter2D(steep, -1, kernel / kernel.sum()), np.float32)
    return lines


def inside(view: TopView, corner: DiceCorner) -> NDArray[np.bool_]:
    """Pixels (h, w) inside the corner's outline."""
    mask = np.zeros(view.shown.shape[:2], np.uint8)
    cv2.fillPoly(mask, [np.rint(view.pixels(np.array(corner.outline_mm))).astype(np.int32)], 1)
    return mask > 0


def _top(cube: Cube, view: TopView) -> NDArray[np.float32]:
    """The middle of a die's top, (PATCH, PATCH, 3), upright."""
    south_west, south_east, _, north_west = cube.top()
    right, up = (south_east - south_west) * PATCH_SHARE, (north_west - south_west) * PATCH_SHARE
    shares = (np.arange(PATCH) + 0.5) / PATCH - 0.5
    places = cube.middle_mm + shares[None, :, None] * right + shares[::-1, None, None] * up
    at = view.pixels(places.reshape(-1, 2)).reshape(PATCH, PATCH, 2)
    return np.asarray(cv2.remap(view.shown, at[..., 0], at[..., 1], cv2.INTER_LINEAR), np.float32)


def _holds_something(view: TopView, corner: DiceCorner) -> bool:
    """Is a good part of a die's size of another colour than the corner?"""
    here = inside(view, corner)
    usual = np.median(view.shown[here], axis=0)
    apart = np.linalg.norm(view.shown - usual, axis=2)
    spread = 1.4826 * float(np.median(apart[here]))
    return bool(np.count_nonzero(here & (apart > max(STRANGE, STRANGE_SPREADS * spread))) > STRANGE_SHARE * FINE**2)
