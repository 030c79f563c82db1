"""Weights in ONNX files: 8-bit storage, and mixtures of two networks of one architecture.

Most weights are stored with 8 bits and converted to floats when the file is loaded.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from table.errors import InputError

LARGE = 1000
"""Number of values above which weights are stored with 8 bits each, and one scale per output."""
MOST = 127

Figures = NDArray[Any]


def store_in_bytes(graph: onnx.GraphProto) -> None:
    """Store large weights with 8 bits each."""
    initializers, first = [], []
    for weights in graph.initializer:
        figures = numpy_helper.to_array(weights)
        if figures.dtype != np.float32 or figures.size <= LARGE:
            initializers.append(weights)
            continue
        whole, scales = _rounded(figures)
        name = weights.name
        initializers += [
            numpy_helper.from_array(whole, f"{name}.whole"),
            numpy_helper.from_array(scales, f"{name}.scales"),
        ]
        first += [
            helper.make_node("Cast", [f"{name}.whole"], [f"{name}.floats"], to=TensorProto.FLOAT),
            helper.make_node("Mul", [f"{name}.floats", f"{name}.scales"], [name]),
        ]
    nodes = [*first, *graph.node]
    del graph.initializer[:], graph.node[:]
    graph.initializer.extend(initializers)
    graph.node.extend(nodes)


def floats(graph: onnx.GraphProto) -> dict[str, Figures]:
    """All constants of a network by name: stored ones, and floats computed from them."""
    known: dict[str, Figures] = {
        figures.name: numpy_helper.to_array(figures) for figures in graph.initializer
    }
    for node in graph.node:
        if node.op_type == "Cast" and node.input[0] in known:
            known[node.output[0]] = known[node.input[0]].astype("float32")
        elif node.op_type == "Mul" and all(name in known for name in node.input):
            known[node.output[0]] = known[node.input[0]] * known[node.input[1]]
    return known


def mix_weights(before: Path, after: Path, share: float) -> onnx.ModelProto:
    """A network whose weights are `share` of those `after`, and the rest of those `before`.

    Raises InputError if their architectures differ.
    """
    model, other = onnx.load(before), onnx.load(after)
    if _make(model.graph) != _make(other.graph):
        raise InputError(
            f"training: expected a network of the make of {before}, which what is learned is mixed"
            f" with, got another in {after}"
        )
    old, new = floats(model.graph), floats(other.graph)
    mixture = {
        name: (1 - share) * old[name] + share * new[name]
        for name in old
        if old[name].dtype == np.float32
    }
    for whole, scales, weights in _written_in_bytes(model.graph):
        mixture[whole], mixture[scales] = _rounded(mixture[weights])
    for figures in model.graph.initializer:
        if figures.name in mixture:
            figures.CopyFrom(numpy_helper.from_array(mixture[figures.name], figures.name))
    return model


def _make(graph: onnx.GraphProto) -> tuple[object, ...]:
    steps = tuple((node.op_type, *node.input, "", *node.output) for node in graph.node)
    return steps, {figures.name: tuple(figures.dims) for figures in graph.initializer}


def _written_in_bytes(graph: onnx.GraphProto) -> list[tuple[str, str, str]]:
    """Names of integers, of their scales, and of the weights computed from both."""
    casts = {node.output[0]: node.input[0] for node in graph.node if node.op_type == "Cast"}
    return [
        (casts[node.input[0]], node.input[1], node.output[0])
        for node in graph.node
        if node.op_type == "Mul" and node.input[0] in casts
    ]


def _rounded(figures: Figures) -> tuple[Figures, Figures]:
    """Integers of 8 bits, and their scales."""
    scale = np.abs(figures).max(axis=tuple(range(1, figures.ndim)), keepdims=True) / np.float32(
        MOST
    )
    return np.rint(figures / scale).astype(np.int8), scale
