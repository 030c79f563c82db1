"""Labelled views cut from whole random cases: the boards of all five games.

They have the form of the input of `vision.networks.detector`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import cv2
import numpy as np
from numpy.typing import NDArray

from simulation.generate.cases import random_case, resized
from simulation.generate.layouts import Layout, random_layout
from simulation.generate.tables import KINDS, Kind
from simulation.render.renderer import PicturesOf, Renderer
from simulation.render.scene import Scene
from table.pieces import COLOURS
from table.solids import POSES
from training.labelled_views import (
    VIEW_PX,
    LabelledView,
    arm_mask,
    cut_view,
    disc_px,
    outline_mask,
    padded,
    plastic,
)
from vision.cameras.frame import swapped
from vision.cameras.image_files import decode_image
from vision.geometry.piece_pose import project_to_table
from vision.geometry.rectified_view import FlatView, Photo
from vision.networks.detector import view_of

LAYOUTS, CUTS = 3, 2
"""Positions drawn on one table, and views cut from each picture."""
WIDTHS_PX = (900, 1400)


def board_views(seed: int) -> Iterator[LabelledView]:
    """Views of one random table of one of the five games."""
    rng = np.random.default_rng([seed, 9])
    for photo, layout, scene in photographs(KINDS[seed % len(KINDS)], seed, WIDTHS_PX, rng):
        yield from sheet_views(photo, layout, scene, rng)


def sheet_views(
    photo: Photo, layout: Layout, scene: Scene, rng: np.random.Generator
) -> Iterator[LabelledView]:
    """Views cut from a photograph of a board."""
    view = view_of(photo)
    yield from _cut_views(view, photo, layout, _arms(scene, photo, view), rng)


def photographs(
    kind: Kind,
    seed: int,
    widths_px: tuple[int, int],
    rng: np.random.Generator,
    before: PicturesOf = Renderer,
) -> Iterator[tuple[Photo, Layout, Scene]]:
    """LAYOUTS photographs of one random table of a game, with their layouts and scenes.

    All pieces are of one kind of plastic.
    """
    case = random_case(kind, seed)
    setup = resized(case.setup, int(rng.integers(*widths_px)))
    ids = tuple(marker.id for marker in setup.fiducials.markers if marker.id not in case.covered)
    camera = replace(case.camera, fiducials_seen=ids)
    renderer, made_of = before(setup, camera), plastic(rng)
    for k in range(LAYOUTS):
        layout, limbs = (case.layout, case.limbs) if k == 0 else (random_layout(setup, rng), ())
        scene = Scene(
            case.stage,
            tuple(replace(place.piece, **made_of) for place in layout.placed),
            limbs,
            layout.slabs,
        )
        _, packed = cv2.imencode(
            ".jpg",
            renderer.picture(scene, rng),
            [cv2.IMWRITE_JPEG_QUALITY, int(rng.integers(80, 97))],
        )
        yield (
            Photo(swapped(decode_image(packed.tobytes(), "a drawn picture")), camera, setup),
            layout,
            scene,
        )


def _arms(scene: Scene, photo: Photo, view: FlatView) -> NDArray[np.uint8]:
    seen = arm_mask(scene.limbs, scene.stage, photo.camera, photo.setup.camera)
    return (
        replace(photo, image=255 * seen[..., None].repeat(3, axis=2))
        .flat(view.step_mm)
        .code[..., 0]
        > 127
    ).astype(np.uint8)


def _cut_views(
    view: FlatView, photo: Photo, layout: Layout, arms: NDArray[np.uint8], rng: np.random.Generator
) -> Iterator[LabelledView]:
    eye = photo.camera.eye_mm
    corners = np.array(
        [
            view.pixels(project_to_table(place.piece.solid.vertices_mm, eye))
            for place in layout.placed
        ]
    ).reshape(-1, 5, 2)
    pose = np.array([POSES.index(place.pose) for place in layout.placed], int)
    colour = np.array([COLOURS.index(place.piece.colour) for place in layout.placed], int)
    base = np.array([place.piece.solid.base_mm for place in layout.placed]) / view.step_mm
    counters = layout.slabs if photo.setup.game.counters is not None else ()
    rims = np.array(
        [
            disc_px(slab, lambda points: view.pixels(project_to_table(points, eye)))
            for slab in counters
        ]
    ).reshape(-1, 3)
    masks = np.stack([outline_mask(view.code.shape[:2], corners, rims), arms])
    whole = padded(LabelledView(view.code, corners, pose, colour, base, rims, masks))
    for _ in range(CUTS):
        top, left = (int(rng.integers(0, size - VIEW_PX + 1)) for size in whole.image.shape[:2])
        yield cut_view(whole, top, left)
