"""Is everything still where `table.json` says?  Told from one picture, one sentence for each thing that is not."""

from __future__ import annotations

from itertools import combinations

import cv2
import msgspec
import numpy as np

from calibration.board_edges import board_edges
from table.observation import Camera
from table.setup import Fiducials, Setup
from table.solids import Array
from vision.camera import on_plane, place_covariance, project
from vision.fiducials import detect_markers, locate
from vision.frame import Image

LEAST_MM, SIGMAS = 0.7, 4.0
"""What is not told: shifts smaller than this, or than so many sigmas."""
CORNERS_PX = 0.3
"""How well detected corners tell a fiducial's middle, 1 sigma."""
NORMAL_MM = 0.5
ROUNDS = 6
LEAST_LINES = 0.3
"""Share of a board's lines below which it is not told where the board lies."""
LINE_MM = 0.1
"""An edge that is farther off than this counts for less."""


def recheck(image: Image, setup: Setup, before: Image | None = None) -> tuple[str, ...]:
    """What does not agree with `table.json` in a picture (h, w, 3): cards, board, and the camera's place if there is a picture from before.

    Sentences such as `card 2 lies 4.1 mm from where it was`; none where all agrees.  A shift of less than LEAST_MM is not told.
    """
    seen = set(_corners(image, setup.fiducials))
    told, moved = [], _moved(image, setup, seen)
    told += [f"card {card} lies {by_mm:.1f} mm from where it was" for card, by_mm in moved.items()]
    still = _only(setup, seen - moved.keys())
    camera = locate(image, still)
    if not isinstance(camera, Camera):
        return (*told, camera.reason)
    if (by_mm := _board_shift_mm(image, still, camera)) is not None:
        told.append(f"the board lies {by_mm:.1f} mm from where it was")
    there = locate(before, setup) if before is not None else None
    if isinstance(there, Camera):
        by = camera.eye_mm - there.eye_mm
        variance = sum((np.linalg.norm(_eye_covariance(one), 2) for one in (camera, there)), 0.0)
        if (away_mm := float(np.linalg.norm(by))) > max(LEAST_MM, SIGMAS * float(np.sqrt(variance))):
            told.append(f"the camera has moved {away_mm:.1f} mm")
    return tuple(told)


def _corners(image: Image, fiducials: Fiducials) -> dict[int, Array]:
    return detect_markers(np.asarray(cv2.cvtColor(image, cv2.COLOR_RGB2GRAY), np.uint8), fiducials).corners_px


def _only(setup: Setup, ids: set[int]) -> Setup:
    """The table with these fiducials alone, their places taken as exact."""
    markers = tuple(marker for marker in setup.fiducials.markers if marker.id in ids)
    return msgspec.structs.replace(setup, fiducials=msgspec.structs.replace(setup.fiducials, markers=markers, covariance=msgspec.UNSET))


def _moved(image: Image, setup: Setup, seen: set[int]) -> dict[int, float]:
    """Cards that are not where they were, and by how many mm.

    The fewest cards without which the others agree: which of two cards has moved nobody can tell, and of four which two together.
    """
    if not _disagree(image, setup, seen):
        return {}
    for count in range(1, len(seen) - 1):
        tried = []
        for out in combinations(sorted(seen), count):
            rest = seen - set(out)
            if len(rest) >= 2 and not _disagree(image, setup, rest):
                camera = locate(image, _only(setup, rest))
                if isinstance(camera, Camera):
                    tried.append((camera.reprojection_px, {card: _shift(image, setup, camera, card)[0] for card in out}))
        if tried:
            return min(tried, key=lambda one: one[0])[1]
    return {}


def _disagree(image: Image, setup: Setup, ids: set[int]) -> bool:
    """Is one of these cards not where the others have it?"""
    if len(ids) < 3:
        return False
    for card in ids:
        camera = locate(image, _only(setup, ids - {card}))
        if not isinstance(camera, Camera):
            return True
        by_mm, sigma_mm = _shift(image, setup, camera, card)
        if by_mm > max(LEAST_MM, SIGMAS * sigma_mm):
            return True
    return False


def _shift(image: Image, setup: Setup, camera: Camera, card: int) -> tuple[float, float]:
    """How far a card lies from its place, and the uncertainty of that, 1 sigma, mm."""
    corners = next(np.array(marker.corners_mm) for marker in setup.fiducials.markers if marker.id == card)
    z_mm, middle = setup.fiducials.z_mm, corners.mean(axis=0)
    found = on_plane(_corners(image, setup.fiducials)[card], camera, setup.camera, z_mm).mean(axis=0)
    doubt = place_covariance(np.array([*middle, z_mm]), camera, setup.camera)
    here, beside = project(np.array([[*middle, z_mm], [middle[0] + 1, middle[1], z_mm]]), camera, setup.camera)
    return float(np.hypot(*(found - middle))), float(np.sqrt(np.trace(doubt)) + CORNERS_PX / np.hypot(*(beside - here)))


def _board_shift_mm(image: Image, setup: Setup, camera: Camera) -> float | None:
    """How far the board's middle lies from its place; None where it does not, or too little of it is seen to tell."""
    lines = board_edges(setup.board)
    if lines is None:
        return None
    places, ways = (np.column_stack([points, np.zeros(len(points))]) for points in (lines.points_mm, lines.normals))
    there = project(places, camera, setup.camera)
    step = (project(places + NORMAL_MM * ways, camera, setup.camera) - there) / NORMAL_MM
    px_a_mm = np.linalg.norm(step, axis=1)
    offset, good = lines.measure(image, there, step / px_a_mm[:, None])
    if good.mean() < LEAST_LINES:
        return None
    off_mm, flat = (offset / px_a_mm)[good], lines.points_mm[good] - lines.points_mm.mean(axis=0)
    normals = lines.normals[good]
    # Shift, turn, and how much farther out a rim is than it should be.
    design = np.column_stack([normals, normals[:, 1] * flat[:, 0] - normals[:, 0] * flat[:, 1], np.full(len(flat), lines.look == "rim")])
    weight, found = np.ones(len(off_mm)), np.zeros(4)
    for _ in range(ROUNDS):
        found = np.linalg.lstsq(design * weight[:, None], off_mm * weight, rcond=None)[0]
        weight = 1 / np.sqrt(1 + ((off_mm - design @ found) / LINE_MM) ** 2)
    by_mm = float(np.hypot(*found[:2]))
    doubt = place_covariance(np.array([*lines.points_mm.mean(axis=0), 0.0]), camera, setup.camera)
    return by_mm if by_mm > max(LEAST_MM, SIGMAS * float(np.sqrt(np.trace(doubt)))) else None


def _eye_covariance(camera: Camera) -> Array:
    """Covariance (3, 3) of the camera's centre, mm2: of -R.T t, a turn moving R."""
    columns = []
    turn = np.asarray(cv2.Rodrigues(camera.rotation)[0], float).reshape(3)
    for axis in np.eye(3) * 1e-6:
        rotation = np.asarray(cv2.Rodrigues(turn + axis)[0], float)
        columns.append((-rotation.T @ camera.translation_mm - camera.eye_mm) / 1e-6)
    by_pose = np.column_stack([np.stack(columns, axis=1), -camera.rotation.T])
    return np.asarray(by_pose @ camera.covariance[:6, :6] @ by_pose.T)
