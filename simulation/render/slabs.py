"""Counters, tiles and boards of some thickness: an upright rim, and a printed top."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from simulation.render.rays import Grid
from simulation.render.scene import Rgb, Slab, Stage
from simulation.render.shadows import Shadow, irradiance, lamp_light, sheen
from simulation.render.textures import sample
from table.solids import Array

Colours = NDArray[np.float32]

THIN_MM = 0.01
"""Thickness below which a slab is a sheet of paper without a rim."""


def draw_slab(
    out: Colours, slab: Slab, stage: Stage, grid: Grid, shadows: Sequence[tuple[Shadow, Rgb]] = ()
) -> None:
    """Paint a slab over `out` (h, w, 3).

    `shadows` fall on its top, each with the share of light that it transmits.
    """
    vertices = slab.vertices_mm
    box = grid.around(vertices, 3.0)
    if box is None:
        return
    part = grid.crop(box)
    corners = part.to_camera(vertices)
    low, top = np.split(corners, 2)
    if slab.top_mm - slab.low_mm > THIN_MM:
        _mix(out[box], _rim(slab, low, top, stage, part), part.silhouette(corners))
    at = part.on_plane(slab.top_mm)
    face = (
        sample(slab.face, at)
        if slab.face is not None
        else np.broadcast_to(np.array(slab.rgb, np.float32), (*at[0].shape, 3))
    )
    if slab.gloss:
        face = (
            face
            + np.float32(slab.gloss)
            * sheen(at, stage.lamps, part.camera.eye_mm, slab.top_mm)[..., None]
        )
    face = face * irradiance(at, slab.top_mm, stage)
    for shadow, passes in shadows:
        shadow.cast(face, passes, part)
    _mix(out[box], face, part.coverage(top))


def _rim(slab: Slab, low: Array, top: Array, stage: Stage, part: Grid) -> Colours:
    """Light of the rim, (h, w, 3): the sides that face the camera, weighted by coverage."""
    colour, total = (
        np.zeros((*part.x.shape, 3), np.float32),
        np.full(part.x.shape, np.float32(1e-6)),
    )
    outline = slab.outline_mm
    after = np.roll(np.arange(len(outline)), -1)
    towards_us = np.einsum("ij,ij->i", np.cross(low[after] - low, top[after] - low), low) < 0
    for here in np.flatnonzero(towards_us):
        there = after[here]
        quad = np.array([low[here], low[there], top[there], top[here]])
        along = outline[there] - outline[here]
        normal = np.array([along[1], -along[0], 0.0]) / np.hypot(*along)
        middle = np.array([*(outline[here] + outline[there]) / 2, (slab.low_mm + slab.top_mm) / 2])
        light = sum(
            (lamp_light(lamp, middle, normal) for lamp in stage.lamps),
            np.full(3, 0.5 * stage.ambient),
        )
        share = part.coverage(quad)
        colour += share[..., None] * (light * slab.rgb).astype(np.float32)
        total += share
    colour /= total[..., None]
    return colour


def _mix(below: Colours, above: Colours, share: NDArray[np.float32]) -> None:
    below += (above - below) * share[..., None]
