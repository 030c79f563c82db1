"""The table laid flat, against looking up every pixel by itself."""

from __future__ import annotations

import numpy as np

from simulation.generate.cases import random_case
from vision.geometry.camera_model import project
from vision.geometry.rectified_view import Photo
from vision.geometry.srgb import linear, sample_light


def test_every_pixel_of_the_flat_view_shows_its_own_place():
    """The picture is a slope of light along each axis, so that what a pixel shows says where it was
    taken from.
    """
    case = random_case("boule", 21)
    lens = case.setup.camera
    u, v = np.meshgrid(np.arange(lens.width), np.arange(lens.height))
    picture = (
        np.stack([255 * u / lens.width, 255 * v / lens.height, 0 * u], axis=-1)
        .round()
        .astype(np.uint8)
    )
    photo = Photo(picture, case.camera, case.setup)
    view = photo.flat(1.3)
    rng = np.random.default_rng(4)
    pixels = np.column_stack([rng.integers(5, size - 5, 300) for size in view.code.shape[1::-1]])
    places = view.millimetres(pixels.astype(float))
    assert np.allclose(view.pixels(places), pixels)
    at = project(np.column_stack([places, np.zeros(300)]), case.camera, lens)
    inside = ((at > 8) & (at < np.array([lens.width, lens.height]) - 9)).all(axis=1)
    shown = view.code[pixels[:, 1], pixels[:, 0], :2].astype(float)
    assert inside.sum() > 200
    assert np.abs(shown - 255 * at / [lens.width, lens.height])[inside].max() < 1.6


def test_light_is_interpolated_as_light():
    image = np.zeros((4, 4, 3), np.uint8)
    image[:, 2:] = 255
    between = sample_light(image, np.array([[[1.5, 1.0], [1.0, 1.0], [9.0, 1.0]]]))
    assert np.allclose(between[0, 0], 0.5, atol=0.02)
    assert np.allclose(between[0, 1], linear(image)[1, 1])
    assert np.allclose(between[0, 2], 1.0)
