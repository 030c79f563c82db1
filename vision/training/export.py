"""Writing a taught network as OpenCV reads it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper
from torch import nn

LARGE = 100
"""Weights of more figures than this are written with 16 bits each; OpenCV makes 32 of them when it reads the file."""


def export(net: nn.Module, example: tuple[int, ...], free_sides: dict[str, dict[int, str]], path: Path) -> None:
    """Write a network that takes `image`, like one of shape `example`, and gives `answer`; `free_sides` names axes of any length."""
    beside = path.with_suffix(".part")
    names = {"input_names": ["image"], "output_names": ["answer"], "dynamic_axes": free_sides}
    torch.onnx.export(net.eval(), (torch.zeros(example),), str(beside), opset_version=13, dynamo=False, **names)
    model = onnx.load(beside)
    graph = model.graph
    halves, casts = [], []
    for weights in graph.initializer:
        figures = numpy_helper.to_array(weights)
        if figures.dtype == np.float32 and figures.size > LARGE:
            halves.append(numpy_helper.from_array(figures.astype(np.float16), f"{weights.name}.half"))
            casts.append(helper.make_node("Cast", [f"{weights.name}.half"], [weights.name], to=TensorProto.FLOAT))
        else:
            halves.append(weights)
    nodes = [*casts, *graph.node]
    del graph.initializer[:], graph.node[:]
    graph.initializer.extend(halves)
    graph.node.extend(nodes)
    _name_shortly(graph)
    onnx.save(model, beside)
    beside.rename(path)


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
