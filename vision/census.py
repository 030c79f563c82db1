"""What the game says about all pieces together: Ice Boule has one target, which stands somewhere once anything was thrown.

A picture alone may leave a colour open; that exactly one piece is the target often closes it.  If no piece can be it, the
target may be hidden under a piece that landed on it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from table.solids import Array
from vision.background import Background
from vision.choose import Choice, evidence
from vision.hypothesis import silhouette
from vision.solidfit import BAND_MM, Fit, fit, pixels_around
from vision.tableview import TableView

NO_TARGET = -9.0
"""Log odds that some piece is the target, all told, below which the target is not in sight."""
LYING = -4.0
"""Log odds against a target that lies: it is stood up where it lands, but may be knocked over."""
LEAST_CHANCE = 1e-6
STACK_LOOKS = 0.0
"""Looks by which a raised piece must explain the picture better than one on the ground."""


@dataclass(frozen=True, slots=True, eq=False)
class Coloured:
    """A piece with the probability (c,) of each of the table's colours; `under` is the piece that it stands on."""

    choice: Choice
    chances: Array
    under: Coloured | None = None


def with_one_target(pieces: list[Coloured], target: int, view: TableView, ground: Background) -> list[Coloured]:
    """The pieces, exactly one of them the target: `target` is the column of its colour."""
    if not pieces:
        return pieces
    odds = np.array([_target_odds(piece, target) for piece in pieces])
    if odds.max() < NO_TARGET:
        return _raised(pieces, target, view, ground)
    weight = np.exp(odds - odds.max())
    weight /= weight.sum()
    return [replace(piece, chances=_given(piece.chances, target, float(share))) for piece, share in zip(pieces, weight, strict=True)]


def _target_odds(piece: Coloured, target: int) -> float:
    others = float(np.delete(piece.chances, target).max())
    odds = np.log(max(float(piece.chances[target]), LEAST_CHANCE)) - np.log(max(others, LEAST_CHANCE))
    return float(odds) + (0.0 if piece.choice.guess.pose == "upright" else LYING)


def _given(chances: Array, target: int, share: float) -> Array:
    """Chances when the target's colour has probability `share`."""
    rest = np.delete(chances, target)
    rest = rest / max(float(rest.sum()), LEAST_CHANCE) * (1 - share)
    return np.insert(rest, target, share)


def _raised(pieces: list[Coloured], target: int, view: TableView, ground: Background) -> list[Coloured]:
    """No piece can be the target: the upright piece that is best explained as standing over it, if there is one."""
    best: tuple[float, int, Fit] | None = None
    for k, piece in enumerate(pieces):
        guess = piece.choice.guess
        if guess.pose == "upright":
            lifted = fit(replace(guess, z_mm=guess.size.stack_step_mm), view, ground)
            where = pixels_around(view, ground, silhouette(lifted.guess.solid, view.eye_mm), 2 * BAND_MM)
            gain = evidence(lifted.guess, where) - evidence(guess, where)
            if best is None or gain > best[0]:
                best = (gain, k, lifted)
    if best is None or best[0] < STACK_LOOKS:
        return [replace(piece, chances=_given(piece.chances, target, 0.0)) for piece in pieces]
    _, k, lifted = best
    above = replace(pieces[k].choice, guess=lifted.guess, fit=lifted)
    below = replace(above, guess=replace(lifted.guess, z_mm=0.0))
    pieces = [replace(piece, chances=_given(piece.chances, target, 0.0)) for piece in pieces]
    pieces[k] = Coloured(above, pieces[k].chances, Coloured(below, np.eye(len(pieces[k].chances))[target]))
    return pieces
