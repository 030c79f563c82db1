"""Export trained networks as ONNX files for ONNX Runtime and OpenCV."""

from __future__ import annotations

from pathlib import Path

import onnx
import torch
from torch import nn

from training.weights import store_in_bytes


def export(
    net: nn.Module, example: tuple[int, ...], free_sides: dict[str, dict[int, str]], path: Path
) -> None:
    """Write a network as ONNX, from `image`, shaped like `example`, to `answer`.

    `free_sides` names axes of variable length.
    """
    beside = path.with_suffix(".part")
    names = {"input_names": ["image"], "output_names": ["answer"], "dynamic_axes": free_sides}
    torch.onnx.export(
        net.cpu().eval(),
        (torch.zeros(example),),
        str(beside),
        opset_version=13,
        dynamo=False,
        **names,
    )
    model = onnx.load(beside)
    store_in_bytes(model.graph)
    _name_shortly(model.graph)
    onnx.save(model, beside)
    beside.rename(path)


def _name_shortly(graph: onnx.GraphProto) -> None:
    """Replace names by short numbers, except those of inputs and outputs."""
    names = {door.name: door.name for door in (*graph.input, *graph.output)}

    def short(name: str) -> str:
        return names.setdefault(name, f"{len(names):x}") if name else ""  # an omitted input

    for node in graph.node:
        node.name = node.doc_string = ""
        node.input[:], node.output[:] = (
            [short(name) for name in side] for side in (node.input, node.output)
        )
    for weights in graph.initializer:
        weights.name = short(weights.name)
    del graph.value_info[:]
