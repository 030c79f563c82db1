"""Check from one image whether everything is at its place in `table.json`.

Each difference is reported in one sentence.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from itertools import combinations

import msgspec
import numpy as np

from calibration.table.board_edges import BoardEdges, board_edges
from calibration.table.board_search import Face, find_board
from calibration.table.bundle_adjustment import place_points
from table.boards import Tiles
from table.errors import InputError
from table.messages import phrase
from table.observation import Camera
from table.solids import Array
from table.table_config import Setup
from vision.cameras.frame import Image
from vision.geometry.camera_model import on_plane, place_covariance, project, shift_over_board
from vision.localization.fiducials import locate_from_markers
from vision.localization.markers import Detected, NoPose, detect_markers, own_fiducials

LEAST_MM, SIGMAS = 0.7, 4.0
"""Smallest reported shift, in mm and in standard deviations."""
CORNERS_PX = 0.3
"""Standard deviation of a fiducial's middle by its detected corners."""
NORMAL_MM = 0.5
ROUNDS = 6
LEAST_LINES = 0.3
"""Least share of a board's lines near its place; below it, the board is searched for."""
LINE_MM = 0.1
"""Scale of the robust loss: edges with larger offsets have less weight."""


@dataclass(frozen=True, slots=True, eq=False)
class DriftCheck:
    """Shifts in mm of each moved card (by id), of the board, and of the camera's view.

    `cards_mm` is empty and the shifts are None if everything agrees. `camera_mm` is the apparent
    shift of the board in the view. `camera` is the camera located by the cards that agree; None if
    it is not found, and `reason` says why.
    """

    cards_mm: dict[int, float] = field(default_factory=dict)
    board_mm: float | None = None
    camera_mm: float | None = None
    camera: Camera | None = None
    reason: str = ""

    @property
    def elsewhere(self) -> tuple[str, ...]:
        """Moved objects on the table, by which lengths may be wrong.

        Such as `card 2 lies 4.1 mm from where it was`.
        """
        cards = [
            phrase("corner card {n} is {mm} mm from where it was", n=card, mm=_length(by_mm))
            for card, by_mm in self.cards_mm.items()
        ]
        return (
            (*cards, phrase("the board is {mm} mm from where it was", mm=_length(self.board_mm)))
            if self.board_mm is not None
            else tuple(cards)
        )

    @property
    def message(self) -> tuple[str, ...]:
        """All differences, one sentence each."""
        camera = (
            (phrase("the camera has moved {mm} mm over the board", mm=_length(self.camera_mm)),)
            if self.camera_mm is not None
            else ()
        )
        return (*self.elsewhere, *camera, *((self.reason,) if self.reason else ()))


def recheck(image: Image, setup: Setup, before: Camera | None = None) -> DriftCheck:
    """Compare an image (h, w, 3) with `table.json`, and the camera with its pose before."""
    own = own_fiducials(detect_markers(image, setup.fiducials), setup, before)
    if isinstance(own, NoPose):
        return DriftCheck(reason=own.reason)
    look = _DriftView(image, setup, own)
    seen = look.detected.corners_px.keys()
    moved = look.moved(seen)
    camera = look.camera_from(seen - moved.keys())
    if camera is None:
        located = locate_from_markers(look.detected, image, setup)
        return DriftCheck(moved, reason="" if isinstance(located, Camera) else located.reason)
    return DriftCheck(
        moved,
        look.board_shift_mm(camera),
        _camera_shift_mm(camera, before, setup) if before else None,
        camera,
    )


@dataclass(frozen=True, slots=True, eq=False)
class _DriftView:
    """An image of a table, and its detected fiducials."""

    image: Image
    setup: Setup
    detected: Detected

    def camera_from(self, ids: Collection[int]) -> Camera | None:
        """The camera located by these fiducials alone, taken as exact; None if not found."""
        located = self._located(ids)
        return located if isinstance(located, Camera) else None

    def _located(self, ids: Collection[int]) -> Camera | NoPose:
        markers = tuple(marker for marker in self.setup.fiducials.markers if marker.id in ids)
        fiducials = msgspec.structs.replace(
            self.setup.fiducials, markers=markers, covariance=msgspec.UNSET
        )
        if not markers:
            return NoPose(phrase("no marker is in view"))
        return locate_from_markers(
            self.detected, self.image, msgspec.structs.replace(self.setup, fiducials=fiducials)
        )

    def moved(self, seen: Collection[int]) -> dict[int, float]:
        """Moved cards, and their shifts in mm.

        They are the smallest set of cards without which the others agree. Of two cards, the moved
        one cannot be determined; of four, neither can two moved ones.
        """
        if not self._disagree(seen):
            return {}
        for count in range(1, len(seen) - 1):
            tried = []
            for out in combinations(sorted(seen), count):
                rest = set(seen) - set(out)
                if not self._disagree(rest) and (camera := self.camera_from(rest)):
                    tried.append(
                        (
                            camera.reprojection_px,
                            {card: self._shift(camera, card)[0] for card in out},
                        )
                    )
            if tried:
                return min(tried, key=lambda one: one[0])[1]
        return {}

    def _disagree(self, ids: Collection[int]) -> bool:
        """True if one of these cards is not where the others place it."""
        if len(ids) < 3:
            return False
        for card in ids:
            camera = self._located(set(ids) - {card})
            if isinstance(camera, NoPose):
                if camera.unsure:
                    continue  # the two others do not determine the place of this one
                return True
            by_mm, sigma_mm = self._shift(camera, card)
            if by_mm > max(LEAST_MM, SIGMAS * sigma_mm):
                return True
        return False

    def _shift(self, camera: Camera, card: int) -> tuple[float, float]:
        """Distance of a card from its place, and its standard deviation, mm."""
        corners = next(
            np.array(marker.corners_mm)
            for marker in self.setup.fiducials.markers
            if marker.id == card
        )
        z_mm, middle, lens = self.setup.fiducials.z_mm, corners.mean(axis=0), self.setup.camera
        found = on_plane(self.detected.corners_px[card], camera, lens, z_mm).mean(axis=0)
        doubt = place_covariance(np.array([*middle, z_mm]), camera, lens)
        here, beside = project(
            np.array([[*middle, z_mm], [middle[0] + 1, middle[1], z_mm]]), camera, lens
        )
        return float(np.hypot(*(found - middle))), float(
            np.sqrt(np.trace(doubt)) + CORNERS_PX / np.hypot(*(beside - here))
        )

    def board_shift_mm(self, camera: Camera) -> float | None:
        """Distance of the board's middle from its place.

        None if it has not moved, or too little of it is visible.
        """
        lines = board_edges(self.setup.board)
        if lines is None or isinstance(self.setup.board, Tiles):  # tiles slide and sink in play
            return None
        middle = lines.points_mm.mean(axis=0)
        shift = self._lines_shift(camera, lines, np.zeros(3))
        if shift is None:
            if (place := self._find_board(camera, lines)) is None:
                return None
            rest = self._lines_shift(camera, lines, place)
            shift = place_points(place, middle[None])[0] - middle + (0.0 if rest is None else rest)
        doubt = place_covariance(np.array([*middle, 0.0]), camera, self.setup.camera)
        by_mm = float(np.hypot(*shift))
        return by_mm if by_mm > max(LEAST_MM, SIGMAS * float(np.sqrt(np.trace(doubt)))) else None

    def _lines_shift(self, camera: Camera, lines: BoardEdges, place: Array) -> Array | None:
        """Shift (2,) of the board's middle from a place [x, y, heading], by its lines.

        None if too few lines are near there.
        """
        flat, normals = (
            place_points(place, lines.points_mm),
            place_points(np.array([0.0, 0.0, place[2]]), lines.normals),
        )
        there = self._pixels(camera, flat)
        step = (self._pixels(camera, flat + NORMAL_MM * normals) - there) / NORMAL_MM
        px_a_mm = np.linalg.norm(step, axis=1)
        offset, good = lines.measure(self.image, there, step / px_a_mm[:, None])
        if lines.share(good) < LEAST_LINES:
            return None
        off_mm, around, normals = (
            (offset / px_a_mm)[good],
            (flat - flat.mean(axis=0))[good],
            normals[good],
        )
        # Unknowns: shift (2), rotation, and the outward offset of a rim.
        turn = normals[:, 1] * around[:, 0] - normals[:, 0] * around[:, 1]
        design = np.column_stack([normals, turn, np.full(len(around), lines.look == "rim")])
        weight, found = np.ones(len(off_mm)), np.zeros(4)
        for _ in range(ROUNDS):
            found = np.linalg.lstsq(design * weight[:, None], off_mm * weight, rcond=None)[0]
            weight = 1 / np.sqrt(1 + ((off_mm - design @ found) / LINE_MM) ** 2)
        return np.asarray(found[:2])

    def _find_board(self, camera: Camera, lines: BoardEdges) -> Array | None:
        """Search for the board between four cards: its place [x, y, heading], or None."""
        cards = np.array([marker.corners_mm for marker in self.setup.fiducials.markers])
        if len(cards) != 4:
            return None
        try:
            return find_board(
                Face(self.image, lambda points: self._pixels(camera, points), cards),
                self.setup.board,
                lines,
                near=np.zeros(3),
            )
        except InputError:
            return None

    def _pixels(self, camera: Camera, points_mm: Array) -> Array:
        """Pixels of points (n, 2) on the board."""
        return project(
            np.column_stack([points_mm, np.zeros(len(points_mm))]), camera, self.setup.camera
        )


def _camera_shift_mm(camera: Camera, before: Camera, setup: Setup) -> float | None:
    """Largest apparent shift of the board since `before`; None if it is not significant."""
    by_mm, sigma_mm = shift_over_board(camera, before, setup)
    return by_mm if by_mm > max(LEAST_MM, SIGMAS * sigma_mm) else None


def _length(by_mm: float) -> str:
    return f"{by_mm:.1f}" if by_mm < 10 else f"{by_mm:.0f}"
