"""Turn photographs of the target into calibration views, and reject unusable ones with a reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np

from calibration.lens.target import MOST_BLUR_PX, DetectedCorners, NotFound, Target
from table.errors import InputError
from table.formatting import beside
from table.messages import Message, as_message, in_a_row, msg, phrase, phrases
from table.solids import Array
from vision.cameras.image_files import image_size, read_image

LEAST_VIEWS = 12
"""Least number of views for a lens."""
SAME_SHARE = 0.01
"""Mean difference of corners, as a share of the picture's width, below which views are the same."""
TILTED = 1.08
"""Ratio of the nearest squares' apparent size to the farthest's from which a target is tilted."""
LEAST_TILTED = 4
"""Least number of views with a tilted target."""
SUFFIXES = (".jpg", ".jpeg", ".png")


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """One photograph of the target: corners on it (n, 2) mm and in the picture (n, 2) px."""

    name: str
    target_mm: Array
    pixels: Array


@dataclass(frozen=True, slots=True)
class RejectedView:
    """An unusable photograph: the reason in a few words, and details of this photograph."""

    name: str
    reason: str
    detail: str = ""

    @property
    def message(self) -> Message:
        """Reason and detail as one message."""
        if not self.detail:
            return as_message(self.reason)
        return phrase(
            "{text}: {text2}", text=as_message(self.reason), text2=as_message(self.detail)
        )


@dataclass(frozen=True, slots=True, eq=False)
class Views:
    """Views of one size, (width, height) px, in the order of their names.

    `focus_dpt` is the camera's focus, if it reports one.
    """

    size_px: tuple[int, int]
    views: tuple[View, ...]
    left_out: tuple[RejectedView, ...]
    focus_dpt: float | None = None


def read_views(folder: Path, target: Target) -> Views:
    """Read all photographs in a folder as views.

    Raises InputError, with the reasons, if fewer than LEAST_VIEWS of them can be used.
    """
    if not folder.is_dir():
        raise InputError(msg("--from: expected a folder of photos, got {folder}", folder=folder))
    paths = [
        path
        for path in sorted(folder.iterdir())
        if path.suffix.lower() in SUFFIXES and not path.name.startswith(".")
    ]
    if len(paths) < LEAST_VIEWS:
        raise InputError(
            msg(
                "{folder}: expected at least {n} photos of the target (JPEG or PNG), got {n2}",
                folder=folder,
                n=LEAST_VIEWS,
                n2=len(paths),
            )
        )
    left_out: list[RejectedView] = []
    sizes: dict[Path, tuple[int, int]] = {}
    for path in paths:
        try:
            sizes[path] = image_size(path)
        except InputError as error:
            left_out.append(_unreadable(path, error))
    size = _usual_size(sizes.values(), folder)
    views: list[View] = []
    for path, own in sizes.items():  # one picture in memory at a time
        try:
            view = _view(path, own, size, target, views)
        except InputError as error:
            view = _unreadable(path, error)
        if isinstance(view, View):
            views.append(view)
        else:
            left_out.append(view)
    check_views(views, left_out, str(folder))
    return Views(size, tuple(views), tuple(left_out))


def _unreadable(path: Path, error: InputError) -> RejectedView:
    return RejectedView(
        path.name, phrase("it cannot be read"), str(error).removeprefix(f"{path}: ")
    )


def _usual_size(sizes: Collection[tuple[int, int]], folder: Path) -> tuple[int, int]:
    """The most frequent size of the photographs; raises InputError if too few have it."""
    if not sizes:
        raise InputError(msg("{folder}: expected readable photos, got none", folder=folder))
    (size, count), *others = Counter(sizes).most_common()
    if others and count < LEAST_VIEWS:
        listed = in_a_row(
            phrase("{n} of {width} x {height} px", n=number, width=width, height=height)
            for (width, height), number in [(size, count), *others[:9]]
        )
        raise InputError(
            msg(
                "{folder}: expected at least {n} photos of one size, got {text}; a"
                " lens is calibrated for one size",
                folder=folder,
                n=LEAST_VIEWS,
                text=listed,
            )
        )
    return size


def _view(
    path: Path, own: tuple[int, int], size: tuple[int, int], target: Target, others: list[View]
) -> View | RejectedView:
    """A photograph as a view; raises InputError for one that is damaged."""
    name = path.name
    if own != size:
        return RejectedView(
            name,
            phrase("it has a different size"),
            phrase(
                "{n} x {n2} px, most are {n3} x {n4} px",
                n=own[0],
                n2=own[1],
                n3=size[0],
                n4=size[1],
            ),
        )
    grey = np.asarray(cv2.cvtColor(read_image(path).image, cv2.COLOR_RGB2GRAY), np.uint8)
    match target.find(grey):
        case NotFound(reason, detail):
            return RejectedView(name, reason, detail)
        case DetectedCorners() as found:
            return usable_view(name, found, others, SAME_SHARE * size[0])


def usable_view(
    name: str, found: DetectedCorners, others: Sequence[View], same_px: float
) -> View | RejectedView:
    """A detected target as a view, unless it is blurred or repeats another view.

    It repeats a view if the mean distance of their corners is less than `same_px`.
    """
    if found.blur_px > MOST_BLUR_PX:
        detail = phrase(
            "edges are {mm} px wide, at most {mm2} px are usable; hold it still, focus, add light",
            mm=beside(found.blur_px, MOST_BLUR_PX, 1),
            mm2=f"{MOST_BLUR_PX:g}",
        )
        return RejectedView(name, phrase("it is blurred"), detail)
    view = View(name, found.target_mm, found.pixels)
    same = next((other.name for other in others if corner_distance_px(view, other) < same_px), None)
    return (
        RejectedView(
            name,
            phrase("it looks the same as another view"),
            phrase("see {raw}; move or tilt the target between photos", raw=same),
        )
        if same
        else view
    )


def corner_distance_px(one: View, other: View) -> float:
    """Mean distance of the corners common to two views; infinite if these are too few."""
    places = {
        tuple(at): pixel for at, pixel in zip(one.target_mm.tolist(), one.pixels, strict=True)
    }
    shared = [
        (places[tuple(at)], pixel)
        for at, pixel in zip(other.target_mm.tolist(), other.pixels, strict=True)
        if tuple(at) in places
    ]
    if 2 * len(shared) < len(one.pixels):
        return np.inf
    return float(np.mean([np.hypot(*(a - b)) for a, b in shared]))


def check_views(views: Sequence[View], left_out: Sequence[RejectedView], where: str) -> None:
    """Raise InputError if there are too few views for a lens, or too few of them are tilted.

    `where` is named in the message.
    """
    if len(views) < LEAST_VIEWS:
        reasons = Counter(out.reason for out in left_out)
        message = msg(
            "{where}: expected at least {n} usable views, got {n2}",
            where=where,
            n=LEAST_VIEWS,
            n2=len(views),
        )
        if not reasons:
            raise InputError(message)
        listed = phrases(
            *(phrase("{n}: {text}", n=count, text=why) for why, count in reasons.most_common(4))
        )
        details = {out.detail for out in left_out}
        if len(details) == 1 and "" not in details:
            raise InputError(
                msg("{text} ({text2}); {text3}", text=message, text2=listed, text3=details.pop())
            )
        raise InputError(msg("{text} ({text2})", text=message, text2=listed))
    tilted = sum(convergence(view) >= TILTED for view in views)
    if tilted < LEAST_TILTED:
        advice = phrase(
            "tilt it by 20 to 45 degrees to all four sides; without that, focal length and"
            " distance cannot be told apart"
        )
        raise InputError(
            msg(
                "{where}: expected at least {n} views with a tilted target, got {n2} of"
                " {n3}; {text}",
                where=where,
                n=LEAST_TILTED,
                n2=tilted,
                n3=len(views),
                text=advice,
            )
        )


def convergence(view: View) -> float:
    """Perspective convergence: apparent size of the nearest squares over that of the farthest.

    It is 1 from straight in front, and independent of the focal length.
    """
    target2img, _ = cv2.findHomography(view.target_mm, view.pixels)
    low, high = view.target_mm.min(axis=0), view.target_mm.max(axis=0)
    corners = np.array([low, (high[0], low[1]), high, (low[0], high[1])])
    depths = np.column_stack([corners, np.ones(4)]) @ np.asarray(target2img)[2]
    return float(np.abs(depths).max() / np.abs(depths).min())
