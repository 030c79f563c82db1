"""What is seen badly may be something else: all that it may be is laid out, each once, and the best of it is told first."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from vision.alternatives import SAME_BASES, with_alternatives
from vision.census import habit_of
from vision.fiducials import locate
from vision.finder import search, view_of
from vision.photo import Photo
from vision.reader import lay_out
from vision.render import Renderer
from vision.scene_cases import random_case
from vision.second_look import UNCLEAR
from vision.spots import FAR_BEHIND, SURE_CHANCE, measured


@pytest.fixture(scope="module", params=[("storm", 60002), ("zamboni", 60001)], ids=lambda param: param[0])
def table(request):
    """A photograph of a made-up table, what was seen on it, and what lies there."""
    kind, seed = request.param
    case = random_case(kind, seed)
    picture = Renderer(case.setup, case.camera).picture(case.scene(), np.random.default_rng(2))
    photo = Photo(picture, locate(picture, case.setup), case.setup)
    return photo, search(view_of(photo), case.setup.colours), case.layout.placed


def test_more_than_one_pose_is_among_what_something_may_be_and_nothing_twice(table):
    photo, sight, _ = table
    laid = lay_out(sight, photo)
    wider = with_alternatives(laid, sight, photo, habit_of(photo.setup).poses)
    assert [one.best for one in wider] == [one.best for one in laid], "what it was taken for stays the first"
    for one in wider:
        asked = [rival for rival in one.rivals if rival.evidence > one.rivals[0].evidence - FAR_BEHIND]
        assert len({rival.guess.pose for rival in asked}) > 1
        for k, rival in enumerate(one.rivals):
            for other in one.rivals[k + 1 :]:
                if (rival.guess.size, rival.guess.pose) == (other.guess.size, other.guess.pose):
                    apart = rival.guess.away_from(other.guess)
                    assert np.hypot(*apart[:2]) > SAME_BASES * rival.guess.size.base_mm or abs(apart[2]) > 5


def test_what_is_clear_is_asked_about_no_further(table):
    photo, sight, _ = table
    for one in lay_out(sight, photo):
        if one.looked.blur < UNCLEAR:
            assert len(one.rivals) <= 3 * len(photo.setup.sizes)
            assert all(np.isfinite(rival.evidence) for rival in one.rivals)


def test_a_piece_that_was_taken_for_another_is_told_right(table):
    photo, sight, placed = table
    sure = [one for one in lay_out(sight, photo) if one.chance > SURE_CHANCE]
    wider = with_alternatives(sure, sight, photo, habit_of(photo.setup).poses)
    wrong_first = []
    for one in wider:
        first, *others = one.rivals
        worst = next(rival for rival in others if rival.guess.pose != first.guess.pose)
        wrong_first.append([replace(worst, evidence=first.evidence), *(rival for rival in one.rivals if rival is not worst)])
    outlines = [photo.silhouette(one.best.solid) for one in wider]
    asked = [(rivals, outlines[:k] + outlines[k + 1 :]) for k, rivals in enumerate(wrong_first)]
    right = 0
    for tried in measured(asked, photo):
        nearest = min(
            placed, key=lambda place: np.linalg.norm(place.piece.solid.vertices_mm.mean(axis=0) - tried[0].guess.solid.vertices_mm.mean(axis=0))
        )
        right += (nearest.pose, nearest.size) == (tried[0].guess.pose, tried[0].guess.size.name)
    assert right >= 0.75 * len(wider), "by edges and the verification alone"
