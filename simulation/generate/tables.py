"""Random tables: boards, fiducials, lenses, camera places, lamps and surfaces."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Literal, get_args

import cv2
import numpy as np

from simulation.render.board_art import SHEET_MARGIN_MM
from simulation.render.ground import CARD_MM
from simulation.render.scene import Lamp, Rgb, Sensor, Stage, Surface, look_at
from table.boards import Board, Chessboard, Coasters, Hex, Open, Tiles
from table.errors import InputError
from table.messages import msg
from table.observation import Camera
from table.pieces import load_piece_set
from table.solids import Array
from table.table_config import Counters, Fiducials, Game, Lens, Marker, Setup
from vision.geometry.camera_model import project

Kind = Literal["boule", "storm", "zamboni", "icebreaker", "icefloe"]
KINDS: tuple[Kind, ...] = get_args(Kind)

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


def random_board(kind: Kind, rng: np.random.Generator) -> Board:
    """A board for a kind of game, in one of its usual sizes."""
    match kind:
        case "boule":
            width, depth = float(rng.uniform(420, 700)), float(rng.uniform(380, 600))
            return Open(outline_mm=((0.0, 0.0), (width, 0.0), (width, depth), (0.0, depth)))
        case "storm":
            return Chessboard(square_mm=float(rng.choice([42, 45, 50, 55])))
        case "zamboni":
            gap = float(rng.choice([0.0, rng.uniform(0.1, 1.5)]))
            rows = [str(colour) for colour in rng.permutation(("yellow", "red", "green", "blue"))]
            return Coasters(
                cell_mm=(2 * 101.6 + gap) / 6,
                gap_mm=gap,
                layout=((rows[0], rows[1]), (rows[2], rows[3])),
            )
        case "icebreaker":
            return Hex(size=5, cell_mm=float(rng.integers(26, 41)))
        case "icefloe":
            return Tiles(cell_mm=50.8 + float(rng.uniform(0.0, 2.0)))


THICKNESSES_MM: dict[Kind, tuple[float, ...]] = {
    "boule": (0.0,),
    "storm": (0.3, 2.5, 9.0),
    "zamboni": (0.0, 0.0, 0.8, 1.6),
    "icebreaker": (0.0, 0.0, 0.4, 3.0),
    "icefloe": (2.2, 4.0, 6.35, 6.35, 8.0),
}
"""Heights of boards and tiles above the table."""


def random_setup(kind: Kind, rng: np.random.Generator) -> Setup:
    """A table with four cards around a board, some of them laid carelessly."""
    board = random_board(kind, rng)
    thickness = float(rng.choice(THICKNESSES_MM[kind]))
    return Setup(
        camera=_random_lens(rng),
        fiducials=Fiducials(markers=_random_markers(kind, board, rng), z_mm=CARD_MM - thickness),
        board=board,
        game=_random_game(board, rng),
        pieces=load_piece_set("piecepack" if kind == "icefloe" else "looney"),
    )


def random_table(
    board: Board, game: Game, rng: np.random.Generator, thickness_mm: float = 0.0
) -> Setup:
    """A table for a game of any package, with four cards around its board.

    The board is `thickness_mm` thick.
    """
    return Setup(
        camera=_random_lens(rng),
        fiducials=Fiducials(markers=_random_markers("", board, rng), z_mm=CARD_MM - thickness_mm),
        board=board,
        game=game,
        pieces=load_piece_set(game.pieces),
    )


def _random_lens(rng: np.random.Generator) -> Lens:
    width, height = SCREENS[int(rng.integers(len(SCREENS)))]
    focal = float(width * rng.uniform(0.75, 1.05))
    matrix = (
        (focal, 0.0, width / 2 + float(rng.normal(0, 8))),
        (0.0, focal * float(rng.normal(1, 4e-4)), height / 2 + float(rng.normal(0, 8))),
        (0.0, 0.0, 1.0),
    )
    distortion = (
        float(rng.uniform(-0.09, 0.07)),
        float(rng.uniform(-0.03, 0.03)),
        float(rng.normal(0, 3e-4)),
        float(rng.normal(0, 3e-4)),
        0.0,
    )
    return Lens(width=width, height=height, matrix=matrix, distortion=distortion)


def _random_markers(kind: str, board: Board, rng: np.random.Generator) -> tuple[Marker, ...]:
    side = float(rng.choice([30, 35, 40]))
    low, high = board.outline().min(axis=0), board.outline().max(axis=0)
    beyond = {"boule": side / 2 - 10.0, "storm": float(rng.uniform(62, 84)) - side / 2}
    out = beyond.get(kind, side / 2 + 5.0 + SHEET_MARGIN_MM + float(rng.uniform(2, 40)))
    careless = rng.random() < 0.4
    shift, turn = (
        (rng.uniform(-5, 5, (4, 2)), rng.normal(0, 4, 4))
        if careless
        else (np.zeros((4, 2)), np.zeros(4))
    )
    middles = [
        (low[0] - out, high[1] + out),
        (high[0] + out, high[1] + out),
        (high[0] + out, low[1] - out),
        (low[0] - out, low[1] - out),
    ]
    return tuple(
        square_marker(
            index, float(x + shift[index, 0]), float(y + shift[index, 1]), side, float(turn[index])
        )
        for index, (x, y) in enumerate(middles)
    )


def _random_game(board: Board, rng: np.random.Generator) -> Game:
    colours = [str(name) for name in rng.permutation(COLOURS_IN_PLAY)]
    size = ("small", "medium", "large")[int(rng.integers(3))]
    match board:
        case Coasters():
            return Game(
                name="zamboni_wars",
                colours=tuple(colours[: int(rng.integers(2, 5))]),
                sizes=("small", "medium", "large"),
            )
        case Hex():
            white = rng.random() < 0.8 or colours[2] == "clear"
            ships = (
                ("red", "black")
                if rng.random() < 0.4
                else tuple(colour for colour in colours if colour != "white")[:2]
            )
            fits = [
                name
                for name, least_mm in (("small", 0.0), ("medium", 28.0), ("large", 36.0))
                if board.cell_mm >= least_mm
            ]
            counters = Counters(
                colour=(
                    "white" if white else next(colour for colour in colours if colour not in ships)
                ),
                diameter_mm=board.cell_mm * float(rng.uniform(0.5, 0.72)),
            )
            return Game(
                name="icebreaker",
                colours=ships,
                sizes=(fits[int(rng.integers(len(fits)))],),
                counters=counters,
            )
        case Tiles():
            suits = ("red", "black", "green" if rng.random() < 0.3 else "yellow", "blue")
            return Game(
                name="icefloe",
                colours=suits[: int(rng.integers(3, 5))],
                sizes=("A", "B", "C", "D", "E", "F"),
                pieces="piecepack",
            )
        case Chessboard():
            if board.square_mm < 50 and size == "large":
                size = "medium"
            return Game(
                name="ice_storm", colours=tuple(colours[: int(rng.integers(3, 6))]), sizes=(size,)
            )
        case Open():
            players = int(rng.integers(2, 5))
            return Game(
                name="ice_boule",
                colours=tuple(colours[:players]),
                sizes=(size,),
                target=colours[players],
            )


def square_marker(
    marker_id: int, x_mm: float, y_mm: float, side_mm: float, turn_deg: float = 0.0
) -> Marker:
    """A fiducial with its middle at (x, y), turned from reading upright from the near side."""
    c, s, h = math.cos(math.radians(turn_deg)), math.sin(math.radians(turn_deg)), side_mm / 2
    far_left, far_right, near_right, near_left = (
        (x_mm + c * dx - s * dy, y_mm + s * dx + c * dy)
        for dx, dy in ((-h, h), (h, h), (h, -h), (-h, -h))
    )
    return Marker(id=marker_id, corners_mm=(far_left, far_right, near_right, near_left))


def random_camera(setup: Setup, rng: np.random.Generator) -> Camera:
    """A camera tilted by 0 to 35 degrees, nearly as close as all cards and its stand allow."""
    cards = np.array([marker.corners_mm for marker in setup.fiducials.markers]).reshape(-1, 2)
    middle = cards.mean(axis=0)
    cards = np.column_stack(
        [middle + 1.12 * (cards - middle), np.full(len(cards), setup.fiducials.z_mm)]
    )
    tilt, round_ = math.radians(rng.uniform(0, 35)), math.radians(rng.uniform(-150, -30))
    target = np.array([*(middle + rng.normal(0, 12, 2)), 0.0])
    back = np.array(
        [math.sin(tilt) * math.cos(round_), math.sin(tilt) * math.sin(round_), math.cos(tilt)]
    )
    roll = float(rng.normal(0, 8))
    distances_mm = np.arange(float(rng.uniform(400.0, 850.0)), 3000.0, 20.0)
    distance_mm = nearest_view_mm(setup.camera, cards, target, back, roll, 4.0, distances_mm)
    return look_at(target + distance_mm * float(rng.uniform(1.0, 1.15)) * back, target, roll)


def nearest_view_mm(
    lens: Lens,
    points_mm: Array,
    target_mm: Array,
    back: Array,
    roll_deg: float,
    margin_px: float,
    distances_mm: Array,
) -> float:
    """The first distance at which a camera that looks at the target sees all points (n, 3).

    Its direction from the target is `back` (3,); `margin_px` is left at the edges. Raises
    InputError if no distance is enough.
    """
    most_px = np.array([lens.width, lens.height]) - margin_px
    for distance_mm in distances_mm:
        pixels = project(
            points_mm, look_at(target_mm + distance_mm * back, target_mm, roll_deg), lens
        )
        if pixels.min() > margin_px and (pixels < most_px).all():
            return float(distance_mm)
    raise InputError(
        msg(
            "case: expected a lens that can see all markers from {mm} m, got one that cannot",
            mm=f"{distances_mm[-1] / 1000:.0f}",
        )
    )


def random_stage(setup: Setup, rng: np.random.Generator) -> Stage:
    """Random table, mat, one to three lamps and a sensor."""
    table = _random_table(rng)
    lamps = _random_lamps(setup, rng)
    ambient = float(rng.uniform(0.2, 0.5))
    sensor = _random_sensor(ambient + sum(lamp.power for lamp in lamps), rng)
    mat = _random_mat(rng)
    table_mm = _random_extent(setup, rng)
    return Stage(
        table=table,
        lamps=lamps,
        sensor=sensor,
        ambient=ambient,
        mat=mat,
        squares=_random_squares(rng),
        frame_rgb=_scale_rgb((0.05, 0.04, 0.035), float(np.exp(rng.uniform(-1.0, 2.3)))),
        frame_mm=float(rng.uniform(6, 18)),
        table_mm=table_mm,
        seed=int(rng.integers(1 << 30)),
    )


def _random_table(rng: np.random.Generator) -> Surface:
    return replace(
        _redye(TABLES[int(rng.integers(len(TABLES)))], rng),
        contrast=float(rng.uniform(0.05, 0.35)),
        grain_deg=float(rng.uniform(0, 180)),
        gloss=float(rng.choice([0.0, 0.03, 0.12])),
    )


def _random_lamps(setup: Setup, rng: np.random.Generator) -> tuple[Lamp, ...]:
    middle = setup.outline_mm().mean(axis=0)
    return tuple(
        Lamp(
            (
                float(middle[0] + rng.normal(0, 450)),
                float(middle[1] + rng.normal(0, 450)),
                float(rng.uniform(700, 1800)),
            ),
            power=float(rng.uniform(0.3, 1.0)),
            radius_mm=float(rng.uniform(20, 160)),
            rgb=(1.0, float(rng.uniform(0.86, 1.0)), float(rng.uniform(0.72, 1.05))),
        )
        for _ in range(int(rng.integers(1, 4)))
    )


def _random_sensor(light: float, rng: np.random.Generator) -> Sensor:
    """A sensor exposed for this amount of light; one of eight is over-exposed."""
    over_exposed = rng.random() < 0.12
    exposure = float(rng.uniform(1.4, 2.2) if over_exposed else rng.uniform(0.75, 1.25)) / light
    return Sensor(
        blur_px=float(rng.uniform(0.9, 1.4) if rng.random() < 0.12 else rng.uniform(0.5, 0.9)),
        exposure=(
            exposure * float(rng.uniform(0.94, 1.06)),
            exposure,
            exposure * float(rng.uniform(0.92, 1.08)),
        ),
        vignetting=float(rng.uniform(0.0, 0.35)),
        shot_noise=float(
            rng.uniform(0.03, 0.06) if rng.random() < 0.12 else rng.uniform(0.008, 0.028)
        ),
        read_noise=float(rng.uniform(0.002, 0.006)),
    )


def _random_mat(rng: np.random.Generator) -> Surface | None:
    """A mat on the table, for three tables of four."""
    if rng.random() >= 0.75:
        return None
    mat = _redye(MATS[int(rng.integers(len(MATS)))], rng)
    return replace(mat, contrast=float(rng.uniform(0.08, 0.3)))


def _random_extent(setup: Setup, rng: np.random.Generator) -> tuple[float, float, float, float]:
    """Extent of the table, beyond all fiducials: least x and y, largest x and y, in mm."""
    corners = np.array([marker.corners_mm for marker in setup.fiducials.markers], np.float32)
    x, y, width, depth = (float(value) for value in cv2.boundingRect(corners.reshape(-1, 1, 2)))
    left, near, right, far = (float(edge) for edge in rng.uniform(200, 800, 4))
    return x - left, y - near, x + width + right, y + depth + far


def _redye(surface: Surface, rng: np.random.Generator) -> Surface:
    """The same material in another shade, sometimes in a different colour."""
    rgb = np.array(surface.rgb)
    if surface.kind != "wood" and rng.random() < 0.35:
        rgb = rng.permutation(rgb)
    r, g, b = (
        float(np.clip(value, 0.012, 0.75))
        for value in rgb * np.exp(rng.uniform(-0.5, 0.5)) * rng.uniform(0.85, 1.15, 3)
    )
    return replace(surface, rgb=(r, g, b))


def _random_squares(rng: np.random.Generator) -> tuple[Rgb, Rgb]:
    """Dark and light squares like those of well-known boards, lighter, darker or paler."""
    dark, light = SQUARES[int(rng.integers(len(SQUARES)))]
    if rng.random() < 0.3:
        return dark, light
    return _scale_rgb(dark, float(np.exp(rng.uniform(-0.3, 0.9)))), _scale_rgb(
        light, float(rng.uniform(0.7, 1.1))
    )


def _scale_rgb(rgb: Rgb, factor: float) -> Rgb:
    r, g, b = (float(min(factor * value, 0.85)) for value in rgb)
    return r, g, b
