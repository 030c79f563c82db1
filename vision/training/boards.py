"""Practice sheets cut from whole made-up cases: the boards of all five games, as `vision.finder` sees them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import cv2
import numpy as np
from numpy.typing import NDArray

from table.pieces import COLOURS
from table.solids import POSES, Array
from vision.camera import project
from vision.finder import MARGIN_MM, STEPS_A_BASE, relative
from vision.frame import Image
from vision.hypothesis import cast_down
from vision.light import linear
from vision.photo import FlatView, Photo
from vision.render import Renderer
from vision.scene import Limb, Scene, Slab, Stage
from vision.scene_cases import random_case, resized
from vision.scene_grid import make_grid
from vision.scene_layouts import Layout, random_layout
from vision.scene_limbs import draw_limbs
from vision.scene_tables import KINDS
from vision.training.sheets import SHEET_PX, Sheet

LAYOUTS, CUTS = 3, 2
"""Positions drawn on one table, and sheets cut from each picture."""
WIDTHS_PX = (900, 1400)


def board_sheets(seed: int) -> Iterator[Sheet]:
    """Sheets of one made-up table of one of the five games."""
    rng = np.random.default_rng([seed, 9])
    case = random_case(KINDS[seed % len(KINDS)], seed)
    setup = resized(case.setup, int(rng.integers(*WIDTHS_PX)))
    renderer = Renderer(setup, case.camera)
    for k in range(LAYOUTS):
        layout, limbs = (case.layout, case.limbs) if k == 0 else (random_layout(setup, rng), ())
        picture = renderer.picture(Scene(case.stage, tuple(place.piece for place in layout.placed), limbs, layout.slabs), rng)
        _, packed = cv2.imencode(".jpg", picture, [cv2.IMWRITE_JPEG_QUALITY, int(rng.integers(80, 97))])
        photo = Photo(np.asarray(cv2.imdecode(packed, cv2.IMREAD_COLOR), np.uint8), case.camera, setup)
        view = photo.flat(min(size.base_mm for size in setup.sizes) / STEPS_A_BASE, MARGIN_MM)
        code = relative(view.code, paper_of(photo))
        yield from _cut(code, view, photo, layout, _arms(limbs, photo, case.stage, view), rng)


def paper_of(photo: Photo) -> Array:
    """Light (3,) of the white margin of the cards that are seen: the brightest of what is around the printed squares."""
    levels = []
    for marker in photo.setup.fiducials.markers:
        corners = np.array(marker.corners_mm)
        around = corners.mean(axis=0) + (corners - corners.mean(axis=0)) * 1.13
        pixels = project(np.column_stack([around, np.full(4, photo.setup.fiducials.z_mm)]), photo.camera, photo.setup.camera)
        columns, rows = np.clip(np.rint(pixels).astype(int), 0, np.array(photo.image.shape[1::-1]) - 1).T
        levels.append(np.median(linear(photo.image[rows, columns][None])[0], axis=0))
    return np.maximum(np.median(levels, axis=0), 0.02)


def _arms(limbs: tuple[Limb, ...], photo: Photo, stage: Stage, view: FlatView) -> NDArray[np.uint8]:
    if not limbs:
        return np.zeros(view.code.shape[:2], np.uint8)
    seen = np.zeros(photo.image.shape, np.float32)
    draw_limbs(seen, tuple(replace(limb, rgb=(1.0, 1.0, 1.0)) for limb in limbs), stage, make_grid(photo.camera, photo.setup.camera))
    drawn = Photo(np.where(seen.max(axis=2, keepdims=True) > 0, np.uint8(255), np.uint8(0)).repeat(3, axis=2), photo.camera, photo.setup)
    return (drawn.flat(view.step_mm, MARGIN_MM).code[..., 0] > 127).astype(np.uint8)


def _disc(slab: Slab, view: FlatView, eye_mm: Array) -> Array:
    """Middle and radius (3,) in pixels of a counter's face."""
    face = np.column_stack([slab.outline_mm, np.full(len(slab.outline_mm), slab.top_mm)])
    seen = view.pixels(cast_down(face, eye_mm))
    return np.append(seen.mean(axis=0), np.sqrt(np.ptp(seen[:, 0]) * np.ptp(seen[:, 1])) / 2)


def _cut(code: Image, view: FlatView, photo: Photo, layout: Layout, arms: NDArray[np.uint8], rng: np.random.Generator) -> Iterator[Sheet]:
    eye = photo.camera.eye_mm
    corners = np.array([view.pixels(cast_down(place.piece.solid.vertices_mm, eye)) for place in layout.placed]).reshape(-1, 5, 2)
    pose = np.array([POSES.index(place.pose) for place in layout.placed], int)
    colour = np.array([COLOURS.index(place.piece.colour) for place in layout.placed], int)
    base = np.array([np.linalg.norm(place.piece.solid.vertices_mm[1] - place.piece.solid.vertices_mm[0]) for place in layout.placed]) / view.step_mm
    counters = layout.slabs if photo.setup.game.counters is not None else ()
    discs = [_disc(slab, view, eye) for slab in counters]
    rims = np.array(discs).reshape(-1, 3)
    covered = np.zeros(code.shape[:2], np.uint8)
    for body in corners:
        cv2.fillConvexPoly(covered, cv2.convexHull(np.rint(body * 16).astype(np.int32)), 1, shift=4)
    for x, y, radius in rims:
        cv2.circle(covered, (round(x * 16), round(y * 16)), round(radius * 16), 1, -1, shift=4)
    masks = np.stack([covered, arms])
    pad = [(0, max(0, SHEET_PX - size)) for size in code.shape[:2]]
    code, masks = np.pad(code, (*pad, (0, 0)), mode="edge"), np.pad(masks, ((0, 0), *pad))
    for _ in range(CUTS):
        top, left = (int(rng.integers(0, size - SHEET_PX + 1)) for size in code.shape[:2])
        shift = np.array([left, top])
        here = corners - shift
        middle = (here[:, :4].mean(axis=1) + here[:, 4]) / 2
        keep = ((middle > 2) & (middle < SHEET_PX - 3)).all(axis=1)
        cut = (slice(top, top + SHEET_PX), slice(left, left + SHEET_PX))
        yield Sheet(code[cut], here[keep], pose[keep], colour[keep], base[keep], rims - [left, top, 0], masks[:, *cut])
