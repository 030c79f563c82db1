"""Update a leaning piece by contact: it touches its support.

From above, a larger tilt looks much like a shift. Contact without overlap constrains both (an
iterated extended Kalman update; Jazwinski, Stochastic Processes and Filtering Theory, 1970, section
8.3).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from table.clearance import Clearance, clearance, distance_slope, is_free
from table.observation import LEANED_ON_MM
from table.solids import Array, Solid
from vision.geometry.piece_pose import Hypothesis

CONTACT_MM = 0.2
"""Standard deviation of the distance of touching pieces as ideal solids."""
CLEAR_MM = 0.3
"""Distance at which the derivative of the distance is computed, because overlapping solids have
none.
"""
LIFT_DEG, STEEPEST_DEG = 1.0, 60.0
"""Resolution, and upper limit, of the tilt at which an overlapping piece becomes free."""
ROUNDS, SETTLED = 4, np.array([0.05, 0.05, 0.2, 0.3])
"""Largest number of iterations, and changes of the parameters, in mm and degrees, below which they
stop.
"""


class Support(NamedTuple):
    """A possible support of a leaning piece, and the standard deviation of its place."""

    solid: Solid
    sigma_mm: float


def update_by_contact(
    guess: Hypothesis, covariance: Array, supports: Sequence[Support]
) -> tuple[Hypothesis, Array]:
    """A leaning piece with parameters of `covariance` (4, 4), updated by contact.

    It touches the support that it meets first; unchanged if none is near.
    """
    near = [one for one in supports if not is_free(guess.solid, [one.solid], LEANED_ON_MM)]
    here, known = guess, covariance
    for _ in range(ROUNDS if near else 0):
        clear = _lifted(here, near)
        if clear is None:
            return guess, covariance
        lifted, support, nearest = clear
        slope = _slope(lifted, nearest)
        reached = covariance @ slope
        gain = reached / (slope @ reached + CONTACT_MM**2 + support.sigma_mm**2)
        apart_mm = nearest.mm + slope @ (guess.parameters - lifted.parameters)
        before, here, known = (
            here,
            guess.at(guess.parameters - gain * apart_mm),
            covariance - np.outer(gain, reached),
        )
        if (np.abs(here.parameters - before.parameters) < SETTLED).all():
            break
    return here, known


def _lifted(
    guess: Hypothesis, near: Sequence[Support]
) -> tuple[Hypothesis, Support, Clearance] | None:
    """The piece tipped up until it is clear of all near supports.

    Also the nearest support and its distance then. None if tipping does not help.
    """

    def tipped_to(tilt_deg: float) -> tuple[Hypothesis, Support, Clearance] | None:
        tipped = replace(guess, tilt_deg=tilt_deg)
        nearest, support = min(
            ((clearance(tipped.solid, one.solid), one) for one in near), key=lambda one: one[0].mm
        )
        return (tipped, support, nearest) if nearest.mm >= CLEAR_MM else None

    low, high = guess.tilt_deg, STEEPEST_DEG
    if (as_it_is := tipped_to(low)) or not (found := tipped_to(high)):
        return as_it_is
    while high - low > LIFT_DEG:
        middle = (low + high) / 2
        if tried := tipped_to(middle):
            high, found = middle, tried
        else:
            low = middle
    return found


def _slope(guess: Hypothesis, nearest: Clearance) -> Array:
    """Gradient (4,) of the distance between a piece and another by its parameters.

    It is computed from the motion of its nearest point.
    """
    normal = (nearest.a_mm - nearest.b_mm) / nearest.mm
    arm = nearest.a_mm - [guess.x_mm, guess.y_mm, guess.z_mm]
    turn = math.radians(guess.heading_deg)
    ahead = np.array([math.cos(turn), math.sin(turn), 0.0])
    tipping = normal[2] * (arm @ ahead) - (normal @ ahead) * arm[2]
    return np.append(distance_slope(normal, arm), math.radians(tipping))
