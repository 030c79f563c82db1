"""Made-up cases with exact truth, in the layout that observers are scored on: image.jpg, empty.jpg, table.json, truth.json.

Tables, lamps, lenses, camera places, plastics and throws all vary with the seed.  See `vision.scene` for what is drawn.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import cv2
import msgspec
import numpy as np

from table.boards import Board, Chessboard, Open, within
from table.clearance import clearance
from table.documents import write_whole
from table.errors import InputError
from table.observation import Camera
from table.pieces import PieceSize, load_piece_set
from table.setup import Fiducials, Game, Lens, Marker, Setup, save_table
from table.solids import Array, Pose, Solid, lying, on_top, upright
from vision.camera import project
from vision.frame import Image
from vision.render import Renderer
from vision.scene import ALWAYS_OPAQUE, SKINS, Lamp, Limb, Rgb, Scene, ScenePiece, Sensor, Stage, Surface, look_at, reaching_arm
from vision.scene_ground import CARD_MM, table_z_mm
from vision.scene_poses import is_free, leaning_on, slid_against

Kind = Literal["boule", "storm"]
Role = Literal["target", "projectile", "reserve", "thrown", "stray"]

COLOURS_IN_PLAY = ("red", "yellow", "green", "blue", "black", "purple", "orange", "cyan", "white")
TABLES: tuple[Surface, ...] = (
    Surface("wood", (0.32, 0.18, 0.09)),
    Surface("wood", (0.13, 0.07, 0.04)),
    Surface("wood", (0.45, 0.30, 0.17)),
    Surface("cloth", (0.42, 0.03, 0.05)),
    Surface("cloth", (0.16, 0.17, 0.18)),
    Surface("cloth", (0.05, 0.12, 0.22)),
    Surface("paper", (0.55, 0.52, 0.46), 0.08),
)
MATS: tuple[Surface, ...] = (
    Surface("cloth", (0.03, 0.16, 0.08)),
    Surface("cloth", (0.02, 0.022, 0.026)),
    Surface("cloth", (0.30, 0.03, 0.04)),
    Surface("cloth", (0.05, 0.16, 0.28)),
    Surface("cloth", (0.46, 0.40, 0.30), 0.15),
)
SQUARES: tuple[tuple[Rgb, Rgb], ...] = (
    ((0.02, 0.02, 0.022), (0.72, 0.70, 0.65)),
    ((0.18, 0.08, 0.035), (0.62, 0.50, 0.33)),
    ((0.06, 0.17, 0.08), (0.66, 0.63, 0.52)),
    ((0.03, 0.03, 0.035), (0.50, 0.05, 0.04)),
)
SCREENS = ((1640, 1232), (1920, 1080), (2304, 1296))


@dataclass(frozen=True, slots=True, eq=False)
class Placed:
    """A piece and what it is in the game; `lies_on` says what it rests on besides the table."""

    piece: ScenePiece
    size: str
    pose: Pose
    base_mm: Array
    heading_deg: float
    role: Role
    on_target: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """A whole case: what is known of the table, the camera's place, what is there."""

    setup: Setup
    camera: Camera
    stage: Stage
    placed: tuple[Placed, ...]
    limbs: tuple[Limb, ...]
    covered: tuple[int, ...]

    def scene(self) -> Scene:
        """The scene with its pieces."""
        return Scene(self.stage, tuple(place.piece for place in self.placed), self.limbs)


def write_case(folder: Path, kind: Kind, seed: int) -> None:
    """Make the case of a kind and seed and write its four files into `folder`, which is made if need be."""
    case, rng = random_case(kind, seed), np.random.default_rng([seed, 99])
    folder.mkdir(parents=True, exist_ok=True)
    renderer = Renderer(case.setup, case.camera)
    quality = int(rng.integers(86, 97))
    _write_jpeg(folder / "empty.jpg", renderer.picture(Scene(case.stage), rng), quality)
    _write_jpeg(folder / "image.jpg", renderer.picture(case.scene(), rng), quality)
    save_table(case.setup, folder / "table.json")
    truth = {"kind": kind, "seed": seed, **truth_document(case)}
    write_whole(folder / "truth.json", msgspec.json.format(msgspec.json.encode(truth), indent=1) + b"\n")


def random_case(kind: Kind, seed: int) -> Case:
    """The case of a kind and seed, not drawn yet."""
    if kind not in ("boule", "storm"):
        raise InputError(f"case: kind: expected boule or storm, got {kind!r}")
    rng = np.random.default_rng([seed, 0 if kind == "boule" else 1])
    board: Board = _ground(rng) if kind == "boule" else Chessboard(square_mm=float(rng.choice([42, 45, 50, 55])))
    setup = _random_setup(kind, board, rng)
    camera = _random_camera(setup, rng)
    stage = random_stage(setup, rng)
    placed = tuple(_throw_boule(setup, rng) if kind == "boule" else _throw_storm(setup, rng))
    limbs, covered = _maybe_arm(setup, rng)
    return Case(setup, camera, stage, placed, limbs, covered)


def truth_document(case: Case) -> dict[str, Any]:
    """The answer as plain data: pieces on and off the board, gaps to the target (-1: it stands on the target)."""
    outline = case.setup.outline_mm()
    inside = [within(outline, place.piece.solid.vertices_mm[:, :2].mean(axis=0)) for place in case.placed]
    document: dict[str, Any] = {
        "camera_pose": {"R": case.camera.rotation.tolist(), "eye_mm": case.camera.eye_mm.tolist()},
        "pieces": [_truth(place) for place, is_in in zip(case.placed, inside, strict=True) if is_in],
        "off_board": [_truth(place) for place, is_in in zip(case.placed, inside, strict=True) if not is_in],
        "covered_fiducials": list(case.covered),
        "counters": [],
    }
    target = next((place.piece.solid for place in case.placed if place.role == "target"), None)
    if target is not None:
        thrown = [place for place, is_in in zip(case.placed, inside, strict=True) if is_in and place.role == "projectile"]
        gaps = [-1.0 if place.on_target else clearance(place.piece.solid, target).mm for place in thrown]
        document["gaps"] = [
            {"colour": place.piece.colour, "base_mm": place.base_mm.tolist(), "gap_mm": gap} for place, gap in zip(thrown, gaps, strict=True)
        ]
    return document


def _truth(place: Placed) -> dict[str, Any]:
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
    ok, data = cv2.imencode(".jpg", np.ascontiguousarray(image[..., ::-1]), [cv2.IMWRITE_JPEG_QUALITY, quality])
    assert ok, "a whole picture can be encoded"
    write_whole(path, data.tobytes())


def _ground(rng: np.random.Generator) -> Open:
    width, depth = float(rng.uniform(420, 700)), float(rng.uniform(380, 600))
    return Open(outline_mm=((0.0, 0.0), (width, 0.0), (width, depth), (0.0, depth)))


def _random_setup(kind: Kind, board: Board, rng: np.random.Generator) -> Setup:
    """A table with four cards around a board; chessboards are 0.3, 2.5 or 9 mm thick."""
    side = float(rng.choice([30, 35, 40]))
    thickness = 0.0 if kind == "boule" else float(rng.choice([0.3, 2.5, 9.0]))
    low, high = board.outline().min(axis=0), board.outline().max(axis=0)
    out = (side - 10.0 if kind == "boule" else float(rng.uniform(62, 84))) - side / 2
    middles = [(low[0] - out, high[1] + out), (high[0] + out, high[1] + out), (high[0] + out, low[1] - out), (low[0] - out, low[1] - out)]
    markers = tuple(square_marker(index, float(x), float(y), side) for index, (x, y) in enumerate(middles))
    width, height = SCREENS[int(rng.integers(len(SCREENS)))]
    focal = float(width * rng.uniform(0.75, 1.05))
    matrix = (
        (focal, 0.0, width / 2 + float(rng.normal(0, 8))),
        (0.0, focal * float(rng.normal(1, 4e-4)), height / 2 + float(rng.normal(0, 8))),
        (0.0, 0.0, 1.0),
    )
    distortion = (float(rng.uniform(-0.09, 0.07)), float(rng.uniform(-0.03, 0.03)), float(rng.normal(0, 3e-4)), float(rng.normal(0, 3e-4)), 0.0)
    colours = [str(name) for name in rng.permutation(COLOURS_IN_PLAY)]
    players = int(rng.integers(2, 5)) if kind == "boule" else int(rng.integers(3, 6))
    size = ("small", "medium", "large")[int(rng.integers(3))]
    if isinstance(board, Chessboard) and board.square_mm < 50 and size == "large":
        size = "medium"
    return Setup(
        camera=Lens(width=width, height=height, matrix=matrix, distortion=distortion),
        fiducials=Fiducials(markers=markers, z_mm=CARD_MM - thickness),
        board=board,
        game=Game(
            name="ice_boule" if kind == "boule" else "ice_storm",
            colours=tuple(colours[:players]),
            sizes=(size,),
            target=colours[players] if kind == "boule" else None,
        ),
        pieces=load_piece_set("looney"),
    )


def square_marker(marker_id: int, x_mm: float, y_mm: float, side_mm: float) -> Marker:
    """A fiducial that reads upright from the near side, its middle at (x, y)."""
    h = side_mm / 2
    return Marker(id=marker_id, corners_mm=((x_mm - h, y_mm + h), (x_mm + h, y_mm + h), (x_mm + h, y_mm - h), (x_mm - h, y_mm - h)))


def _random_camera(setup: Setup, rng: np.random.Generator) -> Camera:
    """A camera tilted by 0 to 35 degrees, as near as all cards allow."""
    cards = np.array([marker.corners_mm for marker in setup.fiducials.markers]).reshape(-1, 2)
    middle = cards.mean(axis=0)
    cards = np.column_stack([middle + 1.12 * (cards - middle), np.full(len(cards), setup.fiducials.z_mm)])
    tilt, round_ = math.radians(rng.uniform(0, 35)), math.radians(rng.uniform(-150, -30))
    target = np.array([*(middle + rng.normal(0, 12, 2)), 0.0])
    back = np.array([math.sin(tilt) * math.cos(round_), math.sin(tilt) * math.sin(round_), math.cos(tilt)])
    roll = float(rng.normal(0, 8))
    for distance in np.arange(400.0, 3000.0, 20.0):
        camera = look_at(target + distance * back, target, roll)
        pixels = project(cards, camera, setup.camera)
        if pixels.min() > 4 and (pixels < np.array([setup.camera.width - 4, setup.camera.height - 4])).all():
            return look_at(target + distance * float(rng.uniform(1.0, 1.15)) * back, target, roll)
    raise InputError("case: expected a lens that can see all fiducials from 3 m, got one that cannot")


def random_stage(setup: Setup, rng: np.random.Generator) -> Stage:
    """Table, mat, one or two lamps and a sensor, none like the one before."""
    table = replace(
        TABLES[int(rng.integers(len(TABLES)))],
        contrast=float(rng.uniform(0.05, 0.35)),
        grain_deg=float(rng.uniform(0, 180)),
        gloss=float(rng.choice([0.0, 0.03, 0.12])),
    )
    middle = setup.outline_mm().mean(axis=0)
    lamps = tuple(
        Lamp(
            (float(middle[0] + rng.normal(0, 450)), float(middle[1] + rng.normal(0, 450)), float(rng.uniform(700, 1800))),
            power=float(rng.uniform(0.3, 1.0)),
            radius_mm=float(rng.uniform(20, 160)),
            rgb=(1.0, float(rng.uniform(0.86, 1.0)), float(rng.uniform(0.72, 1.05))),
        )
        for _ in range(int(rng.integers(1, 3)))
    )
    ambient = float(rng.uniform(0.2, 0.5))
    light = ambient + sum(lamp.power for lamp in lamps)
    exposure = float(rng.uniform(0.75, 1.25)) / light
    sensor = Sensor(
        blur_px=float(rng.uniform(0.55, 0.9)),
        exposure=(exposure * float(rng.uniform(0.94, 1.06)), exposure, exposure * float(rng.uniform(0.92, 1.08))),
        vignetting=float(rng.uniform(0.0, 0.35)),
        shot_noise=float(rng.uniform(0.008, 0.028)),
        read_noise=float(rng.uniform(0.002, 0.006)),
    )
    mat = replace(MATS[int(rng.integers(len(MATS)))], contrast=float(rng.uniform(0.08, 0.3))) if rng.random() < 0.75 else None
    bounds = cv2.boundingRect(np.array([marker.corners_mm for marker in setup.fiducials.markers], np.float32).reshape(-1, 1, 2))
    x, y, width, depth = (float(value) for value in bounds)
    edge = rng.uniform(200, 800, 4)
    return Stage(
        table=table,
        lamps=lamps,
        sensor=sensor,
        ambient=ambient,
        mat=mat,
        squares=SQUARES[int(rng.integers(len(SQUARES)))],
        frame_mm=float(rng.uniform(6, 18)),
        table_mm=(x - float(edge[0]), y - float(edge[1]), x + width + float(edge[2]), y + depth + float(edge[3])),
        seed=int(rng.integers(1 << 30)),
    )


class _Thrower:
    """Throws pieces of one kind of plastic on to a table, none into another."""

    def __init__(self, setup: Setup, rng: np.random.Generator) -> None:
        self.setup, self.rng = setup, rng
        self.size: PieceSize = setup.sizes[0]
        self.solid_set = bool(rng.random() < 0.3)
        self.depth = float(rng.uniform(0.8, 1.8))
        self.placed: list[Placed] = []

    def place(self, colour: str, pose: Pose, solid: Solid, base_mm: Array, heading_deg: float, role: Role, on_target: bool = False) -> None:
        see_through = not self.solid_set and colour not in ALWAYS_OPAQUE
        piece = ScenePiece(solid, colour, see_through, self.size.wall_mm, self.depth)
        self.placed.append(Placed(piece, self.size.name, pose, base_mm, heading_deg, role, on_target))

    def solids(self) -> list[Solid]:
        return [place.piece.solid for place in self.placed]

    def throw(self, colour: str, around_mm: Array, spread_mm: float, role: Role, z_mm: float = 0.0) -> bool:
        """Lay a piece down near a place, free of the others; False where there is no room."""
        for _ in range(40):
            x, y = around_mm + self.rng.normal(0, spread_mm, 2)
            heading = float(self.rng.uniform(0, 360))
            pose: Pose = "lying" if self.rng.random() < 0.75 else "upright"
            solid = lying(self.size, x, y, heading, z_mm) if pose == "lying" else upright(self.size, x, y, heading, z_mm)
            if self._fits(solid, role) and is_free(solid, self.solids()):
                self.place(colour, pose, solid, np.array([x, y]), heading, role)
                return True
        return False

    def lean(self, colour: str, role: Role) -> bool:
        """Let a piece fall against one that lies there; False where none can carry it."""
        for _ in range(40):
            support = self.placed[int(self.rng.integers(len(self.placed)))].piece.solid
            if support.vertices_mm[:, 2].min() < -0.01:
                continue
            heading = float(self.rng.uniform(0, 360))
            away = float(self.rng.uniform(0.3, 1.0)) * self.size.slant_mm + self.size.base_mm / 2
            towards = np.array([math.cos(math.radians(heading)), math.sin(math.radians(heading))])
            edge = support.vertices_mm[:, :2].mean(axis=0) - away * towards + self.rng.normal(0, 3, 2)
            solid = leaning_on(self.size, edge, heading, support)
            others = [other for other in self.solids() if other is not support]
            if solid is not None and self._fits(solid, role) and is_free(solid, others):
                self.place(colour, "leaning", solid, edge, heading, role)
                return True
        return False

    def _fits(self, solid: Solid, role: Role) -> bool:
        """Wholly inside the outline, or wholly outside it, the board's frame and every card."""
        outline, plan = self.setup.outline_mm(), solid.vertices_mm[:, :2]
        if role in ("projectile", "target", "thrown"):
            return all(within(outline, corner) for corner in plan)
        low, high = outline.min(axis=0) - 22, outline.max(axis=0) + 22
        beside = bool((plan.max(axis=0) < low).any() or (plan.min(axis=0) > high).any())
        middle = plan.mean(axis=0)
        cards = np.array([np.mean(marker.corners_mm, axis=0) for marker in self.setup.fiducials.markers])
        return beside and bool(np.hypot(*(cards - middle).T).min() > 75)


def _throw_boule(setup: Setup, rng: np.random.Generator) -> list[Placed]:
    thrower, outline = _Thrower(setup, rng), setup.outline_mm()
    low, high = outline.min(axis=0), outline.max(axis=0)
    spot, heading = low + (high - low) * rng.uniform(0.25, 0.75, 2), float(rng.uniform(0, 360))
    target = upright(thrower.size, float(spot[0]), float(spot[1]), heading)
    assert setup.game.target is not None
    thrower.place(setup.game.target, "upright", target, spot, heading, "target")
    spread = float(rng.uniform(45, 120))
    for colour in setup.game.colours:
        for _ in range(int(rng.integers(1, 5))):
            if rng.random() < 0.06:
                thrower.lean(colour, "projectile")
            elif thrower.throw(colour, spot, spread, "projectile") and rng.random() < 0.12:
                _push_to_target(thrower, target)
        for _ in range(int(rng.integers(0, 3))):
            thrower.throw(colour, low + (high - low) * rng.uniform(-0.15, 1.15, 2), 30.0, "reserve")
    if rng.random() < 0.12 and is_free(on_top(thrower.size, target, 0.0), thrower.solids()[1:], 3.0):
        turn = float(rng.uniform(0, 360))
        thrower.place(setup.game.colours[0], "upright", on_top(thrower.size, target, turn), spot, turn, "projectile", on_target=True)
    return thrower.placed


def _push_to_target(thrower: _Thrower, target: Solid) -> None:
    """Slide the piece thrown last against the target, if nothing is in the way."""
    last = thrower.placed.pop()
    before = last.piece.solid
    solid = slid_against(before, target)
    others = [other for other in thrower.solids() if other is not target]
    if solid is None or not is_free(solid, others):
        thrower.placed.append(last)
        return
    shift = (solid.vertices_mm - before.vertices_mm)[0, :2]
    thrower.placed.append(replace(last, piece=replace(last.piece, solid=solid), base_mm=last.base_mm + shift))


def _throw_storm(setup: Setup, rng: np.random.Generator) -> list[Placed]:
    thrower, outline = _Thrower(setup, rng), setup.outline_mm()
    low, high = outline.min(axis=0), outline.max(axis=0)
    for _ in range(int(rng.integers(4, 6))):
        for colour in setup.game.colours:
            if thrower.placed and rng.random() < 0.04:
                thrower.lean(colour, "thrown")
            else:
                thrower.throw(colour, low + (high - low) * rng.uniform(0.04, 0.96, 2), 8.0, "thrown")
    for _ in range(int(rng.integers(0, 5))):
        colour = setup.game.colours[int(rng.integers(len(setup.game.colours)))]
        thrower.throw(colour, low + (high - low) * rng.uniform(-0.2, 1.2, 2), 40.0, "stray", table_z_mm(setup))
    return thrower.placed


def _maybe_arm(setup: Setup, rng: np.random.Generator) -> tuple[tuple[Limb, ...], tuple[int, ...]]:
    """Now and then a hand that covers one card, reaching in from outside."""
    if rng.random() > 0.3:
        return (), ()
    marker = setup.fiducials.markers[int(rng.integers(len(setup.fiducials.markers)))]
    middle, board = np.mean(marker.corners_mm, axis=0), setup.outline_mm().mean(axis=0)
    inward = math.degrees(math.atan2(*(board - middle)[::-1])) + float(rng.uniform(-25, 25))
    ahead = np.array([math.cos(math.radians(inward)), math.sin(math.radians(inward))])
    tip = np.array([*(middle + 22 * ahead), 18.0])
    return reaching_arm(tip, inward, SKINS[int(rng.integers(len(SKINS)))]), (marker.id,)
