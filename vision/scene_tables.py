"""Made-up tables: boards, fiducials, lenses, places for a camera, lamps and surfaces, none like the one before."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Literal

import cv2
import numpy as np

from table.boards import Board, Chessboard, Open
from table.errors import InputError
from table.observation import Camera
from table.pieces import load_piece_set
from table.setup import Fiducials, Game, Lens, Marker, Setup
from vision.camera import project
from vision.scene import Lamp, Rgb, Sensor, Stage, Surface, look_at
from vision.scene_ground import CARD_MM

Kind = Literal["boule", "storm"]

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


def random_ground(rng: np.random.Generator) -> Open:
    width, depth = float(rng.uniform(420, 700)), float(rng.uniform(380, 600))
    return Open(outline_mm=((0.0, 0.0), (width, 0.0), (width, depth), (0.0, depth)))


def random_setup(kind: Kind, board: Board, rng: np.random.Generator) -> Setup:
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


def random_camera(setup: Setup, rng: np.random.Generator) -> Camera:
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
    over_exposed = rng.random() < 0.12
    exposure = float(rng.uniform(1.4, 2.2) if over_exposed else rng.uniform(0.75, 1.25)) / light
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
