"""Candidate pieces at each place: possible sizes and poses, aligned with edges and refined."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from math import dist
from typing import NamedTuple, TypeVar

import numpy as np

from table.boards import within
from table.clearance import clearance, is_free
from table.observation import LEANED_ON_MM, SURE
from table.pieces import PieceSize
from table.solids import POSES, Array, Solid
from table.table_config import Setup
from vision.geometry.piece_pose import Hypothesis, seen_middle_mm, silhouette
from vision.geometry.rectified_view import Photo
from vision.networks.detector import Detections
from vision.networks.keypoints import KeypointEstimate
from vision.networks.pose_refiner import Look, refine_poses
from vision.networks.pose_verifier import evidence
from vision.pose.contact import Support, update_by_contact
from vision.pose.edge_alignment import align_to_edges
from vision.pose.initial_poses import (
    MOST_AGAINST,
    InitialPose,
    initial_poses,
    lying_on_its_side,
    uncertain_poses,
)
from vision.pose.lookalikes import lookalike
from vision.pose.pose_search import FITS, larger_alternatives, search_lying_poses
from vision.pose.priors import habit_of, has_dominant_pose, usually_stand
from vision.pose.region_likelihood import Area, area
from vision.probability import expit, logit

SURE_CHANCE, DOUBTED_CHANCE, LEAST_CHANCE = 0.5, 0.1, 0.02
"""Least probability of a piece: to be reported; to be raised by verification; to be reported as
unread.
"""
LEAST_THERE = 0.02
"""Least probability by keypoints of a piece that is considered."""
COVERED, COVERED_WEIGHT = 0.4, 8.0
"""Share of a piece's outline inside the piece mask at which the mask is neutral, and log odds per
unit of that share.
"""
UNSUPPORTED_PENALTY = 5.0
"""Penalty, in nats, of a leaning piece without a support near by.

In games where nearly all pieces have one pose, a leaning reading without support is excluded.
"""
LEAST_POSE = 1e-6
"""Lower bound of pose probabilities."""
MISFIT_LOG_ODDS = 3.0
"""Weighted log odds of the verification below which other poses are tried."""
CONTRADICTED_CHANCE, GOOD_FIT, CONTRADICTED_PENALTY = 0.9, 8.0, 2.5
"""Largest difference in nats, the third, between the best reading and the best one of another pose.
It applies if the keypoints' probability of the best pose is at most the first, and its fit at most
the second.
"""
LARGER_PENALTY = 3.0
"""Penalty, in nats, of the alternative that a lying piece is a larger one with the same tip."""
START_SIGMA_MM = 1.0
"""Standard deviation of pieces' places before edge alignment."""
SAME_BASES, CORE = 0.5, 0.6
"""Distance, in bases, below which two readings are the same piece; they are also if their cores, of
this share of their size, overlap.
"""
CARD = 1.3
"""Side of the square around a visible fiducial in which no piece can lie, relative to the fiducial.
"""
STARTS = 3
"""Number of readings of a place about which lying pieces are searched for if none fits."""
EVIDENCE_MARGIN = 8.0
"""Candidates whose evidence is more nats than this below the best are not aligned."""
EDGES_TOGETHER = 3.0
"""Divisor of the edges' evidence among rivals, because errors of edges are correlated."""
CLOSE_MM, CLEAR_MM = 0.15, 0.3
"""Standard deviation of a place above which it is refined after edge alignment, and above which the
region likelihood is used after both.
"""
AGREEMENT_LIMIT = 2.0
"""Squared Mahalanobis distance up to which the places by edges and by refinement agree."""
COVARIANCE_FACTOR = 2.0
"""Factor on the keypoints' covariances: photographs differ from the training images."""


@dataclass(frozen=True, slots=True, eq=False)
class Candidate:
    """A place with a piece: sizes and poses fitted to its keypoints, the most probable first."""

    keypoints: KeypointEstimate
    rivals: list[InitialPose]
    chance: float

    @property
    def best(self) -> Hypothesis:
        """The most probable hypothesis."""
        return self.rivals[0].guess


class PlaceToMeasure(NamedTuple):
    """Candidates at a place, the most probable first, and outlines (n, 2) px of possible occluders.

    `poses` (3,) are the probabilities of the poses.
    """

    rivals: list[InitialPose]
    occluders: list[Array]
    poses: Array


Leaning = TypeVar("Leaning", InitialPose, "PoseHypothesis")
Neighbourhood = tuple[Candidate, ...]
"""A piece, and its possible occluders."""


@dataclass(frozen=True, slots=True, eq=False)
class PoseHypothesis:
    """A size and pose aligned with its edges, with its log evidence.

    `fit` are the verification's weighted log odds, if it was run.
    """

    guess: Hypothesis
    covariance: Array
    evidence: float
    fit: float | None = None

    @property
    def doubt_mm(self) -> float:
        """Standard deviation of its place."""
        return float(np.sqrt(np.trace(self.covariance[:2, :2])))


@dataclass(frozen=True, slots=True, eq=False)
class PieceEstimate:
    """A place with a piece of probability `chance`.

    `hypotheses` are its readings, the most probable first. `colours` (c,) are the probabilities of
    the table's colours. `under` is the piece that it stands on. `over_target` (c,) are
    log-likelihood ratios of its light: a piece of each colour on the game's target, against the
    target alone. It is None if the light is unlike the target's. `colour_distances` (c,) are the
    mean squared distances, in sigmas, of its light from the table's colours; None if the piece is
    not visible.
    """

    keypoints: KeypointEstimate
    hypotheses: tuple[PoseHypothesis, ...]
    colours: Array
    chance: float = 1.0
    under: PieceEstimate | None = None
    over_target: Array | None = None
    colour_distances: Array | None = None

    @property
    def colour_distance(self) -> float:
        """Mean squared distance, in sigmas, from the nearest colour."""
        return 0.0 if self.colour_distances is None else float(self.colour_distances.min())

    @property
    def best(self) -> Hypothesis:
        """The most probable hypothesis."""
        return self.hypotheses[0].guess

    @property
    def middle_mm(self) -> Array:
        """Middle (2,), seen from straight above."""
        return self.best.middle_mm


def fit_candidates(
    keypoints: list[KeypointEstimate], habit: Array, photo: Photo, detections: Detections
) -> list[Candidate]:
    """Fit solids to the keypoints of possible pieces.

    `habit` (3,) is the prior of the game for the poses.
    """
    there = [one for one in keypoints if one.presence > LEAST_THERE]
    all_rivals = initial_poses(
        there,
        photo.setup.sizes,
        habit,
        photo.camera.eye_mm,
        [_ground_mm(one, photo) for one in there],
    )
    candidates = [
        Candidate(one, rivals, _chance(one, rivals[0].guess, habit, photo, detections))
        for one, rivals in zip(there, all_rivals, strict=True)
    ]
    return [
        one
        for one in candidates
        if one.chance > LEAST_CHANCE and not _hides_fiducial(one.best, photo)
    ]


def _hides_fiducial(guess: Hypothesis, photo: Photo) -> bool:
    """True if the piece would hide a fiducial that was seen."""
    middle = guess.middle_mm
    seen = (
        marker
        for marker in photo.setup.fiducials.markers
        if marker.id in photo.camera.fiducials_seen
    )
    return any(within(marker.around_mm(CARD), middle) for marker in seen)


def without_duplicates(
    new: Iterable[Candidate], apart: Collection[Candidate] = ()
) -> list[Candidate]:
    """The pieces, the most certain first, without those at the place of a more certain one.

    Those in `apart` are known to be distinct.
    """
    known = set(apart)
    accepted: list[tuple[Candidate, _Core]] = []
    for one in sorted([*apart, *new], key=lambda one: -one.chance):
        core = _core(one.best)
        if not any(
            core.is_in_the_place_of(other)
            for there, other in accepted
            if not (one in known and there in known)
        ):
            accepted.append((one, core))
    return [one for one, _ in accepted]


class _Core(NamedTuple):
    """The core of a piece, which no other can reach even with measurement errors of both.

    `reach_mm` is its extent from the middle, `apart_mm` the least distance to the middle of another
    piece.
    """

    solid: Solid
    middle_mm: tuple[float, ...]
    reach_mm: float
    apart_mm: float

    def is_in_the_place_of(self, other: _Core) -> bool:
        """True if two readings are the same piece."""
        away_mm = dist(self.middle_mm, other.middle_mm)
        return away_mm < self.apart_mm or (
            away_mm < self.reach_mm + other.reach_mm and clearance(self.solid, other.solid).mm == 0
        )


def _core(guess: Hypothesis) -> _Core:
    vertices = guess.solid.vertices_mm
    middle = vertices.mean(axis=0)
    core = CORE * (vertices - middle)
    reach_mm = float(np.sqrt((core**2).sum(axis=1).max()))
    return _Core(
        Solid(middle + core), tuple(middle.tolist()), reach_mm, SAME_BASES * guess.size.base_mm
    )


def _chance(
    keypoints: KeypointEstimate,
    guess: Hypothesis,
    habit: Array,
    photo: Photo,
    detections: Detections,
) -> float:
    """Probability of a piece, from keypoints, the piece mask and the game's usual poses."""
    covered = detections.covered_share(silhouette(guess.solid, photo.camera.eye_mm))
    there = min(max(keypoints.presence, 1e-6), 1 - 1e-6)
    usual = float(keypoints.poses @ habit / habit.max())
    odds = np.log(there / (1 - there)) + COVERED_WEIGHT * (covered - COVERED) + np.log(usual)
    return float(1 / (1 + np.exp(-odds)))


def align_all(
    candidates: list[Candidate], photo: Photo, known: Mapping[Neighbourhood, PieceEstimate]
) -> dict[Neighbourhood, PieceEstimate]:
    """All readings at each place, aligned with edges, in the order given.

    Estimates in `known` are reused. Edges behind or beside other pieces are ignored, so an estimate
    depends only on the piece and its neighbours.
    """
    best = [one.best for one in candidates]
    outlines = [photo.silhouette(guess.solid) for guess in best]
    near = neighbours(best, photo.setup)
    neighbourhoods = [
        (one, *(candidates[j] for j in beside))
        for one, beside in zip(candidates, near, strict=True)
    ]
    new = [k for k, neighbourhood in enumerate(neighbourhoods) if neighbourhood not in known]
    lean_anywhere = not has_dominant_pose(photo.setup)
    habit = habit_of(photo.setup).poses
    places = [
        PlaceToMeasure(
            _support_leaning(candidates[k].rivals, [best[j] for j in near[k]], lean_anywhere),
            [outlines[j] for j in near[k]],
            candidates[k].keypoints.poses * habit,
        )
        for k in new
    ]
    earlier = _earlier_poses(best, new, known.values(), photo)
    read = dict(zip(new, measure_places(places, photo, earlier), strict=True))
    estimates = [
        (
            known[neighbourhood]
            if k not in read
            else PieceEstimate(one.keypoints, read[k], one.keypoints.colours, one.chance)
        )
        for k, (one, neighbourhood) in enumerate(zip(candidates, neighbourhoods, strict=True))
    ]
    return {
        neighbourhood: estimates[k]
        if k not in read
        else _rest_on_neighbours(estimates[k], [estimates[j] for j in near[k]])
        for k, neighbourhood in enumerate(neighbourhoods)
    }


def _earlier_poses(
    best: list[Hypothesis], new: list[int], known: Iterable[PieceEstimate], photo: Photo
) -> dict[int, Hypothesis]:
    """Confident poses of the photograph before, by their position in `new` (indices of `best`).

    Each is assigned to the piece with the nearest silhouette, if that one is to be measured again.
    """
    if not new:
        return {}
    seen_mm = np.array([seen_middle_mm(guess.solid, photo.camera.eye_mm) for guess in best])
    poses = {}
    for estimate in known:
        pose, fit = estimate.best, estimate.hypotheses[0].fit
        away_mm = np.linalg.norm(seen_mm - seen_middle_mm(pose.solid, photo.camera.eye_mm), axis=1)
        nearest = int(away_mm.argmin())
        confident = pose.pose != "leaning" and fit is not None and fit > FITS
        if confident and nearest in new and away_mm[nearest] < pose.size.base_mm:
            poses[new.index(nearest)] = pose
    return poses


def _rest_on_neighbours(estimate: PieceEstimate, near: list[PieceEstimate]) -> PieceEstimate:
    """The estimate, with leaning readings moved to rest on near pieces that do not lean."""
    supports = [
        Support(other.best.solid, other.hypotheses[0].doubt_mm)
        for other in near
        if other.best.pose != "leaning"
    ]
    return replace(
        estimate,
        hypotheses=tuple(
            _move_to_contact(one, supports) if one.guess.pose == "leaning" else one
            for one in estimate.hypotheses
        ),
    )


def _support_leaning(
    rivals: list[InitialPose], near: list[Hypothesis], lean_anywhere: bool
) -> list[InitialPose]:
    """The rivals, the most probable first, with leaning pieces resting on a near one.

    A leaning piece without support is dropped if other readings remain. In games in which pieces
    lean anywhere it is penalized instead.
    """
    solids, supports = (
        [other.solid for other in near],
        [Support(other.solid, START_SIGMA_MM) for other in near if other.pose != "leaning"],
    )
    alone = [
        one
        for one in rivals
        if one.guess.pose == "leaning" and is_free(one.guess.solid, solids, LEANED_ON_MM)
    ]
    others = [
        _move_to_contact(one, supports) if one.guess.pose == "leaning" else one
        for one in rivals
        if one not in alone
    ]
    if lean_anywhere or not others:
        others += [replace(one, evidence=one.evidence - UNSUPPORTED_PENALTY) for one in alone]
    return sorted(others, key=_negative_evidence)


def _move_to_contact(one: Leaning, supports: list[Support]) -> Leaning:
    """A leaning piece, moved to rest on the first support that it touches."""
    guess, covariance = update_by_contact(one.guess, one.covariance, supports)
    return replace(one, guess=guess, covariance=covariance)


def with_all_readings(one: Candidate, habit: Array, photo: Photo) -> Candidate:
    """A piece with uncertain keypoints, with all possible readings."""
    rivals = uncertain_poses(
        one.keypoints,
        photo.setup.sizes,
        habit,
        photo.camera.eye_mm,
        _ground_mm(one.keypoints, photo),
    )
    return replace(one, rivals=rivals)


def _ground_mm(keypoints: KeypointEstimate, photo: Photo) -> float:
    """Height of the surface under a piece: the board, or beside it the plane of the fiducials."""
    on_board = within(photo.setup.outline_mm(), keypoints.vertices_mm.mean(axis=0))
    return 0.0 if on_board else min(0.0, photo.setup.fiducials.z_mm)


def raise_where_verified(
    candidates: list[Candidate], known: Collection[Candidate], photo: Photo
) -> list[Candidate]:
    """Raise the probability of doubtful pieces that the verification confirms.

    Only pieces that are not `known`, are probable but not certain, and are in no other piece's
    place.
    """
    doubtful = [
        one for one in candidates if DOUBTED_CHANCE < one.chance < SURE and one not in known
    ]
    surer = {}
    for one, (best, *_) in zip(
        doubtful,
        measure_places([unoccluded_place(one, photo) for one in doubtful], photo),
        strict=True,
    ):
        here = _core(best.guess)
        apart = not any(
            here.is_in_the_place_of(_core(other.best)) for other in candidates if other is not one
        )
        if apart and best.fit is not None and best.fit > FITS:
            surer[one] = replace(one, chance=float(expit(logit(one.chance) + best.fit)))
    return [surer.get(one, one) for one in candidates]


def unoccluded_place(one: Candidate, photo: Photo) -> PlaceToMeasure:
    """A candidate without occluders."""
    return PlaceToMeasure(one.rivals, [], one.keypoints.poses * habit_of(photo.setup).poses)


def measure_places(
    places: list[PlaceToMeasure], photo: Photo, earlier: Mapping[int, Hypothesis] | None = None
) -> list[tuple[PoseHypothesis, ...]]:
    """Measure the rivals of each place, the most probable first.

    The occluders' outlines are (n, 2) px. `earlier` are poses of the photograph before, by place,
    which are tried if no rival fits. All rivals are aligned with edges. If the most probable one is
    then uncertain, it is refined, and if it still is, the region likelihood is used too. Refinement
    runs twice, because its error decreases with the size of the correction.
    """
    hypotheses = align_and_verify(places, photo)
    places, hypotheses = _add_alternatives(places, hypotheses, photo, earlier or {})
    unclear = [
        k
        for k, (best, *_) in enumerate(hypotheses)
        if best.guess.pose != "leaning" and best.doubt_mm > CLOSE_MM
    ]
    first = refine_poses([hypotheses[k][0].guess for k in unclear], photo)
    looks = dict(zip(unclear, refine_poses([guess for guess, _ in first], photo), strict=True))
    return [
        _raise_rival_pose(
            (_apply_refinement(best, looks.get(k), rivals, photo, occluders), *others), poses
        )
        for k, ((best, *others), (rivals, occluders, poses)) in enumerate(
            zip(hypotheses, places, strict=True)
        )
    ]


def _raise_rival_pose(
    hypotheses: tuple[PoseHypothesis, ...], poses: Array
) -> tuple[PoseHypothesis, ...]:
    """The readings of a place, with a likelier other pose if keypoints contradict the best one.

    Unchanged if the best one fits well.
    """
    best, *others = hypotheses
    agreed = poses[POSES.index(best.guess.pose)] / poses.sum()
    rival = next((one for one in others if one.guess.pose != best.guess.pose), None)
    if rival is None or best.fit is None or best.fit > GOOD_FIT or agreed > CONTRADICTED_CHANCE:
        return hypotheses
    likelier = replace(rival, evidence=max(rival.evidence, best.evidence - CONTRADICTED_PENALTY))
    rest = [likelier if one is rival else one for one in others]
    return (best, *sorted(rest, key=_negative_evidence))


def align_and_verify(
    places: list[PlaceToMeasure], photo: Photo
) -> list[tuple[PoseHypothesis, ...]]:
    """The rivals of each place, aligned with edges and verified, the most probable first.

    The occluders' outlines are (n, 2) px.
    """
    return _verify(
        [align_readings(one.rivals, photo, one.occluders, None) for one in places], photo
    )


def _add_alternatives(
    places: list[PlaceToMeasure],
    hypotheses: list[tuple[PoseHypothesis, ...]],
    photo: Photo,
    earlier: Mapping[int, Hypothesis],
) -> tuple[list[PlaceToMeasure], list[tuple[PoseHypothesis, ...]]]:
    """Add further readings to the rivals of each place, and their results.

    They are the lookalike of the best reading and, if it lies, larger pieces that it may be a part
    of. If it does not fit, the earlier pose is added. If that does not fit either, lying pieces
    found by refinement about its middle are added. If one of the rivals stands, so are pieces that
    lie with their bases to the camera. Their evidence does not use the keypoints of their pose.
    """
    more = {}
    alike = _lookalikes(places, hypotheses, photo)
    for k, ((rivals, occluders, poses), (best, *others)) in enumerate(
        zip(places, hypotheses, strict=True)
    ):
        ways = [alike[k]] if k in alike else []
        if best.guess.pose == "lying" and best.fit is not None:
            ways += [
                InitialPose(guess, known, rivals[0].evidence - LARGER_PENALTY)
                for guess, known in larger_alternatives(best.guess, best.fit, photo)
            ]
        misfit = best.fit is not None and best.fit < MISFIT_LOG_ODDS
        before = [earlier[k]] if misfit and k in earlier else []
        if before and evidence(before, photo)[0] > FITS:
            ways += [
                InitialPose(guess, known, _size_evidence(guess.size, rivals) - MOST_AGAINST)
                for guess, known in refine_poses(before, photo)
            ]
        elif misfit:
            stands = next((one for one in rivals if one.guess.pose == "upright"), None)
            ways += (
                []
                if stands is None
                else lying_on_its_side(replace(stands, evidence=rivals[0].evidence))
            )
            if rivals[0] is not stands or not usually_stand(photo.setup):
                eye_mm = photo.camera.eye_mm
                seen_mm = [
                    seen_middle_mm(one.guess.solid, eye_mm) for one in (best, *others)[:STARTS]
                ]
                ways += [
                    InitialPose(guess, known, _size_evidence(guess.size, rivals) - MOST_AGAINST)
                    for guess, known in search_lying_poses(seen_mm, best.guess.z_mm, photo)
                ]
        if ways:
            more[k] = PlaceToMeasure(sorted(ways, key=_negative_evidence), occluders, poses)
    found = align_and_verify(list(more.values()), photo)
    places, hypotheses = list(places), list(hypotheses)
    for (k, one), some in zip(more.items(), found, strict=True):
        places[k] = places[k]._replace(rivals=[*places[k].rivals, *one.rivals])
        hypotheses[k] = tuple(sorted((*hypotheses[k], *some), key=_negative_evidence))
    return places, hypotheses


def _lookalikes(
    places: list[PlaceToMeasure], hypotheses: list[tuple[PoseHypothesis, ...]], photo: Photo
) -> dict[int, InitialPose]:
    """The refined lookalike of the best reading, by place.

    Its evidence is that of the best reading, minus the keypoints' log odds against its pose.
    """
    eye_mm = photo.camera.eye_mm
    found = {k: lookalike(best.guess, eye_mm) for k, (best, *_) in enumerate(hypotheses)}
    alike = {k: guess for k, guess in found.items() if guess is not None}
    ways = {}
    for k, (guess, known) in zip(alike, refine_poses([*alike.values()], photo), strict=True):
        best, poses = hypotheses[k][0], np.log(np.maximum(places[k].poses, LEAST_POSE))
        more = poses[POSES.index(best.guess.pose)] - poses[POSES.index(guess.pose)]
        against = float(np.clip(more, 0.0, MOST_AGAINST))
        ways[k] = InitialPose(guess, known, _reading_evidence(best, places[k].rivals) - against)
    return ways


def _reading_evidence(best: PoseHypothesis, rivals: list[InitialPose]) -> float:
    """Evidence by keypoints for the size and pose of a reading."""
    return max(
        (
            one.evidence
            for one in rivals
            if (one.guess.size, one.guess.pose) == (best.guess.size, best.guess.pose)
        ),
        default=rivals[0].evidence,
    )


def _size_evidence(size: PieceSize, rivals: list[InitialPose]) -> float:
    """Evidence for the size of a lying piece.

    It is that of the keypoints, unless the most probable reading stands. A printed square looks
    like a standing piece.
    """
    likeliest = rivals[0].evidence
    if rivals[0].guess.pose == "upright":
        return likeliest
    return max(
        [
            likeliest - MOST_AGAINST,
            *(
                one.evidence
                for one in rivals
                if one.guess.pose == "lying" and one.guess.size == size
            ),
        ]
    )


def _verify(
    places: list[tuple[PoseHypothesis, ...]], photo: Photo
) -> list[tuple[PoseHypothesis, ...]]:
    """The rivals of each place with the verification's evidence, the most probable first."""
    log_odds = iter(evidence([one.guess for some in places for one in some], photo))

    def with_fit(one: PoseHypothesis) -> PoseHypothesis:
        fit = float(next(log_odds))
        return replace(one, evidence=one.evidence + fit, fit=fit)

    return [tuple(sorted(map(with_fit, some), key=_negative_evidence)) for some in places]


def _apply_refinement(
    best: PoseHypothesis,
    look: Look | None,
    rivals: list[InitialPose],
    photo: Photo,
    occluders: list[Array],
) -> PoseHypothesis:
    """Combine a piece with its refinement.

    If it remains uncertain, it is aligned again with the region likelihood.
    """
    alike = [
        one
        for one in rivals
        if (one.guess.size, one.guess.pose) == (best.guess.size, best.guess.pose)
    ]
    vertices = min(alike, key=lambda one: float(np.abs(one.guess.away_from(best.guess)).sum()))
    refined = _fuse_refinement(best, look, vertices, photo, occluders, None)
    if (
        refined.doubt_mm > CLEAR_MM
        and (around := area(refined.guess.solid, photo, occluders)) is not None
    ):
        (again,) = align_readings([vertices], photo, occluders, around)
        refined = _fuse_refinement(
            replace(again, evidence=best.evidence, fit=best.fit),
            look,
            vertices,
            photo,
            occluders,
            around,
        )
    return refined


def _fuse_refinement(
    best: PoseHypothesis,
    look: Look | None,
    vertices: InitialPose,
    photo: Photo,
    occluders: list[Array],
    around: Area | None,
) -> PoseHypothesis:
    """Combine the place of a piece by edges with that by refinement.

    If they disagree, the piece is aligned again, starting from refinement and keypoints. If edges
    of a piece and of its shadow compete, refinement finds the right ones.
    """
    if look is None:
        return best
    seen, covariance = look
    away = seen.away_from(best.guess)
    if away @ np.linalg.solve(best.covariance + covariance, away) < AGREEMENT_LIMIT:
        guess, known = _fuse_gaussians(best.guess, best.covariance, seen, covariance)
    else:
        guess, known = _fuse_gaussians(
            vertices.guess, COVARIANCE_FACTOR * vertices.covariance, seen, covariance
        )
        placed = align_to_edges(guess, known, photo, occluders, around)
        if placed is not None:
            guess, known = placed.guess, placed.covariance
    return replace(best, guess=guess, covariance=known)


def _fuse_gaussians(
    guess: Hypothesis, covariance: Array, other: Hypothesis, others: Array
) -> tuple[Hypothesis, Array]:
    """Combine two estimates of a piece's place, each with its covariance (p, p)."""
    trust = np.linalg.inv(others)
    both = np.linalg.inv(np.linalg.inv(covariance) + trust)
    return guess.at(guess.parameters + both @ trust @ other.away_from(guess)), both


def align_readings(
    rivals: list[InitialPose], photo: Photo, occluders: list[Array], around: Area | None
) -> tuple[PoseHypothesis, ...]:
    """The rivals aligned with the edges of the photograph, the most probable first.

    `around` is the region likelihood; None if it is not used.
    """
    aligned = []
    for one in rivals:
        if one.evidence > rivals[0].evidence - EVIDENCE_MARGIN:
            placed = align_to_edges(
                one.guess, COVARIANCE_FACTOR * one.covariance, photo, occluders, around
            )
            if placed is None:
                aligned.append(
                    PoseHypothesis(one.guess, COVARIANCE_FACTOR * one.covariance, one.evidence)
                )
            else:
                aligned.append(
                    PoseHypothesis(
                        placed.guess,
                        placed.covariance,
                        one.evidence + placed.evidence / EDGES_TOGETHER,
                    )
                )
    return tuple(sorted(aligned, key=_negative_evidence))


def _negative_evidence(one: InitialPose | PoseHypothesis) -> float:
    return -one.evidence


def neighbours(pieces: list[Hypothesis], setup: Setup) -> list[list[int]]:
    """For each piece, the indices of its possible occluders."""
    reach = 2 * max(size.slant_mm for size in setup.sizes)
    middles = [piece.solid.vertices_mm.mean(axis=0) for piece in pieces]
    return [
        [j for j, there in enumerate(middles) if j != k and np.linalg.norm(there - here) < reach]
        for k, here in enumerate(middles)
    ]
