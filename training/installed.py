"""Load installed weights into PyTorch, to continue training from them.

In the ONNX files each convolution has its normalisation folded in.
"""

from __future__ import annotations

from pathlib import Path

import onnx
import torch
from torch import Tensor, nn

from training.weights import floats

SPREAD = 1e-3
"""Lower bound of the standard deviation of a normalisation's input."""


def restore(net: nn.Module, path: Path, images: Tensor) -> None:
    """Load the weights of an installed network, with the same outputs.

    Its normalisations are set to the statistics of `images` (n, c, h, w), so that it can be trained
    further.
    """
    layers: list[nn.Conv2d | nn.Linear] = []
    hooks = [
        part.register_forward_pre_hook(lambda part, _: layers.append(part))
        for part in net.modules()
        if isinstance(part, nn.Conv2d | nn.Linear)
    ]
    with torch.no_grad():
        net.eval()(images[:1])
    for hook in hooks:
        hook.remove()
    blocks = [part for part in net.modules() if isinstance(part, nn.Sequential) and len(part) > 1]
    follows = {block[0]: block[1] for block in blocks if isinstance(block[1], nn.BatchNorm2d)}
    with torch.no_grad():
        for layer, (weight, bias) in zip(layers, _weights(path), strict=True):
            layer.weight.copy_(weight.reshape(layer.weight.shape))
            norm = follows.get(layer)
            if norm is None:
                assert layer.bias is not None, "a layer without normalisation has a bias"
                layer.bias.copy_(bias)
            else:
                _make_identity(norm, bias)
        _measure(list(follows.values()), net, images)


def _make_identity(norm: nn.BatchNorm2d, bias: Tensor) -> None:
    """Make a normalisation the identity plus a bias."""
    norm.running_mean.zero_()
    norm.running_var.fill_(1 - norm.eps)
    norm.weight.fill_(1)
    norm.bias.copy_(bias)


def _measure(norms: list[nn.BatchNorm2d], net: nn.Module, images: Tensor) -> None:
    """Set normalisations to the statistics of their inputs, their outputs unchanged."""
    met: dict[nn.Module, tuple[Tensor, Tensor]] = {}

    def note(norm: nn.Module, given: tuple[Tensor, ...]) -> None:
        met[norm] = given[0].mean(dim=(0, 2, 3)), given[0].std(dim=(0, 2, 3)).clamp(min=SPREAD)

    hooks = [norm.register_forward_pre_hook(note) for norm in norms]
    net.eval()(images)
    for hook in hooks:
        hook.remove()
    for norm in norms:
        mean, spread = met[norm]
        norm.bias += mean
        norm.weight.copy_(torch.sqrt(spread**2 + norm.eps))
        norm.running_mean.copy_(mean)
        norm.running_var.copy_(spread**2)


def _weights(path: Path) -> list[tuple[Tensor, Tensor]]:
    """Weights and biases of the layers of an exported network, in the order of their use.

    `training.export` writes such networks.
    """
    graph = onnx.load(path).graph
    known = floats(graph)
    weights_used = [node.input[1:3] for node in graph.node if node.op_type in ("Conv", "Gemm")]
    return [
        (torch.from_numpy(known[weight].copy()), torch.from_numpy(known[bias].copy()))
        for weight, bias in weights_used
    ]
