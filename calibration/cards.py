"""Where four corner cards lie, from photographs of them: all places and all cameras in one adjustment.

Known are the lens, the side of the cards, and that they lie in one plane.  Each card has a place and a heading, each photograph a pose
and a spread of light (`calibration.card_edges`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray
from scipy.optimize import least_squares

from calibration.card_edges import edge_samples
from calibration.lens_views import SUFFIXES
from calibration.sheets import DICTIONARY
from table.boards import Point
from table.errors import InputError
from table.setup import Fiducials, Lens, Marker
from table.solids import Array, signed_area
from vision.camera import pose_of, project_with, undistort
from vision.cameras.files import read_image
from vision.fiducials import REACH_MODULES, detect_markers, edge_offsets
from vision.frame import Image

CARDS = (0, 1, 2, 3)
NAMES = ("far left", "far right", "near right", "near left")
ROUNDS = 3
SPREAD_SIGMA_PX = 0.5
ROBUST_PX = 0.1
FLOOR_PX = 0.005
"""What lens and print leave of an edge's place, common to a whole card in a photograph."""
SHIFTED_PX = 0.12
"""A card that is seen this far from where it should be, in one photograph, does not fit."""
MODULES = 6


_Measured = tuple[NDArray[np.intp], Array, Array]
"""Of one photograph: which edges could be measured (n,), where they are (m, 2) px, and the normals there (m, 2)."""


@dataclass(frozen=True, slots=True, eq=False)
class Placed:
    """Cards in the frame of the table.

    `corners_mm` (4, 4, 2), card by card, clockwise from each one's own top left; `apart_mm` and `sigma_mm` are the distances between
    the middles of two cards; `rms_px` how far edges are off, by card.
    """

    corners_mm: Array
    apart_mm: dict[tuple[int, int], float]
    sigma_mm: dict[tuple[int, int], float]
    rms_px: tuple[float, ...]
    frames: int

    @property
    def fiducials(self) -> Fiducials:
        """As `table.json` has them."""
        return Fiducials(markers=tuple(Marker(id=card, corners_mm=_corners(self.corners_mm[card])) for card in CARDS), dictionary=DICTIONARY)

    @property
    def ground_mm(self) -> tuple[Point, ...]:
        """Outline of the ground between the cards, counter-clockwise from the near left: the corner of each that is nearest to the others."""
        inner = _inner(self.corners_mm)
        return tuple((float(inner[card, 0]), float(inner[card, 1])) for card in (3, 2, 1, 0))


def read_frames(folder: Path, lens: Lens) -> dict[str, Image]:
    """All photographs (JPEG or PNG) of a folder by name; raises InputError, also for one of another size than the lens is for."""
    if not folder.is_dir():
        raise InputError(f"--from: expected a folder of photographs, got {folder}")
    paths = [path for path in sorted(folder.iterdir()) if path.suffix.lower() in SUFFIXES and not path.name.startswith(".")]
    if not paths:
        raise InputError(f"{folder}: expected photographs of the cards (JPEG or PNG), got none")
    frames = {path.name: read_image(path).image for path in paths}
    for name, image in frames.items():
        if image.shape[1::-1] != (lens.width, lens.height):
            got = f"{image.shape[1]} x {image.shape[0]} px"
            raise InputError(f"{folder / name}: expected {lens.width} x {lens.height} px, for which the lens is calibrated, got {got}")
    return frames


def place_cards(frames: Mapping[str, Image], lens: Lens, side_mm: float) -> Placed:
    """Where cards 0 to 3 lie; raises InputError where no photograph shows all four, or one does not fit.

    The table's x axis leads from the inner corner of card 3, its origin, to that of card 2.
    """
    seen = _detect(frames)
    state = _start([quads for _, quads in seen], lens, side_mm)
    images = [frames[name] for name, _ in seen]
    samples = [edge_samples(card, DICTIONARY) for card in CARDS]
    for _ in range(ROUNDS):
        measured = [_measure(image, state, frame, samples, lens, side_mm) for frame, image in enumerate(images)]
        fit = least_squares(_residuals, state, args=(measured, samples, lens, side_mm), loss="huber", f_scale=ROBUST_PX, x_scale="jac", max_nfev=30)
        state = np.asarray(fit.x)
    rms = _rms_by_card(state, measured, samples, lens, side_mm)
    _check_fit(state, measured, samples, lens, side_mm)
    middles = np.vstack([np.zeros(2), state[:9].reshape(3, 3)[:, :2]])
    pairs = list(combinations(CARDS, 2))
    covariance = _covariance(np.asarray(fit.jac), rms, measured)
    sigma = {pair: _apart_sigma(middles, covariance, pair) for pair in pairs}
    apart = {(a, b): float(np.hypot(*(middles[a] - middles[b]))) for a, b in pairs}
    return Placed(_to_table(_card_corners(state, side_mm)), apart, sigma, tuple(rms), len(images))


def _check_fit(state: Array, measured: list[_Measured], samples: list[tuple[Array, Array]], lens: Lens, side_mm: float) -> None:
    """Raises InputError where a card is not where it should be in some photograph, naming the one without which the others fit best."""
    owner = np.repeat(CARDS, [len(points) for points, _ in samples])
    off = _residuals(state, measured, samples, lens, side_mm)
    shifts, start = [], 0
    for which, _, normals in measured:
        part = off[start : start + len(which)]
        start += len(which)
        for card in CARDS:
            mine = owner[which] == card
            shifts.append(float(np.linalg.norm(np.linalg.lstsq(normals[mine], part[mine], rcond=None)[0])) if mine.sum() > 8 else 0.0)
    if max(shifts) <= SHIFTED_PX:
        return
    costs = []
    for card in CARDS:
        rest = [(which[keep], places[keep], normals[keep]) for which, places, normals in measured for keep in [owner[which] != card]]
        costs.append(float(least_squares(_residuals, state, args=(rest, samples, lens, side_mm), x_scale="jac", max_nfev=15).cost))
    worst = int(np.argmin(costs))
    said = f"they are seen up to {max(shifts):.2f} px from where they should be, and card {worst} ({NAMES[worst]}) fits least"
    advice = "is it bent, does it lie higher, was it moved between photographs?"
    raise InputError(f"expected four flat cards in one plane that lie still; {said}; {advice}")


def _detect(frames: Mapping[str, Image]) -> list[tuple[str, Array]]:
    """Photographs that show all four cards, and their corners (4, 4, 2) px."""
    wanted = Fiducials(markers=tuple(Marker(id=card, corners_mm=((0, 10), (10, 10), (10, 0), (0, 0))) for card in CARDS), dictionary=DICTIONARY)
    found = {name: detect_markers(np.asarray(cv2.cvtColor(image, cv2.COLOR_RGB2GRAY), np.uint8), wanted) for name, image in frames.items()}
    for name, detected in found.items():
        if detected.twice:
            raise InputError(f"{name}: expected each card once, but card {detected.twice[0]} is seen twice; take one away")
    seen = [(name, np.array([detected.corners_px[card] for card in CARDS])) for name, detected in found.items() if len(detected.corners_px) == 4]
    if not seen:
        best = max((detected.corners_px for detected in found.values()), key=len, default={})
        missing = ", ".join(f"{card} ({NAMES[card]})" for card in CARDS if card not in best)
        raise InputError(f"expected a photograph of all four cards, 0 to 3; none shows {missing} with the others")
    return seen


def _start(quads: list[Array], lens: Lens, side_mm: float) -> Array:
    """First guess from detected corners: [x, y, heading] of cards 1 to 3 beside card 0, then pose and spread of each photograph.

    One small card says little about the plane that it lies in, and two answers are nearly as good: all cards' answers are tried,
    and the one from which all corners of all photographs fit best is taken.
    """
    guesses = [_polished(_with_poses(places, quads, lens, side_mm), quads, lens, side_mm) for places in _guesses(quads[0], lens, side_mm)]
    best = min(guesses, key=lambda guess: float(np.sum(_corners_off(guess, quads, lens, side_mm) ** 2)))
    best[15::7] = 0.0  # corners say nothing about the spread
    return best


def _guesses(quad: Array, lens: Lens, side_mm: float) -> list[Array]:
    """Places (9,) of cards 1 to 3 beside card 0, in the planes that each card's corners (4, 4, 2) px allow for."""
    local = np.column_stack([_square(side_mm), np.zeros(4)])
    rays = undistort(quad.reshape(-1, 2), lens).reshape(-1, 1, 2)
    guesses = []
    for card in CARDS:
        _, turns, shifts, _ = cv2.solvePnPGeneric(local, rays[4 * card : 4 * card + 4], np.eye(3), None, flags=cv2.SOLVEPNP_IPPE_SQUARE)
        for turn, shift in zip(turns, shifts, strict=True):
            rotation = np.asarray(cv2.Rodrigues(turn)[0])
            plane2ray = np.column_stack([rotation[:, 0], rotation[:, 1], np.asarray(shift).reshape(3)])
            flat = np.asarray(cv2.perspectiveTransform(rays, np.linalg.inv(plane2ray))).reshape(4, 4, 2)
            across = flat[:, 1] - flat[:, 0]
            headings = np.arctan2(across[:, 1], across[:, 0])
            c, s = np.cos(headings[0]), np.sin(headings[0])
            middles = (flat.mean(axis=1) - flat[0].mean(axis=0)) @ np.array([[c, -s], [s, c]])
            guesses.append(np.column_stack([middles, headings - headings[0]])[1:].reshape(-1))
    return guesses


def _with_poses(places: Array, quads: list[Array], lens: Lens, side_mm: float) -> Array:
    """A state with the poses that the corners of each photograph have by these places (9,)."""
    points = np.column_stack([_card_corners(places, side_mm).reshape(-1, 2), np.zeros(16)])
    state = [places]
    for quad in quads:
        state.append(np.concatenate([*pose_of(points, quad.reshape(-1, 2), lens), [0.0]]))
    return np.concatenate(state)


def _polished(state: Array, quads: list[Array], lens: Lens, side_mm: float) -> Array:
    """The guess moved until all detected corners fit best."""
    return np.asarray(least_squares(_corners_off, state, args=(quads, lens, side_mm), x_scale="jac", max_nfev=60).x)


def _corners_off(state: Array, quads: list[Array], lens: Lens, side_mm: float) -> Array:
    points = np.column_stack([_card_corners(state, side_mm).reshape(-1, 2), np.zeros(16)])
    return np.concatenate([(_project(points, state, frame, lens) - quad.reshape(-1, 2)).ravel() for frame, quad in enumerate(quads)])


def _square(side_mm: float) -> Array:
    """Corners (4, 2) clockwise from the top left, around the middle."""
    return side_mm / 2 * np.array([[-1.0, 1.0], [1.0, 1.0], [1.0, -1.0], [-1.0, -1.0]])


def _on_plane(state: Array, card: int, local_mm: Array) -> Array:
    """Points (n, 2) of a card as places on the plane."""
    x, y, heading = state[3 * card - 3 : 3 * card] if card else (0.0, 0.0, 0.0)
    c, s = np.cos(heading), np.sin(heading)
    return np.asarray(local_mm @ np.array([[c, s], [-s, c]]) + (x, y))


def _card_corners(state: Array, side_mm: float) -> Array:
    return np.array([_on_plane(state, card, _square(side_mm)) for card in CARDS])


def _project(points: Array, state: Array, frame: int, lens: Lens) -> Array:
    pose = state[9 + 7 * frame : 15 + 7 * frame]
    return project_with(np.asarray(cv2.Rodrigues(pose[:3])[0]), pose[3:], points, lens)


def _edges(state: Array, frame: int, samples: list[tuple[Array, Array]], lens: Lens, side_mm: float) -> tuple[Array, Array]:
    """Edges of all cards (n, 2) px as they should be in a photograph, and unit normals (n, 2) to their white sides."""
    on, beside = (
        np.concatenate([_on_plane(state, card, side_mm * (points + far * normals)) for card, (points, normals) in zip(CARDS, samples, strict=True)])
        for far in (0.0, 0.01)
    )
    flat = _project(np.column_stack([on, np.zeros(len(on))]), state, frame, lens)
    step = _project(np.column_stack([beside, np.zeros(len(on))]), state, frame, lens) - flat
    return flat, step / np.linalg.norm(step, axis=1, keepdims=True)


def _measure(image: Image, state: Array, frame: int, samples: list[tuple[Array, Array]], lens: Lens, side_mm: float) -> _Measured:
    edges, normals = _edges(state, frame, samples, lens, side_mm)
    corners = _project(np.column_stack([_card_corners(state, side_mm).reshape(-1, 2), np.zeros(16)]), state, frame, lens).reshape(4, 4, 2)
    module_px = np.linalg.norm(np.roll(corners, -1, axis=1) - corners, axis=2).min() / MODULES
    offset, _, good = edge_offsets(image, edges, normals, REACH_MODULES * float(module_px), np.full(len(edges), state[15 + 7 * frame]))
    return np.flatnonzero(good), (edges + offset[:, None] * normals)[good], normals[good]


def _residuals(state: Array, measured: list[_Measured], samples: list[tuple[Array, Array]], lens: Lens, side_mm: float) -> Array:
    """Distances in px of measured edges from where they should be, along their normals; then what is expected of the spread."""
    parts = []
    for frame, (which, places, normals) in enumerate(measured):
        edges, _ = _edges(state, frame, samples, lens, side_mm)
        parts.append(np.sum((places - edges[which]) * normals, axis=1) - state[15 + 7 * frame])
    parts.append(ROBUST_PX * state[15::7] / SPREAD_SIGMA_PX)
    return np.concatenate(parts)


def _rms_by_card(state: Array, measured: list[_Measured], samples: list[tuple[Array, Array]], lens: Lens, side_mm: float) -> list[float]:
    residuals = _residuals(state, measured, samples, lens, side_mm)[: -len(measured)]
    owner = np.repeat(CARDS, [len(points) for points, _ in samples])
    cards = np.concatenate([owner[which] for which, _, _ in measured])
    return [float(np.sqrt(np.mean(residuals[cards == card] ** 2))) for card in CARDS]


def _covariance(jacobian: Array, rms: list[float], measured: list[_Measured]) -> Array:
    """Covariance (9, 9) of the places; edges of one card err together by FLOOR_PX."""
    each = np.mean([len(which) for which, _, _ in measured]) / len(CARDS)
    variance = float(np.mean(np.square(rms))) + FLOOR_PX**2 * float(each)
    return np.asarray(variance * np.linalg.pinv(jacobian.T @ jacobian, hermitian=True))[:9, :9]


def _apart_sigma(middles: Array, covariance: Array, pair: tuple[int, int]) -> float:
    way = middles[pair[1]] - middles[pair[0]]
    gradient = np.zeros(12)
    gradient[3 * pair[1] : 3 * pair[1] + 2] = way / np.hypot(*way)
    gradient[3 * pair[0] : 3 * pair[0] + 2] = -way / np.hypot(*way)
    return float(np.sqrt(gradient[3:] @ covariance @ gradient[3:]))


def _inner(corners: Array) -> Array:
    """The corner (2,) of each card (4, 4, 2) that is nearest to the middle of all."""
    away = np.linalg.norm(corners - corners.mean(axis=(0, 1)), axis=2)
    return np.asarray(corners[np.arange(4), away.argmin(axis=1)])


def _to_table(corners: Array) -> Array:
    """Corners (4, 4, 2) in the table's frame; raises InputError where the cards do not lie clockwise from the far left."""
    if signed_area(corners.mean(axis=1)) >= 0:
        raise InputError("expected cards 0 to 3 clockwise from the far left, seen from above; got another order: lay each where its words say")
    inner = _inner(corners)
    x = (inner[2] - inner[3]) / np.hypot(*(inner[2] - inner[3]))
    return np.asarray((corners - inner[3]) @ np.column_stack([x, (-x[1], x[0])]))


def _corners(corners: Array) -> tuple[Point, Point, Point, Point]:
    a, b, c, d = ((round(float(x), 3), round(float(y), 3)) for x, y in corners)
    return a, b, c, d
