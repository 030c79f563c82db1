"""What the verification says of pieces and of what they are not, how it is taught, and how weights
are written.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from importlib import resources

import cv2
import numpy as np
import pytest

from vision.networks.keypoints import CROP_PX as SECOND_PX
from vision.networks.pose_refiner import CROP_PX
from vision.networks.pose_verifier import log_odds

pytestmark = pytest.mark.slow


def test_no_hypotheses_have_no_odds(tables):
    assert log_odds([], tables[0][0]).shape == (0,)


def test_a_piece_is_taken_for_what_it_is_and_not_for_another(tables):
    right, wrong = [], []
    for photo, there in tables:
        right += [*log_odds(there, photo)]
        wrong += [
            *log_odds([pose(one) for one in there for pose in (_tipped_over, _backwards)], photo)
        ]
    assert len(right) > 20
    assert np.mean(np.array(right) > 0) > 0.9
    assert np.mean(np.array(wrong) < 0) > 0.9


def _tipped_over(one):
    """As if what stands lay, and what lies stood."""
    return replace(one, pose="lying" if one.pose == "upright" else "upright")


def _backwards(one):
    """As if it lay the other way about, or stood turned by half a quarter."""
    return replace(one, heading_deg=one.heading_deg + (45 if one.pose == "upright" else 180))


def test_examples_of_places_know_which_hypothesis_is_right():
    verifier_examples = pytest.importorskip(
        "training.verifier_examples", reason="training needs PyTorch: pip install -e '.[training]'"
    )
    places = list(verifier_examples.board_places(2))
    assert len(places) > 5
    with_right = [place for place in places if any(one.right for one in place.hypotheses)]
    assert len(with_right) > 0.6 * len(places)
    assert all(len({one.pose for one in place.hypotheses}) > 1 for place in with_right)
    place = with_right[0]
    seen, right = verifier_examples.example(place, np.random.default_rng(1))
    assert seen.shape == (min(verifier_examples.MOST, len(place.hypotheses)), 5, CROP_PX, CROP_PX)
    assert right.sum() >= 1


def test_the_loss_compares_hypotheses_of_one_place_only():
    torch = pytest.importorskip(
        "torch", reason="training needs PyTorch: pip install -e '.[training]'"
    )
    from training import verifier_examples

    place, right = torch.tensor([0, 0, 1, 1]), torch.tensor([1.0, 0.0, 0.0, 0.0])
    odds = torch.tensor([2.0, -1.0, 0.5, -3.0])
    probabilities = np.exp(2) / (1 + np.exp(2) + np.exp(-1)), 1 / (1 + np.exp(0.5) + np.exp(-3))
    assert float(verifier_examples.loss(odds, right, place)) == pytest.approx(
        -np.mean(np.log(probabilities)), rel=1e-5
    )
    assert float(verifier_examples.loss(80 * odds, right, place)) == pytest.approx(
        (0 + 40) / 2, rel=1e-4
    )


def test_a_network_answers_with_fewer_bits_as_it_was_trained(tmp_path):
    torch = pytest.importorskip(
        "torch", reason="training needs PyTorch: pip install -e '.[training]'"
    )
    from training.export import export
    from training.network import KeypointNet

    torch.manual_seed(1)
    net = KeypointNet().eval()
    with warnings.catch_warnings(
        action="ignore", category=DeprecationWarning
    ):  # PyTorch warns of the exporter that OpenCV can read
        export(
            net,
            (1, 3, SECOND_PX, SECOND_PX),
            {"image": {0: "n"}, "answer": {0: "n"}},
            tmp_path / "net.onnx",
        )
    assert [path.name for path in tmp_path.iterdir()] == ["net.onnx"]
    assert (tmp_path / "net.onnx").stat().st_size < 1.5 * sum(
        part.numel() for part in net.parameters()
    )
    seen = np.random.default_rng(1).random((4, 3, SECOND_PX, SECOND_PX), np.float32)
    with torch.no_grad():
        taught = net(torch.from_numpy(seen)).numpy()
    read = cv2.dnn.readNetFromONNX(str(tmp_path / "net.onnx"))
    read.setInput(seen)
    np.testing.assert_allclose(read.forward(), taught, atol=0.05 * np.abs(taught).max())


def test_weights_in_the_repository_stay_small():
    networks = [
        one
        for one in resources.files("vision").joinpath("data").iterdir()
        if one.name.endswith(".onnx")
    ]
    assert {one.name for one in networks} == {
        "detector.onnx",
        "keypoints.onnx",
        "pose_refiner.onnx",
        "pose_verifier.onnx",
        "dice.onnx",
    }
    assert sum(len(one.read_bytes()) for one in networks) < 2_000_000
