"""A piece that leans touches what it leans on: that says where it is and how far it is tipped up,
beside what its edges say.

From above, a piece that is tipped up a little more looks much like one that lies a little
elsewhere.  That it touches another and does not reach into it is a measurement too (an iterated
extended Kalman update; Jazwinski, Stochastic Processes and Filtering Theory, 1970, section 8.3).
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
"""How near pieces that touch are as ideal solids, 1 sigma: real ones have rounded edges."""
CLEAR_MM = 0.3
"""How far apart solids are held to learn how their distance changes: where they overlap they have
none.
"""
LIFT_DEG, STEEPEST_DEG = 1.0, 60.0
"""A piece that reaches into another is tipped up until it does not, to so much, and so far at
most.
"""
ROUNDS, SETTLED = 4, np.array([0.05, 0.05, 0.2, 0.3])
"""It has come to rest where its parameters, in mm and degrees, change by less than this."""


class Support(NamedTuple):
    """What may be leaned on, and how well its place is known, 1 sigma."""

    solid: Solid
    sigma_mm: float


def rested(
    guess: Hypothesis, covariance: Array, supports: Sequence[Support]
) -> tuple[Hypothesis, Array]:
    """A piece that leans, of parameters known to `covariance` (4, 4), and their covariance, once it
    touches the support that it meets first; unchanged where none is near.
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
    """A piece tipped up until it is clear of all that is near, what is nearest then, and how near;
    None where that does not help.
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
    """How the distance from a piece to another changes with its parameters (4,): by the way its
    nearest point moves.
    """
    normal = (nearest.a_mm - nearest.b_mm) / nearest.mm
    arm = nearest.a_mm - [guess.x_mm, guess.y_mm, guess.z_mm]
    turn = math.radians(guess.heading_deg)
    ahead = np.array([math.cos(turn), math.sin(turn), 0.0])
    tipping = normal[2] * (arm @ ahead) - (normal @ ahead) * arm[2]
    return np.append(distance_slope(normal, arm), math.radians(tipping))
