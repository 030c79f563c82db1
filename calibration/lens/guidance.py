"""Guide the target before a camera: views taken, refusals, the next place, and completion.

A `Guidance` is an immutable value: given the detection in a frame it returns the next one. It
depends on no camera, clock or screen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import cv2
import numpy as np
from numpy.typing import NDArray

from calibration.lens.fit import USUAL, fit_first_model
from calibration.lens.models import MODELS, fit_poses, information, inverse, lens_of, noise_px2
from calibration.lens.next_view import (
    WELL_COVERED,
    Place,
    best_place,
    cells_of,
    places,
    uncovered_parts,
)
from calibration.lens.target import DetectedCorners, NotFound, Target
from calibration.lens.views import (
    LEAST_TILTED,
    LEAST_VIEWS,
    TILTED,
    RejectedView,
    View,
    convergence,
    corner_distance_px,
    usable_view,
)
from table.formatting import beside
from table.messages import phrase, phrases
from table.solids import Array
from table.table_config import Lens

HOLD_MS = 600
"""Time for which a target must be held still before a view is taken."""
STILL_SHARE = 0.002
"""Largest motion of corners, as a share of the image width, that counts as still."""
SAME_SHARE = 0.03
"""Mean difference of corners, as a share of the image width, below which two views are the same."""
ELSEWHERE_SHARE = 0.12
"""Least mean distance between the target's corners at the next place and at any earlier one, as a
share of the image width.
"""
MOST_STRAIGHT = 4
"""Largest useful number of views from straight in front."""
WANTED_VIEWS = LEAST_VIEWS + 2
"""Least number of views that guidance asks for."""
GOOD_SHARE = 0.0015
"""Sufficient 95 % intervals of focal length and principal point, as a share of the focal length."""
Z_95 = 1.96
FIRST_SOLVED = 4
"""Number of views from which the lens is estimated after each view."""
SANE_FOCAL = (0.2, 5.0)
"""Range of plausible focal lengths, in image widths. Estimates outside come from uninformative
views.
"""
USUAL_NOISE_PX, LEAST_NOISE_PX = 0.1, 0.05
"""Standard deviation of a corner coordinate before residuals are known, and its lower bound
afterwards.
"""
GUESS_FOCAL = 0.85
"""Initial focal length, in widths of the picture."""
PRIOR_SHARE = 0.3
"""Prior standard deviation: of focal lengths and principal point as a share of the focal length, of
distortion coefficients as an absolute value.
"""

LENGTHS = ("fx", "fy", "cx", "cy")

Doing = Literal["looking", "refused", "holding", "taken"]


@dataclass(frozen=True, slots=True, eq=False)
class Guidance:
    """State of a lens calibration.

    `doing` and `message` are about the last frame. `taken` are the views so far, `next_place` is
    the next place for the target (None: anywhere else). `lens` is the present estimate, by `model`,
    and `sigma` (1 sigma) the uncertainty of its parameters.
    """

    target: Target
    lens: Lens
    model: str
    sigma: dict[str, float]
    next_place: Place | None
    taken: tuple[View, ...] = ()
    doing: Doing = "looking"
    message: str = ""
    held: tuple[int, View] | None = None
    """Time (camera's clock, ms) since which the target has been still, and the view of it."""

    def after(self, seen: DetectedCorners | NotFound, at_ms: int) -> Guidance:
        """The guidance after a frame, given its detection and its time on the camera's clock."""
        if isinstance(seen, NotFound):
            return replace(
                self,
                doing="looking",
                message=RejectedView("", seen.reason, seen.detail).message,
                held=None,
            )
        view = usable_view(
            f"view-{len(self.taken) + 1:02d}", seen, self.taken, SAME_SHARE * self.lens.width
        )
        if (
            isinstance(view, View)
            and convergence(view) < TILTED
            and straight_view_count(self.taken) >= MOST_STRAIGHT
        ):
            view = RejectedView(
                "", phrase("the target is not tilted enough"), phrase("tilt it by 20 to 45 degrees")
            )
        if isinstance(view, RejectedView):
            return replace(self, doing="refused", message=view.message, held=None)
        if (
            self.held is None
            or not corner_distance_px(self.held[1], view) < STILL_SHARE * self.lens.width
        ):
            return replace(self, doing="holding", message=phrase("hold still"), held=(at_ms, view))
        if at_ms - self.held[0] < HOLD_MS:
            return replace(self, doing="holding", message=phrase("hold still"))
        return self._with(view)

    @property
    def covered(self) -> NDArray[np.bool_]:
        """Mask (rows, columns) of the image's cells that contain corners."""
        return _covered(self.taken, self.lens)

    @property
    def lacking(self) -> tuple[str, ...]:
        """Remaining requirements, in a few words each; empty if there are none."""
        lacks = []
        if (more := WANTED_VIEWS - len(self.taken)) > 0:
            lacks.append(phrase("{n} more views", n=more) if more > 1 else phrase("one more view"))
        if (more := LEAST_TILTED - (len(self.taken) - straight_view_count(self.taken))) > 0:
            lacks.append(phrase("{n} of them tilted", n=more))
        covered = self.covered
        if (share := float(covered.mean())) < WELL_COVERED:
            more_share = f"{beside(100 * (WELL_COVERED - share), 0, 0)} %"
            bare = phrases(*uncovered_parts(covered), joint=",")
            lacks.append(
                phrase(
                    "target corners in another {share} of the picture ({text})",
                    share=more_share,
                    text=bare,
                )
                if covered.any()
                else phrase("target corners in another {share} of the picture", share=more_share)
            )
        if len(self.taken) >= FIRST_SOLVED:
            for message, names in (
                (phrase("focal length"), ("fx", "fy")),
                (phrase("picture centre"), ("cx", "cy")),
            ):
                if (
                    share := Z_95 * max(self.sigma[name] for name in names) / self.lens.matrix[0][0]
                ) > GOOD_SHARE:
                    now, enough = (
                        beside(100 * share, 100 * GOOD_SHARE, 2),
                        f"{100 * GOOD_SHARE:.2f}",
                    )
                    lacks.append(
                        phrase(
                            "a more exact {text} (now ±{share} of the focal length,"
                            " ±{share2} is enough)",
                            text=message,
                            share=f"{now} %",
                            share2=f"{enough} %",
                        )
                    )
        return tuple(lacks)

    @property
    def enough(self) -> bool:
        """True if nothing more is needed."""
        return not self.lacking

    def _with(self, view: View) -> Guidance:
        """The guidance with one more view, and the lens estimated anew."""
        taken = (*self.taken, view)
        model, lens, sigma, next_place = _judge(self.target, taken, self.lens, self.model)
        message = phrase("view-{n} taken", n=view.name.removeprefix("view-"))
        return replace(
            self,
            lens=lens,
            model=model,
            sigma=sigma,
            next_place=next_place,
            taken=taken,
            doing="taken",
            message=message,
            held=None,
        )


def straight_view_count(views: Sequence[View]) -> int:
    """Number of views from straight in front."""
    return sum(convergence(view) < TILTED for view in views)


def outline_in(view: View, target: Target) -> Array:
    """Corners (4, 2) px of the target in a view, even those outside the image.

    In the order of `Place.outline_px`.
    """
    target2img, _ = cv2.findHomography(view.target_mm, view.pixels)
    return np.asarray(
        cv2.perspectiveTransform(target.outline_mm.reshape(-1, 1, 2), np.asarray(target2img)), float
    ).reshape(4, 2)


def begin(target: Target, size_px: tuple[int, int], lens: Lens | None = None) -> Guidance:
    """Guidance with no view taken yet, for images of (width, height) px.

    `lens` is a first estimate, if there is one.
    """
    width, height = size_px
    guess = np.array([GUESS_FOCAL * width, GUESS_FOCAL * width, width / 2 - 0.5, height / 2 - 0.5])
    lens = lens or lens_of(guess, size_px, USUAL)
    model, lens, sigma, place = _judge(
        target, (), lens, "fisheye" if lens.model == "fisheye" else USUAL
    )
    return Guidance(target, lens, model, sigma, place)


def _judge(
    target: Target, taken: tuple[View, ...], lens: Lens, model: str
) -> tuple[str, Lens, dict[str, float], Place | None]:
    """The model, lens and uncertainties from the views taken, and the most informative next place.

    `lens` is the estimate before.
    """
    solved = (
        fit_first_model(taken, (lens.width, lens.height))
        if len(taken) >= FIRST_SOLVED
        else fit_poses(taken, lens, model)
    )
    if not SANE_FOCAL[0] < solved.lens.matrix[0][0] / lens.width < SANE_FOCAL[1]:
        solved = fit_poses(taken, lens, model)
    names = MODELS[solved.model].parameters
    variance = (
        max(noise_px2(solved), LEAST_NOISE_PX**2)
        if len(taken) >= FIRST_SOLVED
        else USUAL_NOISE_PX**2
    )
    focal = solved.lens.matrix[0][0]
    beforehand = np.diag(
        [1 / (PRIOR_SHARE * (focal if name in LENGTHS else 1.0)) ** 2 for name in names]
    )
    known = variance * beforehand + information(taken, solved)
    sigma = dict(zip(names, np.sqrt(variance * np.diag(inverse(known))).tolist(), strict=True))
    there = [outline_in(view, target) for view in taken]
    ways = [
        place
        for place in places(target, solved.lens, len(names))
        if (place.tilted or straight_view_count(taken) < MOST_STRAIGHT)
        and all(
            np.hypot(*(place.outline_px - outline).T).mean() > ELSEWHERE_SHARE * lens.width
            for outline in there
        )
    ]
    return solved.model, solved.lens, sigma, best_place(ways, known, _covered(taken, lens))


def _covered(taken: tuple[View, ...], lens: Lens) -> NDArray[np.bool_]:
    pixels = np.concatenate([view.pixels for view in taken]) if taken else np.zeros((0, 2))
    return cells_of(pixels, lens.width, lens.height)
