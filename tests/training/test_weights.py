"""Weights of networks in ONNX files, and mixtures of them."""

from __future__ import annotations

import numpy as np
import onnxruntime
import pytest

from table.errors import InputError

weights = pytest.importorskip(
    "training.weights", reason="teaching needs ONNX: pip install -e '.[training]'"
)
onnx = pytest.importorskip("onnx")

STEP = 1 / 127
"""Eight bits of weights that are 1 at most."""


def network(path, seed, outputs=4):
    """A network of one layer with weights of 8 bits, and biases."""
    rng = np.random.default_rng(seed)
    matrix, bias = (
        rng.uniform(-1, 1, (outputs, 300)).astype(np.float32),
        rng.uniform(-1, 1, outputs).astype(np.float32),
    )
    known = [
        onnx.numpy_helper.from_array(figures, name)
        for figures, name in ((matrix, "matrix"), (bias, "bias"))
    ]
    doors = [
        onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, (1, size))
        for name, size in (("image", 300), ("answer", outputs))
    ]
    graph = onnx.helper.make_graph(
        [onnx.helper.make_node("Gemm", ["image", "matrix", "bias"], ["answer"], transB=1)],
        "net",
        doors[:1],
        doors[1:],
        known,
    )
    weights.store_in_bytes(graph)
    onnx.save(
        onnx.helper.make_model(
            graph, opset_imports=[onnx.helper.make_opsetid("", 13)], ir_version=8
        ),
        path,
    )
    return matrix, bias


def answers(model, image):
    return onnxruntime.InferenceSession(model.SerializeToString()).run(
        None, {"image": image[None].astype(np.float32)}
    )[0][0]


@pytest.mark.parametrize("share", [0.0, 0.25, 1.0])
def test_a_mixture_answers_as_its_weights_together_do(tmp_path, share):
    parts = [network(tmp_path / f"{seed}.onnx", seed) for seed in (1, 2)]
    model = weights.mix_weights(tmp_path / "1.onnx", tmp_path / "2.onnx", share)
    image = np.random.default_rng(3).uniform(0, 1, 300)
    expected = sum(
        part * (matrix @ image + bias)
        for part, (matrix, bias) in zip((1 - share, share), parts, strict=True)
    )
    np.testing.assert_allclose(answers(model, image), expected, atol=STEP * np.sqrt(300))
    assert model.ByteSize() < 1.2 * 4 * 300 + 1000, "8 bits each"


def test_a_mixture_with_nothing_is_the_network_itself(tmp_path):
    network(tmp_path / "1.onnx", 1)
    network(tmp_path / "2.onnx", 2)
    assert (
        weights.mix_weights(tmp_path / "1.onnx", tmp_path / "2.onnx", 0.0).SerializeToString()
        == (tmp_path / "1.onnx").read_bytes()
    )


def test_networks_of_two_makes_are_not_mixed(tmp_path):
    network(tmp_path / "1.onnx", 1)
    network(tmp_path / "2.onnx", 2, outputs=5)
    with pytest.raises(InputError, match="expected a network of the make of"):
        weights.mix_weights(tmp_path / "1.onnx", tmp_path / "2.onnx", 0.5)
