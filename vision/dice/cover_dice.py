"""Find cover dice on a board: cubes of known size that lie flat, with any faces.

A square of that size may also be printed, or lie between the sides of two dice. But a die changes
everything that it covers.
"""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np
from numpy.typing import NDArray

from table.boards import within
from table.observation import SeenDie
from table.solids import Array, Solid, convex_hull
from table.table_config import CoverDice, DiceCorner
from vision.background.background_model import SIGMAS, EmptyTable, share_of
from vision.dice.cube_fit import Cube, edge_map
from vision.dice.reader import (
    COARSE,
    FINE,
    TURN_STEP_DEG,
    corner_mask,
    dice_at_maxima,
    fit_flat_dice,
    line_responses,
)
from vision.dice.top_view import TopView, level_mm, top_view
from vision.geometry.change_mask import changed_pixels
from vision.geometry.piece_pose import project_to_table
from vision.geometry.rectified_view import SUB_BITS, Photo
from vision.networks.detector import Detections

MOST_CANDIDATES = 16
"""Number of candidate squares that are fitted."""
LEAST_AGREEMENT = 0.65
"""Least edge agreement of a die, 0 to 1."""
LEAST_COVERAGE = 0.6
"""Least share of a die's area that has changed."""
BEYOND, TAKEN = 0.25, 0.5
"""A detected piece is not a die if its probability exceeds TAKEN and it reaches beyond the die by
this many edges.
"""
PRINT_MM = 4.0
"""Margin around a die in which print is examined."""
REACH_PX = 2
"""Largest distance of a die's edges outside the changed area."""
SIGMA_MM = 0.5
"""Standard deviation of a die's middle."""


def find_dice(
    photo: Photo, kind: CoverDice, detections: Detections, empty: EmptyTable
) -> list[Cube]:
    """Dice on the board, the most probable first; `empty` is the bare table."""
    board = DiceCorner(
        outline_mm=tuple((float(x), float(y)) for x, y in photo.setup.outline_mm()),
        edge_mm=kind.edge_mm,
        z_mm=0.0,
    )
    fresh = changed_pixels(detections.view.code, empty.code, SIGMAS)
    views = (top_view(photo, board, kind.edge_mm / pixels) for pixels in (COARSE, FINE))
    coarse, fine = (
        _without_unchanged_edges(view, fresh, photo.camera.eye_mm, kind.edge_mm, detections)
        for view in views
    )
    edges = edge_map(fine)
    dice: list[Cube] = []
    for die in fit_flat_dice(_squares(coarse, photo, board), edges, LEAST_AGREEMENT):
        apart = all(np.hypot(*(die.middle_mm - other.middle_mm)) > kind.edge_mm for other in dice)
        covers = apart and share_of(fresh, detections.view.inside(die.outline())) >= LEAST_COVERAGE
        if covers and not _is_of_piece(die, detections) and not _is_printed(die, photo, empty):
            dice.append(die)
    return dice


def _squares(view: TopView, photo: Photo, board: DiceCorner) -> list[Cube]:
    """Candidates for the top of a die, the most probable first: four lines at the right distance.

    The cube's other edges help little here, because those of a lying nest look alike.
    """
    h, w = view.shown.shape[:2]
    best, turns = np.zeros((h, w), np.float32), np.zeros((h, w), np.float32)
    for box in _boxes_with_edges(view):
        score, turn_deg = _square_scores(view.part(box))
        turns[box] = np.where(score > best[box], turn_deg, turns[box])
        best[box] = np.maximum(score, best[box])
    return dice_at_maxima(best, turns, corner_mask(view, board), view, photo, board)[
        :MOST_CANDIDATES
    ]


def _boxes_with_edges(view: TopView) -> list[tuple[slice, slice]]:
    """Parts of the view outside which it has no edges, with room for a die around each."""
    edges = (view.along_x != 0).any(axis=2) | (view.along_y != 0).any(axis=2)
    room = np.ones((2 * COARSE + 1, 2 * COARSE + 1), np.uint8)
    near = cv2.dilate(edges.astype(np.uint8), room)
    _, _, stats, _ = cv2.connectedComponentsWithStats(near)
    return [np.s_[y : y + h, x : x + w] for x, y, w, h, _ in stats[1:].tolist()]


def _square_scores(view: TopView) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Scores (h, w) of a die's top with its middle there, and its heading in degrees (h, w)."""
    lines = line_responses(view)
    h, w = view.shown.shape[:2]
    best, turns = np.zeros((h, w), np.float32), np.zeros((h, w), np.float32)
    for turn_deg in range(0, 90, TURN_STEP_DEG):
        sides = []
        for normal_deg in (turn_deg, turn_deg + 90):
            across = (
                COARSE
                / 2
                * np.array([np.cos(np.radians(normal_deg)), np.sin(np.radians(normal_deg))])
            )
            for side in (1, -1):
                moved = np.array([[1, 0, -side * across[0]], [0, 1, side * across[1]]], np.float32)
                sides.append(cv2.warpAffine(lines[normal_deg], moved, (w, h)))
        # An edge of the top beside a face of equal brightness is hardly visible: the weakest
        # counts half.
        score = sum(sides) - 0.5 * np.minimum.reduce(sides)
        turns, best = np.where(score > best, np.float32(turn_deg), turns), np.maximum(score, best)
    return best, turns


def without_dice(detections: Detections, dice: list[Cube], photo: Photo) -> Detections:
    """The detections outside the dice and outside the dice corner."""
    outlines = [die.outline() for die in dice]
    if (corner := photo.setup.dice_corner) is not None:
        low_mm = level_mm(photo, corner)
        outline = [
            (x, y, z_mm) for x, y in corner.outline_mm for z_mm in (low_mm, low_mm + corner.edge_mm)
        ]
        outlines.append(convex_hull(project_to_table(np.array(outline), photo.camera.eye_mm)))
    hidden = np.zeros(detections.pieces.shape, np.uint8)
    for outline_mm in outlines:
        cv2.fillPoly(hidden, [detections.polygon(outline_mm)], 1, shift=SUB_BITS)
    found = tuple(
        one
        for one in detections.objects
        if not any(within(outline_mm, one.middle_mm) for outline_mm in outlines)
    )
    changed = detections.changed
    if changed is not None:
        changed = changed & (
            cv2.resize(hidden, changed.shape[::-1], interpolation=cv2.INTER_NEAREST) == 0
        )
    return replace(
        detections, objects=found, pieces=detections.pieces & (hidden == 0), changed=changed
    )


def dice_beside_pieces(dice: list[Cube], solids: list[Solid]) -> list[Cube]:
    """The dice whose middle is not on a solid's footprint, where no die can lie."""
    covered = [outline_mm for solid in solids if len(outline_mm := solid.footprint_mm()) > 2]
    return [
        die for die in dice if not any(within(outline_mm, die.middle_mm) for outline_mm in covered)
    ]


def seen_die(die: Cube) -> SeenDie:
    """A die as it is reported."""
    x, y = die.middle_mm
    return SeenDie(float(x), float(y), SIGMA_MM)


def _without_unchanged_edges(
    view: TopView, fresh: NDArray[np.bool_], eye_mm: Array, top_mm: float, detections: Detections
) -> TopView:
    """The view, in the plane of the dice's tops, without edges where nothing has changed."""
    h, w = view.shown.shape[:2]
    x, y = np.meshgrid(
        view.start_mm[0] + view.step_mm * np.arange(w),
        view.start_mm[1] - view.step_mm * np.arange(h),
    )
    down = project_to_table(np.stack([x, y, np.full_like(x, top_mm)], axis=-1), eye_mm)
    at = detections.view.pixels(down.reshape(-1, 2)).astype(np.float32).reshape(h, w, 2)
    near = cv2.dilate(
        fresh.astype(np.uint8), np.ones((2 * REACH_PX + 1, 2 * REACH_PX + 1), np.uint8)
    )
    mask = cv2.remap(near, at[..., 0], at[..., 1], cv2.INTER_NEAREST)[..., None]
    return replace(view, along_x=view.along_x * mask, along_y=view.along_y * mask)


def _is_of_piece(die: Cube, detections: Detections) -> bool:
    """True if a piece that looks like a die has its base there.

    The detector takes many dice for pieces too, but not for longer ones.
    """
    outline = die.outline()
    around = outline.mean(axis=0) + (1 + 2 * BEYOND) * (outline - outline.mean(axis=0))
    here = [
        one
        for one in detections.objects
        if not one.is_disc and one.chance > TAKEN and within(outline, one.middle_mm)
    ]
    return any(
        not within(around, one.middle_mm + end * one.axis_mm) for one in here for end in (-0.5, 0.5)
    )


def _is_printed(die: Cube, photo: Photo, empty: EmptyTable) -> bool:
    """True if the edges of the empty table agree with the die at least as well as the present ones.

    A nest on a printed square leaves part of the print visible.
    """
    outline = die.outline()
    low, high = outline.min(axis=0) - PRINT_MM, outline.max(axis=0) + PRINT_MM
    around = DiceCorner(
        outline_mm=((low[0], low[1]), (high[0], low[1]), (high[0], high[1]), (low[0], high[1])),
        edge_mm=die.edge_mm,
        z_mm=die.z_mm,
    )
    views = (top_view(one, around, die.edge_mm / FINE) for one in (photo, empty.photo))
    now, before = (die.agreement(edge_map(view)) for view in views)
    return before >= now
