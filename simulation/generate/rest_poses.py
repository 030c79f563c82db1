"""Rest poses of thrown pieces: free of each other, touching, on top, or leaning."""

from __future__ import annotations

import numpy as np

from table.clearance import clearance
from table.pieces import PieceSize
from table.solids import Array, Solid, lying, tipped, upright

CONTACT_MM = 0.02
"""Gap between touching solids, so that they never overlap."""
LEAN_DEG = (3.0, 42.0)
"""Range of a leaning piece's tilt. Below it the piece lies; above it, it falls back on its base."""

UPRIGHT = 0.15
"""Share of thrown pieces that end standing."""


def moved(solid: Solid, dx_mm: float, dy_mm: float) -> Solid:
    """The same solid slid over the table."""
    return Solid(solid.vertices_mm + np.array([dx_mm, dy_mm, 0.0]))


def slide_against(solid: Solid, other: Solid, share: float = 1.0) -> Solid | None:
    """`solid` moved towards `other`, by `share` of the way to contact.

    None if it would pass by, or already touches.
    """
    ahead = other.vertices_mm[:4].mean(axis=0)[:2] - solid.vertices_mm[:4].mean(axis=0)[:2]
    distance = float(np.linalg.norm(ahead))
    if distance < 1e-6 or clearance(solid, other).mm <= CONTACT_MM:
        return None
    x, y = ahead / distance
    low, high = 0.0, distance
    if clearance(moved(solid, x * high, y * high), other).mm > 0:
        return None
    while high - low > 0.1 * CONTACT_MM:
        middle = (low + high) / 2
        if clearance(moved(solid, x * middle, y * middle), other).mm > CONTACT_MM:
            low = middle
        else:
            high = middle
    return moved(solid, share * x * low, share * y * low)


def random_pose(size: PieceSize, spot_mm: Array, rng: np.random.Generator) -> Solid:
    """A thrown piece at a place (2,), in any heading; most of them lie."""
    x, y, heading = float(spot_mm[0]), float(spot_mm[1]), float(rng.uniform(0, 360))
    pose = upright if rng.random() < UPRIGHT else lying
    return pose(size, x, y, heading)


def flush_deg(below: Solid, rng: np.random.Generator) -> float:
    """A heading in degrees for a shell over the tip of a standing piece.

    Square shells sit with their faces flush, in any of four ways.
    """
    ahead = below.vertices_mm[1] - below.vertices_mm[0]
    return float(np.degrees(np.arctan2(ahead[1], ahead[0]))) + 90.0 * float(
        rng.uniform(0, 360) // 90
    )


def lean_against(
    size: PieceSize, edge_mm: Array, heading_deg: float, support: Solid, z_mm: float = 0.0
) -> Solid | None:
    """A piece that leans on `support`: fallen along its heading about a base edge on the table.

    The edge is at `edge_mm` (2,). The piece turns about it until it meets the support, and rests
    there if its weight keeps it leaning; otherwise None.
    """
    flat = lying(size, float(edge_mm[0]), float(edge_mm[1]), heading_deg, z_mm)

    def fallen(degrees: float) -> Solid:
        return tipped(flat, np.array([*edge_mm, z_mm]), heading_deg, degrees)

    low, high = LEAN_DEG
    if clearance(fallen(low), support).mm > 0 or clearance(fallen(high), support).mm <= CONTACT_MM:
        return None
    while high - low > 1e-3:
        middle = (low + high) / 2
        if clearance(fallen(middle), support).mm > CONTACT_MM:
            high = middle
        else:
            low = middle
    return fallen(high)
