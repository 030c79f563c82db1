"""Places where there is a piece: what may stand there, moved on to the edges of the photograph, and
looked at closely.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from math import dist
from typing import NamedTuple, TypeVar

import numpy as np
from scipy.special import expit, logit

from table.boards import within
from table.clearance import clearance, is_free
from table.observation import LEANED_ON_MM, SURE
from table.pieces import PieceSize
from table.solids import Array, Solid
from table.table_config import Setup
from vision.geometry.piece_pose import Hypothesis, silhouette
from vision.geometry.rectified_view import Photo
from vision.networks.detector import Sight
from vision.networks.keypoints import Looked
from vision.networks.pose_refiner import Look, look_closely
from vision.networks.pose_verifier import evidence
from vision.pose.contact import Support, rested
from vision.pose.edge_alignment import snap
from vision.pose.initial_poses import (
    MOST_AGAINST,
    Guess,
    doubtful_guesses,
    guesses,
    lying_on_its_side,
)
from vision.pose.pose_search import FITS, as_it_may_lie, as_larger
from vision.pose.priors import lie_as_a_rule, stand_alike
from vision.pose.region_likelihood import Area, area

SURE_CHANCE, LEAST_CHANCE = 0.5, 0.1
"""Where a piece is less likely than the first none is told, but something unread; than the second,
nothing.
"""
LEAST_THERE = 0.02
"""What the second look thinks less likely than this is not even laid out."""
COVERED, COVERED_WEIGHT = 0.4, 8.0
"""Share of a piece's outline over which the finder sees pieces that speaks neither for it nor
against, and the log odds that all of it would speak.
"""
ALONE = 5.0
"""How much speaks against a piece that leans with nothing near to lean on: of those read so on
1,008 drawn tables, 34 of 48 did lean in games where they may, and none of ten where nearly all
pieces stand alike: there it is not believed.
"""
MISFIT = 3.0
"""Below these log odds of the verification a piece may lie otherwise than it seems to: of 3,288
drawn and photographed pieces 10 of 3,194 above them were read in another pose than theirs, and 45
of 94 below.
"""
LARGER = 3.0
"""How much speaks against a larger piece in the place of one that lies, if it fits better with its
tip there.  Of 1,267 pieces on 120 drawn tables with nests 1,241 were read right with such rivals,
nine surely wrong; 1,232 and 13 without.
"""
LAID_MM = 1.0
"""How well it is known where pieces are before their edges are read, 1 sigma."""
SAME_BASES, CORE = 0.5, 0.6
"""Two readings nearer than this, in bases, are one piece, and so are two whose cores, of this share
of their size, meet.
"""
CARD = 1.3
"""Of a fiducial that was seen, a square so much larger shows that nothing lies on it."""
FAR_BEHIND = 8.0
"""Guesses for which so much less speaks than for the best are not moved on to the edges."""
EDGES_TOGETHER = 3.0
"""Edges err together: what they say for one rival against another is believed to this root."""
CLOSE_MM, CLEAR_MM = 0.15, 0.3
"""Where edges leave more doubt than the first about a place, 1 sigma, it is looked at closely;
where both together leave more than the second, it is asked what the areas beside the edges look
like.
"""
AGREED = 2.0
"""Squared distance, in their sigmas together, up to which edges and a close look speak of the same
place.
"""
SPREAD = 2.0
"""Photographs are not as practice sheets are: the second look's covariances are taken this much
larger.
"""


@dataclass(frozen=True, slots=True, eq=False)
class Laid:
    """A place where there is a piece, and the sizes and poses laid on the vertices that were seen,
    the likeliest first.
    """

    looked: Looked
    rivals: list[Guess]
    chance: float

    @property
    def best(self) -> Hypothesis:
        return self.rivals[0].guess


Asked = tuple[list[Guess], list[Array]]
"""What may be at a place, the likeliest first, and outlines (n, 2) px of what may hide it."""
Leaning = TypeVar("Leaning", Guess, "Tried")
Company = tuple[Laid, ...]
"""A piece and those that are so near that they may hide some of it."""


@dataclass(frozen=True, slots=True, eq=False)
class Tried:
    """A size and pose at the place that its edges give it, and the logarithm of what speaks for it;
    `fit` is what the verification says of it, in log odds, if it was asked.
    """

    guess: Hypothesis
    covariance: Array
    evidence: float
    fit: float | None = None

    @property
    def doubt_mm(self) -> float:
        """How well its place is known, 1 sigma."""
        return float(np.sqrt(np.trace(self.covariance[:2, :2])))


@dataclass(frozen=True, slots=True, eq=False)
class Spot:
    """A place where there is a piece, by this `chance`: what it may be, the likeliest first, and
    the chances (c,) of the table's colours; `under` is the piece that it stands on.
    """

    looked: Looked
    tried: tuple[Tried, ...]
    colours: Array
    chance: float = 1.0
    under: Spot | None = None

    @property
    def best(self) -> Hypothesis:
        return self.tried[0].guess

    @property
    def middle_mm(self) -> Array:
        """(2,), seen from straight above."""
        return self.best.middle_mm


def lay(looked: list[Looked], habit: Array, photo: Photo, sight: Sight) -> list[Laid]:
    """Solids laid on what the second look sees, where there may be a piece; `habit` (3,) says how
    pieces of the game stand as a rule.
    """
    there = [one for one in looked if one.there > LEAST_THERE]
    all_rivals = guesses(
        there,
        photo.setup.sizes,
        habit,
        photo.camera.eye_mm,
        [_ground_mm(one, photo) for one in there],
    )
    laid = [
        Laid(one, rivals, _chance(one, rivals[0].guess, habit, photo, sight))
        for one, rivals in zip(there, all_rivals, strict=True)
    ]
    return [one for one in laid if one.chance > LEAST_CHANCE and not _on_card(one.best, photo)]


def _on_card(guess: Hypothesis, photo: Photo) -> bool:
    """Is the piece on a fiducial that was seen, and which it would hide?"""
    middle = guess.middle_mm
    seen = (
        marker
        for marker in photo.setup.fiducials.markers
        if marker.id in photo.camera.fiducials_seen
    )
    return any(within(marker.around_mm(CARD), middle) for marker in seen)


def each_once(new: Iterable[Laid], apart: Collection[Laid] = ()) -> list[Laid]:
    """The pieces, the surest first, without those that lie where a surer one does; of those that
    are `apart` no two do.
    """
    known = set(apart)
    kept: list[tuple[Laid, _Core]] = []
    for one in sorted([*apart, *new], key=lambda one: -one.chance):
        core = _core(one.best)
        if not any(
            core.is_in_the_place_of(other)
            for there, other in kept
            if not (one in known and there in known)
        ):
            kept.append((one, core))
    return [one for one, _ in kept]


class _Core(NamedTuple):
    """The inside of a piece, which no other can reach even if both are read a little wrong; its
    middle, how far it reaches from there, and how near no middle of another piece can be, in mm.
    """

    solid: Solid
    middle_mm: tuple[float, ...]
    reach_mm: float
    apart_mm: float

    def is_in_the_place_of(self, other: _Core) -> bool:
        """Are two pieces one?"""
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


def _chance(looked: Looked, guess: Hypothesis, habit: Array, photo: Photo, sight: Sight) -> float:
    """That there is a piece: what the second look says, whether the finder sees pieces where it
    would show, and whether pieces of the game stand so.
    """
    covered = sight.share_seen(silhouette(guess.solid, photo.camera.eye_mm))
    there = min(max(looked.there, 1e-6), 1 - 1e-6)
    usual = float(looked.poses @ habit / habit.max())
    odds = np.log(there / (1 - there)) + COVERED_WEIGHT * (covered - COVERED) + np.log(usual)
    return float(1 / (1 + np.exp(-odds)))


def on_their_edges(
    laid: list[Laid], photo: Photo, known: Mapping[Company, Spot]
) -> dict[Company, Spot]:
    """All that may be at each place, moved on to the edges, in the order given; spots that are
    `known` are not read again.

    Edges behind or beside other pieces are left to those: so a spot goes with the company that its
    piece keeps.
    """
    best = [one.best for one in laid]
    outlines = [photo.silhouette(guess.solid) for guess in best]
    near = neighbours(best, photo.setup)
    companies = [(one, *(laid[j] for j in beside)) for one, beside in zip(laid, near, strict=True)]
    new = [k for k, company in enumerate(companies) if company not in known]
    lean_anywhere = not stand_alike(photo.setup)
    asked = [
        (
            _supported(laid[k].rivals, [best[j] for j in near[k]], lean_anywhere),
            [outlines[j] for j in near[k]],
        )
        for k in new
    ]
    read = dict(zip(new, measured(asked, photo), strict=True))
    spots = [
        (
            known[company]
            if k not in read
            else Spot(one.looked, read[k], one.looked.colours, one.chance)
        )
        for k, (one, company) in enumerate(zip(laid, companies, strict=True))
    ]
    return {
        company: spots[k] if k not in read else _at_rest(spots[k], [spots[j] for j in near[k]])
        for k, company in enumerate(companies)
    }


def _at_rest(spot: Spot, near: list[Spot]) -> Spot:
    """A place with what may lean there resting on what is near and does not lean itself."""
    supports = [
        Support(other.best.solid, other.tried[0].doubt_mm)
        for other in near
        if other.best.pose != "leaning"
    ]
    return replace(
        spot,
        tried=tuple(
            _resting(one, supports) if one.guess.pose == "leaning" else one for one in spot.tried
        ),
    )


def _supported(rivals: list[Guess], near: list[Hypothesis], lean_anywhere: bool) -> list[Guess]:
    """The rivals, the likeliest first, where a piece that leans rests on one that is near, and has
    to: others are left out if there are any that do not lean, or less likely in games in which they
    lean anywhere.
    """
    solids, supports = (
        [other.solid for other in near],
        [Support(other.solid, LAID_MM) for other in near if other.pose != "leaning"],
    )
    alone = [
        one
        for one in rivals
        if one.guess.pose == "leaning" and is_free(one.guess.solid, solids, LEANED_ON_MM)
    ]
    others = [
        _resting(one, supports) if one.guess.pose == "leaning" else one
        for one in rivals
        if one not in alone
    ]
    if lean_anywhere or not others:
        others += [replace(one, evidence=one.evidence - ALONE) for one in alone]
    return sorted(others, key=_against)


def _resting(one: Leaning, supports: list[Support]) -> Leaning:
    """A piece that leans as it rests on what it touches first."""
    guess, covariance = rested(one.guess, one.covariance, supports)
    return replace(one, guess=guess, covariance=covariance)


def doubted(one: Laid, habit: Array, photo: Photo) -> Laid:
    """A piece that is seen badly with all that it may be."""
    rivals = doubtful_guesses(
        one.looked, photo.setup.sizes, habit, photo.camera.eye_mm, _ground_mm(one.looked, photo)
    )
    return replace(one, rivals=rivals)


def _ground_mm(looked: Looked, photo: Photo) -> float:
    """How high a piece stands: beside a thick board on the table, where the fiducials lie."""
    on_board = within(photo.setup.outline_mm(), looked.vertices_mm.mean(axis=0))
    return 0.0 if on_board else min(0.0, photo.setup.fiducials.z_mm)


def surer_where_they_fit(laid: list[Laid], known: Collection[Laid], photo: Photo) -> list[Laid]:
    """The pieces, those that are not `known` and likely, but not surely, there surer by what the
    verification says of them where they are measured, if they fit, in a place of their own: of 33
    such readings 31 were right, of 35 that did not fit 10.
    """
    doubtful = [one for one in laid if SURE_CHANCE < one.chance < SURE and one not in known]
    surer = {}
    for one, (best, *_) in zip(
        doubtful, measured([(one.rivals, []) for one in doubtful], photo), strict=True
    ):
        here = _core(best.guess)
        apart = not any(
            here.is_in_the_place_of(_core(other.best)) for other in laid if other is not one
        )
        if apart and best.fit is not None and best.fit > FITS:
            surer[one] = replace(one, chance=float(expit(logit(one.chance) + best.fit)))
    return [surer.get(one, one) for one in laid]


def measured(asked: list[Asked], photo: Photo) -> list[tuple[Tried, ...]]:
    """The rivals of each place, which outlines (n, 2) px may hide, where their edges are, the
    likeliest first.  Where edges leave doubt about the likeliest, a close look has a say, and where
    doubt is left then, the areas beside the edges too.

    The close look is two: one more from where the first has the piece.  The less there is to
    correct, the better a look does it.
    """
    tried = verified_on_edges(asked, photo)
    asked, tried = _also_otherwise(asked, tried, photo)
    unclear = [
        k
        for k, (best, *_) in enumerate(tried)
        if best.guess.pose != "leaning" and best.doubt_mm > CLOSE_MM
    ]
    first = look_closely([tried[k][0].guess for k in unclear], photo)
    looks = dict(zip(unclear, look_closely([guess for guess, _ in first], photo), strict=True))
    return [
        (_settled(best, looks.get(k), rivals, photo, hidden_by), *others)
        for k, ((best, *others), (rivals, hidden_by)) in enumerate(zip(tried, asked, strict=True))
    ]


def verified_on_edges(asked: list[Asked], photo: Photo) -> list[tuple[Tried, ...]]:
    """The rivals of each place, which outlines (n, 2) px may hide, where their edges are, with what
    the verification says; the likeliest first.
    """
    return _verified(
        [on_edges(rivals, photo, hidden_by, None) for rivals, hidden_by in asked], photo
    )


def _also_otherwise(
    asked: list[Asked], tried: list[tuple[Tried, ...]], photo: Photo
) -> tuple[list[Asked], list[tuple[Tried, ...]]]:
    """The rivals of each place and what came of them; where the best lies, with larger ones that it
    may be a part of, and where it does not fit, with pieces that lie with their bases to the
    camera, if one of them stands, and as a close look sees pieces lie about its middle.  What
    vertices say for one or another is believed of none of these.
    """
    others = {}
    for k, ((rivals, hidden_by), (best, *_)) in enumerate(zip(asked, tried, strict=True)):
        ways = []
        if best.guess.pose == "lying" and best.fit is not None:
            ways += [
                Guess(guess, known, rivals[0].evidence - LARGER)
                for guess, known in as_larger(best.guess, best.fit, photo)
            ]
        if best.fit is not None and best.fit < MISFIT:
            stands = next((one for one in rivals if one.guess.pose == "upright"), None)
            ways += (
                []
                if stands is None
                else lying_on_its_side(replace(stands, evidence=rivals[0].evidence))
            )
            looks = (
                as_it_may_lie(best.guess.middle_mm, best.guess.z_mm, photo)
                if rivals[0] is not stands or lie_as_a_rule(photo.setup)
                else []
            )
            ways += [
                Guess(guess, known, _for_size(guess.size, rivals) - MOST_AGAINST)
                for guess, known in looks
            ]
        if ways:
            others[k] = (ways, hidden_by)
    found = verified_on_edges(list(others.values()), photo)
    asked, tried = list(asked), list(tried)
    for (k, (ways, hidden_by)), some in zip(others.items(), found, strict=True):
        asked[k] = ([*asked[k][0], *ways], hidden_by)
        tried[k] = tuple(sorted((*tried[k], *some), key=_against))
    return asked, tried


def _for_size(size: PieceSize, rivals: list[Guess]) -> float:
    """What speaks for a size of a piece that lies: what the second look saw of it, unless that may
    be a printed square, as if the piece stood.
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


def _verified(places: list[tuple[Tried, ...]], photo: Photo) -> list[tuple[Tried, ...]]:
    """The rivals of each place, the likeliest first, with what the verification says."""
    says = iter(evidence([one.guess for some in places for one in some], photo))

    def weighed(one: Tried) -> Tried:
        fit = float(next(says))
        return replace(one, evidence=one.evidence + fit, fit=fit)

    return [tuple(sorted(map(weighed, some), key=_against)) for some in places]


def _settled(
    best: Tried, look: Look | None, rivals: list[Guess], photo: Photo, hidden_by: list[Array]
) -> Tried:
    """A piece with what a close look says of where it is; where that leaves doubt, measured once
    more with the areas beside its edges.
    """
    alike = [
        one
        for one in rivals
        if (one.guess.size, one.guess.pose) == (best.guess.size, best.guess.pose)
    ]
    vertices = min(alike, key=lambda one: float(np.abs(one.guess.away_from(best.guess)).sum()))
    settled = _agreed(best, look, vertices, photo, hidden_by, None)
    if (
        settled.doubt_mm > CLEAR_MM
        and (around := area(settled.guess.solid, photo, hidden_by)) is not None
    ):
        (again,) = on_edges([vertices], photo, hidden_by, around)
        settled = _agreed(
            replace(again, evidence=best.evidence, fit=best.fit),
            look,
            vertices,
            photo,
            hidden_by,
            around,
        )
    return settled


def _agreed(
    best: Tried,
    look: Look | None,
    vertices: Guess,
    photo: Photo,
    hidden_by: list[Array],
    around: Area | None,
) -> Tried:
    """A piece on its edges with what a close look says of where it stands or lies; where the two do
    not agree, it is moved on to the edges again from what the look and vertices say: where edges
    lie in several places, as those of a piece and of its shadow, the look knows which to believe.
    """
    if look is None:
        return best
    seen, covariance = look
    away = seen.away_from(best.guess)
    if away @ np.linalg.solve(best.covariance + covariance, away) < AGREED:
        guess, known = _together(best.guess, best.covariance, seen, covariance)
    else:
        guess, known = _together(vertices.guess, SPREAD * vertices.covariance, seen, covariance)
        placed = snap(guess, known, photo, hidden_by, around)
        if placed is not None:
            guess, known = placed.guess, placed.covariance
    return replace(best, guess=guess, covariance=known)


def _together(
    guess: Hypothesis, covariance: Array, other: Hypothesis, others: Array
) -> tuple[Hypothesis, Array]:
    """Two places of a piece, each with its covariance (p, p), in one."""
    trust = np.linalg.inv(others)
    both = np.linalg.inv(np.linalg.inv(covariance) + trust)
    return guess.at(guess.parameters + both @ trust @ other.away_from(guess)), both


def on_edges(
    rivals: list[Guess], photo: Photo, hidden_by: list[Array], around: Area | None
) -> tuple[Tried, ...]:
    """The rivals moved on to the edges of the photograph, the likeliest first; `around` is what
    speaks for piece and ground there.
    """
    tried = []
    for one in rivals:
        if one.evidence > rivals[0].evidence - FAR_BEHIND:
            placed = snap(one.guess, SPREAD * one.covariance, photo, hidden_by, around)
            if placed is None:
                tried.append(Tried(one.guess, SPREAD * one.covariance, one.evidence))
            else:
                tried.append(
                    Tried(
                        placed.guess,
                        placed.covariance,
                        one.evidence + placed.evidence / EDGES_TOGETHER,
                    )
                )
    return tuple(sorted(tried, key=_against))


def _against(one: Guess | Tried) -> float:
    return -one.evidence


def neighbours(pieces: list[Hypothesis], setup: Setup) -> list[list[int]]:
    """For each piece, which others are so near that they may hide some of it."""
    reach = 2 * max(size.slant_mm for size in setup.sizes)
    middles = [piece.solid.vertices_mm.mean(axis=0) for piece in pieces]
    return [
        [j for j, there in enumerate(middles) if j != k and np.linalg.norm(there - here) < reach]
        for k, here in enumerate(middles)
    ]
