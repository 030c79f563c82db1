"""Place four corner cards and the board between them from photographs, in one adjustment.

The lens, the side of the cards and their common plane are known; of a board also its kind, sizes
and the height of its face. Unknown are a place and a heading for each card and the board, and a
pose and a spread of light for each photograph (`calibration.table.bundle_adjustment`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from calibration.lens.views import SUFFIXES
from calibration.photographs import ImageSubset, Photographs
from calibration.table.alignment import find_unmoved_cards
from calibration.table.board_edges import board_edges
from calibration.table.board_search import Face, find_board
from calibration.table.bundle_adjustment import (
    BOARD,
    CARDS,
    FRAME,
    PLACES,
    ROBUST_PX,
    SPREAD,
    MeasuredPhotograph,
    PriorKnowledge,
    card_corners,
    measure,
    place_points,
    pose,
    project_plane,
    residuals,
    square,
)
from calibration.table.marker_edges import edge_samples, refuse_mirrored
from table.boards import Board, Open, Point
from table.errors import InputError
from table.messages import in_a_row, msg, phrase
from table.observation import Camera
from table.optimize import least_squares
from table.printed_boards import DICTIONARY
from table.solids import Array, signed_area
from table.table_config import Fiducials, Lens, Marker
from vision.cameras.frame import Image
from vision.cameras.image_files import image_size
from vision.geometry.camera_model import on_plane, pose_of, undistort
from vision.localization.corner_pose import wrong_edges_mask
from vision.localization.markers import detect_markers

NAMES = ("far left", "far right", "near right", "near left")
ROUNDS = 3
FLOOR_PX = 0.005
"""Systematic error of edges by lens and print, common to a whole card in a photograph."""
SHIFTED_PX = 0.12
"""Largest residual shift of a fitting card in one photograph."""
STEP = 1e-5
"""Step of the difference quotient, in mm and rad."""
LEAST_LINES, BOARD_OFF_PX = 0.4, 0.6
"""Least visible share of a board's lines, and largest median offset of its edges."""


@dataclass(frozen=True, slots=True, eq=False)
class CardPlacement:
    """Cards and board in the frame of the table.

    `corners_mm` (4, 4, 2) are those of each card, clockwise from its own top left. `covariance`
    (12, 12) is of the cards' places: x and y of the middle in mm, heading in rad. `apart_mm` and
    `sigma_mm` are the distances between the middles of two cards and their standard deviations.
    `rms_px` are the residuals of edges, by card. `height_mm` is that of the board's face above the
    cards.
    """

    corners_mm: Array
    covariance: Array
    board: Board
    height_mm: float
    apart_mm: dict[tuple[int, int], float]
    sigma_mm: dict[tuple[int, int], float]
    rms_px: tuple[float, ...]
    frames: int
    lines_seen: float = 0.0

    @property
    def fiducials(self) -> Fiducials:
        """The fiducials in the form of `table.json`."""
        markers = tuple(
            Marker(id=card, corners_mm=_corners(self.corners_mm[card])) for card in CARDS
        )
        rows = tuple(tuple(float(f"{value:.9g}") for value in row) for row in self.covariance)
        return Fiducials(
            markers=markers, dictionary=DICTIONARY, z_mm=0.0 - self.height_mm, covariance=rows
        )


def read_frames(folder: Path, lens: Lens) -> Photographs:
    """All photographs (JPEG or PNG) of a folder by name, decoded on access.

    Raises InputError, also for one whose size is not the lens's.
    """
    if not folder.is_dir():
        raise InputError(msg("--from: expected a folder of photos, got {folder}", folder=folder))
    paths = [
        path
        for path in sorted(folder.iterdir())
        if path.suffix.lower() in SUFFIXES and not path.name.startswith(".")
    ]
    if not paths:
        raise InputError(
            msg(
                "{folder}: expected photos of the corner cards (JPEG or PNG), got none",
                folder=folder,
            )
        )
    for path in paths:
        check_size(str(path), image_size(path), lens)
    return Photographs(paths, lens.orientation)


def check_size(where: str, size_px: tuple[int, int], lens: Lens) -> None:
    """Raise InputError for an image whose size, (width, height), is not the lens's."""
    if size_px != (lens.width, lens.height):
        raise InputError(
            msg(
                "{where}: expected {width} x {height} px, the size that the lens is"
                " calibrated for, got {width2} x {height2} px",
                where=where,
                width=lens.width,
                height=lens.height,
                width2=size_px[0],
                height2=size_px[1],
            )
        )


def place_cards(
    frames: Mapping[str, Image],
    lens: Lens,
    side_mm: float,
    board: Board | None = None,
    height_mm: float = 0.0,
    corners_px: Array | None = None,
    before_mm: Array | None = None,
) -> CardPlacement:
    """Place cards 0 to 3, and a board of known kind whose face is `height_mm` above them.

    `corners_px` (4, 2) are the board's corners in the first photograph, clockwise from the far
    left; with them it is not searched for. Without a board they are those of open ground. With
    neither, the ground lies between the cards' inner corners. The board's origin and axes are the
    table's. Those of open ground are its near left corner, and the direction to the near right one.
    `before_mm` (4, 4, 2) are the cards' earlier corners: the ground's frame stays where most cards
    have it, and the board is searched for near its earlier place. Raises InputError if no
    photograph shows all four cards, something does not fit, or the board is not seen.
    """
    seen = detect_cards(frames)
    known = PriorKnowledge(lens, side_mm, [edge_samples(card, DICTIONARY) for card in CARDS])
    images = ImageSubset(frames, [name for name, _ in seen])
    state, measured, fit = _fit(_start([quads for _, quads in seen], lens, side_mm), images, known)
    rms = _rms_by_card(state, measured, known)
    _check_fit(state, measured, known)
    _check_edges(state, seen, known)
    cards, lines_seen = card_corners(state, side_mm), 0.0
    if corners_px is not None:
        corners_px = _project_to_face(corners_px, state, lens, height_mm)
    near = find_unmoved_cards(before_mm, cards).place if before_mm is not None else None
    if board is not None and (lines := board_edges(board)) is not None:
        known = replace(known, lines=lines, height_mm=height_mm)
        place = _board_place(board, images[0], state, known, corners_px, near)
        state, measured, fit = _fit(np.concatenate([state, place, [0.0]]), images, known)
        lines_seen = _check_board(state, measured, known)
    else:
        board, place = _ground(cards if corners_px is None else corners_px)
        place = place if near is None else near
    covariance = _covariance(np.asarray(fit.jac), rms, measured)
    by_state = _state_jacobian(state, known, place)
    apart, sigma = _distances(state, covariance)
    return CardPlacement(
        np.array(
            [place_points(card, square(side_mm)) for card in _places_on_table(state, known, place)]
        ),
        by_state @ covariance @ by_state.T,
        board,
        height_mm,
        apart,
        sigma,
        tuple(rms),
        len(images),
        lines_seen,
    )


def _board_place(
    board: Board,
    image: Image,
    state: Array,
    known: PriorKnowledge,
    corners: Array | None,
    near: Array | None,
) -> Array:
    """Rough place of a board on the plane of the cards: [x, y, heading].

    It is `near` if its lines are seen there, or between its `corners` (4, 2) on that plane if those
    are given. Otherwise it is searched for.
    """
    assert known.lines is not None, "the board has lines"
    if near is not None and _shows_board(image, np.concatenate([state, near, [0.0]]), known):
        return near
    if corners is not None:
        return _fit_outline(board.outline(), corners)
    face = Face(
        image,
        lambda points: project_plane(points, state, 0, known.lens, known.height_mm),
        card_corners(state, known.side_mm),
    )
    return find_board(face, board, known.lines, near)


def _fit(
    state: Array, images: Sequence[Image], known: PriorKnowledge
) -> tuple[Array, list[MeasuredPhotograph], Any]:
    """The state with the best fit to the edges, which are measured anew in each round."""
    for _ in range(ROUNDS):
        measured = [measure(image, state, frame, known) for frame, image in enumerate(images)]
        fit = least_squares(
            residuals,
            state,
            args=(measured, known),
            loss="huber",
            f_scale=ROBUST_PX,
            x_scale="jac",
            max_nfev=30,
        )
        state = np.asarray(fit.x)
    return state, measured, fit


def _shows_board(image: Image, state: Array, known: PriorKnowledge) -> bool:
    """True if the first photograph shows the board's lines at their predicted place."""
    board = measure(image, state, 0, known).board
    return (
        known.lines is not None
        and board is not None
        and known.lines.share(board.indices) > LEAST_LINES
    )


def _check_edges(state: Array, seen: list[tuple[str, Array]], known: PriorKnowledge) -> None:
    """Raise InputError if a card's edges contradict its detected corners, because of blur."""
    corners = card_corners(state, known.side_mm).reshape(-1, 2)
    for frame, (name, quads) in enumerate(seen):
        wrong = wrong_edges_mask(
            project_plane(corners, state, frame, known.lens), quads.reshape(-1, 2)
        )
        if wrong.any():
            raise InputError(
                msg(
                    "{raw}: expected a sharp photo, but corner card {n} has no"
                    " clear edges; hold the camera still, focus it, and take"
                    " another",
                    raw=name,
                    n=int(np.argmax(wrong)),
                )
            )


def _check_fit(state: Array, measured: list[MeasuredPhotograph], known: PriorKnowledge) -> None:
    """Raise InputError if a card does not fit in some photograph.

    It names the card without which the others fit best. If they do not fit without any one card, it
    names the lens.
    """
    if (off_px := _worst_shift_px(state, measured, known)) <= SHIFTED_PX:
        return
    fits = []
    for card in CARDS:
        rest = [
            MeasuredPhotograph(photo.cards.select(known.owner[photo.cards.indices] != card))
            for photo in measured
        ]
        fit = least_squares(residuals, state, args=(rest, known), x_scale="jac", max_nfev=15)
        fits.append((float(fit.cost), _worst_shift_px(np.asarray(fit.x), rest, known)))
    worst = min(CARDS, key=lambda card: fits[card])
    if fits[worst][1] > SHIFTED_PX:
        raise InputError(
            msg(
                "expected corner cards that fit the lens, but all are up to {mm} px off;"
                " is this the lens of this camera, at this focus?",
                mm=f"{off_px:.2f}",
            )
        )
    raise InputError(
        msg(
            "expected four flat corner cards that lie still; they are {mm} px off,"
            " corner card {n} ({corner}) most; is it bent, raised or moved?",
            mm=f"{off_px:.2f}",
            n=worst,
            corner=NAMES[worst],
        )
    )


def _worst_shift_px(
    state: Array, measured: list[MeasuredPhotograph], known: PriorKnowledge
) -> float:
    """Largest shift of any card in any photograph."""
    owner, off = known.owner, residuals(state, measured, known)
    shifts, start = [0.0], 0
    for one in (photo.cards for photo in measured):
        part = off[start : start + len(one.indices)]
        start += len(one.indices)
        for card in CARDS:
            mine = owner[one.indices] == card
            if mine.sum() > 8:
                normals, apart = one.normals_px[mine], part[mine]
                shifts.append(float(np.linalg.norm(np.linalg.lstsq(normals, apart, rcond=None)[0])))
    return max(shifts)


def _check_board(state: Array, measured: list[MeasuredPhotograph], known: PriorKnowledge) -> float:
    """The visible share of the board's lines.

    Raises InputError if they are not at their predicted places.
    """
    assert known.lines is not None
    start, boards = (
        sum(len(photo.cards.indices) for photo in measured),
        [photo.board for photo in measured if photo.board],
    )
    seen = float(np.mean([known.lines.share(board.indices) for board in boards]))
    if seen < LEAST_LINES:
        raise InputError(
            msg(
                "expected the board's lines where its sizes put them, but only {n}"
                " % are there; check --cell-mm and --thickness-mm; a chessboard's"
                " near left square is dark",
                n=f"{100 * seen:.0f}",
            )
        )
    off_px = known.board_off_px(
        residuals(state, measured, known)[
            start : start + sum(len(board.indices) for board in boards)
        ]
    )
    if off_px > BOARD_OFF_PX:
        raise InputError(
            msg(
                "expected a flat board of these sizes, but its lines are {mm} px off;"
                " check --cell-mm and --thickness-mm",
                mm=f"{off_px:.1f}",
            )
        )
    return seen


def detect_cards(frames: Mapping[str, Image]) -> list[tuple[str, Array]]:
    """Photographs that show all four cards, and their corners (4, 4, 2) px."""
    wanted = Fiducials(
        markers=tuple(
            Marker(id=card, corners_mm=((0, 10), (10, 10), (10, 0), (0, 0))) for card in CARDS
        ),
        dictionary=DICTIONARY,
    )
    found = {name: detect_markers(image, wanted) for name, image in frames.items()}
    for name, detected in found.items():
        if detected.repeated_ids:
            raise InputError(
                msg(
                    "{raw}: expected each corner card once, but corner card {n} is seen twice;"
                    " take one away",
                    raw=name,
                    n=detected.repeated_ids[0],
                )
            )
    seen = [
        (name, np.array([detected.corners_px[card] for card in CARDS]))
        for name, detected in found.items()
        if len(detected.corners_px) == 4
    ]
    if not seen:
        for image in frames.values():
            refuse_mirrored(image, wanted)
        best = max((detected.corners_px for detected in found.values()), key=len, default={})
        missing = [
            phrase("{n} ({corner})", n=card, corner=NAMES[card])
            for card in CARDS
            if card not in best
        ]
        raise InputError(
            msg(
                "expected a photo of all four corner cards, 0 to 3, but none shows"
                " {text} with the others",
                text=in_a_row(missing),
            )
        )
    return seen


def _start(quads: list[Array], lens: Lens, side_mm: float) -> Array:
    """Initial state from detected corners.

    [x, y, heading] of cards 1 to 3 relative to card 0, then pose and spread of each photograph. One
    small card hardly determines its plane, and two solutions are nearly equal. So the solutions of
    all cards are tried, and the one with the best fit to the corners of all photographs is used.
    """
    guesses = [
        _refine_state(_state_with_poses(places, quads, lens, side_mm), quads, lens, side_mm)
        for places in _guesses(quads[0], lens, side_mm)
    ]
    best = min(
        guesses,
        key=lambda guess: float(np.sum(_corner_residuals(guess, quads, lens, side_mm) ** 2)),
    )
    best[PLACES + SPREAD :: FRAME] = 0.0  # corners do not determine the spread
    return best


def _guesses(quad: Array, lens: Lens, side_mm: float) -> list[Array]:
    """Candidate places (9,) of cards 1 to 3 relative to card 0.

    One for each plane that is consistent with a card's corners (4, 4, 2) px.
    """
    local = np.column_stack([square(side_mm), np.zeros(4)])
    rays = undistort(quad.reshape(-1, 2), lens).reshape(-1, 1, 2)
    guesses = []
    for card in CARDS:
        _, turns, shifts, _ = cv2.solvePnPGeneric(
            local, rays[4 * card : 4 * card + 4], np.eye(3), None, flags=cv2.SOLVEPNP_IPPE_SQUARE
        )
        for turn, shift in zip(turns, shifts, strict=True):
            rotation = np.asarray(cv2.Rodrigues(turn)[0])
            plane2ray = np.column_stack(
                [rotation[:, 0], rotation[:, 1], np.asarray(shift).reshape(3)]
            )
            flat = np.asarray(cv2.perspectiveTransform(rays, np.linalg.inv(plane2ray))).reshape(
                4, 4, 2
            )
            across = flat[:, 1] - flat[:, 0]
            headings = np.arctan2(across[:, 1], across[:, 0])
            c, s = np.cos(headings[0]), np.sin(headings[0])
            middles = (flat.mean(axis=1) - flat[0].mean(axis=0)) @ np.array([[c, -s], [s, c]])
            guesses.append(np.column_stack([middles, headings - headings[0]])[1:].reshape(-1))
    return guesses


def _state_with_poses(places: Array, quads: list[Array], lens: Lens, side_mm: float) -> Array:
    """A state with the given places (9,), and the pose of each photograph from its corners."""
    points = np.column_stack([card_corners(places, side_mm).reshape(-1, 2), np.zeros(16)])
    state = [places]
    for quad in quads:
        state.append(np.concatenate([*pose_of(points, quad.reshape(-1, 2), lens), [0.0]]))
    return np.concatenate(state)


def _refine_state(state: Array, quads: list[Array], lens: Lens, side_mm: float) -> Array:
    """The state refined by least squares on all detected corners."""
    return np.asarray(
        least_squares(
            _corner_residuals, state, args=(quads, lens, side_mm), x_scale="jac", max_nfev=60
        ).x
    )


def _corner_residuals(state: Array, quads: list[Array], lens: Lens, side_mm: float) -> Array:
    points = card_corners(state, side_mm).reshape(-1, 2)
    return np.concatenate(
        [
            (project_plane(points, state, frame, lens) - quad.reshape(-1, 2)).ravel()
            for frame, quad in enumerate(quads)
        ]
    )


def _project_to_face(corners_px: Array, state: Array, lens: Lens, height_mm: float) -> Array:
    """Project corners (4, 2) px of the first photograph to the board's face, (4, 2) mm.

    Raises InputError if they are not clockwise.
    """
    rotation, translation = pose(state, 0)
    places = on_plane(
        corners_px, Camera(rotation, translation, np.zeros((6, 6)), 0.0, CARDS), lens, height_mm
    )
    if signed_area(places) >= 0:
        raise InputError(
            msg(
                "--corners-px: expected the board's corners clockwise from the far"
                " left, got another order"
            )
        )
    return places


def _fit_outline(outline: Array, corners: Array) -> Array:
    """The place [x, y, heading] at which a board's outline fits corners (4, 2).

    The outline starts at the near left, the corners at the far left.
    """
    if len(outline) != len(corners):
        raise InputError(
            msg(
                "--corners-px: expected only for boards with four corners; this one has {n}"
                " and must be found automatically",
                n=len(outline),
            )
        )
    near = corners[[3, 2, 1, 0]]
    mean, other = outline.mean(axis=0), near.mean(axis=0)
    (a, b), (c, d) = (outline - mean).T @ (near - other)
    heading = np.arctan2(b - c, a + d)
    return np.array(
        [*(other - place_points(np.array([0.0, 0.0, heading]), mean[None])[0]), heading]
    )


def _ground(corners: Array) -> tuple[Open, Array]:
    """Open ground and its place on the plane.

    It lies between cards (4, 4, 2), or inside four corners (4, 2) from the far left.
    """
    if corners.ndim == 3:
        if signed_area(corners.mean(axis=1)) >= 0:
            raise InputError(
                msg(
                    "expected corner cards 0 to 3 clockwise from the far left, seen from"
                    " above, got another order; put each corner card where its text says"
                )
            )
        corners = _inner_corners(corners)
    way = corners[2] - corners[3]
    place = np.array([*corners[3], np.arctan2(way[1], way[0])])
    outline = _to_local(place, corners)
    return (
        Open(
            outline_mm=tuple(
                (round(float(x), 3), round(float(y), 3)) for x, y in outline[[3, 2, 1, 0]]
            )
        ),
        place,
    )


def _to_local(place: Array, points: Array) -> Array:
    """Points (n, 2) of the plane in the frame of an object; inverse of `place_points`."""
    c, s = np.cos(place[2]), np.sin(place[2])
    return np.asarray((points - place[:2]) @ np.array([[c, -s], [s, c]]))


def _places_on_table(state: Array, known: PriorKnowledge, place: Array) -> Array:
    """Places (4, 3) of the cards [x, y, heading] in the frame of the board, or of a fixed place."""
    there = state[BOARD] if known.lines else place
    cards = np.vstack([np.zeros(3), state[:PLACES].reshape(3, 3)])
    return np.column_stack([_to_local(there, cards[:, :2]), cards[:, 2] - there[2]])


def _state_jacobian(state: Array, known: PriorKnowledge, place: Array) -> Array:
    """Jacobian (12, n) of the cards' places on the table by the state."""
    still, columns = _places_on_table(state, known, place).ravel(), []
    for index in range(len(state)):
        moved = state.copy()
        moved[index] += STEP
        columns.append((_places_on_table(moved, known, place).ravel() - still) / STEP)
    return np.stack(columns, axis=1)


def _rms_by_card(
    state: Array, measured: list[MeasuredPhotograph], known: PriorKnowledge
) -> list[float]:
    cards = np.concatenate([known.owner[photo.cards.indices] for photo in measured])
    off = residuals(state, measured, known)[: len(cards)]
    return [float(np.sqrt(np.mean(off[cards == card] ** 2))) for card in CARDS]


def _covariance(jacobian: Array, rms: list[float], measured: list[MeasuredPhotograph]) -> Array:
    """Covariance (n, n) of the state; edges of one card share an error of FLOOR_PX."""
    each = np.mean([len(photo.cards.indices) for photo in measured]) / len(CARDS)
    variance = float(np.mean(np.square(rms))) + FLOOR_PX**2 * float(each)
    return np.asarray(variance * np.linalg.pinv(jacobian.T @ jacobian, hermitian=True))


def _distances(
    state: Array, covariance: Array
) -> tuple[dict[tuple[int, int], float], dict[tuple[int, int], float]]:
    """Distances between the middles of any two cards, and their standard deviations, in mm."""
    middles = np.vstack([np.zeros(2), state[:PLACES].reshape(3, 3)[:, :2]])
    pairs = list(combinations(CARDS, 2))
    apart = {(a, b): float(np.hypot(*(middles[a] - middles[b]))) for a, b in pairs}
    sigma = {pair: _apart_sigma(middles, covariance[:PLACES, :PLACES], pair) for pair in pairs}
    return apart, sigma


def _apart_sigma(middles: Array, covariance: Array, pair: tuple[int, int]) -> float:
    way = middles[pair[1]] - middles[pair[0]]
    gradient = np.zeros(12)
    gradient[3 * pair[1] : 3 * pair[1] + 2] = way / np.hypot(*way)
    gradient[3 * pair[0] : 3 * pair[0] + 2] = -way / np.hypot(*way)
    return float(np.sqrt(gradient[3:] @ covariance @ gradient[3:]))


def _inner_corners(corners: Array) -> Array:
    """The corner (2,) of each card (4, 4, 2) that is nearest to the mean of all."""
    away = np.linalg.norm(corners - corners.mean(axis=(0, 1)), axis=2)
    return np.asarray(corners[np.arange(4), away.argmin(axis=1)])


def _corners(corners: Array) -> tuple[Point, Point, Point, Point]:
    a, b, c, d = ((round(float(x), 3), round(float(y), 3)) for x, y in corners)
    return a, b, c, d
