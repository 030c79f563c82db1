"""Read a table: detect, estimate keypoints, align with edges, and apply the game's inventory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import cv2
import numpy as np
from numpy.typing import NDArray

from table.boards import Tiles, within
from table.observation import SURE, SeenCounter
from table.pieces import PieceSize
from table.solids import POSES, Array, Pose
from table.table_config import Setup
from vision.assignment.colour import bare_ground, estimate_colours
from vision.assignment.inventory import (
    apply_piece_inventory,
    doubt_for_missing_colours,
    put_surplus_last,
    with_one_target,
)
from vision.assignment.overlaps import split_overlaps
from vision.background.background_model import (
    EmptyTable,
    changed_patches,
    detect_changes,
    empty_table,
    pieces_explaining_changes,
    weigh_by_change,
    without_unchanged,
)
from vision.background.residuals import RIM_CELLS, hand_is_over, unexplained_places, unread_places
from vision.boards.counter_cells import correct_by_cells
from vision.boards.counters import counters
from vision.boards.tiles import tiles_present
from vision.cameras.frame import Frame
from vision.dice.cover_dice import dice_beside_pieces, find_dice, seen_die, without_dice
from vision.dice.cube_fit import Cube
from vision.geometry.camera_model import outline_px
from vision.geometry.piece_pose import project_to_table, silhouette
from vision.geometry.rectified_view import Photo
from vision.localization.camera_tracker import StillCamera
from vision.networks.detector import Detection, Detections, search, view_of
from vision.networks.keypoints import (
    BASE_PX,
    BLURRED,
    QUARTERS,
    UNCLEAR,
    WORTH_ANOTHER,
    Crop,
    KeypointEstimate,
    crop_along,
    crop_of,
    crops_for_pose,
    estimate_from_all_sides,
    estimate_keypoints,
    estimate_keypoints_twice,
)
from vision.pose.candidates import (
    SURE_CHANCE,
    Candidate,
    Neighbourhood,
    PieceEstimate,
    PoseHypothesis,
    align_all,
    fit_candidates,
    raise_where_verified,
    with_all_readings,
    without_duplicates,
)
from vision.pose.pose_search import lying_piece_at
from vision.pose.priors import habit_of, has_dominant_pose, usually_lie
from vision.results import Reading, TableReading

AROUND_BOARD = 1.05
"""Size, relative to the board's, of the area in which a die at its edge is visible."""
FIT_ODDS, SHARE_RIGHT = (-9.0, -4.5, -1.5, 1.0), (0.15, 0.5, 0.85, 1.0)
"""Share of correct readings, interpolated over the verification's weighted log odds."""
FOREIGN_COLOUR = 12.0
"""Colour distance, a mean of squared sigmas, above which an object has none of the table's colours.
It is reported as unread.
"""
UNLIKELY = 0.25
"""Probability of a piece in its pose below which a reading in the play area is reported as unread.
"""
MOVED_PX = 0.3
"""Shift of the board's corners above which a camera has moved."""


class TableReader:
    """Reads pieces, counters and tiles on any board, one photograph after the other.

    `reference` is the same table without pieces, if there is an image of it. Unmoved pieces, seen
    by an unmoved camera, are not measured again. The result equals that of the photograph alone, up
    to image noise. `camera` locates the camera of the photographs.

    With `every_colour` each colour of the table is expected to show, as on a photograph during
    play. At the beginning of a game some colours do not show.
    """

    def __init__(self, *, every_colour: bool = False) -> None:
        self.camera = StillCamera()
        self._every_colour = every_colour
        self._last: _PreviousFrame | None = None
        self._empty: tuple[Frame, Setup, EmptyTable | None] | None = None

    def __call__(self, photo: Photo, reference: Frame | None = None) -> TableReading:
        """Everything on the table in a photograph."""
        setup = photo.setup
        last = self._last if self._last is not None and self._last.shows_same_view(photo) else None
        detections = seen = search(view_of(photo), setup.colours, last.detections if last else None)
        if (empty := self._empty_table(reference, photo)) is not None:
            detections = without_unchanged(detections, empty)
        dice = None
        if setup.cover_dice is not None and empty is not None:
            dice = (
                last.dice
                if last and last.dice is not None and last.board_is_still(detections)
                else find_dice(photo, setup.cover_dice, detections, empty)
            )
        detections = without_dice(detections, dice or [], photo)
        still = last.still(detections) if last else []
        known = last.estimates if last else {}
        candidates = propose_candidates(detections, photo, still)
        sure = [one for one in candidates if one.chance > SURE_CHANCE]
        aligned = align_all(sure, photo, known)
        if aligned.keys() - known.keys():
            bare = bare_ground(detections, [estimate.best for estimate in aligned.values()], photo)
            aligned = {
                neighbourhood: estimate
                if neighbourhood in known
                else estimate_colours(estimate, bare, detections, photo)
                for neighbourhood, estimate in aligned.items()
            }
        possible, impossible = _without_overlaps(list(aligned.values()), setup)
        estimates, beyond = apply_piece_inventory(possible, photo)
        if setup.game.target is not None:
            estimates = with_one_target(estimates, photo)
        if self._every_colour:
            estimates = doubt_for_missing_colours(estimates, setup)
        foreign = [one for one in estimates if one.colour_distance > FOREIGN_COLOUR]
        estimates = [one for one in estimates if one.colour_distance <= FOREIGN_COLOUR]
        pieces = [estimate.best for estimate in estimates]
        discs = counters(detections, photo, last.counters if last else ())
        discs = correct_by_cells(discs, pieces, detections.view, photo)
        self._last = _PreviousFrame(
            last.photo if last else photo, seen, candidates, aligned, dice, discs
        )
        tiles = tiles_present(photo, pieces, detections) if isinstance(setup.board, Tiles) else None
        doubtful = [one.best for one in candidates if one.chance <= SURE_CHANCE]
        unexplained = unexplained_places(
            detections,
            [*pieces, *(estimate.best for estimate in (*beyond, *foreign, *impossible))],
            photo,
            RIM_CELLS,
        )
        every = [_reading(estimate) for estimate in estimates]
        readings = [one for one in every if not _is_unlikely(one, setup)]
        others_mm = [estimate.middle_mm for estimate in (*beyond, *foreign)]
        others_mm += [one.guess.middle_mm for one in every if _is_unlikely(one, setup)]
        left = (*unread_places(unexplained, doubtful, pieces, photo), *others_mm)
        lie = [one.guess.solid for one in readings if one.probability >= SURE]
        rolled = None if dice is None else tuple(map(seen_die, dice_beside_pieces(dice, lie)))
        return TableReading(readings, discs, hand_is_over(detections, setup), left, tiles, rolled)

    def _empty_table(self, reference: Frame | None, photo: Photo) -> EmptyTable | None:
        """The empty table, computed once: its image stays the same during a game."""
        if reference is None:
            return None
        if self._empty is None or self._empty[0] is not reference or self._empty[1] != photo.setup:
            self._empty = reference, photo.setup, empty_table(reference, photo)
        return self._empty[2]


@dataclass(frozen=True, slots=True, eq=False)
class _PreviousFrame:
    """Detections and measurements of the last photograph."""

    photo: Photo
    detections: Detections
    candidates: list[Candidate]
    estimates: dict[Neighbourhood, PieceEstimate]
    dice: list[Cube] | None
    counters: tuple[SeenCounter, ...]

    def shows_same_view(self, photo: Photo) -> bool:
        """True if a photograph shows the same table from the same pose."""
        if photo.setup != self.photo.setup or photo.image.shape != self.photo.image.shape:
            return False
        moved_px = np.abs(
            outline_px(photo.camera, photo.setup) - outline_px(self.photo.camera, photo.setup)
        ).max()
        return bool(moved_px < MOVED_PX)

    def board_is_still(self, detections: Detections) -> bool:
        """True if nothing has changed on the board, or beside it as far as a die may reach."""
        outline = self.photo.setup.outline_mm()
        middle = outline.mean(axis=0)
        return not _is_set_within(
            detections.fresh, detections.view.pixels(middle + AROUND_BOARD * (outline - middle))
        )

    def still(self, detections: Detections) -> list[Candidate]:
        """The pieces around which nothing has changed.

        If nothing has changed at all, doubtful pieces are left out and read again, because another
        image has different noise.
        """
        eye, mask = self.photo.camera.eye_mm, detections.fresh
        if not mask.any():
            doubtful = [
                neighbourhood[0]
                for neighbourhood, estimate in self.estimates.items()
                if _reading(estimate).probability < SURE
            ]
            return [one for one in self.candidates if one not in doubtful]
        return [
            one
            for one in self.candidates
            if not _is_set_within(mask, detections.view.pixels(silhouette(one.best.solid, eye)))
        ]


def _is_set_within(mask: NDArray[np.bool_], outline_px: Array) -> bool:
    """True if the mask is set anywhere in a convex outline (n, 2)."""
    corners = np.rint(outline_px).astype(np.int32)
    left, top = np.maximum(corners.min(axis=0), 0)
    right, bottom = np.maximum(corners.max(axis=0) + 1, 0)
    part = mask[top:bottom, left:right]
    inside = np.zeros(part.shape, np.uint8)
    cv2.fillPoly(inside, [corners - np.array([left, top], np.int32)], 1)
    return bool(part[inside > 0].any())


def _is_set(mask: NDArray[np.uint8], pixel: Array) -> bool:
    """True if the mask is set at a pixel (2,); false outside of it."""
    column, row = (int(value) for value in np.rint(pixel))
    return 0 <= row < mask.shape[0] and 0 <= column < mask.shape[1] and bool(mask[row, column])


def propose_candidates(
    detections: Detections, photo: Photo, still: Sequence[Candidate] = ()
) -> list[Candidate]:
    """Pieces from detections and from unexplained parts of the piece mask, the most certain first.

    Places of pieces known to be `still` are not searched.
    """
    setup, habit = photo.setup, habit_of(photo.setup).poses
    taken = np.zeros(detections.view.code.shape[:2], bool)
    for one in still:
        taken |= detections.view.inside(silhouette(one.best.solid, photo.camera.eye_mm))
    found = [
        one
        for one in detections.objects
        if not one.is_disc and not _is_set(taken, detections.view.pixels(one.middle_mm[None])[0])
    ]
    keypoints = _estimate_detections(found, habit, detections, photo)
    candidates = _reexamine_blurred(
        without_duplicates(fit_candidates(keypoints, habit, photo, detections), still),
        still,
        photo,
        detections,
    )
    candidates = weigh_by_change(candidates, still, detections, photo)
    if (alone := detect_changes(candidates, detections, photo)) is not None:
        keypoints = _estimate_detections(alone.objects, habit, detections, photo)
        if usually_lie(setup) and _colours_on_board(candidates, setup) < len(setup.colours):
            keypoints += _estimate_lying(changed_patches(alone, photo), detections, photo)
        new = pieces_explaining_changes(
            fit_candidates(keypoints, habit, photo, alone), alone, detections, photo
        )
        more = without_duplicates(new, candidates)
        candidates = weigh_by_change(
            _reexamine_blurred(more, candidates, photo, alone), candidates, detections, photo
        )
    left = unexplained_places(
        detections, [one.best for one in candidates if one.chance > SURE_CHANCE], photo
    )
    if len(left):
        keypoints = _estimate_leftovers(detections.view.pixels(left), detections, photo)
        more = without_duplicates(fit_candidates(keypoints, habit, photo, detections), candidates)
        candidates = weigh_by_change(
            _reexamine_blurred(more, candidates, photo, detections), candidates, detections, photo
        )
    ranked = put_surplus_last(raise_where_verified(candidates, still, photo), photo)
    return [
        with_all_readings(one, habit, photo)
        if one.keypoints.blur > UNCLEAR and one not in still
        else one
        for one in ranked
    ]


def _estimate_detections(
    found: Sequence[Detection], habit: Array, detections: Detections, photo: Photo
) -> list[KeypointEstimate]:
    """Keypoints of the detections.

    If nearly all pieces of the game have one pose, keypoints are also estimated with crops for it.
    """
    colours = photo.setup.colours
    keypoints = estimate_keypoints_twice(
        [crop_of(one, detections.view) for one in found], detections.view, colours
    )
    if has_dominant_pose(photo.setup):
        usual = POSES[int(habit.argmax())]
        unusual = [
            one
            for one in keypoints
            if one.presence > WORTH_ANOTHER and POSES[int(one.poses.argmax())] != usual
        ]
        keypoints += estimate_keypoints(
            [cut for one in unusual for cut in crops_for_pose(usual, one, detections.view)],
            detections.view,
            colours,
        )
    return keypoints


def _estimate_leftovers(
    places_px: Array, detections: Detections, photo: Photo
) -> list[KeypointEstimate]:
    """Keypoints at places (n, 2) px of the view, with crops in every quarter turn."""
    setup = photo.setup
    base_mm = float(np.mean([size.base_mm for size in setup.sizes]))
    zoom = base_mm / detections.view.step_mm / BASE_PX
    crops = [Crop(place, quarter, zoom) for place in places_px for quarter in QUARTERS]
    return estimate_keypoints_twice(crops, detections.view, setup.colours)


def _colours_on_board(candidates: list[Candidate], setup: Setup) -> int:
    """Number of colours of confident pieces."""
    return len(
        {
            int(one.keypoints.colours.argmax())
            for one in candidates
            if one.chance >= SURE and within(setup.outline_mm(), one.best.middle_mm)
        }
    )


def _estimate_lying(
    middles_mm: list[Array], detections: Detections, photo: Photo
) -> list[KeypointEstimate]:
    """Keypoints of pieces that fit near places (2,), with crops for lying pieces.

    With other crops a printed square would be taken for a base.
    """
    lie = [
        guess for middle_mm in middles_mm if (guess := lying_piece_at(middle_mm, photo)) is not None
    ]
    cuts = [
        crop_along(
            project_to_table(guess.solid.vertices_mm, photo.camera.eye_mm),
            guess.size.base_mm,
            detections.view,
        )
        for guess in lie
    ]
    return estimate_keypoints(cuts, detections.view, photo.setup.colours)


def _reexamine_blurred(
    candidates: list[Candidate], known: Sequence[Candidate], photo: Photo, detections: Detections
) -> list[Candidate]:
    """The pieces; uncertain ones that are not `known` are examined from all sides."""
    accepted = [one for one in candidates if one.keypoints.blur <= BLURRED or one in known]
    clearer = []
    for one in (one for one in candidates if one not in accepted):
        keypoints = estimate_from_all_sides(one.keypoints, detections.view, photo.setup.colours)
        again = fit_candidates([keypoints], habit_of(photo.setup).poses, photo, detections)
        clearer += again if again and again[0].chance > SURE_CHANCE else [one]
    return without_duplicates(clearer, accepted) if clearer else candidates


def _without_overlaps(
    estimates: list[PieceEstimate], setup: Setup
) -> tuple[list[PieceEstimate], list[PieceEstimate]]:
    """Estimates that can coexist, and those that overlap a likelier one.

    If a colour has only one piece, the inventory chooses among its readings.
    """
    if habit_of(setup).most == 1:
        return estimates, []
    return split_overlaps(estimates, [_existence(one) for one in estimates])


def _reading(estimate: PieceEstimate) -> Reading:
    """The most probable reading of an estimate.

    Its uncertainty includes that between the readings: place, identity and existence.
    """
    best, weights = estimate.hypotheses[0], _weights(estimate)
    covariance = best.covariance[:3, :3].copy()
    for one, weight in zip(estimate.hypotheses, weights, strict=True):
        away = one.guess.away_from(best.guess)
        covariance += weight * np.outer(away, away)
    there = _existence(estimate)
    first, *rivals = (
        Reading(
            one.guess,
            one.covariance[:3, :3],
            there * _share(estimate, weights, one, _pose_and_height),
            _share(estimate, weights, one, _size),
            estimate.colours,
        )
        for one, weight in zip(estimate.hypotheses, weights, strict=True)
        if one is best or weight >= 1 - SURE
    )
    under = None if estimate.under is None else _reading(estimate.under)
    return replace(
        first, covariance=covariance, under=under, rivals=tuple(rivals), if_right=first.covariance
    )


def _weights(estimate: PieceEstimate) -> Array:
    """Probabilities (n,) of an estimate's readings, given that there is a piece."""
    best = estimate.hypotheses[0]
    weights = np.exp([min(one.evidence - best.evidence, 0.0) for one in estimate.hypotheses])
    return np.asarray(weights / weights.sum())


def _is_unlikely(reading: Reading, setup: Setup) -> bool:
    """True if a reading in the play area is much likelier wrong than right.

    Beside the play area, where pieces are in no game, a doubtful piece is reported as a piece.
    """
    return reading.probability < UNLIKELY and within(setup.outline_mm(), reading.guess.middle_mm)


def _existence(estimate: PieceEstimate) -> float:
    """Probability that there is a piece, from the fit of its most probable reading."""
    fit = estimate.hypotheses[0].fit
    return estimate.chance * (1.0 if fit is None else float(np.interp(fit, FIT_ODDS, SHARE_RIGHT)))


def _share(
    estimate: PieceEstimate,
    weights: Array,
    one: PoseHypothesis,
    of: Callable[[PoseHypothesis], object],
) -> float:
    """Total weight of the readings of an estimate that share a property with one of them."""
    return float(weights[[of(other) == of(one) for other in estimate.hypotheses]].sum())


def _pose_and_height(one: PoseHypothesis) -> tuple[Pose, float]:
    return one.guess.pose, one.guess.z_mm


def _size(one: PoseHypothesis) -> PieceSize:
    return one.guess.size
