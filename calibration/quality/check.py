"""Measure the accuracy of a calibrated table.

Its measures are fiducials located from the others, a distance between two cards, pieces at known
places, and repeated images of the still table.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import cv2
import msgspec
import numpy as np

from calibration.quality.error_model import Errors
from table.boards import Point
from table.errors import InputError
from table.messages import msg, phrase
from table.observation import Camera, Observation, SeenPiece
from table.solids import Array
from table.table_config import Fiducials, Marker, Setup
from vision.cameras.frame import Frame, Image
from vision.geometry.camera_model import mm_per_pixel, on_plane
from vision.localization.fiducials import locate
from vision.localization.fiducials_seen import expect_every_fiducial
from vision.localization.markers import detect_markers
from vision.observe import observe

CORNER_PX = 0.07
"""Standard deviation of a detected fiducial corner in good light."""
CORNER_REACH = 0.08
"""Half the search window of a corner, as a share of the fiducial's side."""
BY_HAND_MM = 0.25
"""Standard deviation of a length measured with a ruler, or of a piece placed by hand."""
NEAR_MM = 15.0
"""Largest distance between a piece and its stated place."""


@dataclass(frozen=True, slots=True, eq=False)
class StillImage:
    """One image of the still table, and its observation."""

    name: str
    image: Image
    seen: Observation


@dataclass(frozen=True, slots=True)
class Residual:
    """Error of a known place or length, and its predicted standard deviation.

    `off_mm` is the error, `sigma_mm` its predicted standard deviation in each of `freedom`
    directions.
    """

    off_mm: float
    sigma_mm: float
    freedom: int

    @property
    def squared(self) -> float:
        """Square of the error in sigmas; its expectation is `freedom`."""
        return (self.off_mm / self.sigma_mm) ** 2


@dataclass(frozen=True, slots=True)
class Distance:
    """A distance between the middles of two cards: measured by hand, and seen.

    `sigma_mm` is the standard deviation of the seen distance.
    """

    cards: tuple[int, int]
    given_mm: float
    seen_mm: float
    sigma_mm: float

    @property
    def residual(self) -> Residual:
        """The seen distance compared with that measured by hand."""
        return Residual(
            abs(self.seen_mm - self.given_mm), float(np.hypot(self.sigma_mm, BY_HAND_MM)), 1
        )


@dataclass(frozen=True, slots=True)
class Repeatability:
    """Repeatability: standard deviation of a coordinate between images of a still table.

    `pieces` and `pictures` are the numbers of pieces and images.
    """

    sigma_mm: float
    pieces: int
    pictures: int


def read_still(name: str, image: Image, setup: Setup) -> StillImage:
    """Read an image; raises InputError if it is not usable for a check."""
    seen = observe(Frame(0, 0, image), setup)
    if not isinstance(seen, Observation):
        raise InputError(msg("{name}: {text}", name=name, text=seen.reason))
    try:
        expect_every_fiducial(seen.camera, setup)
    except InputError as error:
        raise InputError(msg("{name}: {text}", name=name, text=error.message)) from error
    if seen.hand:
        raise InputError(
            msg(
                "{name}: expected a table at rest, but a hand or an arm is over the"
                " board; take it again",
                name=name,
            )
        )
    return StillImage(name, image, seen)


def fiducial_residuals(stills: Sequence[StillImage], errors: Errors) -> dict[int, Residual]:
    """Error of each fiducial, by its number, with the camera located by the others.

    Mean over all images; the truth is table.json. Empty if there are fewer than three fiducials.
    """
    setup = errors.setup
    markers = setup.fiducials.markers
    residuals = {}
    for marker in markers if len(markers) >= 3 else ():
        others = tuple(other for other in markers if other is not marker)
        without = msgspec.structs.replace(
            setup, fiducials=msgspec.structs.replace(setup.fiducials, markers=others)
        )
        true = np.mean(marker.corners_mm, axis=0)
        found = [
            (still.image, camera)
            for still in stills
            if isinstance(camera := locate(still.image, without), Camera)
        ]
        if not found:
            continue
        away = [_middles(image, (marker.id,), camera, setup)[0] - true for image, camera in found]
        camera = found[0][1]
        known = Errors(camera, without)
        (shared,) = known.shared(true[None], setup.fiducials.z_mm)
        variance = float((shared**2).sum()) / 2 + _own_variance(camera, marker, setup)
        residuals[marker.id] = Residual(
            float(np.hypot(*np.mean(away, axis=0))), float(np.sqrt(variance)), 2
        )
    return residuals


def card_distance(
    stills: Sequence[StillImage], cards: tuple[int, int], given_mm: float, errors: Errors
) -> Distance:
    """The distance between the middles of two cards on the table, mean over all images.

    Raises InputError if one is not seen.
    """
    setup = errors.setup
    ends = np.array(
        [_middles(still.image, cards, still.seen.camera, setup, still.name) for still in stills]
    ).mean(axis=0)
    along = ends[1] - ends[0]
    seen_mm = float(np.hypot(*along))
    one, other = errors.shared(ends, setup.fiducials.z_mm)
    variance = float((((one - other).T @ along / seen_mm) ** 2).sum())
    marker = setup.fiducials.markers[0]
    variance += 2 * _own_variance(stills[0].seen.camera, marker, setup)
    return Distance(cards, given_mm, seen_mm, float(np.sqrt(variance)))


def _own_variance(camera: Camera, marker: Marker, setup: Setup) -> float:
    """Variance, mm2, of a coordinate of a fiducial's middle, from its four corners."""
    return (
        CORNER_PX * mm_per_pixel(camera, setup.camera, np.mean(marker.corners_mm, axis=0))
    ) ** 2 / 4


def _middles(
    image: Image, ids: tuple[int, ...], camera: Camera, setup: Setup, name: str = ""
) -> Array:
    """Middles (n, 2) mm of fiducials by their corners, in the plane of the table's fiducials.

    Raises InputError if one is not seen, or seen twice.
    """
    dictionary = setup.fiducials.dictionary
    wanted = Fiducials(
        markers=tuple(Marker(id=id_, corners_mm=((0, 9), (9, 9), (9, 0), (0, 0))) for id_ in ids),
        dictionary=dictionary,
    )
    found, grey = detect_markers(image, wanted), cv2.cvtColor(image, cv2.COLOR_RGB2GRAY)
    middles = []
    for id_ in ids:
        if id_ in found.repeated_ids:
            raise InputError(
                msg(
                    "{name}: {text}",
                    name=name,
                    text=phrase(
                        "expected each marker once, but marker {n} is seen twice; take one away",
                        n=id_,
                    ),
                )
            )
        if id_ not in found.corners_px:
            raise InputError(
                msg(
                    "{name}: expected to see marker {n} ({raw}), but it is not in the"
                    " picture, or it is covered or too dark",
                    name=name,
                    n=id_,
                    raw=dictionary,
                )
            )
        corners = np.ascontiguousarray(found.corners_px[id_], np.float32).reshape(-1, 1, 2)
        reach = max(2, round(CORNER_REACH * float(np.hypot(*(corners[1, 0] - corners[0, 0])))))
        stop = (cv2.TERM_CRITERIA_EPS + cv2.TERM_CRITERIA_COUNT, 40, 1e-3)
        exact = np.asarray(
            cv2.cornerSubPix(grey, corners, (reach, reach), (-1, -1), stop), float
        ).reshape(4, 2)
        middles.append(on_plane(exact, camera, setup.camera, setup.fiducials.z_mm).mean(axis=0))
    return np.array(middles)


def piece_residuals(
    stills: Sequence[StillImage], places_mm: Sequence[Point]
) -> dict[Point, Residual]:
    """Distance of pieces from where they were placed, by that place, mean over all images.

    Raises InputError if no piece stands there.
    """
    residuals = {}
    for x, y in places_mm:
        away, sigmas = [], []
        for still in stills:
            near = min(
                still.seen.pieces,
                key=lambda one: float(np.hypot(*(one.base_mm - (x, y)))),
                default=None,
            )
            if near is None or np.hypot(*(near.base_mm - (x, y))) > NEAR_MM:
                nearest = (
                    phrase("there is none")
                    if near is None
                    else phrase("the nearest is {text}", text=near)
                )
                raise InputError(
                    msg(
                        "{name}: expected a piece with its base at ({mm}, {mm2}) mm, but {text}",
                        name=still.name,
                        mm=f"{x:g}",
                        mm2=f"{y:g}",
                        text=nearest,
                    )
                )
            away.append(near.base_mm - (x, y))
            sigmas.append(np.sqrt(np.trace(near.covariance[:2, :2]) / 2 + BY_HAND_MM**2))
        residuals[x, y] = Residual(
            float(np.hypot(*np.mean(away, axis=0))), float(np.mean(sigmas)), 2
        )
    return residuals


def repeatability(stills: Sequence[StillImage], setup: Setup) -> Repeatability | None:
    """Repeatability of piece positions between images of the same still table.

    None for fewer than two images, or if no piece is in all of them.
    """
    if len(stills) < 2:
        return None
    places = [
        found
        for piece in stills[0].seen.pieces
        if (found := _places_in_all(piece, stills, setup)) is not None
    ]
    if not places:
        return None
    away = np.concatenate([np.array(found) - np.mean(found, axis=0) for found in places])
    freedom = 2 * len(places) * (len(stills) - 1)
    return Repeatability(float(np.sqrt((away**2).sum() / freedom)), len(places), len(stills))


def _places_in_all(
    piece: SeenPiece, stills: Sequence[StillImage], setup: Setup
) -> list[Array] | None:
    """The piece's places in all images; None if it is missing in one."""
    places = []
    for still in stills:
        same = [
            one
            for one in still.seen.pieces
            if (one.colour, one.size, one.pose) == (piece.colour, piece.size, piece.pose)
        ]
        near = min(
            same, key=lambda one: float(np.hypot(*(one.base_mm - piece.base_mm))), default=None
        )
        if (
            near is None
            or np.hypot(*(near.base_mm - piece.base_mm)) > setup.pieces[piece.size].base_mm / 2
        ):
            return None
        places.append(near.base_mm)
    return places


def birge_ratio(residuals: Collection[Residual]) -> float | None:
    """Birge ratio: ratio of errors to their prediction; None if there are no measurements."""
    freedom = sum(one.freedom for one in residuals)
    return float(np.sqrt(sum(one.squared for one in residuals) / freedom)) if freedom else None
