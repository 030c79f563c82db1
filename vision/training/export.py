"""Writing a taught network as ONNX Runtime reads it, and OpenCV can too."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper
from torch import nn

LARGE = 1000
"""Weights of more figures than this are written with 8 bits each and one scale for all that make up an output; floats are made of them
when the file is read."""
MOST = 127


def export(net: nn.Module, example: tuple[int, ...], free_sides: dict[str, dict[int, str]], path: Path) -> None:
    """Write a network that takes `image`, like one of shape `example`, and gives `answer`; `free_sides` names axes of any length."""
    beside = path.with_suffix(".part")
    names = {"input_names": ["image"], "output_names": ["answer"], "dynamic_axes": free_sides}
    torch.onnx.export(net.eval(), (torch.zeros(example),), str(beside), opset_version=13, dynamo=False, **names)
    model = onnx.load(beside)
    _in_bytes(model.graph)
    _name_shortly(model.graph)
    onnx.save(model, beside)
    beside.rename(path)


def _in_bytes(graph: onnx.GraphProto) -> None:
    """Write large weights with 8 bits each."""
    kept, first = [], []
    for weights in graph.initializer:
        figures = numpy_helper.to_array(weights)
        if figures.dtype != np.float32 or figures.size <= LARGE:
            kept.append(weights)
            continue
        scale = np.abs(figures).max(axis=tuple(range(1, figures.ndim)), keepdims=True) / np.float32(MOST)
        whole, scales, floats = (f"{weights.name}.{part}" for part in ("whole", "scales", "floats"))
        kept += [numpy_helper.from_array(np.rint(figures / scale).astype(np.int8), whole), numpy_helper.from_array(scale, scales)]
        first += [helper.make_node("Cast", [whole], [floats], to=TensorProto.FLOAT), helper.make_node("Mul", [floats, scales], [weights.name])]
    nodes = [*first, *graph.node]
    del graph.initializer[:], graph.node[:]
    graph.initializer.extend(kept)
    graph.node.extend(nodes)


def _name_shortly(graph: onnx.GraphProto) -> None:
    """Count what the network has, but for what it is asked and answers, instead of naming it."""
    names = {door.name: door.name for door in (*graph.input, *graph.output)}

    def short(name: str) -> str:
        return names.setdefault(name, f"{len(names):x}") if name else ""  # an input that is left out

    for node in graph.node:
        node.name = node.doc_string = ""
        node.input[:], node.output[:] = ([short(name) for name in side] for side in (node.input, node.output))
    for weights in graph.initializer:
        weights.name = short(weights.name)
    del graph.value_info[:]
