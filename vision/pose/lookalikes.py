"""Lookalike poses: a standing piece seen from the side, and one lying with its base to the camera.

Between 25 and 45 degrees from the vertical their outlines may nearly be the same. The keypoint
network then gives vertices for one of them only, so the other is derived from the outline.
"""

from __future__ import annotations

import cv2
import numpy as np

from table.solids import REPEATS_DEG, Array, Pose
from vision.geometry.piece_pose import Hypothesis, move_silhouette_to, seen_middle_mm, silhouette

ALIKE = 0.75
"""Least overlap, intersection over union, of the outlines of lookalikes."""
STEP_DEG = 15.0
"""Step of the headings that are tried; refinement corrects half of it."""
OTHER_POSE: dict[Pose, Pose] = {"upright": "lying", "lying": "upright"}


def lookalike(guess: Hypothesis, eye_mm: Array) -> Hypothesis | None:
    """The piece in the other pose, lying or upright, with the outline most like that of a guess.

    None if no outline is similar enough, or if the piece leans.
    """
    if guess.pose not in OTHER_POSE:
        return None
    other = OTHER_POSE[guess.pose]
    outline, middle_mm = silhouette(guess.solid, eye_mm), seen_middle_mm(guess.solid, eye_mm)
    best: tuple[float, Hypothesis | None] = (ALIKE, None)
    for heading_deg in np.arange(0.0, REPEATS_DEG[other], STEP_DEG):
        x_mm, y_mm = middle_mm.tolist()
        turned = Hypothesis(guess.size, other, x_mm, y_mm, float(heading_deg), z_mm=guess.z_mm)
        there = move_silhouette_to(turned, middle_mm, eye_mm)
        alike = overlap(outline, silhouette(there.solid, eye_mm))
        if alike > best[0]:
            best = alike, there
    return best[1]


def overlap(one: Array, other: Array) -> float:
    """Intersection over union of two convex outlines (n, 2)."""
    a, b = one.astype(np.float32), other.astype(np.float32)
    shared = cv2.intersectConvexConvex(a, b)[0]
    return float(shared / (cv2.contourArea(a) + cv2.contourArea(b) - shared))
