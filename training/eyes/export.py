"""Export the network for OpenCV and ONNX Runtime.

Batch normalisation is folded into the weights; weights are stored as half floats.
"""

from __future__ import annotations

import copy
from pathlib import Path

import onnx
import torch
from onnx import numpy_helper
from torch import nn

from training.eyes.model import CHANNELS_IN, WHOLE, EyesNet


def export(net: EyesNet, path: Path) -> None:
    """Write a network as ONNX, from `image` (n, CHANNELS_IN, h, w) to `answer`.

    h and w are multiples of WHOLE.
    """
    plain = folded(copy.deepcopy(net).cpu().float().eval())
    beside = path.with_suffix(".part")
    free = {"image": {0: "n", 2: "h", 3: "w"}, "answer": {0: "n", 2: "h", 3: "w"}}
    example = torch.zeros(1, CHANNELS_IN, 2 * WHOLE, 2 * WHOLE)
    torch.onnx.export(
        plain,
        (example,),
        str(beside),
        opset_version=13,
        dynamo=False,
        input_names=["image"],
        output_names=["answer"],
        dynamic_axes=free,
    )
    model = onnx.load(beside)
    _halved(model.graph)
    onnx.checker.check_model(model)
    onnx.save(model, beside)
    beside.replace(path)


def folded(net: EyesNet) -> EyesNet:
    """The same network with its normalisations folded into the preceding convolutions."""
    for module in net.modules():
        if isinstance(module, nn.Sequential):
            for k in range(len(module) - 1):
                first, second = module[k], module[k + 1]
                if isinstance(first, nn.Conv2d) and isinstance(second, nn.BatchNorm2d):
                    module[k] = torch.nn.utils.fuse_conv_bn_eval(first, second)
                    module[k + 1] = nn.Identity()
    return net


def _halved(graph: onnx.GraphProto) -> None:
    """Store large weights as half floats, cast back when the network is loaded.

    That halves the file; the arithmetic stays in full precision.
    """
    casts = []
    for weights in list(graph.initializer):
        values = numpy_helper.to_array(weights)
        if values.dtype != "float32" or values.size < 64:
            continue
        name = weights.name
        small = numpy_helper.from_array(values.astype("float16"), name + ".half")
        graph.initializer.remove(weights)
        graph.initializer.append(small)
        casts.append(onnx.helper.make_node("Cast", [small.name], [name], to=onnx.TensorProto.FLOAT))
    nodes = [*casts, *graph.node]
    del graph.node[:]
    graph.node.extend(nodes)
