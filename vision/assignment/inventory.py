"""Apply a game's inventory: the usual poses of its pieces, and their number."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from itertools import permutations

import numpy as np
from numpy.typing import NDArray

from table.assignment import least_cost_pairs
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
    EVIDENCE_MARGIN,
    MISFIT_LOG_ODDS,
    SURE_CHANCE,
    Candidate,
    PieceEstimate,
    PoseHypothesis,
    align_and_verify,
    align_readings,
    measure_places,
    neighbours,
    unoccluded_place,
)
from vision.pose.initial_poses import initial_poses
from vision.pose.priors import habit_of
from vision.pose.region_likelihood import area
from vision.probability import expit, logit, logsumexp, softmax

UNTRIED_PENALTY = 30.0
"""Distance, in nats, of an untried size's log-likelihood below that of the worst tried one."""
IN_SIGHT = 2.0
"""Log odds of a piece being the target above which no standing piece is considered to cover it."""
UNDER, UNSEEN = -3.9, -4.6
"""Log odds that the target is under a given standing piece, and that it is not visible at all,
against it being seen as itself.
"""
UNLIKE_THE_TARGET = -6.0
"""Log-likelihood ratio of a target's light below which no dyed piece is considered to stand on it.
"""
LYING_LOG_ODDS = -4.0
"""Log odds of a lying target against a standing one."""
COLOUR_EXPONENT = 0.4
"""Exponent of the colour probabilities where they identify the target."""
ONE_PLACE_BASES = 0.5
"""Two readings of a colour with a single piece are the same object up to this distance, in bases.
"""
POOR_FIT, NEAR_FIT, MISSING_CHANCE = 3.0, 8.0, 0.1
"""Reassignment of a piece to a colour in play that no piece shows. Colour distance from which a
piece fits its own colour poorly; largest excess of the missing colour's distance over that; least
probability that the missing colour then gets.
"""
LEAST_CHANCE = 1e-6
"""Lower bound of probabilities before their logarithm is taken."""
LEAST_COLOUR, FORBIDDEN = 1e-3, 1000.0
"""Least probability of a colour that a piece unique in colour and size may be given, and the
penalty, in nats, that enforces this.
"""
SURPLUS_LOG_ODDS = -5.0
"""Log odds of one more piece of a colour than the game has."""
LEAST_SHARE = 1e-9
"""Least probability reported for a size."""
UPRIGHT = np.array([1.0, 0.0, 0.0])
"""Probabilities of POSES for standing pieces."""


def put_surplus_last(candidates: list[Candidate], photo: Photo) -> list[Candidate]:
    """Move surplus candidates of a colour to the end, if a colour has just one piece.

    Among several of a colour on the board, verification helps to choose once they are measured.
    The others go to the end, so that they count as surplus; those at the same place are dropped: on
    ground of its own colour a piece may be detected as half of itself, and print beside it as
    another.
    """
    setup = photo.setup
    if habit_of(setup).most > 1:
        return candidates
    on_board = [one for one in candidates if within(setup.outline_mm(), one.best.middle_mm)]
    others: set[Candidate] = set()
    elsewhere: list[Candidate] = []
    for colour in range(len(setup.colours)):
        rivals = [one for one in on_board if one.keypoints.colours.argmax() == colour]
        if len(rivals) > 1:
            speaks = logit([one.chance for one in rivals]) + _fit_log_odds(rivals, photo)
            likeliest = rivals.pop(int(speaks.argmax()))
            others |= set(rivals)
            elsewhere += [one for one in rivals if not _is_same_object(one.best, likeliest.best)]
    return [*(one for one in candidates if one not in others), *elsewhere]


def _fit_log_odds(rivals: list[Candidate], photo: Photo) -> Array:
    """Log odds (n,) of the verification for the best reading of each candidate.

    If none fits, the probable candidates are measured in their other readings too.
    """
    fits = np.array(
        [
            best.fit
            for best, *_ in align_and_verify(
                [unoccluded_place(one, photo) for one in rivals], photo
            )
        ],
        float,
    )
    likely = [k for k, one in enumerate(rivals) if one.chance > SURE_CHANCE]
    if fits.max() < MISFIT_LOG_ODDS and likely:
        fits[likely] = [
            best.fit
            for best, *_ in measure_places(
                [unoccluded_place(rivals[k], photo) for k in likely], photo
            )
        ]
    return fits


def _is_same_object(one: Hypothesis, other: Hypothesis) -> bool:
    """True if two readings are of the same object, so that at most one of them is right."""
    return clearance(one.solid, other.solid).mm < ONE_PLACE_BASES * min(
        one.size.base_mm, other.size.base_mm
    )


def apply_piece_inventory(
    estimates: list[PieceEstimate], photo: Photo
) -> tuple[list[PieceEstimate], list[PieceEstimate]]:
    """Estimates, most certain first, with colours and sizes that the game allows, and the surplus.

    The surplus are pieces on the board beyond the number that a colour has.
    """
    setup = photo.setup
    if habit_of(setup).most == 1:
        estimates = assign_unique_colours(estimates, setup)
    if setup.game.pieces != "piecepack":
        return split_surplus(estimates, setup)
    estimates, beyond = split_surplus(
        assign_unique_pairs(try_missing_sizes(estimates, photo), setup), setup
    )
    return assign_unique_sizes(estimates, setup.colours), beyond


def split_surplus(
    estimates: list[PieceEstimate], setup: Setup
) -> tuple[list[PieceEstimate], list[PieceEstimate]]:
    """Estimates, most certain first, and the surplus on the board.

    The surplus are pieces beyond the number that a colour has. In games whose pieces stand apart, a
    confident reading beyond that number is kept. A piece of doubtful colour gets another colour, of
    which there may be one more.
    """
    habit, outline = habit_of(setup), setup.outline_mm()
    accepted: list[PieceEstimate] = []
    beyond: list[PieceEstimate] = []
    left = np.full(len(setup.colours), habit.most)
    for estimate in (
        sorted(estimates, key=lambda one: -float(one.colours.max())) if habit.apart else estimates
    ):
        colour, chance = int(estimate.colours.argmax()), float(estimate.colours.max())
        if not within(outline, estimate.middle_mm) or (
            habit.apart and left[colour] <= 0 and min(estimate.chance, chance) >= SURE
        ):
            accepted.append(estimate)
            continue
        if (
            habit.apart
            and chance < SURE
            and left[colour] <= 0 < (estimate.colours * (left > 0)).max()
        ):
            estimate = replace(estimate, colours=estimate.colours * (left > 0))
            colour = int(estimate.colours.argmax())
        left[colour] -= 1
        (accepted if left[colour] >= 0 else beyond).append(estimate)
    return accepted, beyond


def try_missing_sizes(estimates: list[PieceEstimate], photo: Photo) -> list[PieceEstimate]:
    """Try duplicates of one colour and size in the sizes that this colour lacks.

    Piecepack pyramids are unique. The keypoints may have been too confident for those sizes to be
    tried.
    """
    result = list(estimates)
    outlines = [photo.silhouette(estimate.best.solid) for estimate in estimates]
    near = neighbours([estimate.best for estimate in estimates], photo.setup)
    read = [(int(estimate.colours.argmax()), estimate.best.size) for estimate in estimates]
    for k, (estimate, (colour, size)) in enumerate(zip(estimates, read, strict=True)):
        if read.count((colour, size)) > 1:
            left = [
                one
                for one in photo.setup.sizes
                if (colour, one) not in read
                and all(one != other.guess.size for other in estimate.hypotheses)
            ]
            result[k] = _add_sizes(estimate, left, photo, [outlines[j] for j in near[k]])
    return result


def _add_sizes(
    estimate: PieceEstimate, sizes: list[PieceSize], photo: Photo, occluders: list[Array]
) -> PieceEstimate:
    """The estimate with those of these sizes whose evidence is close to the best added.

    Each is tried in the best reading's pose.
    """
    best, pose = estimate.best, np.eye(len(POSES))[POSES.index(estimate.best.pose)]
    itself, *others = (
        align_readings(
            initial_poses([estimate.keypoints], [size], pose, photo.camera.eye_mm, [best.z_mm])[0],
            photo,
            occluders,
            None,
        )[0]
        for size in (best.size, *sizes)
    )
    level = estimate.hypotheses[0].evidence - itself.evidence
    near = (
        replace(one, evidence=one.evidence + level)
        for one in others
        if one.evidence > itself.evidence - EVIDENCE_MARGIN
    )
    hypotheses = (*estimate.hypotheses, *near)
    return replace(estimate, hypotheses=tuple(sorted(hypotheses, key=lambda one: -one.evidence)))


def assign_unique_pairs(estimates: list[PieceEstimate], setup: Setup) -> list[PieceEstimate]:
    """Colour probabilities given that each colour and size exists once, as for piecepack pyramids.

    Each colour of a piece is scored by the best assignment of colours and sizes to all pieces that
    includes it.
    """
    pairs = [(colour, size.name) for colour in range(len(setup.colours)) for size in setup.sizes]
    mine = [
        k for k, estimate in enumerate(estimates) if within(setup.outline_mm(), estimate.middle_mm)
    ]
    if not 1 < len(mine) <= len(pairs):
        return estimates
    score = np.array([_pair_log_likelihoods(estimates[k], pairs) for k in mine])
    return _assign_colours_jointly(
        estimates, mine, score, np.array([colour for colour, _ in pairs])
    )


def assign_unique_colours(estimates: list[PieceEstimate], setup: Setup) -> list[PieceEstimate]:
    """Colour probabilities if each colour has one piece, or by mistake one more.

    Only confident estimates take part. Each colour of a piece is scored by the best assignment of
    colours to all pieces that includes it.
    """
    colours = np.arange(len(setup.colours))
    mine = [
        k
        for k, estimate in enumerate(estimates)
        if estimate.chance >= SURE and within(setup.outline_mm(), estimate.middle_mm)
    ]
    if not 1 < len(mine) <= len(colours):
        return estimates
    speaks = np.array([_colour_log_likelihoods(estimates[k]) for k in mine])
    return _assign_colours_jointly(
        estimates, mine, np.hstack([speaks, speaks + SURPLUS_LOG_ODDS]), np.tile(colours, 2)
    )


def _assign_colours_jointly(
    estimates: list[PieceEstimate], mine: list[int], score: Array, its: NDArray[np.int_]
) -> list[PieceEstimate]:
    """The estimates, those at `mine` with colour probabilities by joint assignment.

    `score` (m, w) is the log-likelihood of assigning item w to piece m, `its` (w,) the items'
    colours.
    """
    result = list(estimates)
    for row, k in enumerate(mine):
        possible = np.flatnonzero(estimates[k].colours >= LEAST_COLOUR)
        if len(possible) > 1:
            chances = np.zeros(len(estimates[k].colours))
            chances[possible] = softmax(
                [_best_assignment_score(score, row, its == colour) for colour in possible]
            )
            result[k] = replace(estimates[k], colours=chances)
    return result


def _colour_log_likelihoods(estimate: PieceEstimate) -> Array:
    """Log-likelihood of each colour (c,)."""
    return np.where(
        estimate.colours >= LEAST_COLOUR,
        np.log(np.maximum(estimate.colours, LEAST_COLOUR)),
        -FORBIDDEN,
    )


def _pair_log_likelihoods(estimate: PieceEstimate, pairs: list[tuple[int, str]]) -> Array:
    """Log-likelihood of each colour and size (p,)."""
    best = _best_of_each_size(estimate)
    untried = min(one.evidence for one in best.values()) - UNTRIED_PENALTY
    sizes = {name: best[name].evidence if name in best else untried for _, name in pairs}
    colours = _colour_log_likelihoods(estimate)
    return (
        np.array([colours[colour] + sizes[name] for colour, name in pairs])
        - estimate.hypotheses[0].evidence
    )


def _best_of_each_size(estimate: PieceEstimate) -> dict[str, PoseHypothesis]:
    """The most probable tried reading of each size."""
    return {one.guess.size.name: one for one in reversed(estimate.hypotheses)}


def _best_assignment_score(score: Array, row: int, allowed: NDArray[np.bool_]) -> float:
    """Score of the best one-to-one assignment in which the piece `row` gets an allowed item."""
    score = score.copy()
    score[row, ~allowed] -= FORBIDDEN
    return float(score[least_cost_pairs(-score)].sum())


def assign_unique_sizes(
    estimates: list[PieceEstimate], colours: tuple[str, ...]
) -> list[PieceEstimate]:
    """The estimates with no size twice in one colour, as for piecepack pyramids.

    The best assignment sets the sizes; the probabilities are marginals over all assignments.
    """
    result = list(estimates)
    by_colour = np.array([int(estimate.colours.argmax()) for estimate in estimates])
    for colour in range(len(colours)):
        mine = np.flatnonzero(by_colour == colour)
        best = [_best_of_each_size(estimates[k]) for k in mine]
        names = sorted({name for of in best for name in of})
        if not 1 < len(mine) <= len(names):
            continue
        worst = min(one.evidence for of in best for one in of.values()) - UNTRIED_PENALTY
        score = np.array(
            [[of[name].evidence if name in of else worst for name in names] for of in best]
        )
        shares = _shares(score)
        for row, column in zip(*least_cost_pairs(-score), strict=True):
            chosen = best[row].get(names[column])
            if chosen is not None:
                gains = {
                    names[k]: (
                        np.log(max(shares[row, k], LEAST_SHARE)) - best[row][names[k]].evidence
                    )
                    for k in range(len(names))
                    if names[k] in best[row]
                }
                hypotheses = (
                    chosen,
                    *(one for one in estimates[mine[row]].hypotheses if one is not chosen),
                )
                hypotheses = tuple(
                    replace(one, evidence=one.evidence + gains[one.guess.size.name])
                    for one in hypotheses
                )
                result[mine[row]] = replace(estimates[mine[row]], hypotheses=hypotheses)
    return result


def _shares(score: Array) -> Array:
    """Marginal probabilities (p, s) of the sizes of each piece over all one-to-one assignments.

    `score` (p, s) are log-likelihoods.
    """
    pieces, sizes = score.shape
    ways = np.array(list(permutations(range(sizes), pieces)))
    weights = softmax(score[np.arange(pieces), ways].sum(axis=1))
    return np.array([np.bincount(ways[:, piece], weights, sizes) for piece in range(pieces)])


def doubt_for_missing_colours(estimates: list[PieceEstimate], setup: Setup) -> list[PieceEstimate]:
    """Lower the colour probabilities of pieces that may have a colour that no piece shows.

    These are pieces that fit their own colour poorly, and the missing colour nearly as well.
    """
    shown = [
        int(one.colours.argmax())
        for estimate in estimates
        for one in (estimate, estimate.under)
        if one is not None
    ]
    missing = [k for k in range(len(setup.colours)) if k not in shown]
    return [_with_missing_colour(estimate, missing) for estimate in estimates]


def _with_missing_colour(estimate: PieceEstimate, missing: list[int]) -> PieceEstimate:
    apart = estimate.colour_distances
    if not missing or apart is None or estimate.colour_distance < POOR_FIT:
        return estimate
    other = min(missing, key=lambda k: float(apart[k]))
    if apart[other] > estimate.colour_distance + NEAR_FIT:
        return estimate
    chance = max(MISSING_CHANCE, float(estimate.colours[other]))
    return replace(estimate, colours=_set_colour_share(estimate.colours, other, chance))


def with_one_target(estimates: list[PieceEstimate], photo: Photo) -> list[PieceEstimate]:
    """The estimates with at most one piece in play as the game's target, or standing on it.

    Each gets the probability of being the target, normalized over all places where it may be.
    """
    setup = photo.setup
    assert setup.game.target is not None
    target = setup.colours.index(setup.game.target)
    in_play = [estimate for estimate in estimates if within(setup.outline_mm(), estimate.middle_mm)]
    strays = [estimate for estimate in estimates if estimate not in in_play]
    if not in_play:
        return estimates
    odds = np.array([_target_odds(estimate, target) for estimate in in_play])
    may_hide_it = range(len(in_play)) if odds.max() < IN_SIGHT else ()
    over = _readings_over_target(in_play, target, photo, may_hide_it)
    gains = [
        UNDER + lifted[0].evidence - in_play[k].hypotheses[0].evidence for k, lifted in over.items()
    ]
    chances = softmax(np.array([*odds, *gains, UNSEEN]))
    weighed = [
        replace(estimate, colours=_set_colour_share(estimate.colours, target, float(share)))
        for estimate, share in zip(in_play, chances[: len(in_play)], strict=True)
    ]
    best = int(chances.argmax())
    if 0 <= best - len(in_play) < len(over):
        k = list(over)[best - len(in_play)]
        weighed[k] = _stack_on_target(in_play[k], over[k], float(chances.max()), target)
    elif best < len(in_play) and not over:
        weighed[best] = _target_or_piece_on_it(weighed, best, target, photo)
    return weighed + strays


def _target_or_piece_on_it(
    estimates: list[PieceEstimate], k: int, target: int, photo: Photo
) -> PieceEstimate:
    """The target, estimate `k`, or the dyed piece that stands on it if that is likelier.

    A dyed piece on the target has nearly the target's colour.
    """
    estimate = estimates[k]
    if (
        estimate.over_target is None
        or (by_light := _any_colour_log_ratio(estimate.over_target)) < UNLIKE_THE_TARGET
    ):
        return estimate
    over = _readings_over_target(estimates, target, photo, [k]).get(k)
    if over is None:
        return estimate
    colours = softmax(estimate.over_target)
    chance = float(expit(UNDER + over[0].evidence - estimate.hypotheses[0].evidence + by_light))
    if chance > 0.5:
        return _stack_on_target(replace(estimate, colours=colours), over, chance, target)
    return replace(estimate, colours=(1 - chance) * estimate.colours + chance * colours)


def _any_colour_log_ratio(over_target: Array) -> float:
    """Log-likelihood ratio of any colour but the target's, with equal priors."""
    return float(logsumexp(over_target)) - math.log(len(over_target) - 1)


def _target_odds(estimate: PieceEstimate, target: int) -> float:
    others = float(np.delete(estimate.colours, target).max())
    odds = np.log(max(float(estimate.colours[target]), LEAST_CHANCE)) - np.log(
        max(others, LEAST_CHANCE)
    )
    return COLOUR_EXPONENT * float(odds) + (
        0.0 if estimate.best.pose == "upright" else LYING_LOG_ODDS
    )


def _set_colour_share(chances: Array, colour: int, share: float) -> Array:
    """Colour probabilities rescaled so that one colour has probability `share`."""
    rest = np.delete(chances, colour)
    rest = rest / max(float(rest.sum()), LEAST_CHANCE) * (1 - share)
    return np.insert(rest, colour, share)


def _readings_over_target(
    estimates: list[PieceEstimate], target: int, photo: Photo, indices: Iterable[int]
) -> dict[int, tuple[PoseHypothesis, ...]]:
    """For each standing estimate among `indices`, the readings in which it is over the target."""
    pieces = [estimate.best for estimate in estimates]
    standing = [k for k in indices if pieces[k].pose == "upright"]
    if not standing:
        return {}
    near = neighbours(pieces, photo.setup)
    outlines = {
        j: photo.silhouette(pieces[j].solid) for j in {j for k in standing for j in near[k]}
    }
    return {
        k: _lifted_readings(estimates[k], target, photo, [outlines[j] for j in near[k]])
        for k in standing
    }


def _lifted_readings(
    estimate: PieceEstimate, target: int, photo: Photo, occluders: list[Array]
) -> tuple[PoseHypothesis, ...]:
    """Readings of the estimate standing over the target, the most probable first.

    Their evidence is relative to that of the original estimate.
    """
    size, here = estimate.best.size, area(estimate.best.solid, photo, occluders)
    standing, lifted = (
        align_readings(
            initial_poses([estimate.keypoints], [size], UPRIGHT, photo.camera.eye_mm, [z_mm])[0],
            photo,
            occluders,
            here,
        )
        for z_mm in (0.0, size.stack_step_mm)
    )
    above, body = lifted[0].guess, bodies_of(photo.setup)[target]
    shows = rim_gain(above.solid, replace(above, z_mm=0.0).solid, body, photo, occluders)
    level = estimate.hypotheses[0].evidence - standing[0].evidence
    return tuple(replace(one, evidence=one.evidence + level + shows) for one in lifted)


def _stack_on_target(
    estimate: PieceEstimate, over: tuple[PoseHypothesis, ...], chance: float, target: int
) -> PieceEstimate:
    """The estimate as standing over the target, with the probability that it does."""
    beside = over[0].evidence - estimate.hypotheses[0].evidence + float(logit(1 - chance))
    flat = (replace(one, evidence=one.evidence + beside) for one in estimate.hypotheses)
    above = replace(estimate, hypotheses=(*over, *flat))
    return replace(above, under=_piece_below(above, np.eye(len(above.colours))[target], chance))


def _piece_below(above: PieceEstimate, colours: Array, chance: float) -> PieceEstimate:
    """Piece of the same size under a standing one, with the same place and heading.

    `chance` is the probability that it is there. The shells are square, so their faces align.
    """
    best = above.hypotheses[0]
    return PieceEstimate(
        above.keypoints,
        (PoseHypothesis(replace(best.guess, z_mm=0.0), best.covariance, 0.0),),
        colours,
        chance,
    )
