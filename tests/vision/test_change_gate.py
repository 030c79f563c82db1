"""A camera's frames: what is a change on the table, and what is only noise, light, or a camera that
trembles.
"""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np
import pytest

from simulation.generate.cases import random_case, resized
from simulation.render.renderer import Renderer
from simulation.render.scene import Scene
from table.observation import Observation
from vision.cameras.frame import Frame
from vision.change_gate import MOST_REREADS, Watch

pytestmark = pytest.mark.slow

NOISE = 2.5


@pytest.fixture(scope="module")
def table():
    """A made-up table, and what a camera without noise sees of it: with all its pieces, and with
    one taken away.
    """
    case = random_case("storm", 9102)
    setup = resized(case.setup, 1230)
    full, renderer = case.scene(), Renderer(setup, case.camera)
    fewer = Scene(case.stage, full.pieces[1:], full.limbs, full.slabs)
    return setup, *(
        cv2.GaussianBlur(renderer.picture(scene, np.random.default_rng(1)), (0, 0), 0.8)
        for scene in (full, fewer)
    )


def taken(picture, seq, light=1.0, shift_px=0.0):
    """A frame of it: with another light, by a camera that stands a little to the side, and with
    noise of its own.
    """
    move = np.array([[1, 0, shift_px], [0, 1, -shift_px]])
    moved = cv2.warpAffine(
        picture, move, picture.shape[1::-1], flags=cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE
    )
    noise = np.random.default_rng(seq).normal(0, NOISE, picture.shape)
    return Frame(seq, seq * 250, np.clip(light * (moved + noise), 0, 255).astype(np.uint8))


@pytest.mark.parametrize(
    "changes",
    [{}, {"light": 1.06}, {"light": 0.92}, {"shift_px": 0.2}, {"light": 1.04, "shift_px": -0.15}],
    ids=["noise", "brighter", "darker", "trembles", "both"],
)
def test_a_table_at_rest_is_not_read_for_ever(table, changes):
    setup, full, _ = table
    watch = Watch()
    *_, first = (watch(taken(full, seq), setup) for seq in range(1 + MOST_REREADS))
    again = watch(taken(full, 3, **changes), setup)
    assert isinstance(first, Observation)
    assert not again.moving
    assert again.pieces is first.pieces, "the same reading, not a new one"


def test_a_picture_that_is_too_bright_comes_to_rest(table):
    """Paper and light squares are white in it, and what is not is noisier than they are."""
    setup, full, _ = table
    watch = Watch()
    first, second, dimmer = (
        watch(taken(full, seq, light), setup) for seq, light in enumerate((1.6, 1.6, 1.57))
    )
    assert isinstance(first, Observation)
    assert not second.moving
    assert not dimmer.moving


@pytest.mark.parametrize("light", [1.0, 1.06, 1.6])
def test_a_piece_that_is_taken_away_is_a_change(table, light):
    setup, full, fewer = table
    watch = Watch()
    watch(taken(full, 0, light), setup)
    assert watch(taken(fewer, 1, light), setup).moving
    assert not watch(taken(fewer, 2, light), setup).moving


def test_a_piece_as_light_as_the_table_is_a_change(table):
    """Red where green was, and as much of it as the eye sees."""
    setup, full, _ = table
    there = full.astype(float)
    there[400:425, 600:625] += np.array([60.0, -60 * 0.299 / 0.587, 0.0])
    watch = Watch()
    watch(taken(there, 0), setup)
    assert watch(taken(full, 1), setup).moving


def test_a_table_is_still_only_since_the_last_change(table):
    setup, full, fewer = table
    watch = Watch()
    readings = [
        watch(taken(picture, seq), setup)
        for seq, picture in enumerate((full, full, fewer, full, full))
    ]
    assert [(one.moving, one.still_ms) for one in readings if not one.moving] == [
        (False, 0),
        (False, 250),
        (False, 0),
        (False, 250),
    ]


def test_a_covered_lens_is_a_change(table):
    setup, full, _ = table
    watch = Watch()
    watch(taken(full, 0), setup)
    assert watch(taken(full, 1, 0.02), setup).moving


@pytest.fixture
def reads(table, monkeypatch):
    """Readings of one table: all pieces as sure as each number says, `less` for one that does not
    see the first piece.
    """
    setup, full, _ = table
    seen = Watch()(taken(full, 0), setup)

    def script(*probabilities, less=(), turned=()):
        def piece(one, k, sure):
            return replace(
                one,
                pose_probability=sure,
                pose="lying",
                heading_deg=(one.heading_deg + 180 * (k in turned)) % 360,
                rivals=(),
            )

        pieces = [
            tuple(piece(one, k, sure) for one in seen.pieces)
            for k, sure in enumerate(probabilities)
        ]
        left = [replace(seen, pieces=one[1:] if k in less else one) for k, one in enumerate(pieces)]
        monkeypatch.setattr(
            "vision.change_gate.observe",
            lambda frame, *_: replace(left.pop(0), frame_seq=frame.seq, at_ms=frame.at_ms),
        )
        watch = Watch()
        return [watch(taken(full, seq), setup).pieces for seq in range(5)], left

    return script


def test_a_table_in_doubt_is_read_again_until_it_is_sure(reads):
    readings, left = reads(0.6, 0.99, 1.0)
    assert [pieces[0].pose_probability for pieces in readings] == [0.6, 0.99, 0.99, 0.99, 0.99]
    assert len(left) == 1


def test_the_surest_of_three_readings_stands(reads):
    readings, left = reads(0.6, 0.8, 0.7, 1.0)
    assert [pieces[0].pose_probability for pieces in readings] == [0.6, 0.8, 0.8, 0.8, 0.8]
    assert len(left) == 1


def test_a_reading_that_overlooks_a_piece_is_not_a_surer_one(reads):
    readings, _ = reads(0.6, 0.9, 0.7, less=(1,))
    assert [(len(pieces), pieces[0].pose_probability) for pieces in readings[1:3]] == [
        (len(readings[0]), 0.6),
        (len(readings[0]), 0.7),
    ]


def test_what_another_reading_says_otherwise_of_a_piece_in_doubt_is_told_besides(reads):
    """Whoever judges must not take the one for true because it came first."""
    readings, _ = reads(0.8, 0.8, 0.8, turned=(1,))
    assert [rival.heading_deg for rival in readings[0][0].rivals] == []
    (rival,) = readings[-1][0].rivals
    assert rival.heading_deg == pytest.approx((readings[0][0].heading_deg + 180) % 360)
    assert readings[-1] is readings[-2], "and told once"


def test_a_surer_reading_is_told_with_what_was_read_before(reads):
    readings, _ = reads(0.6, 0.9, 0.9, turned=(1, 2))
    assert readings[-1][0].pose_probability == 0.9
    assert [rival.heading_deg for rival in readings[-1][0].rivals] == [
        pytest.approx(readings[0][0].heading_deg)
    ]


def test_a_reading_that_is_sure_has_no_rivals(reads):
    readings, _ = reads(0.6, 0.99, turned=(1,))
    assert [piece.rivals for piece in readings[-1]] == [()] * len(readings[-1])
