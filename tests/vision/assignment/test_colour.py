"""Colours by light, against the same told pixel by pixel."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vision.assignment.colour import (
    FLOOR,
    HAZE,
    PALETTE,
    SHEEN,
    THROUGH,
    colour_distances,
    over_target,
    palette_body,
)

lights = st.tuples(*[st.floats(0, 1.2)] * 3)
palettes = st.lists(st.sampled_from(sorted(PALETTE)), min_size=1, max_size=6, unique=True)


def squared_distance(light, ground, body):
    """The least over all ways of having the light, each written out."""
    dye, least = (body.light / body.light.max()) ** 0.8, np.inf
    beside, around = map(np.array, ground)
    for haze, sheen in product(HAZE, SHEEN):
        for through in (0.0,) if body.opaque else THROUGH:
            model = haze + sheen * around + (1 - through) * body.light + through * dye * beside
            apart = np.log(np.array(light) + FLOOR) - np.log(model + FLOOR)
            level = apart.mean()
            chroma = np.square(apart - level).sum()
            least = min(
                least,
                chroma / body.chroma_sigma**2
                + (level / body.level_sigma) ** 2
                + through
                + 12 * (haze + sheen),
            )
    return least


@given(st.lists(lights, min_size=1, max_size=4), st.tuples(lights, lights), palettes)
def test_all_pixels_and_colours_at_once_are_as_each_alone(light, ground, names):
    bodies = tuple(map(palette_body, names))
    distances = colour_distances(np.array(light), np.array(ground), bodies)
    np.testing.assert_allclose(
        distances,
        [[squared_distance(one, ground, body) for body in bodies] for one in light],
        rtol=1e-9,
        atol=1e-9,
    )


NAMES = ("red", "yellow", "green", "black")
WOOD = np.array([[0.48, 0.26, 0.11], [0.48, 0.26, 0.11]])


def light_of_red(upper=None, through=0.8):
    """A few pixels of a red piece on wood, alone or under one of colour `upper`."""
    red = np.array(PALETTE["red"])
    light = (1 - through) * red + through * (red / red.max()) ** 0.8 * WOOD[0]
    if upper is not None:
        body = np.array(PALETTE[upper])
        light = (1 - through) * body + through * (body / body.max()) ** 0.8 * light
    return light * np.linspace(0.8, 1.2, 9)[:, None]


@pytest.mark.parametrize(
    ("upper", "through", "expected"),
    [
        pytest.param(None, 0.8, None, id="clear target alone"),
        pytest.param(None, 0.2, None, id="cloudy target alone"),
        pytest.param("yellow", 0.8, "yellow", id="yellow on it"),
    ],
)
def test_light_tells_a_dyed_piece_on_the_target_from_the_target_alone(upper, through, expected):
    bodies = tuple(map(palette_body, NAMES))
    over = over_target(light_of_red(upper, through), WOOD, bodies, target=0)
    assert np.isneginf(over[[0, 3]]).all(), "the target itself, and what hides it"
    if expected is None:
        assert over.max() < 0
    else:
        assert NAMES[int(over.argmax())] == expected
        assert over.max() > 2
