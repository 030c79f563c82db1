"""What the rules of a game know of its pieces: how they stand, how many there are, which there is
one of.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from scipy.special import logit, softmax

from table.boards import within
from table.clearance import clearance
from table.observation import SURE
from table.pieces import PieceSize
from table.solids import POSES, Array
from table.table_config import Setup
from vision.assignment.colour import bodies_of
from vision.assignment.nested import rim_gain
from vision.geometry.piece_pose import Hypothesis
from vision.geometry.rectified_view import Photo
from vision.pose.candidates import (
    FAR_BEHIND,
    MISFIT,
    SURE_CHANCE,
    Laid,
    Spot,
    Tried,
    measured,
    neighbours,
    on_edges,
    verified_on_edges,
)
from vision.pose.initial_poses import guesses
from vision.pose.priors import habit_of
from vision.pose.region_likelihood import area

UNTRIED = 30.0
"""How much less speaks for a size that was not even tried than for the worst that was."""
IN_SIGHT = 2.0
"""Log odds that a piece is the target from which it is not looked for anywhere else."""
UNDER, UNSEEN = -3.9, -4.6
"""Log odds that the target is under a given piece that stands, and that it is nowhere in sight,
against its being seen as what it is.
"""
LYING = -4.0
"""Log odds against a target that lies: it is stood up where it lands, but may be knocked over."""
COLOURS_TOLD = 0.4
"""Where it matters which piece is the target, what colours say is believed to this power: of 100
drawn targets two were taken for another colour by more than a thousand to one.
"""
ONE_PLACE_BASES = 0.5
"""Where a colour has one piece, readings of it that are no farther apart than this, in bases, are
of one thing.
"""
LEAST_CHANCE = 1e-6
LEAST_COLOUR, FORBIDDEN = 1e-3, 1000.0
"""What is there once in each colour and size is not given a colour that is less likely than the
first; how much speaks against that.
"""
ONE_TOO_MANY = -5.0
"""Log odds that there is one more of a colour than there should be."""
LEAST_SHARE = 1e-9
"""A size of a piece is not told to be less likely than this."""
UPRIGHT = np.array([1.0, 0.0, 0.0])
"""Chances of POSES of what stands."""


def likeliest_of_one(laid: list[Laid], photo: Photo) -> list[Laid]:
    """The places, the surest first; where a game has one piece of a colour, which of several on the
    board it is the verification has a say in, once they are measured.

    The others are behind all else, so that they are beyond those that there are, and those in the
    same place are left out: what the finder sees of a piece on ground of its own colour may be half
    of it, and print beside it.
    """
    setup = photo.setup
    if habit_of(setup).most > 1:
        return laid
    on_board = [one for one in laid if within(setup.outline_mm(), one.best.middle_mm)]
    others: set[Laid] = set()
    elsewhere: list[Laid] = []
    for colour in range(len(setup.colours)):
        rivals = [one for one in on_board if one.looked.colours.argmax() == colour]
        if len(rivals) > 1:
            speaks = logit([one.chance for one in rivals]) + _fits(rivals, photo)
            likeliest = rivals.pop(int(speaks.argmax()))
            others |= set(rivals)
            elsewhere += [one for one in rivals if not _in_one_place(one.best, likeliest.best)]
    return [*(one for one in laid if one not in others), *elsewhere]


def _fits(rivals: list[Laid], photo: Photo) -> Array:
    """How well readings (n,) fit, in log odds, as they are; and where none does, those that are
    likely as they may be otherwise.
    """
    fits = np.array(
        [best.fit for best, *_ in verified_on_edges([(one.rivals, []) for one in rivals], photo)],
        float,
    )
    likely = [k for k, one in enumerate(rivals) if one.chance > SURE_CHANCE]
    if fits.max() < MISFIT and likely:
        fits[likely] = [
            best.fit for best, *_ in measured([(rivals[k].rivals, []) for k in likely], photo)
        ]
    return fits


def _in_one_place(one: Hypothesis, other: Hypothesis) -> bool:
    """Are two readings, of which one is wrong, of one thing?"""
    return clearance(one.solid, other.solid).mm < ONE_PLACE_BASES * min(
        one.size.base_mm, other.size.base_mm
    )


def as_the_game_has_them(spots: list[Spot], photo: Photo) -> tuple[list[Spot], list[Spot]]:
    """The spots, the surest first, with the colours and sizes that pieces of the game may have
    together, and those on the board beyond the number of pieces that a colour has.
    """
    setup = photo.setup
    if habit_of(setup).most == 1:
        spots = one_of_each_colour(spots, setup)
    if setup.game.pieces != "piecepack":
        return as_many_as_there_are(spots, setup)
    spots, beyond = as_many_as_there_are(
        one_of_each_colour_and_size(tried_as_what_is_left(spots, photo), setup), setup
    )
    return one_of_each_size(spots, setup.colours), beyond


def as_many_as_there_are(spots: list[Spot], setup: Setup) -> tuple[list[Spot], list[Spot]]:
    """The spots, the surest first, and those on the board beyond the number of pieces that a colour
    has.

    In games whose pieces stand apart one beyond it that is surely read is told all the same; one of
    a doubtful colour has another colour of which there may be one more.
    """
    habit, outline = habit_of(setup), setup.outline_mm()
    kept: list[Spot] = []
    beyond: list[Spot] = []
    left = np.full(len(setup.colours), habit.most)
    for spot in sorted(spots, key=lambda one: -float(one.colours.max())) if habit.apart else spots:
        colour, chance = int(spot.colours.argmax()), float(spot.colours.max())
        if not within(outline, spot.middle_mm) or (
            habit.apart and left[colour] <= 0 and min(spot.chance, chance) >= SURE
        ):
            kept.append(spot)
            continue
        if habit.apart and chance < SURE and left[colour] <= 0 < (spot.colours * (left > 0)).max():
            spot = replace(spot, colours=spot.colours * (left > 0))
            colour = int(spot.colours.argmax())
        left[colour] -= 1
        (kept if left[colour] >= 0 else beyond).append(spot)
    return kept, beyond


def tried_as_what_is_left(spots: list[Spot], photo: Photo) -> list[Spot]:
    """The spots, two of one colour that are both read as one size, which piecepack pyramids are not
    unless somebody cheats, each tried as the sizes too that none of its colour was read as: the
    second look may have had too little doubt to try them.
    """
    result = list(spots)
    outlines = [photo.silhouette(spot.best.solid) for spot in spots]
    near = neighbours([spot.best for spot in spots], photo.setup)
    read = [(int(spot.colours.argmax()), spot.best.size) for spot in spots]
    for k, (spot, (colour, size)) in enumerate(zip(spots, read, strict=True)):
        if read.count((colour, size)) > 1:
            left = [
                one
                for one in photo.setup.sizes
                if (colour, one) not in read
                and all(one != other.guess.size for other in spot.tried)
            ]
            result[k] = _tried_as(spot, left, photo, [outlines[j] for j in near[k]])
    return result


def _tried_as(spot: Spot, sizes: list[PieceSize], photo: Photo, hidden_by: list[Array]) -> Spot:
    """The spot with those of these sizes too for which not much less speaks, standing or lying as
    it is best read.
    """
    best, pose = spot.best, np.eye(len(POSES))[POSES.index(spot.best.pose)]
    itself, *others = (
        on_edges(
            guesses([spot.looked], [size], pose, photo.camera.eye_mm, [best.z_mm])[0],
            photo,
            hidden_by,
            None,
        )[0]
        for size in (best.size, *sizes)
    )
    level = spot.tried[0].evidence - itself.evidence
    near = (
        replace(one, evidence=one.evidence + level)
        for one in others
        if one.evidence > itself.evidence - FAR_BEHIND
    )
    tried = (*spot.tried, *near)
    return replace(spot, tried=tuple(sorted(tried, key=lambda one: -one.evidence)))


def one_of_each_colour_and_size(spots: list[Spot], setup: Setup) -> list[Spot]:
    """The spots, with chances of the colours that take into account what all others are: piecepack
    pyramids are there once in each colour and size.  For each colour of a piece stands the
    likeliest way to give colours and sizes to all in which it has that one.
    """
    pairs = [(colour, size.name) for colour in range(len(setup.colours)) for size in setup.sizes]
    mine = [k for k, spot in enumerate(spots) if within(setup.outline_mm(), spot.middle_mm)]
    if not 1 < len(mine) <= len(pairs):
        return spots
    score = np.array([_of_each(spots[k], pairs) for k in mine])
    return _coloured_together(spots, mine, score, np.array([colour for colour, _ in pairs]))


def one_of_each_colour(spots: list[Spot], setup: Setup) -> list[Spot]:
    """The spots, with chances of the colours of those that are surely there that take into account
    what all others of them are, where a colour has one piece unless somebody errs.  For each colour
    of a piece stands the likeliest way to give colours to all in which it has that one.
    """
    colours = np.arange(len(setup.colours))
    mine = [
        k
        for k, spot in enumerate(spots)
        if spot.chance >= SURE and within(setup.outline_mm(), spot.middle_mm)
    ]
    if not 1 < len(mine) <= len(colours):
        return spots
    speaks = np.array([_of_colours(spots[k]) for k in mine])
    return _coloured_together(
        spots, mine, np.hstack([speaks, speaks + ONE_TOO_MANY]), np.tile(colours, 2)
    )


def _coloured_together(
    spots: list[Spot], mine: list[int], score: Array, its: NDArray[np.int_]
) -> list[Spot]:
    """The spots, those that are `mine` with chances of the colours by what speaks, `score` (m, w),
    for giving them one each of what has the colours `its` (w,).
    """
    result = list(spots)
    for row, k in enumerate(mine):
        possible = np.flatnonzero(spots[k].colours >= LEAST_COLOUR)
        if len(possible) > 1:
            chances = np.zeros(len(spots[k].colours))
            chances[possible] = softmax(
                [_best_way(score, row, its == colour) for colour in possible]
            )
            result[k] = replace(spots[k], colours=chances)
    return result


def _of_colours(spot: Spot) -> Array:
    """What speaks for each colour (c,), as a logarithm."""
    return np.where(
        spot.colours >= LEAST_COLOUR, np.log(np.maximum(spot.colours, LEAST_COLOUR)), -FORBIDDEN
    )


def _of_each(spot: Spot, pairs: list[tuple[int, str]]) -> Array:
    """What speaks for each colour and size (p,), as a logarithm."""
    best = _by_size(spot)
    untried = min(one.evidence for one in best.values()) - UNTRIED
    sizes = {name: best[name].evidence if name in best else untried for _, name in pairs}
    colours = _of_colours(spot)
    return (
        np.array([colours[colour] + sizes[name] for colour, name in pairs]) - spot.tried[0].evidence
    )


def _by_size(spot: Spot) -> dict[str, Tried]:
    """Of each size that was tried the likeliest."""
    return {one.guess.size.name: one for one in reversed(spot.tried)}


def _best_way(score: Array, row: int, allowed: NDArray[np.bool_]) -> float:
    """What speaks for the likeliest way to give every piece something else, one of them something
    that is allowed.
    """
    score = score.copy()
    score[row, ~allowed] -= FORBIDDEN
    return float(score[linear_sum_assignment(-score)].sum())


def one_of_each_size(spots: list[Spot], colours: tuple[str, ...]) -> list[Spot]:
    """The spots, no size twice in one colour, as piecepack pyramids are: the likeliest way to give
    them sizes, and of each piece what all ways together say of it.
    """
    result = list(spots)
    by_colour = np.array([int(spot.colours.argmax()) for spot in spots])
    for colour in range(len(colours)):
        mine = np.flatnonzero(by_colour == colour)
        best = [_by_size(spots[k]) for k in mine]
        names = sorted({name for of in best for name in of})
        if not 1 < len(mine) <= len(names):
            continue
        worst = min(one.evidence for of in best for one in of.values()) - UNTRIED
        score = np.array(
            [[of[name].evidence if name in of else worst for name in names] for of in best]
        )
        shares = _shares(score)
        for row, column in zip(*linear_sum_assignment(-score), strict=True):
            chosen = best[row].get(names[column])
            if chosen is not None:
                told = {
                    names[k]: (
                        np.log(max(shares[row, k], LEAST_SHARE)) - best[row][names[k]].evidence
                    )
                    for k in range(len(names))
                    if names[k] in best[row]
                }
                tried = (chosen, *(one for one in spots[mine[row]].tried if one is not chosen))
                tried = tuple(
                    replace(one, evidence=one.evidence + told[one.guess.size.name]) for one in tried
                )
                result[mine[row]] = replace(spots[mine[row]], tried=tried)
    return result


def _shares(score: Array) -> Array:
    """Of pieces and sizes, (p, s), the share of each size in all ways to give every piece one of
    its own; `score` is what speaks for each, as a logarithm.
    """
    pieces, sizes = score.shape
    ways = np.array(list(permutations(range(sizes), pieces)))
    weights = softmax(score[np.arange(pieces), ways].sum(axis=1))
    return np.array([np.bincount(ways[:, piece], weights, sizes) for piece in range(pieces)])


def with_one_target(spots: list[Spot], photo: Photo) -> list[Spot]:
    """The spots, at most one of those in play the target of the game, or standing over it: each
    with the chance that it is, beside all other ways in which the target may be somewhere.
    """
    setup = photo.setup
    assert setup.game.target is not None
    target = setup.colours.index(setup.game.target)
    in_play = [spot for spot in spots if within(setup.outline_mm(), spot.middle_mm)]
    strays = [spot for spot in spots if spot not in in_play]
    if not in_play:
        return spots
    odds = np.array([_target_odds(spot, target) for spot in in_play])
    over = _over_target(in_play, target, photo) if odds.max() < IN_SIGHT else {}
    gains = [
        UNDER + lifted[0].evidence - in_play[k].tried[0].evidence for k, lifted in over.items()
    ]
    chances = softmax(np.array([*odds, *gains, UNSEEN]))
    told = [
        replace(spot, colours=_given(spot.colours, target, float(share)))
        for spot, share in zip(in_play, chances[: len(in_play)], strict=True)
    ]
    under = int(chances.argmax()) - len(in_play)
    if 0 <= under < len(over):
        k = list(over)[under]
        told[k] = _raised(in_play[k], over[k], float(chances.max()), target)
    return told + strays


def _target_odds(spot: Spot, target: int) -> float:
    others = float(np.delete(spot.colours, target).max())
    odds = np.log(max(float(spot.colours[target]), LEAST_CHANCE)) - np.log(
        max(others, LEAST_CHANCE)
    )
    return COLOURS_TOLD * float(odds) + (0.0 if spot.best.pose == "upright" else LYING)


def _given(chances: Array, target: int, share: float) -> Array:
    """Chances when the target's colour has probability `share`."""
    rest = np.delete(chances, target)
    rest = rest / max(float(rest.sum()), LEAST_CHANCE) * (1 - share)
    return np.insert(rest, target, share)


def _over_target(spots: list[Spot], target: int, photo: Photo) -> dict[int, tuple[Tried, ...]]:
    """Of the spots that stand, by their number, how they would stand over the target."""
    pieces = [spot.best for spot in spots]
    outlines = [photo.silhouette(piece.solid) for piece in pieces]
    return {
        k: _over(spots[k], target, photo, [outlines[j] for j in near])
        for k, near in enumerate(neighbours(pieces, photo.setup))
        if pieces[k].pose == "upright"
    }


def _over(spot: Spot, target: int, photo: Photo, hidden_by: list[Array]) -> tuple[Tried, ...]:
    """The spot standing over the target, the likeliest first, with what speaks for it beside what
    speaks for the spot as it is.
    """
    size, here = spot.best.size, area(spot.best.solid, photo, hidden_by)
    standing, lifted = (
        on_edges(
            guesses([spot.looked], [size], UPRIGHT, photo.camera.eye_mm, [z_mm])[0],
            photo,
            hidden_by,
            here,
        )
        for z_mm in (0.0, size.stack_step_mm)
    )
    above, body = lifted[0].guess, bodies_of(photo.setup)[target]
    shows = rim_gain(above.solid, replace(above, z_mm=0.0).solid, body, photo, hidden_by)
    level = spot.tried[0].evidence - standing[0].evidence
    return tuple(replace(one, evidence=one.evidence + level + shows) for one in lifted)


def _raised(spot: Spot, over: tuple[Tried, ...], chance: float, target: int) -> Spot:
    """The spot told to stand over the target, with the chance that it does."""
    beside = over[0].evidence - spot.tried[0].evidence + float(logit(1 - chance))
    flat = (replace(one, evidence=one.evidence + beside) for one in spot.tried)
    above = replace(spot, tried=(*over, *flat))
    return replace(above, under=_below(above, np.eye(len(above.colours))[target]))


def _below(above: Spot, colours: Array) -> Spot:
    """The like piece under one that stands on it: the shells are square, so that one sits on the
    other only with its faces on the other's, and where the upper one is says where the lower one
    is.
    """
    best = above.tried[0]
    return Spot(
        above.looked, (Tried(replace(best.guess, z_mm=0.0), best.covariance, 0.0),), colours
    )
