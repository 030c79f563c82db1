"""Reading boards with print on them: the finder names places, every likely size and pose there is moved on to the edges, and
the edges decide."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
from scipy.optimize import linear_sum_assignment

from table.boards import Tiles, within
from table.pieces import PieceSize
from table.setup import Setup
from table.solids import POSES, Array, Pose
from vision.counters import counters
from vision.edges import snap
from vision.finder import Found, find
from vision.hypothesis import Hypothesis, cast_down
from vision.left_over import hand_over, unread
from vision.paper import paper_light
from vision.photo import Photo
from vision.reading import Reading, TableRead
from vision.tiles import standing

SURE_CHANCE = 0.35
"""Where a piece is less likely than this none is told, but something unread."""
SAME_BASES = 0.5
"""Two readings nearer than this, in bases, are one piece."""
UNTRIED = 30.0
"""How much less speaks for a size that was not even tried than for the worst that was."""
SIZE_SIGMA = 0.13
"""How well the finder knows the logarithm of a base."""
EDGES_TOGETHER = 3.0
"""Edges err together: what they say for one rival against another is believed to this root."""
LENGTH_SIGMA = 0.1
"""How well the finder knows the logarithm of a length from base to tip."""
ANCHORS: dict[Pose, tuple[float, ...]] = {"upright": (0.0,), "lying": (0.5, 0.0, 1.0), "leaning": (0.5, 0.0)}
"""Where on its axis a piece of the size that is tried is laid on what the finder saw, 0 at the base, 1 at the tip.  The tip of one
that stands is hard to see from above; of others the finder may misjudge the length."""
LEAST_PRIOR = 0.04
"""Sizes and poses that the finder thinks less likely than this are not tried."""
START_BASES, START_DEG = 0.06, 4.0
"""How well the finder knows a place, in bases, and a heading, 1 sigma."""
TILT_DEG, TILT_SIGMA_DEG = 20.0, 12.0
"""What is expected of a leaning piece before its edges are read."""


@dataclass(frozen=True, slots=True, eq=False)
class Habit:
    """How pieces of a game stand as a rule, chances of POSES, and how many of a colour there are on its board at most."""

    poses: Array
    most: int


HABITS = {
    "icebreaker": Habit(np.array([0.96, 0.03, 0.01]), 3),
    "icefloe": Habit(np.array([0.96, 0.02, 0.02]), 6),
    "zamboni_wars": Habit(np.array([0.03, 0.96, 0.01]), 1),
}
ANYHOW = Habit(np.full(3, 1 / 3), 100)


@dataclass(frozen=True, slots=True, eq=False)
class Tried:
    """A size and pose at the place that its edges give it, and the logarithm of what speaks for it."""

    guess: Hypothesis
    covariance: Array
    evidence: float


@dataclass(frozen=True, slots=True, eq=False)
class Spot:
    """A place where there is a piece: what it may be, the likeliest first."""

    found: Found
    tried: tuple[Tried, ...]


def read_printed(photo: Photo) -> TableRead:
    """Pieces, counters and tiles on any board."""
    setup = photo.setup
    sight = find(photo, paper_light(photo.image, photo.camera, setup))
    likely = [one for one in sight.found if not one.is_disc and _chance(one, setup) > SURE_CHANCE]
    spots, beyond = _as_many_as_there_are(_spots(likely, photo), setup)
    if setup.game.pieces == "piecepack":
        spots = one_of_each_size(spots, setup.colours)
    guesses = [spot.tried[0].guess for spot in spots]
    tiles = standing(photo, guesses, sight) if isinstance(setup.board, Tiles) else None
    left = (*unread(sight, guesses, photo), *(spot.found.middle_mm for spot in beyond))
    return TableRead([_reading(spot) for spot in spots], counters(sight, photo), hand_over(sight, setup), left, tiles)


def _spots(found: list[Found], photo: Photo) -> list[Spot]:
    """All that may be at each place.  Edges behind or beside others are left to those: at first to surer ones, then, when it is
    known which are there at all, to every neighbour."""
    setup = photo.setup
    found = sorted(found, key=lambda one: -_chance(one, setup))
    outlines: list[Array] = []
    spots: list[Spot] = []
    for one in found:
        tried = _try(one, photo, [outlines[k] for k in _beside(one, spots, setup)])
        if tried and _is_new(tried[0].guess, spots):
            spots.append(Spot(one, tried))
            outlines.append(photo.silhouette(tried[0].guess.solid))
    for k, spot in enumerate(spots):
        near = _beside(spot.found, spots, setup)
        if any(j > k for j in near):
            tried = _try(spot.found, photo, [outlines[j] for j in near])
            if tried:
                spots[k], outlines[k] = Spot(spot.found, tried), photo.silhouette(tried[0].guess.solid)
    return spots


def _beside(found: Found, spots: list[Spot], setup: Setup) -> list[int]:
    """Which spots are so near that their pieces may hide some of this one."""
    reach = 2 * max(size.slant_mm for size in setup.sizes)
    return [k for k, spot in enumerate(spots) if spot.found is not found and np.hypot(*(spot.found.middle_mm - found.middle_mm)) < reach]


def _is_new(guess: Hypothesis, spots: list[Spot]) -> bool:
    """Is this not where a surer piece is?"""
    middle = guess.solid.vertices_mm.mean(axis=0)
    apart = [float(np.linalg.norm(spot.tried[0].guess.solid.vertices_mm.mean(axis=0) - middle)) for spot in spots]
    return all(distance > SAME_BASES * guess.size.base_mm for distance in apart)


def _chance(found: Found, setup: Setup) -> float:
    """That there is a piece, one that stands as pieces of this game do."""
    poses = HABITS.get(setup.game.name, ANYHOW).poses
    return float(min(1.0, found.chances[: len(POSES)] @ poses / poses.max()))


def _as_many_as_there_are(spots: list[Spot], setup: Setup) -> tuple[list[Spot], list[Spot]]:
    """The spots, the surest first, and those on the board beyond the number of pieces that a colour has."""
    most, outline = HABITS.get(setup.game.name, ANYHOW).most, setup.outline_mm()
    kept: list[Spot] = []
    beyond: list[Spot] = []
    count = dict.fromkeys(range(len(setup.colours)), 0)
    for spot in spots:
        colour = int(spot.found.colours.argmax())
        if within(outline, spot.found.middle_mm):
            count[colour] += 1
        (kept if count[colour] <= most else beyond).append(spot)
    return kept, beyond


def _rivals(found: Found, setup: Setup) -> list[tuple[PieceSize, Pose, float]]:
    """Sizes and poses with their prior probability."""
    apart = np.log([size.base_mm / found.base_mm for size in setup.sizes]) / SIZE_SIGMA
    by_size = np.exp(-0.5 * (apart**2 - (apart**2).min()))
    by_pose = found.chances[: len(POSES)] * HABITS.get(setup.game.name, ANYHOW).poses
    weights = np.outer(by_size / by_size.sum(), by_pose / by_pose.sum())
    return [(size, pose, float(weights[i, j])) for (i, size), (j, pose) in product(enumerate(setup.sizes), enumerate(POSES))]


def _try(found: Found, photo: Photo, hidden_by: list[Array]) -> tuple[Tried, ...]:
    """All likely sizes and poses at a place, each where its edges have it, the likeliest first."""
    tried: list[Tried] = []
    for size, pose, prior in _rivals(found, photo.setup):
        if prior > LEAST_PRIOR:
            for anchor in ANCHORS[pose]:
                guess = start(found, (size, pose), anchor, photo)
                placed = snap(guess, start_sigma(guess), photo, hidden_by)
                if placed is not None:
                    before = float(np.log(prior / len(ANCHORS[pose]))) + _of_length(found, guess, photo)
                    tried.append(Tried(placed.guess, placed.covariance, before + placed.evidence))
    return tuple(sorted(tried, key=lambda one: -one.evidence))


def _of_length(found: Found, guess: Hypothesis, photo: Photo) -> float:
    """Log prior of a piece's being as long from base to tip as the finder saw it; of one that stands it says nothing."""
    if guess.pose == "upright":
        return 0.0
    flat = cast_down(guess.solid.vertices_mm, photo.camera.eye_mm)
    apart = np.log(np.hypot(*found.axis_mm) / np.hypot(*(flat[4] - flat[:4].mean(axis=0)))) / LENGTH_SIGMA
    return float(-0.5 * apart**2)


def one_of_each_size(spots: list[Spot], colours: tuple[str, ...]) -> list[Spot]:
    """The spots, no size twice in one colour, as piecepack pyramids are: the likeliest way to give them sizes."""
    result = list(spots)
    by_colour = np.array([int(spot.found.colours.argmax()) for spot in spots])
    for colour in range(len(colours)):
        mine = np.flatnonzero(by_colour == colour)
        best = [{one.guess.size.name: one for one in reversed(spots[k].tried)} for k in mine]
        names = sorted({name for of in best for name in of})
        if not 1 < len(mine) <= len(names):
            continue
        worst = min(one.evidence for of in best for one in of.values()) - UNTRIED
        score = np.array([[of[name].evidence if name in of else worst for name in names] for of in best])
        for row, column in zip(*linear_sum_assignment(-score), strict=True):
            chosen = best[row].get(names[column])
            if chosen is not None:
                others = tuple(one for one in spots[mine[row]].tried if one is not chosen)
                result[mine[row]] = Spot(spots[mine[row]].found, (chosen, *others))
    return result


def _reading(spot: Spot) -> Reading:
    """The likeliest of a spot, with the doubt that the others leave about where it is and what."""
    best = spot.tried[0]
    weights = np.exp([min(one.evidence - best.evidence, 0.0) / EDGES_TOGETHER for one in spot.tried])
    weights /= weights.sum()
    same = [one.guess.size == best.guess.size and one.guess.pose == best.guess.pose for one in spot.tried]
    covariance = best.covariance[:3, :3].copy()
    for one, weight in zip(spot.tried, weights, strict=True):
        away = one.guess.away_from(best.guess)
        covariance += weight * np.outer(away, away)
    return Reading(best.guess, covariance, float(weights[same].sum()), spot.found.colours)


def start_sigma(guess: Hypothesis) -> Array:
    """How well a start (p,) is known, 1 sigma."""
    place = START_BASES * guess.size.base_mm
    return np.array([place, place, START_DEG, TILT_SIGMA_DEG])[: len(guess.parameters)]


def start(found: Found, kind: tuple[PieceSize, Pose], anchor: float, photo: Photo) -> Hypothesis:
    """The solid of a size and pose that looks as the finder saw it at `anchor`: 0 the middle of the base, 1 the tip."""
    size, pose = kind
    heading = found.turn_deg if pose == "upright" else _direction_deg(found.axis_mm)
    tilt = TILT_DEG if pose == "leaning" else 0.0
    place = found.middle_mm + (anchor - 0.5) * found.axis_mm
    guess = Hypothesis(size, pose, float(place[0]), float(place[1]), heading, tilt, _ground_mm(found, photo.setup))
    for _ in range(4):
        flat = cast_down(guess.solid.vertices_mm, photo.camera.eye_mm)
        base, tip = flat[:4].mean(axis=0), flat[4]
        turn = 0.0 if pose == "upright" else (_direction_deg(found.axis_mm) - _direction_deg(tip - base) + 180) % 360 - 180
        shift = place - base - anchor * (tip - base)
        guess = guess.at(guess.parameters + np.array([*shift, turn, 0.0])[: len(guess.parameters)])
    return guess


def _ground_mm(found: Found, setup: Setup) -> float:
    """Height of what a piece stands on: beside a thick board that is the table, where the fiducials lie."""
    return 0.0 if within(setup.outline_mm(), found.middle_mm) else min(0.0, setup.fiducials.z_mm)


def _direction_deg(way: Array) -> float:
    return float(np.degrees(np.arctan2(way[1], way[0])))
