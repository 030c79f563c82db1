"""What the table would look like with nothing on it, and how surely a pixel does not.

From a picture of the empty table where there is one; otherwise from the picture itself: a wide median over the open
ground, or over the squares of each of a chessboard's two colours, put together again along the lines of the board.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from table.boards import Chessboard
from table.setup import Setup
from table.solids import Array
from vision.frame import Image
from vision.light import Light
from vision.tableview import TableView

COARSE_MM = 1.2
MEDIAN_SHARE = 2.0
"""Width of the median window in lengths of the largest piece."""
BORDER_MM, BORDER_STEP_MM = 150.0, 30.0
SMOOTH_MM = 0.7
LINE, LINE_PX = 3, 1.5
"""Pixels this many blurs from a board's line are a kind of ground of their own: print and blur vary there."""
FOREIGN = 3.5
"""Mahalanobis distance of a smoothed pixel's colour from the background above which it belongs to something else."""

Mask = NDArray[np.bool_]
Field = NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class Background:
    """`code` (h, w, 3) sRGB levels 0..255 of the empty table, `light` the same linear; `distance` (h, w) says how many
    standard deviations the picture is away from it."""

    code: Field
    light: Light
    distance: Field
    noise_levels: float
    """Standard deviation of one pixel's noise, sRGB levels."""


def background(view: TableView, setup: Setup, reference: TableView | None) -> Background:
    """The empty table behind a view; `reference` is the same view of the empty table, if there is a picture of it."""
    noise = pixel_noise(view.code)
    kinds = _kinds(view, setup)
    if reference is not None:
        code = _with_gain(view, reference)
        return Background(code, linear_of(code), _distance(view, code, kinds), noise * np.sqrt(2.0))
    foreign: Mask = np.zeros(view.code.shape[:2], bool)
    for _ in range(2):
        code = _from_itself(view, setup, kinds, foreign)
        distance = _distance(view, code, kinds)
        foreign = distance > FOREIGN
    return Background(code, linear_of(code), distance, noise)


def linear_of(code: Field) -> Light:
    """Linear light of fractional sRGB levels, to a quarter of a level."""
    fine = np.linspace(0, 255, 1021)
    table = np.where(fine <= 10.31, fine / 255 / 12.92, ((fine / 255 + 0.055) / 1.055) ** 2.4).astype(np.float32)
    light: Light = table[np.clip(np.rint(code * 4), 0, 1020).astype(np.int32)]
    return light


def pixel_noise(code: Image) -> float:
    """Standard deviation of pixel noise in sRGB levels, from second differences, which texture and slopes hardly reach."""
    levels = code[::2, :, 1].astype(np.float32)
    second = levels[:, 2::2] - 2 * levels[:, 1:-1:2] + levels[:, :-2:2]
    return max(0.7, float(np.median(np.abs(second))) * 1.4826 / float(np.sqrt(6)))


def _kinds(view: TableView, setup: Setup) -> NDArray[np.uint8]:
    """What lies under each pixel (h, w): 0 beyond the outline, 1 open ground or one colour of a chessboard, 2 its other
    colour, 3 lines and the outline itself."""
    inside = _inside(view, setup)
    reach_px = LINE_PX * view.blur_px + SMOOTH_MM / view.step_mm
    around = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (2 * round(reach_px) + 1,) * 2)
    line = cv2.dilate(inside, around) != cv2.erode(inside, around)
    kinds = inside
    if isinstance(setup.board, Chessboard):
        u, v = _board_coordinates(view, setup.board)
        kinds = np.where(inside > 0, 1 + (np.floor(u) + np.floor(v)) % 2, 0).astype(np.uint8)
        reach = reach_px * view.step_mm / setup.board.square_mm
        line |= (inside > 0) & ((np.abs(u - np.rint(u)) < reach) | (np.abs(v - np.rint(v)) < reach))
    kinds[line] = LINE
    return kinds


def _inside(view: TableView, setup: Setup) -> NDArray[np.uint8]:
    """1 inside the outline, 0 beyond it (h, w)."""
    inside = np.zeros(view.code.shape[:2], np.uint8)
    cv2.fillPoly(inside, [np.rint(view.pixels(setup.outline_mm()) * 16).astype(np.int32)], 1, shift=4)
    return inside


def _board_coordinates(view: TableView, board: Chessboard) -> tuple[Array, Array]:
    x, y = view.grid_mm()
    return (x - board.origin_mm[0]) / board.square_mm, (y - board.origin_mm[1]) / board.square_mm


def _with_gain(view: TableView, reference: TableView) -> Field:
    """The reference, scaled a channel to the picture's exposure and white balance (medians of ratios)."""
    ratio = (view.code[::4, ::4].astype(np.float32) + 1) / (reference.code[::4, ::4].astype(np.float32) + 1)
    gain = np.median(ratio.reshape(-1, 3), axis=0)
    quiet = cv2.GaussianBlur(reference.code, (0, 0), 0.6).astype(np.float32)
    return np.asarray(np.clip(quiet * gain, 0, 255), np.float32)


def _from_itself(view: TableView, setup: Setup, kinds: NDArray[np.uint8], foreign: Mask) -> Field:
    """Wide medians of each kind of ground, without what is known to be foreign, blended along the board's lines."""
    scale = COARSE_MM / view.step_mm
    size = (max(8, round(view.code.shape[1] / scale)), max(8, round(view.code.shape[0] / scale)))
    coarse = np.asarray(cv2.resize(view.code, size, interpolation=cv2.INTER_AREA), np.uint8)
    longest = max(piece.slant_mm for piece in setup.sizes)
    window = int(MEDIAN_SHARE * longest / COARSE_MM) | 1
    layers = []
    for kind in range(LINE if isinstance(setup.board, Chessboard) else LINE - 1):
        plain = ((kinds == kind) & ~foreign).astype(np.uint8) * 255
        usable = np.asarray(cv2.resize(plain, size, interpolation=cv2.INTER_AREA) > 250)
        level = _masked_median(coarse, usable, window)
        layers.append(cv2.resize(level, (view.code.shape[1], view.code.shape[0]), interpolation=cv2.INTER_LINEAR).astype(np.float32))
    code = _blend(view, setup.board, layers) if isinstance(setup.board, Chessboard) else _on_ground(view, setup, layers)
    _along_the_border(code, view, setup.outline_mm())
    return code


def _on_ground(view: TableView, setup: Setup, layers: list[Field]) -> Field:
    """Open ground inside the outline, and what lies beyond it."""
    return np.where(_inside(view, setup)[..., None] > 0, layers[1], layers[0])


def _along_the_border(code: Field, view: TableView, outline: Array) -> None:
    """Just outside a straight-sided outline a frame or the edge of a mat runs along it: medians along each side, in place."""
    low, high = outline.min(axis=0), outline.max(axis=0)
    if not np.allclose(np.sort(outline, axis=0)[[0, -1]], [low, high]) or not np.all(np.isclose(outline, low) | np.isclose(outline, high)):
        return
    (left, bottom), (right, top) = np.rint(view.pixels(np.array([low, high]))).astype(int)
    for across in (np.s_[:top], np.s_[bottom:]):
        code[across] = _median_along(view.code[across], view.step_mm)
    for across in (np.s_[:left], np.s_[right:]):
        code[top:bottom, across] = _median_along(view.code[top:bottom, across].transpose(1, 0, 2), view.step_mm).transpose(1, 0, 2)


def _median_along(strip: NDArray[np.uint8], step_mm: float) -> Field:
    """Medians of (n, length, 3) over BORDER_MM along its length, at BORDER_STEP_MM, with straight lines between them."""
    length = strip.shape[1]
    thin = max(1, round(COARSE_MM / step_mm))
    half = round(BORDER_MM / 2 / step_mm)
    at = np.linspace(0, length - 1, max(2, round(length * step_mm / BORDER_STEP_MM))).astype(int)
    medians = np.stack([np.median(strip[:, max(0, k - half) : k + half : thin], axis=1) for k in at], axis=1).astype(np.float32)
    right = np.clip(np.searchsorted(at, np.arange(length), side="right"), 1, len(at) - 1)
    share = ((np.arange(length) - at[right - 1]) / (at[right] - at[right - 1]))[None, :, None].astype(np.float32)
    return np.asarray((1 - share) * medians[:, right - 1] + share * medians[:, right], np.float32)


def _masked_median(image: Image, usable: Mask, window: int) -> Image:
    """Median over a square window of the usable pixels: the others alternate between black and white, and cancel."""
    rows, columns = np.indices(usable.shape)
    checker = np.asarray((rows + columns) % 2 * 255, np.uint8)
    bands = [cv2.medianBlur(np.where(usable, image[..., k], checker), window) for k in range(3)]
    return np.stack([np.asarray(band, np.uint8) for band in bands], axis=-1)


def _blend(view: TableView, board: Chessboard, layers: list[Field]) -> Field:
    """Ground, even and odd squares put together, blurred at the lines as the picture is (in linear light)."""
    u, v = _board_coordinates(view, board)
    per_square = view.step_mm * view.blur_px / board.square_mm

    def wave(t: Array, count: int) -> Array:
        lines = np.arange(count + 1)
        return np.asarray(2 * (ndtr((t[..., None] - lines) / per_square) * (-1.0) ** lines).sum(-1) - 1)

    def inside(t: Array, count: int) -> Array:
        return np.asarray(ndtr(t / per_square) - ndtr((t - count) / per_square))

    odd = (0.5 - 0.5 * wave(u, board.files) * wave(v, board.ranks))[..., None].astype(np.float32)
    on = (inside(u, board.files) * inside(v, board.ranks))[..., None].astype(np.float32)
    ground, even_squares, odd_squares = (linear_of(layer) for layer in layers)
    light = on * (odd * odd_squares + (1 - odd) * even_squares) + (1 - on) * ground
    encoded = np.where(light <= 0.0031308, light * 12.92, 1.055 * np.maximum(light, 1e-6) ** (1 / 2.4) - 0.055) * 255
    return np.asarray(encoded, np.float32)


def _distance(view: TableView, code: Field, kinds: NDArray[np.uint8]) -> Field:
    """Mahalanobis distance (h, w) of the smoothed difference, by the spread that each kind of ground shows itself."""
    sigma_px = SMOOTH_MM / view.step_mm
    difference = cv2.GaussianBlur(view.code.astype(np.float32) - code, (0, 0), sigma_px)
    distance = np.zeros(kinds.shape, np.float32)
    for kind in np.unique(kinds):
        here = kinds == kind
        sample = difference[here][:: max(1, here.sum() // 20000)]
        whiten = np.linalg.cholesky(np.linalg.inv(_trimmed_covariance(sample))).astype(np.float32)
        distance[here] = np.linalg.norm(difference[here] @ whiten, axis=1)
    return distance


def _trimmed_covariance(sample: Field) -> Array:
    """Covariance (3, 3) of the bulk of (n, 3) differences, about 0; a level is the least spread that is believed."""
    spread = np.eye(3) * float(np.median(np.abs(sample)) * 1.4826 + 0.5) ** 2
    for _ in range(5):
        bulk = np.einsum("ni,ij,nj->n", sample, np.linalg.inv(spread), sample) < 9
        kept = sample[bulk].astype(float)
        spread = kept.T @ kept / max(len(kept), 1) * 1.1 + np.eye(3) * 0.8**2
    return np.asarray(spread)
