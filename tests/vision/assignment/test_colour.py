"""Colours by light, against the same told pixel by pixel."""

from __future__ import annotations

from itertools import product

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from vision.assignment.colour import (
    FLOOR,
    HAZE,
    PALETTE,
    SHEEN,
    THROUGH,
    colour_distances,
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
    told = colour_distances(np.array(light), np.array(ground), bodies)
    np.testing.assert_allclose(
        told,
        [[squared_distance(one, ground, body) for body in bodies] for one in light],
        rtol=1e-9,
        atol=1e-9,
    )
