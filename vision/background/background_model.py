"""Compare with an image of the empty table: a piece changes what it covers."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from table.boards import within
from table.observation import Camera
from table.solids import Array
from vision.assignment.colour import bodies_of
from vision.background.residuals import least_patch_mm2
from vision.background.shadows import cast_shadow_mask
from vision.cameras.frame import Frame, Image
from vision.geometry.change_mask import changed_pixels, shadow_mask
from vision.geometry.piece_pose import silhouette
from vision.geometry.rectified_view import Photo
from vision.localization.fiducials import locate
from vision.networks.detector import Detection, Detections, light_of, search, view_of
from vision.pose.candidates import LEAST_CHANCE, SURE_CHANCE, Candidate

SIGMAS = 4.0
"""A pixel has changed if it differs from the rest by this many standard deviations."""
CHANGED_SHARE = 0.08
"""Least share of its area that a piece changes."""

CHANGED_ODDS, LEAST_DOUBT = 3.0, 1e-6
"""Log odds for a piece if all of its area has changed (0 if half has), and the least doubt that is
left.
"""

SHADOW_ODDS = 6.0
"""Log odds against a piece if all change in its area may be a shadow.

On ground of the piece's own hue, only areas where other pieces cast shadows count.
"""
DARK_LEVEL, MAY_BE_SHADED = 140, ("grey", "clear")
"""Brightest level, of 255 for white paper, of black plastic, which has no hue but the ground's.
Colours of pieces that may look like any shadow.
"""

OWN_HUE = 0.12
"""Largest difference between the shares of red, green and blue in a piece's body colour and in
shaded ground at which the ground has the piece's own hue.

A shadow on such ground looks like the piece.
"""

MIDDLE_SHARE = 0.35
"""Least share of changed pixels within half a base of the middle of a piece that was found only by
`detect_changes`.
"""
LEAST_LEFT, MOSTLY = 0.5, 0.9
"""For such a piece, least share of its area with unexplained change, and least share of its changed
area that is unexplained.
"""
BLOTTED = np.uint8(110)
"""Grey level of masked areas."""
AROUND, GAPS = np.ones((3, 3), np.uint8), np.ones((5, 5), np.uint8)
"""Neighbourhoods: spots smaller than the first are dropped, and gaps smaller than the second
closed.
"""


@dataclass(frozen=True, slots=True, eq=False)
class EmptyTable:
    """The image of the empty table, and its rectified view.

    `code` (h, w, 3) is rectified like `Detections.view`, relative to white paper; `discs` is print
    that is detected as discs.
    """

    photo: Photo
    code: Image
    discs: tuple[Detection, ...] = ()


def empty_table(reference: Frame | None, photo: Photo) -> EmptyTable | None:
    """The empty table as `photo` would show it.

    None if there is no reference of this size, or its camera is not located.
    """
    if reference is None or reference.image.shape != photo.image.shape:
        return None
    camera = locate(reference.image, photo.setup)
    if not isinstance(camera, Camera):
        return None
    bare = replace(photo, image=reference.image, camera=camera)
    view = view_of(bare)
    found = (
        search(view, photo.setup.colours).objects if photo.setup.game.counters is not None else ()
    )
    return EmptyTable(bare, view.code, tuple(one for one in found if one.is_disc))


def without_unchanged(detections: Detections, empty: EmptyTable) -> Detections:
    """Detections without objects and arms that the empty table shows too."""
    mask = changed_pixels(detections.view.code, empty.code, SIGMAS)
    cells = (
        cv2.resize(
            mask.astype(np.float32), detections.pieces.shape[::-1], interpolation=cv2.INTER_AREA
        )
        > CHANGED_SHARE
    )
    found = tuple(
        one
        for one in detections.objects
        if _is_changed(one, mask, detections) or _is_new_disc(one, empty)
    )
    return replace(
        detections,
        objects=found,
        pieces=detections.pieces & cells,
        arms=detections.arms & cells,
        changed=mask,
        shaded=shadow_mask(detections.view.code, empty.code),
    )


def weigh_by_change(
    candidates: list[Candidate], known: Collection[Candidate], detections: Detections, photo: Photo
) -> list[Candidate]:
    """Update the probability of pieces that are not `known` by the changed share of their area.

    Change that a more certain piece, a disc or an arm covers does not count. Change that may be a
    shadow, where a piece of its colour would look different, does not count for the piece. It
    counts against the piece if there is no other change (on ground of its own hue only where other
    pieces cast shadows). Pieces that are no longer probable are dropped. With cover dice,
    probabilities stay unchanged, because an undetected die changes the table too.
    """
    if detections.changed is None or photo.setup.cover_dice is not None:
        return candidates
    left = _without_arms_and_discs(detections.changed, detections)
    sure = [one for one in candidates if one.chance > SURE_CHANCE]
    surer: dict[Candidate, Candidate] = {}
    for one in sorted(candidates, key=lambda one: -one.chance):
        here = _piece_mask(one, detections, photo)
        speaks = _change_log_odds(one, left, here, sure, detections, photo)
        left[here] = 0
        odds = one.chance / max(1 - one.chance, LEAST_DOUBT) * np.exp(speaks)
        beside = not within(photo.setup.outline_mm(), one.best.middle_mm)
        surer[one] = (
            one if one in known or beside else replace(one, chance=float(odds / (1 + odds)))
        )
    return [surer[one] for one in candidates if one in known or surer[one].chance > LEAST_CHANCE]


def _change_log_odds(
    one: Candidate,
    left: NDArray[np.uint8],
    here: NDArray[np.bool_],
    sure: Sequence[Candidate],
    detections: Detections,
    photo: Photo,
) -> float:
    """Log odds that the unexplained changes `left` (h, w) give a piece with the area `here` (h, w).

    `sure` pieces cast shadows.
    """
    assert detections.shaded is not None
    changes = left[here] > 0
    if not changes.any():
        return 0.0
    shade = changes & detections.shaded[here]
    light = shade & (detections.view.code[here].max(axis=1) > DARK_LEVEL)
    hues = _hues(shade, here, detections, photo)
    chances = dict(zip(photo.setup.colours, map(float, one.keypoints.colours), strict=True))
    black, own = (
        chances.get("black", 0.0),
        sum(chance for name, chance in chances.items() if name in hues),
    )
    other = sum(
        chance for name, chance in chances.items() if name not in (*hues, *MAY_BE_SHADED, "black")
    )
    shadowy = _share_beyond_half(
        ((own + other) * shade.sum() + black * light.sum()) / changes.sum()
    )
    if not shadowy:
        return CHANGED_ODDS * _share_beyond_half(changes.mean())
    others = [other.best.solid for other in sure if other is not one]
    thrown = shade & cast_shadow_mask(others, photo.setup.outline_mm(), here, detections)[here]
    shadow = other * shade.sum() + own * thrown.sum() + black * light.sum()
    return (1 - shadowy) * CHANGED_ODDS * _share_beyond_half(
        changes.mean()
    ) - SHADOW_ODDS * _share_beyond_half(shadow / changes.sum())


def _hues(
    shade: NDArray[np.bool_], here: NDArray[np.bool_], detections: Detections, photo: Photo
) -> set[str]:
    """Colours that have the hue of the shaded ground: in `here` (h, w), the pixels `shade` (n,).

    Without black and colours that may look like any shadow.
    """
    if not shade.any():
        return set()
    mean = light_of(detections.view.code[here][shade]).mean(axis=0)
    bodies = zip(photo.setup.colours, bodies_of(photo.setup), strict=True)
    return {
        name
        for name, body in bodies
        if name not in (*MAY_BE_SHADED, "black")
        and np.abs(mean / mean.sum() - body.light / body.light.sum()).max() < OWN_HUE
    }


def _share_beyond_half(share: float) -> float:
    """Map a share of 0.5 or less to 0, and 1 to 1, linearly."""
    return max(0.0, 2 * float(share) - 1)


def detect_changes(
    candidates: list[Candidate], detections: Detections, photo: Photo
) -> Detections | None:
    """Run the detector with everything masked that has not changed.

    This shows pieces on ground of their own colour. None if all changes as large as a piece on the
    board are explained by confident pieces, discs or arms. `changed` of the result are the
    unexplained changes.
    """
    if detections.changed is None:
        return None
    left = _without_arms_and_discs(detections.changed, detections)
    for one in candidates:
        if one.chance > SURE_CHANCE:
            left[_piece_mask(one, detections, photo)] = 0
    left = np.asarray(
        cv2.morphologyEx(
            left & detections.view.inside(photo.setup.outline_mm()), cv2.MORPH_OPEN, AROUND
        ),
        np.uint8,
    )
    _, _, boxes, _ = cv2.connectedComponentsWithStats(left, connectivity=4)
    if boxes[1:, cv2.CC_STAT_AREA].max(initial=0) * detections.view.step_mm**2 < least_patch_mm2(
        photo.setup
    ):
        return None
    shown = cv2.dilate(
        cv2.morphologyEx(detections.changed.astype(np.uint8), cv2.MORPH_CLOSE, GAPS), AROUND
    )
    alone = search(
        replace(
            detections.view, code=np.where(shown[..., None] > 0, detections.view.code, BLOTTED)
        ),
        photo.setup.colours,
    )
    new = tuple(
        one
        for one in alone.objects
        if not one.is_disc and share_of(left, _near_middle_mask(one, detections)) > MIDDLE_SHARE
    )
    return (
        replace(detections, objects=new, pieces=detections.pieces | alone.pieces, changed=left > 0)
        if new
        else None
    )


def changed_patches(alone: Detections, photo: Photo) -> list[Array]:
    """Middles (2,) mm of new unexplained changes on the board that are as large as a piece.

    They come from `detect_changes`. Those that the image before showed too are left out.
    """
    assert alone.changed is not None
    count, labels, boxes, middles = cv2.connectedComponentsWithStats(
        np.asarray(alone.changed, np.uint8), connectivity=4
    )
    large = boxes[:, cv2.CC_STAT_AREA] * alone.view.step_mm**2 >= least_patch_mm2(photo.setup)
    new = [k for k in range(1, count) if large[k] and alone.fresh[labels == k].any()]
    return list(alone.view.millimetres(np.asarray(middles[new], float)))


def pieces_explaining_changes(
    new: list[Candidate], alone: Detections, detections: Detections, photo: Photo
) -> list[Candidate]:
    """The pieces found by `detect_changes` that explain a change.

    At least half of their area has changed, and nearly all of that has no other explanation. Other
    changes beside pieces are shadows and light.
    """
    assert detections.changed is not None
    assert alone.changed is not None
    explained = []
    for one in new:
        here = _piece_mask(one, detections, photo)
        if share_of(alone.changed, here) >= max(
            LEAST_LEFT, MOSTLY * share_of(detections.changed, here)
        ):
            explained.append(one)
    return explained


def _without_arms_and_discs(mask: NDArray[np.bool_], detections: Detections) -> NDArray[np.uint8]:
    """A mask (h, w) without arms and discs."""
    arms = cv2.resize(
        detections.arms.astype(np.uint8), mask.shape[::-1], interpolation=cv2.INTER_NEAREST
    )
    left = np.asarray(mask & (arms == 0), np.uint8)
    for disc in (one for one in detections.objects if one.is_disc and one.chance > SURE_CHANCE):
        left[_near_middle_mask(disc, detections)] = 0
    return left


def _piece_mask(one: Candidate, detections: Detections, photo: Photo) -> NDArray[np.bool_]:
    """Mask (h, w) of the view that a piece covers."""
    return detections.view.inside(silhouette(one.best.solid, photo.camera.eye_mm))


def _is_changed(found: Detection, mask: NDArray[np.bool_], detections: Detections) -> bool:
    """True if anything changes at the detection, or if it is outside the view."""
    here = _near_middle_mask(found, detections)
    return not here.any() or share_of(mask, here) > CHANGED_SHARE


def _near_middle_mask(found: Detection, detections: Detections) -> NDArray[np.bool_]:
    """Mask (h, w) of pixels within half a base of a middle."""
    x, y = detections.view.pixels(found.middle_mm[None])[0]
    here = np.zeros(detections.view.code.shape[:2], np.uint8)
    cv2.circle(
        here, (round(x), round(y)), round(found.base_mm / detections.view.step_mm / 2), 1, -1
    )
    return here > 0


def share_of(mask: NDArray[Any], here: NDArray[np.bool_]) -> float:
    """Share of the pixels in `here` that a mask covers, both (h, w); 0 if `here` is empty."""
    return float(mask[here].mean()) if here.any() else 0.0


def _is_new_disc(found: Detection, empty: EmptyTable) -> bool:
    """True for a disc that the empty table does not show.

    A flat disc on ground as pale as itself changes only a thin rim.
    """
    return found.is_disc and all(
        np.hypot(*(found.middle_mm - other.middle_mm)) > found.base_mm / 2 for other in empty.discs
    )
