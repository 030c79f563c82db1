"""The networks, as they are run, against OpenCV's way of running them."""

from __future__ import annotations

import subprocess
import sys
from importlib import resources

import cv2
import numpy as np
import pytest

from vision.networks.runtime import as_pictures, run_network

pytestmark = pytest.mark.slow

SHAPES = {
    "detector": (1, 3, 96, 160),
    "keypoints": (3, 3, 64, 64),
    "pose_refiner": (2, 5, 96, 96),
    "pose_verifier": (2, 5, 96, 96),
    "dice": (2, 4, 64, 64),
}

LOADING = """
import sys
import numpy as np
from vision.networks.runtime import run_network
run_network("pose_refiner", np.zeros((1, 5, 96, 96), np.float32))
print("heard", file=sys.stderr)
"""


@pytest.mark.parametrize("name", SHAPES)
def test_networks_answer_as_opencv_has_them(name):
    seen = np.random.default_rng(1).random(SHAPES[name], np.float32)
    network = cv2.dnn.readNetFromONNX(
        np.frombuffer(
            resources.files("vision").joinpath(f"data/{name}.onnx").read_bytes(), np.uint8
        )
    )
    network.setInput(seen)
    expected = network.forward()
    np.testing.assert_allclose(
        run_network(name, seen), expected, rtol=1e-3, atol=1e-3 * np.abs(expected).max()
    )


def test_pictures_are_what_images_are_but_for_their_axes():
    images = np.random.default_rng(1).integers(0, 256, (2, 5, 7, 3), np.uint8)
    pictures = as_pictures(images)
    assert (pictures.shape, pictures.dtype) == ((2, 3, 5, 7), np.float32)
    assert pictures[1, 2, 3, 4] == np.float32(images[1, 3, 4, 2]) / 255


def test_loading_them_says_nothing_and_what_is_said_afterwards_is_heard():
    done = subprocess.run(
        [sys.executable, "-c", LOADING], capture_output=True, text=True, check=True
    )
    assert (done.stdout, done.stderr) == ("", "heard\n")
