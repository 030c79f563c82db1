"""Bodies of a scene as Mitsuba's meshes: shells, textured flat bodies, and vertical walls."""

from __future__ import annotations

from typing import Any

import mitsuba as mi
import numpy as np
from numpy.typing import NDArray
from scipy.spatial import ConvexHull

from simulation.render.ground import Colours
from simulation.render.rays import Plane
from simulation.render.scene import Lamp, Rgb, ScenePiece
from table.solids import SIDES, Array

CLEAR_MM = 0.03
"""Air gap between a piece and its support, because coplanar faces are ambiguous."""
THINNEST = 0.05
"""Least size of a piece's hollow, as a share of the piece."""
MOST_OF_WALL = 0.4
"""Largest share of a wall that a rounded edge takes."""

Faces = NDArray[np.int64]
Plastic = dict[str, Any]


class Map:
    """Reflectance of a flat body, `rgb` (h, w, 3), between two corners (2,) mm.

    Row 0 is at the far side.
    """

    def __init__(self, rgb: Colours, low_mm: Array, high_mm: Array) -> None:
        self.low_mm, self.high_mm = low_mm, high_mm
        bitmap = mi.Bitmap(np.ascontiguousarray(rgb, np.float32))
        self.bsdf: Plastic = {
            "type": "diffuse",
            "reflectance": {"type": "bitmap", "bitmap": bitmap, "raw": True, "wrap_mode": "clamp"},
        }

    def at(self, points_mm: Array) -> Array:
        """Texture coordinates (n, 2), in Mitsuba's convention, of points (n, 2)."""
        right, up = ((points_mm - self.low_mm) / (self.high_mm - self.low_mm)).T
        return np.column_stack([right, 1 - up])


def box(low_mm: Array, high_mm: Array) -> Array:
    """Corners (4, 2) of a rectangle, counter-clockwise."""
    return np.array(
        [
            [low_mm[0], low_mm[1]],
            [high_mm[0], low_mm[1]],
            [high_mm[0], high_mm[1]],
            [low_mm[0], high_mm[1]],
        ]
    )


def flat(outline_mm: Array, z_mm: float, face: Map) -> Any:
    """A convex polygon (n, 2) with a texture."""
    corners = np.column_stack([outline_mm, np.full(len(outline_mm), z_mm)])
    fan = np.array([[0, k, k + 1] for k in range(1, len(outline_mm) - 1)])
    return _mesh(corners, fan, {"type": "twosided", "bsdf": face.bsdf}, face.at(outline_mm))


def wall(outline_mm: Array, low_mm: float, top_mm: float, rgb: Rgb) -> Any:
    """A vertical wall along an outline (n, 2)."""
    count = len(outline_mm)
    corners = np.concatenate(
        [np.column_stack([outline_mm, np.full(count, z)]) for z in (low_mm, top_mm)]
    )
    return _mesh(
        corners,
        _between(count, count),
        {"type": "twosided", "bsdf": {"type": "diffuse", "reflectance": _rgb(rgb)}},
    )


def shell(piece: ScenePiece, plastic: Plastic, bevel_mm: float) -> Any:
    """A hollow pyramid with rounded edges, slightly above its support.

    It is solid if it has no wall. The outer edges are rounded within `bevel_mm` to either side.
    Rounded edges reflect a line of light to any eye, the most visible feature of see-through
    plastic.
    """
    outer = piece.solid.vertices_mm + np.array([0.0, 0.0, CLEAR_MM])
    if piece.wall_mm <= 0:
        corners, normals, faces = _rounded(outer, bevel_mm)
    else:
        corners, normals, faces = _hollowed(
            *_rounded(outer, min(bevel_mm, MOST_OF_WALL * piece.wall_mm)), outer, piece.wall_mm
        )
    return _mesh(corners, faces, plastic, normals=normals)


def _rounded(corners: Array, bevel_mm: float) -> tuple[Array, Array, Faces]:
    """A pyramid (5, 3) with round edges.

    Returns points, those of the base last, their normals, and triangles.
    """
    polygons = [corners[list(side)] for side in SIDES] + [corners[:4]]
    middle = corners.mean(axis=0)
    points, normals = [], []
    for polygon in polygons:
        across = _normals(polygon[:3])[0]
        across *= np.sign(across @ (polygon[0] - middle))
        ahead, back = (np.roll(polygon, shift, axis=0) - polygon for shift in (-1, 1))
        ahead, back = (way / np.linalg.norm(way, axis=1, keepdims=True) for way in (ahead, back))
        points.append(
            polygon
            + bevel_mm
            * (ahead + back)
            / np.linalg.norm(np.cross(ahead, back), axis=1, keepdims=True)
        )
        normals.append(np.broadcast_to(across, polygon.shape))
    there = np.concatenate(points)
    return (
        there,
        np.concatenate(normals),
        _facing(there, ConvexHull(there).simplices.astype(np.int64), middle),
    )


def _hollowed(
    corners: Array, normals: Array, faces: Faces, outer: Array, wall_mm: float
) -> tuple[Array, Array, Faces]:
    """The mesh of `_rounded` for a pyramid (5, 3), opened below and hollowed.

    The hollow has the pyramid's shape, inset by the wall's thickness.
    """
    centre, tip = outer[:4].mean(axis=0), outer[4]
    base_mm, height_mm = (
        float(np.linalg.norm(outer[1] - outer[0])),
        float(np.linalg.norm(tip - centre)),
    )
    step_mm = wall_mm * np.hypot(height_mm, base_mm / 2) / (base_mm / 2)
    inner = centre + max(THINNEST, 1 - step_mm / height_mm) * (outer - centre)
    base = len(corners) - 4
    rest = np.concatenate([corners[base:], inner])
    rim = _facing(rest, _between(4, 4), tip)
    inside = _facing(rest, np.array([tuple(side) for side in SIDES]) + 4, inner.mean(axis=0))[
        :, ::-1
    ]
    sharp = rest[np.concatenate([rim, inside])].reshape(
        -1, 3
    )  # separate corners for each triangle, so that its edges are sharp
    open_below = faces[(faces < base).any(axis=1)]
    triangles = np.concatenate([open_below, len(corners) + np.arange(len(sharp)).reshape(-1, 3)])
    return (
        np.concatenate([corners, sharp]),
        np.concatenate([normals, _normals(sharp).repeat(3, axis=0)]),
        triangles,
    )


def _normals(corners: Array) -> Array:
    """Normals (n, 3) of consecutive triangles (3 n, 3)."""
    across = np.cross(corners[1::3] - corners[::3], corners[2::3] - corners[::3])
    return np.asarray(across / np.linalg.norm(across, axis=1, keepdims=True))


def lamp(one: Lamp) -> dict[str, Any]:
    """A sphere whose irradiance on the table straight below is the lamp's power."""
    radiance = one.power * (one.at_mm[2] / one.radius_mm) ** 2
    r, g, b = one.rgb
    light = {"type": "area", "radiance": _rgb((radiance * r, radiance * g, radiance * b))}
    return {"type": "sphere", "center": list(one.at_mm), "radius": one.radius_mm, "emitter": light}


def see_through(through: Array, refraction: float, satin: float) -> Plastic:
    """Plastic that transmits a share (3,) of light through each wall.

    It is polished or, with `satin` > 0, slightly rough.
    """
    share = np.clip(np.sqrt(through), 0.0, 1.0)  # light passes two faces of a wall
    plastic: Plastic = {
        "type": "dielectric",
        "int_ior": refraction,
        "specular_transmittance": _rgb(tuple(share)),
    }
    return (
        plastic | {"type": "roughdielectric", "alpha": satin, "distribution": "ggx"}
        if satin
        else plastic
    )


def opaque(rgb: Rgb, roughness: float) -> Plastic:
    """Plastic that reflects light under a clear face."""
    plastic: Plastic = {"type": "plastic", "int_ior": 1.49, "diffuse_reflectance": _rgb(rgb)}
    return plastic | {"type": "roughplastic", "alpha": roughness} if roughness else plastic


def sky(levels: Plane) -> dict[str, Any]:
    """Ambient light: `levels` (h, w), row 0 straight above."""
    bitmap = mi.Bitmap(np.ascontiguousarray(np.repeat(levels[..., None], 3, axis=2), np.float32))
    return {
        "type": "envmap",
        "bitmap": bitmap,
        "to_world": mi.ScalarTransform4f().rotate([1, 0, 0], 90),
    }


def _between(count: int, second: int) -> Faces:
    """Triangles between two rings of `count` corners, the second of which begins at `second`."""
    here = np.arange(count)
    after = (here + 1) % count
    return np.concatenate(
        [
            np.column_stack([here, after, second + here]),
            np.column_stack([after, second + after, second + here]),
        ]
    )


def _facing(corners: Array, faces: Faces, away_from: Array) -> Faces:
    """Triangles, oriented away from a point (3,)."""
    first, second, third = corners[faces].transpose(1, 0, 2)
    out = np.einsum("ij,ij->i", np.cross(second - first, third - first), first - away_from) > 0
    return np.where(out[:, None], faces, faces[:, ::-1])


def _rgb(values: tuple[float, ...]) -> dict[str, Any]:
    return {"type": "rgb", "value": [float(value) for value in values]}


def _mesh(
    corners: Array,
    faces: Faces,
    bsdf: Plastic,
    texture: Array | None = None,
    normals: Array | None = None,
) -> Any:
    props = mi.Properties()
    props["bsdf"] = mi.load_dict(bsdf)
    mesh = mi.Mesh(
        "mesh",
        len(corners),
        len(faces),
        has_vertex_normals=normals is not None,
        has_vertex_texcoords=texture is not None,
        props=props,
    )
    parameters = mi.traverse(mesh)
    parameters["vertex_positions"] = np.ascontiguousarray(corners, np.float32).ravel()
    parameters["faces"] = np.ascontiguousarray(faces, np.uint32).ravel()
    if normals is not None:
        parameters["vertex_normals"] = np.ascontiguousarray(normals, np.float32).ravel()
    if texture is not None:
        parameters["vertex_texcoords"] = np.ascontiguousarray(texture, np.float32).ravel()
    parameters.update()
    return mesh
