"""Random cases with exact truth, as files: image.jpg, empty.jpg, table.json, truth.json.

Observers are scored on files of this layout. Tables, lamps, lenses, camera places, plastics and
throws all vary with the seed. `simulation.render.scene` describes the drawn scenes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

import cv2
import msgspec
import numpy as np

from simulation.generate.layouts import Layout, random_layout
from simulation.generate.tables import KINDS, Kind, random_camera, random_setup, random_stage
from simulation.generate.throws import Placed
from simulation.render.arms import occlusion_mask
from simulation.render.renderer import PicturesOf, Renderer
from simulation.render.scene import SKINS, SLEEVES, Limb, Scene, Stage, forearm, reaching_arm
from table.boards import Tiles, within
from table.clearance import clearance
from table.errors import InputError
from table.files import write_whole
from table.json_data import JsonObject
from table.messages import msg
from table.observation import Camera
from table.table_config import Setup, save_table
from vision.cameras.frame import Image, swapped


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """A whole case: setup, camera's place and layout."""

    setup: Setup
    camera: Camera
    stage: Stage
    layout: Layout
    limbs: tuple[Limb, ...]
    covered: tuple[int, ...]

    @property
    def placed(self) -> tuple[Placed, ...]:
        """The pieces."""
        return self.layout.placed

    def scene(self) -> Scene:
        """The scene with its pieces, counters and tiles."""
        return Scene(
            self.stage, tuple(place.piece for place in self.placed), self.limbs, self.layout.slabs
        )


def write_case(
    folder: Path, kind: Kind, seed: int, width_px: int | None = None, before: PicturesOf = Renderer
) -> None:
    """Make the case of a kind and seed and write its files into `folder`, created if needed.

    `width_px` is the width of its pictures, by default the lens's; `before` makes the renderer. A
    tiled board has no picture before play. Raises InputError.
    """
    case, rng = random_case(kind, seed), np.random.default_rng([seed, 99])
    setup = case.setup if width_px is None else resized(case.setup, width_px)
    folder.mkdir(parents=True, exist_ok=True)
    renderer = before(setup, case.camera)
    quality = int(rng.integers(86, 97))
    if not isinstance(setup.board, Tiles):
        _write_jpeg(folder / "empty.jpg", renderer.picture(Scene(case.stage), rng), quality)
    _write_jpeg(folder / "image.jpg", renderer.picture(case.scene(), rng), quality)
    save_table(setup, folder / "table.json")
    truth = {"kind": kind, "seed": seed, **truth_document(case)}
    write_whole(
        folder / "truth.json", msgspec.json.format(msgspec.json.encode(truth), indent=1) + b"\n"
    )


def random_case(kind: Kind, seed: int) -> Case:
    """The case of a kind and seed, not yet drawn."""
    if kind not in KINDS:
        raise InputError(
            msg(
                "case: kind: expected {raw} or {raw2}, got {raw3}",
                raw=", ".join(KINDS[:-1]),
                raw2=KINDS[-1],
                raw3=repr(kind),
            )
        )
    rng = np.random.default_rng([seed, KINDS.index(kind)])
    setup = random_setup(kind, rng)
    camera = random_camera(setup, rng)
    stage = random_stage(setup, rng)
    layout = random_layout(setup, rng)
    limbs = _random_arm(setup, camera, layout, rng)
    return Case(setup, camera, stage, layout, limbs, _covered_marker_ids(setup, camera, limbs))


def random_view(setup: Setup, seed: int) -> tuple[Camera, Scene]:
    """A random camera place and a random position of the game, for a known table.

    Raises InputError for games that are not drawn.
    """
    rng = np.random.default_rng([seed, 2])
    camera = random_camera(setup, rng)
    stage = random_stage(setup, rng)
    layout = random_layout(setup, rng)
    return camera, Scene(stage, tuple(place.piece for place in layout.placed), (), layout.slabs)


def resized(setup: Setup, width_px: int) -> Setup:
    """The same table and view with another number of pixels."""
    lens = setup.camera
    scale = width_px / lens.width
    (fx, _, cx), (_, fy, cy), last = lens.matrix
    matrix = (
        (fx * scale, 0.0, (cx + 0.5) * scale - 0.5),
        (0.0, fy * scale, (cy + 0.5) * scale - 0.5),
        last,
    )
    small = msgspec.structs.replace(
        lens, width=width_px, height=round(lens.height * scale), matrix=matrix
    )
    return msgspec.structs.replace(setup, camera=small)


def truth_document(case: Case) -> JsonObject:
    """The truth as plain data: pieces on and off the board, with gaps to the target.

    A gap of -1 means that the piece stands on the target.
    """
    outline = case.setup.outline_mm()
    inside = [
        within(outline, place.piece.solid.vertices_mm[:, :2].mean(axis=0)) for place in case.placed
    ]
    document: JsonObject = {
        "camera_pose": {"R": case.camera.rotation.tolist(), "eye_mm": case.camera.eye_mm.tolist()},
        "pieces": [
            _truth(place) for place, is_in in zip(case.placed, inside, strict=True) if is_in
        ],
        "off_board": [
            _truth(place) for place, is_in in zip(case.placed, inside, strict=True) if not is_in
        ],
        "covered_fiducials": list(case.covered),
        "counters": [],
        **case.layout.truth,
    }
    target = next((place.piece.solid for place in case.placed if place.role == "target"), None)
    if target is not None:
        thrown = [
            place
            for place, is_in in zip(case.placed, inside, strict=True)
            if is_in and place.role == "projectile"
        ]
        gaps = [
            -1.0 if place.on_target else clearance(place.piece.solid, target).mm for place in thrown
        ]
        document["gaps"] = [
            {"colour": place.piece.colour, "base_mm": place.base_mm.tolist(), "gap_mm": gap}
            for place, gap in zip(thrown, gaps, strict=True)
        ]
    return document


def _truth(place: Placed) -> JsonObject:
    vertices = place.piece.solid.vertices_mm
    contact = vertices[:4, :2] if place.pose == "upright" else vertices[[1, 2, 4], :2]
    document = {
        "colour": place.piece.colour,
        "size": place.size,
        "pose": place.pose,
        "base_mm": place.base_mm.tolist(),
        "tip_mm": vertices[4, :2].tolist(),
        "heading_deg": place.heading_deg % 360,
        "footprint_mm": contact.tolist(),
        "vertices_mm": vertices.tolist(),
        "role": place.role,
    }
    if place.on_target:
        document["on"] = "target"
    return document


def _write_jpeg(path: Path, image: Image, quality: int) -> None:
    ok, data = cv2.imencode(".jpg", swapped(image), [cv2.IMWRITE_JPEG_QUALITY, quality])
    assert ok, "a whole picture can be encoded"
    write_whole(path, data.tobytes())


def _random_arm(
    setup: Setup, camera: Camera, layout: Layout, rng: np.random.Generator
) -> tuple[Limb, ...]:
    """Sometimes an arm that reaches in over a fiducial card and covers no piece."""
    if rng.random() > 0.35:
        return ()
    counters = [slab.vertices_mm for slab in layout.slabs if not isinstance(setup.board, Tiles)]
    there = np.concatenate([place.piece.vertices_mm for place in layout.placed] + counters)
    for _ in range(20):
        marker = setup.fiducials.markers[int(rng.integers(len(setup.fiducials.markers)))]
        middle, board = np.mean(marker.corners_mm, axis=0), setup.outline_mm().mean(axis=0)
        inward = math.degrees(math.atan2(*(board - middle)[::-1])) + float(rng.uniform(-40, 40))
        ahead = np.array([math.cos(math.radians(inward)), math.sin(math.radians(inward))])
        tip = np.array([*(middle + float(rng.uniform(-5, 70)) * ahead), float(rng.uniform(14, 45))])
        skin = SKINS[int(rng.integers(len(SKINS)))]
        sleeve = SLEEVES[int(rng.integers(len(SLEEVES)))]
        limbs = (
            reaching_arm(tip, inward, skin, sleeve)
            if rng.random() < 0.6
            else forearm(tip, inward, skin)
        )
        if not occlusion_mask(limbs, there, camera, spare_mm=4.0).any():
            return limbs
    return ()


def _covered_marker_ids(setup: Setup, camera: Camera, limbs: tuple[Limb, ...]) -> tuple[int, ...]:
    """Ids of the markers that are covered at least in part."""
    shares = np.array([(a, b) for a in np.linspace(0, 1, 9) for b in np.linspace(0, 1, 9)])
    ids = []
    for marker in setup.fiducials.markers:
        corner, right, _, down = np.array(marker.corners_mm)
        places = corner + shares @ np.array([right - corner, down - corner])
        if occlusion_mask(
            limbs, np.column_stack([places, np.full(len(places), setup.fiducials.z_mm)]), camera
        ).any():
            ids.append(marker.id)
    return tuple(ids)
