"""Reading open ground and chessboards: what is not the ground is looked at piece by piece, and fitted before that ground."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from table.boards import within
from table.solids import Array, convex_hull
from vision.background import Background, background
from vision.candidates import Candidate, candidates
from vision.census import Coloured, with_one_target
from vision.choose import Choice, beside, choose
from vision.colours import colour_probabilities
from vision.finder import Sight, find
from vision.hypothesis import Hypothesis, silhouette
from vision.left_over import unread
from vision.paper import paper_light
from vision.photo import Photo
from vision.reading import Reading, TableRead
from vision.tableview import TableView, flatten

LEAST_EVIDENCE = 3.0
"""Looks by which a piece must explain its place better than bare ground in shadow."""
LEAST_COVERED = 0.25
"""Share of a piece's plan over which the finder must see pieces, if it saw none of their middles there."""
WELL_INSIDE = 0.98
"""Pixels covered this far by a piece tell its colour."""


def read_plain(photo: Photo, empty: Photo | None) -> TableRead:
    """Pieces on plain ground; `empty` is the same table without them, if there is a picture of it."""
    setup = photo.setup
    view = flatten(photo)
    ground = background(view, setup, None if empty is None else flatten(empty, like=view))
    paper = paper_light(photo.image, photo.camera, setup)
    search = candidates(view, ground, setup, paper)
    near = [one for one in search.found if _in_view(one, view)]
    sight = find(photo, paper)
    likely = [choice for choice in _choose_all(near, photo, view, ground) if choice.over_ground > LEAST_EVIDENCE]
    choices = [choice for choice in likely if _is_piece(choice.guess, sight)]
    outline = setup.outline_mm()
    on_board = [_coloured(choice, photo, paper) for choice in choices if _on_board(choice, outline)]
    strays = [_coloured(choice, photo, paper) for choice in choices if not _on_board(choice, outline)]
    if setup.game.target is not None:
        on_board = with_one_target(on_board, setup.colours.index(setup.game.target), view, ground)
    left = unread(sight, [choice.guess for choice in choices], photo)
    return TableRead([_reading(one) for one in on_board + strays], hand=search.hand, unread_mm=left)


def _in_view(candidate: Candidate, view: TableView) -> bool:
    """Is the whole silhouette inside the view?  What the border cuts cannot be fitted, and is far off the board."""
    pixels = view.pixels(silhouette(candidate.guesses[0].solid, view.eye_mm))
    h, w = view.light.shape[:2]
    return bool((pixels > 2).all() and (pixels[:, 0] < w - 3).all() and (pixels[:, 1] < h - 3).all())


def _is_piece(guess: Hypothesis, sight: Sight) -> bool:
    """Does the finder, which knows pieces from stains, grain and shadows, see any piece there?"""
    solid = guess.solid.vertices_mm
    middle = solid[:, :2].mean(axis=0)
    covered = sight.share_seen(convex_hull(solid[:, :2]))
    return covered > LEAST_COVERED or any(np.hypot(*(one.middle_mm - middle)) < guess.size.base_mm for one in sight.found if not one.is_disc)


def _choose_all(found: list[Candidate], photo: Photo, view: TableView, ground: Background) -> list[Choice]:
    """Choose at every place, neighbours left out; then once more where neighbours moved after they had been left out."""
    guesses = [one.guesses[0] for one in found]
    choices = []
    for k, one in enumerate(found):
        choices.append(choose(one, guesses[:k] + guesses[k + 1 :], photo, view, ground))
        guesses[k] = choices[k].guess
    for k, choice in enumerate(choices):
        others = guesses[:k] + guesses[k + 1 :]
        if any(beside(guesses[k], other) for other in others):
            again = Candidate((choice.guess,), (0.0,), found[k].share)
            choices[k] = replace(choose(again, others, photo, view, ground), probability=choice.probability)
    return choices


def _on_board(choice: Choice, outline: Array) -> bool:
    return within(outline, choice.guess.solid.footprint_mm().mean(axis=0))


def _coloured(choice: Choice, photo: Photo, paper: Array) -> Coloured:
    where = choice.fit.where
    inside = choice.fit.explained.membership[: len(choice.fit.explained.face_light)].sum(axis=0) > WELL_INSIDE
    return Coloured(choice, colour_probabilities(where.light[inside], where.ground[inside], paper, photo.setup.colours))


def _reading(one: Coloured) -> Reading:
    under = None if one.under is None else _reading(one.under)
    return Reading(one.choice.guess, one.choice.covariance, one.choice.probability, np.asarray(one.chances), under)
