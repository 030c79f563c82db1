"""The ground under the pieces: table, mat or board, and fiducial cards, lit by the lamps."""

from __future__ import annotations

from typing import assert_never

import cv2
import numpy as np
from numpy.typing import NDArray

from simulation.render.board_art import coasters_board, hex_board
from simulation.render.rays import Grid, Plane, grid_mix
from simulation.render.scene import Lamp, Slab, Stage, Surface
from simulation.render.shadows import irradiance, shadow_of, sheen
from simulation.render.slabs import draw_slab
from table.boards import Chessboard, Coasters, Hex, Open, Tiles
from table.errors import InputError
from table.messages import msg
from table.solids import Array
from table.table_config import Marker, Setup

Colours = NDArray[np.float32]

CARD_MM = 0.15
"""Thickness of a fiducial card: the table's surface is this far below `fiducials.z_mm`."""
PAPER: tuple[float, float, float] = (0.80, 0.80, 0.78)
INK: tuple[float, float, float] = (0.022, 0.022, 0.024)
FLOOR: tuple[float, float, float] = (0.62, 0.64, 0.60)
TILE = 512
"""Side of a texture tile in texels."""


def table_z_mm(setup: Setup) -> float:
    """Height of the table's surface, which carries the cards; below 0 under a thick board."""
    return setup.fiducials.z_mm - CARD_MM


def draw_ground(stage: Stage, setup: Setup, grid: Grid) -> Colours:
    """Reflected light (h, w, 3) float32 of a table without pieces."""
    rng = np.random.default_rng([stage.seed, 1])
    z_mm = table_z_mm(setup)
    out = _surface(stage.table, stage.lamps, grid, z_mm, rng)
    if stage.table_mm is not None:
        x0, y0, x1, y1 = stage.table_mm
        inside = grid.coverage(
            grid.to_camera(_at_height([(x0, y0), (x1, y0), (x1, y1), (x0, y1)], z_mm))
        )
        out = _mix(np.array(FLOOR, np.float32), out, inside)
    out *= irradiance(grid.on_plane(z_mm), z_mm, stage)
    match setup.board:
        case Chessboard():
            _draw_chessboard(out, setup.board, stage, setup, grid, rng)
        case Open():
            if stage.mat is not None:
                _lay_mat(out, stage.mat, _at_height(setup.board.outline(), 0.0), stage, grid, rng)
        case Hex():
            _lay_slabs(out, hex_board(setup.board, z_mm, rng), stage, z_mm, grid)
        case Coasters():
            _lay_slabs(out, coasters_board(setup.board, z_mm, rng), stage, z_mm, grid)
        case Tiles():
            pass  # tiles move and vanish, so they belong to the scene
        case _:
            assert_never(setup.board)
    for marker in setup.fiducials.markers:
        _draw_card(out, marker, stage, setup, grid)
    return out


def _surface(
    surface: Surface, lamps: tuple[Lamp, ...], grid: Grid, z_mm: float, rng: np.random.Generator
) -> Colours:
    """Reflectance (h, w, 3), with the grain of the material and a sheen that mirrors the lamps."""
    x, y = grid.on_plane(z_mm)
    c, s = (
        np.float32(np.cos(np.radians(surface.grain_deg))),
        np.float32(np.sin(np.radians(surface.grain_deg))),
    )
    along, across = c * x + s * y, c * y - s * x
    tint = (1.0, 1.0, 1.0)
    if surface.kind == "wood":
        bands = _sample(_noise_tile(rng, 2.6, 14.0), along, across, 1.6)
        fibres = _sample(_noise_tile(rng, 1.2, 40.0), along, across, 0.45)
        level = np.float32(0.75) * bands + np.float32(0.35) * fibres
        tint = (0.9, 1.05, 1.2)
    elif surface.kind == "cloth":
        coarse, fine = (
            _sample(_noise_tile(rng, 3.0, 1.0), along, across, 3.1),
            _sample(_noise_tile(rng, 0.8, 1.0), along, across, 0.6),
        )
        level = np.float32(0.7) * coarse + np.float32(0.55) * fine
    else:
        level = np.float32(0.5) * _sample(_noise_tile(rng, 2.0, 1.0), along, across, 2.3)
    out = np.empty((*x.shape, 3), np.float32)
    for channel, (share, power) in enumerate(zip(surface.rgb, tint, strict=True)):
        out[..., channel] = np.float32(share) * cv2.exp(
            np.float32(surface.contrast * power) * level
        )
    if surface.gloss:
        out += np.float32(surface.gloss) * sheen((x, y), lamps, grid.camera.eye_mm, z_mm)[..., None]
    return out


def _noise_tile(rng: np.random.Generator, falloff: float, stretch: float) -> Plane:
    """A tile of seamless noise, mean 0 and standard deviation 1.

    Amplitude falls with frequency to the power falloff / 2.
    """
    fu = np.fft.rfftfreq(TILE) * TILE * stretch
    fv = np.fft.fftfreq(TILE) * TILE
    frequency = np.hypot(fv[:, None], fu[None, :])
    amplitude = 1.0 / np.maximum(frequency, 6.0) ** (falloff / 2)
    amplitude[0, 0] = 0.0
    phase = rng.uniform(0, 2 * np.pi, amplitude.shape)
    tile = np.fft.irfft2(amplitude * np.exp(1j * phase), s=(TILE, TILE))
    even: Plane = (tile / tile.std()).astype(np.float32)
    return even


def _sample(tile: Plane, along: Plane, across: Plane, texel_mm: float) -> Plane:
    scale = np.float32(1 / texel_mm)
    return np.asarray(
        cv2.remap(
            tile, along * scale, across * scale, cv2.INTER_LINEAR, borderMode=cv2.BORDER_WRAP
        ),
        np.float32,
    )


def _draw_chessboard(
    out: Colours,
    board: Chessboard,
    stage: Stage,
    setup: Setup,
    grid: Grid,
    rng: np.random.Generator,
) -> None:
    """Draw the board, a slab whose top is z = 0, with its frame and its shadow on the table."""
    corners = board.outline() + stage.frame_mm * np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]])
    slab = np.concatenate([_at_height(corners, table_z_mm(setup)), _at_height(corners, 0.0)])
    shadow_of(slab, stage, table_z_mm(setup)).cast(out, (0.0, 0.0, 0.0), grid)
    box = grid.around(slab, 3.0)
    if box is None:
        return
    part = grid.crop(box)
    lit = irradiance(part.on_plane(0.0), 0.0, stage)
    frame: Colours = np.array(stage.frame_rgb, np.float32) * lit
    side = part.silhouette(part.to_camera(slab))
    out[box] = _mix(out[box], np.float32(0.55) * frame, side)
    out[box] = _mix(out[box], frame, part.coverage(part.to_camera(_at_height(corners, 0.0))))
    files, ranks = np.meshgrid(np.arange(board.files), np.arange(board.ranks))
    cells = np.array(stage.squares, np.float32)[(files + ranks) % 2]
    x, y = part.on_plane(0.0)
    squares = grid_mix(
        (x - board.origin_mm[0]) / board.square_mm,
        (y - board.origin_mm[1]) / board.square_mm,
        cells,
    )
    squares *= np.exp(np.float32(0.03) * _sample(_noise_tile(rng, 1.5, 1.0), x, y, 0.7))[..., None]
    gloss = (
        np.float32(stage.table.gloss)
        * sheen((x, y), stage.lamps, part.camera.eye_mm, 0.0)[..., None]
    )
    out[box] = _mix(
        out[box],
        (squares + gloss) * lit,
        part.coverage(part.to_camera(_at_height(board.outline(), 0.0))),
    )


def _lay_mat(
    out: Colours, mat: Surface, outline: Array, stage: Stage, grid: Grid, rng: np.random.Generator
) -> None:
    """A mat without thickness, (n, 3)."""
    box = grid.around(outline, 3.0)
    if box is None:
        return
    part = grid.crop(box)
    lit = _surface(mat, stage.lamps, part, 0.0, rng) * irradiance(part.on_plane(0.0), 0.0, stage)
    out[box] = _mix(out[box], lit, part.coverage(part.to_camera(outline)))


def _lay_slabs(out: Colours, slabs: list[Slab], stage: Stage, z_mm: float, grid: Grid) -> None:
    """Boards of card on the table, which is at z."""
    for slab in slabs:
        if slab.low_mm < slab.top_mm:
            shadow_of(slab.vertices_mm, stage, z_mm).cast(out, (0.0, 0.0, 0.0), grid)
        draw_slab(out, slab, stage, grid)


def _draw_card(out: Colours, marker: Marker, stage: Stage, setup: Setup, grid: Grid) -> None:
    """A white card with a printed marker, its corners exactly at their places in table.json."""
    corners = np.array(marker.corners_mm)
    middle = corners.mean(axis=0)
    side_mm = float(np.hypot(*(corners[1] - corners[0])))
    z_mm = setup.fiducials.z_mm
    card = _at_height(middle + (corners - middle) * (1 + 2 * stage.card_margin_mm / side_mm), z_mm)
    box = grid.around(card, 3.0)
    if box is None:
        return
    part = grid.crop(box)
    if min(part.x.shape) < 2:
        return  # at the edge of the picture, too narrow to determine the size of a pixel
    cells = np.where(
        _marker_bits(setup.fiducials.dictionary, marker.id)[..., None],
        np.array(PAPER),
        np.array(INK),
    ).astype(np.float32)
    x, y = part.on_plane(z_mm)
    right, down = (corners[1] - corners[0]) / side_mm, (corners[3] - corners[0]) / side_mm
    scale = np.float32((len(cells) - 2) / side_mm)
    dx, dy = x - np.float32(corners[0, 0]), y - np.float32(corners[0, 1])
    along = scale * (dx * np.float32(right[0]) + dy * np.float32(right[1])) + 1
    across = scale * (dx * np.float32(down[0]) + dy * np.float32(down[1])) + 1
    printed = grid_mix(along, across, cells) * irradiance((x, y), z_mm, stage)
    out[box] = _mix(out[box], printed, part.coverage(part.to_camera(card)))


def _marker_bits(dictionary: str, marker_id: int) -> NDArray[np.bool_]:
    """Cells of a marker, True for paper, with its black border and one cell of paper around that.

    Raises InputError for a dictionary that OpenCV does not have.
    """
    name = getattr(cv2.aruco, dictionary, None)
    if name is None:
        raise InputError(
            msg(
                "scene: fiducials.dictionary: expected an OpenCV dictionary such as"
                " DICT_4X4_50, got {raw}",
                raw=repr(dictionary),
            )
        )
    found = cv2.aruco.getPredefinedDictionary(name)
    modules = found.markerSize + 2
    drawn = cv2.aruco.generateImageMarker(found, marker_id, modules)
    bits: NDArray[np.bool_] = np.pad(
        np.asarray(drawn).reshape(modules, modules) > 127, 1, constant_values=True
    )
    return bits


def _at_height(points_mm: Array | list[tuple[float, float]], z_mm: float) -> Array:
    points = np.asarray(points_mm, float)
    return np.column_stack([points, np.full(len(points), z_mm)])


def _mix(below: Colours, above: Colours, share: Plane) -> Colours:
    mixed: Colours = below + (above - below) * share[..., None]
    return mixed
