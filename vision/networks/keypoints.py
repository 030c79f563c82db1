"""A second look at each place that the finder names: cut out, turned and brought to one scale, and
asked what stands there.

A second small network (`data/second_look.onnx`, taught like the finder's, see `training`) answers
with the chance of each pose, colours, the width of the base, and where the five vertices are, each
with its own doubt.  `vision.pose.initial_poses` turns that into solids.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import cv2
import numpy as np

from table.pieces import COLOURS
from table.solids import POSES, REPEATS_DEG, Array, Pose
from vision.cameras.frame import Image
from vision.geometry.rectified_view import FlatView
from vision.networks.detector import Found
from vision.networks.runtime import answers, as_pictures

CROP_PX, BASE_PX = 64, 20.0
"""Side of a crop, and pixels of it to the width of the base, as the finder has it."""
THERE, POSE, COLOUR = 0, slice(1, 4), slice(4, 4 + len(COLOURS))
BASE, BASE_DOUBT = COLOUR.stop, COLOUR.stop + 1
VERTICES, VERTEX_DOUBT = (
    slice(BASE_DOUBT + 1, BASE_DOUBT + 11),
    slice(BASE_DOUBT + 11, BASE_DOUBT + 16),
)
ANSWERS = VERTEX_DOUBT.stop
"""Of the answer: logit of a piece's being there; logits of POSES and COLOURS; logarithm of its base
in bases of the finder, and the logarithm of that figure's doubt; vertices (5, 2) from the middle of
the crop in BASE_PX, and the logarithms of their doubts. Doubts are scales of a Laplace
distribution.
"""
IN_A_MIRROR = [3, 2, 1, 0, 4]
"""The vertices of a piece that lies along the columns, counted in its mirror image."""
TURNED = [[0, 1, 2, 3], [3, 0, 1, 2], [2, 3, 0, 1], [1, 2, 3, 0]]
"""Corners of the base of a piece that stands, counted from each."""
QUARTERS = (0.0, 90.0, 180.0, 270.0)
"""Directions in which something that may lie anyhow is looked at, in degrees."""
FAR_OFF = 0.1
"""A look whose middle is off by this share of the base, whose turn is by this in radians, or whose
scale in the logarithm, is worth another one from where it should have been.
"""
BLURRED = 0.15
"""Where vertices are seen worse than this, in bases, the piece may lie or stand another way."""
UNCLEAR = 0.06
"""What is seen worse than this, in bases, may be something else: of 2,078 pieces one in six is, and
three of four that were misread.
"""
WORTH_ANOTHER = 0.05
"""Places where a piece is less likely than this are not looked at once more."""


class Cut(NamedTuple):
    """Where a crop lies in the view: middle (2,) px, direction of its columns in degrees,
    clockwise, and view pixels to one of it.
    """

    middle_px: Array
    turn_deg: float
    zoom: float

    @property
    def affine(self) -> Array:
        """(2, 3), crop pixels to view pixels."""
        c, s = (self.zoom * f(np.radians(self.turn_deg)) for f in (np.cos, np.sin))
        turned = np.array([[c, -s], [s, c]])
        shift = self.middle_px - turned @ np.full(2, (CROP_PX - 1) / 2)
        return np.column_stack([turned, shift])

    def of(self, code: Image) -> Image:
        """The crop of a view."""
        flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
        return np.asarray(
            cv2.warpAffine(
                code, self.affine, (CROP_PX, CROP_PX), flags=flags, borderMode=cv2.BORDER_REPLICATE
            ),
            np.uint8,
        )


def cut_of(found: Found, view: FlatView) -> Cut:
    """Where to look again: a piece that lies or leans points to the right, the base of one that
    stands is level.
    """
    middle = view.pixels(found.middle_mm[None])[0]
    turn = (
        found.turn_deg
        if found.chances[0] > found.chances[1 : len(POSES)].max()
        else np.degrees(np.arctan2(*found.axis_mm[::-1]))
    )
    return Cut(middle, -float(turn), found.base_mm / view.step_mm / BASE_PX)


@dataclass(frozen=True, slots=True, eq=False)
class Looked:
    """What the second look says: the chance of there being a piece; chances (3,) of POSES if so;
    chances (c,) of the table's colours; the logarithm of its base in mm, and its sigma; vertices
    (5, 2) mm as cast down on to z = 0, and their sigmas (5,).
    """

    there: float
    poses: Array
    colours: Array
    log_base: float
    log_base_sigma: float
    vertices_mm: Array
    sigma_mm: Array

    @property
    def blur(self) -> float:
        """How badly the vertices are seen, 1 sigma in bases."""
        return float(self.sigma_mm.mean() / np.exp(self.log_base))


def look_again(cuts: list[Cut], view: FlatView, colours: tuple[str, ...]) -> list[Looked]:
    """A second look at each, as it is and in a mirror, as a pyramid's mirror image is one too: both
    together err less.

    The light of the view is relative to white paper, `colours` are those of the table.
    """
    if not cuts:
        return []
    crops = np.stack([cut.of(view.code) for cut in cuts])
    said = (
        answers("second_look", as_pictures(np.concatenate([crops, crops[:, ::-1]])))
        .astype(float)
        .reshape(2, len(cuts), ANSWERS)
    )
    return [
        _looked((plain + _mirrored(other, plain)) / 2, cut, view, colours)
        for plain, other, cut in zip(*said, cuts, strict=True)
    ]


def _mirrored(answer: Array, like: Array) -> Array:
    """What an answer (ANSWERS,) to a crop's mirror image says of the crop; corners of a piece that
    stands are counted as in `like`.
    """
    answer = answer.copy()
    vertices, doubts = (
        answer[VERTICES].reshape(5, 2)[IN_A_MIRROR] * [1, -1],
        answer[VERTEX_DOUBT][IN_A_MIRROR],
    )
    if POSES[int(like[POSE].argmax())] == "upright":
        corners = like[VERTICES].reshape(5, 2)[:4]
        turned = min(TURNED, key=lambda order: float(np.abs(vertices[order] - corners).sum()))
        vertices[:4], doubts[:4] = vertices[turned], doubts[turned]
    answer[VERTICES], answer[VERTEX_DOUBT] = vertices.ravel(), doubts
    return answer


def look_twice(cuts: list[Cut], view: FlatView, colours: tuple[str, ...]) -> list[Looked]:
    """What a look says, or, where it was far off, what one says from where it should have been
    taken.

    The chance of there being a piece is that of both looks: the better one was chosen by what the
    first saw.
    """
    looked = look_again(cuts, view, colours)
    better = {
        k: cut
        for k, one in enumerate(looked)
        if one.there > WORTH_ANOTHER
        for cut in _better_cut(cuts[k], one, view)
    }
    for k, one in zip(better, look_again(list(better.values()), view, colours), strict=True):
        looked[k] = replace(one, there=float(np.sqrt(looked[k].there * one.there)))
    return looked


def look_from_all_sides(looked: Looked, view: FlatView, colours: tuple[str, ...]) -> Looked:
    """What is seen best of looks at the same thing as if it lay any way or stood; the chance of
    there being a piece is that of both looks.
    """
    cuts = [cut for pose in POSES[:2] for cut in cuts_as(pose, looked, view)]
    best = min(look_twice(cuts, view, colours), key=lambda one: one.blur)
    return (
        replace(best, there=float(np.sqrt(looked.there * best.there)))
        if best.blur < looked.blur
        else looked
    )


def _better_cut(cut: Cut, looked: Looked, view: FlatView) -> list[Cut]:
    """Where a piece that was seen is in the middle, to scale, and turned as pieces are; none if it
    was nearly so.
    """
    better = cut_along(looked.vertices_mm, float(np.exp(looked.log_base)), view)
    pose = POSES[int(looked.poses.argmax())]
    stands = pose == "upright"
    if stands:
        across = np.subtract(*view.pixels(looked.vertices_mm[[1, 0]]))
        better = better._replace(turn_deg=float(np.degrees(np.arctan2(*across[::-1]))))
    turn_deg, period_deg = better.turn_deg - cut.turn_deg, REPEATS_DEG[pose]
    turn = np.radians(turn_deg - period_deg * round(turn_deg / period_deg))
    if stands:
        better = better._replace(turn_deg=cut.turn_deg + float(np.degrees(turn)))
    shift = np.hypot(*(better.middle_px - cut.middle_px)) / (BASE_PX * cut.zoom)
    return [better] if max(shift, abs(turn), abs(np.log(better.zoom / cut.zoom))) > FAR_OFF else []


def cut_along(vertices_mm: Array, base_mm: float, view: FlatView) -> Cut:
    """Where to look at a piece that lies, of vertices (5, 2) in mm as cast down on to z = 0: it is
    in the middle, to scale, its tip to the right.
    """
    corners = view.pixels(vertices_mm)
    base, tip = corners[:4].mean(axis=0), corners[4]
    return Cut(
        (base + tip) / 2,
        float(np.degrees(np.arctan2(*(tip - base)[::-1]))),
        base_mm / view.step_mm / BASE_PX,
    )


def cuts_as(pose: Pose, looked: Looked, view: FlatView) -> list[Cut]:
    """Where to look at something once more as if it stood, on the base that was seen, or lay, in
    any quarter around its middle.
    """
    corners = view.pixels(looked.vertices_mm)
    base, zoom = corners[:4].mean(axis=0), float(np.exp(looked.log_base)) / view.step_mm / BASE_PX
    along = float(np.degrees(np.arctan2(*(corners[2] - corners[1])[::-1])))
    if pose == "upright":
        return [Cut(base, along, zoom)]
    return [Cut((base + corners[4]) / 2, along + quarter, zoom) for quarter in QUARTERS]


def _looked(answer: Array, cut: Cut, view: FlatView, colours: tuple[str, ...]) -> Looked:
    crop = answer[VERTICES].reshape(5, 2) * BASE_PX + (CROP_PX - 1) / 2
    pixels = crop @ cut.affine[:, :2].T + cut.affine[:, 2]
    base_mm, spread = (
        cut.zoom * BASE_PX * view.step_mm,
        np.sqrt(2.0),
    )  # of a Laplace distribution of scale 1
    return Looked(
        float(1 / (1 + np.exp(-answer[THERE]))),
        _shares(answer[POSE]),
        _shares(answer[COLOUR][[COLOURS.index(name) for name in colours]]),
        float(np.log(base_mm) + answer[BASE]),
        float(spread * np.exp(answer[BASE_DOUBT])),
        view.millimetres(pixels),
        spread * np.exp(answer[VERTEX_DOUBT]) * base_mm,
    )


def _shares(logits: Array) -> Array:
    weights = np.exp(logits - logits.max())
    return np.asarray(weights / weights.sum())
