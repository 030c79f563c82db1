"""Counters by the looks of a table's own cells, on drawn tables without the detector."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from simulation.generate.cases import random_case
from table.observation import SeenCounter
from vision.boards.counter_cells import correct_by_cells
from vision.geometry.rectified_view import Photo

CREAM, WHITE = (236, 226, 196), (232, 233, 230)


@pytest.fixture(scope="module")
def table():
    """A setup of Icebreaker, its camera, and the picture of a bare, cream board."""
    case = random_case("icebreaker", 60000)
    lens = case.setup.camera
    return case.setup, case.camera, np.full((lens.height, lens.width, 3), CREAM, np.uint8)


def photo_of(table, covered, shade=1.0, seed=0):
    """A photo with white counters in the cells `covered`; the right half is in a shadow."""
    setup, camera, bare = table
    picture, blank = bare.copy(), Photo(bare, camera, setup)
    turns = np.radians(np.arange(0, 360, 10))
    ring = np.column_stack([np.cos(turns), np.sin(turns), np.zeros(len(turns))])
    for cell in covered:
        middle = np.append(setup.board.middles()[cell], 0.0)
        outline = blank.pixels(middle + setup.game.counters.diameter_mm / 2 * ring)
        cv2.fillPoly(picture, [np.rint(outline).astype(np.int32)], WHITE)
    light = picture.astype(float)
    light[:, picture.shape[1] // 2 :] *= shade ** (1 / 2.4)  # of linear light
    noise = np.random.default_rng(seed).normal(0, 2, picture.shape)
    return Photo(np.clip(light + noise, 0, 255).astype(np.uint8), camera, setup)


def move_silhouette_to(setup, cells, sure=True):
    return [
        SeenCounter("white", *map(float, setup.board.middles()[cell]), 0.6, sure) for cell in cells
    ]


def judged(photo, seen):
    found = correct_by_cells(seen, (), photo.flat(1.5), photo)
    middles = photo.setup.board.middles()
    return {
        min(middles, key=lambda cell: np.hypot(*(middles[cell] - (one.x_mm, one.y_mm)))): one
        for one in found
    }


@pytest.mark.parametrize("shade", [1.0, 0.4])
def test_counters_in_nearly_the_boards_colour_that_the_detector_missed_are_found(table, shade):
    cells = list(table[0].board.middles())[::2]
    found = judged(photo_of(table, cells, shade), move_silhouette_to(table[0], cells[::2]))
    assert found.keys() == set(cells)
    for cell, one in found.items():
        away_mm = np.hypot(*(table[0].board.middles()[cell] - (one.x_mm, one.y_mm)))
        assert away_mm < 3 * one.sigma_mm + 1


def test_a_counter_that_is_not_there_is_left_out_or_no_longer_sure(table):
    cells = list(table[0].board.middles())
    there, doubtful, wrong = cells[::2], cells[1], cells[3]
    seen = [
        *move_silhouette_to(table[0], there),
        *move_silhouette_to(table[0], [doubtful], sure=False),
        *move_silhouette_to(table[0], [wrong]),
    ]
    found = judged(photo_of(table, there), seen)
    assert found.keys() == {*there, wrong}
    assert not found[wrong].sure


def test_a_doubtful_counter_that_looks_like_the_others_is_sure(table):
    cells = list(table[0].board.middles())[::2]
    seen = [
        *move_silhouette_to(table[0], cells[1:]),
        *move_silhouette_to(table[0], cells[:1], sure=False),
    ]
    assert judged(photo_of(table, cells), seen)[cells[0]].sure


@pytest.mark.parametrize("cells", [0, 2])
def test_with_hardly_any_counters_nothing_changes(table, cells):
    there = list(table[0].board.middles())[:cells]
    seen = move_silhouette_to(table[0], there, sure=False)
    assert correct_by_cells(seen, (), photo_of(table, there).flat(1.5), photo_of(table, there)) == (
        *seen,
    )


def test_white_counters_on_a_board_of_the_same_white_are_left_to_the_detector(table):
    setup, camera, bare = table
    white = setup, camera, np.full_like(bare, WHITE)
    cells = list(setup.board.middles())[::2]
    seen = move_silhouette_to(setup, cells[::2])
    photo = photo_of(white, cells)
    assert correct_by_cells(seen, (), photo.flat(1.5), photo) == (*seen,)
