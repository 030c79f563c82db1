"""The pixels of a simulated camera as rays, and exact coverage of pixels by drawn shapes.

An edge between two points in space is a plane through the eye. Its signed value at a pixel's ray,
divided by the gradient over the picture, is the distance in pixels, lens distortion included.
Coverage of a pixel follows from that distance. Edges are accurate to a few thousandths of a pixel
without supersampling.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from table.observation import Camera
from table.solids import Array, convex_hull
from table.table_config import Lens
from vision.geometry.camera_model import project, project_posed

Plane = NDArray[np.float32]
Box = tuple[slice, slice]

INK_RUNS = 0.67
KNOT_PX = 16
"""Spacing of pixels whose ray is solved for. Between them rays are interpolated by quintic splines,
their slopes linearly.
"""


@dataclass(frozen=True, slots=True, eq=False)
class Grid:
    """Rays of all pixels, or of a box of them: `x`, `y` (h, w) with z = 1 in the camera's frame.

    `slope` (2, 2, h, w) are the derivatives of (x, y) along (column, row); `corner` is the (row,
    column) of the first pixel.
    """

    camera: Camera
    lens: Lens
    x: Plane
    y: Plane
    slope: Plane
    corner: tuple[int, int] = (0, 0)

    def crop(self, box: Box) -> Grid:
        """The same rays inside a box of these."""
        corner = self.corner[0] + box[0].start, self.corner[1] + box[1].start
        return Grid(
            self.camera,
            self.lens,
            self.x[box],
            self.y[box],
            self.slope[(slice(None), slice(None), *box)],
            corner,
        )

    def around(self, points_mm: Array, pad_px: float) -> Box | None:
        """Box of these pixels around projected points (n, 3), or None if none of them is near.

        The whole grid if a point is less than 1 mm before the eye.
        """
        rows, columns = self.x.shape
        if self.to_camera(points_mm)[:, 2].min() <= 1.0:
            return (slice(0, rows), slice(0, columns))
        (v0, v1), (u0, u1) = self.span(points_mm, pad_px)
        v0, v1, u0, u1 = max(v0, 0), min(v1, rows), max(u0, 0), min(u1, columns)
        return (slice(v0, v1), slice(u0, u1)) if u1 > u0 and v1 > v0 else None

    def span(self, points_mm: Array, pad_px: float) -> tuple[tuple[int, int], tuple[int, int]]:
        """Rows and columns, (from, to) each, around projected points.

        They may lie outside these pixels.
        """
        pixels = project(points_mm, self.camera, self.lens)[:, ::-1] - self.corner
        (v0, u0), (v1, u1) = (
            np.floor(pixels.min(axis=0) - pad_px),
            np.ceil(pixels.max(axis=0) + pad_px + 1),
        )
        return (int(v0), int(v1)), (int(u0), int(u1))

    def to_camera(self, points_mm: Array) -> Array:
        """Points (n, 3) of the table frame in the camera's frame."""
        points: Array = points_mm @ self.camera.rotation.T + self.camera.translation_mm
        return points

    def on_plane(self, z_mm: float) -> tuple[Plane, Plane]:
        """Table x and y, (h, w) each, of the rays' intersections with the plane z.

        Rays that miss it get a far point.
        """
        right, down, ahead = self.camera.rotation.astype(np.float32)
        eye = self.camera.eye_mm
        falls = np.minimum(self.x * right[2] + self.y * down[2] + ahead[2], np.float32(-0.02))
        reach = np.float32(z_mm - eye[2]) / falls
        x = np.float32(eye[0]) + reach * (self.x * right[0] + self.y * down[0] + ahead[0])
        y = np.float32(eye[1]) + reach * (self.x * right[1] + self.y * down[1] + ahead[1])
        return x, y

    def beyond(self, normal: Array) -> Plane:
        """Signed distance in pixels, (h, w), from a plane through the eye.

        `normal` (3,) is in the camera's frame.
        """
        a, b, c = (np.float32(value) for value in normal / np.linalg.norm(normal))
        along_u = a * self.slope[0, 0] + b * self.slope[1, 0]
        along_v = a * self.slope[0, 1] + b * self.slope[1, 1]
        distance: Plane = (a * self.x + b * self.y + c) / np.sqrt(
            along_u * along_u + along_v * along_v
        )
        return distance

    def coverage(self, corners: Array) -> Plane:
        """Share 0..1 of each pixel, (h, w), inside a convex polygon before the camera.

        `corners` (n, 3) are in the camera's frame.
        """
        after = np.roll(corners, -1, axis=0)
        normals, lengths = (
            np.cross(corners, after),
            np.linalg.norm(corners, axis=1) * np.linalg.norm(after, axis=1),
        )
        normals[normals @ corners.mean(axis=0) <= 0] *= -1
        share = np.ones(self.x.shape, np.float32)
        for normal in normals[np.linalg.norm(normals, axis=1) >= 1e-9 * lengths]:
            share *= np.clip(self.beyond(normal) + np.float32(0.5), 0, 1)
        return share

    def silhouette(self, corners: Array) -> Plane:
        """Coverage, (h, w), by a convex body with vertices (n, 3) in the camera's frame."""
        flat = convex_hull(corners[:, :2] / corners[:, 2:])
        return self.coverage(np.column_stack([flat, np.ones(len(flat))]))


def make_grid(camera: Camera, lens: Lens) -> Grid:
    """Rays of every pixel of a lens."""
    from scipy.interpolate import RectBivariateSpline  # only a simulated camera needs it

    u = np.linspace(-1.0, lens.width, max(8, lens.width // KNOT_PX))
    v = np.linspace(-1.0, lens.height, max(8, lens.height // KNOT_PX))
    uu, vv = np.meshgrid(u, v)
    flat = _undistort(np.column_stack([uu.ravel(), vv.ravel()]), lens)
    columns, rows = np.arange(lens.width), np.arange(lens.height)
    between_u, between_v = np.meshgrid((columns + 1) / (u[1] - u[0]), (rows + 1) / (v[1] - v[0]))
    between = between_u.astype(np.float32), between_v.astype(np.float32)
    fields, slopes = [], []
    for axis in (0, 1):
        spline = RectBivariateSpline(v, u, flat[:, axis].reshape(uu.shape), kx=5, ky=5)
        fields.append(spline(rows, columns).astype(np.float32))
        knots = (spline(v, u, dy=1).astype(np.float32), spline(v, u, dx=1).astype(np.float32))
        slopes.append(
            [
                np.asarray(cv2.remap(slope, *between, cv2.INTER_LINEAR), np.float32)
                for slope in knots
            ]
        )
    return Grid(camera, lens, fields[0], fields[1], np.array(slopes))


def _undistort(pixels: Array, lens: Lens) -> Array:
    """Rays (n, 2) of pixels (n, 2): fixed-point inversion of OpenCV's distortion.

    It is exact to 1e-9, more than OpenCV's own inversion.
    """
    matrix = np.array(lens.matrix)
    focal = np.array([matrix[0, 0], matrix[1, 1]])
    rays: Array = (pixels - matrix[:2, 2]) / focal
    for _ in range(200):
        seen, _ = project_posed(
            np.column_stack([rays, np.ones(len(rays))]), (np.zeros(3), np.zeros(3)), lens
        )
        change = (pixels - seen) / focal
        rays += 0.8 * change
        if np.abs(change).max() < 1e-9:
            break
    return rays


def fill_polygon(mask: NDArray[np.uint8], outline: Array) -> None:
    """Fill a convex polygon (n, 2) into a mask (h, w) with 255, its edge antialiased.

    The outline is in texels (column, row). OpenCV draws over the edge by INK_RUNS texels. The
    polygon is drawn smaller, so that its area is right.
    """
    moments = cv2.moments(outline.astype(np.float32).reshape(-1, 1, 2))
    area = abs(moments["m00"])
    if area < 1e-6:
        return
    around = float(np.hypot(*(np.roll(outline, -1, axis=0) - outline).T).sum())
    smaller = np.sqrt(max(0.0, 1 - INK_RUNS * around / area))
    middle = np.array([moments["m10"], moments["m01"]]) / moments["m00"]
    corners = (
        np.round(16 * (middle + smaller * (outline - middle))).astype(np.int32).reshape(-1, 1, 2)
    )
    cv2.fillConvexPoly(mask, corners, 255, cv2.LINE_AA, 4)


def grid_mix(along: Plane, across: Plane, cells: NDArray[np.float32]) -> NDArray[np.float32]:
    """Colours (h, w, 3) of a plane of rectangular cells.

    `cells` is (rows, columns, 3); `along` and `across` count columns and rows. Each pixel is the
    box-filtered mixture of the up to four cells it shows; outside the cells the nearest one
    continues.
    """
    out: NDArray[np.float32] | None = None
    for row_index, row_share in _neighbours(across, cells.shape[0]):
        for column_index, column_share in _neighbours(along, cells.shape[1]):
            part = cells[row_index, column_index] * (row_share * column_share)[..., None]
            out = part if out is None else out + part
    assert out is not None
    return out


def _neighbours(place: Plane, count: int) -> list[tuple[NDArray[np.int32], Plane]]:
    """The two cells nearest to each place along one axis, with the share of the pixel in each."""
    rise, run = np.gradient(place)
    footprint = np.clip(np.sqrt(rise * rise + run * run), 1e-6, 1.0)
    edge = np.round(place)
    share = np.clip((place - edge) / footprint + np.float32(0.5), 0, 1).astype(np.float32)
    above = np.clip(edge, 0, count - 1).astype(np.int32)
    below = np.clip(edge - 1, 0, count - 1).astype(np.int32)
    return [(above, share), (below, 1 - share)]
