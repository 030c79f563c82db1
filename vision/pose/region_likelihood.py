"""Region likelihood: the light inside an outline is like the piece, that outside like the ground.

Edges of transparent plastic are faint, and shadows and gloss have edges too. But all of a piece
differs a little from the bare ground. The distributions of light inside and outside a predicted
outline give every pixel around a likelihood ratio of piece to ground. On a chessboard light and
dark squares are treated separately, because they show through pieces. Source: Prisacariu and Reid,
PWP3D: Real-Time Segmentation and Tracking of 3D Objects, IJCV 2012.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import cv2
import numpy as np
from numpy.typing import NDArray

from table.boards import Chessboard, Open
from table.solids import Array, Solid
from vision.cameras.frame import Image
from vision.geometry.rectified_view import SUB_BITS, Photo
from vision.geometry.srgb import linear

AROUND = 0.5
"""Margin around the outline, as a share of its size, at least LEAST_AROUND_PX."""
LEAST_AROUND_PX = 8
"""Least margin around the outline, and least side of a region that is used."""
INSIDE, OUTSIDE = 1, 4
"""Least distances, in cells, from the outline of the cells that are learned from. The outline's
place is uncertain, and the ground beside it is in the piece's shadow.
"""
NEAR = 10
"""Distance from the outline, in cells, beyond which the ground is only used for learning."""
BESIDE_LINE = 1.5
"""Distance, in cells, from a line between two squares within which cells are ignored."""
PIECE_KINDS, GROUND_KINDS = 3, 6
"""Numbers of normal distributions in the mixtures of a piece and of the ground."""
PIXELS = 8000
"""Target number of cells: larger regions are downscaled by an integer factor."""
LEARNED = 500
"""Approximate largest number of samples of a distribution."""
LEAST_LEARNED = 25
"""Least number of samples of a distribution."""
SPREAD, NOISE = 1.5, 0.008
"""Factor on the learned covariance, and lower limit of the standard deviation, in square roots of
light.
"""
SHADOW, SHADOWS = 0.65, 0.17
"""Square root of light in a shadow, relative to none: mean and standard deviation."""
TINT, TINTS = 0.5, 0.4
"""Share of the piece's own colour in its shadow, by transmitted light: mean and standard deviation.
"""
SHADED = 0.3
"""Prior share of the ground in shadow."""
ANYTHING = 0.05
"""Weight of the uniform outlier distribution, for gloss and the like."""
MOST = 2.0
"""Clip of a pixel's log-likelihood ratio."""


@dataclass(frozen=True, slots=True, eq=False)
class Area:
    """Log-likelihood ratios (h, w), per pixel, of piece to ground around a piece.

    The cells have `step` pixels and start at the pixel (`left`, `top`).
    """

    left: int
    top: int
    step: int
    ratio: NDArray[np.float32]

    def at(self, pixels: Array) -> NDArray[np.float32]:
        """The log-likelihood ratio at pixels (n, m, 2); 0 outside the area."""
        u, v = self.cells(pixels).astype(np.float32).transpose(2, 0, 1)
        return np.asarray(
            cv2.remap(
                self.ratio, u, v, cv2.INTER_LINEAR, borderMode=cv2.BORDER_CONSTANT, borderValue=0.0
            ),
            np.float32,
        )

    def inside(self, outline_px: Array) -> float:
        """Sum of the log-likelihood ratios of the pixels inside an outline (n, 2)."""
        covered = np.clip(0.5 - self.outside(outline_px), 0, 1)
        return self.step**2 * float((self.ratio * covered).sum())

    def outside(self, outline_px: Array) -> Array:
        """Signed distance (h, w), in cells, from a convex outline (n, 2); negative inside."""
        rows, columns = np.ogrid[: self.ratio.shape[0], : self.ratio.shape[1]]
        return outside(columns, rows, self.cells(outline_px))

    def cells(self, pixels: Array) -> Array:
        """Cells (..., 2), as (column, row), of pixels (..., 2)."""
        cells: Array = (pixels - [self.left, self.top] + 0.5) / self.step - 0.5
        return cells


def area(solid: Solid, photo: Photo, occluders: list[Array]) -> Area | None:
    """Region likelihood around the predicted place of a piece.

    None if it is not in the image, and on boards with print, where the ground under a piece differs
    from that beside it. Zero inside `occluders`, the outlines (n, 2) px of other pieces.
    """
    if not isinstance(photo.setup.board, Open | Chessboard):
        return None
    outline = photo.silhouette(solid)
    low, high = outline.min(axis=0), outline.max(axis=0)
    around = max(LEAST_AROUND_PX, AROUND * float((high - low).max()))
    left, top = (max(0, int(edge)) for edge in low - around)
    right, bottom = (int(edge) for edge in np.minimum(high + around + 1, photo.image.shape[1::-1]))
    step = max(1, round(float(np.sqrt(max(0, right - left) * max(0, bottom - top) / PIXELS))))
    columns, rows = (right - left) // step, (bottom - top) // step
    if min(columns, rows) < LEAST_AROUND_PX:
        return None
    part = photo.image[top : top + rows * step, left : left + columns * step]
    part = np.asarray(cv2.resize(part, (columns, rows), interpolation=cv2.INTER_AREA), np.uint8)
    empty = Area(left, top, step, np.zeros((rows, columns), np.float32))
    return replace(empty, ratio=_ratios(part, outline, solid, photo, occluders, empty))


def _ratios(
    part: Image, outline_px: Array, solid: Solid, photo: Photo, occluders: list[Array], place: Area
) -> NDArray[np.float32]:
    """Log-likelihood ratios (h, w) for a part (h, w, 3) of the image.

    `outline_px` is the solid's.
    """
    root = np.sqrt(linear(part) + np.float32(0.001)).astype(np.float32)
    ratio = np.zeros(root.shape[:2], np.float32)
    away = place.outside(outline_px)
    others = np.zeros(ratio.shape, np.uint8)
    for outline in occluders:
        cv2.fillConvexPoly(
            others,
            np.rint(place.cells(outline) * (1 << SUB_BITS)).astype(np.int32),
            1,
            shift=SUB_BITS,
        )
    free = cv2.dilate(others, np.ones((3, 3), np.uint8)) == 0
    core, beside, near = free & (away < -INSIDE), free & (away > OUTSIDE), free & (away < NEAR)
    for ground in _grounds(place, solid, photo):
        piece, bare = (
            some[:: len(some) // LEARNED + 1]
            for some in (root[ground & core], root[ground & beside])
        )
        if min(len(piece), len(bare)) >= LEAST_LEARNED:
            here = ground & near
            ratios = _ratio(np.concatenate([piece, bare, root[here]]), piece, bare)
            of_piece, of_bare, ratio[here] = np.split(ratios, [len(piece), len(piece) + len(bare)])
            ratio[here] *= max(
                0.0, float((of_piece > 0).mean() - (of_bare > 0).mean())
            )  # small if piece and ground look alike
    return ratio


def _grounds(place: Area, solid: Solid, photo: Photo) -> list[NDArray[np.bool_]]:
    """Masks (h, w), one for each kind of ground of the board near the piece."""
    board, shape = photo.setup.board, place.ratio.shape
    if isinstance(board, Open):
        return [np.ones(shape, bool)]
    assert isinstance(board, Chessboard)
    corners = solid.vertices_mm[:, :2].mean(axis=0) + board.square_mm * np.array(
        [[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]]
    )
    seen = place.cells(photo.pixels(np.column_stack([corners, np.zeros(4)])))
    squares = (corners - board.origin_mm) / board.square_mm
    cell2square = cv2.getPerspectiveTransform(seen.astype(np.float32), squares.astype(np.float32))
    rows, columns = np.mgrid[: shape[0], : shape[1]].astype(np.float32)
    at = cv2.perspectiveTransform(np.stack([columns, rows], axis=-1), cell2square)
    (across, along), beside = (
        np.moveaxis(np.floor(at), 2, 0),
        np.moveaxis(np.abs(at - np.round(at)), 2, 0),
    )
    a_square = float(np.hypot(*(seen[2] - seen[0]))) / np.sqrt(8)
    clear = np.minimum(*beside) * a_square > BESIDE_LINE
    on_board = (across >= 0) & (across < board.files) & (along >= 0) & (along < board.ranks)
    dark = (across + along) % 2 == 0
    return [clear & on_board & dark, clear & on_board & ~dark, clear & ~on_board]


@dataclass(frozen=True, slots=True, eq=False)
class _Mixture:
    """Gaussian mixture: weights (k,), means (k, 3) and covariances (k, 3, 3)."""

    weights: Array
    means: Array
    covariances: Array

    def density(self, colours: NDArray[np.float32]) -> Array:
        """Density (n,) at colours (n, 3)."""
        whiten = np.linalg.inv(np.linalg.cholesky(self.covariances)).astype(np.float32)
        whitened = (
            colours @ whiten.reshape(-1, 3).T
            - np.einsum("kij,kj->ki", whiten, self.means.astype(np.float32)).ravel()
        )
        squared = np.einsum("nki,nki->nk", *2 * (whitened.reshape(len(colours), -1, 3),))
        heights = self.weights * np.prod(np.einsum("kii->ki", whiten), axis=1) * (2 * np.pi) ** -1.5
        density: Array = np.exp(np.float32(-0.5) * squared) @ heights
        return density

    def shaded(self, dye: Array) -> _Mixture:
        """The mixture in shadows of all depths, with light transmitted by a piece's dye (3,)."""
        tinted = 1 - TINT * (1 - dye)
        darker, redder = SHADOWS * self.means * tinted, TINTS * SHADOW * self.means * (1 - dye)
        spread = np.einsum("ki,kj->kij", darker, darker) + np.einsum("ki,kj->kij", redder, redder)
        return _Mixture(self.weights, SHADOW * self.means * tinted, self.covariances + spread)


def _ratio(
    root: NDArray[np.float32], piece: NDArray[np.float32], bare: NDArray[np.float32]
) -> NDArray[np.float32]:
    """Log-likelihood ratio (n,) of piece to bare ground, for square roots of light (n, 3).

    `piece` (m, 3) and `bare` (k, 3) are samples of both.
    """
    ground, dye = _mixture(bare, GROUND_KINDS), piece.mean(axis=0) / piece.mean(axis=0).max()
    as_ground = (1 - SHADED) * ground.density(root) + SHADED * ground.shaded(dye).density(root)
    as_piece = _mixture(piece, PIECE_KINDS).density(root)
    ratio = np.log(((1 - ANYTHING) * as_piece + ANYTHING) / ((1 - ANYTHING) * as_ground + ANYTHING))
    return np.asarray(np.clip(ratio, -MOST, MOST), np.float32)


def _mixture(colours: NDArray[np.float32], count: int) -> _Mixture:
    """Gaussian mixture of colours (n, 3) with `count` components or fewer."""
    order = np.argsort(colours @ np.ones(3, np.float32), kind="stable")
    start = np.empty((len(colours), 1), np.int32)
    start[order, 0] = np.arange(len(colours)) * count // len(colours)
    stop = (cv2.TERM_CRITERIA_EPS + cv2.TERM_CRITERIA_MAX_ITER, 10, 1e-3)
    labels = np.asarray(
        cv2.kmeans(colours, count, start, stop, 1, cv2.KMEANS_USE_INITIAL_LABELS)[1]
    ).ravel()
    own = [some for kind in range(count) if len(some := colours[labels == kind]) > colours.shape[1]]
    covariances = [SPREAD * np.cov(some.T) + NOISE**2 * np.eye(3) for some in own]
    return _Mixture(
        np.array([len(some) for some in own]) / len(colours),
        np.array([some.mean(axis=0) for some in own]),
        np.array(covariances),
    )


def outside(x: Array, y: Array, outline: Array) -> Array:
    """Signed distance of points, with x and y of any shape, from a convex outline (m, 2).

    The outline is counter-clockwise; negative inside.
    """
    ahead = np.concatenate([outline[1:], outline[:1]]) - outline
    ahead = ahead / np.maximum(np.hypot(*ahead.T), 1e-9)[:, None]
    far = -np.inf
    for (left, top), (along, down) in zip(
        outline, ahead, strict=True
    ):  # an outline has few sides, so the loop is faster
        far = np.maximum(far, (x - left) * down - (y - top) * along)
    return np.asarray(far)
