"""What the picture of the empty table knows: where nothing has changed there is no piece, whatever it looks like."""

from __future__ import annotations

from dataclasses import dataclass, replace

import cv2
import numpy as np
from numpy.typing import NDArray

from table.observation import Camera
from vision.changes import changed
from vision.fiducials import locate
from vision.finder import Found, Sight, search, view_of
from vision.frame import Frame, Image
from vision.photo import Photo

SIGMAS = 4.0
"""A pixel has changed if it differs from most by so many standard deviations."""
CHANGED_SHARE = 0.08
"""A piece changes at least this share of what it covers; one of the ground's own colour shows by its faces' light and its shadow."""


@dataclass(frozen=True, slots=True, eq=False)
class EmptyTable:
    """The picture of the empty table laid flat like `Sight.view`, (h, w, 3), in light relative to white paper, and the print on it that is
    taken for discs."""

    code: Image
    discs: tuple[Found, ...] = ()


def empty_table(reference: Frame | None, photo: Photo) -> EmptyTable | None:
    """What `photo` would show of the empty table, if there is a picture of this size in which the camera's place can be found."""
    if reference is None or reference.image.shape != photo.image.shape:
        return None
    camera = locate(reference.image, photo.setup)
    if not isinstance(camera, Camera):
        return None
    view = view_of(replace(photo, image=reference.image, camera=camera))
    found = search(view, photo.setup.colours).found if photo.setup.game.counters is not None else ()
    return EmptyTable(view.code, tuple(one for one in found if one.is_disc))


def only_changed(sight: Sight, empty: EmptyTable) -> Sight:
    """The sight without what was there when the table was empty, and without what was taken for an arm there."""
    mask = changed(sight.view.code, empty.code, SIGMAS)
    cells = cv2.resize(mask.astype(np.float32), sight.pieces.shape[::-1], interpolation=cv2.INTER_AREA) > CHANGED_SHARE
    found = tuple(one for one in sight.found if _is_changed(one, mask, sight) or _is_new_disc(one, empty))
    return replace(sight, found=found, pieces=sight.pieces & cells, arms=sight.arms & cells)


def _is_changed(found: Found, mask: NDArray[np.bool_], sight: Sight) -> bool:
    """Does anything change within half a base of a middle?  Beyond the view nothing is known."""
    x, y = sight.view.pixels(found.middle_mm[None])[0]
    inside = np.zeros(mask.shape, np.uint8)
    cv2.circle(inside, (round(x), round(y)), round(found.base_mm / sight.view.step_mm / 2), 1, -1)
    here = mask[inside > 0]
    return len(here) == 0 or bool(here.mean() > CHANGED_SHARE)


def _is_new_disc(found: Found, empty: EmptyTable) -> bool:
    """Is it a disc where there was none?  A flat one on a ground as pale as itself changes no more than a thin rim."""
    return found.is_disc and all(np.hypot(*(found.middle_mm - other.middle_mm)) > found.base_mm / 2 for other in empty.discs)
